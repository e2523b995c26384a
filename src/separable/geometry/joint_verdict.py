"""Three classes and more together: the verdict, and its proof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.geometry.cone.cone_rows import JointRows
from separable.geometry.cone.signed_rows import SignedRows, read_labelled
from separable.geometry.proofs.checks import (
    ExactNumbers,
    cancels,
    cancels_exactly,
    exact_distances,
    exact_rank,
    full_rank,
    has_signs,
    overlaps,
    separates,
    separates_weakly,
)
from separable.geometry.proofs.proof import (
    JointOverlap,
    JointQuasiSeparation,
    JointSeparation,
)
from separable.geometry.proofs.signs import sure_scores
from separable.geometry.proofs.sparse_proofs import (
    cancelling,
    sparse_multipliers,
    tidy_sparse_direction,
)
from separable.geometry.search.exact_search import always_decided, reduce_exactly
from separable.geometry.search.facial_reduction import ZERO_TOLERANCES, FacialReduction, reduce_many
from separable.geometry.search.max_margin import bracket_of, start_of, widest_margin
from separable.geometry.search.verdict_search import MAX_SECOND_SEARCH, reduce_untangled, search
from separable.geometry.verdict import (
    NOT_CANCELLING,
    NOT_ENDED,
    NOT_HELD,
    NOT_STRICT,
    Verdict,
    not_decided,
    not_exact,
)
from separable.linalg.exact import rounded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.geometry.cone.signed_rows import LabelledRows
    from separable.geometry.proofs.proof import Proof
    from separable.geometry.search.exact_search import ExactReduction
    from separable.typing import Floats, Indices

    Decision = tuple[str, str, Proof | None]

__all__ = ["JointVerdict", "joint_verdict"]

#: Relative tolerance for a recomputed margin.
MARGIN_ROUNDING = 1e-9
#: Reasons of the verdicts.
SEPARABLE = "linear scores strictly separate the classes."
QUASI = "all linear scores that separate the classes have ties: none are strict."
OVERLAP = "no linear scores separate the classes, not even weakly."
#: The vectors of a proof, in words.
PAIRS = "pairs of a row and another class"
#: Maximum number of weights, over all classes, for Newton's method.
MAX_NEWTON_WEIGHTS = 3000


@dataclass(frozen=True, eq=False, repr=False)
class JointVerdict(Verdict):
    """Verdict on the joint linear separability of three or more classes; see `Verdict`.

    Separable means (w_y - w_k).x + b_y - b_k > 0 for every row, y its class, and every other class
    k. It decides whether multinomial logistic regression without a penalty has a finite solution.
    """

    _counted: ClassVar[str] = PAIRS

    def verify(self, X: Any, y: Any, *, exact: bool = False) -> bool:
        """Return whether the proof proves ``kind`` for the data; see `Verdict.verify`."""
        data = read_labelled(X, y)
        if data.rows.shape != self.shape or not np.array_equal(data.classes, self.classes):
            return False
        if self.proof is None or self.proof.kind != self.kind or not self.proof.may_be_of(data):
            return False
        cone = JointRows.of(data.rows, data.label, len(data.classes), self.fit_intercept)
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # non-finite numbers prove nothing
                return self._proves(cone, data, exact)
        except (ValueError, IndexError):  # a proof of other rows
            return False

    def _proves(self, cone: JointRows, data: LabelledRows, exact: bool) -> bool:
        proof = self.proof
        if proof is not None and proof.exact is not None:
            return self._proves_exactly(cone, data, proof, proof.exact)
        if isinstance(proof, JointSeparation):
            u = cone.packed(proof.weights, proof.intercept)
            return separates(cone, u) and _proves_margin(cone, data, proof, self.fit_intercept)
        if isinstance(proof, JointQuasiSeparation):
            boundary, rows = cone.row_class_pairs(proof.boundary), cone.row_class_pairs(proof.rows)
            return (
                bool(np.isin(rows, boundary).all())
                and separates_weakly(cone, cone.packed(proof.weights, proof.intercept), boundary)
                and cancels(cone, rows, proof.multipliers, exact=exact)
            )
        if isinstance(proof, JointOverlap):
            rows = cone.row_class_pairs(proof.rows)
            return overlaps(cone, rows, proof.multipliers, proof.rank, exact=exact)
        return False

    def _proves_exactly(
        self, cone: JointRows, data: LabelledRows, proof: Proof, exact: ExactNumbers
    ) -> bool:
        """Check the exact integers of a proof, and that its floats are their rounded values."""
        if isinstance(proof, JointOverlap):
            rows = cone.row_class_pairs(proof.rows)
            return (
                np.array_equal(proof.multipliers, rounded(exact.multipliers))
                and cancels_exactly(cone, rows, exact.multipliers)
                and exact_rank(cone, rows) == proof.rank
            )
        if not isinstance(proof, JointSeparation | JointQuasiSeparation):
            return False
        if not _are_rounded(cone, proof, exact):
            return False
        if isinstance(proof, JointSeparation):
            margins = _whole_margins(cone, exact.direction)
            return (
                has_signs(cone, exact.direction, np.zeros(0, np.intp))
                and np.array_equal(margins, proof.margins)
                and float(margins.min()) * (1.0 - 1e-14) == proof.margin
                and _proves_bound(data, proof, self.fit_intercept)
            )
        boundary, rows = cone.row_class_pairs(proof.boundary), cone.row_class_pairs(proof.rows)
        return (
            len(proof.columns) == len(_used(cone, exact.direction))
            and bool(np.isin(rows, boundary).all())
            and np.array_equal(proof.multipliers, rounded(exact.multipliers))
            and has_signs(cone, exact.direction, boundary)
            and cancels_exactly(cone, rows, exact.multipliers)
        )


def _are_rounded(
    cone: JointRows, proof: JointSeparation | JointQuasiSeparation, exact: ExactNumbers
) -> bool:
    if len(exact.direction) != cone.dimension:
        return False
    weights, b = cone.unpacked(rounded(exact.direction))
    return np.array_equal(weights, proof.weights) and np.array_equal(b, proof.intercept)


def joint_verdict(data: LabelledRows, fit_intercept: bool, precision: float) -> JointVerdict:
    """Return the verdict on all classes jointly."""
    rows, label, K = data.rows, data.label, len(data.classes)
    cone = JointRows.of(rows, label, K, fit_intercept)
    arguments = data, fit_intercept, precision
    with np.errstate(over="ignore", invalid="ignore"):  # non-finite numbers prove nothing
        decision = (
            _wide(cone, *arguments)
            if cone.dimension > MAX_NEWTON_WEIGHTS
            else _decision(cone, *arguments)
        )
    return JointVerdict(*decision, data.classes, fit_intercept, rows.shape)


def _decision(
    cone: JointRows, data: LabelledRows, fit_intercept: bool, precision: float
) -> Decision:
    """Decide in floating point; if that gives no proof, in rational arithmetic."""
    for reduction in _searches(cone):
        decision = _decide(cone, reduction, data, fit_intercept, precision)
        if decision[2] is not None:
            return decision
    exact = reduce_exactly(cone, reduction)
    if exact is None:
        return "undecided", not_decided(cone, decision[1]), None
    a = rounded(exact.a.tolist())
    u = None if exact.u is None else rounded(exact.u)
    reduction = FacialReduction(u, a, exact.boundary, a)
    decision = _decide(cone, reduction, data, fit_intercept, precision)
    if decision[2] is not None:
        return decision
    return _exactly(cone, exact, data, fit_intercept, precision)


def _searches(cone: JointRows) -> Iterator[FacialReduction]:
    """Search in floating point, and again with other tolerances if there is no proof."""
    seen = cone.seen()
    for none in ZERO_TOLERANCES:
        result = reduce_many(seen, none)
        yield result if result.u is None else replace(result, u=seen.raw(result.u))
        if always_decided(cone):
            return
        if cone.size * cone.dimension > MAX_SECOND_SEARCH:
            break
    untangled = reduce_untangled(cone)
    if untangled is not None:
        yield untangled


def _decide(
    cone: JointRows,
    reduction: FacialReduction,
    data: LabelledRows,
    fit_intercept: bool,
    precision: float,
) -> Decision:
    if not reduction.ended:
        return "undecided", NOT_ENDED, None
    if reduction.u is None:
        return _overlap(cone, reduction)
    if reduction.a.any():
        return _quasi(cone, reduction.u, reduction, data)
    return _separated(cone, reduction.u, data, fit_intercept, precision)


def _wide(cone: JointRows, data: LabelledRows, fit_intercept: bool, precision: float) -> Decision:
    """Decide for many weights: separable if each class is separable from the rest."""
    parts = []
    for k in range(cone.n_classes):
        sign = np.where(data.label == k, 1.0, -1.0)
        result = search(SignedRows(data.rows, sign, fit_intercept))
        if result.bracket is not None and result.bracket.margin > 0:
            parts.append(result.bracket.u)
        elif (
            result.reduction is not None
            and result.reduction.u is not None
            and not result.reduction.a.any()
        ):
            parts.append(result.reduction.u)
        else:
            reason = (
                f"{cone.dimension} weights of all classes are more than the limit of "
                f"{MAX_NEWTON_WEIGHTS}, and no hyperplane was found that separates class "
                f"{data.classes.tolist()[k]!r} from the rest. Use multi_class='pairs' or 'ovr', or "
                "fewer columns."
            )
            return "undecided", reason, None
    u = np.concatenate([part - parts[0] for part in parts[1:]])
    kind, reason, proof = _separated(cone, u, data, fit_intercept, precision)
    return kind, reason if proof is not None else not_decided(cone, reason), proof


def _overlap(cone: JointRows, reduction: FacialReduction) -> Decision:
    chosen, a = sparse_multipliers(cone, reduction.a)
    rank = full_rank(cone, chosen, a, exact=False)
    if rank is None:
        return "undecided", NOT_CANCELLING, None
    return "overlap", OVERLAP, JointOverlap(cone.pairs(chosen), a, rank)


def _quasi(cone: JointRows, u: Floats, reduction: FacialReduction, data: LabelledRows) -> Decision:
    boundary = np.flatnonzero(reduction.boundary)
    tidy = tidy_sparse_direction(cone, u, boundary, cone.column)
    if tidy is None:
        return "undecided", not_exact(len(boundary), PAIRS), None
    for chosen, a in cancelling(cone, reduction.a, reduction.first):
        if cancels(cone, chosen, a, exact=False):
            break
    else:
        return "undecided", NOT_CANCELLING, None
    weights, b = cone.unpacked(tidy[0])
    names = _names(data, np.flatnonzero(weights.any(axis=0)))
    proof = JointQuasiSeparation(weights, b, cone.pairs(tidy[1]), names, cone.pairs(chosen), a)
    return "quasi-separable", QUASI, proof


def _names(data: LabelledRows, columns: Indices) -> tuple[str | int, ...]:
    return tuple(j if data.names is None else data.names[j] for j in columns.tolist())


def _separated(
    cone: JointRows, u: Floats, data: LabelledRows, fit_intercept: bool, precision: float
) -> Decision:
    if not separates(cone, u):
        return "undecided", NOT_STRICT, None
    weights, b = cone.unpacked(u)
    margins = _margins(cone, u, weights)
    bound, pair, support, a = _closest_pair(data, weights, b, fit_intercept, precision)
    margin = float(margins.min())
    proof = JointSeparation(weights, b, margins, margin, bound, support, a, pair)
    if not np.isfinite(margins).all() or not _proves_margin(cone, data, proof, fit_intercept):
        return "undecided", NOT_HELD, None
    return "separable", SEPARABLE, proof


def _exactly(
    cone: JointRows,
    reduction: ExactReduction,
    data: LabelledRows,
    fit_intercept: bool,
    precision: float,
) -> Decision:
    """Return the verdict with a proof in exact integers, which float64 cannot represent."""
    chosen = np.flatnonzero(reduction.a)
    exact = ExactNumbers(reduction.u or (), tuple(reduction.a[chosen].tolist()))
    pairs, a = cone.pairs(chosen), rounded(exact.multipliers)
    if reduction.u is None:
        rank = exact_rank(cone, chosen)
        assert rank is not None
        return "overlap", OVERLAP, JointOverlap(pairs, a, rank, exact=exact)
    weights, b = cone.unpacked(rounded(reduction.u))
    if len(chosen):
        boundary = cone.pairs(np.flatnonzero(reduction.boundary))
        names = _names(data, _used(cone, reduction.u))
        proof = JointQuasiSeparation(weights, b, boundary, names, pairs, a, exact=exact)
        return "quasi-separable", QUASI, proof
    margins = _whole_margins(cone, reduction.u)
    margin = float(margins.min()) * (1.0 - 1e-14)
    bound, pair, support, a = _closest_pair(data, weights, b, fit_intercept, precision)
    result = margins, margin, bound, support, a, pair
    return "separable", SEPARABLE, JointSeparation(weights, b, *result, exact=exact)


def _used(cone: JointRows, direction: Sequence[int]) -> Indices:
    """Return the columns with non-zero weights."""
    columns = cone.column[np.array([number != 0 for number in direction])]
    return np.unique(columns[columns >= 0])


def _whole_margins(cone: JointRows, direction: Sequence[int]) -> Floats:
    """Return the distance of each row to the nearest boundary, rounded once."""
    K, d = cone.n_classes, int(cone.column.max()) + 1
    weights = np.zeros((K, cone.dimension // (K - 1)), object)
    weights[1:] = np.array(direction, dtype=object).reshape(K - 1, -1)
    normals = (weights[:, None, :d] - weights[None, :, :d]).reshape(K * K, d)
    pairs = cone.pairs(np.arange(cone.size))
    which = cone.label[pairs[:, 0]] * K + pairs[:, 1]
    distances = exact_distances(cone, direction, normals, which)
    nearest: Floats = distances.reshape(len(cone.label), -1).min(axis=1)
    return nearest


def _margins(cone: JointRows, u: Floats, weights: Floats) -> Floats:
    """Return the distance of each row to the nearest boundary."""
    pairs = cone.pairs(np.arange(cone.size))
    apart = weights[:, None] - weights[None]
    _, power = np.frexp(np.abs(apart).max())  # squares of these overflow, or vanish
    norms = np.ldexp(np.linalg.norm(np.ldexp(apart, -power), axis=2), power)
    length = norms[cone.label[pairs[:, 0]], pairs[:, 1]]
    with np.errstate(divide="ignore"):
        distances: Floats = (sure_scores(cone, u) / length).reshape(len(cone.label), -1)
    nearest: Floats = distances.min(axis=1)
    return nearest


def _closest_pair(
    data: LabelledRows, weights: Floats, b: Floats, fit_intercept: bool, precision: float
) -> tuple[float, tuple[int, int], Indices, Floats]:
    """Return the smallest margin bound over pairs of classes, the pair, and its proof."""
    best = np.inf, (0, 1), np.zeros(0, np.intp), np.zeros(0)
    for pair in combinations(range(len(data.classes)), 2):
        rows, cone = _pair(data, pair, fit_intercept)
        u = weights[pair[1]] - weights[pair[0]]
        u = np.append(u, b[pair[1]] - b[pair[0]]) if fit_intercept else u
        result = widest_margin(cone, start_of(cone, u), precision, None)
        if result.bound < best[0]:
            chosen = np.flatnonzero(result.a)
            best = result.bound, pair, rows[chosen], result.a[chosen]
    return best


def _pair(
    data: LabelledRows, pair: tuple[int, int], fit_intercept: bool
) -> tuple[Indices, SignedRows]:
    """Return the rows of two classes, and their vectors."""
    rows = np.flatnonzero(np.isin(data.label, pair))
    sign = np.where(data.label[rows] == pair[1], 1.0, -1.0)
    return rows, SignedRows(data.rows.take(rows), sign, fit_intercept)


def _proves_margin(
    cone: JointRows, data: LabelledRows, proof: JointSeparation, fit_intercept: bool
) -> bool:
    """Return whether margins and bound follow from the weights and rows of the proof."""
    margins = _margins(cone, cone.packed(proof.weights, proof.intercept), proof.weights)
    near = np.allclose(
        margins, proof.margins, rtol=MARGIN_ROUNDING, atol=MARGIN_ROUNDING * margins.max()
    )
    if not near or not abs(proof.margin - margins.min()) <= MARGIN_ROUNDING * margins.min():
        return False
    return _proves_bound(data, proof, fit_intercept)


def _proves_bound(data: LabelledRows, proof: JointSeparation, fit_intercept: bool) -> bool:
    """Return whether the rows of the proof prove its margin bound."""
    if len(proof.support) == 0:
        return proof.margin_bound == np.inf
    rows, vectors = _pair(data, proof.pair, fit_intercept)
    a = np.zeros(len(data.label))
    a[proof.support] = proof.multipliers
    if not (np.isfinite(a) & (a >= 0)).all() or np.setdiff1d(proof.support, rows).size:
        return False
    return bracket_of(vectors, a[rows]).bound <= proof.margin_bound * (1.0 + 1e-12)
