"""ValueCounts: counts of distinct values, equal however the rows are divided."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separable.features.spline import value_counts
from separable.features.spline.value_counts import ValueCounts

FLOATS = st.floats(allow_nan=True, allow_infinity=False)


def assert_same(one: ValueCounts, other: ValueCounts) -> None:
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.counts, other.counts)
    assert (one.missing, one.cleared) == (other.missing, other.cleared)


@given(st.lists(FLOATS, max_size=40))
def test_a_few_values_are_counted_exactly(column):
    made = ValueCounts.of(np.array(column))
    expected = Counter(x for x in column if x == x)  # 0.0 == -0.0
    assert dict(zip(made.values.tolist(), made.counts.tolist(), strict=True)) == expected
    assert made.values.tolist() == sorted(expected)
    assert made.missing == sum(x != x for x in column)


@given(st.integers(1, 4), st.integers(0, 2**32 - 1), st.booleans())
def test_parts_in_any_order_give_the_counts_of_all_rows(n_parts, seed, many):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-3, 4)
    columns = [rng.normal(size=rng.integers(0, 60)) * scale for _ in range(n_parts + 1)]
    columns.append(np.array([0.0, -0.0, np.nan, 5e-324, -5e-324]))
    with pytest.MonkeyPatch.context() as patch:
        if not many:
            patch.setattr(value_counts, "MAX_DISTINCT", 100)
        whole = ValueCounts.of(np.concatenate(columns))
        merged = ValueCounts()
        for at in rng.permutation(len(columns)).tolist():
            merged = merged.merge(ValueCounts.of(columns[at]))
    assert_same(merged, whole)


def test_many_values_keep_as_many_bits_as_fit():
    rng = np.random.default_rng(0)
    column = rng.normal(1.6e9, 1e7, 300_000)  # seconds of a year
    made = ValueCounts.of(column)
    assert value_counts.MAX_DISTINCT // 2 < len(made.values) <= value_counts.MAX_DISTINCT
    assert made.counts.sum() == len(column)
    for q in (0.001, 0.1, 0.5, 0.9, 0.999):
        at = np.searchsorted(np.cumsum(made.counts), q * len(column))
        expected = np.quantile(column, q, method="inverted_cdf")
        assert made.values[at] == pytest.approx(expected, rel=1e-6)
    parts = [ValueCounts.of(part) for part in np.array_split(column, 7)]
    merged = parts[6]
    for part in parts[:6]:
        merged = part.merge(merged)
    assert_same(merged, made)
