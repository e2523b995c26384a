"""Dual coordinate descent: for many columns, and many models in one pass.

Lanes that learn the same rows side by side start together and stop each at its own certificate.
The passing weights tell when a certificate is worth its price; they are not what it is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.certified.judge import Judgement, judge
from separable.data.core_rows import core_rows
from separable.data.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from separable.certified.problem import Lane, Problem

    Floats = NDArray[np.float64]

__all__ = ["LANES", "PassedRows", "Start", "descend"]

#: Models side by side, float32; one model alone takes width 1.
LANES = 16
#: Where a logistic dual variable of 0 stands: its margin, far on the right side.
FAR = 10.0
#: A certificate that misses asks for this many times fewer before the next.
CAUTION = 0.5


@dataclass(frozen=True)
class PassedRows:
    """Rows as passes read them: in the problem's columns, float32."""

    core: native.Rows
    squared_norm: Floats

    @classmethod
    def of(cls, problem: Problem) -> PassedRows:
        """Copy the rows of a problem; sparse rows share their indices."""
        rows, columns = problem.rows, problem.columns
        values: Any = rows.values
        if columns.shift is not None:
            values = values - columns.shift
        if columns.scale is not None:
            values = values * columns.scale[rows.indices if rows.is_sparse else slice(None)]
        values = np.ascontiguousarray(values, dtype=np.float32)
        core = core_rows(Rows(values, rows.n_features, rows.indices, rows.indptr))
        squared_norm = np.empty(rows.n_rows)
        core.squared_norms(squared_norm)
        return cls(core, squared_norm)


@dataclass(frozen=True)
class Start:
    """Where lanes start: dual points with the sign of the target, and intercepts."""

    dual: Floats
    intercept: Floats


def descend(
    problem: Problem,
    passed: PassedRows,
    lanes: Sequence[Lane],
    *,
    tol: float,
    max_iter: int,
    seed: int,
    start: Start | None = None,
    on_pass: Callable[[int, float], Any] | None = None,
) -> tuple[Judgement, NDArray[np.int64]]:
    """Learn one block of lanes.

    Parameters
    ----------
    problem : Problem
    passed : PassedRows
    lanes : sequence of Lane
        At most `LANES`.
    tol, max_iter : float, int
        The relative gap asked for, and the most passes.
    seed : int
        Of the order of rows.
    start : Start, optional
    on_pass : callable, optional
        Called after each pass with its number and the largest relative gap as passing weights see
        it; True ends the work.

    Returns
    -------
    judgement : Judgement
    passes : ndarray, shape (k,)
        After how many passes each lane was judged.
    """
    state = _State(problem, passed, lanes, start)
    best: list[Judgement | None] = [None] * len(lanes)
    passes = np.zeros(len(lanes), np.int64)
    wanted = np.full(len(lanes), CAUTION * tol)
    for number in range(1, max_iter + 1):
        seen = state.run_pass(number - 1, seed)
        waiting = np.array([one is None or not one.certificates[0].converged for one in best])
        stop = on_pass is not None and bool(on_pass(number, float(seen[waiting].max())))
        last = stop or number == max_iter
        ripe = np.flatnonzero(waiting & (last | (seen <= wanted)))
        if len(ripe) < waiting.sum() and not last and len(ripe) < len(lanes) / 2:
            continue  # certificates of many lanes cost little more than of one
        if not len(ripe):
            continue
        found = judge(problem, [lanes[k] for k in ripe], state.dual(ripe), tol)
        for place, k in enumerate(ripe):
            best[k] = found.lane(place)
            passes[k] = number
            if not found.certificates[place].converged:
                wanted[k] = min(wanted[k], seen[k]) * CAUTION
        if last or all(one is not None and one.certificates[0].converged for one in best):
            break
    return Judgement.side_by_side([one for one in best if one is not None]), passes


class _State:
    """What passes change: weights, dual variables, margins and multipliers of a block of lanes."""

    def __init__(
        self,
        problem: Problem,
        passed: PassedRows,
        lanes: Sequence[Lane],
        start: Start | None,
    ) -> None:
        (n, d), k = problem.rows.shape, len(lanes)
        self._lanes, self._problem = lanes, problem
        width = 1 if k == 1 else LANES
        strength = np.array([lane.strength / problem.value for lane in lanes])
        norm = float(passed.squared_norm.mean()) or 1.0
        total = strength * (n if problem.weight is None else float(problem.weight.sum()))
        rho = np.clip(400.0 / total, 0.003, 1.0) * norm if problem.fit_intercept else np.zeros(k)
        label, number = (None, problem.target) if problem.is_regression else (problem.target, None)
        self._native = native.DualProblem(
            passed.core,
            problem.loss.name,
            getattr(problem.loss, "epsilon", 0.0),
            label,
            number,
            problem.weight,
            problem.fold,
            passed.squared_norm,
            np.array([lane.target for lane in lanes], np.int32),
            np.array([lane.fold for lane in lanes], np.int32),
            strength,
            rho,
        )
        self._w = np.zeros((d, width), np.float32)
        self._a = np.zeros((n, width), np.float32)
        self._t: NDArray[np.float32] | None = None
        if problem.loss.name == "log_loss":
            self._t = np.full((n, width), FAR, np.float32)
        self._multiplier, self._total = np.zeros(k), np.zeros(k)
        if start is not None:
            self._go_on(start)

    def _go_on(self, start: Start) -> None:
        problem = self._problem
        self._w[:, : len(self._lanes)] = problem.along(start.dual)
        self._multiplier[:] = start.intercept
        self._total[:] = start.dual.sum(axis=0)
        for k, lane in enumerate(self._lanes):
            a = start.dual[:, k]
            if not problem.is_regression:
                a = a * problem.targets(lane)
            self._a[:, k] = a
            if self._t is not None:
                c = problem.costs(lane)
                with np.errstate(divide="ignore", invalid="ignore"):
                    t = np.log(c - a) - np.log(a)
                self._t[:, k] = np.where(c > 0, np.clip(t, -FAR, FAR), FAR)

    def run_pass(self, number: int, seed: int) -> Floats:
        """Pass over all rows once; return the relative gap of each lane as the pass saw it."""
        ((loss, gap),) = native.dual_passes(
            self._native, self._w, self._a, self._t, self._multiplier, self._total, number, 1, seed
        )
        k = len(self._lanes)
        norms = np.einsum("jl,jl->l", self._w, self._w)[:k].astype(np.float64)
        primal = np.array(loss[:k]) + 0.5 * norms
        return np.divide(gap[:k], primal, out=np.zeros(k), where=primal > 0)

    def dual(self, chosen: NDArray[np.intp]) -> Floats:
        """Return the dual points of lanes, with the sign of the target."""
        z = self._a[:, chosen].astype(np.float64)
        if not self._problem.is_regression:
            for place, k in enumerate(chosen):
                z[:, place] *= self._problem.targets(self._lanes[k])
        return z
