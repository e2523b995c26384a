"""The logarithm of a positive target is learned where that is better in units of the target."""

from __future__ import annotations

import numpy as np
import pytest

import separable
from separable.data.table import TableError
from separable.errors import OptionError
from separable.export import LANGUAGES
from tests.export.running import self_test


@pytest.fixture(scope="module")
def prices() -> dict[str, list]:
    """Prices that are products of effects, with noise of 30 %."""
    rng = np.random.default_rng(0)
    size, town = rng.normal(size=600), rng.choice(["Bonn", "Kiel", "Ulm"], 600)
    effect = {"Bonn": 0.5, "Kiel": 0.0, "Ulm": -0.5}
    noise = 0.3 * rng.normal(size=600)
    price = np.exp(8 + 0.7 * size + np.array([effect[name] for name in town]) + noise)
    return {"size": size.tolist(), "town": town.tolist(), "price": price.tolist()}


@pytest.fixture(scope="module")
def run(prices):
    return separable.train(prices, "price", model="ridge")


def test_products_of_effects_are_learned_by_logarithms(prices, run):
    assert run.model.link == "log"
    (note,) = [each.spelled("command") for each in run.notes if "logarithm" in str(each)]
    assert note.endswith("To decide yourself: --target-log no.")
    assert "its logarithm is learned" in run.summary()
    options = {"model": "ridge", "interactions": "no"}  # which would learn the products
    plain = separable.train(prices, "price", target_log="no", **options)
    assert plain.model.link == "identity"
    rmse = [each.evaluation.figures["rmse"] for each in (run, plain)]
    assert rmse[0] < 0.9 * rmse[1]
    means = [each.comparison.taken.mean for each in (run, plain)]  # both in units of the price
    assert means[0] < 0.9 * means[1]


def test_sums_of_effects_stay_as_they_are(prices):
    """A skewed sum: the logarithm fits it worse, and a target that is not skewed is not tried."""
    rng = np.random.default_rng(1)
    x = rng.exponential(size=600)
    for y in (1 + 5 * x + 0.3 * rng.random(600), 10 + rng.random(600) + x.clip(max=2)):
        made = separable.train({"x": x.tolist(), "y": y.tolist()}, "y", model="ridge")
        assert made.model.link == "identity"
        assert not any("logarithm" in str(each) for each in made.notes)


def test_predictions_are_means_not_medians(prices, run):
    """Without the factor, predictions are exp of the mean logarithm: too low by exp(.3^2 / 2)."""
    predicted, y = run.model.predict(prices), np.array(prices["price"])
    assert predicted.mean() == pytest.approx(y.mean(), rel=0.02)
    design = np.column_stack(
        [np.ones(600), prices["size"], *(np.array(prices["town"]) == t for t in ("Bonn", "Kiel"))]
    )
    by_hand = np.exp(design @ np.linalg.lstsq(design, np.log(y), rcond=None)[0])
    ratio = y.mean() / by_hand.mean()
    inside = (predicted > y.min()) & (predicted < y.max())
    assert predicted[inside] == pytest.approx(by_hand[inside] * ratio, rel=0.02)


def test_predictions_stay_in_the_range_of_the_training_targets(prices, run):
    far = {"size": [-50.0, 50.0], "town": ["Bonn", "Bonn"]}
    assert run.model.predict(far).tolist() == [min(prices["price"]), max(prices["price"])]
    assert run.model.predict_one({"size": 50.0, "town": "Bonn"}) == max(prices["price"])


def test_explanations_add_up_to_the_logarithm(prices, run):
    rows = {name: values[:5] for name, values in prices.items()}
    explained, model = run.model.explain(rows), run.model
    sums = sum(explained.by_column().values()) + explained.intercepts()
    assert np.exp(sums) == pytest.approx(model.predict(rows), rel=1e-12)
    assert explained.predicted.tolist() == model.predict(rows).tolist()
    terms = explained.terms(0)
    assert terms.predicted == model.predict(rows)[0]
    assert str(explained[0]).startswith("Ridge predicts ")
    assert f"exp({terms.score:.6g})" in str(explained[0])
    assert explained.to_dict()["rows"][0]["score"] == terms.score


def test_files_keep_the_link(run, tmp_path, prices):
    run.save(tmp_path / "m.safetensors")
    loaded = separable.load(tmp_path / "m.safetensors")
    assert (loaded.link, loaded.output_range) == ("log", run.model.output_range)
    assert loaded.predict(prices).tolist() == run.model.predict(prices).tolist()


@pytest.mark.parametrize("language", LANGUAGES)
def test_exports_predict_in_units_of_the_target(language, run, prices, tmp_path):
    rows = {
        "size": [*prices["size"][:3], -50.0, 50.0],
        "town": [*prices["town"][:3], "Bonn", "Bonn"],
    }
    self_test(language, run.model, tmp_path, rows=rows)
    made = separable.export.export(run.model, to=language, rows=rows)
    expected = run.model.predict(rows)
    if language == "python":
        code = {"__name__": "model"}
        exec(made, code)
        found = [code["predict"](row) for row in zip(*rows.values(), strict=True)]
        assert found == pytest.approx(expected.tolist(), rel=1e-9)


def test_evaluation_is_in_units_of_the_target(run, prices):
    figures = run.model.evaluate(prices, np.array(prices["price"])).figures
    errors = run.model.predict(prices) - prices["price"]
    assert figures["rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-12)


def test_weights_count(prices):
    """A row of weight 2 is the row twice, also for the factor."""
    twice = {name: values + values[:200] for name, values in prices.items()}
    weight = [2.0] * 200 + [1.0] * 400
    options = {"model": "least-squares", "target_log": "yes", "test_size": 0}
    models = [
        separable.train({**prices, "w": weight}, "price", weight="w", **options).model,
        separable.train(twice, "price", **options).model,
    ]
    predicted = [each.predict(prices) for each in models]
    assert predicted[0] == pytest.approx(predicted[1], rel=2e-2)


def test_what_cannot_be_done_is_refused(prices):
    with pytest.raises(OptionError, match="the task is classification"):
        separable.train(prices, "town", target_log="yes")
    zero = {**prices, "price": [0.0, *prices["price"][1:]]}
    with pytest.raises(TableError, match="is 0 in data row 1, and only numbers above 0"):
        separable.train(zero, "price", target_log="yes")
    assert separable.train(zero, "price", model="ridge").model.link == "identity"
    with pytest.raises(OptionError, match="one of auto, yes, no"):
        separable.train(prices, "price", target_log=True)


def test_few_rows(prices):
    """Too few rows to compare: the logarithm on request, with the factor of the training rows."""
    few = {name: values[:3] for name, values in prices.items()}
    made = separable.train(few, "price", model="ridge", target_log="yes", test_size=0)
    assert made.model.link == "log"
    assert made.model.predict(few).mean() == pytest.approx(np.mean(few["price"]), rel=1e-6)
