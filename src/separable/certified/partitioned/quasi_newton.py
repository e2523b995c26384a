"""Newton and limited-memory quasi-Newton steps for all lanes in shared passes.

Each pass evaluates a trial point of every lane that is not done; a lane accepts its point or
shortens its step, whatever the others do. With few columns directions come from the Hessian, of
every row or of a part of them if rows are many; with more from L-BFGS (Liu and Nocedal, 1989),
preconditioned by the diagonal of the first Hessian. Piecewise linear losses are smoothed; the width
of a lane shrinks whenever most of its gap comes from the smoothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from separable.certified.partitioned.summed_objective import SHORTER_STEPS, LanePoint, ObjectiveTask
from separable.linalg.cholesky import Cholesky

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from separable.certified.partitioned.lane_problem import LaneProblem
    from separable.statistics.partitions import Partitions
    from separable.typing import Floats

__all__ = ["PartitionedOptions", "solve_lanes"]


@dataclass(frozen=True)
class PartitionedOptions:
    """Options of the solvers over partitions.

    Parameters
    ----------
    tol : float
        The requested relative gap.
    max_passes : int
        Maximum number of passes over the rows for a group of lanes.
    max_newton_size : int
        Maximum number of weights of a lane, classes together, for its Hessian.
    max_bytes : int
        Of the Hessians or L-BFGS vectors of lanes that share passes.
    rows_per_weight : int
        The least number of rows in the Hessian for each weight, if not all are.
    max_sampled_passes : int
        Passes after which all rows count in the Hessian.
    memory : int
        Steps that L-BFGS remembers.
    first_width, width_factor : float
        The first smoothing, in units of the residual without weights, and the factor by which it
        shrinks.
    smoothing_share : float
        The share of the gap from which on it does.
    sufficient_decrease : float
        Of the line search (Armijo).
    callback : callable, optional
        Called with the number of a pass and the largest relative gap so far.
    """

    tol: float = 1e-6
    max_passes: int = 500
    max_newton_size: int = 2000
    max_bytes: int = 1 << 28
    rows_per_weight: int = 100
    max_sampled_passes: int = 30
    memory: int = 8
    first_width: float = 2.0
    width_factor: float = 0.5
    smoothing_share: float = 0.7
    sufficient_decrease: float = 1e-4
    callback: Callable[[int, float], None] | None = None


@dataclass
class _LaneState:
    """The search of one lane: point, trial point, direction; vectors are class after class."""

    point: Floats
    trial: Floats
    width: float = 0.0
    value: float = np.inf
    slope: float = 0.0
    step: float = 0.0
    gap: float = np.inf
    is_done: bool = False
    passes: int = 0
    gradient: Floats = field(default_factory=lambda: np.zeros(0))
    direction: Floats = field(default_factory=lambda: np.zeros(0))
    diagonal: Floats | None = None
    history: list[tuple[Floats, Floats]] = field(default_factory=list)


def solve_lanes(
    partitions: Partitions,
    lanes: LaneProblem,
    options: PartitionedOptions,
    start: LanePoint | None = None,
    unit: float = 1.0,
) -> tuple[LanePoint, list[int]]:
    """Return weights that minimise the objectives of all lanes with an l2 penalty, and the passes.

    Parameters
    ----------
    partitions : Partitions
    lanes : LaneProblem
    options : PartitionedOptions
    start : LanePoint, optional
        Weights and smoothing to start from.
    unit : float
        The size of the residuals without weights, for losses that are smoothed.
    """
    d, m = lanes.n_features, lanes.width
    size = m * (d + 1)
    is_newton = size <= options.max_newton_size
    numbers = 2 * size**2 if is_newton else (2 * options.memory + 8) * size
    sent = size * (size + 2) if is_newton else 2 * size
    together = max(1, min(options.max_bytes // (8 * numbers), partitions.most_numbers // sent))
    states: list[_LaneState] = []
    for index in _groups(lanes, together):
        group = lanes.with_lanes(index)
        search = _Search(partitions, group, options, unit, is_newton=is_newton)
        states += search.run([_start(start, lanes, i, size) for i in index])
    order = np.argsort([i for index in _groups(lanes, together) for i in index])
    states = [states[i] for i in order]
    smoothing = tuple(state.width for state in states) if not lanes.loss.is_smooth else ()
    point = _lane_point([state.point for state in states], d, smoothing)
    return point, [state.passes for state in states]


def _lane_point(vectors: Sequence[Floats], d: int, smoothing: tuple[float, ...] = ()) -> LanePoint:
    """Return vectors, class after class, as weights and intercepts of lanes."""
    points = np.array(vectors).reshape(-1, d + 1)
    return LanePoint(np.ascontiguousarray(points[:, :d].T), points[:, d].copy(), smoothing)


def _groups(lanes: LaneProblem, together: int) -> list[list[int]]:
    """Return lanes that share passes, from small to large C."""
    order = sorted(range(len(lanes.lanes)), key=lambda k: lanes.lanes[k].C)
    return [order[i : i + together] for i in range(0, len(order), together)]


def _start(start: LanePoint | None, lanes: LaneProblem, k: int, size: int) -> _LaneState:
    if start is None:
        return _LaneState(np.zeros(size), np.zeros(size))
    columns = slice(k * lanes.width, (k + 1) * lanes.width)
    point = np.vstack([start.u[:, columns], start.b[columns]]).T.ravel()
    return _LaneState(point, point, start.smoothing[k] if start.smoothing else 0.0)


class _Search:
    """The search of lanes that share passes."""

    def __init__(
        self,
        partitions: Partitions,
        lanes: LaneProblem,
        options: PartitionedOptions,
        unit: float,
        *,
        is_newton: bool,
    ) -> None:
        self.partitions, self.lanes, self.options = partitions, lanes, options
        self.is_newton, self.unit = is_newton, unit
        self.is_smoothed = not lanes.loss.is_smooth
        self.l2 = lanes.column_penalty.l2
        self.passes = 0
        size = lanes.width * (lanes.n_features + 1)
        # a Hessian costs as much as a gradient if so few rows count in it
        enough = partitions.n_rows // (options.rows_per_weight * size)
        self.stride = 1 if self.is_smoothed else max(1, min(size // 4, enough))

    def run(self, states: list[_LaneState]) -> list[_LaneState]:
        """Return the states at the optimum of each lane."""
        for state in states:
            if self.is_smoothed and not state.width:
                state.width = self.options.first_width * self.unit
        while self.passes < self.options.max_passes:
            active = [k for k, state in enumerate(states) if not state.is_done]
            if not active:
                break
            self._pass(states, active)
            if self.options.callback is not None:
                worst = max(state.gap / max(state.value, 1e-300) for state in states)
                self.options.callback(self.passes, worst)
        return states

    def _pass(self, states: list[_LaneState], active: Sequence[int]) -> None:
        """Evaluate the trial point of each active lane, and choose the next ones."""
        lanes, m, d = self.lanes.with_lanes(active), self.lanes.width, self.lanes.n_features
        smoothing = tuple(states[k].width for k in active) if self.is_smoothed else ()
        point = _lane_point([states[k].trial for k in active], d, smoothing)
        is_first = any(states[k].diagonal is None for k in active)
        stride = self.stride if self.is_newton or is_first else 0
        if self.passes >= self.options.max_sampled_passes:
            stride = min(stride, 1)
        step = None
        if self.is_smoothed:  # whose full steps are often too long
            step = _lane_point([states[k].trial - states[k].point for k in active], d)
        task = ObjectiveTask(lanes, point, stride, not self.is_newton, step)
        sums = self.partitions.sums(task)
        self.passes += 1
        for i, k in enumerate(active):
            columns = slice(i * m, (i + 1) * m)
            gradient = np.vstack([sums["gradient"][:, columns], sums["total"][columns]])
            if not self.lanes.fit_intercept:
                gradient[-1] = 0.0
            states[k].passes = self.passes
            hessian = sums["hessian"][i] if stride else None
            terms = tuple(float(sums[name][i]) for name in ("loss", "gap", "size"))
            shorter = sums["shorter"][i] if self.is_smoothed else np.zeros(0)
            self._advance(states[k], terms, gradient.T.ravel(), hessian, shorter)

    def _advance(
        self,
        state: _LaneState,
        terms: tuple[float, ...],
        gradient: Floats,
        hessian: Floats | None,
        shorter: Floats,
    ) -> None:
        """Accept the trial point of a lane, or shorten its step."""
        loss, row_gap, size = terms
        u = self._weights(state.trial)
        value = loss + 0.5 * self.l2 * float(np.vdot(u, u))
        bound = state.value + self.options.sufficient_decrease * state.step * state.slope
        slack = 1e-14 * abs(state.value) if np.isfinite(state.value) else 0.0
        if not value <= bound + slack:
            self._shorten(state, value, shorter)
            return
        gradient = gradient.copy()
        self._weights(gradient)[:] += self.l2 * u
        if state.step and not self.is_newton:
            state.history.append((state.trial - state.point, gradient - state.gradient))
            state.history = [one for one in state.history if one[0] @ one[1] > 0]
            state.history = state.history[-self.options.memory :]
        state.point, state.value, state.gradient = state.trial, value, gradient
        left = self._gap(gradient, value, size, u)
        state.gap = row_gap + left
        if state.gap <= 0.5 * self.options.tol * value:
            state.is_done = True
            return
        if self.is_smoothed and row_gap >= self.options.smoothing_share * state.gap:
            state.width *= self.options.width_factor
            state.history, state.value, state.step, state.slope = [], np.inf, 0.0, 0.0
            if state.diagonal is not None:
                state.diagonal = state.diagonal / self.options.width_factor
            state.trial = state.point  # the next pass evaluates it with the new width
            return
        state.direction = self._direction(state, gradient, hessian, size)
        state.slope = float(state.direction @ gradient)
        if not state.slope < 0:
            state.direction, state.slope = -gradient, -float(gradient @ gradient)
            state.history = []
        state.step = 1.0
        state.trial = state.point + state.direction

    def _shorten(self, state: _LaneState, value: float, losses: Floats) -> None:
        """Choose a shorter step: the best of known ones, or the minimum of a parabola."""
        rise = value - state.value - state.step * state.slope
        factor = 0.1
        if len(losses):
            factor = self._best_fraction(state, losses)
        elif np.isfinite(value) and rise > 0:
            factor = min(0.5, max(0.1, -0.5 * state.step * state.slope / rise))
        state.step *= factor
        state.trial = state.point + state.step * state.direction
        if state.step < 1e-10:
            state.is_done = True  # rounding

    def _best_fraction(self, state: _LaneState, losses: Floats) -> float:
        values = []
        for fraction, loss in zip(SHORTER_STEPS, losses.tolist(), strict=True):
            u = self._weights(state.point + fraction * state.step * state.direction)
            values.append(loss + 0.5 * self.l2 * float(np.vdot(u, u)))
        best = int(np.argmin(values))
        is_lower = values[best] < state.value
        return SHORTER_STEPS[best] if is_lower else 0.1 * SHORTER_STEPS[-1]

    def _weights(self, vector: Floats) -> Floats:
        """Return the weights of a vector as a view, (m, d)."""
        return vector.reshape(self.lanes.width, -1)[:, :-1]

    def _gap(self, gradient: Floats, value: float, size: float, u: Floats) -> float:
        """Estimate the gap of the penalty and of the repair of sum z = 0."""
        weights = gradient.reshape(self.lanes.width, -1)
        own = 0.5 / self.l2 * float(np.vdot(weights[:, :-1], weights[:, :-1]))
        if size == 0:
            return own
        moved = 2.0 * float(np.abs(weights[:, -1]).sum()) / size
        if self.is_smoothed or self.lanes.width > 1:
            return own + moved * (value if self.is_smoothed else size)
        return own + moved**2 * (size + float(np.vdot(u, u)))

    def _direction(
        self, state: _LaneState, gradient: Floats, hessian: Floats | None, size: float
    ) -> Floats:
        if self.is_newton:
            assert hessian is not None
            return self._newton_direction(
                hessian, gradient, size / state.width if state.width else 0.0
            )
        if hessian is not None and state.diagonal is None:
            state.diagonal = hessian.copy()
            self._weights(state.diagonal)[:] += self.l2
            np.maximum(state.diagonal, 1e-300, out=state.diagonal)
        assert state.diagonal is not None
        return _two_loops(state.history, gradient, state.diagonal)

    def _newton_direction(self, hessian: Floats, gradient: Floats, steepest: float) -> Floats:
        m, d = self.lanes.width, self.lanes.n_features
        whole = hessian.reshape(m, d + 1, m, d + 1).copy()
        each = np.arange(d)
        for k in range(m):
            whole[k, each, k, each] += self.l2
        if not self.lanes.fit_intercept:
            whole[:, d, :, :] = whole[:, :, :, d] = 0.0
            for k in range(m):
                whole[k, d, k, d] = 1.0
        elif m > 1:  # equal changes of all intercepts change nothing
            whole[:, d, :, d] += np.trace(whole[:, d, :, d]) / m**2
        elif self.is_smoothed:  # no row may be inside
            whole[0, d, 0, d] += 1e-4 * steepest
        return -Cholesky(whole.reshape(len(gradient), -1)).solve(gradient)


def _two_loops(history: list[tuple[Floats, Floats]], gradient: Floats, diagonal: Floats) -> Floats:
    """Return the L-BFGS direction with a diagonal first matrix."""
    q, factors = gradient.copy(), []
    for s, y in reversed(history):
        factor = float(s @ q) / float(s @ y)
        factors.append(factor)
        q -= factor * y
    scale = 1.0
    if history:
        s, y = history[-1]
        scale = float(s @ y) / float(y @ (y / diagonal))
    q = scale * q / diagonal
    for (s, y), factor in zip(history, reversed(factors), strict=True):
        q += (factor - float(y @ q) / float(s @ y)) * s
    return -q
