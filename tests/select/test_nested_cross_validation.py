"""Nested validation beside two loops written out."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.preprocessing import StandardScaler

from separable import LassoCV, LinearSVM, LogisticRegression, Ridge, RidgeCV
from separable.select import cross_validate, nested_cross_validate

GRID = {"C": [0.001, 0.01, 0.1, 1.0]}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def loops(estimator, grid, X, y, outer, inner, scoring):
    """Return outer scores, best inner scores and choices, by scikit-learn alone."""
    found = []
    for train, test in outer.split(X, y):
        search = GridSearchCV(estimator, grid, cv=inner, scoring=scoring).fit(X[train], y[train])
        found.append((search.score(X[test], y[test]), search.best_score_, search.best_params_))
    return zip(*found, strict=True)


@pytest.mark.slow
@pytest.mark.parametrize("scoring", [pytest.param(None, marks=pytest.mark.long), "roc_auc"])
def test_as_by_two_loops(cancer, scoring):
    X, y = cancer
    outer, inner = StratifiedKFold(3, shuffle=True, random_state=0), StratifiedKFold(4)
    learner = LogisticRegression(tol=1e-8)
    scores, inner_scores, chosen = loops(learner, GRID, X, y, outer, inner, scoring)
    found = nested_cross_validate(learner, GRID, X, y, cv=outer, inner_cv=inner, scoring=scoring)
    np.testing.assert_allclose(found.scores, scores, atol=1e-9)
    np.testing.assert_allclose(found.inner_scores, inner_scores, atol=1e-9)
    assert found.chosen == chosen
    assert found.mean == pytest.approx(np.mean(scores))
    assert found.standard_error == pytest.approx(np.std(scores, ddof=1) / np.sqrt(3))
    assert found.optimism == pytest.approx(np.mean(inner_scores) - np.mean(scores))
    assert found.n_candidates == 4


@pytest.mark.slow
def test_regression_and_an_estimator_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    grid = {"alpha": [0.001, 0.1, 1.0]}
    scores, inner, chosen = loops(PeerRidge(), grid, X, y, KFold(4), KFold(5), None)
    for learner in (PeerRidge(), Ridge()):
        found = nested_cross_validate(learner, grid, X, y, cv=4)
        np.testing.assert_allclose(found.scores, scores, rtol=1e-7)
        np.testing.assert_allclose(found.inner_scores, inner, rtol=1e-7)
        assert found.chosen == chosen


@pytest.mark.slow
def test_noise_alone_looks_better_when_chosen():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 40)), rng.integers(0, 2, 60)
    grid = {"C": np.logspace(-3, 3, 7).tolist(), "class_weight": [None, "balanced"]}
    found = nested_cross_validate(LogisticRegression(), grid, X, y, cv=5, inner_cv=4)
    assert found.optimism > 0.01
    assert "are better than the outer ones by" in repr(found)


def test_outer_rows_take_no_part(cancer):
    X, y = cancer
    folds = [(np.arange(0, 400), np.arange(400, 569))]
    spoiled = X.copy()
    spoiled[400:] = np.random.default_rng(0).normal(size=(169, 30)) * 1e3
    one, other = (
        nested_cross_validate(LogisticRegression(), GRID, rows, y, cv=folds)
        for rows in (X, spoiled)
    )
    assert one.chosen == other.chosen
    assert one.inner_scores[0] == pytest.approx(other.inner_scores[0])
    assert one.scores[0] > other.scores[0]
    assert np.isnan(one.standard_error)


@pytest.mark.slow
def test_the_strongest_penalty_within_one_error(cancer):
    X, y = cancer
    plain, simple = (
        nested_cross_validate(LogisticRegression(), GRID, X, y, cv=3, select=select)
        for select in ("min", "1se")
    )
    for a, b in zip(plain.chosen, simple.chosen, strict=True):
        assert b["C"] <= a["C"]


def test_a_metric_weights_and_groups(cancer):
    X, y = cancer
    groups, weight = np.arange(len(y)) % 9, 1.0 + np.arange(len(y)) % 3
    found = nested_cross_validate(
        LogisticRegression(tol=1e-8), GRID, X, y, cv=3, inner_cv=2, scoring="log_loss",
        sample_weight=weight, score_weight=weight, groups=groups,
    )  # fmt: skip
    assert not found.greater_is_better
    assert found.optimism == pytest.approx(found.mean - found.inner_mean)
    splits = list(GroupKFold(3).split(X, y, groups))
    for k, (train, test) in enumerate(splits):
        model = LogisticRegression(tol=1e-8, **found.chosen[k]).fit(
            X[train], y[train], weight[train]
        )
        loss = log_loss(y[test], model.predict_proba(X[test]), sample_weight=weight[test])
        assert found.scores[k] == pytest.approx(loss, rel=1e-4)
        inner = []
        for a, b in GroupKFold(2).split(X[train], y[train], groups[train]):
            model.fit(X[train[a]], y[train[a]], weight[train[a]])
            shares = model.predict_proba(X[train[b]])
            inner.append(log_loss(y[train[b]], shares, sample_weight=weight[train[b]]))
        assert found.inner_scores[k] == pytest.approx(np.mean(inner), rel=1e-4)


@pytest.mark.parametrize("learner", [LassoCV(alphas=20), RidgeCV()])
def test_cross_validation_of_self_tuning_estimators_is_nested(learner):
    X, y = load_diabetes(return_X_y=True)
    found = nested_cross_validate(learner, None, X, y, cv=3)
    np.testing.assert_allclose(found.scores, cross_val_score(clone(learner), X, y, cv=3))
    np.testing.assert_allclose(found.scores, cross_validate(learner, X, y, cv=3).scores["r2"])
    assert [set(each) for each in found.chosen] == [{"alpha"}] * 3
    assert np.isnan(found.optimism)
    assert "self-tuning" in repr(found)
    assert "When chosen, models looked" not in repr(found)


@pytest.mark.slow
def test_plain_values(cancer):
    X, y = cancer
    found = nested_cross_validate(LogisticRegression(), GRID, X, y, cv=3)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["chosen"] == list(found.chosen)
    assert plain["optimism"] == found.optimism


@pytest.mark.parametrize(
    ("grid", "changed", "message"),
    [
        (GRID, {"scoring": ["accuracy", "roc_auc"]}, "scoring must be one score"),
        (GRID, {"select": "best"}, "select must be 'min' or '1se'"),
        ({}, {"select": "1se"}, "only C or alpha"),
        (None, {"inner_cv": 3}, "inner_cv has no effect"),
        (None, {"select": "1se"}, "select has no effect"),
        (None, {"n_jobs": 2}, "n_jobs has no effect"),
        ([], {}, "The grid is empty"),
        (GRID, {"estimator": LinearSVM(), "scoring": "log_loss"}, "gives no probabilities"),
    ],
)
def test_errors(cancer, grid, changed, message):
    given = {"estimator": LogisticRegression(), "X": cancer[0], "y": cancer[1], **changed}
    with pytest.raises(ValueError, match=message):
        nested_cross_validate(grid=grid, **given)


def test_a_search_of_scikit_learn_says_what_it_chose():
    X, y = load_diabetes(return_X_y=True)
    search_ = GridSearchCV(Ridge(), {"alpha": [0.01, 10.0]}, cv=3)
    nested = nested_cross_validate(search_, None, X, y, cv=3)
    for (train, _), chosen in zip(KFold(3).split(X), nested.chosen, strict=True):
        assert chosen == search_.fit(X[train], y[train]).best_params_
    assert "self-tuning" in nested.to_text()


def test_an_estimator_that_selects_nothing_is_not_called_self_tuning():
    X, y = load_diabetes(return_X_y=True)
    assert "self-tuning" not in nested_cross_validate(Ridge(), None, X, y, cv=3).to_text()
