"""Traces end in the weights of the compiled learners, and show every step."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from separable import (
    AveragedPerceptron,
    BatchPerceptron,
    LogisticRegression,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
    VotedPerceptron,
    WidrowHoff,
)
from separable.datasets import load
from separable.learn import trace
from separable.learn.plain import LOSSES, vote
from separable.model.parameters import ParameterError

SGD = {"learning_rate": "constant", "eta0": 0.05, "max_iter": 4, "tol": None}
INVERSE = {"learning_rate": "invscaling", "eta0": 0.1, "max_iter": 3, "tol": None}
CLASSIFIERS = [
    Perceptron(),
    Perceptron(max_iter=5, eta0=0.3, ties="negative"),
    Perceptron(max_iter=5, shuffle=False, fit_intercept=False),
    Perceptron(max_iter=5, multi_class="argmax"),
    AveragedPerceptron(max_iter=4),
    AveragedPerceptron(max_iter=4, multi_class="argmax", shuffle=False),
    VotedPerceptron(max_iter=4),
    BatchPerceptron(max_iter=30),
    BatchPerceptron(max_iter=30, eps=0.05, ties="positive", fit_intercept=False),
    *(SGDClassifier(loss, **SGD) for loss in LOSSES),
    SGDClassifier("log_loss", penalty="elasticnet", alpha=0.05, **INVERSE),
]
REGRESSORS = [
    WidrowHoff(),
    WidrowHoff(eta0=0.01, max_iter=6, tol=None, shuffle=False, fit_intercept=False),
    SGDRegressor("huber", **SGD),
    SGDRegressor("squared_error", penalty="l2", alpha=0.01, **INVERSE),
]


def problem(classes=2, n=30, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.permutation(np.arange(n) % classes)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("learner", CLASSIFIERS, ids=repr)
def test_classifiers_end_in_the_weights_of_fit(learner, classes):
    for seed in range(3):
        X, y = problem(classes, seed=seed)
        steps = trace(learner, X, y)
        assert steps.difference < 1e-12
        assert len(steps.losses) == steps.fitted.n_iter_
        if not hasattr(learner, "loss") and learner.ties == "mistake":
            assert steps.losses.tolist() == steps.fitted.evidence_["mistakes"]


@pytest.mark.parametrize("learner", REGRESSORS, ids=repr)
def test_regressors_end_in_the_weights_of_fit(learner):
    X, y = problem()
    steps = trace(learner, X, y + X @ [1, 2, 3, 4])
    assert steps.difference < 1e-12
    if isinstance(learner, WidrowHoff):
        errors = steps.fitted.evidence_["mean_squared_error"]
        np.testing.assert_allclose(steps.losses, errors, rtol=1e-10)


@pytest.mark.parametrize("learner", [CLASSIFIERS[1], *CLASSIFIERS[4:10], REGRESSORS[1]], ids=repr)
def test_start_and_order(learner):
    X, y = problem(seed=5)
    order = np.random.default_rng(1).permutation(len(X))
    start = [0.5 if learner.fit_intercept else 0.0, 1, -2, 0.25, 3]
    steps = trace(learner, X, y, start=start, order=order)
    assert steps.weights[0].tolist() == [start]
    assert steps.difference < 1e-12
    if not steps.is_batch:
        assert steps.row[: len(X)].tolist() == order.tolist()


def test_every_step_is_shown_also_of_correct_rows():
    X, y, columns = load("and")
    steps = trace(Perceptron(), X, y, order="given")
    assert len(steps) == 4 * steps.fitted.n_iter_ == 36
    assert steps.row.tolist() == [0, 1, 2, 3] * 9
    results = [record["result"] for record in steps.records()]
    assert results.count("mistake") == steps.updates == steps.fitted.evidence_["updates"]
    assert results.count("correct") == 36 - steps.updates
    # each update adds y (1, x), by hand
    for record, before, after in zip(
        steps.records(), steps.weights[:-1, 0], steps.weights[1:, 0], strict=True
    ):
        x, sign = np.append(1, X[record["row"]]), 2 * record["y"] - 1
        assert record["score"] == before @ x
        wrong = sign * (before @ x) <= 0
        np.testing.assert_array_equal(after, before + wrong * sign * x)
    assert steps.updates <= steps.bound == steps.fitted.evidence_["bound"]
    assert columns == ("x1", "x2")


def test_tie_rules_of_the_lectures():
    X, y = np.array([[1.0, 0], [0, 1]]), [-1, 1]
    options = {"order": "given"}
    learner = Perceptron(fit_intercept=False)
    assert trace(learner, X, y, **options).weights[-1, 0, 1:].tolist() == [-1, 1]
    negative = trace(learner, X, y, ties="negative", **options)
    assert negative.weights[-1, 0, 1:].tolist() == [0, 1]
    assert learner.ties == "mistake"


def test_the_voters_vote_as_the_learner_does():
    X, y = problem(seed=2)
    steps = trace(VotedPerceptron(max_iter=3), X, y)
    vectors = np.concatenate([np.repeat(w[None], c, axis=0) for w, c in steps.votes])
    ours = vote(np.roll(vectors, -1, axis=1), X)
    np.testing.assert_array_equal(ours, steps.fitted.decision_function(X))


def test_sparse_rows_and_frames():
    pd = pytest.importorskip("pandas")
    X, y = problem(3)
    X[np.abs(X) < 0.5] = 0
    names = ["a", "b", "<c>", "d"]
    dense = trace(Perceptron(max_iter=3), pd.DataFrame(X, columns=names), y)
    sparse = trace(Perceptron(max_iter=3), sp.csr_array(X), y)
    np.testing.assert_array_equal(dense.weights, sparse.weights)
    frame = dense.to_frame()
    assert frame.shape == (90, 6 + 2 * 3 * 5)
    assert frame["w.<c> [2] after"].iloc[-1] == dense.fitted.coef_[2, 2]


def test_tables():
    X, y, _ = load("and")
    steps = trace(Perceptron(), X, y, order="given")
    assert repr(steps).splitlines()[0] == (
        "Perceptron: 36 steps in 9 epochs, 18 updates, at most 87 by the bound"
    )
    assert repr(steps).splitlines()[3].split() == [
        "1", "1", "0", "0", "0", "mistake", "(0,", "0,", "0)", "(-1,", "0,", "0)",
    ]  # fmt: skip
    assert "correct" in steps._repr_html_()
    hostile = trace(Perceptron(max_iter=1), X, ["<script>", "b", "b", "b"])
    assert "<script>" not in hostile._repr_html_()
    assert "&lt;script&gt;" in hostile._repr_html_()
    long = repr(trace(Perceptron(max_iter=30), X, load("xor").y))
    assert long.count("\n") < 50
    assert "..." in long


@pytest.mark.parametrize(
    "learner", [Perceptron(), WidrowHoff(max_iter=3, tol=None)], ids=["frames", "curves"]
)
def test_pictures(learner):
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y, _ = load("and")
    drawn = trace(learner, X, y).plot()
    if isinstance(learner, Perceptron):
        assert len(drawn.axes_) == 9
    else:
        assert drawn[0].get_ylabel() == "mean squared error"
    plt.close("all")


@pytest.mark.parametrize(
    ("learner", "options", "error", "message"),
    [
        (LogisticRegression(), {}, TypeError, "does not learn step by step"),
        (SGDClassifier(), {}, ParameterError, "learning_rate='constant' or 'invscaling'"),
        (SGDClassifier(average=True, **SGD), {}, ParameterError, "average=False"),
        (Perceptron(pocket=True), {}, ParameterError, "leave 'pocket' at False"),
        (WidrowHoff(), {"ties": "negative"}, ParameterError, "is for perceptrons"),
        (Perceptron(), {"order": "random"}, ParameterError, "'given' or a permutation"),
        (Perceptron(), {"order": [0, 0, 1, 2]}, ParameterError, "each of the 4 rows once"),
        (Perceptron(), {"start": [1, 2]}, ValueError, "3 numbers a model"),
        (Perceptron(fit_intercept=False), {"start": [1, 2, 3]}, ValueError, "Start with b = 0"),
        (Perceptron(), {"ties": "none"}, ParameterError, "'ties' parameter"),
    ],
)
def test_refusals(learner, options, error, message):
    X, y, _ = load("and")
    with pytest.raises(error, match=message):
        trace(learner, X, y, **options)


def test_the_function_is_found_after_its_table_was_imported():
    """No module has the name of the function, which an import of the module would hide."""
    code = (
        "import separable.learn.trace_table, separable.learn.tracing, separable.learn\n"
        "assert callable(separable.learn.trace), separable.learn.trace"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
