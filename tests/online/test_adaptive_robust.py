"""Adaptive steps on odd data: finite and useful, or an error that says what to do."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from separable import SGDClassifier, SGDRegressor
from separable.online.base_sgd import LOSSES

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.* has no effect"),  # one set of options, all modes
]

N = 400
BIG, TINY = {"float32": 1e38, "float64": 1e300}, {"float32": 1e-38, "float64": 1e-300}
SETTINGS = ({}, {"fit_intercept": False}, {"average": True})


def easy(seed=0, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, d))
    y = (X[:, 0] + 0.5 * X[:, -1] + 0.1 * rng.normal(size=N) > 0).astype(int)
    return X, y


# ---------------------------------------------------------------------- still useful


def constant_at_first(X):
    X[:100] = 1.0


def zero_at_first(X):
    X[:100] = 0.0


def outliers_first(X):
    X[:3] *= 1e6


def an_outlier_last(X):
    X[-1] *= 1e6


def empty_rows_and_columns(X):
    X[::10] = 0.0
    X[:, 2] = 0.0


def a_constant_column(X):
    X[:, 2] = 7e5


def offsets(X):
    X += [1e6, -1e4, 3.0, 0.0, 1e5]


def tiny_first_row(X):
    X[0] = 1e-30


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "squared_hinge"])
@pytest.mark.parametrize(
    ("spoil", "least"),
    [(constant_at_first, 0.8), (zero_at_first, 0.93), (empty_rows_and_columns, 0.93),
     (a_constant_column, 0.95), (offsets, 0.95), (tiny_first_row, 0.95)],
)  # fmt: skip
def test_odd_rows_do_no_lasting_harm(loss, spoil, least):
    X, y = easy()
    odd = X.copy()
    spoil(odd)
    ours = SGDClassifier(loss, shuffle=False, max_iter=20, tol=None).fit(odd, y)
    fair = (odd[:, 0] != 0) & (np.arange(N) >= 100)
    assert ours.score(odd[fair], y[fair]) > least


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "squared_hinge"])
@pytest.mark.parametrize("spoil", [outliers_first, an_outlier_last])
def test_far_outliers_cost_no_more_than_knowing_nothing(loss, spoil):
    """They set the scale of their columns, so the other rows are learned from slowly."""
    X, y = easy()
    spoil(X)
    ours = SGDClassifier(loss, shuffle=False, max_iter=5, tol=None).fit(X, y)
    nothing = np.log(2) if loss == "log_loss" else 1.0
    assert max(ours.evidence_["losses"]) < 1.1 * nothing
    assert (np.sign(ours.decision_function(X)) == 2 * y - 1)[np.abs(X).max(axis=1) > 1e5].all()


def test_heavy_tails():
    rng = np.random.default_rng(0)
    X = rng.standard_cauchy(size=(N, 5))
    y = (np.sign(X[:, 0]) * np.minimum(np.abs(X[:, 0]), 3) + X[:, 1] > 0).astype(int)
    assert SGDClassifier("log_loss").fit(X, y).score(X, y) > 0.85
    cubes = SGDClassifier("log_loss").fit(X**3, y)  # up to 1e8 times the median
    assert np.isfinite(cubes.coef_).all()
    assert cubes.evidence_["losses"][-1] < 0.7


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "squared_hinge"])
def test_labels_in_order(loss):
    X, y = easy()
    order = np.argsort(y, kind="stable")
    given = SGDClassifier(loss, shuffle=False, max_iter=30, tol=None).fit(X[order], y[order])
    assert given.score(X, y) > 0.9
    assert SGDClassifier(loss).fit(X[order], y[order]).score(X, y) > 0.95


# ---------------------------------------------------------------------- small


@pytest.mark.parametrize("loss", LOSSES)
def test_two_rows_and_one_column(loss):
    ours = SGDClassifier(loss, max_iter=50, tol=None).fit([[1.0], [3.0]], [0, 1])
    assert ours.predict([[0.0], [5.0]]).tolist() == [0, 1]


def test_one_row_of_a_regression():
    ours = SGDRegressor().fit([[2.0, 3.0]], [7.0])
    assert ours.predict([[2.0, 3.0]]).tolist() == [7.0]


def test_nothing_but_zeros():
    ours = SGDClassifier("log_loss").fit(np.zeros((30, 3)), [0, 1, 1] * 10)
    assert (ours.coef_ == 0).all()
    np.testing.assert_allclose(ours.predict_proba(np.zeros((1, 3)))[0, 1], 2 / 3, atol=0.05)
    assert SGDRegressor().fit(np.zeros((4, 1)), np.full(4, 2.5)).intercept_ == 2.5


def test_a_stream_of_single_rows():
    X, y = easy()
    stream = SGDClassifier("log_loss")
    for i in range(N):
        stream.partial_fit(X[i : i + 1], y[i : i + 1])
        assert np.isfinite(stream.coef_).all()
    assert stream.score(X, y) > 0.9


# ---------------------------------------------------------------------- the ends of the floats


def all_big(X, big, tiny):
    X *= big / 10


def all_tiny(X, big, tiny):
    X *= tiny


def both(X, big, tiny):
    X[:, 0] *= big / 10
    X[:, 1] *= tiny


def constant_and_big(X, big, tiny):
    X[:] = big


def one_big_value(X, big, tiny):
    X[50, 1] = big


def big_row_last(X, big, tiny):
    X[-1] = big


def tiny_then_big(X, big, tiny):
    X[0], X[1] = tiny, big


def alternating(X, big, tiny):
    X[::2], X[1::2] = tiny, big


def rare_and_big(X, big, tiny):
    X[np.arange(N) % 10 > 0] = 0
    X[10, 0], X[20, 0] = tiny, big


ENDS = [all_big, all_tiny, both, constant_and_big, one_big_value, big_row_last, tiny_then_big,
        alternating, rare_and_big]  # fmt: skip
#: One column from end to end: units that no float can change into each other. An error says so.
MAY_FAIL = (one_big_value, big_row_last, tiny_then_big, alternating, rare_and_big)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("spoil", ENDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_finite_or_refused(loss, spoil, dtype):
    X, y = easy()
    X = X.astype(dtype)
    spoil(X, BIG[dtype], TINY[dtype])
    for settings in SETTINGS:
        ours = SGDClassifier(loss, shuffle=False, max_iter=2, tol=None, **settings)
        try:
            ours.fit(X, y)
        except ValueError as error:
            assert spoil in MAY_FAIL
            assert "overflowed to infinity" in str(error)  # noqa: PT017
            continue
        assert np.isfinite(ours.coef_).all()
        assert np.isfinite(ours.intercept_).all()
        if spoil in (all_big, all_tiny, both):  # scale does not matter
            assert ours.score(X, y) > 0.9


@pytest.mark.parametrize("loss", [name for name in LOSSES if not LOSSES[name].classes_only])
@pytest.mark.parametrize(("dtype", "largest"), [("float32", 1e15), ("float64", 1e140)])
def test_numbers_to_predict_that_are_too_large(loss, dtype, largest):
    X, _ = easy()
    X = X.astype(dtype)
    y = X[:, 0] / np.abs(X[:, 0]).max()
    factor = min(largest, 1e28)  # a step of the loss with slopes of 1 is as long as y is large
    ours = SGDRegressor(loss, epsilon=0.01 * factor).fit(X, y * factor)
    assert ours.score(X, y * factor) > 0.98
    words = r"go up to 2e\+.*cannot hold sums of their squares. Divide y by a constant"
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=words):
            getattr(SGDRegressor(loss), method)(X, y * 2.0 * largest)


def test_one_huge_value_does_no_harm_to_float32():
    X, y = easy()
    X = X.astype(np.float32)
    odd = X.copy()
    odd[200] = 1e38
    for first in (odd, np.where(X[:1] == X, np.float32(1e-38), X)):  # far above, far below the rest
        stream = SGDClassifier("log_loss").partial_fit(first, y).partial_fit(X, y)
        assert np.isfinite(stream.coef_).all()
        assert np.isfinite(stream.decision_function(X)).all()


def test_a_refused_chunk_leaves_the_stream_as_it_was():
    X, y = easy()
    X = X.astype(np.float32)
    numbers = SGDRegressor().partial_fit(X, y)
    before = numbers.coef_.copy()
    with pytest.raises(ValueError, match="Divide y"):
        numbers.partial_fit(X, y * 1e30)
    np.testing.assert_array_equal(numbers.coef_, before)
    assert numbers.evidence_["rows_seen"] == N


# ---------------------------------------------------------------------- close to the optimum

SMOOTH = {
    "log_loss": lambda s, y: np.logaddexp(0, -y * s),
    "squared_hinge": lambda s, y: np.maximum(0, 1 - y * s) ** 2,
    "squared_error": lambda s, y: (s - y) ** 2 / 2,
    "huber": lambda s, y: np.where(np.abs(s - y) <= 1, (s - y) ** 2 / 2, np.abs(s - y) - 0.5),
}


def raw_problem(loss, seed):
    """Return columns of many units and places, the same standardised, and targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 5)) * [1, 1e3, 1e-3, 1, 5] + [0, 5e3, 0, 100, 0]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    numbers = Z @ [1, -1, 0.5, 0, 0.7] + rng.logistic(size=N)
    return X, Z, np.sign(numbers) if LOSSES[loss].classes_only else numbers


def reached(loss, value, X, y, **settings):
    kind = SGDClassifier if LOSSES[loss].classes_only else SGDRegressor
    ours = kind(loss, epsilon=1.0, **settings).fit(X, y)
    return value(X @ ours.coef_.ravel() + ours.intercept_, y).mean()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", SMOOTH)
def test_close_to_the_optimum(loss, seed):
    X, Z, y = raw_problem(loss, seed)
    mean = lambda theta: SMOOTH[loss](Z @ theta[:-1] + theta[-1], y).mean()  # noqa: E731
    best = scipy.optimize.minimize(mean, np.zeros(6), tol=1e-10).fun
    objective_reached = reached(loss, SMOOTH[loss], X, y)
    assert best * (1 - 1e-9) <= objective_reached < best * 1.002
    settled = {"max_iter": 100, "tol": None, "average": 50 * N}
    assert reached(loss, SMOOTH[loss], X, y, **settled) < best * (1 + 1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_hinge_is_close_to_the_optimum(seed):
    """As a linear programme: least sum of slacks t with t >= 0 and t >= 1 - y s."""
    X, Z, y = raw_problem("hinge", seed)
    slacks = np.hstack([-y[:, None] * Z, -y[:, None], -np.eye(N)])
    free, at_least_0 = [(None, None)] * 6, [(0, None)] * N
    cost = np.r_[np.zeros(6), np.full(N, 1 / N)]
    best = scipy.optimize.linprog(cost, slacks, -np.ones(N), bounds=free + at_least_0).fun
    value = lambda s, t: np.maximum(0, 1 - t * s)  # noqa: E731
    assert best * (1 - 1e-9) <= reached("hinge", value, X, y) < best * 1.002
    assert reached("hinge", value, X, y, max_iter=100, tol=None) < best * 1.0005
