"""Data from which an online learner learns little: a warning names the column, or there is none."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

from separable import (
    AveragedPerceptron,
    BatchPerceptron,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
    VotedPerceptron,
    WidrowHoff,
)

pytestmark = pytest.mark.native

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 4))
SCORE = X @ [1, -1, 0.5, 2]
Y = (SCORE + 0.3 * rng.normal(size=200) > 0).astype(int)
NUMBERS = SCORE + 0.3 * rng.normal(size=200)

CLASSIFIERS = {
    "perceptron": Perceptron(max_iter=100),
    "batch": BatchPerceptron(max_iter=100),
    "averaged": AveragedPerceptron(),
    "voted": VotedPerceptron(),
    "sgd": SGDClassifier(),
    "log loss": SGDClassifier("log_loss"),
    "constant": SGDClassifier(learning_rate="constant", max_iter=20, tol=None),
    "no intercept": SGDClassifier(fit_intercept=False),
}
REGRESSORS = {
    "sgd": SGDRegressor(),
    "no intercept": SGDRegressor(fit_intercept=False),
    "huber": SGDRegressor("huber", epsilon=1.0),
    "widrow-hoff": WidrowHoff(),
}
LEARNERS = [(each, Y) for each in CLASSIFIERS.values()] + [
    (each, NUMBERS) for each in REGRESSORS.values()
]
FORMS = {"dense": np.asarray, "sparse": sp.csr_array, "float32": np.float32}


def said_of(learner, rows, y, **given):
    """Fit; return what was said, and how good the model is on the rows."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            learner.fit(rows, y, **given)
            score = learner.score(rows, y)
        except ValueError as error:  # a clear refusal is as good as a warning
            return [str(error)], None
    assert not [str(each.message) for each in said if issubclass(each.category, RuntimeWarning)]
    return [str(each.message) for each in said], score


def is_good(learner, score, possible):
    return score > (0.9 * possible if is_classifier(learner) else 0.8 * possible)


@pytest.mark.parametrize("shift", [1e2, 1e3, 1e5, 1e7, 1e9, 1e12])
@pytest.mark.parametrize(("learner", "y"), LEARNERS)
def test_columns_far_from_zero(learner, y, shift):
    possible = np.corrcoef(SCORE, NUMBERS)[0, 1] ** 2 if y is NUMBERS else np.mean((SCORE > 0) == Y)
    said, score = said_of(learner, X + shift, y)
    assert said or is_good(learner, score, possible), score


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cell", [1e20, -1e9, 1e30])
@pytest.mark.parametrize(
    "learner",
    [AveragedPerceptron(), VotedPerceptron(), SGDClassifier(), SGDRegressor(), WidrowHoff()],
)
def test_one_huge_cell(learner, cell, form):
    for row in (0, 7, 100, 199):
        rows = X.copy()
        rows[row, 2] = cell
        said, _ = said_of(learner, FORMS[form](rows), Y)
        assert any("column 2 has the value" in each or "cale" in each for each in said)
        if len(said) == 1 and "column 2" in said[0]:
            assert f"{cell:.3g}" in said[0]


def test_the_message_names_column_value_and_remedy():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X + 1e9, columns=["age", "year", "height", "weight"])
    with pytest.warns(ConvergenceWarning, match=r"'\w+' lies about 1e\+09 .*StandardScaler"):
        AveragedPerceptron().fit(frame, Y)
    frame = pd.DataFrame(X.copy(), columns=["age", "year", "height", "weight"])
    frame.loc[5, "height"] = 1e20
    with pytest.warns(ConvergenceWarning, match=r"'height' has the value 1e\+20"):
        VotedPerceptron().fit(frame, Y)


@pytest.mark.parametrize("weight", [1e-4, 1e-6, 1e-9, 1e-20, 1e-160, 1e-300, 5e-324])
@pytest.mark.parametrize("form", ["dense", "float32"])
@pytest.mark.parametrize(("learner", "y"), LEARNERS)
def test_sample_weights_far_below_one(learner, y, weight, form):
    possible = np.corrcoef(SCORE, NUMBERS)[0, 1] ** 2 if y is NUMBERS else np.mean((SCORE > 0) == Y)
    said, score = said_of(learner, FORMS[form](X), y, sample_weight=np.full(200, weight))
    assert said or is_good(learner, score, possible), score


ORDINARY = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "breast cancer": load_breast_cancer(return_X_y=True),
    "diabetes": load_diabetes(return_X_y=True, scaled=False),
    "diabetes scaled": load_diabetes(return_X_y=True),
    "counts": (sp.csr_array(rng.poisson(0.1, size=(200, 300)).astype(float)), Y),
    "noise": (rng.normal(size=(200, 3)), rng.integers(0, 2, 200)),
    "heavy tails": (np.exp(3 * rng.normal(size=(200, 3))), Y),
    "a zero column and a constant": (np.column_stack([X, np.zeros(200), np.ones(200)]), Y),
    "few rows": (X[:4] + 1e9, [0, 1, 0, 1]),
}


@pytest.mark.parametrize("table", ORDINARY)
@pytest.mark.parametrize(
    "learner",
    [
        AveragedPerceptron(),
        AveragedPerceptron(multi_class="argmax"),
        VotedPerceptron(),
        SGDClassifier(),
        SGDClassifier("log_loss"),
        SGDRegressor(),
        WidrowHoff(),
    ],
)
def test_ordinary_tables_raise_no_alarm(learner, table):
    rows, y = ORDINARY[table]
    if is_classifier(learner) and "diabetes" in table:
        y = y > np.median(y)
    said, _ = said_of(learner, rows, np.asarray(y))
    assert not [each for each in said if "may have learned little" in each]


def test_a_shift_that_does_not_harm_is_no_alarm():
    # one column tells the class whatever the others are
    rows = np.column_stack([X[:, 0] + 40, 1e4 * np.where(Y == 1, 1.0, -1.0)])
    said, score = said_of(AveragedPerceptron(), rows, Y)
    assert score > 0.99
    assert not said


# ------------------------------------------------------------------ the ends of the floats

ENDS = [1e150, 1e200, 1.7e308, 1e-150, 1e-200, 5e-324]
EXTREME = [
    *(
        Perceptron(max_iter=50, **each)
        for each in ({}, {"pocket": True}, {"multi_class": "argmax"})
    ),
    AveragedPerceptron(),
    AveragedPerceptron(multi_class="argmax"),
    VotedPerceptron(),
    BatchPerceptron(max_iter=50),
    *(SGDClassifier(each, max_iter=50) for each in ("hinge", "log_loss", "sigmoid_mse", "huber")),
    *(
        SGDClassifier("log_loss", learning_rate=rate, eta0=eta0, max_iter=20)
        for rate, eta0 in (("constant", 0.1), ("optimal", None), ("invscaling", 0.5))
    ),
    *(SGDClassifier("log_loss", penalty=each, alpha=0.01, max_iter=20) for each in ("l1", "l2")),
    *(SGDRegressor(each, max_iter=50) for each in ("squared_error", "epsilon_insensitive")),
    SGDRegressor(learning_rate="constant", max_iter=20),
    WidrowHoff(max_iter=50),
    WidrowHoff(eta0=0.01, max_iter=50),
]


def extreme_data(end):
    """Rows, numbers and weights, each with the extreme value in another place."""
    rows, numbers, weight = X[:60] / np.abs(X).max(), SCORE[:60] / np.abs(SCORE).max(), np.ones(60)
    one = np.zeros((60, 4), dtype=bool)
    one[3, 1] = True
    column = np.broadcast_to([1.0, end, 1.0, 1.0], (60, 4))
    for given in (rows * end, np.where(one, end, rows), rows * column):
        yield given, numbers, None
    for given in (numbers * end, np.where(one[:, 1], end, numbers)):
        yield rows, given, None
    for given in (weight * end, np.where(one[:, 1], end, weight)):
        yield rows, numbers, given


def outcome(learner, rows, y, weight):
    """Fit; return predictions, or the refusal, and the warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            return learner.fit(rows, y, sample_weight=weight).predict(rows), said
        except ValueError as error:
            return str(error), said


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("learner", EXTREME)
def test_a_fit_ends_in_a_good_model_or_says_why_not(learner, end):
    for case, (rows, numbers, weight) in enumerate(extreme_data(end)):
        y = (SCORE[:60] > 0).astype(int) if is_classifier(learner) else numbers
        predicted, said = outcome(learner, rows, y, weight)
        assert not [str(each.message) for each in said if issubclass(each.category, RuntimeWarning)]
        if isinstance(predicted, str):
            assert any(x in predicted for x in ("cale", "ivide", "float64", "zero")), predicted
        elif is_classifier(learner):
            assert said or (predicted == y).mean() > 0.8, case
        else:
            predicted, y = predicted / np.abs(y).max(), y / np.abs(y).max()
            assert said or np.square(predicted - y).mean() < 0.3 * y.var(), case


def stream(learner, rows):
    for k in range(0, len(rows), 50):
        learner.partial_fit(rows[k : k + 50], Y[k : k + 50])


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron])
def test_a_stream_far_from_zero_is_named_too(learner):
    stream(learner(), X)  # warnings are errors here
    with pytest.warns(ConvergenceWarning, match=r"may have learned little: column \d lies about"):
        stream(learner(), X + 1e9)
