"""A whole search of l1 logistic regression, 5 folds x 20 strengths, against scikit-learn's."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.linear_model import LogisticRegressionCV as PeerCV
from sklearn.model_selection import StratifiedKFold

from benchmarks.certified import LADDER, OPTIMUM_GAP, with_ones
from benchmarks.certified_search import FOLDS, Search
from benchmarks.datasets import load_imdb
from benchmarks.objective_race import Weights
from benchmarks.report import Section
from benchmarks.sparse_paths import falling_alphas, logistic_values
from separable import LogisticRegression, LogisticRegressionCV

if TYPE_CHECKING:
    from benchmarks.datasets import Data
    from benchmarks.objective_race import Intercept
    from benchmarks.settings import Settings

__all__ = ["run_l1_search", "search_on"]

STRENGTHS = 20
REACH = 1e-4
AHEAD = 20.0


def run_l1_search(settings: Settings) -> Section:
    """Search C on film reviews."""
    section = Section()
    search_on(load_imdb(settings), settings, section)
    return section


def search_on(data: Data, settings: Settings, section: Section) -> None:
    """Search C from where all weights are 0 to a hundred times that."""
    sign = np.where(data.y == np.max(data.y), 0.5, -0.5)
    Cs = 1 / (falling_alphas(data.X, sign, STRENGTHS, 1e-2) * len(sign))
    cv = StratifiedKFold(FOLDS)
    search = Search(
        f"l1 logistic search, {FOLDS} folds x {STRENGTHS} C",
        data,
        lambda n_jobs: LogisticRegressionCV(Cs=Cs, l1_ratios=1.0, cv=cv, n_jobs=n_jobs),
        REACH,
        AHEAD,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver, tol = _best_solver(data, float(np.median(Cs)))
        peer: Any = PeerCV(
            Cs=Cs, cv=cv, solver=solver, tol=tol, max_iter=10_000, n_jobs=2, random_state=0,
            scoring="neg_log_loss", use_legacy_attributes=False, l1_ratios=(1.0,),
        )  # fmt: skip
        name = f"scikit-learn LogisticRegressionCV, {solver}, tol {tol:g}"
        search.run({}, (name, lambda: peer.fit(data.X, data.y)), settings, section)


def _best_solver(data: Data, C: float) -> tuple[str, float]:
    """Return scikit-learn's quicker solver of one fit, at the loosest tolerance that gets there."""
    quickest = np.inf, "liblinear", LADDER[-1]
    for solver in ("liblinear", "saga"):
        intercept: Intercept = "penalised" if solver == "liblinear" else "free"
        optimum = _optimum(data, C, intercept)
        for tol in LADDER:
            start = time.perf_counter()
            peer = PeerLogistic(
                C=C, l1_ratio=1.0, solver=solver, tol=tol, max_iter=10_000, random_state=0
            ).fit(data.X, data.y)
            seconds = time.perf_counter() - start
            value = _value(data, C, Weights.of(peer), intercept)
            if value / optimum - 1 <= REACH:
                print(f"  one fit by {solver}, tol {tol:g}: {seconds:.3g} s")
                quickest = min(quickest, (seconds, solver, tol))
                break
            if seconds > quickest[0]:
                print(f"  {solver} is slower than that already at tol {tol:g}: {seconds:.3g} s")
                break
    return quickest[1:]


def _optimum(data: Data, C: float, intercept: Intercept) -> float:
    X = with_ones(data.X) if intercept == "penalised" else data.X
    learner = LogisticRegression(
        C, l1_ratio=1.0, fit_intercept=intercept == "free", tol=OPTIMUM_GAP, max_iter=5000
    )
    return float(learner.fit(X, data.y).certificate_.dual)


def _value(data: Data, C: float, found: Weights, intercept: Intercept) -> float:
    sign = np.where(data.y == np.max(data.y), 1.0, -1.0)
    return float(logistic_values(data.X, sign, np.array([C]), found, intercept)[0])
