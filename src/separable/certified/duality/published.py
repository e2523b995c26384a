"""Published weights, and certificates of exactly these numbers.

Solvers work on columns z = (x - shift) scale, with weights u and an intercept b. A model publishes
w = scale u and b - shift.w, rounded to float64: if columns lie far from 0, the rounding of that
intercept moves every score. So the gap is bounded again at the published numbers, for the dual
point at hand (`rounding.py`).

First rounding errors are bounded from the sizes of rows and weights alone, without a pass over the
rows. If that bound is not small beside ``tol``, scores and correlations are computed again in twice
the digits. Then the intercept may be held more finely: the last bits of weights of far columns move
the scores of all rows by less than those of a large intercept do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from separable.certified.duality.certificate import Certificate, CertifiedSolution
from separable.certified.duality.rounding import UNIT, LaneRows, centred_intercepts
from separable.certified.problem import Lane, Problem
from separable.typing import Floats

#: What rounding may add to the gap, as a fraction of ``tol``, before more digits are used.
ROUNDING_FRACTION = 0.05
#: Change of the primal, relative to it, up to which it is that of the published numbers.
MAX_PRIMAL_CHANGE = 1e-9
#: Numbers up to which a fit is small, and what rounding may add to its relative gap there.
SMALL, SMALL_ROUNDING = 20_000, 2e-13
#: Multiples of the last bit of a weight that are tried to hold an intercept finely.
MAX_ULPS = 4096


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
    dual : ndarray, shape (n, k)
        The dual points that prove the certificates, in the units of the objective; empty: not kept.
    rounding : Rounding or None
        Why a lane that converged inside has not as published; None: all have.
    """

    weights: Floats
    intercept: Floats
    certificates: list[Certificate]
    dual: Floats = field(default_factory=lambda: np.empty((0, 1)))
    rounding: Rounding | None = None

    def times(self, value: float) -> Published:
        """Return the models of the objective multiplied by ``value``."""
        proofs = [one.times(value, convexity=value) for one in self.certificates]
        return replace(self, certificates=proofs)

    def take(self, columns: Sequence[int]) -> Published:
        """Return some of the models; certificates stay."""
        w = self.weights
        # a copy, unless there is one that stands by itself in memory
        w = np.ascontiguousarray(w) if w.shape[1] == 1 else w[:, columns]
        return replace(self, weights=w, intercept=self.intercept[columns])

    def lane(self, k: int, width: int) -> Published:
        """Return the models of one lane, of ``width`` columns."""
        one, proofs = slice(k * width, (k + 1) * width), self.certificates[k : k + 1]
        missed = not all(proof.converged for proof in proofs)
        rounding = self.rounding if missed else None
        return Published(
            self.weights[:, one], self.intercept[one], proofs, self.dual[:, one], rounding
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
            np.concatenate([part.dual for part in parts], axis=1),
            next((part.rounding for part in parts if part.rounding is not None), None),
        )


def publish(
    problem: Problem,
    lanes: Sequence[Lane],
    solution: CertifiedSolution,
    *,
    alpha: float = 1.0,
    is_final: bool = True,
    is_blocks: bool = False,
) -> Published:
    """Return the float64 numbers of lanes, and certificates that hold for these.

    Parameters
    ----------
    solution : CertifiedSolution
        Of these lanes, and perhaps of others behind them, with the scores and the dual points of
        all rows, in the problem's units.
    alpha : float, default 1.0
        The factor of the objective that certificates and dual points are for.
    is_final : bool, default True
        Whether these are all models of a fit, and not some of a search: then small problems have
        gaps with all digits, too, and dual points are kept.
    is_blocks : bool, default False
        Whether the penalty is one over blocks of weights, and not that of the problem. Then scores
        alone are bounded again.
    """
    k, m = len(lanes), solution.width
    columns = slice(k * m)
    intercept, inside = solution.intercept[columns], solution.certificates[:k]
    w, b = problem.columns.raw(solution.weights[:, columns], intercept)
    w = np.asarray(w, dtype=np.float64)
    if m > 1 and not problem.penalty.is_smooth and problem.fit_intercept:
        # weights of a column may have any sum, so that its shift moves that of the intercepts
        b = b - np.repeat([one[np.isfinite(one)].mean() for one in b.reshape(k, m)], m)
    value = problem.value
    if not math.isfinite(lanes[0].C):  # there c is the weight of a row
        lanes, value = [replace(lane, C=value) for lane in lanes], 1.0
    dual = solution.dual[:, columns]
    published = Published(w, b, inside, dual * (alpha * value))
    if len(solution.scores) == problem.rows.n_rows:
        rows = LaneRows(
            problem,
            lanes,
            np.ascontiguousarray(solution.scores[:, columns]).reshape(-1, k, m),
            np.ascontiguousarray(dual).reshape(-1, k, m),
            intercept.reshape(k, m),
            inside[0].is_penalised,
            is_blocks,
        )
        is_small = is_final and solution.scores.size * problem.rows.n_features <= SMALL
        with np.errstate(over="ignore", invalid="ignore"):  # a bound that overflows proves nothing
            published = _certified(rows, published, value, alpha, is_small=is_small)
    if not is_final:
        published = replace(published, dual=np.empty((0, k * m)))
    return published if alpha == 1 else published.times(alpha)


def _certified(
    rows: LaneRows,
    published: Published,
    value: float,
    alpha: float,
    *,
    is_small: bool,
) -> Published:
    """Return models with certificates that bound rounding, from more digits where needed."""
    m = rows.s.shape[2]
    inside = published.certificates
    primal = np.array([one.primal for one in inside]) / value
    gap = np.array([one.gap for one in inside]) / value
    bound, moved = rows.bounded(published.weights, published.intercept, gap, primal)
    slack = ROUNDING_FRACTION * inside[0].tol
    slack = min(slack, SMALL_ROUNDING) if is_small else slack
    most, most_moved = gap + slack * primal, MAX_PRIMAL_CHANGE * primal
    certificates, rounding = list(inside), None
    for i, one in enumerate(inside):
        if not (math.isfinite(one.gap) and math.isfinite(one.primal)):
            continue
        lane = slice(i * m, (i + 1) * m)
        if (bound[i] <= most[i] and moved[i] <= most_moved[i]) or rows.is_blocks:
            certificates[i] = one.with_rounding(value * bound[i], 4 * UNIT)
        else:
            published, certificates[i] = _in_more_digits(
                rows.lane(i), published, lane, one.times(1.0 / value), alpha * value
            )
            certificates[i] = certificates[i].times(value)
        if not certificates[i].gap < certificates[i].primal:  # 0 is a dual point, too
            published.dual[:, lane] = 0.0
            certificates[i] = replace(certificates[i], dual=0.0, gap=certificates[i].primal)
        if rounding is None and one.converged and not certificates[i].converged:
            rounding = _rounding(rows.problem, published.weights[:, lane])
    return Published(published.weights, published.intercept, certificates, published.dual, rounding)


def _in_more_digits(
    rows: LaneRows, published: Published, lane: slice, inside: Certificate, unit: float
) -> tuple[Published, Certificate]:
    """Return models with the proof of one lane, perhaps with finer weights, and its certificate."""
    w, b = published.weights[:, lane], published.intercept[lane]
    best, dual = rows.careful(w, b, inside, unit)
    slack = ROUNDING_FRACTION * inside.tol * inside.primal
    if best.gap > inside.gap + slack and rows.problem.columns.shift is not None:
        finer = _held_finely(rows, w, b)
        other, other_dual = rows.careful(*finer, inside, unit)
        if other.gap < best.gap:
            best, dual = other, other_dual
            weights, intercept = published.weights.copy(), published.intercept.copy()
            weights[:, lane], intercept[lane] = finer
            published = replace(published, weights=weights, intercept=intercept)
    published.dual[:, lane] = dual
    return published, best


def _rounding(problem: Problem, w: Floats) -> Rounding:
    """Return the column, or the target, whose size costs most digits."""
    size, shift = problem.size, problem.columns.shift
    mean = np.zeros(problem.rows.n_features) if shift is None else shift
    weights = np.abs(w).max(axis=1, initial=0.0)
    usual = np.median(weights)  # a column that hides all others has a tiny weight
    lost = (np.abs(mean) + size.extent) * np.maximum(weights, usual)
    column = int(np.argmax(lost))
    if problem.is_regression and abs(float(np.mean(problem.target))) > float(lost[column]):
        y = np.asarray(problem.target)
        return Rounding(-1, float(y.mean()), float(np.abs(y - y.mean()).max()), True)
    return Rounding(column, float(mean[column]), float(size.extent[column]), shift is not None)


# ---------------------------------------------------------------------- finer intercepts


def _held_finely(rows: LaneRows, w: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return weights and intercepts that hold the intercept of centred columns more finely."""
    level, wanted = rows.level(w, b), rows.wanted
    w, b = w.copy(), b.copy()
    for at in np.flatnonzero(rows.used[0]):
        w[:, at], b[at] = _held_one(rows.problem, w[:, at], float(wanted[0, at]), level)
    return w, b


def _held_one(problem: Problem, w: Floats, wanted: float, level: float) -> tuple[Floats, float]:
    """Return weights and an intercept b with b + shift.w - level close to a wanted number.

    The last bit of weight j is worth ulp(w_j) shift_j. Multiples of the two finest of these, the
    last bit of b among them, come closer than any of them alone.
    """

    def missing(w: Floats, b: float) -> float:
        return wanted - float(centred_intercepts(problem, w[:, None], np.array([b]), level)[0])

    shift = problem.columns.shift
    assert shift is not None
    b = -float(centred_intercepts(problem, w[:, None], np.array([-wanted]), level)[0])
    left = missing(w, b)
    worth = np.append(np.spacing(np.abs(w)) * shift, np.spacing(abs(b)))
    worth[:-1][w == 0] = 0.0
    order = np.argsort(np.where(worth == 0, np.inf, np.abs(worth)), kind="stable")
    order = order[worth[order] != 0][:4]
    best = (w, b, abs(left))
    steps = np.arange(-MAX_ULPS, MAX_ULPS + 1.0)
    for position, first in enumerate(order):
        for second in order[position + 1 :]:
            rest = left - steps * worth[first]
            more = np.rint(rest / worth[second])
            rest -= more * worth[second]
            at = int(np.argmin(np.abs(rest)))
            new = np.append(w, b)
            new[first] += steps[at] * np.spacing(abs(new[first]))
            new[second] += more[at] * np.spacing(abs(new[second]))
            away = abs(missing(new[:-1], float(new[-1])))
            if away < best[2]:
                best = (new[:-1], float(new[-1]), away)
    return best[0], best[1]
