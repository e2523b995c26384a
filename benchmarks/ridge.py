"""Choosing the penalty of ridge regression, against scikit-learn's ways to do it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.linear_model import RidgeCV as PeerCV
from sklearn.model_selection import GridSearchCV

from benchmarks.contest import Contest, Side, run_contest
from benchmarks.least_squares import make_plane
from benchmarks.report import Section
from separable import RidgeCV

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.settings import Settings

__all__ = ["run_folds", "run_left_out"]

ALPHAS = np.logspace(-2, 6, 20)
FOLDS = 5
TARGET_FOLDS = 60
TARGET_LEFT_OUT = 15


def run_folds(settings: Settings) -> Section:
    """Choose among 20 alphas by 5 folds, on 200 000 rows of 100 columns in a full run."""
    X, y = make_plane(settings.dense_rows)
    sides = [
        Side("scikit-learn RidgeCV", lambda: PeerCV(ALPHAS, cv=FOLDS).fit(X, y)),
        Side("scikit-learn GridSearchCV, cholesky", lambda: _grid_search(X, y)),
    ]
    ours = Side("separable", lambda: RidgeCV(ALPHAS, cv=FOLDS, scoring=None).fit(X, y))
    return _run("ridge-folds", "20 alphas, 5 folds", X, ours, sides, TARGET_FOLDS, settings)


def run_left_out(settings: Settings) -> Section:
    """Choose among 20 alphas by leaving out one row at a time, exactly."""
    X, y = make_plane(settings.dense_rows)
    peer = Side("scikit-learn RidgeCV", lambda: PeerCV(ALPHAS).fit(X, y))
    ours = Side("separable", lambda: RidgeCV(ALPHAS).fit(X, y))
    what = "20 alphas, leave-one-out"
    return _run("ridge-left-out", what, X, ours, [peer], TARGET_LEFT_OUT, settings)


def _run(
    row: str,
    what: str,
    X: NDArray[Any],
    ours: Side,
    peers: list[Side],
    target: float,
    settings: Settings,
) -> Section:
    data = f"generated {X.shape[0]} x {X.shape[1]}"
    contest = Contest(row, data, what, ours, peers, _apart, 1e-6, target)
    section = Section()
    run_contest(contest, settings.slow_repeats, settings, section)
    return section


def _grid_search(X: NDArray[Any], y: NDArray[Any]) -> Any:
    search = GridSearchCV(
        PeerRidge(solver="cholesky"),
        {"alpha": ALPHAS},
        cv=FOLDS,
        scoring="neg_mean_squared_error",
    )
    best = search.fit(X, y).best_estimator_
    best.alpha_ = best.alpha
    return best


def _apart(ours: Any, peer: Any) -> float:
    """Return how far the weights are apart; infinite where another alpha was chosen."""
    if ours.alpha_ != peer.alpha_:
        return float("inf")
    return float(np.abs(ours.coef_ / peer.coef_ - 1).max())
