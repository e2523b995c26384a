"""Certificates as sums over rows, from two passes at the published float64 weights.

The first pass sums what repairs feasibility: the gradients of the losses are dual points z whose
sums, of each sign or class, and products with the columns are linear in the repair, so v = Z'z of
the repaired point and its dual scaling follow without another pass. The second sums the
Fenchel-Young gaps of the rows, which are not negative, and what bounds rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.duality.certificate import Certificate
from separable.certified.duality.gap import FEASIBLE_RATIO
from separable.certified.duality.rounding import EXTRA_STEPS, UNIT, centred_intercepts
from separable.certified.partitioned.summed_objective import LanePoint
from separable.losses.row_losses import SoftmaxLosses
from separable.statistics.partitions import Task

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.partitioned.lane_problem import LaneProblem
    from separable.certified.problem import Problem
    from separable.losses.row_losses import RowLosses
    from separable.statistics.partitions import Batch, Partitions, TaskSums
    from separable.typing import Floats

__all__ = ["GapTask", "PublishedLanes", "RepairTask", "certify_lanes"]

#: Bounds of rounding errors are doubled: they neglect terms of higher order.
SAFETY = 2.0


@dataclass(frozen=True)
class PublishedLanes:
    """The float64 numbers of all lanes, with their certificates.

    Parameters
    ----------
    weights : ndarray, shape (d, k m)
        Of the raw columns.
    intercept : ndarray, shape (k m,)
    certificates : list of Certificate
        One a lane.
    """

    weights: Floats
    intercept: Floats
    certificates: list[Certificate]


@dataclass(frozen=True)
class _Repair:
    """Feasible dual points from gradients.

    Parameters
    ----------
    keep : ndarray, shape (k, 2) or (k, m)
        Factors of negative and positive values, or of the probabilities of each class.
    deficit : ndarray, shape (k, m)
        The share of each class in the probability that is moved.
    scaling : ndarray, shape (k,)
        The dual scaling.
    """

    keep: Floats
    deficit: Floats
    scaling: Floats

    def dual(self, losses: RowLosses, model_dual: Floats, k: int) -> Floats:
        """Return the repaired dual point of rows: z, or probabilities."""
        if not isinstance(losses, SoftmaxLosses):
            z: Floats = model_dual * np.where(model_dual > 0, self.keep[k, 1], self.keep[k, 0])
            z *= self.scaling[k]
            return z
        left = model_dual @ (1.0 - self.keep[k])
        p: Floats = model_dual * self.keep[k] + left[:, None] * self.deficit[k]
        p *= self.scaling[k]
        p[np.arange(len(p)), losses.y] += 1.0 - self.scaling[k]
        return p


@dataclass(frozen=True)
class RepairTask(Task):
    """The sums that make gradients feasible dual points.

    Parameters
    ----------
    lanes : LaneProblem
    point : LanePoint
    """

    lanes: LaneProblem
    point: LanePoint

    def __call__(self, batch: Batch) -> TaskSums:
        """Return the sums of one batch."""
        lanes, m = self.lanes, self.lanes.width
        k, d = len(lanes.lanes), lanes.n_features
        parts = 2 * m  # values below and above 0, or predicted and observed classes
        sums: TaskSums = {
            "totals": np.zeros((k, parts)),
            "products": np.zeros((d, k * parts)),
            "dual_y": np.zeros((k, parts)),
            "dual_squares": np.zeros((k, parts)),
        }
        for _, problem in lanes.tiles(batch):
            s = self.point.scores(problem.x)
            z = np.empty((len(s), k * parts))
            for lane in range(k):
                losses = self.point.losses(problem, lanes, lane)
                columns = slice(lane * m, (lane + 1) * m)
                model = losses.expand(np.ascontiguousarray(s[:, columns]))
                here = z[:, lane * parts : (lane + 1) * parts]
                if m == 1:
                    here[:, 0] = np.minimum(-model.gradient[:, 0], 0.0)
                    here[:, 1] = np.maximum(-model.gradient[:, 0], 0.0)
                    self._add_squares(sums, losses, here, lane)
                else:
                    here[:, :m] = losses.c[:, None] * model.dual
                    here[:, m:] = 0.0
                    here[np.arange(len(here)), m + losses.y] = losses.c
            sums["totals"] += z.sum(axis=0).reshape(k, parts)
            sums["products"] += problem.x.rmatvec(z)
        return sums

    def _add_squares(self, sums: TaskSums, losses: RowLosses, z: Floats, lane: int) -> None:
        """Add what the best dual scaling of squared errors follows from."""
        if self.lanes.loss.is_quadratic:
            sums["dual_y"][lane] += losses.y @ z
            c = losses.c[:, None]
            squares = np.divide(z * z, c, out=np.zeros_like(z), where=c > 0)
            sums["dual_squares"][lane] += squares.sum(axis=0)


@dataclass(frozen=True)
class GapTask(Task):
    """Losses and Fenchel-Young gaps of rows at repaired dual points, and what bounds rounding.

    Parameters
    ----------
    lanes : LaneProblem
    point : LanePoint
    repair : _Repair
    """

    lanes: LaneProblem
    point: LanePoint
    repair: _Repair

    def __call__(self, batch: Batch) -> TaskSums:
        """Return the sums of one batch."""
        lanes, m = self.lanes, self.lanes.width
        names = ("loss", "gap", "cost", "size", "slope", "terms")
        sums: TaskSums = {name: np.zeros(len(lanes.lanes)) for name in names}
        sums["imbalance"] = np.zeros((len(lanes.lanes), m))
        sums["largest"] = np.zeros(len(lanes.lanes))
        for _, problem in lanes.tiles(batch):
            scores = self.point.scores(problem.x)
            for k in range(len(lanes.lanes)):
                self._add(sums, problem, k, np.ascontiguousarray(scores[:, k * m : (k + 1) * m]))
        return sums

    def _add(self, sums: TaskSums, problem: Problem, k: int, s: Floats) -> None:
        model = self.point.losses(problem, self.lanes, k).expand(s)
        losses = problem.row_losses(self.lanes.lanes[k])
        dual = self.repair.dual(losses, model.dual, k)
        z = losses.dual_variables(dual)
        sums["loss"][k] += losses.total(s)
        sums["gap"][k] += losses.gap(dual, s)
        sums["cost"][k] += losses.c.sum()
        sums["size"][k] += np.abs(z).sum()
        sums["slope"][k] += np.abs(z + model.gradient).sum()
        sums["terms"][k] += np.abs(z * s).sum()
        sums["imbalance"][k] += z.sum(axis=0)
        largest = np.abs(s).max(initial=0.0)
        if problem.is_regression:
            largest = max(largest, np.abs(losses.y).max(initial=0.0))
        sums["largest"][k] = max(sums["largest"][k], largest)

    def merge(self, total: TaskSums, part: TaskSums) -> TaskSums:
        """Add all but the largest score."""
        largest = np.maximum(total["largest"], part["largest"])
        return super().merge(total, part) | {"largest": largest}


def certify_lanes(
    partitions: Partitions, lanes: LaneProblem, point: LanePoint, tol: float
) -> PublishedLanes:
    """Return the published numbers of all lanes, and certificates that hold for these.

    Parameters
    ----------
    partitions : Partitions
    lanes : LaneProblem
    point : LanePoint
        With the smoothing whose gradients are the dual points.
    tol : float
        The requested relative gap.
    """
    w, b = lanes.columns.raw(point.u, point.b)
    problem: Any = lanes  # `columns` is all that it needs
    inside = centred_intercepts(problem, w, b, lanes.columns.level)
    point = LanePoint(lanes.columns.seen_weights(w), inside, point.smoothing)
    sums = partitions.sums(RepairTask(lanes, point))
    bounds = _Bounds(lanes, w, inside)
    repair, v = _repaired(lanes, sums, bounds)
    rows = partitions.sums(GapTask(lanes, point, repair))
    certificates = [
        _certificate(lanes, point, v, rows, bounds, k, tol) for k in range(len(lanes.lanes))
    ]
    return PublishedLanes(w, b, certificates)


class _Bounds:
    """Bounds of rounding errors (Higham, Accuracy and Stability of Numerical Algorithms, 3.1)."""

    def __init__(self, lanes: LaneProblem, w: Floats, b: Floats) -> None:
        size, scale = lanes.size, lanes.columns.scale
        self.extent = size.extent if scale is None else size.extent * scale
        steps = SAFETY * UNIT * (size.terms + EXTRA_STEPS)
        #: Of each score, (k m,).
        self.score = steps * (size.extent @ np.abs(w) + np.abs(b) + abs(lanes.columns.level))
        #: Of a sum over rows, relative to the sum of sizes.
        self.sum = SAFETY * UNIT * (lanes.n_added + EXTRA_STEPS)


def _repaired(lanes: LaneProblem, sums: TaskSums, bounds: _Bounds) -> tuple[_Repair, NDArray[Any]]:
    """Return the repair of each lane, and the correlations v = Z'z of the repaired points."""
    k, m, d = len(lanes.lanes), lanes.width, lanes.n_features
    totals, products = sums["totals"], sums["products"].reshape(d, k, 2 * m)
    keep, deficit = np.ones((k, max(m, 2) if m == 1 else m)), np.zeros((k, m))
    if m == 1:
        if lanes.fit_intercept:
            below, above = -totals[:, 0], totals[:, 1]
            less = np.minimum(below, above)
            for side, size in enumerate((below, above)):
                np.divide(less, size, out=keep[:, side], where=size > 0)
        v = np.einsum("dkp,kp->dk", products, keep)
    else:
        got, target = totals[:, :m], totals[:, m:]
        if lanes.fit_intercept:
            share = np.divide(target, got, out=np.ones_like(got), where=got > 0)
            keep = np.minimum(1.0, share)
            lacking = np.maximum(target - got * keep, 0.0)
            whole = lacking.sum(axis=1, keepdims=True)
            np.divide(lacking, whole, out=deficit, where=whole > 0)
            keep[whole[:, 0] == 0] = 1.0
        predicted, observed = products[:, :, :m], products[:, :, m:]
        moved = np.einsum("dkp,kp->dk", predicted, 1.0 - keep)
        each = observed - predicted * keep - moved[:, :, None] * deficit
        v = each.reshape(d, k * m)
    scaling = _scalings(lanes, sums, keep, v, bounds)
    return _Repair(keep, deficit, scaling), v * np.repeat(scaling, m)


def _scalings(
    lanes: LaneProblem, sums: TaskSums, keep: Floats, v: Floats, bounds: _Bounds
) -> Floats:
    """Return the dual scaling of each lane, 1 with an l2 part of the penalty."""
    k, m, penalty = len(lanes.lanes), lanes.width, lanes.column_penalty
    scaling = np.ones(k)
    if penalty.l2 > 0:
        return scaling
    if lanes.loss.is_quadratic:
        squares = (sums["dual_squares"] * keep**2).sum(axis=1)
        products = (sums["dual_y"] * keep).sum(axis=1)
        np.divide(np.maximum(products, 0.0), squares, out=scaling, where=squares > 0)
    size = np.abs(sums["totals"]).sum(axis=1)
    error = bounds.sum * size * float(bounds.extent.max(initial=0.0))
    most = np.atleast_1d(penalty.largest(v)).reshape(k, m).max(axis=1) + error
    scaled: Floats = np.minimum(scaling, FEASIBLE_RATIO * penalty.scaling_of(most))
    return scaled


def _certificate(
    lanes: LaneProblem,
    point: LanePoint,
    v: Floats,
    rows: TaskSums,
    bounds: _Bounds,
    k: int,
    tol: float,
) -> Certificate:
    """Return the certificate of one lane, with all that rounding may add to the gap."""
    m, penalty = lanes.width, lanes.column_penalty
    columns = slice(k * m, (k + 1) * m)
    u, correlation = point.u[:, columns], v[:, columns]
    term = {name: float(values[k]) for name, values in rows.items() if values.ndim == 1}
    imbalance = bounds.sum * term["size"]
    if lanes.fit_intercept:
        imbalance += float(np.abs(rows["imbalance"][k]).sum())
    error = float(bounds.score[columns].max(initial=0.0))
    curvature = 1.0 if m > 1 else lanes.loss.curvature
    if curvature is None:
        moved = error * (term["cost"] + term["size"])
    else:
        moved = error * term["slope"] + 0.5 * curvature * error**2 * term["cost"] * m
    # moving an imbalance to one row changes its gap and v
    off = imbalance if lanes.fit_intercept else 0.0
    moved += 4.0 * off * (1.0 + term["largest"])
    delta = (bounds.sum * term["size"] + off) * bounds.extent[:, None]
    moved += _penalty_error(lanes, u, correlation, delta)
    moved += bounds.sum * (term["gap"] + UNIT * term["loss"])
    if lanes.loss.has_logarithms:
        moved += 8.0 * UNIT * (term["loss"] + term["terms"])
    value = float(np.sum(penalty.value(u)))
    primal = term["loss"] + value
    gap = term["gap"] + float(np.sum(penalty.gap(u, correlation))) + moved
    if not gap < primal:
        gap = primal  # 0 is a dual point, too
    certificate = Certificate(primal, primal - gap, gap, tol, convexity=penalty.l2)
    return certificate.times(lanes.value)


def _penalty_error(lanes: LaneProblem, u: Floats, v: Floats, delta: Floats) -> float:
    """Return what an error of v of at most delta, (d, 1), may add to the gap of the penalty."""
    penalty = lanes.column_penalty
    if penalty.is_smooth:
        return float((np.abs(u - v) * delta + 0.5 * delta**2).sum())
    slope = np.abs(u)
    curvature = 0.0
    if penalty.l2 > 0:
        slope = np.abs(u - penalty.excess(v) / penalty.l2) + np.abs(u)
        curvature = 0.5 / penalty.l2
    return float((slope * delta + curvature * delta**2).sum())
