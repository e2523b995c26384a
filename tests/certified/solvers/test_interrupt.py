"""Ctrl-C stops passes and certificates."""

from __future__ import annotations

import time
from threading import Event

import numpy as np
import pytest
from scipy.sparse import csr_array

from separable.certified.duality.gap import certify
from separable.certified.problem import Lane, Problem
from separable.certified.solvers.dual_cd import PassedRows, descend
from separable.certified.solvers.newton import NewtonSolver
from separable.certified.solvers.options import SolverOptions
from separable.certified.solvers.policy import solver_of
from separable.data.rows import as_rows
from separable.losses.loss import LOGISTIC
from tests.interrupts import ctrl_c

pytestmark = pytest.mark.native


def passes(problem, lanes):
    """Go on for hours, if left alone: the tolerance is never reached, and there is no limit."""
    rows = PassedRows.of(problem, np.dtype(np.float32))
    descend(problem, rows, lanes, tol=0.0, max_iter=10**9, seed=0)


def certificates(problem, lanes):
    while True:
        certify(problem, lanes, np.zeros((2000, len(lanes))), 1e-3)


@pytest.mark.parametrize("work", [passes, certificates])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("lanes", [1, 16])
def test_interrupt(work, form, lanes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 200)), rng.integers(0, 2, 2000).astype(np.int32)
    problem = Problem(as_rows(form(X)), LOGISTIC, y)
    with pytest.raises(KeyboardInterrupt), ctrl_c():
        work(problem, [Lane(1e6)] * lanes)


def test_lanes_that_nobody_waits_for_are_not_learned(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40).astype(np.int32)
    fold = (np.arange(40) % 2).astype(np.int32)
    lanes = [Lane(float(C), fold=k) for k in range(2) for C in range(1, 21)]
    learned, learn, began = [], NewtonSolver.solve, Event()

    def slowly(self, lanes, *given):
        if lanes[0].fold == 0:
            began.wait()
            raise KeyboardInterrupt  # as where the thread that waits hears Ctrl-C
        began.set()
        time.sleep(0.1)
        learned.append(lanes[0])
        return learn(self, lanes, *given)

    monkeypatch.setattr(NewtonSolver, "solve", slowly)
    problem = Problem(as_rows(X), LOGISTIC, y, fold=fold)
    solver = solver_of(problem, SolverOptions(n_jobs=2, force="newton"))
    with pytest.raises(KeyboardInterrupt):
        list(solver.solve(lanes))
    assert len(learned) < 20
