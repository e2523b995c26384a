"""Held-out rows of the lab: the turns, and their errors against refits with the library."""

from __future__ import annotations

import numpy as np
import pytest

from separable import LDA, LinearSVM, Perceptron, PolynomialEncoder, Ridge
from separable.lab import lab
from separable.lab.data import built_in
from tests.lab.in_node import in_node
from tests.lab.test_kernels import problem


@pytest.mark.parametrize("kind", ["folds", "loo"])
@pytest.mark.parametrize("n", [3, 7, 40])
def test_turns_hold_out_every_row_once(kind, n):
    turns = in_node(f"validation.turnsOf({n}, '{kind}', given)", 3)
    assert sorted(i for turn in turns for i in turn) == list(range(n))
    assert len(turns) == (n if kind == "loo" else min(n, 5))
    assert max(map(len, turns)) - min(map(len, turns)) <= 1


def test_hold_out_takes_30_percent_and_nothing_none():
    (held,) = in_node("validation.turnsOf(40, 'holdout', given)", 3)
    assert len(set(held)) == 12
    assert in_node("validation.turnsOf(40, '', given)", 3) == []
    assert set(in_node("validation.without(40, given)", held)) == set(range(40)) - set(held)


LEARNERS = [
    ({"learner": "lda"}, LDA()),
    ({"learner": "ridge", "alpha": 2}, Ridge(alpha=2)),
    ({"learner": "svm", "C": 0.5}, LinearSVM(C=0.5)),
    ({"learner": "perceptron", "ties": "mistake"}, Perceptron(max_iter=8, shuffle=False)),
]


@pytest.mark.filterwarnings("ignore::separable.estimator.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("spec", "learner"), LEARNERS, ids=lambda v: str(v)[:30])
def test_errors_are_those_of_refits(spec, learner):
    X, y = problem(5, 40)
    settings = {"eta": 1, "epochs": 8} | spec
    answer = in_node(
        "(() => { const { spec, X, y } = given;"
        " const turns = validation.turnsOf(X.length, 'folds', 1);"
        "return { turns, errors: validation.validate(spec, X, y, turns), "
        "degrees: validation.errorsByDegree(spec, X, y, turns).slice(0, 2) }; })()",
        {"spec": settings, "X": X.tolist(), "y": y.tolist()},
    )
    rates = held_out_errors(learner, X, y, answer["turns"])
    np.testing.assert_allclose([e["held"] for e in answer["errors"]], rates)
    products = PolynomialEncoder(2).fit_transform(X)
    for features, degree in zip((X, products), answer["degrees"], strict=True):
        rates = held_out_errors(learner, features, y, answer["turns"])
        np.testing.assert_allclose(degree["held"], np.mean(rates))


def held_out_errors(learner, X, y, turns):
    rates = []
    for held in turns:
        training = np.setdiff1d(np.arange(len(X)), held)
        fitted = learner.fit(X[training], y[training])
        scores = X @ np.ravel(fitted.coef_) + np.ravel(fitted.intercept_)
        rates.append(np.mean(np.where(scores[held] > 0, 1, -1) != y[held]))
    return rates


def test_training_on_one_class_predicts_it():
    value = (
        "validation.errorRate(validation.fitted({ learner: 'lda' }, given, [1, 1]), given, [1, -1])"
    )
    assert in_node(value, [[0, 1], [2, 3]]) == 0.5


def test_a_learning_curve_has_growing_sizes_and_errors_between_0_and_1():
    X, y = problem(2, 30)
    curve = in_node(
        "validation.learningCurve({ learner: 'lda' }, given[0], given[1], 1)",
        [X.tolist(), y.tolist()],
    )
    rows = [point["rows"] for point in curve]
    assert rows == sorted(set(rows))
    assert rows[-1] == 21
    assert all(0 <= point[k] <= 1 for point in curve for k in ("held", "training"))


def test_the_python_code_has_the_training_rows():
    ring = built_in()["ring"]
    given = {"spec": {"learner": "lda"}, "X": ring["X"], "y": ring["y"], "degree": 1, "at": 0}
    code = in_node(
        "python.pythonCode(given)", given | {"example": "ring", "training": [0, 1, 2, 40, 41]}
    )
    printed: list[object] = []
    exec(code, {"print": lambda *values: printed.extend(values)})
    rows = [0, 1, 2, 40, 41]
    expected = in_node(
        "kernels.lda(given[0], given[1])", [[ring[k][i] for i in rows] for k in "Xy"]
    )
    np.testing.assert_allclose(np.concatenate([np.ravel(v) for v in printed]), expected, rtol=1e-9)


@pytest.mark.slow
def test_held_out_rows_take_turns_in_the_browser(opened):
    with opened(lab(), "#example=ring&learner=lda&validation=folds&turn=2") as page:
        assert "of the held-out rows 6 of 10" in page.inner_text("#now")
        page.click("#byDegree")
        assert "Smallest held-out error 0 at degree 2" in page.inner_text("#errorText")
        page.select_option("#learner", "perceptron")
        assert page.inner_text("#errorText") == ""
        page.click("#allTurns")
        assert page.inner_text("#errorText").startswith("Mean error")
