"""Error rate, compared with scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import zero_one_loss

from separable.select import error_rate


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.integers(0, 3)), min_size=1
    )
)
def test_as_by_scikit_learn(rows):
    y, predicted, weight = (np.array(each) for each in zip(*rows, strict=True))
    assert error_rate(y, predicted) == pytest.approx(zero_one_loss(y, predicted))
    assert error_rate(list(y), pd.Series(predicted)) == error_rate(y, predicted)
    if weight.any():
        expected = zero_one_loss(y, predicted, sample_weight=weight)
        assert error_rate(y, predicted, sample_weight=weight) == pytest.approx(expected)
        repeated = error_rate(np.repeat(y, weight), np.repeat(predicted, weight))
        assert error_rate(y, predicted, sample_weight=weight) == pytest.approx(repeated)


def test_numbers_of_any_type_and_booleans():
    assert error_rate([1, 2, 3], [1.0, 2.0, 4.0]) == pytest.approx(1 / 3)
    assert error_rate([True, False], np.array([1, 0], dtype=np.uint8)) == 0.0


@pytest.mark.parametrize(
    ("y", "predicted", "weight", "message"),
    [
        ([], [], None, "error rate of no rows is undefined"),
        ([1, 2], [1], None, "y has 2 rows, predicted has 1"),
        ([1, 2], ["1", "2"], None, "text never equals numbers"),
        ([1, np.nan], [1, 2], None, "y does not have one class per row.*row 1 holds nan"),
        ([0, 1], [0.3, 0.8], None, "predicted does not have one class per row.*continuous"),
        (["a", None], ["a", "b"], None, "missing value"),
        ([1, 2], [1, 2], [0, 0], "All rows have sample_weight 0"),
        ([1, 2], [1, 2], [1, -1], "finite and >= 0"),
        ([[1, 2]], [1], None, "y does not have one class per row"),
    ],
)
def test_errors(y, predicted, weight, message):
    with pytest.raises(ValueError, match=message):
        error_rate(y, predicted, sample_weight=weight)


def test_no_rows_at_all():
    with pytest.raises(TypeError, match="y does not have one class per row"):
        error_rate(3, [1])
