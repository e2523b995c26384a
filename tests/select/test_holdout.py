"""``hold_out``: disjoint parts, all rows in one of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from separable import LeastSquares
from separable.select import hold_out


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, pd.DataFrame])
def test_every_row_is_in_one_part(form):
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20)
    parts = hold_out(form(X), y)
    assert parts.X_train.shape == (14, 2)
    assert sorted([*parts.y_train, *parts.y_test]) == list(range(20))
    back = [np.asarray(p.todense() if sp.issparse(p) else p) for p in parts[:2]]
    np.testing.assert_array_equal(back[1], X[parts.y_test])
    np.testing.assert_array_equal(back[0], X[parts.y_train])


def test_seeds_and_classes():
    X, y = np.arange(100.0)[:, None], np.repeat(["a", "b"], [90, 10])
    one, two, other = (hold_out(X, y, random_state=s).X_test.tolist() for s in (0, 0, 1))
    assert one == two != other
    share = hold_out(X, y, 0.2, stratify=True).y_test.tolist()
    assert (share.count("a"), share.count("b")) == (18, 2)


@pytest.mark.parametrize("size", [0, 1, -0.5, 7])
def test_bad_sizes(size):
    with pytest.raises(ValueError, match="test_size must be a float above 0 and below 1"):
        hold_out([[1], [2]], [1, 2], size)


def test_too_few_rows():
    with pytest.raises(ValueError, match="No row is held out: X has 2 rows, and at least two"):
        hold_out([[1], [2]], [1, 2])
    with pytest.raises(ValueError, match="No row is held out: X has 2 rows, and at least one"):
        hold_out([[1], [2]], [1, 2], stratify=True)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        hold_out([[1], [2]], [1])


def test_groups_stay_together():
    rng = np.random.default_rng(0)
    groups = rng.choice(["ann", "bob", "eve", "joe", "sue", "tom", "una", "vic"], 400)
    X, y = np.arange(400.0)[:, None], np.arange(400)
    parts = hold_out(X, y, groups=groups)
    assert not set(groups[parts.y_train]) & set(groups[parts.y_test])
    assert sorted([*parts.y_train, *parts.y_test]) == list(range(400))
    assert 80 < len(parts.y_test) < 160
    other = hold_out(X, y, groups=groups, random_state=3)
    assert set(groups[other.y_test]) != set(groups[parts.y_test])
    numbers = np.unique(groups, return_inverse=True)[1]
    assert hold_out(X, y, groups=numbers).y_test.tolist() == parts.y_test.tolist()


def test_bad_groups():
    X, y = np.arange(6.0)[:, None], np.arange(6)
    with pytest.raises(ValueError, match="groups has 3 entries, X has 6 rows"):
        hold_out(X, y, groups=[1, 2, 3])
    with pytest.raises(ValueError, match="All rows are of one group, '7'"):
        hold_out(X, y, groups=[7] * 6)
    with pytest.raises(ValueError, match="give groups or stratify=True, not both"):
        hold_out(X, y, groups=[1, 1, 1, 2, 2, 2], stratify=True)
    with pytest.raises(ValueError, match=r"one group per row, shape \(6,\)\. Got \(3, 2\)"):
        hold_out(X, y, groups=np.zeros((3, 2)))


@pytest.mark.parametrize("size", ["0.3", None, True])
def test_sizes_that_are_not_fractions(size):
    with pytest.raises(ValueError, match="test_size must be a float above 0 and below 1"):
        hold_out([[1], [2], [3]], [1, 2, 3], size)


def test_a_learner_in_the_place_of_rows_is_named_in_a_short_message():
    X, y = np.zeros((500, 2)), np.arange(500.0)
    with pytest.raises(TypeError, match="takes no learner, but X is a LeastSquares") as caught:
        hold_out(LeastSquares(), X, y)
    assert len(str(caught.value)) < 200
    with pytest.raises(ValueError, match=r"Got ndarray of shape \(500,\)") as caught:
        hold_out(X, y, y)
    assert len(str(caught.value)) < 200
