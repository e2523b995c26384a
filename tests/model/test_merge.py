from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from separable.model.linear_model import LinearModel, TrainingState


def model(w: Any, b: Any, rows: int | None = 10, **changes: Any) -> LinearModel:
    given: dict[str, Any] = {
        "classes": ["ham", "spam"],
        "link": "score",
        "feature_names": ["a", "b"],
        "learner": "Perceptron",
        "family": "online",
        "evidence": {} if rows is None else {"rows_seen": rows},
        "state": TrainingState({}, {}),
    }
    return LinearModel([w], [b], **(given | changes))


def test_average_by_rows_seen_is_marked_approximate() -> None:
    merged = model([1, 0], 2, 30).merge(model([5, 4], -2, 10))
    assert merged.weights.tolist() == [[2, 1]]
    assert merged.intercept.tolist() == [1]
    assert merged.evidence == {"merged_from": 2, "approximate": True, "rows_seen": 40}
    assert merged.state is None
    assert merged.classes.tolist() == ["ham", "spam"]


def test_given_weights_and_several_models() -> None:
    models = [model([k, 2 * k], k, None) for k in (1, 2, 6)]
    merged = models[0].merge(*models[1:], weights=[1, 1, 2])
    assert merged.weights.tolist() == [[3.75, 7.5]]
    assert merged.evidence == {"merged_from": 3, "approximate": True}
    huge = models[0].merge(models[2], weights=[1e308, 1e308])
    assert huge.weights.tolist() == [[3.5, 7]]


def test_merging_equals_merging_in_steps() -> None:
    rng = np.random.default_rng(0)
    a, b, c = (model(rng.normal(size=2), rng.normal(), int(n)) for n in (3, 50, 7))
    np.testing.assert_allclose(a.merge(b, c).weights, a.merge(b).merge(c).weights, rtol=1e-14)


def test_unknown_rows_need_weights() -> None:
    with pytest.raises(
        ValueError, match=r"evidence\['rows_seen'\] of model 2 is None.*weights=\[1, 1\]"
    ):
        model([1, 0], 0).merge(model([1, 0], 0, None))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1], "one number for each of 2 models"),
        ([1, -1], "finite, >= 0 and not all 0"),
        ([0, 0], "finite, >= 0 and not all 0"),
        ([1, np.nan], "finite, >= 0 and not all 0"),
    ],
)
def test_weights_are_checked(weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model([1, 0], 0).merge(model([1, 0], 0), weights=weights)


@pytest.mark.parametrize(
    ("family", "message"),
    [
        ("certified", "Perceptron model cannot be merged. A certified model.*Train on all rows"),
        ("moments", "sums are merged exactly by the learner"),
        (None, "It has no family"),
    ],
)
def test_other_families_are_refused_with_advice(family: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model([1, 0], 0, family=family).merge(model([1, 0], 0, family=family))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"learner": "Other"},
            "model 2 cannot be merged: their learner differs, 'Perceptron' and 'Other'",
        ),
        ({"family": "moments"}, "their family differs, 'online' and 'moments'"),
        ({"link": "logistic"}, "their link differs, 'score' and 'logistic'"),
        (
            {"classes": ["ham", "junk"]},
            r"their classes differs, \['ham', 'spam'\] and \['ham', 'junk'\]",
        ),
        ({"parameters": {"eta0": 2.0}}, "their parameter 'eta0' differs, None and 2.0"),
        ({"feature_names": ["a", "z"]}, "their feature names differ at feature 1, 'b' and 'z'"),
        ({"feature_names": None}, r"their feature names differ\. Train"),
    ],
)
def test_first_difference_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model([1, 0], 0).merge(model([1, 0], 0, **changes))


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="their number of features differs, 2 and 3"):
        model([1, 0], 0).merge(model([1, 0, 0], 0, feature_names=None))
    with pytest.raises(ValueError, match="merge needs at least one other model"):
        model([1, 0], 0).merge()


def test_encoders_must_be_equal(toy_encoder: Any) -> None:
    def with_encoder(encoder: Any) -> LinearModel:
        return model([1, 0], 0, feature_names=None, encoder=encoder)

    ours = with_encoder(toy_encoder(("Dream",), 2.0))
    assert ours.merge(with_encoder(toy_encoder(("Dream",), 2.0))).encoder is ours.encoder
    with pytest.raises(ValueError, match=r"their encoders differ.*Fit one encoder"):
        ours.merge(with_encoder(toy_encoder(("Dream",), 3.0)))
    with pytest.raises(ValueError, match="their encoders differ"):
        ours.merge(replace(ours, encoder=None))


@pytest.mark.parametrize(
    ("name", "ours", "theirs"),
    [("multi_class", "ovr", "argmax"), ("eta0", 1.0, 0.5), ("fit_intercept", True, False)],
)
def test_parameters_that_change_what_weights_mean(name: str, ours: Any, theirs: Any) -> None:
    same = {"multi_class": "ovr", "eta0": 1.0, "fit_intercept": True, "max_iter": 5}
    first = model([1, 0], 0, parameters=same)
    with pytest.raises(
        ValueError, match=f"their parameter '{name}' differs, {ours!r} and {theirs!r}"
    ):
        first.merge(model([1, 0], 0, parameters={**same, name: theirs}))
    assert first.merge(model([3, 2], 0, parameters={**same, "max_iter": 9})).weights.tolist() == [
        [2, 1]
    ]
