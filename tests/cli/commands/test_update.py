"""``separable update``: going on equals learning from both parts in order."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from separable import Ridge, SGDClassifier, load
from separable.data import read
from separable.workflow import training_run
from tests.cli.stream.streams import cut_small, table_text
from tests.cli.stream.test_stream import options, svmlight

ONLINE = ["sgd-classifier", "averaged-perceptron", "perceptron", "widrow-hoff", "sgd-regressor"]
SUMS = ["lda", "ridge", "bernoulli-nb", "least-squares", "linear-gaussian-nb"]


def parts(n: int, at: int, **kwargs: object) -> None:
    """Write a file, and its first and second part."""
    header, *lines = table_text(n, **kwargs).splitlines(keepends=True)
    Path("all.csv").write_bytes(header + b"".join(lines))
    Path("1.csv").write_bytes(header + b"".join(lines[:at]))
    Path("2.csv").write_bytes(header + b"".join(lines[at:]))


@pytest.mark.parametrize("learner", ONLINE + SUMS)
def test_both_parts_in_order(learner, separable, monkeypatch):
    parts(200, 130, classes=3)
    cut_small(monkeypatch)
    args = [*options(learner), "--encode-rows", 130]
    assert separable("train", "all.csv", *args, "-o", "both").code == 0
    assert separable("train", "1.csv", *args, "-o", "m").code == 0
    first = load("m")
    found = separable("update", "m", "2.csv", "-q", "--json")
    assert found.code == 0, found.err
    both, updated = load("both"), load("m")
    if both.family == "online":
        assert np.array_equal(both.weights, updated.weights)
        assert np.array_equal(both.intercept, updated.intercept)
        for name, tensor in both.state.tensors.items():
            assert np.array_equal(tensor, updated.state.tensors[name]), name
    else:
        scale = np.abs(both.weights).max()
        assert np.abs(both.weights - updated.weights).max() < 1e-9 * scale
        for name, tensor in both.state.tensors.items():
            other = updated.state.tensors[name]
            if name not in ("origin", "offset"):  # where sums are seen from follows the blocks
                assert np.allclose(tensor, other, rtol=1e-12, atol=1e-12 * np.abs(tensor).max())
    told = json.loads(found.out)
    rows = both.evidence["train"]["rows"]
    assert first.evidence["train"]["rows"] + told["rows"] == rows
    assert updated.evidence["train"]["rows"] == rows
    [kept] = updated.evidence["train"]["updates"]
    assert kept["data"] == "2.csv"
    assert kept["before"] == told["before"]
    _check_before(first, told)
    if told["loss"] is not None:
        lines = json.loads(separable("train", "all.csv", *args, "-o", "x").out)["lines"]
        whole = lines[-1]["mean_loss"] * lines[-1]["examples"]
        before = first.evidence["train"]["stream"]["lines"][-1]
        after = told["progressive"]["mean_loss"] * told["rows"]
        assert before["mean_loss"] * before["examples"] + after == pytest.approx(whole, rel=1e-9)


def _check_before(model, told) -> None:
    """Compare the figure of the model as it was with plain NumPy."""
    target = model.evidence["train"]["target"]
    kind = "number" if model.classes is None else "category"
    data = read("2.csv", target, column_types={target: kind})
    predicted = model.predict(model.encoder.encode(data.table))
    if model.classes is None:
        assert told["before"]["rmse"] == pytest.approx(np.sqrt(np.mean((predicted - data.y) ** 2)))
    else:
        assert told["before"]["accuracy"] == pytest.approx((predicted == data.y).mean())


def test_a_model_of_train_goes_on_and_keeps_what_it_knows(separable):
    parts(300, 200)
    args = ["--target", "amount", "--drop", "note", "--model", "ridge", "-q", "--json"]
    assert separable("train", "1.csv", *args, "-o", "m").code == 0
    model = load("m")
    found = separable("update", "m", "2.csv", "-o", "new")
    assert found.code == 0, found.err
    assert "Wrote the model to new" in found.out
    assert load("m").evidence == model.evidence
    told = load("new").evidence["train"]
    assert told["held_out"] == model.evidence["train"]["held_out"]
    assert len(told["updates"]) == 1
    assert separable("update", "new", "2.csv", "-q", "--json").code == 0
    assert len(load("new").evidence["train"]["updates"]) == 2
    sums = Ridge.from_model(model)
    data = read("2.csv", "amount", column_types={"amount": "number"})
    sums.partial_fit(model.encoder.encode(data.table), data.y)
    again = load("new").weights
    sums.partial_fit(model.encoder.encode(data.table), data.y)
    assert np.abs(again - sums.coef_).max() < 1e-9 * np.abs(again).max()


def test_unseen_levels_are_counted(separable):
    parts(200, 150)
    args = ["--target", "kind", "--drop", "note", "--stream", "-o", "m"]
    assert separable("train", "1.csv", *args).code == 0
    Path("2.csv").write_bytes(b"size,city,kind,amount\n1.0,Quito,a,3\n-1.0,Quito,b,\n,Oslo,,1\n")
    found = separable("update", "m", "2.csv")
    assert found.code == 0
    assert "city: 2 with a level not seen in training: no effect ('Quito')" in found.out
    assert "1 more without a target skipped" in found.out
    assert "Wrote the model in place" in found.out


def test_svmlight_goes_on(separable):
    text = svmlight(200).splitlines(keepends=True)
    for name, lines in {"all.svm": text, "1.svm": text[:120], "2.svm": text[120:]}.items():
        Path(name).write_bytes(b"".join(lines))
    for name in ("all", "1"):
        assert separable("train", f"{name}.svm", "--stream", "-o", name, "-q").code == 0
    assert separable("update", "1", "2.svm", "-q").code == 0
    assert np.array_equal(load("all").weights, load("1").weights)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"size,city,kind\n1,Rome,z\n", "holds 'z' in data row 1, which is not among the classes "),
        (b"size,city,type\n1,Rome,a\n", "2.csv has no column 'kind'"),
        (b"size,kind\n1,a\n", "'city'"),
        (b"size,city,kind\n1,Rome,\n", "no row can be used for training: 1 row without a target"),
        (b"size,city,kind\nbig,Rome,a\n", "'big'"),
    ],
)
def test_bad_rows_leave_the_model_as_it_is(text, told, separable):
    Path("1.csv").write_bytes(table_text(100))
    args = ["--target", "kind", "--drop", "note", "--drop", "amount", "--stream", "-o", "m"]
    assert separable("train", "1.csv", *args).code == 0
    before = Path("m").read_bytes()
    Path("2.csv").write_bytes(text)
    found = separable("update", "m", "2.csv")
    assert (found.code, told in found.err) == (1, True), found.err
    assert Path("m").read_bytes() == before


def test_models_that_cannot_go_on(separable, monkeypatch):
    parts(200, 150)
    args = ["--target", "kind", "--drop", "note", "-q", "--json", "-o", "m"]
    assert separable("train", "1.csv", *args, "--model", "linear-svm", "--set", "C=1").code == 0
    found = separable("update", "m", "2.csv")
    assert found.code == 1
    assert "m: LinearSVM needs all rows at once and cannot be updated." in found.err
    assert "separable train DATA --target COL --stream" in found.err
    monkeypatch.setattr(training_run, "LARGEST_STATE", 10)
    assert separable("train", "1.csv", *args, "--model", "perceptron", "--stream").code == 0
    found = separable("update", "m", "2.csv")
    assert (found.code, "was saved without its training state" in found.err) == (1, True)


def test_a_model_made_in_python(separable):
    X, y = np.random.default_rng(0).normal(size=(50, 6)), np.arange(50) % 2
    SGDClassifier().partial_fit(X, y, classes=[0, 1]).model_.save("m", include_state=True)
    parts(50, 30)
    found = separable("update", "m", "2.csv")
    assert (found.code, "this model has no encoder for tables such as 2.csv" in found.err) == (
        1,
        True,
    )
    Path("a.svm").write_bytes(svmlight(20).replace(b"-1 ", b"0 "))
    assert separable("update", "m", "a.svm").code == 0
    found = separable("update", "m", "a.svm", "-o", "-")
    assert found.code == 2


def test_svmlight_columns_are_counted_as_in_training(separable):
    rows = [[2.0 * (i % 2) + 0.1 * (i % 3), i % 5, (i * 7 % 11) / 11] for i in range(60)]
    lines = [f"{i % 2} 0:{a} 1:{b} 2:{c}" for i, (a, b, c) in enumerate(rows)]
    Path("from0.svm").write_text("\n".join(lines) + "\n")
    sparse = [f"{i % 2} 1:{b} 2:{c}" for i, (_, b, c) in enumerate(rows)]
    Path("no0.svm").write_text("\n".join(sparse) + "\n")
    Path("zeros.svm").write_text(
        "\n".join(line.replace(" 1:", " 0:0 1:") for line in sparse) + "\n"
    )
    assert separable("train", "from0.svm", "--stream", "-o", "m.safetensors").code == 0
    answers = [separable("predict", "m.safetensors", name).out for name in ("no0.svm", "zeros.svm")]
    assert answers[0] == answers[1] != ""
    for name in ("no0", "zeros"):
        args = ["m.safetensors", f"{name}.svm", "-o", f"{name}.safetensors"]
        assert separable("update", *args).code == 0
    weights = [load(f"{name}.safetensors").weights for name in ("no0", "zeros")]
    np.testing.assert_array_equal(*weights)
