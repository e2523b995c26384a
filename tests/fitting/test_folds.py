"""Folds in the order of rows: shuffled on request, with a warning where y is in order."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from separable import (
    LDA,
    ElasticNetCV,
    LassoCV,
    LeastSquares,
    LinearSVMCV,
    LogisticRegressionCV,
    Ridge,
    RidgeCV,
)
from separable.fitting.splits import OrderedRowsWarning
from separable.select import (
    compare,
    cross_validate,
    nested_cross_validate,
    search,
    validation_curve,
)


def line(n=100, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, x @ [1.0, 2.0, 3.0] + 5 * rng.normal(size=n)


def in_order(n=100, turn=1):
    X, y = line(n)
    order = np.argsort(turn * y)
    return X[order], y[order]


CALLS = {
    "cross_validate": lambda X, y, **given: cross_validate(LeastSquares(), X, y, **given),
    "search": lambda X, y, **given: search(Ridge(), {"alpha": [1.0, 2.0]}, X, y, **given),
    "validation_curve": lambda X, y, **given: validation_curve(
        Ridge(), X, y, name="alpha", values=[1.0, 2.0], **given
    ),
    "compare": lambda X, y, **given: compare({"ols": LeastSquares()}, X, y, **given),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("turn", [1, -1])
def test_rows_in_the_order_of_y_are_warned_of(name, turn):
    X, y = in_order(turn=turn)
    with pytest.warns(OrderedRowsWarning, match="Use shuffle=True"):
        CALLS[name](X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", OrderedRowsWarning)
        CALLS[name](X, y, shuffle=True)
        CALLS[name](X, y, cv=KFold(5))  # folds that were chosen


SEARCHES = [RidgeCV, LassoCV, ElasticNetCV]


@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("unit", [1.0, 1e-100])
def test_learners_that_search_for_themselves_warn_too(kind, unit):
    X, y = in_order()
    with pytest.warns(OrderedRowsWarning, match="Leave cv at None, or give cv=KFold") as caught:
        kind(cv=5).fit(X, y * unit)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", OrderedRowsWarning)
        kind().fit(X, y * unit)  # shuffled, or one row at a time
        kind(cv=KFold(5, shuffle=True, random_state=0)).fit(X, y)
        kind(cv=KFold(5)).fit(X, y)  # folds that were chosen
        kind(cv=5).fit(*line())


def test_wide_rows_in_the_order_of_y():
    X, y = in_order(30)
    X = np.hstack([X, np.random.default_rng(0).normal(size=(30, 60))])
    with pytest.warns(OrderedRowsWarning):
        RidgeCV(cv=3).fit(X, y)


@pytest.mark.parametrize("kind", [LogisticRegressionCV, LinearSVMCV])
def test_folds_of_classes_are_stratified(kind):
    X, y = in_order(60)
    with warnings.catch_warnings():
        warnings.simplefilter("error", OrderedRowsWarning)
        assert kind(Cs=[1.0], cv=3).fit(X, y > 0).best_score_ > -1.0
        assert kind(Cs=[1.0]).fit(X, (y > 0).astype(float)).best_score_ > -1.0


def test_nested_validation_warns_of_both_kinds_of_folds():
    X, y = in_order(60)
    shuffled = KFold(3, shuffle=True, random_state=0)
    for cv in (3, shuffled):
        with pytest.warns(OrderedRowsWarning, match="as cv and inner_cv"):
            nested_cross_validate(Ridge(), {"alpha": [1.0, 2.0]}, X, y, cv=cv, inner_cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", OrderedRowsWarning)
        nested_cross_validate(Ridge(), {"alpha": [1.0, 2.0]}, X, y, cv=shuffled, inner_cv=shuffled)


def test_long_blocks_are_warned_of():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(90, 2)), np.repeat([0.0, 5.0, -3.0], 30) + rng.normal(size=90)
    for unit in (1.0, 1e-200, 1e200):
        with pytest.warns(OrderedRowsWarning, match="in one of 3 folds"):
            cross_validate(LeastSquares(), X, y * unit, cv=3)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(40, 200), marks=pytest.mark.long)])
def test_shuffled_rows_are_never_warned_of(seeds):
    with warnings.catch_warnings():
        warnings.simplefilter("error", OrderedRowsWarning)
        for seed in seeds:
            rng = np.random.default_rng(seed)
            n = int(rng.integers(6, 60))
            y = rng.choice(
                [rng.normal(size=n), rng.integers(0, 3, n).astype(float), rng.pareto(1, n)]
            )
            cross_validate(LeastSquares(), rng.normal(size=(n, 1)), y, cv=3)
        X, y = line(60)
        cross_validate(LDA(), X[np.argsort(y)], np.sort(y) > 0)  # stratified
        cross_validate(LeastSquares(), X, np.cumsum(np.tile([1.0, -1.0], 30)))  # a season


def test_shuffled_folds_are_those_of_scikit_learn():
    X, y = in_order()
    result = cross_validate(LeastSquares(), X, y, shuffle=True, random_state=3)
    peer = cross_val_score(LeastSquares(), X, y, cv=KFold(5, shuffle=True, random_state=3))
    np.testing.assert_allclose(next(iter(result.scores.values())), peer, rtol=1e-7)
    assert next(iter(result.scores.values())).mean() > 0.1
    label = np.sort(np.arange(100) % 2)
    result = cross_validate(LDA(), X, label, cv=4, shuffle=True)
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    np.testing.assert_allclose(
        next(iter(result.scores.values())), cross_val_score(LDA(), X, label, cv=cv)
    )


def test_what_cannot_be_shuffled():
    X, y = line(20)
    for given in ({"cv": KFold(3)}, {"groups": np.arange(20) % 5}):
        with pytest.raises(ValueError, match="give a splitter that shuffles"):
            cross_validate(LeastSquares(), X, y, shuffle=True, **given)
    with pytest.raises(ValueError, match="'shuffle' parameter must be True or False"):
        cross_validate(LeastSquares(), X, y, shuffle="yes")
