"""Linear separability: a verdict with a proof."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.geometry.cone.signed_rows import read_labelled
from separable.geometry.joint_verdict import joint_verdict
from separable.geometry.proofs.checks import (
    ExactNumbers,
    cancels,
    exact_rank,
    full_rank,
    separates,
    whole_margins,
)
from separable.geometry.proofs.proof import Overlap, QuasiSeparation, Separation
from separable.geometry.proofs.sparse_proofs import (
    cancelling,
    sparse_multipliers,
    tidy_sparse_direction,
)
from separable.geometry.search.exact_search import always_decided, reduce_exactly
from separable.geometry.search.facial_reduction import ZERO_TOLERANCES, FacialReduction
from separable.geometry.search.max_margin import (
    exact_margins,
    proves_margin,
    start_of,
    widest_margin,
)
from separable.geometry.search.verdict_search import (
    MAX_SECOND_SEARCH,
    SearchResult,
    reduce_untangled,
    search,
)
from separable.geometry.verdict import (
    NOT_CANCELLING,
    NOT_ENDED,
    NOT_HELD,
    NOT_STRICT,
    Verdict,
    Verdicts,
    not_decided,
    not_exact,
    verdicts_of_classes,
    verdicts_of_pairs,
)
from separable.linalg.blas import one_blas_thread
from separable.linalg.exact import rounded
from separable.model.parameters import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.geometry.cone.signed_rows import LabelledRows, SignedRows
    from separable.geometry.proofs.proof import Proof
    from separable.geometry.search.exact_search import ExactReduction
    from separable.geometry.search.max_margin import Bracket, DualPasses
    from separable.typing import Floats, Indices

    Decision = tuple[str, str, Proof | None]

__all__ = ["overlap", "separability"]

#: Reasons of the verdicts.
SEPARABLE = "a hyperplane strictly separates the classes."
QUASI = "every separating hyperplane passes through some rows: none is strict."
OVERLAP = "no hyperplane separates the classes, not even weakly."

MULTI_CLASS = ("joint", "pairs", "ovr")


def separability(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    multi_class: str = "joint",
    precision: float = 1e-3,
    feature_names: Sequence[str] | None = None,
) -> Verdict | Verdicts:
    """Decide whether a hyperplane separates the classes, and prove it.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame, shape (n, d)
        Dense or sparse values.
    y : array-like, shape (n,)
        The class of each row.
    fit_intercept : bool, default True
        Whether the hyperplane has an intercept; otherwise it passes through the origin.
    multi_class : {"joint", "pairs", "ovr"}, default "joint"
        The question for three or more classes. "joint": whether one weight vector per class
        separates all classes, as in multinomial logistic regression; "pairs": whether every pair
        is separable; "ovr": whether each class is separable from the rest. "ovr" implies "joint",
        which implies "pairs". For two classes all are the same.
    precision : float, default 1e-3
        Target for the relative gap between the margin and the maximum margin, where that is cheap.
        The verdict reports the margin and its bound.
    feature_names : sequence of str, optional
        Names of columns; default: those of a data frame.

    Returns
    -------
    Verdict
        With ``separable``, ``kind``, ``margin``, ``reason`` and a ``proof`` that ``verify`` checks.
        For "pairs" and "ovr" with three or more classes, `Verdicts`: one per pair or class.

    Examples
    --------
    >>> from separable.geometry import separability
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> separability(X, [0, 0, 0, 1])
    separable: a hyperplane strictly separates the classes.
      4 rows, 2 columns, classes [0, 1]
      margin 0.353553, at most 0.353553 is possible
      logistic regression without a penalty has no finite solution
    >>> separability(X, [0, 1, 1, 0]).kind
    'overlap'
    """
    if multi_class not in MULTI_CLASS:
        raise ParameterError(
            "The 'multi_class' parameter of separability must be one of 'joint', 'pairs' and "
            f"'ovr'. Got {multi_class!r} instead."
        )
    _check(fit_intercept, precision)
    data = read_labelled(X, y, feature_names)
    if len(data.classes) < 2:
        raise ValueError(
            "separability needs two or more classes, but y has only one: "
            f"{data.classes.tolist()[0]!r}. Give rows of two or more classes."
        )
    with one_blas_thread():  # small systems, between which idle threads would spin
        if len(data.classes) == 2:
            return _two_classes(data, fit_intercept, precision)
        if multi_class == "joint":
            return joint_verdict(data, fit_intercept, precision)
        decide = partial(_two_classes, fit_intercept=fit_intercept, precision=precision)
        return (verdicts_of_pairs if multi_class == "pairs" else verdicts_of_classes)(data, decide)


def _check(fit_intercept: Any, precision: Any) -> None:
    """Check the parameters."""
    if not isinstance(precision, Real) or not 0.0 < float(precision) < 1.0:
        raise ParameterError(
            f"The 'precision' parameter of separability must be above 0 and below 1. Got "
            f"{precision!r} instead: 1e-3 requests a margin within a thousandth of the largest."
        )
    if not isinstance(fit_intercept, bool | np.bool_):
        raise ParameterError(
            "The 'fit_intercept' parameter of separability must be True or False. Got "
            f"{fit_intercept!r} instead."
        )


def _two_classes(data: LabelledRows, fit_intercept: bool, precision: float) -> Verdict:
    cone = data.signed(fit_intercept)
    with np.errstate(over="ignore", invalid="ignore"):  # non-finite numbers prove nothing
        kind, reason, proof = _decision(cone, precision, data)
    return Verdict(kind, reason, proof, data.classes, fit_intercept, data.rows.shape)


def overlap(X: Any, y: Any) -> bool:
    """Return whether two classes overlap, if that is proved without exact arithmetic.

    False also if they may overlap: `separability` decides every table that is not too large.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame, shape (n, d)
    y : array-like, shape (n,)
        Two classes.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> overlap(X, [0, 1, 1, 0]), overlap(X, [0, 0, 0, 1])
    (True, False)
    """
    cone = read_labelled(X, y, None).signed(True)
    with np.errstate(over="ignore", invalid="ignore"):  # non-finite numbers prove nothing
        reduction = search(cone, ZERO_TOLERANCES[0]).reduction
        if reduction is None or not reduction.ended or reduction.u is not None:
            return False
        return _overlap(cone, reduction)[2] is not None


def _decision(cone: SignedRows, precision: float, data: LabelledRows) -> Decision:
    """Decide in floating point; if that gives no proof, in rational arithmetic."""
    for result in _searches(cone):
        kind, reason, proof = _decide(cone, result, precision, data)
        if proof is not None or result.reduction is None:
            return kind, reason, proof
    exact = reduce_exactly(cone, result.reduction)
    if exact is None:
        bound = widest_margin(cone, start_of(cone, np.zeros(cone.dimension)), precision, None).bound
        return "undecided", not_decided(cone, reason, bound), None
    a = rounded(exact.a.tolist())
    u = None if exact.u is None else rounded(exact.u)
    decision = _decide(
        cone, SearchResult(FacialReduction(u, a, exact.boundary, a)), precision, data
    )
    return decision if decision[2] is not None else _exactly(cone, exact, precision, data)


def _searches(cone: SignedRows) -> Iterator[SearchResult]:
    """Search in floating point, and again with other tolerances if there is no proof."""
    result = search(cone, ZERO_TOLERANCES[0])
    yield result
    if result.reduction is None or always_decided(cone):
        return
    if cone.size * cone.dimension <= MAX_SECOND_SEARCH:
        yield search(cone, ZERO_TOLERANCES[1])
    untangled = reduce_untangled(cone)
    if untangled is not None:
        yield SearchResult(untangled)


def _decide(
    cone: SignedRows, result: SearchResult, precision: float, data: LabelledRows
) -> Decision:
    reduction, bracket = result.reduction, result.bracket
    if reduction is None:
        assert bracket is not None
        if bracket.margin <= 0:
            return _undecided(bracket, result.passes)
        return _separated(cone, bracket, precision, result.passes)
    if not reduction.ended:
        return "undecided", NOT_ENDED, None
    if reduction.u is None:
        return _overlap(cone, reduction)
    if reduction.a.any():
        return _quasi(cone, reduction.u, reduction, data)
    return _separated(cone, start_of(cone, reduction.u), precision, result.passes)


def _undecided(bracket: Bracket, passes: DualPasses | None) -> Decision:
    count = 0 if passes is None else passes.count
    return (
        "undecided",
        f"{count} passes found no separating hyperplane; none has a margin above "
        f"{bracket.bound:.3g}. The data are too large for another proof.",
        None,
    )


def _separated(
    cone: SignedRows, start: Bracket, precision: float, passes: DualPasses | None
) -> Decision:
    best = widest_margin(cone, start, precision, passes)
    result = next((each for each in (best, start) if separates(cone, each.u)), None)
    if result is None:
        return "undecided", NOT_STRICT, None
    if result.margin <= 0:  # by less than rounding
        result = exact_margins(cone, result)
    support = np.flatnonzero(best.a)
    w, b = _split(cone, result.u)
    proof = Separation(w, b, result.margins, result.margin, best.bound, support, best.a[support])
    if not np.isfinite(result.margins).all() or not proves_margin(cone, proof):
        return "undecided", NOT_HELD, None
    return "separable", SEPARABLE, proof


def _quasi(cone: SignedRows, u: Floats, reduction: FacialReduction, data: LabelledRows) -> Decision:
    boundary = np.flatnonzero(reduction.boundary)
    tidy = tidy_sparse_direction(cone, u, boundary, cone.column)
    if tidy is None:
        return "undecided", not_exact(len(boundary), "rows"), None
    for rows, a in cancelling(cone, reduction.a, reduction.first):
        if cancels(cone, rows, a, exact=False):
            break
    else:
        return "undecided", NOT_CANCELLING, None
    w, b = _split(cone, tidy[0])
    proof = QuasiSeparation(w, b, tidy[1], _names(data, np.flatnonzero(w)), rows, a)
    return "quasi-separable", QUASI, proof


def _overlap(cone: SignedRows, reduction: FacialReduction) -> Decision:
    rows, a = sparse_multipliers(cone, reduction.a)
    rank = full_rank(cone, rows, a, exact=False)
    if rank is None:
        return "undecided", NOT_CANCELLING, None
    return "overlap", OVERLAP, Overlap(rows, a, rank)


def _exactly(
    cone: SignedRows, reduction: ExactReduction, precision: float, data: LabelledRows
) -> Decision:
    """Return the verdict with a proof in exact integers, which float64 cannot represent."""
    rows = np.flatnonzero(reduction.a)
    exact = ExactNumbers(reduction.u or (), tuple(reduction.a[rows].tolist()))
    a = rounded(exact.multipliers)
    if reduction.u is None:
        rank = exact_rank(cone, rows)
        assert rank is not None
        return "overlap", OVERLAP, Overlap(rows, a, rank, exact=exact)
    w, b = _split(cone, rounded(reduction.u))
    if len(rows):
        boundary = np.flatnonzero(reduction.boundary)
        used = np.flatnonzero(np.array(reduction.u[: len(w)], dtype=object))
        proof = QuasiSeparation(w, b, boundary, _names(data, used), rows, a, exact=exact)
        return "quasi-separable", QUASI, proof
    best = widest_margin(cone, start_of(cone, rounded(reduction.u)), precision, None)
    margins, margin = whole_margins(cone, reduction.u)
    support = np.flatnonzero(best.a)
    result = margins, margin, best.bound, support, best.a[support]
    return "separable", SEPARABLE, Separation(w, b, *result, exact=exact)


def _names(data: LabelledRows, columns: Indices) -> tuple[str | int, ...]:
    return tuple(j if data.names is None else data.names[j] for j in columns.tolist())


def _split(cone: SignedRows, u: Floats) -> tuple[Floats, float]:
    return (u[:-1], float(u[-1])) if cone.fit_intercept else (u, 0.0)
