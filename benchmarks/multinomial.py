"""All classes together: multinomial logistic regression, one fit, to an objective."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression as PeerLogistic

from benchmarks.certified import LADDER, OPTIMUM_GAP
from benchmarks.datasets import load_mnist, load_newsgroups, missing_is_told
from benchmarks.objective_race import Entrant, ObjectiveRace, Weights, objective
from benchmarks.report import Section
from separable import LogisticRegression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.datasets import Data
    from benchmarks.settings import Settings

__all__ = ["race_on", "run_multinomial"]

#: newton-cholesky is left out: on MNIST a Hessian of 7 850 x 7 850 takes it minutes a step.
SOLVERS = ("lbfgs", "newton-cg", "sag", "saga")
#: Tolerances that gain nothing on the way are not tried: a run takes up to a minute.
SLOW_LADDER = LADDER[4:]


def run_multinomial(settings: Settings) -> Section:
    """Ten classes of dense pixels, twenty of sparse words."""
    section = Section()
    for load, target in ((load_mnist, 2.5), (load_newsgroups, 3.0)):
        with missing_is_told():
            race_on(load(settings), 1.0, target, SOLVERS, settings, section)
    return section


def race_on(
    data: Data, C: float, target: float, solvers: Sequence[str], settings: Settings,
    section: Section,
) -> None:  # fmt: skip
    """Race our fit against scikit-learn's solvers."""
    X, y = data.X, data.y

    def ours(tol: float | None) -> Weights:
        return Weights.of(LogisticRegression(C, tol=tol).fit(X, y))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it reached is printed
        certificate = LogisticRegression(C, tol=OPTIMUM_GAP, max_iter=5000).fit(X, y).certificate_
    print(f"  optimum, C = {C:g}: {certificate.primal:.6g}, relative gap "
          f"{certificate.relative_gap:.0e}")  # fmt: skip
    race = ObjectiveRace(
        "multinomial",
        data.name,
        f"multinomial, C = {C:g}",
        lambda found, _: objective("softmax", X, y, C, found),
        {"free": certificate.dual},
        targets={"best": target},
    )
    peers = [_scikit(solver, X, y, C) for solver in solvers]
    race.run(Entrant("separable", ours), peers, settings.slow_repeats, settings, section)


def _scikit(solver: str, X: Any, y: Any, C: float) -> Entrant:
    def fit(tol: float | None) -> Weights:
        chosen = {} if tol is None else {"tol": tol, "max_iter": 1000}
        return Weights.of(PeerLogistic(C=C, solver=solver, **chosen).fit(X, y))

    ladder = LADDER if sp.issparse(X) else SLOW_LADDER
    return Entrant(f"scikit-learn {solver}", fit, ladder, once=solver in ("sag", "saga"))
