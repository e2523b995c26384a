"""Choosing the penalty of the lasso, 5 folds x 100 strengths, against other ways to do it."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LassoCV as PeerCV
from sklearn.model_selection import KFold

from benchmarks.contest import Contest, Side, run_contest
from benchmarks.least_squares import make_plane
from benchmarks.report import Section, show_seconds
from benchmarks.sparse_paths import falling_alphas
from benchmarks.sparse_peers import by_columns, celer_lasso, scikit_lasso, skglm_lasso
from separable import LassoCV

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from benchmarks.objective_race import Entrant
    from benchmarks.settings import Settings

    Floats = NDArray[np.float64]

__all__ = ["run_lasso_search"]

FOLDS = 5
STRENGTHS = 100
#: Errors of folds may differ by so much.
AGREE = 1e-3


@dataclass(frozen=True)
class Searched:
    """What a search found: the squared error of each alpha and fold, (S, F)."""

    errors: Floats

    def apart(self, other: Searched) -> float:
        """Return the largest relative difference."""
        return float(np.abs(other.errors / self.errors - 1).max())


def run_lasso_search(settings: Settings) -> Section:
    """Choose among 100 alphas by 5 folds, on 200 000 rows of 100 columns in a full run."""
    X, y = make_plane(settings.dense_rows)
    y = y / y.std()
    alphas = falling_alphas(X, y, STRENGTHS, 1e-3)
    cv = KFold(FOLDS)

    def ours() -> Searched:
        return Searched(LassoCV(alphas=alphas, cv=cv).fit(X, y).mse_path_)

    def theirs() -> Searched:
        return Searched(PeerCV(alphas=alphas, cv=cv).fit(X, y).mse_path_)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the best alpha may be the smallest
        found = ours()
        peers = [Side("scikit-learn LassoCV", theirs)]
        start = time.process_time()
        theirs()
        patience = time.process_time() - start  # no longer than the peer that is asked about
        for make in (scikit_lasso, celer_lasso, skglm_lasso):
            peers += _path_by_fold(make, X, y, alphas, cv, found, patience)
    data = f"generated {X.shape[0]} x {X.shape[1]}"
    contest = Contest(
        "lasso-search", data, f"lasso search, {FOLDS} folds x {STRENGTHS} strengths",
        Side("separable LassoCV", ours), peers, Searched.apart, AGREE, target=20, best=5,
    )  # fmt: skip
    section = Section()
    run_contest(contest, settings.slow_repeats, settings, section)
    return section


def _path_by_fold(
    make: Callable[..., list[Entrant]], X: Any, y: Floats, alphas: Floats, cv: Any, ours: Searched,
    patience: float,
) -> list[Side]:  # fmt: skip
    """Return a path of each fold and of all rows, at the loosest tolerance that agrees."""
    columns = by_columns(X)
    splits = list(cv.split(X))
    number = len(make(columns[:2], y[:2], alphas))
    sides = []
    for k in range(number):

        def search(tol: float | None, k: int = k) -> Searched:
            errors = []
            for train, test in splits:
                entrant = make(np.asfortranarray(columns[train]), y[train], alphas)[k]
                found = entrant.fit(tol)
                scores = columns[test] @ found.coef.T + found.intercept
                errors.append(((y[test][:, None] - scores) ** 2).mean(axis=0))
            make(columns, y, alphas)[k].fit(tol)
            return Searched(np.array(errors).T)

        entrant = make(columns[:2], y[:2], alphas)[k]
        tol = _loosest(entrant, search, ours, patience)
        if tol is None:
            print(f"{entrant.name} does not agree to {AGREE:g} in {show_seconds(patience)}.\n")
            continue
        name = f"{entrant.name} by fold, tol {tol:g}"
        sides.append(Side(name, lambda search=search, tol=tol: search(tol)))
    return sides


def _loosest(
    entrant: Entrant, search: Callable[[float], Searched], ours: Searched, patience: float
) -> float | None:
    for tol in entrant.tolerances:
        start = time.process_time()
        if ours.apart(search(tol)) <= AGREE:
            return tol
        if time.process_time() - start > patience:
            break
    return None
