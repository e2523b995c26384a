"""Three classes and more together: the verdict, and its proof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.geometry.facial_reduction import NONE
from separable.geometry.few_multipliers import cancelling, few_multipliers
from separable.geometry.joint_proofs import JointOverlap, JointQuasiSeparation, JointSeparation
from separable.geometry.joint_rows import JointRows
from separable.geometry.labelled_rows import read_labelled
from separable.geometry.proof_checks import (
    cancels,
    full_rank,
    overlaps,
    separates,
    separates_weakly,
)
from separable.geometry.reasons import NOT_CANCELLING, NOT_ENDED, TOO_CLOSE, not_exact
from separable.geometry.row_generation import settle_many
from separable.geometry.search import AGAIN, CLOSELY, search, settle_closely
from separable.geometry.signed_rows import SignedRows
from separable.geometry.verdict import Verdict
from separable.geometry.weak_direction import tidy_few
from separable.geometry.widest_margin import bracket_of, start_of, widest_margin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.geometry.cone_rows import Floats, Places
    from separable.geometry.facial_reduction import Settled
    from separable.geometry.labelled_rows import LabelledRows
    from separable.geometry.proofs import Proof

    Decision = tuple[str, str, Proof | None]

__all__ = ["JointVerdict", "joint_verdict"]

#: What rounding may take from a margin that is computed again.
SLACK = 1e-9
#: What is counted in place of rows.
PAIRS = "pairs of a row and another class"
#: Newton's steps take matrices of at most so many weights of all classes.
NEWTON = 3000


@dataclass(frozen=True, eq=False, repr=False)
class JointVerdict(Verdict):
    """Whether all classes together can be told apart by weights of each; see `Verdict`.

    That is (w_y - w_k).x + b_y - b_k > 0 for every row, y its class, and every other class k. It
    decides whether multinomial logistic regression without a penalty has a finite solution.
    """

    _counted: ClassVar[str] = PAIRS

    def verify(self, X: Any, y: Any, *, exact: bool = False) -> bool:
        """Check the proof against data, and nothing else; see `Verdict.verify`."""
        data = read_labelled(X, y)
        if data.rows.shape != self.shape or not np.array_equal(data.classes, self.classes):
            return False
        if self.proof is None or self.proof.kind != self.kind or not self.proof.may_be_of(data):
            return False
        cone = JointRows.of(data.rows, data.label, len(data.classes), self.fit_intercept)
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite proves nothing
                return self._proves(cone, data, exact)
        except (ValueError, IndexError):  # a proof of other rows
            return False

    def _proves(self, cone: JointRows, data: LabelledRows, exact: bool) -> bool:
        proof = self.proof
        if isinstance(proof, JointSeparation):
            u = cone.packed(proof.weights, proof.intercept)
            return separates(cone, u) and _proves_margin(cone, data, proof, self.fit_intercept)
        if isinstance(proof, JointQuasiSeparation):
            boundary, rows = cone.places(proof.boundary), cone.places(proof.rows)
            return (
                bool(np.isin(rows, boundary).all())
                and separates_weakly(cone, cone.packed(proof.weights, proof.intercept), boundary)
                and cancels(cone, rows, proof.multipliers, exact=exact)
            )
        if isinstance(proof, JointOverlap):
            rows = cone.places(proof.rows)
            return overlaps(cone, rows, proof.multipliers, proof.rank, exact=exact)
        return False


def joint_verdict(data: LabelledRows, fit_intercept: bool, precision: float) -> JointVerdict:
    """Return the verdict on all classes together."""
    rows, label, K = data.rows, data.label, len(data.classes)
    cone = JointRows.of(rows, label, K, fit_intercept)
    decide = _wide if cone.dimension > NEWTON else _decide
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite proves nothing
        decision = decide(cone, data, fit_intercept, precision)
    return JointVerdict(*decision, data.classes, fit_intercept, rows.shape)


def _decide(cone: JointRows, data: LabelledRows, fit_intercept: bool, precision: float) -> Decision:
    decision: Decision = "undecided", NOT_ENDED, None
    for settled in _searches(cone):
        if not settled.ended:
            continue
        if settled.u is None:
            decision = _overlap(cone, settled)
        elif settled.a.any():
            decision = _quasi(cone, settled.u, settled, data)
        else:
            decision = _separated(cone, settled.u, data, fit_intercept, precision)
        if decision[2] is not None:
            break
    return decision


def _searches(cone: JointRows) -> Iterator[Settled]:
    """Search in floats, again where that leads to no proof, and at last in whole numbers."""
    seen = cone.seen()
    for none in NONE:
        found = settle_many(seen, none)
        yield found if found.u is None else replace(found, u=seen.raw(found.u))
        if cone.size * cone.dimension > AGAIN:
            break
    if cone.size * cone.dimension > CLOSELY:
        return
    yield from settle_closely(cone)


def _wide(cone: JointRows, data: LabelledRows, fit_intercept: bool, precision: float) -> Decision:
    """Decide on many weights: separable if each class is from the rest."""
    parts = []
    for k in range(cone.n_classes):
        sign = np.where(data.label == k, 1.0, -1.0)
        found = search(SignedRows(data.rows, sign, fit_intercept))
        if found.bracket is not None and found.bracket.margin > 0:
            parts.append(found.bracket.u)
        elif (
            found.settled is not None and found.settled.u is not None and not found.settled.a.any()
        ):
            parts.append(found.settled.u)
        else:
            reason = (
                f"{cone.dimension} weights of all classes are more than the {NEWTON} that are "
                f"looked at together, and class {data.classes.tolist()[k]!r} is not separable from "
                "the rest. Ask multi_class='pairs' or 'ovr', or give fewer columns."
            )
            return "undecided", reason, None
    u = np.concatenate([part - parts[0] for part in parts[1:]])
    return _separated(cone, u, data, fit_intercept, precision)


def _overlap(cone: JointRows, settled: Settled) -> Decision:
    chosen, a = few_multipliers(cone, settled.a)
    rank = full_rank(cone, chosen, a, exact=False)
    if rank is None:
        return "undecided", NOT_CANCELLING, None
    proof = JointOverlap(cone.pairs(chosen), a, rank)
    return "overlap", "rows of the classes mix in every direction.", proof


def _quasi(cone: JointRows, u: Floats, settled: Settled, data: LabelledRows) -> Decision:
    boundary = np.flatnonzero(settled.boundary)
    tidy = tidy_few(cone, u, boundary, cone.column)
    if tidy is None:
        return "undecided", not_exact(len(boundary), PAIRS), None
    for chosen, a in cancelling(cone, settled.a, settled.first):
        if cancels(cone, chosen, a, exact=False):
            break
    else:
        return "undecided", NOT_CANCELLING, None
    weights, b = cone.unpacked(tidy[0])
    columns = np.flatnonzero(weights.any(axis=0)).tolist()
    names = tuple(j if data.names is None else data.names[j] for j in columns)
    proof = JointQuasiSeparation(weights, b, cone.pairs(tidy[1]), names, cone.pairs(chosen), a)
    reason = "weights have no row on a wrong side, but all such have rows on a boundary."
    return "quasi-separable", reason, proof


def _separated(
    cone: JointRows, u: Floats, data: LabelledRows, fit_intercept: bool, precision: float
) -> Decision:
    if not separates(cone, u):
        return "undecided", TOO_CLOSE, None
    weights, b = cone.unpacked(u)
    margins = _margins(cone, u, weights)
    if not margins.min() > 0:  # signs are proved, but no number of floats says by how much
        return "undecided", TOO_CLOSE, None
    bound, pair, support, a = _closest_pair(data, weights, b, fit_intercept, precision)
    margin = float(margins.min())
    proof = JointSeparation(weights, b, margins, margin, bound, support, a, pair)
    return "separable", "every row is on its side of the boundaries to all other classes.", proof


def _margins(cone: JointRows, u: Floats, weights: Floats) -> Floats:
    """Return how far each row is from the nearest boundary."""
    pairs = cone.pairs(np.arange(cone.size))
    apart = weights[:, None] - weights[None]
    _, power = np.frexp(np.abs(apart).max())  # squares of these overflow, or vanish
    norms = np.ldexp(np.linalg.norm(np.ldexp(apart, -power), axis=2), power)
    length = norms[cone.label[pairs[:, 0]], pairs[:, 1]]
    with np.errstate(divide="ignore"):
        distances: Floats = (cone.scores(u) / length).reshape(len(cone.label), -1)
    nearest: Floats = distances.min(axis=1)
    return nearest


def _closest_pair(
    data: LabelledRows, weights: Floats, b: Floats, fit_intercept: bool, precision: float
) -> tuple[float, tuple[int, int], Places, Floats]:
    """Return the smallest bound on the margin of two classes, which, and what proves it."""
    best = np.inf, (0, 1), np.zeros(0, np.intp), np.zeros(0)
    for pair in combinations(range(len(data.classes)), 2):
        rows, cone = _pair(data, pair, fit_intercept)
        u = weights[pair[1]] - weights[pair[0]]
        u = np.append(u, b[pair[1]] - b[pair[0]]) if fit_intercept else u
        found = widest_margin(cone, start_of(cone, u), precision, None)
        if found.bound < best[0]:
            chosen = np.flatnonzero(found.a)
            best = found.bound, pair, rows[chosen], found.a[chosen]
    return best


def _pair(
    data: LabelledRows, pair: tuple[int, int], fit_intercept: bool
) -> tuple[Places, SignedRows]:
    """Return the rows of two classes, and their vectors."""
    rows = np.flatnonzero(np.isin(data.label, pair))
    sign = np.where(data.label[rows] == pair[1], 1.0, -1.0)
    return rows, SignedRows(data.rows.take(rows), sign, fit_intercept)


def _proves_margin(
    cone: JointRows, data: LabelledRows, proof: JointSeparation, fit_intercept: bool
) -> bool:
    """Return whether margins and bound are those of the weights and of the rows named."""
    margins = _margins(cone, cone.packed(proof.weights, proof.intercept), proof.weights)
    near = np.allclose(margins, proof.margins, rtol=SLACK, atol=SLACK * margins.max())
    if not near or not abs(proof.margin - margins.min()) <= SLACK * margins.min():
        return False
    if len(proof.support) == 0:
        return proof.margin_bound == np.inf
    rows, vectors = _pair(data, proof.pair, fit_intercept)
    a = np.zeros(len(data.label))
    a[proof.support] = proof.multipliers
    if not (np.isfinite(a) & (a >= 0)).all() or np.setdiff1d(proof.support, rows).size:
        return False
    return bracket_of(vectors, a[rows]).bound <= proof.margin_bound * (1.0 + 1e-12)
