"""``leave_one_out``: each row as the fit to all others predicts it."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression
from sklearn.metrics import make_scorer, r2_score, roc_auc_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separable import LeastSquares
from separable.moments.regression.rank_warning import RankWarning
from separable.select import leave_one_out
from tests.select.doubles import Discriminant, Hat, fitted


def problem(n=25, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.8)
    return X, X @ np.arange(1, d + 1) + rng.normal(size=n)


def left_out(estimator, X, y, weight=None):
    rows = np.arange(len(y))
    return np.concatenate(
        [fitted(estimator, X, y, rows != i, weight).predict(X[i : i + 1]) for i in rows]
    )


@pytest.mark.parametrize("estimator", [Hat(), LeastSquares()], ids=["short", "long"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("weigh", [None, "some", "zeros"])
def test_regression_equals_brute_force(estimator, form, weigh):
    X, y = problem()
    rng = np.random.default_rng(1)
    weight = {None: None, "some": rng.random(25) + 0.5, "zeros": rng.integers(0, 3, 25) + 0.0}[
        weigh
    ]
    found = leave_one_out(estimator, form(X), y, sample_weight=weight)
    np.testing.assert_allclose(
        found.predictions, left_out(LeastSquares(), X, y, weight), rtol=1e-8, atol=1e-9
    )
    assert found.n_refits == 0
    assert found.scores == {"r2": pytest.approx(r2_score(y, found.predictions))}
    assert np.isnan(found.standard_error["r2"])


def test_several_targets():
    X, y = problem()
    Y = np.column_stack([y, y**2])
    found = leave_one_out(Hat(), X, Y, ["r2", "neg_mean_squared_error"])
    np.testing.assert_allclose(found.predictions, left_out(LeastSquares(), X, Y), rtol=1e-8)
    assert found.row_scores["neg_mean_squared_error"].mean() == pytest.approx(
        found.scores["neg_mean_squared_error"]
    )


def test_rows_without_digits_are_refitted():
    X, y = problem()
    X = np.column_stack([X, np.arange(25) == 7])  # row 7 alone has this column
    with pytest.warns(RankWarning, match="constant"):
        found = leave_one_out(Hat(), X, y)
    assert found.n_refits == 1
    np.testing.assert_allclose(found.predictions, left_out(LeastSquares(), X, y), rtol=1e-8)
    with pytest.raises(
        ValueError, match="needs 1 fits, one a row, which is more than max_refits=0"
    ):
        leave_one_out(Hat(), X, y, max_refits=0)


def test_more_columns_than_rows():
    X, y = problem(n=8, d=12)
    with pytest.warns(RankWarning, match=r"12 columns and 7 rows.*in 8 of 8 folds"):
        found = leave_one_out(Hat(), X, y)
    assert found.n_refits == 8
    np.testing.assert_allclose(found.predictions, left_out(LeastSquares(), X, y), rtol=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
def test_classification_equals_brute_force(classes):
    X, y = problem(n=40)
    y = np.array(["a", "b", "c"])[np.argsort(np.argsort(y)) * classes // 40]
    found = leave_one_out(Discriminant(), X, y)
    np.testing.assert_array_equal(found.predictions, left_out(Discriminant(), X, y))
    shares = [
        fitted(Discriminant(), X, y, np.arange(40) != i).predict_proba(X[i : i + 1])[0]
        for i in range(40)
    ]
    np.testing.assert_allclose(found.probabilities, shares, rtol=1e-8)
    assert found.scores["accuracy"] == pytest.approx(np.mean(found.predictions == y))
    assert found.row_scores["accuracy"].tolist() == (found.predictions == y).tolist()
    assert found.standard_error["accuracy"] == pytest.approx(
        np.std(found.predictions == y, ddof=1) / 40**0.5
    )
    assert found.decision_scores.shape == ((40,) if classes == 2 else (40, 3))


class ByScores(Discriminant):
    """Gives scores as a learner with a short cut would; row 2 is alone in its class."""

    def _left_out_scores(self, sums, data):
        n, k = len(data.y), len(sums.classes)
        scores = np.tile(np.arange(k, dtype=float), (n, 1)) if k > 2 else np.full((n, 1), -2.0)
        scores[2] = [*range(k - 1), -np.inf] if k > 2 else -np.inf
        return scores


def test_scores_become_classes_and_probabilities():
    X = problem(n=6)[0]
    found = leave_one_out(ByScores(), X, ["a", "b", "c", "a", "b", "a"])
    assert found.predictions.tolist() == ["c", "c", "b", "c", "c", "c"]
    np.testing.assert_allclose(found.probabilities[0], np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum())
    np.testing.assert_allclose(found.probabilities[2], [1 / (1 + np.e), np.e / (1 + np.e), 0])
    assert found.decision_scores[2].tolist() == [0, 1, -np.inf]
    two = leave_one_out(ByScores(), X, ["a", "a", "b", "a", "a", "a"])
    assert two.predictions.tolist() == ["a"] * 6
    np.testing.assert_allclose(
        two.probabilities[:, 1], [1 / (1 + np.e**2)] * 2 + [0] + [1 / (1 + np.e**2)] * 3
    )
    assert two.decision_scores[2] == -np.inf


@pytest.mark.parametrize("pipe", [False, True])
def test_other_estimators_are_fitted_n_times(pipe):
    X, y = problem()
    line = make_pipeline(StandardScaler(), LinearRegression()) if pipe else LinearRegression()
    found = leave_one_out(line, X, y, ["r2", "neg_mean_absolute_error"])
    np.testing.assert_allclose(
        found.predictions, cross_val_predict(line, X, y, cv=LeaveOneOut()), rtol=1e-12
    )
    assert found.n_refits == 25
    default = leave_one_out(line, X, y)
    assert default.scores == {"r2": found.scores["r2"]}
    label = (y > 0).astype(int)
    area = make_scorer(roc_auc_score, response_method="predict_proba")
    bayes = leave_one_out(GaussianNB(), X, label, {"auc": "roc_auc", "own": area})
    shares = cross_val_predict(GaussianNB(), X, label, cv=LeaveOneOut(), method="predict_proba")
    expected = roc_auc_score(label, shares[:, 1])
    assert bayes.scores == {"auc": pytest.approx(expected), "own": pytest.approx(expected)}


def test_too_many_fits_are_not_begun():
    X, y = problem(n=1200)
    with pytest.raises(ValueError, match=r"needs 1200 fits.*Use cross_validate\(\.\.\., cv=10\)"):
        leave_one_out(LinearRegression(), X, y)
    assert leave_one_out(Hat(), X, y).n_refits == 0


def test_score_weights():
    X, y = problem()
    weight = np.arange(25) % 3 + 0.0
    metric = "neg_mean_squared_error"
    found = leave_one_out(Hat(), X, y, metric, score_weight=weight)
    squares = (y - found.predictions) ** 2
    assert found.scores[metric] == pytest.approx(-np.average(squares, weights=weight))
    times = np.repeat(squares, weight.astype(int))
    assert found.standard_error[metric] == pytest.approx(times.std(ddof=1) / len(times) ** 0.5)
    with pytest.raises(ValueError, match="All rows have score_weight 0"):
        leave_one_out(Hat(), X, y, score_weight=np.zeros(25))


def test_a_scorer_that_asks_for_more_than_answers():
    X, y = problem()
    with pytest.raises(AttributeError, match="The scorer needs 'coef_' of the fitted Hat"):
        leave_one_out(Hat(), X, y, lambda e, X, y: e.coef_[0])


def test_one_row_or_no_weight():
    with pytest.raises(ValueError, match=r"needs at least 2 rows, one to learn from\. X has 1"):
        leave_one_out(Hat(), [[1.0]], [1.0])
    X, y = problem()
    with pytest.raises(ValueError, match="Every sample weight is zero"):
        leave_one_out(Hat(), X, y, sample_weight=np.zeros(25))


def test_the_result_as_text_and_dict():
    X, y = problem()
    found = leave_one_out(Hat(), X, y, ["r2", "neg_mean_squared_error"])
    lines = repr(found).splitlines()
    assert lines[0] == "Hat, each of 25 rows left out once, no refit"
    assert lines[1].split() == ["score", "value", "std.", "error"]
    assert [len(line.split()) for line in lines[2:]] == [2, 3]
    plain = found.to_dict()
    assert json.loads(json.dumps(plain))["predictions"] == found.predictions.tolist()
