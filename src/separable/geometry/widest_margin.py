"""The hyperplane that is farthest from both classes, and a bound that no other is farther.

For weights w that separate, gamma(w) = min_i y_i (w.x_i + b) / |w|. For multipliers a >= 0 whose
sum is 1 in each class, with p and q the means of the classes by these weights,

    gamma(w)  <=  gamma*  <=  |p - q| / 2,    equal for the best w, which is p - q.

Without an intercept the bound is |sum_i a_i y_i x_i|, for a >= 0 whose sum is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import nnls

from separable.geometry.signs import rounding

if TYPE_CHECKING:
    from separable.geometry.proofs import Separation
    from separable.geometry.signed_rows import SignedRows

    from separable.geometry.cone_rows import Floats

__all__ = ["Bracket", "bracket_of", "proves_margin", "widest_margin"]

#: Shifts of the origin.
SHIFTS = 8
#: The most numbers of rows whose multipliers are found all together.
TOGETHER = 1 << 21


@dataclass(frozen=True)
class Bracket:
    """Weights and multipliers, and the margins that they prove.

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
        """How far the margin is from its bound."""
        return (self.bound - self.margin) / self.bound if self.bound > 0 else np.inf


def _margins(cone: SignedRows, u: Floats) -> tuple[Floats, float]:
    """Return margins of all rows, and the smallest, rounded down."""
    w = u[:-1] if cone.fit_intercept else u
    length = float(np.linalg.norm(w)) or 1.0
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
    bound = float(np.linalg.norm(w) + np.linalg.norm(lost)) * (1.0 + 1e-14)
    return w, bound / 2.0 if cone.fit_intercept else bound


def bracket_of(cone: SignedRows, a: Floats, w: Floats | None = None) -> Bracket:
    """Return what multipliers prove, and weights that go with them, if none are given."""
    mean, bound = _mean(cone, a)
    w = mean if w is None else w
    u = w
    if cone.fit_intercept:
        scores = cone.sign * cone.scores(np.append(w, 0.0))
        positive = cone.sign > 0
        b = -0.5 * float(scores[positive].min()) - 0.5 * float(scores[~positive].max())
        u = np.append(w, b)
    return Bracket(u, *_margins(cone, u), bound, a)


def proves_margin(cone: SignedRows, proof: Separation) -> bool:
    """Return whether a proof's margins, margin and bound are those of its weights and rows."""
    u = np.append(proof.weights, proof.intercept) if cone.fit_intercept else proof.weights
    margins, margin = _margins(cone, u)
    a = np.zeros(cone.size)
    a[proof.support] = proof.multipliers
    if not (np.isfinite(a) & (a >= 0)).all() or len(proof.margins) != len(margins):
        return False
    slack = rounding(8 * cone.terms, cone.magnitudes(u)) / (np.linalg.norm(proof.weights) or 1.0)
    near = np.abs(proof.margins - margins) <= slack
    bound = np.inf if not a.any() else _mean(cone, a)[1]
    return bool(
        near.all()
        and proof.margin <= margin + slack.max()
        and bound <= proof.margin_bound * (1.0 + 1e-12)
    )


def widest_margin(cone: SignedRows, u: Floats, precision: float) -> Bracket:
    """Return weights whose margin is the largest up to a relative precision, where that is cheap.

    Parameters
    ----------
    cone : SignedRows
        Rows as they came.
    u : ndarray, shape (D,)
        Separates them; the answer if nothing better is found.
    precision : float
    """
    best = Bracket(u, *_margins(cone, u), np.inf, np.zeros(cone.size))
    if cone.size * cone.dimension > TOGETHER:
        return best
    X = cone.take(np.arange(cone.size))[:, : cone.rows.n_features]
    for found in _together(X, cone):
        bracket = bracket_of(cone, found)
        margin_better = bracket.margin > best.margin
        keep = bracket if margin_better else best
        other = bracket if bracket.bound < best.bound else best
        best = Bracket(keep.u, keep.margins, keep.margin, other.bound, other.a)
        if best.relative_gap <= precision:
            break
    return best


def _together(signed: Floats, cone: SignedRows):  # type: ignore[no-untyped-def]
    """Yield multipliers: non-negative least squares, with the origin moved to the boundary."""
    sign, ones = cone.sign[:, None], np.ones((len(signed), 1))
    rows = signed * sign
    origin = np.zeros(rows.shape[1])
    if cone.fit_intercept:
        positive = cone.sign > 0
        origin = 0.5 * rows[positive].mean(axis=0) + 0.5 * rows[~positive].mean(axis=0)
    for _ in range(SHIFTS if cone.fit_intercept else 1):
        seen = (rows - origin) * sign
        size = float(np.sqrt((seen**2).sum(axis=1).max())) or 1.0
        parts = [seen / size, ones]
        if cone.fit_intercept:
            parts.append(10.0 * sign)
        table = np.hstack(parts)
        target = np.zeros(table.shape[1])
        target[seen.shape[1]] = 1.0
        try:
            a, _ = nnls(table.T, target, maxiter=30 * sum(table.shape))
        except RuntimeError:
            return
        if not a.any():
            return
        yield a
        if cone.fit_intercept:
            plus, minus = a * (cone.sign > 0), a * (cone.sign < 0)
            if not (plus.any() and minus.any()):
                return
            origin = 0.5 * (plus @ rows / plus.sum() + minus @ rows / minus.sum())
