"""Random problems of every loss and penalty against Clarabel, by every solver that takes them.

No weights are below a certified dual: those of another solver are not, however inexact they are.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.certified.engine_problems import use_options
from tests.long_cases import first

pytest.importorskip("clarabel")

from separable.fitting.separation_error import SeparationError
from tests.certified.conic_problems import KINDS, make

pytestmark = pytest.mark.native

#: Problems of each loss and penalty, in batches; the ordinary tests have one batch.
SEEDS, BATCH = 300, 6
BATCHES = pytest.mark.parametrize("start", first(1, range(0, SEEDS, BATCH)))
#: Of an objective, below which nothing is told apart.
ROUNDING = 1e-10


def check(case):
    """Compare a fit with Clarabel; return whether Clarabel reached the optimum, too."""
    claimed = case.fit().certificate_
    ours, best, _ = case.bounds()
    assert claimed.primal == pytest.approx(ours, rel=1e-9)
    assert claimed.dual <= best * (1 + ROUNDING), "the dual is no lower bound"
    assert ours <= best + claimed.gap + ROUNDING * ours, "the gap is false"
    assert claimed.dual >= claimed.primal - claimed.gap - ROUNDING * ours
    return best <= ours * (1 + 1e-6)


def is_uncentred(case):
    """Whether columns lie far from 0 where nothing can be subtracted from them."""
    return case.shape == "shifted" and (case.is_sparse or not case.learner.fit_intercept)


@BATCHES
@pytest.mark.parametrize("name", [name for name in KINDS if not name.endswith("none")])
def test_no_other_solver_is_below_the_dual(name, start):
    is_near = []
    for seed in range(start, start + BATCH):
        case = make(name, seed)
        is_near.append(check(case))
        assert case.learner.certificate_.converged or is_uncentred(case)
    assert np.mean(is_near) >= 0.5  # else nothing was compared


@BATCHES
@pytest.mark.parametrize(
    ("name", "solver"), [(name, each) for name, kind in KINDS.items() for each in kind.solvers]
)
def test_every_solver_alone(name, solver, start, monkeypatch):
    use_options(monkeypatch, force=solver)
    for seed in range(start, start + BATCH):
        case = make(name, seed)
        check(case)
        if solver not in ("dual_cd", "semismooth_newton"):  # others take over from these
            assert case.learner.certificate_.converged or is_uncentred(case)


def separates(Z, y, *, fit_intercept):
    """Whether a direction has no row on its wrong side, and some on its right one."""
    Z = np.column_stack([Z, np.ones(len(Z))]) if fit_intercept else Z
    if y.dtype.kind == "f":
        margins = y[:, None] * Z
    else:  # score of the row's class minus that of every other
        classes = np.unique(y)
        margins = np.concatenate(
            [
                np.kron((classes == own).astype(float) - (classes == other), Z[y == own])
                for own in classes for other in classes if other != own
            ]
        )  # fmt: skip
    margins = margins / np.maximum(np.abs(margins).max(axis=1, keepdims=True), 1e-300)
    found = linprog(
        -margins.sum(axis=0), A_ub=np.concatenate([-margins, margins]),
        b_ub=np.repeat([0.0, 1.0], len(margins)), bounds=(None, None), method="highs",
    )  # fmt: skip
    return -found.fun > 1e-6


@BATCHES
@pytest.mark.parametrize("name", ["logistic none", "softmax none"])
def test_without_a_penalty(name, start):
    for seed in range(start, start + BATCH):
        case = make(name, seed)
        Z, y, c, _, _ = case.problem()
        used = c > 0
        rows = Z[used].astype(float)
        if separates(rows, y[used], fit_intercept=case.learner.fit_intercept):
            with pytest.raises(SeparationError, match="has no finite solution"):
                case.fit()
        else:
            check(case)
            assert case.learner.certificate_.converged
