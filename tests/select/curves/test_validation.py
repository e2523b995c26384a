"""Validation curves beside scikit-learn's."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.model_selection import validation_curve as peer_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from separable import LogisticRegression, MultinomialNB, Ridge
from separable.select import validation_curve

FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


PIPE = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-8))


@pytest.mark.parametrize(
    ("estimator", "name", "values", "how"),
    [
        (LogisticRegression(tol=1e-8), "C", [0.01, 0.1, 1.0], "lanes"),
        (PIPE, "logisticregression__C", [0.01, 0.1], "lanes"),
        (MultinomialNB(), "alpha", [0.1, 1.0, 10.0], "sums"),
        (DecisionTreeClassifier(random_state=0), "max_depth", [1, 3, None], "refit"),
    ],
)
def test_as_by_scikit_learn(cancer, estimator, name, values, how):
    X, y = np.abs(cancer[0]), cancer[1]
    own, held = peer_curve(estimator, X, y, param_name=name, param_range=values, cv=FOLDS)
    found = validation_curve(estimator, X, y, name=name, values=values, cv=FOLDS, train_scores=True)
    np.testing.assert_allclose(found.scores, held, atol=1e-12)
    np.testing.assert_allclose(found.train_scores, own, atol=1e-12)
    np.testing.assert_allclose(found.mean, held.mean(axis=1))
    np.testing.assert_allclose(found.standard_error, held.std(axis=1, ddof=1) / 2)
    assert set(found.how) == {how}
    assert found.values == tuple(values)
    assert found.mean[found.best_index] == pytest.approx(held.mean(axis=1).max())
    plain = validation_curve(estimator, X, y, name=name, values=values, cv=FOLDS)
    assert plain.train_scores is None
    np.testing.assert_array_equal(plain.scores, found.scores)


def test_the_simplest_within_one_standard_error(cancer):
    X, y = cancer
    values = [10.0, 0.001, 0.1, 1.0, 0.01]
    found = validation_curve(LogisticRegression(), X, y, name="C", values=values, cv=FOLDS)
    least = found.mean[found.best_index] - found.standard_error[found.best_index]
    assert found.one_se == min(
        C for C, mean in zip(values, found.mean, strict=True) if mean >= least
    )
    X, y = load_diabetes(return_X_y=True)
    pipe, folds = make_pipeline(PolynomialFeatures(), Ridge(alpha=0.1)), KFold(4)
    given = {"name": "polynomialfeatures__degree", "values": [1, 2], "cv": folds}
    unknown = validation_curve(pipe, X, y, **given)
    assert (unknown.one_se, unknown.one_se_index) == (None, None)
    known = validation_curve(pipe, X, y, simpler="smaller", **given)
    close = known.mean >= known.mean.max() - known.standard_error[known.best_index]
    assert known.one_se == (1 if close[0] else 2)
    ridge = {"name": "alpha", "values": [0.01, 0.1, 1.0]}
    assert (
        validation_curve(Ridge(), X, y, **ridge).one_se
        == validation_curve(Ridge(), X, y, simpler="larger", **ridge).one_se
    )


def test_a_metric_has_its_own_direction(cancer):
    X, y = cancer
    given = {"name": "C", "values": [0.01, 1.0], "cv": FOLDS}
    ours = validation_curve(LogisticRegression(), X, y, scoring="log_loss", **given)
    theirs = validation_curve(LogisticRegression(), X, y, scoring="neg_log_loss", **given)
    np.testing.assert_allclose(ours.scores, -theirs.scores, rtol=1e-6)
    assert (ours.metric, ours.greater_is_better) == ("log_loss", False)
    assert ours.best == theirs.best


def test_text_and_plain_values(cancer):
    X, y = cancer
    found = validation_curve(
        LogisticRegression(), X, y, name="C", values=[0.01, 1.0], cv=FOLDS, train_scores=True
    )
    assert repr(found).startswith("LogisticRegression, accuracy by C, 4 folds\n")
    assert "training" in repr(found)
    assert "best" in repr(found)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["values"] == [0.01, 1.0]
    assert plain["train_scores"] == found.train_scores.tolist()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"values": []}, "values is empty"),
        ({"name": "D"}, "Invalid parameter 'D'"),
        ({"simpler": "less"}, "simpler must be 'smaller', 'larger' or None"),
        ({"simpler": "larger", "values": ["a"]}, "simpler='larger' compares numbers"),
    ],
)
def test_errors(cancer, changed, message):
    X, y = cancer
    given = {"name": "C", "values": [0.1], **changed}
    with pytest.raises(ValueError, match=message):
        validation_curve(LogisticRegression(), X, y, **given)


def test_a_number_of_folds_keeps_groups_together(cancer):
    X, y = cancer
    groups = np.arange(len(y)) // 7
    found = validation_curve(Ridge(), X, y, name="alpha", values=[1.0], cv=4, groups=groups)
    _, theirs = peer_curve(
        Ridge(), X, y, param_name="alpha", param_range=[1.0], cv=GroupKFold(4), groups=groups
    )
    np.testing.assert_allclose(found.scores, theirs, rtol=1e-8)


@pytest.mark.parametrize("values", ["abc", 1.0, None])
def test_values_are_a_list(cancer, values):
    with pytest.raises(ValueError, match="values must be a list of values of C"):
        validation_curve(LogisticRegression(), *cancer, name="C", values=values)


def test_one_score_selects(cancer):
    with pytest.raises(ValueError, match=r"scoring must be one score.*Got several"):
        validation_curve(
            LogisticRegression(), *cancer, name="C", values=[1.0], scoring=["accuracy", "f1"]
        )
