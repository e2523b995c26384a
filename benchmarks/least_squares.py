"""Least squares against scikit-learn's and NumPy's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LinearRegression

from benchmarks.contest import Contest, Side, run_contest
from benchmarks.report import Section
from separable import LeastSquares

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.settings import Settings

__all__ = ["make_plane", "run_least_squares"]

TARGET = 10


def make_plane(rows: int, columns: int = 100, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return dense correlated columns of different sizes, and a noisy plane over them."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(rows, 5)) @ rng.normal(size=(5, columns))
    X = (rng.normal(size=(rows, columns)) + factors) * rng.uniform(0.1, 10, columns)
    X += rng.normal(size=columns) * 20
    return X, X @ rng.normal(size=columns) + 10 * rng.normal(size=rows)


def run_least_squares(settings: Settings) -> Section:
    """Fit 100 columns, of 200 000 rows in a full run."""
    X, y = make_plane(settings.dense_rows)
    contest = Contest(
        "least-squares",
        f"generated {X.shape[0]} x {X.shape[1]}",
        "fit",
        Side("separable", lambda: LeastSquares().fit(X, y)),
        [
            Side("scikit-learn LinearRegression", lambda: LinearRegression().fit(X, y)),
            Side("numpy lstsq, centred", lambda: _lstsq(X, y)),
        ],
        lambda a, b: float(np.abs(a.coef_ / b.coef_ - 1).max()),
        1e-6,
        TARGET,
    )
    section = Section()
    run_contest(contest, settings.slow_repeats, settings, section)
    return section


class _Answer:
    def __init__(self, coef: NDArray[Any]) -> None:
        self.coef_ = coef


def _lstsq(X: NDArray[Any], y: NDArray[Any]) -> _Answer:
    return _Answer(np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0])
