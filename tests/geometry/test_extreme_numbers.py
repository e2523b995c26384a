"""Margins below rounding, and numbers at the ends of what floats hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from separable.geometry import separability

SHAPES = {
    "blobs": np.random.default_rng(0).standard_normal((60, 4)),
    "line": np.c_[np.arange(20.0), np.ones(20)],
    "many": np.random.default_rng(0).standard_normal((600, 40)),
}


@pytest.mark.parametrize("gap", [2.3e-16, 1e-15, 1e-14, 1e-9])
def test_a_margin_of_less_than_rounding_is_above_zero(gap):
    X, y = [[1, 2], [1, -1], [1 + gap, 0.5], [1 + gap, 7]], [0, 0, 1, 1]
    verdict = separability(X, y)
    assert verdict.kind == "separable"
    assert 0 < verdict.margin <= verdict.margin_bound
    assert (verdict.proof.margins > 0).all()
    assert verdict.verify(X, y)
    assert verdict.verify(X, y, exact=True)


@pytest.mark.parametrize("size", [1e300, 1e200, 1e-200, 1e-300])
@pytest.mark.parametrize("name", SHAPES)
def test_numbers_of_any_size(size, name):
    X = SHAPES[name] * size
    y = (SHAPES[name][:, 0] > np.median(SHAPES[name][:, 0])).astype(int)
    verdict = separability(X, y)
    assert verdict.kind == "separable"
    assert 0 < verdict.margin <= verdict.margin_bound
    assert verdict.verify(X, y)
    mixed = np.arange(len(y)) % 2
    verdict = separability(X, mixed)
    assert verdict.verify(X, mixed)
    assert verdict.kind == "overlap"


@pytest.mark.parametrize("size", [1e300, 1e-300])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_classes_of_numbers_of_any_size(size, make):
    rng = np.random.default_rng(1)
    X = make(rng.integers(-3, 4, (24, 3)) * size)
    y = rng.permutation(24) % 3
    verdict = separability(X, y)
    assert verdict.kind == "overlap"
    assert verdict.verify(X, y, exact=True)
    X = make(np.vstack([np.eye(3), 2 * np.eye(3), np.ones((1, 3)) / 4]) * size)
    y = [0, 1, 2, 0, 1, 2, 0]
    verdict = separability(X, y)
    assert verdict.kind == "separable"
    assert 0 < verdict.margin <= verdict.margin_bound
    assert verdict.verify(X, y)


@pytest.mark.parametrize("size", [1.7e308, 1e300, 1e-300, 1e-310, 5e-324])
def test_a_rare_column_of_any_size(size):
    X, y = SHAPES["many"], np.arange(600) % 2
    rare = np.zeros((600, 1))
    rare[[1, 3, 5]] = size
    verdict = separability(np.hstack([X, rare]), y)
    assert verdict.kind == "quasi-separable"
    assert verdict.proof.columns == (40,)
    assert verdict.verify(np.hstack([X, rare]), y)


@pytest.mark.parametrize("X", [[[5e-324], [1e-323]], [[1.7e308], [-1.7e308]], [[1e-310], [3e-310]]])
def test_nothing_overflows_with_a_warning(X):
    verdict = separability(X, [0, 1])
    assert verdict.kind == "separable"
    assert verdict.verify(X, [0, 1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"precision": "a"}, "'precision' parameter .* Got 'a'"),
        ({"precision": None}, "'precision' parameter .* Got None"),
        ({"fit_intercept": "no"}, "'fit_intercept' parameter .* True or False. Got 'no'"),
    ],
)
def test_parameters_of_another_type_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        separability([[0.0], [1.0]], [0, 1], **given)
