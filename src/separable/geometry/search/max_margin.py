"""Maximum-margin hyperplane with an upper bound on the margin.

For separating weights w, gamma(w) = min_i y_i (w.x_i + b) / |w|. For multipliers a >= 0 with sum 1
in each class, and p and q the means of the classes weighted by them,

    gamma(w)  <=  gamma*  <=  |p - q| / 2,    equal for the best w, which is p - q.

Without an intercept the bound is |sum_i a_i y_i x_i|, for a >= 0 with sum 1.

With many columns, dual coordinate descent (hard-margin SVM) solves

    minimize 1/2 |v|^2 - sum_i a_i,  v = sum_i a_i y_i x_i,  over a >= 0, sum_i a_i y_i = 0.

The equality constraint of the intercept is handled by an augmented Lagrangian, updated after each
pass. If the rows are not separable, a grows without bound. The kernel is that of the linear SVM
(``cpp/include/separable/certified/dual_descent.hpp``) with an upper bound that is never reached.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from separable._core import native
from separable.data.rows import Rows, core_rows
from separable.geometry.proofs.signs import rounding, sure_scores
from separable.linalg.blas import aligned_zeros
from separable.linalg.lstsq import nonnegative_squares

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.geometry.cone.signed_rows import SignedRows
    from separable.geometry.proofs.proof import Separation
    from separable.typing import Floats

__all__ = [
    "Bracket",
    "DualPasses",
    "bracket_of",
    "by_passes",
    "exact_margins",
    "proves_margin",
    "proves_margin_bound",
    "start_of",
    "widest_margin",
]

#: Penalty of the equality constraint, relative to the mean squared norm of the rows.
INTERCEPT_PENALTY = 0.01
#: Upper bound of a multiplier, in units of 1 / mean squared norm.
MAX_MULTIPLIER = 1e12


class DualPasses:
    """State of dual coordinate descent.

    Parameters
    ----------
    cone : SignedRows
        The original rows; here all are scaled by one power of two.
    """

    def __init__(self, cone: SignedRows) -> None:
        rows = cone.rows
        values = rows.values.astype(np.float64)
        largest = float(np.abs(values).max(initial=0.0))
        values = np.ldexp(values, -int(np.frexp(largest)[1])) if largest > 0 else values
        self._core = core_rows(Rows(values, rows.n_features, rows.indices, rows.indptr))
        n, d = rows.shape
        self._norms = np.empty(n)
        self._core.squared_norms(self._norms)
        mean = float(self._norms.mean()) or 1.0
        label = (cone.sign > 0).astype(np.int32)
        self._targets = native.LaneTargets(
            "hinge",
            0.0,
            label,
            None,
            None,
            None,
            np.array([1], np.int32),
            np.array([-1], np.int32),
            np.array([MAX_MULTIPLIER / mean]),
        )
        self._rho = np.array([INTERCEPT_PENALTY * mean if cone.fit_intercept else 0.0])
        double = np.dtype(np.float64)
        self._w, self._a = aligned_zeros((d, 1), double), aligned_zeros((n, 1), double)
        self._by_row = np.zeros((2, n), np.uint16)
        self._by_lane = np.zeros((5, 1))
        self._by_lane[[2, 4]] = np.inf
        self.count = 0

    @property
    def a(self) -> Floats:
        """The multipliers, non-negative."""
        return self._a[:, 0].copy()

    @property
    def weights(self) -> Floats:
        """The sum of a_i y_i x_i, up to a power of two."""
        return self._w[:, 0].copy()

    def run(self, passes: int) -> None:
        """Run passes over all rows."""
        for _ in range(passes):
            self.count += 1
            native.dual_pass(
                self._targets,
                self._core,
                self._norms,
                self._rho,
                self._w,
                self._a,
                None,
                self._by_row,
                self._by_lane,
                0,
                self.count,
                0,
            )
            self._by_lane[0] += self._rho * self._by_lane[1]

    def wake(self) -> None:
        """Reset shrinking: activate all rows."""
        self._by_row[0] = 0
        self._by_lane[2] = np.inf
        self._by_lane[3] = 0.0


#: Maximum number of shifts of the origin.
MAX_SHIFTS = 8
#: Up to this many numbers the multipliers of all rows are solved together.
MAX_JOINT = 1 << 21
#: Up to this many columns row generation is used.
MAX_COLUMNS = 200
#: Maximum number of rounds of row generation.
MAX_ROUNDS = 20
#: Size of the bias column relative to the longest row; shifts of the origin remove its penalty.
BIAS_SCALE = 10.0
#: Passes between checks, minimum number of passes, and maximum number of values read.
CHECK_PASSES, MIN_PASSES, MAX_WORK = 10, 40, 2_000_000_000
#: Squares of numbers between 2^-MAX_EXPONENT and 2^MAX_EXPONENT neither overflow nor underflow.
MAX_EXPONENT = 400


@dataclass(frozen=True)
class Bracket:
    """Primal and dual point with lower and upper bound of the maximum margin.

    Parameters
    ----------
    u : ndarray, shape (D,)
    margins : ndarray, shape (n,)
    margin, bound : float
    a : ndarray, shape (n,)
    """

    u: Floats
    margins: Floats
    margin: float
    bound: float
    a: Floats

    @property
    def relative_gap(self) -> float:
        """Relative gap between the margin and its bound."""
        if not 0 < self.bound < np.inf:
            return np.inf
        return (self.bound - self.margin) / self.bound

    def better(self, other: Bracket) -> Bracket:
        """Return the larger margin and the smaller bound of both."""
        wide = other if other.margin > self.margin else self
        tight = other if other.bound < self.bound else self
        return Bracket(wide.u, wide.margins, wide.margin, tight.bound, tight.a)


def exact_margins(cone: SignedRows, result: Bracket) -> Bracket:
    """Return the bracket with margins computed exactly where rounding hides them."""
    w = result.u[:-1] if cone.fit_intercept else result.u
    margins = sure_scores(cone, result.u) / (_length(w) or 1.0)
    return replace(result, margins=margins, margin=float(margins.min()) * (1.0 - 1e-14))


def _length(w: Floats) -> float:
    """Return |w| without overflow."""
    power = int(np.frexp(np.abs(w).max(initial=0.0))[1])
    if abs(power) <= MAX_EXPONENT:
        return float(np.linalg.norm(w))
    return float(np.ldexp(np.linalg.norm(np.ldexp(w, -power)), power))


def _margins(cone: SignedRows, u: Floats) -> tuple[Floats, float]:
    """Return the margins of all rows, and the smallest, rounded down."""
    w = u[:-1] if cone.fit_intercept else u
    length = _length(w) or 1.0
    scores = cone.scores(u)
    sure = scores - rounding(cone.terms, cone.magnitudes(u))
    return scores / length, float(sure.min() / length * (1.0 - 1e-14 * np.sign(sure.min())))


def _mean(cone: SignedRows, a: Floats) -> tuple[Floats, float]:
    """Return w, of length twice the bound with an intercept, and the bound, rounded up."""
    positive = cone.sign > 0
    if cone.fit_intercept:
        parts = float(a[positive].sum()), float(a[~positive].sum())
        if min(parts) <= 0:
            return np.zeros(cone.dimension - 1), np.inf
        a = np.where(positive, a / parts[0], a / parts[1])
    else:
        a = a / a.sum()
    w = cone.sums(a)[: cone.rows.n_features]
    lost = rounding(cone.size + 4, cone.sizes(a))[: cone.rows.n_features]
    bound = (_length(w) + _length(lost)) * (1.0 + 1e-14)
    return w, bound / 2.0 if cone.fit_intercept else bound


def bracket_of(cone: SignedRows, a: Floats, w: Floats | None = None) -> Bracket:
    """Return the bracket of multipliers; None: with the weights that follow from them."""
    mean, bound = _mean(cone, a)
    w = mean if w is None else w
    power = int(np.frexp(np.abs(w).max(initial=0.0))[1])
    if (
        abs(power) > MAX_EXPONENT
    ):  # of the size of rows: products with them would overflow, or vanish
        w = np.ldexp(w, int(np.clip(-2 * power, -1000, 1000)))
    u = w
    if cone.fit_intercept:
        scores = cone.sign * cone.scores(np.append(w, 0.0))
        positive = cone.sign > 0
        b = -0.5 * float(scores[positive].min()) - 0.5 * float(scores[~positive].max())
        u = np.append(w, b)
    return Bracket(u, *_margins(cone, u), bound, a)


def proves_margin(cone: SignedRows, proof: Separation) -> bool:
    """Return whether the margins and the bound of a proof follow from its weights and rows."""
    u = np.append(proof.weights, proof.intercept) if cone.fit_intercept else proof.weights
    margins, margin = _margins(cone, u)
    if len(proof.margins) != len(margins):
        return False
    slack = rounding(8 * cone.terms, cone.magnitudes(u)) / (_length(proof.weights) or 1.0)
    near = np.abs(proof.margins - margins) <= slack
    return bool(
        near.all()
        and abs(proof.margin - margin) <= slack.max()
        and proves_margin_bound(cone, proof)
    )


def proves_margin_bound(cone: SignedRows, proof: Separation) -> bool:
    """Return whether the rows and multipliers of a proof prove its margin bound."""
    a = np.zeros(cone.size)
    a[proof.support] = proof.multipliers
    if not (np.isfinite(a) & (a >= 0)).all():
        return False
    bound = np.inf if not a.any() else _mean(cone, a)[1]
    return bool(bound <= proof.margin_bound * (1.0 + 1e-12))


def widest_margin(
    cone: SignedRows, best: Bracket, precision: float, passes: DualPasses | None
) -> Bracket:
    """Maximize the margin to a relative precision, within a work limit.

    Parameters
    ----------
    cone : SignedRows
        The original rows.
    best : Bracket
        Initial separating weights.
    precision : float
    passes : DualPasses or None
        Dual coordinate descent to continue.
    """
    small = cone.size * cone.dimension <= MAX_JOINT
    if small or cone.dimension <= MAX_COLUMNS:
        best = _by_rows(cone, best, precision, np.inf if small else 5 * cone.dimension + 500)
    if best.relative_gap <= precision or small:
        return best
    return by_passes(cone, passes or DualPasses(cone), best, precision)


def start_of(cone: SignedRows, u: Floats) -> Bracket:
    """Return the bracket of weights, without an upper bound."""
    return Bracket(u, *_margins(cone, u), np.inf, np.zeros(cone.size))


def by_passes(
    cone: SignedRows, passes: DualPasses, best: Bracket, precision: float, most: int | None = None
) -> Bracket:
    """Continue dual coordinate descent until the precision or the work limit is reached."""
    numbers = max(1, cone.rows.values.size)
    last = passes.count + (most or max(MIN_PASSES, MAX_WORK // numbers))
    while passes.count < last and best.relative_gap > precision:
        passes.run(CHECK_PASSES)
        passes.wake()
        if passes.a.any():
            best = best.better(bracket_of(cone, passes.a, passes.weights))
    return best


def _by_rows(cone: SignedRows, best: Bracket, precision: float, most: float) -> Bracket:
    """Solve for the rows with small margins and add rows that violate the margin."""
    chosen = np.arange(cone.size)
    if most < cone.size:
        chosen = np.argpartition(best.margins, int(most))[: int(most)]
    for _ in range(MAX_ROUNDS):
        vectors = cone.take(chosen)[:, : cone.rows.n_features]
        a, nearest = np.zeros(cone.size), None
        for result in _together(vectors, cone.sign[chosen], cone.fit_intercept):
            a[chosen] = result
            bracket = bracket_of(cone, a.copy())
            best = best.better(bracket)
            nearest = bracket.margins
            if best.relative_gap <= precision:
                return best
        if nearest is None or len(chosen) == cone.size:
            break
        worst = np.argpartition(nearest, min(cone.size - 1, len(chosen) // 2))[: len(chosen) // 2]
        fresh = worst[~np.isin(worst, chosen)]
        if len(fresh) == 0:
            break
        chosen = np.append(chosen, fresh)
        if len(chosen) * cone.dimension > MAX_JOINT:
            break
    return best


def _together(vectors: Floats, sign: Floats, fit_intercept: bool) -> Iterator[Floats]:
    """Yield multipliers by non-negative least squares, moving the origin to the boundary."""
    power = int(np.frexp(np.abs(vectors).max(initial=0.0))[1])
    rows, ones = np.ldexp(vectors, -power) * sign[:, None], np.ones((len(vectors), 1))
    positive = sign > 0
    if fit_intercept and (positive.all() or not positive.any()):
        return
    origin = np.zeros(rows.shape[1])
    if fit_intercept:
        origin = 0.5 * rows[positive].mean(axis=0) + 0.5 * rows[~positive].mean(axis=0)
    for _ in range(MAX_SHIFTS if fit_intercept else 1):
        signed = (rows - origin) * sign[:, None]
        size = float(np.sqrt((signed**2).sum(axis=1).max())) or 1.0
        parts = [signed / size, ones]
        if fit_intercept:
            parts.append(BIAS_SCALE * sign[:, None])
        table = np.hstack(parts)
        target = np.zeros(table.shape[1])
        target[signed.shape[1]] = 1.0
        solved = nonnegative_squares(table.T, target, 30 * sum(table.shape))
        if solved is None:
            return
        a = solved[0]
        plus, minus = a * positive, a * ~positive
        if not a.any() or (fit_intercept and not (plus.any() and minus.any())):
            return
        yield a
        if fit_intercept:
            origin = 0.5 * (plus @ rows / plus.sum() + minus @ rows / minus.sum())
