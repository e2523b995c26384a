"""Is it separable? A verdict with its proof."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.geometry.facial_reduction import NONE
from separable.geometry.few_multipliers import cancelling, few_multipliers
from separable.geometry.joint_verdict import joint_verdict
from separable.geometry.labelled_rows import read_labelled
from separable.geometry.proof_checks import cancels, full_rank, separates
from separable.geometry.proofs import Overlap, QuasiSeparation, Separation
from separable.geometry.reasons import NOT_CANCELLING, NOT_ENDED, TOO_CLOSE, not_exact
from separable.geometry.search import AGAIN, CLOSELY, Found, search, settle_closely
from separable.geometry.verdict import Verdict
from separable.geometry.verdicts import Verdicts, ask_each, ask_pairs
from separable.geometry.weak_direction import tidy_few
from separable.geometry.widest_margin import exact_margins, start_of, widest_margin
from separable.model.parameters import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.geometry.cone_rows import Floats
    from separable.geometry.dual_passes import DualPasses
    from separable.geometry.facial_reduction import Settled
    from separable.geometry.labelled_rows import LabelledRows
    from separable.geometry.proofs import Proof
    from separable.geometry.signed_rows import SignedRows
    from separable.geometry.widest_margin import Bracket

__all__ = ["separability"]

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
    """Say whether a hyperplane tells the classes apart, and prove it.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame, shape (n, d)
        Dense or sparse numbers.
    y : array-like, shape (n,)
        The class of each row.
    fit_intercept : bool, default True
        Whether the hyperplane may miss the origin.
    multi_class : {"joint", "pairs", "ovr"}, default "joint"
        What is asked of more than two classes: whether weights of each class tell all of them
        apart, as multinomial logistic regression would; whether every pair is separable; whether
        each class is from the rest. "pairs" implies less than "joint", "ovr" more. Two classes are
        one question in any case.
    precision : float, default 1e-3
        How close, relatively, the margin found comes to the largest, where that is cheap. The
        verdict says what was reached.
    feature_names : sequence of str, optional
        Names of columns, by default those of a data frame.

    Returns
    -------
    Verdict
        ``separable``, ``kind``, ``margin``, ``reason`` and a ``proof`` that ``verify`` checks. For
        "pairs" and "ovr" of three classes and more `Verdicts`, one by pair or by class.

    Examples
    --------
    >>> from separable.geometry import separability
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> separability(X, [0, 0, 0, 1])
    separable: every row is on its side of the hyperplane.
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
            "separability asks whether classes can be told apart, but y has only one: "
            f"{data.classes.tolist()[0]!r}. Give rows of two classes or more."
        )
    if len(data.classes) == 2:
        return _two_classes(data, fit_intercept, precision)
    if multi_class == "joint":
        return joint_verdict(data, fit_intercept, precision)
    ask = partial(_two_classes, fit_intercept=fit_intercept, precision=precision)
    return ask_pairs(data, ask) if multi_class == "pairs" else ask_each(data, ask)


def _check(fit_intercept: Any, precision: Any) -> None:
    """Refuse values that mean nothing."""
    if not isinstance(precision, Real) or not 0.0 < float(precision) < 1.0:
        raise ParameterError(
            f"The 'precision' parameter of separability must be above 0 and below 1. Got "
            f"{precision!r} instead: 1e-3 asks for a margin within a thousandth of the largest."
        )
    if not isinstance(fit_intercept, bool | np.bool_):
        raise ParameterError(
            "The 'fit_intercept' parameter of separability must be True or False. Got "
            f"{fit_intercept!r} instead."
        )


def _two_classes(data: LabelledRows, fit_intercept: bool, precision: float) -> Verdict:
    cone = data.signed(fit_intercept)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite proves nothing
        for found in _searches(cone):
            kind, reason, proof = _decide(cone, found, precision, data)
            if proof is not None:
                break
    return Verdict(kind, reason, proof, data.classes, fit_intercept, data.rows.shape)


def _searches(cone: SignedRows) -> Iterator[Found]:
    """Search in floats, again where that leads to no proof, and at last in whole numbers."""
    for none in NONE:
        found = search(cone, none)
        yield found
        if found.settled is None or cone.size * cone.dimension > AGAIN:
            break
    if found.settled is None or cone.size * cone.dimension > CLOSELY:
        return
    for settled in settle_closely(cone):
        yield Found(settled)


def _decide(
    cone: SignedRows, found: Found, precision: float, data: LabelledRows
) -> tuple[str, str, Proof | None]:
    settled, bracket = found.settled, found.bracket
    if settled is None:
        assert bracket is not None
        if bracket.margin <= 0:
            return _not_found(bracket, found.passes)
        return _separated(cone, bracket, precision, found.passes)
    if not settled.ended:
        return "undecided", NOT_ENDED, None
    if settled.u is None:
        return _overlap(cone, settled)
    if settled.a.any():
        return _quasi(cone, settled.u, settled, data)
    return _separated(cone, start_of(cone, settled.u), precision, found.passes)


def _not_found(bracket: Bracket, passes: DualPasses | None) -> tuple[str, str, Proof | None]:
    count = 0 if passes is None else passes.count
    return (
        "undecided",
        f"{count} passes found no hyperplane that separates; none has a margin above "
        f"{bracket.bound:.3g}. Rows and columns are too many for another proof.",
        None,
    )


def _separated(
    cone: SignedRows, start: Bracket, precision: float, passes: DualPasses | None
) -> tuple[str, str, Proof | None]:
    best = widest_margin(cone, start, precision, passes)
    found = next((each for each in (best, start) if separates(cone, each.u)), None)
    if found is None:
        return "undecided", TOO_CLOSE, None
    if found.margin <= 0:  # by less than rounding
        found = exact_margins(cone, found)
    support = np.flatnonzero(best.a)
    w, b = _split(cone, found.u)
    proof = Separation(w, b, found.margins, found.margin, best.bound, support, best.a[support])
    return "separable", "every row is on its side of the hyperplane.", proof


def _quasi(
    cone: SignedRows, u: Floats, settled: Settled, data: LabelledRows
) -> tuple[str, str, Proof | None]:
    boundary = np.flatnonzero(settled.boundary)
    tidy = tidy_few(cone, u, boundary, cone.column)
    if tidy is None:
        return "undecided", not_exact(len(boundary), "rows"), None
    for rows, a in cancelling(cone, settled.a, settled.first):
        if cancels(cone, rows, a, exact=False):
            break
    else:
        return "undecided", NOT_CANCELLING, None
    w, b = _split(cone, tidy[0])
    columns = tuple(j if data.names is None else data.names[j] for j in np.flatnonzero(w).tolist())
    proof = QuasiSeparation(w, b, tidy[1], columns, rows, a)
    reason = "a hyperplane has no row on its wrong side, but each such has rows on it."
    return "quasi-separable", reason, proof


def _overlap(cone: SignedRows, settled: Settled) -> tuple[str, str, Proof | None]:
    rows, a = few_multipliers(cone, settled.a)
    rank = full_rank(cone, rows, a, exact=False)
    if rank is None:
        return "undecided", NOT_CANCELLING, None
    return "overlap", "rows of both classes mix in every direction.", Overlap(rows, a, rank)


def _split(cone: SignedRows, u: Floats) -> tuple[Floats, float]:
    return (u[:-1], float(u[-1])) if cone.fit_intercept else (u, 0.0)
