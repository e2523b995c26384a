"""The laws of Moments, against exact arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from separable import Moments
from separable.model.linear_model import TrainingState
from separable.statistics import moments as module
from separable.statistics import row_blocks as block_module
from separable.statistics.held_out import each_complement
from separable.statistics.precision import SignificanceError
from tests.moments.naive_bayes.nb_problems import with_duplicates
from tests.reference import moments as reference

pytestmark = [pytest.mark.native, pytest.mark.kernel]

FORMS = {"dense": np.ascontiguousarray, "sparse": sp.csr_array}
TARGETS = (None, "numbers", "classes")


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that small data has many of them."""
    monkeypatch.setattr(module, "block_rows", lambda d, *, sparse: 5 + d % 3)


def near(found, expected, squares=None, tolerance=1e-12):
    """Compare scatters relative to sqrt(S_ii S_jj)."""
    squares = np.diagonal(expected) if squares is None else squares
    room = np.sqrt(np.multiply.outer(squares, squares)) if np.ndim(found) == 2 else squares
    assert (np.abs(found - expected) <= tolerance * room + 1e-300).all()


def same_bits(a, b):
    for name in ("rows", "weight", "origin", "scale", "offset", "scatter"):
        np.testing.assert_array_equal(getattr(a.sums, name), getattr(b.sums, name), err_msg=name)
    assert (a.classes is None) == (b.classes is None)
    assert a.classes is None or a.classes.tolist() == b.classes.tolist()


def parts_of(n, cuts):
    return [p for p in np.split(np.arange(n), sorted({min(c, n) for c in cuts})) if len(p)]


@st.composite
def tables(draw, max_rows=40):
    """Return X, y for each target, and weights or None."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, d = draw(st.integers(2, max_rows)), draw(st.integers(1, 6))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-4, 5, d)
    X += draw(st.sampled_from([0.0, 1.0])) * rng.normal(size=d) * 10.0 ** rng.integers(-2, 4, d)
    X[rng.random((n, d)) < draw(st.sampled_from([0.0, 0.7]))] = 0
    target = draw(st.sampled_from(TARGETS))
    y = {None: None, "numbers": rng.normal(size=n), "classes": rng.integers(0, 3, n)}[target]
    weight = rng.integers(0, 4, n).astype(float) if draw(st.booleans()) else None
    if weight is not None:
        weight[:2] = 1
    return X, y, weight, target


def add_parts(target, form, X, y, weight, parts, **options):
    made = Moments(target, **options)
    for p in parts:
        made.add(
            FORMS[form](X[p]), None if y is None else y[p], None if weight is None else weight[p]
        )
    return made


# ------------------------------------------------------------------ the numbers


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("products", [True, False])
@given(table=tables(25))
def test_equals_exact_arithmetic(form, products, table):
    X, y, weight, target = table
    if target == "numbers" and not products:
        target, y = None, None
    made = Moments(target, products=products).add(FORMS[form](X), y, weight)
    total, mean, scatter = reference.moments(X, weight)
    assert made.weight == total
    assert made.n_rows == (len(X) if weight is None else np.count_nonzero(weight))
    spread = np.sqrt(np.diagonal(scatter) / total)
    np.testing.assert_allclose(made.mean, mean, rtol=1e-14, atol=1e-13 * spread.max())
    near(made.scatter, scatter if products else np.diagonal(scatter), np.diagonal(scatter))
    if target == "classes":
        inner = reference.within(X, y, weight)
        squares = np.diagonal(scatter)
        near(made.within_scatter, inner if products else np.diagonal(inner), squares)
    if target == "numbers":
        _, means, whole = reference.moments(np.column_stack([X, y]), weight)
        np.testing.assert_allclose(made.target_mean, means[-1:], rtol=1e-13, atol=1e-14)
        squares = np.diagonal(whole)
        room = np.sqrt(squares[:-1] * squares[-1])
        assert (np.abs(made.cross[:, 0] - whole[:-1, -1]) <= 1e-12 * room).all()
        np.testing.assert_allclose(made.target_scatter, whole[-1:, -1:], rtol=1e-12)


@pytest.mark.usefixtures("small_blocks")
@given(table=tables())
def test_the_diagonal_is_that_of_the_products(table):
    X, y, weight, target = table
    if target == "numbers":
        target, y = None, None
    for form in FORMS:
        both = [
            Moments(target, products=products).add(FORMS[form](X), y, weight)
            for products in (True, False)
        ]
        near(both[1].scatter, np.diagonal(both[0].scatter), np.diagonal(both[0].scatter))


@pytest.mark.usefixtures("small_blocks")
@given(table=tables())
def test_sparse_equals_dense_and_duplicates_add_up(table):
    X, y, weight, target = table
    dense, sparse = (Moments(target).add(FORMS[form](X), y, weight) for form in FORMS)
    near(sparse.scatter, dense.scatter)
    twice = Moments(target).add(with_duplicates(X), y, weight)
    near(twice.scatter, dense.scatter)
    if target != "numbers":
        squares = Moments(target, products=False).add(with_duplicates(X), y, weight)
        near(squares.scatter, np.diagonal(dense.scatter), np.diagonal(dense.scatter))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("products", [True, False])
def test_float32_equals_its_cast_to_the_bit(form, products):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(700, 9)) * (rng.random((700, 9)) < 0.6)).astype(np.float32) + 3
    X[:, :4] -= 3
    y = rng.integers(0, 3, 700)
    same_bits(
        Moments("classes", products=products).add(FORMS[form](X), y),
        Moments("classes", products=products).add(FORMS[form](X.astype(float)), y),
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("products", [True, False])
@pytest.mark.parametrize("cuts", [[], [1, 300, 301]])
def test_columns_far_from_0_keep_9_digits(form, products, cuts):
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(600, 4)) * 2**20) / 2**20  # exact when shifted
    shift = np.array([1e8, -1e8, 0.0, 1e8])
    y = np.arange(600) % 3
    parts = parts_of(600, cuts)
    far = add_parts("classes", form, X + shift, y, None, parts, products=products)
    plain = add_parts("classes", form, X, y, None, parts, products=products)
    squares = plain.scatter if not products else np.diagonal(plain.scatter)
    near(far.scatter, plain.scatter, squares, 1e-9)
    near(far.within_scatter, plain.within_scatter, squares, 1e-9)
    np.testing.assert_allclose(far.mean, plain.mean + shift, rtol=1e-15, atol=1e-12)
    merged = add_parts("classes", form, X[:9] + shift, y[:9], None, [np.arange(9)])
    merged = merged + add_parts("classes", form, X[9:] + shift, y[9:], None, [np.arange(591)])
    if products:
        near(merged.scatter, plain.scatter, squares, 1e-9)


@pytest.mark.usefixtures("small_blocks")
@given(table=tables())
def test_weights_are_repetitions(table):
    X, y, weight, target = table
    weight = np.ones(len(X)) if weight is None else weight
    times = weight.astype(int)
    for form in FORMS:
        weighted = Moments(target).add(FORMS[form](X), y, weight)
        repeated = Moments(target).add(
            FORMS[form](X.repeat(times, axis=0)), None if y is None else y.repeat(times)
        )
        near(weighted.scatter, repeated.scatter)
        np.testing.assert_allclose(weighted.mean, repeated.mean, rtol=1e-12, atol=1e-12)
        assert weighted.weight == repeated.weight


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("products", [True, False])
@pytest.mark.parametrize("size", [1e300, 1e-300, 1e160, 1e-170])
def test_extreme_values(form, products, size):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 3))
    y = np.arange(50) % 2
    plain = Moments("classes", products=products).add(FORMS[form](X), y)
    scaled = X * [1.0, size, 1.0]
    for parts in ([np.arange(50)], [np.arange(20), np.arange(20, 50)]):
        odd = add_parts("classes", form, scaled, y, None, parts, products=products)
        z, u = odd.sums.pooled(), plain.sums.pooled()
        ratio = z.scale * [1.0, size, 1.0]  # what z is of the plain columns
        assert np.isfinite(z.scatter).all()
        room = ratio if not products else np.multiply.outer(ratio, ratio)
        expected = u.scatter * (room if products else ratio**2)
        near(z.scatter, expected, None if products else expected, 1e-11)
        np.testing.assert_allclose(odd.mean, plain.mean * [1.0, size, 1.0], rtol=1e-9)
        assert odd.scatter.shape == plain.scatter.shape  # infinite or 0 where it must be
    first, second = (
        Moments("classes", products=products).add(FORMS[form](A), y) for A in (X, scaled)
    )
    both = first + second
    assert np.isfinite(both.sums.scatter).all()
    np.testing.assert_allclose(both.mean[1], (first.mean[1] + second.mean[1]) / 2, rtol=1e-9)


def test_large_values_in_a_later_block():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9000, 2))
    X[8999, 0] = 1e300
    made = Moments().add(X[:8999]).add(X[8999:])
    assert made.mean[0] == pytest.approx(1e300 / 9000)
    np.testing.assert_allclose(made.mean[1], X[:, 1].mean(), rtol=1e-10)


# ------------------------------------------------------------------ pieces, order, merging


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("products", [True, False])
@given(table=tables(), cuts=st.lists(st.integers(1, 40), max_size=5))
def test_chunks_give_the_same_bits(form, products, table, cuts):
    X, y, weight, target = table
    if target == "numbers" and not products:
        target, y = None, None
    whole = Moments(target, products=products).add(FORMS[form](X), y, weight)
    parts = parts_of(len(X), cuts)
    same_bits(add_parts(target, form, X, y, weight, parts, products=products), whole)


@pytest.mark.parametrize("form", FORMS)
def test_chunks_of_real_blocks_give_the_same_bits(form):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(9001, 7)) * (rng.random((9001, 7)) < 0.4)
    y = rng.integers(0, 3, 9001) + 10 * (np.arange(9001) > 8000)  # new classes come late
    whole = Moments("classes").add(FORMS[form](X), y)
    for cuts in ([1], [4096], [4095, 8193], [5000, 5001, 8500]):
        parts = parts_of(9001, cuts)
        same_bits(add_parts("classes", form, X, y, None, parts), whole)


@pytest.mark.usefixtures("small_blocks")
@given(table=tables(), cut=st.integers(1, 39), seed=st.integers(0, 99))
def test_order_and_merging_change_nothing_but_rounding(table, cut, seed):
    X, y, weight, target = table
    order = np.random.default_rng(seed).permutation(len(X))
    for form in FORMS:
        whole = Moments(target).add(FORMS[form](X), y, weight)
        shuffled = add_parts(target, form, X, y, weight, [order])
        pieces = parts_of(len(X), [cut])
        merged = Moments(target)
        for p in pieces:
            merged = merged + add_parts(target, form, X, y, weight, [p])
        for other in (shuffled, merged):
            near(other.scatter, whole.scatter)
            near(other.within_scatter, whole.within_scatter, np.diagonal(whole.scatter))
            assert other.weight == pytest.approx(whole.weight, rel=1e-14)
            if target == "classes":
                np.testing.assert_array_equal(other.classes, whole.classes)
                np.testing.assert_allclose(other.class_weight, whole.class_weight)
            if target == "numbers":
                room = np.sqrt(np.diagonal(whole.scatter) * whole.target_scatter[0, 0])
                assert (np.abs(other.cross - whole.cross)[:, 0] <= 1e-12 * room + 1e-300).all()


@pytest.mark.usefixtures("small_blocks")
@given(table=tables(), cut=st.integers(1, 39))
def test_subtraction_undoes_addition(table, cut):
    X, y, weight, target = table
    cut = min(cut, len(X) - 1)
    a, b = (add_parts(target, "dense", X, y, weight, [p]) for p in parts_of(len(X), [cut]))
    both, before = a + b, a.scatter.copy()
    if a.is_empty or b.is_empty:
        return
    try:
        back = both - b
    except SignificanceError:  # tests/statistics/test_precision.py says when
        return
    near(back.scatter, a.scatter, np.diagonal(both.scatter))
    assert back.n_rows == a.n_rows
    if target == "classes":
        np.testing.assert_array_equal(back.classes, a.classes)
    np.testing.assert_array_equal(a.scatter, before)
    assert (both - both).is_empty


def test_too_few_digits_are_refused():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3))
    X[:20] *= 1e6
    both, first = Moments().add(X), Moments().add(X[:20])
    with pytest.raises(SignificanceError, match=r"\de-1\d remains, has about \d correct digits"):
        both - first
    near((both - Moments().add(X[20:])).scatter, first.scatter, np.diagonal(both.scatter))


def test_rows_that_were_not_added_are_not_subtracted():
    X = np.arange(8.0).reshape(4, 2)
    a, b = Moments("classes").add(X, [0, 0, 1, 1]), Moments("classes").add(X[:1], [2])
    for left, right in ((a, b), (b, a), (Moments("classes"), a)):
        with pytest.raises(ValueError, match="not among those that were added"):
            left - right
    assert (a - Moments("classes")).n_rows == 4
    with pytest.raises(TypeError):
        a - 3
    with pytest.raises(TypeError):
        a + 3


def test_kinds_do_not_mix():
    X = np.eye(3)
    with pytest.raises(ValueError, match="differ in target: None and 'classes'"):
        Moments().add(X) + Moments("classes").add(X, [0, 1, 1])
    with pytest.raises(ValueError, match="differ in n_features: 3 and 2"):
        Moments().add(X) + Moments().add(X[:, :2])
    with pytest.raises(ValueError, match="differ in products: True and False"):
        Moments().add(X) + Moments(products=False).add(X)
    with pytest.raises(ValueError, match="have no target"):
        Moments().add(X, [1, 2, 3])
    with pytest.raises(ValueError, match="target must be None, 'numbers' or 'classes'"):
        Moments("labels")
    with pytest.raises(ValueError, match="no rows yet"):
        _ = Moments().mean


@given(st.integers(1, 6), st.integers(0, 99))
def test_complements_are_all_other_parts(k, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3))
    fold = rng.permutation(np.arange(30) % k)
    parts = [Moments().add(X[fold == f]) for f in range(k)]
    for f, rest in enumerate(each_complement(parts)):
        if k == 1:
            assert rest.is_empty
        else:
            near(rest.scatter, Moments().add(X[fold != f]).scatter)


def test_formats_may_change_between_chunks():
    rng = np.random.default_rng(6)
    X = rng.random((900, 300)) * (rng.random((900, 300)) < 0.1)
    whole = Moments(products=False).add(X)
    mixed = Moments(products=False).add(sp.csr_array(X[:600])).add(X[600:])
    near(mixed.scatter, whole.scatter, whole.scatter)
    mixed = Moments(products=False).add(X[:300]).add(sp.csr_array(X[300:]))
    near(mixed.scatter, whole.scatter, whole.scatter)
    mixed = Moments().add(sp.csr_array(X[:700].astype(np.float32))).add(X[700:])
    near(np.diagonal(mixed.scatter), whole.scatter, whole.scatter, 1e-6)


# ------------------------------------------------------------------ what fails changes nothing


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("products", [True, False])
@pytest.mark.parametrize("started", [True, False])
def test_what_fails_changes_nothing(form, products, started, monkeypatch):
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(9000, 5)), rng.integers(0, 3, 9000)
    made, other = (Moments("classes", products=products) for _ in range(2))
    if started:
        made.add(FORMS[form](X[:4500]), y[:4500]), other.add(FORMS[form](X[:4500]), y[:4500])
    for bad in (np.nan, np.inf):
        worse = X.copy()
        worse[5000, 3] = bad
        with pytest.raises(ValueError, match="in row 5000, column 3"):
            made.add(FORMS[form](worse), y + 7)
        with pytest.raises(ValueError, match="in row 0, column 3"):
            made.add(FORMS[form](worse[5000:5001]), [9])
    if started:
        with pytest.raises(ValueError, match="X has 4 features, but these Moments have 5"):
            made.add(FORMS[form](X[:, :4]), y)
    with pytest.raises(ValueError, match="0 sample"):
        made.add(FORMS[form](X[:0]), y[:0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        made.add(FORMS[form](X), y[:3])
    assert made.add(FORMS[form](X), y + 5, np.zeros(9000)).is_empty == (not started)
    calls = []

    def interrupted(sums, block):
        calls.append(add(sums, block))
        if len(calls) == 2:
            raise KeyboardInterrupt

    add = block_module.add_block
    monkeypatch.setattr(module, "add_block", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.add(FORMS[form](X), y + 7)
    monkeypatch.undo()
    assert made.n_features == (5 if started else 0)
    made.add(FORMS[form](X), y), other.add(FORMS[form](X), y)
    same_bits(made, other)


def test_the_callers_arrays_may_change_afterwards():
    X = np.random.default_rng(8).normal(size=(20, 3))
    made, expected = Moments().add(X), Moments().add(X.copy()).scatter
    X[:] = 7
    np.testing.assert_array_equal(made.scatter, expected)
    copy = made.copy()
    copy.add(np.eye(3))
    np.testing.assert_array_equal(made.scatter, expected)


def test_memory_that_is_not_there_is_refused_before_anything_is_made(monkeypatch):
    wide = sp.random_array((50, 400_000), density=1e-4, format="csr", rng=0)
    monkeypatch.setattr("separable.data.resources.available_bytes", lambda: 8 << 30)
    made = Moments(owner="LDA", instead="use MultinomialNB")
    message = (
        r"LDA needs products of all 400000 columns \(4768.4 GiB\).* Instead, use MultinomialNB"
    )
    with pytest.raises(MemoryError, match=message):
        made.add(wide)
    assert (made.is_empty, made.n_features) == (True, 0)
    with pytest.raises(MemoryError, match="keep only squares with products=False"):
        Moments().add(wide)
    squares = Moments(products=False).add(wide)
    found = squares.scatter[wide.indices[:3]]
    columns = wide[:, wide.indices[:3]].toarray()
    np.testing.assert_allclose(found, ((columns - columns.mean(axis=0)) ** 2).sum(axis=0))


# ------------------------------------------------------------------ files


@pytest.mark.parametrize("products", [True, False])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("labels", [int, str, bool])
def test_state_round_trip(target, products, labels):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(30, 4))
    y = {"numbers": rng.normal(size=(30, 2)), "classes": rng.integers(0, 2, 30).astype(labels)}
    if target == "numbers" and not products:
        return
    made = Moments(target, products=products).add(X, y.get(target))
    again = Moments.from_state(made.to_state())
    same_bits(again, made)
    assert (again.n_features, again.n_targets) == (made.n_features, made.n_targets)
    more = again.add(X, y.get(target))
    near(more.scatter, (made + made).scatter, None if products else (made + made).scatter)
    assert repr(again).startswith("Moments(60 rows, 4 features")


def hostile(state, tensors=(), values=()):
    return TrainingState({**state.tensors, **dict(tensors)}, {**state.values, **dict(values)})


def test_hostile_states():
    state = Moments("classes").add(np.random.default_rng(0).normal(size=(9, 2)), [0, 1, 2] * 3)
    state = state.to_state()
    fit = "do not fit together"
    asymmetric = np.array(state.tensors["scatter"])
    asymmetric[0, 1] += 1
    cases = [
        (fit, {"weight": np.ones((3, 1))}, {}),
        (fit, {"weight": np.array([1.0, np.inf, 1.0])}, {}),
        (fit, {"weight": np.array([1.0, 0.0, 1.0])}, {}),
        (fit, {"origin": np.zeros((2, 1))}, {}),
        (fit, {"origin": np.zeros(3)}, {}),
        (fit, {"scale": np.array([1.0, 3.0])}, {}),
        (fit, {"scale": np.array([1.0, -1.0])}, {}),
        (fit, {"rows": np.zeros(3, np.int64)}, {}),
        (fit, {"rows": np.ones(3)}, {}),
        (fit, {"offset": np.zeros((2, 2))}, {}),
        (fit, {"scatter": np.zeros((2, 3))}, {}),
        (fit, {"scatter": -np.eye(2)}, {}),
        (fit, {"scatter": asymmetric}, {}),
        (fit, {"scatter": np.eye(2, dtype=np.float32)}, {}),
        ("another number of classes", {}, {"classes": [0, 1]}),
        ("not sorted labels", {}, {"classes": [0, 2, 1]}),
        ("not sorted labels", {}, {"classes": [0, 1, "2"]}),
        ("not sorted labels", {}, {"classes": []}),
        ("not sorted labels", {}, {"classes": {"a": 1}}),
        ("must name classes", {}, {"classes": None}),
        ("must name classes", {}, {"target": None}),
        ("number of targets", {}, {"n_targets": 1}),
        ("target must be", {}, {"target": "other"}),
    ]
    for message, tensors, values in cases:
        with pytest.raises(ValueError, match=message):
            Moments.from_state(hostile(state, tensors, values))
    without = {name: t for name, t in state.tensors.items() if name != "offset"}
    with pytest.raises(ValueError, match="not those of Moments"):
        Moments.from_state(TrainingState(without, state.values))
    numbers = Moments("numbers").add(np.eye(3), [1.0, 2.0, 3.0]).to_state()
    for count in (4, -1, "2", True):
        with pytest.raises(ValueError, match=r"number of targets|do not fit together"):
            Moments.from_state(hostile(numbers, values={"n_targets": count}))
