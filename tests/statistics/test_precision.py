"""Subtraction of Moments: a refusal, or every entry right, by exact arithmetic."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from separable import Moments
from separable.model.linear_model import TrainingState
from separable.statistics.precision import SignificanceError, relative_error
from tests.reference import moments as reference

pytestmark = pytest.mark.native

#: What docs/reference/moments.md states: six digits.
STATED = 1e-6
FORMS = {"dense": np.ascontiguousarray, "sparse": sp.csr_array}


def assert_right(left, X, y=None, weight=None):
    """Compare means and scatters with the exact ones of the rows that stay."""
    weight = np.ones(len(X)) if weight is None else weight
    columns = X if left.target != "numbers" else np.column_stack([X, y])
    groups = np.zeros(len(X)) if left.target != "classes" else y
    within = np.zeros((columns.shape[1], columns.shape[1]))
    means, totals = [], []
    for group in np.unique(groups):
        part = groups == group
        total, mean, scatter = reference.moments(columns[part], weight[part])
        within += scatter
        means.append(mean)
        totals.append(total)
    squares = np.diagonal(within)
    sums = left.sums
    found = sums.scatter / sums.scale / (1.0 if sums.is_diagonal else sums.scale[:, None])
    if found.ndim == 1:
        assert (np.abs(found - squares) <= STATED * squares).all()
    else:
        assert (np.abs(found - within) <= STATED * np.sqrt(np.outer(squares, squares))).all()
    spread = np.maximum(np.abs(means), np.sqrt(squares / sum(totals)))
    assert (np.abs(sums.means - means) <= STATED * spread).all()
    np.testing.assert_allclose(sums.weight, totals, rtol=STATED)


def test_a_column_that_lost_its_digits_is_named():
    rng = np.random.default_rng(0)
    X, row = rng.normal(size=(1000, 2)) * [1.0, 1e-3], np.array([[1e4, 1e6]])
    for both in (
        Moments().add(np.vstack([X, row])),
        Moments().add(np.vstack([row, X])),
        Moments().add(X) + Moments().add(row),
    ):
        message = r"column 1, of which \d\.\de-1\d remains, has no correct digit\. Sum"
        with pytest.raises(SignificanceError, match=message) as caught:
            both - Moments().add(row)
        assert "column 0" not in str(caught.value)
        one = Moments().add(np.vstack([X, row])[:, :1]) - Moments().add(row[:, :1])
        assert_right(one, X[:, :1])


def test_the_digits_that_are_left_are_said():
    rng = np.random.default_rng(1)
    X, large = rng.normal(size=(50, 1)), 3e5 * rng.normal(size=(5, 1))
    with pytest.raises(SignificanceError) as caught:
        Moments().add(np.vstack([X, large])) - Moments().add(large)
    digits = int(re.search(r"about (\d) correct digits", str(caught.value))[1])
    plain = np.cov(np.vstack([X, large]), rowvar=False) * 54 - np.cov(large, rowvar=False) * 4
    assert 2 <= digits <= 5
    assert plain != 0  # float64 has some number there


@st.composite
def cases(draw):
    """Rows to stay, rows to go, a target and weights, with columns of unlike scales."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, k, d = draw(st.integers(2, 10)), draw(st.integers(1, 5)), draw(st.integers(1, 3))
    scale = 10.0 ** rng.integers(-3, 4, d)
    much = 10.0 ** draw(st.sampled_from([0.0, 2.0, 3.5, 5.0, 8.0]))
    X = rng.normal(size=(n + k, d)) * scale
    X[n:] *= much ** rng.random(d)
    X += draw(st.sampled_from([0.0, 1.0, 1e3, 1e6])) * scale * rng.integers(0, 2, d)
    X[n:] += draw(st.sampled_from([0.0, 1.0, 1e3])) * scale * rng.integers(0, 2, d)
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.4] = 0.0
    target = draw(st.sampled_from([None, "numbers", "classes"]))
    y = {None: None, "numbers": rng.normal(size=n + k) + X[:, 0]}.get(target, np.arange(n + k) % 2)
    weight = draw(st.sampled_from([None, "some"]))
    weight = None if weight is None else rng.random(n + k) * 10.0 ** rng.integers(-3, 3, n + k)
    return X, y, weight, target, n


def moments_of(target, form, X, y, weight, part, **options):
    return Moments(target, **options).add(
        FORMS[form](X[part]),
        None if y is None else y[part],
        None if weight is None else weight[part],
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("products", [True, False])
@given(case=cases(), order=st.sampled_from(["after", "before", "merged"]))
def test_a_refusal_or_every_entry_right(form, products, case, order):
    X, y, weight, target, n = case
    if target == "numbers" and not products:
        target, y = None, None
    stay, go = np.arange(n), np.arange(n, len(X))
    options = {"products": products}
    part = moments_of(target, form, X, y, weight, go, **options)
    if order == "merged":
        whole = moments_of(target, form, X, y, weight, stay, **options) + part
    else:
        rows = np.concatenate([stay, go] if order == "after" else [go, stay])
        whole = moments_of(target, form, X, y, weight, rows, **options)
    try:
        left = whole - part
    except SignificanceError:
        return
    assert left.n_rows == n
    assert_right(left, X[:n], None if y is None else y[:n], None if weight is None else weight[:n])


@given(case=cases(), again=st.integers(0, 2**31))
def test_errors_of_several_subtractions_add_up(case, again):
    """Each step keeps enough of the step before it, but not of the first."""
    X, _, _, _, n = case
    rng = np.random.default_rng(again)
    large = rng.normal(size=(3, X.shape[1])) * 10.0 ** rng.integers(0, 8)
    small, rest = Moments().add(X[n:]), Moments().add(large)
    try:
        left = Moments().add(np.vstack([X, large])) - rest
        left = Moments.from_state(left.to_state())
        left.add(X[:1])
        left = left + Moments().add(X[1:2])
        left = left - small
    except SignificanceError:
        return
    assert_right(left, np.vstack([X[:n], X[:1], X[1:2]]))


def test_what_was_refused_after_one_step_is_refused_after_two():
    rng = np.random.default_rng(2)
    parts = [rng.normal(size=(50, 1)) * size for size in (1.0, 1e3, 1e6)]
    first, second, third = (Moments().add(part) for part in parts)
    assert_right((first + second) - second, parts[0])
    once = (first + second + third) - third
    assert_right(once, np.vstack(parts[:2]))
    with pytest.raises(SignificanceError, match="column 0"):
        once - second
    with pytest.raises(SignificanceError, match="column 0"):
        Moments.from_state(once.to_state()) - second
    with pytest.raises(SignificanceError, match="column 0"):
        once + first - second - first


@given(st.integers(0, 2**31))
def test_ordinary_rows_are_not_refused(seed):
    rng = np.random.default_rng(seed)
    n, k, d = rng.integers(20, 300), rng.integers(1, 300), rng.integers(1, 5)
    X = rng.standard_t(2, size=(n + k, d)) * 10.0 ** rng.integers(-6, 7, d) + rng.normal(size=d)
    y = rng.integers(0, 3, n + k)
    y[:3] = [0, 1, 2]
    whole, part = Moments("classes").add(X, y), Moments("classes").add(X[n:], y[n:])
    left, expected = whole - part, Moments("classes").add(X[:n], y[:n])
    size = np.sqrt(np.diagonal(expected.within_scatter))
    error = np.abs(left.within_scatter - expected.within_scatter) / np.outer(size, size)
    assert error.max() <= 2 * relative_error(left.sums).max() + 1e-12
    assert error.max() < 1e-9


def test_a_product_is_refused_where_both_columns_are_not():
    """One column keeps 1e-7 of its squares, the other lies far from the origin of the sums."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 2))
    X[200:, 0] *= 1e3
    y = np.repeat([0, 1], 200)[rng.permutation(400)]
    X[:, 1] += np.where(y == 0, 0.0, 3e6)
    whole = Moments("classes").add(X, y)
    part = Moments("classes").add(X[200:], y[200:])
    for column in (0, 1):
        one = slice(column, column + 1)
        assert_right(
            Moments("classes").add(X[:, one], y) - Moments("classes").add(X[200:, one], y[200:]),
            X[:200, one],
            y[:200],
        )
    with pytest.raises(SignificanceError, match="the product of column 0 and column 1 has about 5"):
        whole - part


def test_columns_that_were_constant_are_not_refused():
    X = np.column_stack([np.arange(9.0), np.full(9, 0.1), np.zeros(9)])
    left = Moments().add(X) - Moments().add(X[5:])
    np.testing.assert_allclose(left.scatter, np.diag([10.0, 0.0, 0.0]), rtol=1e-14, atol=0)
    X[0, 0] = 0.5
    one = Moments().add(X) - Moments().add(X[1:])
    np.testing.assert_array_equal(one.scatter, np.zeros((3, 3)))


def test_weights_that_lost_their_digits_are_refused():
    X = np.array([[1.0], [2.0], [4.0]])
    heavy = np.array([1e-12, 3e-12, 1.0 / 3.0])
    with pytest.raises(SignificanceError, match="the weight of the rows has about 3 correct"):
        Moments().add(X, sample_weight=heavy) - Moments().add(X[2:], sample_weight=heavy[2:])
    with pytest.raises(SignificanceError, match="the weight of the rows in class 'b' has"):
        (
            Moments("classes").add(X, ["b", "b", "b"], heavy)
            - Moments("classes").add(X[2:], ["b"], heavy[2:])
        )


def test_a_row_of_another_weight_is_not_among_those_added():
    X = np.array([[1.0], [2.0]])
    whole = Moments().add(X, sample_weight=[2.0, 1.0])
    with pytest.raises(ValueError, match="not among those that were added"):
        whole - Moments().add(X)  # weight 1 would stay, and no row
    with pytest.raises(ValueError, match="not among those that were added"):
        Moments().add(X) - Moments().add(X[:1], sample_weight=[2.0])
    spread = Moments().add(np.array([[1.0], [1.5], [2.0]]))
    with pytest.raises(ValueError, match="not among those that were added"):
        spread - Moments().add(np.array([[-7.0], [9.0]]))


def test_errors_travel_between_processes():
    error = SignificanceError([("the product of {} and {}", (1, 2), 1e-3)])
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.text("x{}".format) == (
        "The subtraction leaves too few correct digits: the product of x1 and x2 has about 3 "
        "correct digits. Sum the remaining rows instead of subtracting."
    )


def test_hostile_bounds_of_files():
    X = np.random.default_rng(0).normal(size=(9, 2))
    state = (Moments().add(X) - Moments().add(X[:2])).to_state()
    tensors = dict(state.tensors)
    assert Moments.from_state(state).sums.precision is not None
    cases = [
        {"error_noise": np.array([1.0, np.nan])},
        {"error_noise": np.array([1.0, -1.0])},
        {"error_mean": np.zeros(2)},
        {"error_weight": np.zeros(2)},
        {"error_length": np.zeros(2, np.float32)},
    ]
    for case in cases:
        with pytest.raises(ValueError, match="do not fit together"):
            Moments.from_state(TrainingState({**tensors, **case}, state.values))
    del tensors["error_mean"]
    with pytest.raises(ValueError, match="do not fit together"):
        Moments.from_state(TrainingState(tensors, state.values))
