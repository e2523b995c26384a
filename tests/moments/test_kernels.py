"""The compiled kernels of the moments: their sums, and their checks at the boundary."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from separable._core import native, portable
from separable.data.rows import as_rows

pytestmark = [pytest.mark.native, pytest.mark.kernel]

N, D, G = 7, 4, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)) * (RNG.random((N, D)) < 0.7)
GROUP = np.array([0, 2, 1, 0, 2, 2, 1], np.int32)
WEIGHT = np.arange(1.0, N + 1) / 4
TOTAL = np.bincount(GROUP, WEIGHT)
FORMS = {"dense": np.asarray, "csr32": sp.csr_array, "csr64": sp.csr_array}


def core(form="dense", matrix=X):
    rows = as_rows(FORMS[form](matrix))
    if form == "csr64":
        indices, indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
        return portable.Rows(rows.values, rows.n_features, indices, indptr)
    return portable.Rows(rows.values, rows.n_features, rows.indices, rows.indptr)


def rows_of(g):
    return np.flatnonzero(np.equal(GROUP, g))


def means():
    sums = np.array([WEIGHT[rows_of(g)] @ X[rows_of(g)] for g in range(G)])
    return sums / TOTAL[:, None]


@pytest.mark.parametrize("form", FORMS)
def test_group_sums(form):
    sums = np.ones((G, D))
    assert native.group_sums(core(form), 2, 4, GROUP[2:6], WEIGHT[2:6], None, sums) == (
        True,
        bool((X[2:6] < 0).any()),
        False,
    )
    part = slice(2, 6)
    expected = [
        1 + WEIGHT[part][np.equal(GROUP[part], g)] @ X[part][np.equal(GROUP[part], g)]
        for g in range(G)
    ]
    np.testing.assert_allclose(sums, expected, rtol=1e-14)
    counts = np.zeros((1, D))
    native.group_sums(core(form), 0, N, None, None, 0.25, counts)
    np.testing.assert_array_equal(counts[0], (X > 0.25).sum(axis=0))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (0.0, (True, False, True)),
        (-0.0, (True, True, True)),
        (-3.0, (True, True, True)),
        (2.0**20, (True, False, True)),
        (2.0**20 + 0.25, (True, False, False)),
        (np.inf, (False, False, True)),
        (-np.inf, (False, True, True)),
        (np.nan, (False, False, False)),
        (-1e-30, (True, True, False)),
        (1e-45, (True, False, False)),
        (0.5, (True, False, False)),
    ],
)
def test_group_sums_see_signs_fractions_and_what_is_no_number(form, dtype, value, seen):
    rows = np.ones((N, D), dtype)
    rows[4, 2] = value
    made = as_rows(FORMS[form](np.ones((N, D), dtype)))
    made.values.reshape(-1)[4 * D + 2] = value  # stored, though it may be 0
    held = portable.Rows(made.values, D, made.indices, made.indptr)
    finite, negative, whole = native.group_sums(held, 0, N, None, None, 0.5, np.zeros((1, D)))
    assert (finite, whole) == (seen[0], seen[2])
    assert np.isnan(value) or negative == seen[1]


@pytest.mark.parametrize("form", FORMS)
def test_squares_about(form):
    sums, gaps = np.zeros(D), np.empty((G, D))
    rounded = means() + 1e-3
    native.squares_about(core(form), 0, N, GROUP, WEIGHT, TOTAL, rounded, sums, gaps)
    rest = X - rounded[GROUP]
    np.testing.assert_allclose(sums, WEIGHT @ rest**2, rtol=1e-13)
    expected = [WEIGHT[rows_of(g)] @ rest[rows_of(g)] for g in range(G)]
    np.testing.assert_allclose(gaps, expected, atol=1e-15)


@pytest.mark.parametrize("form", FORMS)
def test_squares_spread_and_products(form):
    squares, filled, largest = np.zeros((3, D))
    native.column_squares(core(form), 0, N, WEIGHT, squares, filled, largest)
    np.testing.assert_allclose(squares, WEIGHT @ X**2, rtol=1e-14)
    np.testing.assert_allclose(filled, WEIGHT @ (X != 0))
    np.testing.assert_array_equal(largest, np.abs(X).max(axis=0))
    out = np.zeros((N, 2))
    native.spread_columns(core(form), 0, N, np.array([1, -1, 0, -1]), out)
    np.testing.assert_array_equal(out, X[:, [2, 0]])
    z, products, cross = RNG.normal(size=(N, 2)), np.zeros((3, 3)), np.zeros((3, 2))
    native.add_products(core(form), 0, N, WEIGHT, np.array([2, 0, -1, 1]), products, z, cross)
    chosen = X[:, [1, 3, 0]]
    np.testing.assert_allclose(products, np.triu(chosen.T @ (WEIGHT[:, None] * chosen)), atol=1e-14)
    np.testing.assert_allclose(cross, chosen.T @ (np.sqrt(WEIGHT)[:, None] * z), atol=1e-14)


def test_centre_rows():
    mean, largest, out = np.empty((G, D)), np.empty(D), np.full((N + 1, D + 2), 9.0)
    origin, scale = np.ones(D), np.array([1.0, 2.0, 0.5, 1.0])
    native.centre_rows(core(), 0, N, GROUP, WEIGHT, TOTAL, origin, scale, mean, largest, out, 1)
    np.testing.assert_allclose(mean, (means() - origin) * scale, atol=1e-14)
    rest = (X - means()[GROUP]) * scale
    np.testing.assert_allclose(out[:N, 1 : D + 1], np.sqrt(WEIGHT)[:, None] * rest, atol=1e-14)
    np.testing.assert_allclose(largest, np.abs(rest).max(axis=0))
    assert (out[:, [0, D + 1]] == 9).all()
    assert (out[N] == 9).all()


def dense_blocks(**changed):
    given = {
        "rows": core(), "targets": WEIGHT[:, None] ** 2, "weight": WEIGHT, "chosen": None,
        "first": 0, "n_rows": N, "step": 3, "origin": np.zeros(D + 1), "scale": np.ones(D + 1),
        "total": 0.0, "offset": np.zeros((1, D + 1)), "scatter": np.zeros((D + 1, D + 1)),
    }  # fmt: skip
    return native.add_dense_blocks(**given | changed)


def test_dense_blocks():
    all_columns = np.column_stack([X, WEIGHT**2])
    chosen = np.array([6, 0, 1, 2, 5, 3, 4])
    origin, scale = np.linspace(-1, 1, D + 1), np.array([1.0, 2.0, 0.5, 1.0, 0.25])
    z = (all_columns[chosen] - origin) * scale
    first, rest = z[:2], z[2:]
    w = WEIGHT[chosen]
    mean = w[:2] @ first / w[:2].sum()
    offset = mean[None, :].copy()
    scatter = (first - mean).T @ (w[:2, None] * (first - mean))
    below = np.tril(scatter, -1)
    added, total = dense_blocks(
        chosen=chosen, first=2, n_rows=5, origin=origin, scale=scale, total=w[:2].sum(),
        offset=offset, scatter=scatter,
    )  # fmt: skip
    assert added == len(rest)
    np.testing.assert_allclose(total, WEIGHT.sum(), rtol=1e-15)
    np.testing.assert_allclose(offset[0], w @ z / w.sum(), atol=1e-14)
    middle = z - w @ z / w.sum()
    np.testing.assert_allclose(np.triu(scatter), np.triu(middle.T @ (w[:, None] * middle)))
    np.testing.assert_array_equal(np.tril(scatter, -1), below)


@pytest.mark.parametrize(
    ("value", "added"), [(np.nan, 3), (np.inf, 3), (-np.inf, 3), (1e130, 3), (1e-130, 0)]
)
def test_dense_blocks_stop_before_what_needs_a_closer_look(value, added):
    rows = X.copy()
    rows[added:, 2] = value
    offset, scatter = np.zeros((1, D + 1)), np.eye(D + 1)
    assert dense_blocks(
        rows=portable.Rows(rows, D, None, None), weight=None, total=5.0, offset=offset,
        scatter=scatter,
    ) == (added, 5.0 + added)  # fmt: skip
    assert np.isfinite(offset).all()
    assert np.isfinite(scatter).all()


def test_dense_blocks_stop_where_digits_would_go():
    far = np.column_stack([X, WEIGHT]) + 1e6
    scatter = np.zeros((D + 1, D + 1))
    targets = np.ascontiguousarray(far[:, D:])
    assert dense_blocks(
        rows=core(matrix=far[:, :D]), targets=targets, weight=None, scatter=scatter
    ) == (0, 0.0)
    assert not scatter.any()


@pytest.mark.parametrize("form", FORMS)
def test_residual_sums(form):
    y, w, centre = RNG.normal(size=N), RNG.normal(size=D), RNG.normal(size=D)
    gradient, each = np.empty(D), np.empty(N)
    zero = np.zeros(D)
    total, squares = native.residual_sums(
        core(form), y, WEIGHT, w, zero, 0.5, 0.0, centre, gradient, each
    )
    r = y - X @ w - 0.5
    np.testing.assert_allclose(each, r, atol=1e-15)
    np.testing.assert_allclose([total, squares], [WEIGHT @ r, WEIGHT @ r**2], rtol=1e-14)
    np.testing.assert_allclose(gradient, (WEIGHT * r) @ (X - centre), atol=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_residual_sums_without_weights_center_or_gradient(form):
    y, w, gradient, each = RNG.normal(size=N), RNG.normal(size=D), np.empty(D), np.empty(N)
    native.residual_sums(core(form), y, None, w, None, 0.5, 0.25, None, None, each)
    np.testing.assert_allclose(each, y - X @ w - 0.75, atol=1e-15)
    total, squares = native.residual_sums(
        core(form), y, None, None, None, 0.0, 0.0, None, gradient, None
    )
    np.testing.assert_allclose([total, squares], [y.sum(), y @ y], rtol=1e-13)
    np.testing.assert_allclose(gradient, y @ X, atol=1e-13)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("n", [16, 37])
def test_residual_sums_of_rows_side_by_side_have_twice_the_digits(n, is_weighted):
    rng = np.random.default_rng(n)
    matrix = rng.normal(size=(n, D)) + 1e8
    w, y, centre = rng.normal(size=D), rng.normal(size=n), matrix.mean(axis=0)
    weight = rng.uniform(0.5, 2.0, n) if is_weighted else None
    gradient, each = np.empty(D), np.empty(n)
    total, squares = native.residual_sums(
        core(matrix=matrix), y, weight, w, None, 0.5, 0.0, centre, gradient, each
    )
    x, v, m = (
        [[Fraction(a) for a in row] for row in np.atleast_2d(t)] for t in (matrix, w, centre)
    )
    r = [
        Fraction(t) - Fraction(1, 2) - sum(a * b for a, b in zip(row, v[0], strict=True))
        for t, row in zip(y.tolist(), x, strict=True)
    ]
    c = [Fraction(a) for a in (np.ones(n) if weight is None else weight).tolist()]
    terms = [a * b for a, b in zip(c, r, strict=True)]
    assert each.tolist() == [float(a) for a in r]
    assert total == float(sum(terms))
    assert squares == pytest.approx(float(sum(a * b for a, b in zip(terms, r, strict=True))), 1e-15)
    exact = [
        float(sum(t * (row[j] - m[0][j]) for t, row in zip(terms, x, strict=True)))
        for j in range(D)
    ]
    np.testing.assert_allclose(gradient, exact, rtol=1e-12)


# ------------------------------------------------------------------ the boundary

LAST = np.iinfo(np.int64).max
BLOCKS = [(-1, 2), (0, N + 1), (N, 1), (0, -1), (LAST, 1), (1, LAST), (LAST, LAST)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("first", "n"), BLOCKS)
def test_blocks_outside_are_refused(form, first, n):
    calls = [
        lambda: native.group_sums(core(form), first, n, None, None, None, np.zeros((1, D))),
        lambda: native.column_squares(core(form), first, n, None, *np.zeros((3, D))),
        lambda: native.squares_about(
            core(form), first, n, None, None, np.ones(1), np.zeros((1, D)), np.zeros(D),
            np.zeros((1, D)),
        ),
        lambda: native.spread_columns(core(form), first, n, np.zeros(D, int), np.zeros((N, 1))),
        lambda: native.add_products(
            core(form), first, n, None, np.zeros(D, int), np.zeros((1, 1)), np.zeros((N, 1)),
            np.zeros((1, 1)),
        ),
        lambda: native.centre_rows(
            core(form), first, n, None, None, np.ones(1), np.zeros(D), np.ones(D),
            np.zeros((1, D)), np.zeros(D), np.zeros((N, D)), 0,
        ),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(ValueError, match="the block is outside"):
            call()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"group": GROUP[:3]}, "one group a row"),
        ({"group": GROUP + 1}, "a group is outside"),
        ({"group": GROUP - 1}, "a group is outside"),
        ({"weight": WEIGHT[:3]}, "one weight a row"),
        ({"sums": np.zeros((G, D + 1))}, "sums do not fit"),
        ({"sums": np.zeros((0, D)), "group": None}, "there must be a group"),
    ],
)
def test_group_sums_refuses(changed, message):
    given = {"group": GROUP, "weight": WEIGHT, "sums": np.zeros((G, D))} | changed
    with pytest.raises(ValueError, match=message):
        native.group_sums(core(), 0, N, given["group"], given["weight"], None, given["sums"])


@pytest.mark.parametrize("short", ["mean", "sums", "gaps", "total"])
def test_squares_about_refuses(short):
    given = {
        "total": TOTAL, "mean": np.zeros((G, D)), "sums": np.zeros(D), "gaps": np.zeros((G, D)),
    }  # fmt: skip
    given[short] = given[short][..., :-1].copy()
    with pytest.raises(ValueError, match=r"sums do not fit|a group is outside"):
        native.squares_about(core(), 0, N, GROUP, WEIGHT, *given.values())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"origin": np.zeros(D + 1)}, "columns do not fit"),
        ({"mean": np.zeros((G, D - 1))}, "columns do not fit"),
        ({"largest": np.zeros(1)}, "columns do not fit"),
        ({"out": np.zeros((N - 1, D))}, "no room"),
        ({"out": np.zeros((N, D - 1))}, "no room"),
        ({"column": 1}, "no room"),
        ({"column": -1}, "no room"),
        ({"column": LAST}, "no room"),
        ({"rows": "csr32"}, "only dense rows"),
    ],
)
def test_centre_rows_refuses(changed, message):
    given = {
        "rows": "dense", "first": 0, "n_rows": N, "group": GROUP, "weight": WEIGHT, "total": TOTAL,
        "origin": np.zeros(D), "scale": np.ones(D), "mean": np.zeros((G, D)),
        "largest": np.zeros(D), "out": np.zeros((N, D)), "column": 0,
    } | changed  # fmt: skip
    with pytest.raises(ValueError, match=message):
        native.centre_rows(**given | {"rows": core(given["rows"])})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"first": -1}, "block is outside"),
        ({"n_rows": N + 1}, "block is outside"),
        ({"first": LAST, "n_rows": LAST}, "block is outside"),
        ({"chosen": np.arange(N - 1)}, "block is outside"),
        ({"step": 0}, "a block must have rows"),
        ({"weight": WEIGHT[1:]}, "one weight a row"),
        ({"targets": np.zeros((N - 1, 1))}, "one target a row"),
        ({"targets": np.zeros((N, 2))}, "sums do not fit"),
        ({"chosen": np.array([0, 1, 2, 3, 4, 5, N])}, "a row is outside"),
        ({"chosen": np.array([0, 1, 2, 3, 4, 5, -1])}, "a row is outside"),
        ({"origin": np.zeros(D)}, "sums do not fit"),
        ({"scale": np.ones(D)}, "sums do not fit"),
        ({"offset": np.zeros((2, D + 1))}, "sums do not fit"),
        ({"offset": np.zeros((1, D))}, "sums do not fit"),
        ({"scatter": np.zeros((D + 1, D))}, "sums do not fit"),
        ({"rows": core("csr32")}, "only dense rows"),
    ],
)
def test_dense_blocks_refuse(changed, message):
    with pytest.raises(ValueError, match=message):
        dense_blocks(**changed)


def test_places_and_rooms_are_checked():
    for place in (np.array([0, 1, 2, 0]), np.array([0, 1, 1, LAST])):
        with pytest.raises(ValueError, match="a place is outside"):
            native.spread_columns(core(), 0, N, place, np.zeros((N, 2)))
        with pytest.raises(ValueError, match="a place is outside"):
            native.add_products(
                core(), 0, N, None, place, np.zeros((2, 2)), np.zeros((N, 1)), np.zeros((2, 1))
            )
    with pytest.raises(ValueError, match="one place a column"):
        native.spread_columns(core(), 0, N, np.zeros(3, int), np.zeros((N, 2)))
    with pytest.raises(ValueError, match="no room for the rows"):
        native.spread_columns(core(), 0, N, np.zeros(D, int), np.zeros((N - 1, 2)))
    for sums, z, cross, message in [
        ((2, 3), (N, 1), (2, 1), "a square"),
        ((2, 2), (N - 1, 1), (2, 1), "cross products"),
        ((2, 2), (N, 1), (2, 2), "cross products"),
        ((2, 2), (N, 1), (1, 1), "cross products"),
    ]:
        with pytest.raises(ValueError, match=message):
            native.add_products(
                core(), 0, N, None, np.zeros(D, int), np.zeros(sums), np.zeros(z), np.zeros(cross)
            )


@pytest.mark.parametrize("short", ["y", "weight", "w", "w_low", "centre", "gradient", "residuals"])
def test_residual_sums_refuses(short):
    given = {
        "rows": core(), "y": np.zeros(N), "weight": np.ones(N), "w": np.zeros(D),
        "w_low": np.zeros(D), "b": 0.0, "b_low": 0.0, "centre": np.zeros(D),
        "gradient": np.zeros(D), "residuals": np.zeros(N),
    }  # fmt: skip
    given[short] = given[short][:-1].copy()
    with pytest.raises(ValueError, match="one number a"):
        native.residual_sums(**given)
