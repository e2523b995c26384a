"""Folds are those of scikit-learn's splitters, without importing them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from separable import LogisticRegression, Ridge
from separable.fitting.splits import group_folds, k_folds, read_splits, stratified_folds

LABELS = st.lists(st.sampled_from("abcd"), min_size=4, max_size=60)
SEEDS = st.none() | st.integers(0, 99)


def same(ours, theirs):
    theirs = list(theirs)
    assert len(ours) == len(theirs)
    for (train, test), (expected_train, expected_test) in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(train, expected_train)
        np.testing.assert_array_equal(test, expected_test)


@given(st.integers(2, 80), st.integers(2, 7), SEEDS)
def test_k_folds(n, k, seed):
    k = min(k, n)
    theirs = KFold(k, shuffle=seed is not None, random_state=seed)
    same(k_folds(n, k, seed), theirs.split(np.empty(n)))


@given(LABELS, st.integers(2, 5), SEEDS)
def test_stratified_folds(labels, k, seed):
    k = min(k, max(labels.count(label) for label in labels))
    if k < 2:
        return
    theirs = StratifiedKFold(k, shuffle=seed is not None, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same(
            stratified_folds(np.array(labels), k, seed), theirs.split(np.empty(len(labels)), labels)
        )


@given(LABELS, st.integers(2, 4))
def test_group_folds(groups, k):
    k = min(k, len(set(groups)))
    if k < 2:
        return
    theirs = GroupKFold(k).split(np.empty(len(groups)), groups=groups)
    same(group_folds(np.array(groups), k), theirs)


@pytest.mark.parametrize(
    ("estimator", "y", "kind"),
    [
        (LogisticRegression(), [0, 1] * 6, StratifiedKFold),
        (LogisticRegression(), ["a", "b", "c"] * 4, StratifiedKFold),
        (LogisticRegression(), np.arange(12) + 0.5, KFold),
        (Ridge(), [0, 1] * 6, KFold),
    ],
)
def test_a_number_of_folds(estimator, y, kind):
    splits = read_splits(3, estimator, np.empty((12, 1)), y, None, 12)
    same([(each.train, each.test) for each in splits], kind(3).split(np.empty(12), y))


def test_too_many_folds():
    X, y = np.empty((6, 1)), np.array([0, 0, 0, 0, 1, 1])
    with pytest.warns(UserWarning, match="least populated class in y has only 2 members"):
        read_splits(3, LogisticRegression(), X, y, None, 6)
    with pytest.raises(ValueError, match="n_splits=5 cannot be greater than the number of members"):
        read_splits(5, LogisticRegression(), X, y, None, 6)
    with pytest.raises(ValueError, match="n_splits=7 greater than the number of samples"):
        read_splits(7, Ridge(), X, y, None, 6)
    with pytest.raises(ValueError, match="n_splits=3 greater than the number of groups: 2"):
        read_splits(3, Ridge(), X, y, y, 6)
