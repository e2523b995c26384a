from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from separable.data.rows import Rows, as_rows
from separable.model.linear_model import LinearModel
from separable.model.predict import scores as module
from separable.model.predict.scores import linear_scores, row_blocks, segment_sums


def exact(x: np.ndarray, w: np.ndarray, b: float) -> Fraction:
    return sum(
        (Fraction(float(p)) * Fraction(float(q)) for p, q in zip(x, w, strict=True)),
        Fraction(float(b)),
    )


@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_scores_are_those_of_exact_arithmetic(seed: int, dtype: type, sparse: bool) -> None:
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(1, 7, size=3)
    X = (rng.normal(size=(n, d)) * 10.0 ** rng.integers(-12, 12, size=(n, d))).astype(dtype)
    X[rng.random((n, d)) < 0.5] = 0
    W, b = rng.normal(size=(k, d)), rng.normal(size=k)
    rows = as_rows(sp.csr_array(X) if sparse else X)
    found = linear_scores(rows, W, b)
    for i in range(n):
        for j in range(k):
            size = float(np.abs(X[i].astype(np.float64) * W[j]).sum() + abs(b[j]))
            assert abs(Fraction(float(found[i, j])) - exact(X[i], W[j], b[j])) <= 1e-12 * size


def in_order(X: np.ndarray, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products added in the order of the columns in blocks of 4096, these one by one, then b."""
    total = np.zeros((len(X), len(W)))
    for first in range(0, X.shape[1], 4096):
        part = slice(first, first + 4096)
        products = X[:, None, part].astype(np.float64) * W[None, :, part]
        total += np.add.accumulate(products, axis=2)[:, :, -1]
    return total + b


@pytest.mark.native
@pytest.mark.kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n", "d", "k"),
    [
        *[(1, 5, 1), (2, 9000, 1), (3, 40, 11), (8, 17, 1), (13, 4097, 1), (8, 8192, 3)],
        *[(81, 17, 2), (77, 33, 3), (150, 9, 7), (80, 300, 10), (9, 9000, 20), (5, 4096, 5)],
        *[(33, 5000, 13), (75, 64, 14), (4, 3, 50), (100, 1, 1), (73, 2, 24)],
    ],
)
def test_products_are_added_in_the_order_of_the_columns(n: int, d: int, k: int, dtype) -> None:
    rng = np.random.default_rng(n + d + k)
    X = rng.normal(size=(n, d)).astype(dtype)
    X[rng.random((n, d)) < 0.4] = 0
    X[rng.random((n, d)) < 0.1] = -0.0
    W, b = rng.normal(size=(k, d)), rng.normal(size=k)
    b[0] = -0.0
    wanted = in_order(X, W, b)
    columns, starts = np.tile(np.arange(d)[::-1], n), np.arange(n + 1) * d
    for rows in (
        X,
        sp.csr_array(X),
        sp.csr_array((X[:, ::-1].ravel(), columns, starts), shape=(n, d)),
    ):
        found = linear_scores(as_rows(rows), W, b)
        assert (found + 0.0).tobytes() == (wanted + 0.0).tobytes()


def test_some_sums_would_show_another_order() -> None:
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(80, 300)), rng.normal(size=(10, 300))
    assert (in_order(X, W, 0.0) != in_order(X[:, ::-1], W[:, ::-1], 0.0)).mean() > 0.5


def test_a_score_of_nothing_is_zero_without_a_sign() -> None:
    for X in (np.full((9, 3), -0.0), sp.csr_array((9, 3))):
        found = linear_scores(as_rows(X), np.ones((2, 3)), np.array([-0.0, 0.0]))
        assert not np.signbit(found).any()


def test_a_column_that_stands_twice_counts_with_its_sum() -> None:
    columns, starts = np.array([2, 0, 2, 2]), np.array([0, 4])
    for dtype in (np.float32, np.float64):
        values = np.array([0.1, 0.3, 0.7, -0.2], dtype)
        rows = as_rows(sp.csr_array((values, columns, starts), shape=(1, 3)))
        x = np.array([[values[1], 0.0, float(values[0]) + float(values[2]) + float(values[3])]])
        W = np.array([[0.3, 0.5, 0.7]])
        assert linear_scores(rows, W, np.zeros(1)) == in_order(x, W, np.zeros(1))


def test_blocks_cover_all_rows_once_and_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 10)
    lengths = np.array([0, 3, 0, 25, 4, 6, 0, 0, 11, 1])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    rows = Rows(np.ones(indptr[-1]), 50, np.zeros(indptr[-1], dtype=np.int64), indptr)
    blocks = list(row_blocks(rows))
    assert [row for start, stop in blocks for row in range(start, stop)] == list(range(10))
    assert all(lengths[start:stop].sum() <= 10 or stop == start + 1 for start, stop in blocks)


def test_empty_rows_anywhere_sum_to_zero() -> None:
    sums = segment_sums(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2, 2, 3, 3]))
    assert sums.tolist() == [0, 3, 0, 4, 0]
    assert segment_sums(np.array([]), np.array([0, 0, 0])).tolist() == [0, 0]
    model = LinearModel([[1, 2]], [5], [0, 1], "score")
    assert model.decision_function(sp.csr_array((3, 2))).tolist() == [5, 5, 5]


def test_long_rows_do_not_drift() -> None:
    d = 1_000_000  # adding 0.1 a million times one by one is off by 1.3e-11 of the sum
    want = float(d * Fraction(0.1))
    full = np.full((1, d), 0.1)
    for rows in (
        as_rows(full),
        Rows(full[0], d, np.arange(d, dtype=np.int32), np.array([0, d], dtype=np.int32)),
    ):
        assert abs(linear_scores(rows, np.ones((1, d)), np.zeros(1))[0, 0] - want) <= 1e-12 * want


@pytest.mark.parametrize("as_input", [np.asarray, sp.csr_array])
def test_overflow_is_an_error_that_names_the_row(as_input: type) -> None:
    model = LinearModel([[1e300, 1e300]], [0], [0, 1], "score")
    X = as_input(np.array([[1.0, 1.0], [1e10, 0.0]]))
    with pytest.raises(ValueError, match=r"score of row 1 overflows float64.*Scale the features"):
        model.predict(X)
    with pytest.raises(ValueError, match="score of row 0 overflows"):  # inf - inf
        model.predict(as_input(np.array([[1e10, -1e10]])))
