"""Published weights, and certificates of exactly these numbers.

Solvers work on columns z = (x - shift) scale, with weights u and an intercept b. A model publishes
w = scale u and b - shift.w, rounded to float64: where columns lie far from 0, the rounding of that
intercept moves every score. So the gap is bounded again at the published numbers, for the dual
point at hand, as a sum of terms that are not negative:

    gap <= sum_i FY(s_i, z_i) + FY(u, v),    s_i = w.x_i + b exactly,    v = Z'z exactly

FY is loss + conjugate - product (Fenchel and Young): c loss(y, s) + c loss*(z) + z s of a row,
penalty(u) + penalty*(v) - u.v of the weights. It is convex in each argument, so that an error of s
or v is worth at most what it changes at the ends of its range; of a function with second derivative
<= L that error e takes sqrt(FY) to at most sqrt(FY) + e sqrt(L / 2).

First the errors are bounded from the sizes of rows and weights alone, which costs no pass over the
rows. Where that bound is not small beside ``tol``, scores and v are computed again in twice the
digits, and the intercept is held more finely: the last bits of weights of far columns move the
scores of all rows by less than those of a large intercept do.

    source  N. Higham, Accuracy and Stability of Numerical Algorithms (2002), 3.1;
            T. Ogita, S. Rump and S. Oishi, Accurate sum and dot product (2005)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from separable._core import native
from separable.certified.duality.l1_certifier import FEASIBLE_RATIO, column_terms, l1_l2_weights
from separable.certified.duality.softmax_l1_certifier import certify
from separable.certified.duality.softmax_l2_certifier import RowClasses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.certified.duality.certificate import Certificate
    from separable.certified.duality.l2_certifier import CertifiedSolution
    from separable.certified.problem import Lane, Problem
    from separable.losses.base import PiecewiseLinearLoss
    from separable.typing import Floats


__all__ = ["Published", "Rounding", "publish"]

#: Half the distance from 1 to the next number: the relative error of one rounded operation.
UNIT = 2.0**-53
#: Relative error of one operation in twice the digits, with room for its sloppy sums.
UNIT_TWICE = 2.0**-102
#: Rounded operations of a score beside its sum of products: shift, scale, intercept, target.
EXTRA_STEPS = 8
#: Rounded operations of a pairwise sum of any length.
PAIRWISE = 48
#: What rounding may add to the gap, as a fraction of ``tol``, before more digits are used.
ROUNDING_FRACTION = 0.05
#: Change of the primal, relative to it, up to which it is that of the published numbers.
MAX_PRIMAL_CHANGE = 1e-9
#: Numbers up to which a fit is small, and what rounding may add to its relative gap there.
SMALL, SMALL_ROUNDING = 20_000, 2e-13
#: Multiples of the last bit of a weight that are tried to hold an intercept finely.
MAX_ULPS = 4096
#: A row's logarithms are a series, without cancellation, if its gap is below its variance times
#: the inverse of this.
SERIES_RATIO = 1e7


@dataclass(frozen=True)
class Rounding:
    """Why float64 cannot hold weights that are good enough.

    Parameters
    ----------
    column : int
        The column whose size costs most digits; -1: the target.
    mean : float
        Of the column.
    spread : float
        The largest distance of its values from the mean.
    is_centred : bool
        Whether there is an intercept that takes the mean up.
    """

    column: int
    mean: float
    spread: float
    is_centred: bool

    def text(self, names: Sequence[str] | None) -> str:
        """Return the reason and the remedy."""
        if self.column < 0:
            return (
                f"float64 cannot hold a better intercept: y has the mean {self.mean:g} and lies "
                f"within {self.spread:.3g} of it. Subtract the mean from y before the fit."
            )
        name = f"{self.column}" if names is None else f"{names[self.column]!r}"
        if not self.is_centred:
            return (
                f"float64 cannot hold better weights: column {name} has values up to "
                f"{self.spread:.3g} in size, against which others are lost in rounding. Subtract "
                "its mean, or scale it, before the fit."
            )
        return (
            f"float64 cannot hold better weights: column {name} has the mean {self.mean:g} and "
            f"lies within {self.spread:.3g} of it. Subtract its mean before the fit, for example "
            "with scikit-learn's StandardScaler in front; standardize=True is not enough, because "
            "coef_ and intercept_ are of the columns as given."
        )


@dataclass(frozen=True)
class Published:
    """The numbers of models, with certificates of exactly these.

    Parameters
    ----------
    weights : ndarray, shape (d, k)
        Of the raw columns.
    intercept : ndarray, shape (k,)
    certificates : list of Certificate
        One a lane.
    rounding : Rounding or None
        Why a lane that converged inside has not as published; None: all have.
    """

    weights: Floats
    intercept: Floats
    certificates: list[Certificate]
    rounding: Rounding | None = None

    def times(self, value: float) -> Published:
        """Return the models of the objective multiplied by ``value``."""
        proofs = [one.times(value, convexity=value) for one in self.certificates]
        return replace(self, certificates=proofs)

    def take(self, columns: Sequence[int]) -> Published:
        """Return some of the models; certificates stay."""
        return replace(
            self, weights=_columns_of(self.weights, columns), intercept=self.intercept[columns]
        )

    @staticmethod
    def side_by_side(parts: Sequence[Published]) -> Published:
        """Return the models of several."""
        if len(parts) == 1:
            return parts[0]
        return Published(
            np.concatenate([part.weights for part in parts], axis=1),
            np.concatenate([part.intercept for part in parts]),
            [one for part in parts for one in part.certificates],
            next((part.rounding for part in parts if part.rounding is not None), None),
        )


def publish(
    problem: Problem,
    lanes: Sequence[Lane],
    solution: CertifiedSolution,
    *,
    is_final: bool = True,
    is_blocks: bool = False,
) -> Published:
    """Return the float64 numbers of lanes, and certificates that hold for these.

    Parameters
    ----------
    problem : Problem
    lanes : sequence of Lane
    solution : CertifiedSolution
        Of these lanes, with the scores and the dual points of all rows, in the problem's units.
    is_final : bool, default True
        Whether these are all models of a fit, and not some of a search: then small problems have
        gaps with all digits, too.
    is_blocks : bool, default False
        Whether the penalty is one over blocks of weights, and not that of the problem. Then scores
        alone are bounded again.
    """
    if is_blocks:
        return Published.side_by_side(
            [_publish_blocks(problem, lane, solution.lane(k)) for k, lane in enumerate(lanes)]
        )
    is_small = is_final and solution.scores.size * problem.rows.n_features <= SMALL
    with np.errstate(over="ignore", invalid="ignore"):  # a bound that overflows proves nothing
        return Published.side_by_side(
            [_publish(problem, lane, solution.lane(k), is_small) for k, lane in enumerate(lanes)]
        )


def _publish_blocks(problem: Problem, lane: Lane, one: CertifiedSolution) -> Published:
    w, b = problem.columns.raw(one.weights, one.intercept)
    inside, model = one.certificates[0], _Model.of(problem, lane, one, is_blocks=True)
    if model is None or inside.is_local:
        return Published(w, b, [inside])
    solution, _ = model.bounded(w, b)
    lost = inside.converged and not solution.converged
    return Published(w, b, [solution], model.rounding(w) if lost else None)


def _columns_of(weights: Floats, columns: Sequence[int]) -> Floats:
    """Return some columns: a copy, unless there is one that stands by itself in memory."""
    return np.ascontiguousarray(weights) if weights.shape[1] == 1 else weights[:, columns]


def _publish(problem: Problem, lane: Lane, one: CertifiedSolution, is_small: bool) -> Published:
    w, b = problem.columns.raw(one.weights, one.intercept)
    w = np.asarray(w, dtype=np.float64)
    if one.width > 1 and not problem.penalty.is_smooth and problem.fit_intercept:
        # weights of a column may have any sum, so that its shift moves that of the intercepts
        b = b - b[np.isfinite(b)].mean()
    inside = one.certificates[0]
    model = _Model.of(problem, lane, one)
    if model is None:
        return Published(w, b, [inside])
    bounded, moved = model.bounded(w, b)
    slack = ROUNDING_FRACTION * inside.tol * inside.primal
    enough = inside.gap + (SMALL_ROUNDING * inside.primal if is_small else slack)
    is_same = moved <= MAX_PRIMAL_CHANGE * inside.primal
    if (bounded.gap <= enough and is_same) or not math.isfinite(inside.primal):
        return Published(w, b, [bounded])
    careful = model.careful(w, b)
    if careful.gap > inside.gap + slack and problem.columns.shift is not None:
        finer = model.finer(w, b)
        other = model.careful(*finer)
        if other.gap < careful.gap:
            (w, b), careful = finer, other
    if not math.isfinite(careful.gap):  # beyond float64; no objective is below 0
        careful = replace(inside, dual=0.0, gap=inside.primal)
    lost = inside.converged and not careful.converged
    return Published(w, b, [careful], model.rounding(w) if lost else None)


# ---------------------------------------------------------------------- one lane


@dataclass(frozen=True)
class _Errors:
    """Bounds on the rounding of what a gap is computed from.

    Parameters
    ----------
    score : float or ndarray, shape (n,)
        Of scores.
    vector, largest : float
        Of v: the length of its error, and the largest of any column.
    imbalance : float
        The sum of z, which should be 0.
    scores_within : float
        The largest score.
    """

    score: float | Floats
    vector: float
    largest: float
    imbalance: float
    scores_within: float


@dataclass(frozen=True)
class _Model:
    """One lane at its solution, in the units of the problem.

    ``unit`` is what its certificate is multiplied by; ``c`` the costs of rows; ``s`` and ``z``
    scores and dual points, shape (n, k); ``residual`` is y - s where it has more digits than that.
    """

    problem: Problem
    lane: Lane
    one: CertifiedSolution
    inside: Certificate
    unit: float
    c: Floats
    s: Floats
    z: Floats
    used: NDArray[np.bool_]
    residual: Floats | None = None
    is_blocks: bool = False

    @classmethod
    def of(
        cls, problem: Problem, lane: Lane, one: CertifiedSolution, *, is_blocks: bool = False
    ) -> _Model | None:
        """Wrap a certified solution; None: its gap cannot be bounded."""
        inside, unit = one.certificates[0], problem.value
        if not math.isfinite(lane.C):  # there c is the weight of a row
            lane, unit = replace(lane, C=problem.value), 1.0
        if not (math.isfinite(inside.gap) and len(one.scores) == problem.rows.n_rows):
            return None
        used = np.isfinite(one.intercept)
        return cls(
            problem, lane, one, inside.times(1.0 / unit), unit, problem.costs(lane),
            one.scores, one.dual, used, is_blocks=is_blocks,
        )  # fmt: skip

    # ------------------------------------------------------------------ sizes

    @property
    def is_joint(self) -> bool:
        return self.one.width > 1

    @property
    def is_penalised(self) -> bool:
        return self.inside.is_penalised

    @property
    def curvature(self) -> float | None:
        """The largest second derivative of the loss."""
        return 1.0 if self.is_joint else self.problem.loss.curvature

    def _problem_weights(self, w: Floats) -> Floats:
        """Return the weights of the problem's columns that stand for w, but for rounding."""
        return self.problem.columns.seen(w, np.zeros(w.shape[1]))[0]

    def _level(self, w: Floats, b: Floats) -> float:
        """Return what scores are seen from: that of the target, or any one of all classes."""
        level = self.problem.columns.level
        if not self.is_joint:
            return level
        return float(self._intercepts(w, b, level)[self.used].mean())

    def _intercepts(self, w: Floats, b: Floats, level: float) -> Floats:
        """Return b + shift.w - level, rounded once."""
        shift = self.problem.columns.shift
        if shift is None and not level:
            return b
        parts = [
            _exact_intercept(float(b[k]), w[:, k], shift, level) if self.used[k] else b[k]
            for k in range(len(b))
        ]
        return np.array(parts)

    @property
    def _wanted(self) -> Floats:
        """The intercepts of the problem's columns; of all classes about their mean."""
        b = self.one.intercept
        return b - b[self.used].mean() if self.is_joint else b

    # ------------------------------------------------------------------ bounds without the rows

    def bounded(self, w: Floats, b: Floats) -> tuple[Certificate, float]:
        """Return the certificate with a bound on rounding from the sizes of rows and weights.

        Beside it stands what rounding may change the primal by, to first order.
        """
        problem, size = self.problem, self.problem.size
        u = self._problem_weights(w)[:, self.used]
        level = self._level(w, b)
        away = self._intercepts(w, b, level)[self.used] - self._wanted[self.used]
        moved = float(np.abs(away).max(initial=0.0))
        largest = float(np.abs(self.s[:, self.used]).max(initial=0.0))
        lengths = np.sqrt(np.einsum("jk,jk->k", u, u))
        steps = UNIT * (size.terms + EXTRA_STEPS)
        error = steps * size.length * float(lengths.max(initial=0.0)) + moved
        error += UNIT * EXTRA_STEPS * (largest + float(np.abs(self.one.intercept[self.used]).max()))
        if problem.is_regression:
            error += 2 * UNIT * float(np.abs(problem.target).max(initial=0.0))
        mass = float(np.abs(self.z[:, self.used]).sum())
        sums = UNIT * (problem.rows.n_rows + EXTRA_STEPS) * mass
        errors = _Errors(
            error, sums * size.length, sums * size.largest, self._imbalance(mass), largest
        )
        return self._with_errors(self.inside, errors, u), self.unit * error * mass

    def _imbalance(self, mass: float) -> float:
        """Return a bound on |sum z| of each class, which should be 0."""
        if not self.problem.fit_intercept:
            return 0.0
        totals = np.ascontiguousarray(self.z[:, self.used].T).sum(axis=1)
        return float(np.abs(totals).sum()) + UNIT * PAIRWISE * mass

    def _with_errors(self, plain: Certificate, errors: _Errors, u: Floats) -> Certificate:
        """Return a certificate, in the problem's units, with what errors may add to its gap."""
        size = self.problem.size
        gap, away = plain.gap * (1.0 + UNIT * len(self.c)), 0.0
        if self.curvature is None:
            gap += self._more(errors.score)
        else:
            away = float(np.max(errors.score))
            away *= math.sqrt(0.5 * self.curvature * float(self.c.sum()))
        if self.is_penalised and not self.is_blocks:
            l1, l2 = l1_l2_weights(self.problem)
            if l2 > 0:
                vector = errors.vector + errors.imbalance * size.length
                vector += 2 * UNIT * l2 * float(np.linalg.norm(u))
                away = math.hypot(away, vector / math.sqrt(2.0 * l2))
            else:  # the dual point has to be scaled down until |v_j| <= l1 exactly
                most = errors.largest + errors.imbalance * size.largest
                gap += most / l1 * plain.primal
        gap = (math.sqrt(gap) + away) ** 2
        gap += self._unbalanced(errors.imbalance) + self._logarithms(plain, errors.scores_within)
        gap += 4 * UNIT * plain.primal
        dual = plain.dual - 4 * UNIT * abs(plain.dual)
        return replace(plain, dual=dual, gap=gap).times(self.unit)

    def _more(self, error: float | Floats) -> float:
        """Return what errors of scores may add to the gap of a piecewise linear loss."""
        low, here, high = (self._piecewise_gap(by) for by in (-error, 0.0, error))
        more = float(np.maximum(np.maximum(low, high) - here, 0.0).sum())
        return more if math.isfinite(more) else math.inf

    def _piecewise_gap(self, moved: float | Floats) -> Floats:
        """Return the gap of each row after a change of residuals, for piecewise linear losses."""
        loss: PiecewiseLinearLoss = self.problem.loss  # type: ignore[assignment]
        y = self.problem.targets(self.lane)
        r = y - self.s[:, 0] if self.residual is None else self.residual
        return np.maximum(loss.residual_gap(y, r + moved, self.c, self.z[:, 0]), 0.0)

    def _unbalanced(self, imbalance: float) -> float:
        """Return what it costs to give z a sum of 0 exactly, by one row of each sign.

        The gap of a row is convex in z: a small step costs less than its fraction of a large one.
        """
        if imbalance == 0 or self.is_joint:
            return 2.0 * imbalance
        z = self.z[:, 0]
        chosen = np.abs(z) > 2 * imbalance
        if self.problem.loss.name == "log_loss":  # logarithms of all rows would cost more
            rows = np.array([z.argmax(), z.argmin()])
            chosen = np.zeros_like(chosen)
            chosen[rows] = np.abs(z[rows]) > 2 * imbalance
        y, c = self.problem.targets(self.lane)[chosen], self.c[chosen]
        z = z[chosen]
        half = np.maximum(self.problem.loss.gap(y, self.s[chosen, 0], c, 0.5 * z), 0.0)
        cost = 2 * imbalance * half / np.abs(z)
        sides = (cost[z > 0], cost[z < 0])
        return max((float(side.min()) for side in sides if len(side)), default=0.0)

    def _logarithms(self, plain: Certificate, largest: float) -> float:
        """Return the rounding of logarithms that cancel in the gaps of rows.

        Rows that are close enough have a series instead; others add to the gap by their distance.
        """
        if self.problem.loss.name != "log_loss" and not self.is_joint:
            return 0.0
        apart = math.exp(min(largest, 700.0)) if not self.is_joint else 1.0
        far = SERIES_RATIO * apart * (2.0 + 2.0 * largest) * plain.gap
        return 32 * UNIT * min(plain.primal, far)

    # ------------------------------------------------------------------ in twice the digits

    def careful(self, w: Floats, b: Floats) -> Certificate:
        """Return the certificate of weights and intercepts, from two passes in twice the digits."""
        problem, size = self.problem, self.problem.size
        s, correlation, total = self._products(w, b)
        u = self._problem_weights(w)
        residual, rounded = self._residual(w, b)
        again = replace(self, s=s, residual=residual)
        if problem.fit_intercept and not self.is_joint:
            again, correlation, total = again._balanced(correlation, total)
        mass = float(np.abs(self.z[:, self.used]).sum())
        largest = float(np.abs(s[:, self.used]).max(initial=0.0))
        error = 4 * UNIT * np.abs(s[:, self.used]).max(axis=1) if residual is None else rounded
        error += UNIT_TWICE * size.terms * float((size.far[:, None] * np.abs(w)).sum(axis=0).max())
        if problem.columns.level:
            error += UNIT * np.abs(problem.target)
        if self.is_joint:
            plain = again._joint_certificate(u, correlation)
        else:
            again, plain = again._certificate(u, correlation)
        if not self.is_penalised:
            left = float((np.abs(u) * np.abs(correlation)).sum())
            centred = self._intercepts(w, b, self._level(w, b))
            left += float(np.abs(centred[self.used]) @ np.abs(total[self.used]))
            plain = replace(plain, gap=plain.gap + 2.0 * left)
        scale = problem.columns.scale
        far = size.far if scale is None else size.far * scale
        sums = UNIT_TWICE * len(self.c) * mass * far
        held = correlation if problem.penalty.positive else np.abs(correlation)
        errors = _Errors(
            error,
            2 * UNIT * float(np.linalg.norm(correlation)) + float(np.linalg.norm(sums)),
            2 * UNIT * float(held.max(initial=0.0)) + float(sums.max(initial=0.0)),
            2 * float(np.abs(total).sum()) if problem.fit_intercept else 0.0,
            largest,
        )
        return again._with_errors(plain, errors, u[:, self.used])

    def _balanced(self, correlation: Floats, total: Floats) -> tuple[_Model, Floats, Floats]:
        """Return the dual point with a sum of 0 but for the last bit of one of its numbers.

        What is too much is taken from the smallest number that has enough.
        """
        z, over = self.z[:, 0], float(total[0])
        size = np.where((z > 0) == (over > 0), np.abs(z), np.inf)
        size[size < 4 * abs(over)] = np.inf
        row = int(np.argmin(size))
        if over == 0 or not np.isfinite(size[row]):
            return self, correlation, total
        moved = z.copy()
        moved[row] -= over
        step = float(z[row] - moved[row])  # exact: they are close
        x = self._row(row)
        left = np.array([abs(over - step) + UNIT * abs(over)])
        return replace(self, z=moved[:, None]), correlation - step * x[:, None], left

    def _row(self, row: int) -> Floats:
        """Return a row in the problem's columns."""
        columns, rows = self.problem.columns, self.problem.rows.take(np.array([row]))
        x = np.zeros(rows.n_features)
        if rows.indices is None:
            x[:] = rows.values[0]
        else:
            x[rows.indices] = rows.values
        x = x if columns.shift is None else x - columns.shift
        return x if columns.scale is None else x * columns.scale

    def _products(self, w: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
        """Return scores, less the level of the target, and Z'z with the sums of z."""
        problem, columns = self.problem, self.problem.columns
        (n, d), k = problem.rows.shape, len(b)
        none, level = np.zeros(d), np.full(n, self._level(w, b))
        shift = none if columns.shift is None else columns.shift
        s, correlation, total, unused = (
            np.full((n, k), -np.inf),
            np.zeros((d, k)),
            np.zeros(k),
            none.copy(),
        )
        for at in np.flatnonzero(self.used):
            weights, rest = np.ascontiguousarray(w[:, at]), np.empty(n)
            native.residual_sums(
                problem.core, level, None, weights, none, float(b[at]), 0.0, none, unused, rest
            )
            s[:, at] = -rest
            sums = np.empty(d)
            point = np.ascontiguousarray(self.z[:, at])
            total[at], _ = native.residual_sums(
                problem.core, point, None, none, none, 0.0, 0.0, shift, sums, None
            )
            correlation[:, at] = sums if columns.scale is None else sums * columns.scale
        return s, correlation, total

    def _residual(self, w: Floats, b: Floats) -> tuple[Floats | None, Floats]:
        """Return y - s and its rounding error, for piecewise linear losses."""
        n, d = self.problem.rows.shape
        none, rest, low = np.zeros(d), np.empty(n), np.empty(n)
        if self.curvature is not None:
            return None, none

        def subtract(y: Floats, out: Floats) -> None:
            weights = np.ascontiguousarray(w[:, 0])
            native.residual_sums(
                self.problem.core, y, None, weights, none, float(b[0]), 0.0, none, np.empty(d), out
            )

        y = np.ascontiguousarray(self.problem.targets(self.lane))
        subtract(y, rest)
        score = y - rest
        back = y - score
        lost = (y - (score + back)) + (back - rest)  # score + lost = y - rest
        subtract(score, low)
        return rest, (1.0 + 8 * UNIT) * np.abs(low + lost)

    def _certificate(self, u: Floats, correlation: Floats) -> tuple[_Model, Certificate]:
        """Return the certificate of one model as computed, and the dual point that is within."""
        problem, z = self.problem, np.ascontiguousarray(self.z)
        if self.is_penalised and l1_l2_weights(problem)[1] == 0:
            l1 = l1_l2_weights(problem)[0]
            most = float(
                (correlation if problem.penalty.positive else np.abs(correlation)).max(initial=0.0)
            )
            if most > FEASIBLE_RATIO * l1:
                z, correlation = (
                    z * (FEASIBLE_RATIO * l1 / most),
                    correlation * (FEASIBLE_RATIO * l1 / most),
                )
        s = np.ascontiguousarray(self.s)
        targets = problem.in_lanes([self.lane])
        loss, value, gap = (sums[0] for sums in native.row_terms(targets, z, s, False)[1:])
        terms, penalty, over = 0.0, 0.0, 0.0
        if self.is_penalised:
            terms, penalty, over = (float(one[0]) for one in column_terms(problem, u, correlation))
        again = replace(self, z=z)
        if self.curvature is None:
            gap = float(again._piecewise_gap(0.0).sum())
        plain = replace(self.inside, primal=loss + penalty, dual=value - over, gap=gap + terms)
        return again, plain

    def _joint_certificate(self, u: Floats, correlation: Floats) -> Certificate:
        """Return the certificate of all classes jointly as computed."""
        rows = RowClasses.of(self.problem, self.lane)
        cost = rows.c[:, None]
        probabilities = -np.divide(self.z, cost, out=np.zeros_like(self.z), where=cost > 0)
        probabilities[np.arange(len(probabilities)), rows.y] += 1.0
        np.maximum(probabilities, 0.0, out=probabilities)
        problem = self.problem
        if not self.is_penalised:
            u, correlation = np.zeros_like(u), np.zeros_like(correlation)
        solution = certify(problem, rows, probabilities, correlation, self.s, u, self.inside.tol)
        solution = solution.times(1.0 / problem.value)
        return replace(self.inside, primal=solution.primal, dual=solution.dual, gap=solution.gap)

    # ------------------------------------------------------------------ more digits in the model

    def finer(self, w: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Return weights and intercepts that hold the intercept of centred columns more finely."""
        shift, level = self.problem.columns.shift, self._level(w, b)
        assert shift is not None
        w, b = w.copy(), self._wanted.copy()
        for k in np.flatnonzero(self.used):
            w[:, k], b[k] = _held_finely(w[:, k], float(b[k]), shift, level)
        return w, b

    def rounding(self, w: Floats) -> Rounding:
        """Return the column, or the target, whose size costs most digits."""
        problem, size = self.problem, self.problem.size
        shift = problem.columns.shift
        mean = np.zeros(problem.rows.n_features) if shift is None else shift
        weights = np.abs(w).max(axis=1, initial=0.0)
        usual = np.median(weights)  # a column that hides all others has a tiny weight
        lost = (np.abs(mean) + size.extent) * np.maximum(weights, usual)
        column = int(np.argmax(lost))
        if problem.is_regression and abs(float(np.mean(problem.target))) > float(lost[column]):
            y = np.asarray(problem.target)
            return Rounding(-1, float(y.mean()), float(np.abs(y - y.mean()).max()), True)
        return Rounding(column, float(mean[column]), float(size.extent[column]), shift is not None)


def _two_products(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a b and its rounding error, so that their sum is exact (Dekker and Veltkamp)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(a: Floats) -> tuple[Floats, Floats]:
    scaled = 134217729.0 * a
    high = scaled - (scaled - a)
    return high, a - high


def _exact_intercept(b: float, w: Floats, shift: Floats | None, level: float) -> float:
    """Return b + shift.w - level, rounded once; as float64 adds it up where that overflows."""
    if shift is None:
        return math.fsum((b, -level))
    nonzero = np.flatnonzero(w)
    with np.errstate(over="ignore", invalid="ignore"):
        parts = np.concatenate(_two_products(shift[nonzero], w[nonzero]))
        if not np.isfinite(parts).all():
            return b + float(shift @ w) - level
    return math.fsum((b, -level, *parts.tolist()))


def _held_finely(w: Floats, wanted: float, shift: Floats, level: float) -> tuple[Floats, float]:
    """Return weights and an intercept b with b + shift.w - level close to a wanted number.

    The last bit of weight j is worth ulp(w_j) shift_j. Multiples of the two finest of these, the
    last bit of b among them, come closer than any of them alone.
    """
    b = -_exact_intercept(-wanted, w, shift, level)
    left = wanted - _exact_intercept(b, w, shift, level)
    worth = np.append(np.spacing(np.abs(w)) * shift, np.spacing(abs(b)))
    worth[:-1][w == 0] = 0.0
    order = np.argsort(np.where(worth == 0, np.inf, np.abs(worth)), kind="stable")
    order = order[worth[order] != 0][:4]
    best = (w, b, abs(left))
    steps = np.arange(-MAX_ULPS, MAX_ULPS + 1.0)
    for place, first in enumerate(order):
        for second in order[place + 1 :]:
            rest = left - steps * worth[first]
            more = np.rint(rest / worth[second])
            rest -= more * worth[second]
            at = int(np.argmin(np.abs(rest)))
            new = np.append(w, b)
            new[first] += steps[at] * np.spacing(abs(new[first]))
            new[second] += more[at] * np.spacing(abs(new[second]))
            away = abs(wanted - _exact_intercept(float(new[-1]), new[:-1], shift, level))
            if away < best[2]:
                best = (new[:-1], float(new[-1]), away)
    return best[0], best[1]
