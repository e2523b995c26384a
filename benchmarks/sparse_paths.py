"""Whole paths of l1-penalised models, every model of them to an objective.

100 strengths of the lasso, 50 of logistic regression, from the smallest penalty at which all
weights are 0 down to a thousandth (tall data; scikit-learn's default) or a hundredth of it (more
columns than rows; glmnet's default there).
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.certified import OPTIMUM_GAP, with_ones
from benchmarks.datasets import (
    Data,
    load_imdb,
    load_leukemia,
    make_sparse_plane,
    missing_is_told,
)
from benchmarks.glmnet import glmnet_path
from benchmarks.least_squares import make_plane
from benchmarks.objective_race import Entrant, ObjectiveRace, Weights
from benchmarks.report import Section
from benchmarks.sparse_peers import (
    by_columns,
    celer_lasso,
    celer_logistic,
    liblinear_logistic,
    scikit_lasso,
    skglm_lasso,
    skglm_logistic,
)
from separable import Lasso, LogisticRegression
from separable.select import path

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.objective_race import Intercept
    from benchmarks.settings import Settings

    Floats = NDArray[np.float64]

__all__ = [
    "falling_alphas",
    "lasso_values",
    "logistic_values",
    "run_lasso_tall",
    "run_lasso_wide",
    "run_logistic",
]

LASSO_STRENGTHS = 100
LOGISTIC_STRENGTHS = 50


def falling_alphas(X: Any, y: Floats, number: int, ratio: float) -> Floats:
    """Return alphas of the lasso, from the one at which all weights are 0 to a share of it."""
    r = y - y.mean()
    most = float(np.abs(X.T @ r).max()) / len(y)
    return most * np.geomspace(1, ratio, number)


def lasso_values(X: Any, y: Floats, alphas: Floats, found: Weights) -> Floats:
    """Return 1/(2n) |y - Xw - b|^2 + alpha |w|_1 of each model of a path."""
    rest = y[:, None] - np.asarray(X @ found.coef.T) - found.intercept
    return (rest**2).mean(axis=0) / 2 + alphas * np.abs(found.coef).sum(axis=1)


def logistic_values(
    X: Any, sign: Floats, Cs: Floats, found: Weights, intercept: Intercept = "free"
) -> Floats:
    """Return |w|_1 + C sum of log losses of each model of a path."""
    margin = sign[:, None] * (np.asarray(X @ found.coef.T) + found.intercept)
    penalty = np.abs(found.coef).sum(axis=1)
    if intercept == "penalised":
        penalty = penalty + np.abs(found.intercept)
    return penalty + Cs * np.logaddexp(0, -margin).sum(axis=0)


def _ours(learner: Any, X: Any, y: Any, **strengths: Floats) -> Entrant:
    def fit(_: float | None) -> Weights:
        found = path(learner, X, y, **strengths)
        return Weights(found.coefs[:, 0], found.intercepts[:, 0])

    return Entrant("separable", fit)


def _optima(learner: Any, X: Any, y: Any, **strengths: Floats) -> Floats:
    """Return the certified optimum of each model of a path."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it reached is printed
        found = path(learner.set_params(tol=OPTIMUM_GAP, max_iter=5000), X, y, **strengths)
    assert found.certificates is not None
    certificates = [one for (one,) in found.certificates]
    worst = max(one.relative_gap for one in certificates)
    used = [int((w != 0).sum()) for w in (found.coefs[0], found.coefs[-1])]
    print(f"  optimum of {len(certificates)} models, relative gap at most {worst:.0e}; "
          f"{used[0]} to {used[1]} weights")  # fmt: skip
    return np.array([one.dual for one in certificates])


# ---------------------------------------------------------------------- lasso


def run_lasso_tall(settings: Settings) -> Section:
    """Lasso on 200 000 rows of 100 dense columns, in a full run."""
    X, y = make_plane(settings.dense_rows)
    section = Section()
    data = Data(f"generated {X.shape[0]} x {X.shape[1]}", X, y / y.std(), X, y)
    _lasso("lasso-tall", data, 1e-3, {"best": 5}, settings, section)
    return section


def run_lasso_wide(settings: Settings) -> Section:
    """Lasso where columns are many more than rows: gene expressions, and generated sparse rows."""
    section = Section()
    for load in (load_leukemia, make_sparse_plane):
        with missing_is_told():
            _lasso("lasso-wide", load(settings), 1e-2, {"best": 1.5}, settings, section)
    return section


def _lasso(
    row: str, data: Data, ratio: float, targets: dict[str, float], settings: Settings,
    section: Section,
) -> None:  # fmt: skip
    X, y = data.X, np.asarray(data.y, dtype=np.float64)
    alphas = falling_alphas(X, y, LASSO_STRENGTHS, ratio)
    columns = by_columns(X)
    tall = scikit_lasso(columns, y, alphas) if X.shape[0] > X.shape[1] else []
    peers = [*tall, *celer_lasso(columns, y, alphas), *skglm_lasso(columns, y, alphas)]
    race = ObjectiveRace(
        row,
        data.name,
        f"lasso path, {len(alphas)} strengths",
        lambda found, _: lasso_values(X, y, alphas, found),
        {"free": _optima(Lasso(), X, y, alphas=alphas)},
        targets=targets,
    )
    race.run(_ours(Lasso(), X, y, alphas=alphas), peers, settings.slow_repeats, settings, section)


# ---------------------------------------------------------------------- logistic


def run_logistic(settings: Settings) -> Section:
    """l1 logistic regression on film reviews and on gene expressions."""
    section = Section()
    for load in (load_imdb, load_leukemia):
        with missing_is_told():
            _logistic(load(settings), settings, section)
    return section


def _logistic(data: Data, settings: Settings, section: Section) -> None:
    X, y = data.X, data.y
    sign = np.where(y == np.max(y), 1.0, -1.0)
    alphas = falling_alphas(X, sign / 2, LOGISTIC_STRENGTHS, 1e-2)
    Cs = 1 / (alphas * len(sign))
    learner = partial(LogisticRegression, l1_ratio=1.0)
    optimum: dict[Intercept, Floats] = {
        "free": _optima(learner(), X, y, Cs=Cs),
        "penalised": _optima(learner(fit_intercept=False), with_ones(X), y, Cs=Cs),
        "none": _optima(learner(fit_intercept=False), X, y, Cs=Cs),
    }
    columns = by_columns(X)
    peers = [
        *glmnet_path("binomial", X, (sign > 0).astype(float), alphas),
        *celer_logistic(columns, sign, Cs),
        *skglm_logistic(columns, sign, Cs),
        *liblinear_logistic(X, sign, Cs),
    ]
    race = ObjectiveRace(
        "l1-logistic-path",
        data.name,
        f"l1 logistic path, {len(Cs)} strengths",
        lambda found, intercept: logistic_values(X, sign, Cs, found, intercept),
        optimum,
        targets={"best": 3},
    )
    race.run(_ours(learner(), X, y, Cs=Cs), peers, settings.slow_repeats, settings, section)
