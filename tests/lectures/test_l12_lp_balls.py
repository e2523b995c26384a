"""L12: L_p penalties; L_0 counts, L_1 is sparse, L_2 shrinks, L_inf bounds: the picture's numbers.

The picture has two weights, the ellipses of a quadratic around its minimum, and the ball of each
penalty that touches the lowest ellipse it can reach.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from separable import LpRegression, Ridge

pytestmark = pytest.mark.native

POWERS = {
    "0": 0.0,
    "1/2": 0.5,
    "2/3": 2 / 3,
    "1": 1.0,
    "4/3": 4 / 3,
    "3/2": 1.5,
    "2": 2.0,
    "inf": np.inf,
}
LEAST = np.array([2.0, 0.5])
BOWL = np.array([[1.0, 0.3], [0.3, 1.0]])


def quadratic(w):
    away = np.asarray(w) - LEAST
    return 0.5 * np.einsum("...i,ij,...j->...", away, BOWL, away)


def ball(p, w):
    """The size of w: the ball that it lies on."""
    w = np.abs(np.asarray(w))
    if p == "inf":
        return w.max(axis=-1)
    return (w > 0).sum(axis=-1) if p == "0" else (w ** POWERS[p]).sum(axis=-1)


def touching(p, alpha):
    """The point of the picture: two rows whose squared errors are the quadratic."""
    X = np.sqrt(2.0) * np.linalg.cholesky(BOWL).T
    return LpRegression(p, alpha, fit_intercept=False).fit(X, X @ LEAST).coef_


@cache
def plane(size=4.0, steps=801):
    axis = np.linspace(-size, size, steps)
    return np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)


@cache
def over_the_plane(p):
    """The quadratic at all points of the plane, and the ball that each lies on."""
    return quadratic(plane()), ball(p, plane())


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.8, 2.0])
@pytest.mark.parametrize("p", list(POWERS))
def test_the_ball_touches_the_lowest_ellipse_that_it_reaches(p, alpha):
    w = touching(p, alpha)
    heights, sizes = over_the_plane(p)
    assert quadratic(w) <= heights[sizes <= ball(p, w) + 1e-12].min() + 1e-9
    # and no point of the plane has a lower sum of both
    assert quadratic(w) + alpha * ball(p, w) <= (heights + alpha * sizes).min() + 1e-9


def test_l0_counts():
    # either weight alone costs alpha; the second is worth (1 - 0.3^2) 0.5^2 / 2 = 0.11375
    assert np.count_nonzero(touching(0, 0.11)) == 2
    np.testing.assert_allclose(touching(0, 0.11), LEAST)  # nothing is shrunk
    one = touching(0, 0.12)
    np.testing.assert_allclose(one, [2.0 + 0.3 * 0.5, 0.0])


def test_l1_cuts_and_l2_shrinks():
    lasso, ridge = touching(1, 0.8), touching(2, 0.8)
    # 2 + 0.3 * 0.5 - 0.8, and the second weight's pull 0.3 (2 - 1.35) + 0.5 is below 0.8
    np.testing.assert_allclose(lasso, [1.35, 0.0], atol=1e-12)
    assert (ridge != 0).all()
    np.testing.assert_allclose(ridge, np.linalg.solve(BOWL + 1.6 * np.eye(2), BOWL @ LEAST))


def test_l_inf_bounds_the_largest():
    # u = (t, s): with both at the bound t (2 + 0.6) = sum of pulls - alpha
    pulls = BOWL @ LEAST
    w = touching("inf", 2.0)
    np.testing.assert_allclose(w, np.full(2, (pulls.sum() - 2.0) / 2.6))
    weak = touching("inf", 0.5)
    assert weak[0] > weak[1]
    assert weak[0] < LEAST[0]


def test_powers_below_1_are_sparser_than_the_lasso_and_shrink_less():
    for alpha in (0.7, 0.9):
        sizes = {p: touching(p, alpha) for p in ("0", "1/2", "2/3", "1")}
        assert all(np.count_nonzero(w) == 1 for w in sizes.values())
        first = [w[0] for w in sizes.values()]
        assert first == sorted(first, reverse=True)


def test_lasso_is_sparser_than_ridge():
    X, y = load_diabetes(return_X_y=True)
    X = X / X.std(axis=0)
    for alpha in (1.0, 5.0, 20.0):
        lasso = LpRegression(1, alpha).fit(X, y)
        ridge = Ridge(alpha * len(y)).fit(X, y)
        assert np.count_nonzero(lasso.coef_) < np.count_nonzero(ridge.coef_) == 10


def test_l0_is_the_limit_of_small_powers_and_l_inf_of_large():
    w = touching("1/2", 0.3)
    for p, size in (("1/2", ball("1/2", w)), ("0", ball("0", w))):
        assert size == pytest.approx((np.abs(w[w != 0]) ** POWERS[p]).sum())
    assert ball("inf", LEAST) == pytest.approx((LEAST**200).sum() ** (1 / 200))
