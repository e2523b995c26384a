"""``train --stream``: the same model as partial_fit in memory, and every row a test."""

from __future__ import annotations

import io
import itertools
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from separable import load
from separable.data import read
from separable.datasets import PENGUINS
from separable.workflow.learners import LEARNERS, new_learner
from separable.workflow.stream import stream_rows
from separable.workflow.stream.progressive_validation import is_mark, next_cut
from tests.cli.stream.streams import by_reference, cut_small, one_by_one, table_text

CLASSIFIERS = [
    "sgd-classifier", "perceptron", "averaged-perceptron", "lda", "bernoulli-nb",
    "least-squares-classifier",
]  # fmt: skip
REGRESSORS = ["sgd-regressor", "widrow-hoff", "ridge", "least-squares", "bayesian-regression"]


def options(learner: str) -> list[str]:
    target = "kind" if LEARNERS[learner].task == "classification" else "amount"
    other = "amount" if target == "kind" else "kind"
    drops = ["--drop", other, *(["--drop", "note"] if learner not in CLASSIFIERS[:3] else [])]
    small = ["--set", "eta0=0.001"] if learner == "widrow-hoff" else []
    return ["--target", target, "--model", learner, *drops, *small, "--stream", "-q", "--json"]


def in_memory(path: str, model: str, learner: str):
    """Return a learner that met all rows in chunks of 100, and the rows and targets it met."""
    fitted = load(model)
    target = "kind" if fitted.classes is not None else "amount"
    kinds = {target: "category" if target == "kind" else "number"}
    data = read(path, target, column_types=kinds)
    rows = fitted.encoder.encode(data.table)
    given = {"loss": "log_loss"} if learner == "sgd-classifier" else {}
    given |= {"eta0": 0.001} if learner == "widrow-hoff" else {}
    estimator = new_learner(learner, **given)
    for start in range(0, len(data), 100):
        stop = min(start + 100, len(data))
        told = {"classes": fitted.classes} if target == "kind" and start == 0 else {}
        estimator.partial_fit(rows.slice(start, stop), data.y[start:stop], **told)
    return estimator, rows, data.y


@pytest.mark.filterwarnings("ignore:Columns depend", "ignore:The covariance within")
@pytest.mark.parametrize("learner", CLASSIFIERS + REGRESSORS)
def test_the_model_is_that_of_partial_fit(learner, separable, monkeypatch):
    Path("a.csv").write_bytes(table_text(200, classes=3))
    found = separable("train", "a.csv", *options(learner), "-o", "whole.safetensors")
    assert (found.code, found.err) == (0, "")
    cut_small(monkeypatch)
    assert separable("train", "a.csv", *options(learner), "-o", "parts.safetensors").code == 0
    model = load("whole.safetensors")
    estimator, rows, _ = in_memory("a.csv", "whole.safetensors", learner)
    assert rows.n_rows == model.evidence["train"]["rows"] < 200
    if model.family == "online":
        assert Path("whole.safetensors").read_bytes() == Path("parts.safetensors").read_bytes()
        assert np.array_equal(model.weights, np.atleast_2d(estimator.coef_))
        assert np.array_equal(model.intercept, np.atleast_1d(estimator.intercept_))
    else:
        scale = np.abs(model.weights).max()
        assert np.abs(model.weights - np.atleast_2d(estimator.coef_)).max() < 1e-9 * scale
        parts = load("parts.safetensors").weights
        assert np.abs(model.weights - parts).max() < 1e-9 * scale


@pytest.mark.parametrize("rate", ["adaptive", "constant"])
@pytest.mark.parametrize(("classes", "rows"), [(2, 140), (3, 70)])
def test_the_table_is_that_of_one_row_at_a_time(rate, classes, rows, separable):
    Path("a.csv").write_bytes(table_text(rows, classes=classes))
    args = [*options("sgd-classifier"), "--set", f"learning_rate={rate}"]
    told = json.loads(separable("train", "a.csv", *args, "-o", "m.safetensors").out)
    _, X, y = in_memory("a.csv", "m.safetensors", "sgd-classifier")
    X = np.asarray(X.to_matrix().todense())
    if rate == "adaptive":
        losses = by_reference(X, y)
    else:
        losses = one_by_one(
            new_learner("sgd-classifier", loss="log_loss", learning_rate=rate), X, y
        )
    ends = [1 << k for k in range(len(y).bit_length())]
    ends += [len(y)] * (ends[-1] != len(y))
    lines = told["lines"]
    assert [line["examples"] for line in lines] == ends
    expected = [sum(losses[:n]) / n for n in ends]
    assert [line["mean_loss"] for line in lines] == pytest.approx(expected, rel=1e-8)
    since = [np.mean(losses[a:b]) for a, b in itertools.pairwise([0, *ends])]
    assert [line["since_last"] for line in lines] == pytest.approx(since, rel=1e-6)
    assert [line["label"] for line in lines] == [y[n - 1] for n in ends]
    assert [line["features"] for line in lines] == [np.count_nonzero(X[n - 1]) for n in ends]


def test_mistakes_of_the_perceptron_and_errors_of_widrow_hoff(separable):
    Path("a.csv").write_bytes(table_text(300))
    told = json.loads(separable("train", "a.csv", *options("perceptron"), "-o", "m").out)
    _, rows, y = in_memory("a.csv", "m", "perceptron")
    X, sign = np.asarray(rows.to_matrix().todense()), np.where(y == np.unique(y)[1], 1.0, -1.0)
    w, b, wrong, lines = np.zeros(X.shape[1]), 0.0, 0, []
    for i, (x, t) in enumerate(zip(X, sign, strict=True)):
        if t * (w @ x + b) <= 0:
            w, b, wrong = w + t * x, b + t, wrong + 1
        if (i + 1).bit_count() == 1 or i + 1 == len(y):
            lines.append(wrong / (i + 1))
    assert [line["mean_loss"] for line in told["lines"]] == pytest.approx(lines)
    assert told["loss"] == "mistakes"

    told = json.loads(separable("train", "a.csv", *options("widrow-hoff"), "-o", "m").out)
    _, rows, y = in_memory("a.csv", "m", "widrow-hoff")
    X = np.asarray(rows.to_matrix().todense() if rows.is_sparse else rows.values)
    w, b, total, lines = np.zeros(X.shape[1]), 0.0, 0.0, []
    for i, (x, t) in enumerate(zip(X, y, strict=True)):
        r = w @ x + b - t
        w, b, total = w - 0.001 * r * x, b - 0.001 * r, total + r * r
        if (i + 1).bit_count() == 1 or i + 1 == len(y):
            lines.append(total / (i + 1))
    assert [line["mean_loss"] for line in told["lines"]] == pytest.approx(lines, rel=1e-9)


@pytest.mark.filterwarnings("ignore:The covariance within")
@pytest.mark.parametrize("learner", ["averaged-perceptron", "sgd-regressor", "lda", "ridge"])
def test_rows_are_predicted_before_they_are_learned_from(learner, separable):
    """By weights that are at most 1 / 16 of the rows old, and the last row of a line by the last.

    A model of sums that cannot be solved yet predicts nothing, which counts for nothing.
    """
    Path("a.csv").write_bytes(table_text(200, classes=3))
    told = json.loads(separable("train", "a.csv", *options(learner), "-o", "m").out)
    _, rows, y = in_memory("a.csv", "m", learner)
    estimator, done, scores, tested = new_learner(learner), 0, 0.0, 0
    expected = {}
    while done < len(y):
        power = 1
        while power <= done:
            power *= 2
        stop = min(done + max(1, done // 16), power if done == power - 1 else power - 1, len(y))
        try:
            predicted = estimator.predict(rows.slice(done, stop)) if done else []
        except ValueError:
            predicted = []
        for p, t in zip(predicted, y[done:stop], strict=False):
            scores += float(p == t) if y.dtype.kind == "U" else (p - t) ** 2
            tested += 1
        told_classes = {"classes": np.unique(y)} if y.dtype.kind == "U" and not done else {}
        estimator.partial_fit(rows.slice(done, stop), y[done:stop], **told_classes)
        done = stop
        expected[done] = (scores, tested, predicted[-1] if len(predicted) else None)
    last = (0.0, 0)
    for line in told["lines"]:
        total, count, predicted = expected[line["examples"]]
        name = "accuracy" if y.dtype.kind == "U" else "rmse"
        if count == last[1]:
            assert line[name] is None
        else:
            mean = (total - last[0]) / (count - last[1])
            want = mean if name == "accuracy" else np.sqrt(mean)
            assert line[name] == pytest.approx(want, rel=1e-6)
        if isinstance(predicted, float):
            assert line["predicted"] == pytest.approx(predicted, rel=1e-6)
        else:
            assert line["predicted"] == predicted
        last = (total, count)


def test_weights(separable):
    Path("a.csv").write_bytes(table_text(300, weights=True))
    args = options("sgd-classifier")
    told = json.loads(separable("train", "a.csv", *args, "--weight", "w", "-o", "m").out)
    data = read("a.csv", "kind", column_types={"kind": "category"})
    weight = np.asarray(data.table["w"]).astype(float)
    model = load("m")
    estimator = new_learner("sgd-classifier", loss="log_loss")
    rows = model.encoder.encode(data.table)
    estimator.partial_fit(rows, data.y, classes=model.classes, sample_weight=weight)
    assert np.array_equal(model.weights, estimator.coef_)
    assert told["rows"] == np.count_nonzero(weight)
    assert not any(column["name"] == "w" for column in told["columns"])
    assert told["lines"][-1]["mean_loss"] == pytest.approx(
        estimator.evidence_["progressive"]["mean_loss"][-1]
    )
    counts = [weight[data.y == label].sum() for label in model.classes]
    assert told["constant"] == model.classes[int(np.argmax(counts))]


def test_two_passes_are_two_times_the_rows(separable):
    Path("a.csv").write_bytes(table_text(300))
    told = json.loads(
        separable("train", "a.csv", *options("sgd-classifier"), "--passes", 2, "-o", "m").out
    )
    estimator, rows, y = in_memory("a.csv", "m", "sgd-classifier")
    estimator.partial_fit(rows, y)
    model = load("m")
    assert np.array_equal(model.weights, estimator.coef_)
    assert model.evidence["progressive"]["examples"][-1] == told["rows"] == len(y)
    assert told["pass_losses"][1] < told["pass_losses"][0]
    assert told["pass_losses"][0] == pytest.approx(told["lines"][-1]["mean_loss"])


def test_the_tail_is_beside_the_best_constant(separable):
    Path("a.csv").write_bytes(table_text(400, classes=3))
    told = json.loads(separable("train", "a.csv", *options("sgd-classifier"), "-o", "m").out)
    _, _, y = in_memory("a.csv", "m", "sgd-classifier")
    tail = told["tail"]
    assert (tail["first"], tail["last"]) == (129, len(y))
    labels, counts = np.unique(y, return_counts=True)
    assert tail["constant"] == labels[counts.argmax()]
    assert tail["constant_accuracy"] == pytest.approx((y[128:] == tail["constant"]).mean())
    told = json.loads(separable("train", "a.csv", *options("sgd-regressor"), "-o", "m").out)
    _, _, y = in_memory("a.csv", "m", "sgd-regressor")
    assert told["tail"]["constant"] == pytest.approx(y.mean())
    rmse = np.sqrt(((y[128:] - y.mean()) ** 2).mean())
    assert told["tail"]["constant_rmse"] == pytest.approx(rmse)


def test_cuts():
    for n in range(5000):
        cut = next_cut(n)
        assert n < cut <= n + max(1, n // 16)
        assert is_mark(cut) or not any(is_mark(k) for k in range(n + 1, cut + 1))


def test_encoding_is_that_of_the_first_rows(separable):
    text = table_text(300).replace(b"Lima", b"Rome") + b"1.0,Quito,x,a,3\n1.0,Quito,x,b,3\n"
    Path("a.csv").write_bytes(text)
    found = separable(
        "train", "a.csv", "--target", "kind", "--drop", "note", "--stream", "--encode-rows", 100
    )
    assert found.code == 0
    assert "2 later values with new levels: no effect ('Quito')" in found.out
    encoder = load("a.safetensors").encoder
    data = read("a.csv", "kind", column_types={"kind": "category"}).table
    size = np.asarray(read("a.csv").table.slice(0, 100)["size"]).astype(float)
    one = encoder.encode(data.slice(0, 1))
    first = (float(data["size"][0].as_py()) - np.nanmean(size)) / np.nanstd(size)
    assert one.values[0, 0] == pytest.approx(first)


def test_texts_are_hashed_where_bits_are_given(separable):
    Path("a.csv").write_bytes(table_text(200))
    found = separable("train", "a.csv", *options("sgd-classifier"), "--bits", 8, "-o", "m")
    assert json.loads(found.out)["n_features"] == 256 + 2 + 3
    assert any(name.startswith("note:warm") for name in load("m").feature_names)


def test_standard_input_and_json_lines(separable, monkeypatch):
    rows = read(io.BytesIO(table_text(200)), column_types={"size": "category"}).table.to_pylist()
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    Path("a.jsonl").write_bytes(text)
    args = ["--target", "kind", "--stream", "-q", "--json"]
    from_file = separable("train", "a.jsonl", *args, "-o", "m1")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    from_pipe = separable("train", "-", *args, "-o", "m2")
    assert from_file.code == from_pipe.code == 0
    assert np.array_equal(load("m1").weights, load("m2").weights)


def svmlight(n: int) -> bytes:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(n, 6))
    y = np.where(X[:, 0] - X[:, 1] + rng.normal(size=n) > 0, 1, -1)
    lines = []
    for x, t in zip(X, y, strict=True):
        pairs = " ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if v)
        lines.append(f"{t:+d} {pairs}\n")
    return "".join(lines).encode()


def test_svmlight(separable, monkeypatch):
    Path("a.svm").write_bytes(svmlight(300))
    assert separable("train", "a.svm", "--stream", "-q", "--json", "-o", "m1").code == 0
    cut_small(monkeypatch)
    found = separable("train", "a.svm", "--stream", "-o", "m2")
    assert found.code == 0
    assert Path("m1").read_bytes() == Path("m2").read_bytes()
    model = load("m1")
    assert model.classes.tolist() == [-1, 1]
    data = read("a.svm")
    estimator = new_learner("sgd-classifier", loss="log_loss")
    estimator.partial_fit(data.rows, data.y, classes=[-1, 1])
    assert np.array_equal(model.weights, estimator.coef_)
    assert "always " in found.out


def test_vowpal_wabbit_text(separable):
    lines = svmlight(300).decode().replace("+1 ", "1 2 | ").replace("-1 ", "-1 1 | ")
    Path("a.vw").write_text(lines)
    assert separable("train", "a.vw", "--stream", "--bits", 6, "-q", "--json").code == 0
    model, data = load("a.safetensors"), read("a.vw", n_features=64)
    estimator = new_learner("sgd-classifier", loss="log_loss")
    estimator.partial_fit(data.rows, data.y, classes=[-1, 1], sample_weight=data.weights)
    assert model.n_features == 64
    assert np.array_equal(model.weights, estimator.coef_)


# --- what cannot be ---


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        (["--model", "linear-svm"], 2, "linear-svm needs all rows at once and cannot learn from a"),
        (["--model", "voted-perceptron"], 2, "so its memory is unbounded"),
        (["--model", "ridge", "--passes", "2"], 2, "--passes 2: ridge needs only one pass"),
        (["--test-size", "0.5"], 2, "--test-size cannot be used with --stream"),
        (["--group", "city"], 2, "--group city cannot be used with a stream"),
        (["--every", "10"], 2, "--every needs --checkpoint FILE"),
        (["--every", "soon", "--checkpoint", "c"], 2, "neither rows (100000) nor seconds (60s)"),
        (
            ["--model", "sgd-regressor", "--classes", "a,b"],
            2,
            "--classes a,b: the task is regression",
        ),
        (["--task", "regression", "--model", "lda"], 2, "lda is for classification"),
        (["--checkpoint", "a.safetensors"], 2, "and -o are the same file"),
        (["--checkpoint", "a.csv"], 2, "would overwrite the data"),
        (["--resume", "nothing"], 1, "nothing: checkpoint not found"),
        (["--weight", "city"], 1, "'city'"),
        (["--model", "sgd-regressor"], 1, "For classification use --model sgd-classifier"),
        (["--classes", "a,c"], 1, "holds 'b' in data row 1, which is not among the classes that "),
        (["--drop", "kind"], 2, "--drop kind: the target cannot be dropped"),
        (["--set", "eta=1", "--model", "sgd-classifier"], 2, "has no such parameter"),
        (["--model", "lda", "--model", "perceptron"], 2, "name one learner"),
        (["--bits", "4"], 2, "--bits 4: no column is free text"),
        (["--features", "4"], 2, "--features 4: it is for svmlight files"),
    ],
)
def test_refused(args, code, told, separable):
    Path("a.csv").write_bytes(b"size,city,kind\n1,Rome,b\n2,Oslo,a\n3,Rome,a\n-1,Rome,b\n")
    found = separable("train", "a.csv", "--target", "kind", "--stream", *args)
    assert (found.code, told in found.err) == (code, True), found.err
    assert sorted(path.name for path in Path().iterdir()) == ["a.csv"]


def test_options_of_streams_alone_are_refused(separable):
    Path("a.csv").write_bytes(table_text(50))
    found = separable("train", "a.csv", "--target", "kind", "--passes", 2)
    assert (found.code, "--passes needs --stream" in found.err) == (2, True)
    found = separable("train", "a.csv")
    assert (found.code, "Missing option '--target'" in found.err) == (2, True)
    found = separable("train", "a.csv", "--stream")
    assert (found.code, "Name the column to predict: --target." in found.err) == (2, True)


def test_a_class_after_the_first_part(separable, monkeypatch):
    cut_small(monkeypatch)
    Path("a.csv").write_bytes(table_text(200) + b"1.0,Rome,late,z,1\n")
    args = ["train", "a.csv", "--target", "kind", "--drop", "note", "--stream"]
    found = separable(*args, "--encode-rows", 50)
    assert found.code == 1
    assert "holds 'z' in data row 201, which is not among the classes of the first" in found.err
    assert "--classes a,b,z" in found.err
    assert not Path("a.safetensors").exists()
    assert separable(*args, "--encode-rows", 50, "--classes", "a,b,z").code == 0
    assert load("a.safetensors").classes.tolist() == ["a", "b", "z"]


def test_rows_in_order_are_told(separable):
    lines = table_text(200).splitlines(keepends=True)
    kind = [line.split(b",")[3] for line in lines[1:]]
    ordered = [lines[1:][i] for i in np.argsort(kind, kind="stable")]
    Path("a.csv").write_bytes(lines[0] + b"".join(ordered))
    found = separable("train", "a.csv", "--target", "kind", "--stream")
    assert "shuffle the rows first" in found.err
    Path("a.csv").write_bytes(lines[0] + b"".join(row for row in ordered if b",a," in row))
    found = separable("train", "a.csv", "--target", "kind", "--stream")
    assert (found.code, "holds a single class, 'a'" in found.err) == (1, True)


def test_a_value_of_another_type_names_its_line(separable, monkeypatch):
    monkeypatch.setattr(stream_rows, "CHUNK_BYTES", 100_000)
    rows = [f"{i},{'ab'[i % 2]}\n".encode() for i in range(160_000)]
    lines = [b"size,kind\n", *rows]
    lines[150_000] = b"many,a\n"
    Path("a.csv").write_bytes(b"".join(lines))
    found = separable("train", "a.csv", "--target", "kind", "--stream", "-q",
                      "--encode-rows", 5000)  # fmt: skip
    assert found.code == 1
    assert "a.csv:150001:" in found.err
    assert "'many'" in found.err


def test_svmlight_on_standard_input_needs_its_width(separable, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(svmlight(50))))
    found = separable("train", "-", "--stream", "--format", "svmlight")
    assert (found.code, "give --features" in found.err) == (2, True)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(svmlight(50))))
    found = separable("train", "-", "--stream", "--format", "svmlight", "--passes", 2)
    assert (found.code, "can be read only once" in found.err) == (2, True)
    Path("a.svm").write_bytes(svmlight(50))
    found = separable("train", "a.svm", "--stream", "--bits", 3)
    assert (found.code, "svmlight files are numbers already" in found.err) == (2, True)
    found = separable("train", "a.svm", "--stream", "--target", "y")
    assert (found.code, "svmlight text has no named columns" in found.err) == (2, True)


def test_a_quantity_is_predicted_as_one(separable):
    Path("a.csv").write_bytes(table_text(200))
    found = separable("train", "a.csv", "--target", "amount", "--drop", "note", "--stream")
    assert found.code == 0
    assert "looks like a quantity" in found.err
    assert load("a.safetensors").learner == "SGDRegressor"


def test_sums_of_one_class_have_no_checkpoint_yet(separable):
    rows = [f"{i % 7},{'a' if i < 5000 else 'b'}\n" for i in range(9000)]
    Path("a.csv").write_text("size,kind\n" + "".join(rows))
    found = separable(
        "train", "a.csv", "--target", "kind", "--stream", "--model", "lda", "--classes", "a,b",
        "--checkpoint", "c", "--every", 1, "-q",
    )  # fmt: skip
    assert found.code == 0
    assert Path("c").exists()


def test_a_stream_and_its_updates_remember_their_rows(separable):
    lines = PENGUINS.read_text().splitlines(keepends=True)
    for name, part in (("first.csv", lines[1::2]), ("more.csv", lines[2::2])):
        Path(name).write_text("".join([lines[0], *part]))
    trained = separable(
        "train", "first.csv", "--target", "species", "--stream", "--passes", "2", "-o", "m"
    )
    assert trained.code == 0
    model = load("m")
    assert (model.training_rows.n_rows, model.training_rows.modulus) == (172, 1)
    old, new = (
        json.loads(separable("evaluate", "m", name, "--json").out)["rows_in_training"]
        for name in ("first.csv", "more.csv")
    )
    assert (old, new) == (172, 0)
    assert separable("update", "m", "more.csv", "-o", "m2").code == 0
    told = json.loads(separable("evaluate", "m2", PENGUINS, "--json").out)
    assert told["rows_in_training"] == 344


def test_threads_are_those_of_the_cluster(separable):
    Path("a.csv").write_bytes(table_text(50))
    found = separable("train", "a.csv", "--target", "kind", "--spark", "local[1]", "--threads", 2)
    assert (found.code, "spark.executor.cores" in found.err) == (2, True)
