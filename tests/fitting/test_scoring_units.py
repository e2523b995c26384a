"""Scores of numbers whose squares are beyond float64."""

from __future__ import annotations

import numpy as np
import pytest

from separable import LeastSquares, Ridge
from separable.select import compare, cross_validate, leave_one_out, search

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
Y = X @ [1.0, -2.0, 3.0, 0.5] + rng.normal(size=60)
EXPONENTS = [-1000, -660, -480, 480, 660]


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("scoring", ["r2", "explained_variance", None])
def test_a_ratio_of_squares_does_not_depend_on_the_unit(exponent, scoring):
    one = cross_validate(LeastSquares(), X, Y, scoring=scoring)
    other = cross_validate(LeastSquares(), X, np.ldexp(Y, exponent), scoring=scoring)
    (expected,), (result,) = one.scores.values(), other.scores.values()
    np.testing.assert_allclose(result, expected, rtol=1e-9)
    assert (result < 0.99).all()


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_a_root_is_in_the_unit_of_y(exponent):
    scoring = "neg_root_mean_squared_error"
    one = cross_validate(LeastSquares(), X, Y, scoring=scoring).scores[scoring]
    other = cross_validate(LeastSquares(), X, np.ldexp(Y, exponent), scoring=scoring)
    np.testing.assert_allclose(np.ldexp(other.scores[scoring], -exponent), one, rtol=1e-9)


def test_squares_that_vanish_or_overflow_are_no_scores():
    for exponent in (-660, 660):
        with pytest.raises(ValueError, match=r"beyond the range of float64\. Divide y"):
            cross_validate(
                LeastSquares(), X, np.ldexp(Y, exponent), scoring="neg_mean_squared_error"
            )


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_a_search_chooses_the_same(exponent):
    y = np.ldexp(Y, exponent)
    grid = {"alpha": [1e-3, 1.0, 1e3, 1e6]}
    expected = search(Ridge(), grid, X, Y)
    result = search(Ridge(), grid, X, y)
    assert result.best_params_ == expected.best_params_
    np.testing.assert_allclose(
        result.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], rtol=1e-9
    )
    one = leave_one_out(Ridge(), X, Y).scores["r2"]
    assert leave_one_out(Ridge(), X, y).scores["r2"] == pytest.approx(one)
    names = [each.name for each in compare({"a": Ridge(1e5), "b": LeastSquares()}, X, y)]
    assert names == ["b", "a"]
