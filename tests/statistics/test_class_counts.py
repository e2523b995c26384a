"""The laws of ClassCounts: a value that adds, merges and un-merges."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from separable.data.rows import as_rows
from separable.fitting.targets import weigh_rows
from separable.statistics import class_counts as module
from separable.statistics.class_counts import ClassCounts
from separable.statistics.weighted_rows import Data

pytestmark = [pytest.mark.native, pytest.mark.kernel]


def data_of(X, y, weight=None):
    y = np.asarray(y)
    return Data(as_rows(X, check_values=False), y, weigh_rows(weight, None, y), X)


def counts_of(X, y, weight=None, threshold=None):
    return ClassCounts(threshold).add_data(data_of(X, y, weight))


def assert_same(a, b):
    np.testing.assert_array_equal(a.classes, b.classes)
    for name in ("rows", "weight", "sums"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 7))
    X = rng.random((n, d)) * (rng.random((n, d)) < 0.6) * 10.0 ** rng.integers(-3, 4, d)
    return X, rng.integers(0, 3, n), draw(st.sampled_from([None, 0.5]))


@given(tables(), st.integers(0, 40), st.booleans())
def test_chunks_give_the_same_bits_and_weights_are_repetitions(table, cut, sparse):
    X, y, threshold = table
    form = sp.csr_array if sparse else np.asarray
    whole = counts_of(form(X), y, threshold=threshold)
    parts = ClassCounts(threshold)
    for part in np.split(np.arange(len(y)), [min(cut, len(y))]):
        if len(part):
            parts.add_data(data_of(form(X[part]), y[part]))
    assert_same(parts, whole)
    times = np.arange(len(y)) % 3
    times[0] = 1
    repeated = counts_of(X.repeat(times, axis=0), y.repeat(times), threshold=threshold)
    weighted = counts_of(form(X), y, times.astype(float), threshold=threshold)
    np.testing.assert_allclose(weighted.sums, repeated.sums, rtol=1e-13)
    np.testing.assert_array_equal(weighted.weight, repeated.weight)
    chosen = np.flatnonzero(times)
    assert_same(
        ClassCounts(threshold).add_data(data_of(form(X), y), chosen),
        counts_of(form(X[chosen]), y[chosen], threshold=threshold),
    )


@given(tables(), st.integers(1, 39))
def test_merging_and_subtracting(table, cut):
    X, y, threshold = table
    cut = min(cut, len(y) - 1)
    a, b = (counts_of(X[p], y[p], threshold=threshold) for p in (slice(cut), slice(cut, None)))
    before = a.sums.copy()
    both, whole = a + b, counts_of(X, y, threshold=threshold)
    np.testing.assert_array_equal(both.classes, whole.classes)
    np.testing.assert_allclose(both.sums, whole.sums, rtol=1e-13)
    back = both.subtract(b, smoothing=1.0)  # sums of 0 have no digits of their own
    np.testing.assert_array_equal(back.classes, a.classes)
    np.testing.assert_array_equal(back.rows, a.rows)
    assert (np.abs(back.sums - a.sums) <= 1e-12 * both.sums.max()).all()
    assert (back.sums >= 0).all()
    assert (both - whole).is_empty
    assert_same(a + ClassCounts(threshold), a)
    assert_same(a - ClassCounts(threshold), a)
    np.testing.assert_array_equal(a.sums, before)


def test_whole_numbers_are_exact_to_the_last_row():
    X, y = np.array([[2.0**52, 1.0], [1.0, 0.0]]), [0, 0]
    left = counts_of(X, y) - counts_of(X[:1], y[:1])
    np.testing.assert_array_equal(left.sums, [[1.0, 0.0]])


def test_too_few_digits_are_refused():
    X = np.array([[1e10 / 3, 0.0], [1 / 3, 1 / 7]])
    both = counts_of(X, ["a", "a"])
    with pytest.raises(ValueError, match=r"column 0 in class 'a' has about 4 correct digits"):
        both - counts_of(X[:1], ["a"])


def test_rows_that_were_not_added_are_not_subtracted():
    a, b = counts_of(np.eye(2), [0, 0]), counts_of(np.ones((1, 2)), [0])
    with pytest.raises(ValueError, match="not among those that were added"):
        b - a
    with pytest.raises(ValueError, match="not among those that were added"):
        a - counts_of(np.array([[5.0, 0.0]]), [0])
    with pytest.raises(ValueError, match="not among those that were added"):
        a - counts_of(np.eye(2)[:1], [1])
    with pytest.raises(ValueError, match="not among those that were added"):
        ClassCounts() - a


def test_kinds_do_not_mix():
    a = counts_of(np.eye(2), [0, 1])
    with pytest.raises(ValueError, match=r"differ in threshold: None and 0\.5"):
        a + counts_of(np.eye(2), [0, 1], threshold=0.5)
    with pytest.raises(ValueError, match="differ in n_features: 2 and 3"):
        a + counts_of(np.eye(3), [0, 1, 1])
    with pytest.raises(ValueError, match="labels changed type"):
        a + counts_of(np.eye(2), ["a", "b"])
    with pytest.raises(ValueError, match="labels changed type"):
        a.add_data(data_of(np.eye(2), ["a", "b"]))
    with pytest.raises(TypeError):
        a + 1
    with pytest.raises(TypeError):
        a - 1
    assert repr(a) == "ClassCounts(2 rows, 2 features, 2 classes)"


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_what_fails_changes_nothing(form, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.random((6000, 40)), rng.integers(0, 3, 6000)
    counts = counts_of(form(X), y)
    before = counts.sums.copy(), counts.weight.copy()
    bad = X.copy()
    bad[5000, 7] = np.nan
    with pytest.raises(ValueError, match="NaN in row 5000, column 7"):
        counts.add_data(data_of(form(bad), y))
    few = np.zeros((1, 40))
    few[0, 3] = np.inf
    with pytest.raises(ValueError, match="infinity in row 0, column 3"):
        counts.add_data(data_of(form(few), [1]))
    with pytest.raises(ValueError, match="infinity in row 0, column 3"):
        counts.add_data(data_of(form(few), [9]))
    with pytest.raises(ValueError, match="X has 39 features"):
        counts.add_data(data_of(form(X[:, :39]), y))
    np.testing.assert_array_equal(counts.sums, before[0])
    add = module.native.group_sums

    def interrupted(*arguments):
        add(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "native", type("Core", (), {"group_sums": interrupted}))
    with pytest.raises(KeyboardInterrupt):
        counts.add_data(data_of(form(X), y))
    monkeypatch.undo()
    np.testing.assert_array_equal(counts.sums, before[0])
    np.testing.assert_array_equal(counts.weight, before[1])
    assert counts.n_rows == 6000
    np.testing.assert_array_equal(counts.classes, [0, 1, 2])


def test_large_data_is_added_in_pieces_of_the_same_bits(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.random((50, 7)), rng.integers(0, 3, 50)
    whole = counts_of(X, y), counts_of(sp.csr_array(X), y)
    monkeypatch.setattr(module, "VALUES_BETWEEN_POLLS", 20)
    assert_same(counts_of(X, y), whole[0])
    assert_same(counts_of(sp.csr_array(X), y), whole[1])


def test_sums_that_overflow_are_refused():
    counts = counts_of(np.array([[1e308, 0.0]]), [0])
    with pytest.raises(ValueError, match="The sum of column 0 overflows"):
        counts + counts
    with pytest.raises(ValueError, match="The sum of column 0 overflows"):
        counts.add_data(data_of(np.array([[1e308, 0.0]]), [0]))
    np.testing.assert_array_equal(counts.sums, [[1e308, 0.0]])


def test_a_negative_threshold_needs_dense_rows():
    X = np.array([[-1.0, 0.0], [0.5, -3.0]])
    np.testing.assert_array_equal(counts_of(X, [0, 0], threshold=-0.5).sums, [[1, 1]])
    with pytest.raises(ValueError, match=r"The threshold -0\.5 is negative, .* Pass dense rows"):
        counts_of(sp.csr_array(X), [0, 0], threshold=-0.5)


@pytest.mark.parametrize("labels", [[0, 1, 1], ["a", "b", "b"], [True, False, True], [0.5, 1.5, 2]])
def test_state_round_trip(labels):
    counts = counts_of(np.eye(3), labels, threshold=0.25)
    again = ClassCounts.from_state(counts.to_state())
    assert_same(again, counts)
    assert (again.threshold, again.n_features) == (0.25, 3)
    assert_same(again.add_data(data_of(np.eye(3), labels)), counts + counts)


def test_the_result_is_not_written_to():
    counts = counts_of(np.eye(2), [0, 1])
    with pytest.raises(ValueError, match="read-only"):
        counts.sums[0, 0] = 5
    copy = counts.copy()
    copy.add_data(data_of(np.eye(2), [0, 1]))
    assert counts.n_rows == 2


def test_whole_labels_of_several_types_stay_whole():
    from separable import LDA, MultinomialNB

    rng = np.random.default_rng(0)
    X, y = rng.random((40, 2)), np.arange(40) % 2 + 2**53
    for learner in (LDA(), MultinomialNB()):
        learner.partial_fit(X, y).partial_fit(X, y.astype(np.uint64) + np.uint64(1))
        assert learner.classes_.tolist() == [2**53, 2**53 + 1, 2**53 + 2]
