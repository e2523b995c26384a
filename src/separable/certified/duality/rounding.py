"""Duality gaps at published float64 weights: bounds on rounding, and passes in twice the digits.

For weights w, intercept b and a dual point z the gap is a sum of terms that are not negative:

    gap <= sum_i FY(s_i, z_i) + FY(u, v),    s_i = w.x_i + b exactly,    v = Z'z exactly

FY is loss + conjugate - product (Fenchel and Young): c loss(y, s) + c loss*(z) + z s of a row,
penalty(u) + penalty*(v) - u.v of the weights. It is convex in each argument, so an error of s or v
adds at most what it changes at the ends of its range. If the second derivative is at most L, an
error e takes sqrt(FY) to at most sqrt(FY) + e sqrt(L / 2).

    source  N. Higham, Accuracy and Stability of Numerical Algorithms (2002), 3.1;
            T. Ogita, S. Rump and S. Oishi, Accurate sum and dot product (2005)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from separable._core import native
from separable.certified.duality.certificate import Certificate
from separable.certified.duality.gap import FEASIBLE_RATIO, penalty_terms, softmax_certificate
from separable.certified.problem import Lane, Problem
from separable.typing import Floats

#: Half the distance from 1 to the next number: the relative error of one rounded operation.
UNIT = 2.0**-53
#: Relative error of one operation in twice the digits, with room for its sloppy sums.
UNIT_TWICE = 2.0**-102
#: Rounded operations of a score beside its sum of products: shift, scale, intercept, target.
EXTRA_STEPS = 8


@dataclass(frozen=True)
class _Errors:
    """Bounds on the rounding of what the gaps of k lanes are computed from.

    Parameters
    ----------
    score : ndarray, shape (n, k)
        Of scores.
    vector, largest : ndarray, shape (k,)
        Of v: the length of its error, and the largest of any column.
    imbalance : ndarray, shape (k,)
        |sum z|, which should be 0.
    scores_within : ndarray, shape (k,)
        The largest score.
    """

    score: Floats
    vector: Floats
    largest: Floats
    imbalance: Floats
    scores_within: Floats


@dataclass(frozen=True)
class LaneRows:
    """Scores and dual points of all rows for k lanes of m models, in the units of the problem.

    Parameters
    ----------
    lanes : sequence of Lane
        With a finite C.
    s, z : ndarray, shape (n, k, m)
    intercept : ndarray, shape (k, m)
        Of the problem's columns, before rounding; -inf for classes that a lane does not have.
    is_blocks : bool, default False
        The penalty is not the problem's: only errors of scores are bounded.
    residual : ndarray, shape (n, k), or None
        y - s with more digits than the difference has.
    """

    problem: Problem
    lanes: Sequence[Lane]
    s: Floats
    z: Floats
    intercept: Floats
    is_penalised: bool
    is_blocks: bool = False
    residual: Floats | None = None

    @cached_property
    def c(self) -> Floats:
        """Costs of the rows, shape (n, k)."""
        if len(self.lanes) == 1:
            return self.problem.costs(self.lanes[0])[:, None]
        return np.stack([self.problem.costs(lane) for lane in self.lanes], axis=1)

    @cached_property
    def targets(self) -> native.LaneTargets:
        """Targets and costs of the rows, in the format of the compiled core."""
        return self.problem.in_lanes(self.lanes)

    @property
    def is_joint(self) -> bool:
        """Whether a lane learns all classes."""
        return bool(self.s.shape[2] > 1)

    @property
    def curvature(self) -> float | None:
        """The largest second derivative of the loss; None: it is piecewise linear."""
        return 1.0 if self.is_joint else self.problem.loss.curvature

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """The classes that each lane has, shape (k, m)."""
        return np.isfinite(self.intercept)

    @cached_property
    def wanted(self) -> Floats:
        """The intercepts before rounding, shape (k, m); if classes are joint, about their mean."""
        b = self._masked(self.intercept)
        if self.is_joint:
            b = self._masked(b - (b.sum(axis=1) / self.used.sum(axis=1))[:, None])
        return b

    def _masked(self, values: Floats) -> Floats:
        """Return values of models, 0 for classes that a lane does not have."""
        return np.where(self.used, values, 0.0) if self.is_joint else values

    def lane(self, k: int) -> LaneRows:
        """Return those of one lane."""
        one = slice(k, k + 1)
        return replace(
            self,
            lanes=self.lanes[one],
            s=self.s[:, one],
            z=self.z[:, one],
            intercept=self.intercept[one],
        )

    def level(self, w: Floats, b: Floats) -> float:
        """Return the offset of scores that rounding does not count: none changes joint classes."""
        level = self.problem.columns.level
        if not self.is_joint:
            return level
        inside = centred_intercepts(self.problem, w, b, level)
        return float(inside[self.used[0]].mean())

    # ------------------------------------------------------------------ bounds without a pass

    def bounded(
        self, w: Floats, b: Floats, gap: Floats, primal: Floats
    ) -> tuple[list[float], list[float]]:
        """Return the gaps of lanes with a bound on rounding, from the sizes of rows and weights.

        Beside them stands what rounding may change the primal by, to first order.

        Parameters
        ----------
        w, b : ndarray, shape (d, k m) and (k m,)
            As published.
        gap, primal : ndarray, shape (k,)
            As computed in float64.
        """
        problem, size, columns = self.problem, self.problem.size, self.problem.columns
        n, k, m = self.s.shape
        return native.bound_gaps(
            self.model,
            self.targets,
            self.z.reshape(n, k * m),
            self.s.reshape(n, k * m),
            np.ascontiguousarray(w),
            b,
            self.intercept.ravel(),
            columns.shift,
            columns.scale,
            columns.level,
            size.extent,
            size.terms,
            problem.fit_intercept,
            gap,
            primal,
        )

    @cached_property
    def model(self) -> native.GapModel:
        """Penalty, loss and the sizes of rows, in the format of the compiled core."""
        penalty, curvature = self.problem.column_penalty, self.curvature
        return native.GapModel(
            self.is_joint,
            self.is_penalised and not self.is_blocks,
            self.problem.loss.has_logarithms,
            -1.0 if curvature is None else curvature,
            penalty.l1,
            penalty.l2,
            self.problem.size.length,
            self.problem.size.largest,
        )

    def _with_errors(
        self, plain: Floats, primal: Floats, errors: _Errors, lengths: Floats
    ) -> Floats:
        """Return gaps with what errors may add; ``lengths`` are those of the weights."""
        more, unbalanced = np.zeros((2, len(plain)))
        if not self.is_joint:
            _, more, unbalanced = self._gap_errors(self.z, errors.score, errors.imbalance)
        bounds = np.stack(
            [
                errors.score.max(axis=0, initial=0.0) * np.ones(len(plain)),
                errors.vector,
                errors.largest,
                errors.imbalance,
                errors.scores_within,
                np.linalg.norm(lengths, axis=1),
            ],
            axis=1,
        )
        return np.array(
            native.add_errors(self.model, self.targets, plain, primal, more, unbalanced, bounds)
        )

    def _gap_errors(self, z: Floats, error: Floats, imbalance: Floats) -> tuple[Floats, ...]:
        """Return the sums of gaps of rows, and what errors and an imbalance may add, by lane."""
        values = self.s[:, :, 0] if self.residual is None else self.residual
        return tuple(
            np.array(sums)
            for sums in native.gap_errors(
                self.targets,
                np.ascontiguousarray(z[:, :, 0]),
                np.ascontiguousarray(values),
                self.residual is not None,
                np.atleast_2d(error),
                imbalance,
            )
        )

    # ------------------------------------------------------------------ in twice the digits

    def careful(
        self, w: Floats, b: Floats, inside: Certificate, unit: float
    ) -> tuple[Certificate, Floats]:
        """Return the certificate of one lane from passes over the rows in twice the digits.

        Beside it stands the dual point that proves it, multiplied by ``unit``. Where columns lie
        far from 0, its last bits matter: so products are those of the published numbers.

        Parameters
        ----------
        w, b : ndarray, shape (d, m) and (m,)
            As published.
        inside : Certificate
            In the units of the problem, as are the certificates returned.
        """
        problem, size, used = self.problem, self.problem.size, self.used[0]
        dual, level = self.z[:, 0] * unit, self.level(w, b)
        rest, correlation, total = self._products(w, b, level, dual)
        if problem.fit_intercept and not self.is_joint:
            dual, correlation, total = _balanced(problem, dual, correlation, total)
        correlation, total = correlation / unit, total / unit
        s = (0.0 if self.is_joint else problem.targets(self.lanes[0])[:, None]) - rest
        again = replace(self, s=s[:, None], z=dual[:, None] / unit)
        # row terms of losses of y - s lose no digits to a large y
        if not self.is_joint and problem.loss.is_of_residuals:
            again, error = replace(again, residual=rest), 2 * UNIT * np.abs(rest)
        else:
            error = 4 * UNIT * (np.abs(s[:, used]).max(axis=1, keepdims=True) + 1.0)
        far = (size.far @ np.abs(w) + np.abs(b))[used].max() + abs(level)
        error = error + UNIT_TWICE * (size.terms + EXTRA_STEPS) * far
        if problem.columns.level:
            error = error + UNIT * np.abs(problem.target)[:, None]
        u = problem.columns.seen(w, b)[0]
        certify_lane = again._joint_certificate if self.is_joint else again._certificate
        again, plain = certify_lane(u, correlation, inside)
        if not self.is_penalised:
            left = float((np.abs(u) * np.abs(correlation)).sum())
            centred = centred_intercepts(problem, w, b, level)
            left += float(np.abs(centred[used]) @ np.abs(total[used]))
            plain = replace(plain, gap=plain.gap + 2.0 * left)
        extent = size.far if problem.columns.scale is None else size.far * problem.columns.scale
        sums = UNIT_TWICE * len(rest) * float(np.abs(self.z).sum()) * extent
        held = correlation if problem.penalty.positive else np.abs(correlation)
        errors = _Errors(
            error,
            np.array([4 * UNIT * np.linalg.norm(correlation) + np.linalg.norm(sums)]),
            np.array([4 * UNIT * held.max(initial=0.0) + sums.max(initial=0.0)]),
            np.array([2 * np.abs(total).sum() if problem.fit_intercept else 0.0]),
            np.array([np.abs(s[:, used]).max(initial=0.0)]),
        )
        lengths = np.linalg.norm(u, axis=0)[None]
        gap = again._with_errors(np.array([plain.gap]), np.array([plain.primal]), errors, lengths)
        return replace(plain, dual=plain.primal - float(gap[0]), gap=float(gap[0])), dual

    def _products(
        self, w: Floats, b: Floats, level: float, z: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return y + level - s (y is 0 if classes are joint), Z'z and the sums of z."""
        problem, columns = self.problem, self.problem.columns
        (n, d), m = problem.rows.shape, len(b)
        y = np.zeros(n) if self.is_joint else problem.targets(self.lanes[0])
        rest, correlation, total = np.full((n, m), np.inf), np.zeros((d, m)), np.zeros(m)
        for at in np.flatnonzero(self.used[0]):
            weights, out, sums = np.ascontiguousarray(w[:, at]), np.empty(n), np.empty(d)
            native.residual_sums(
                problem.core, y, None, weights, None, float(b[at]), -level, None, None, out
            )
            rest[:, at] = out
            point = np.ascontiguousarray(z[:, at])
            total[at], _ = native.residual_sums(
                problem.core, point, None, None, None, 0.0, 0.0, columns.shift, sums, None
            )
            correlation[:, at] = sums if columns.scale is None else sums * columns.scale
        return rest, correlation, total

    def _certificate(
        self, u: Floats, correlation: Floats, inside: Certificate
    ) -> tuple[LaneRows, Certificate]:
        """Return the dual point scaled to be feasible, and the certificate as computed."""
        problem, again = self.problem, self
        l1, l2 = problem.column_penalty.l1, problem.column_penalty.l2
        if self.is_penalised and l2 == 0:
            held = correlation if problem.penalty.positive else np.abs(correlation)
            most = float(held.max(initial=0.0))
            if most > FEASIBLE_RATIO * l1:
                keep = FEASIBLE_RATIO * l1 / most
                again, correlation = replace(self, z=self.z * keep), correlation * keep
        if again.residual is None:
            z, s = (np.ascontiguousarray(each[:, :, 0]) for each in (again.z, again.s))
            _, (loss,), _, (gap,) = native.row_terms(self.targets, z, s, False)
        else:  # the gap of z = 0 is the loss
            none = np.zeros(1)
            loss, gap = (
                float(again._gap_errors(z, none, none)[0][0])
                for z in (np.zeros_like(again.z), again.z)
            )
        if self.is_penalised:
            terms, penalty, _ = (
                float(one[0]) for one in penalty_terms(problem.column_penalty, u, correlation)
            )
            loss, gap = loss + penalty, gap + terms
        return again, replace(inside, primal=loss, gap=gap)

    def _joint_certificate(
        self, u: Floats, correlation: Floats, inside: Certificate
    ) -> tuple[LaneRows, Certificate]:
        """Return the certificate of all classes jointly as computed."""
        problem, rows = self.problem, self.problem.softmax_losses(self.lanes[0])
        probabilities = np.maximum(rows.probabilities(self.z[:, 0]), 0.0)
        if not self.is_penalised:
            u, correlation = np.zeros_like(u), np.zeros_like(correlation)
        found = softmax_certificate(
            problem, rows, probabilities, correlation, self.s[:, 0], u, inside.tol
        )
        found = found.times(1.0 / problem.value)
        return self, replace(inside, primal=found.primal, gap=found.gap)


def _balanced(
    problem: Problem, dual: Floats, correlation: Floats, total: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the dual point with a sum of 0 but for the last bit of one of its numbers.

    What is too much is taken from the smallest number that has enough.
    """
    z, over = dual[:, 0], float(total[0])
    size = np.where((z > 0) == (over > 0), np.abs(z), np.inf)
    size[size < 4 * abs(over)] = np.inf
    row = int(np.argmin(size))
    if over == 0 or not np.isfinite(size[row]):
        return dual, correlation, total
    moved = z.copy()
    moved[row] -= over
    step = float(z[row] - moved[row])  # exact: they are close
    left = np.array([abs(over - step) + UNIT * abs(over)])
    part = step * problem.x.take(np.array([row])).T
    return moved[:, None], correlation - part, left


# ---------------------------------------------------------------------- exact intercepts


def centred_intercepts(problem: Problem, w: Floats, b: Floats, level: float) -> Floats:
    """Return b + shift.w - level of each model, rounded once."""
    shift = problem.columns.shift
    if shift is None:
        return b - level if level else b
    return np.array(native.centred_intercepts(shift, np.ascontiguousarray(w), b, level))
