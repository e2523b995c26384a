"""Verdicts on linear separability, with their proofs, or the reasons why they are undecided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable._notebook import html_table
from separable.data.rows import as_rows
from separable.fitting.targets import check_labels
from separable.geometry.cone.signed_rows import LabelledRows, read_labelled
from separable.geometry.proofs.checks import (
    cancels,
    cancels_exactly,
    exact_rank,
    has_signs,
    overlaps,
    separates,
    separates_weakly,
    whole_margins,
)
from separable.geometry.proofs.proof import Overlap, QuasiSeparation, Separation
from separable.geometry.search.exact_search import (
    GUARANTEED_DIGITS,
    GUARANTEED_NUMBERS,
    GUARANTEED_UNKNOWNS,
)
from separable.geometry.search.max_margin import proves_margin, proves_margin_bound
from separable.linalg.exact import rounded
from separable.model.words import label_value, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from separable.geometry.cone.cone_rows import ConeRows
    from separable.geometry.cone.signed_rows import SignedRows
    from separable.geometry.proofs.checks import ExactNumbers
    from separable.geometry.proofs.proof import Proof
    from separable.typing import Floats

__all__ = [
    "NOT_CANCELLING",
    "NOT_ENDED",
    "NOT_HELD",
    "NOT_STRICT",
    "PairVerdict",
    "RestVerdict",
    "Verdict",
    "Verdicts",
    "not_decided",
    "not_exact",
    "verdicts_of_classes",
    "verdicts_of_pairs",
]

#: Maximum number of column names in a text.
MAX_NAMED = 5
#: Consequence for unpenalized logistic regression.
LOGISTIC = {
    "separable": "logistic regression without a penalty has no finite solution",
    "quasi-separable": "logistic regression without a penalty has no finite solution",
    "overlap": "logistic regression without a penalty has a solution",
}


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """Verdict on the linear separability of two classes, with a proof.

    Parameters
    ----------
    kind : {"separable", "quasi-separable", "overlap", "undecided"}
        Strictly separable, only weakly separable, not separable, or not decided.
    reason : str
        The verdict in words, or why it is undecided.
    proof : Separation, QuasiSeparation, Overlap or None
        None if undecided.
    classes : ndarray, shape (2,)
        The classes on the negative and the positive side.
    fit_intercept : bool
        Whether the hyperplane has an intercept.
    shape : tuple of int
        Rows and columns of the data.
    """

    kind: str
    reason: str
    proof: Proof | None
    classes: NDArray[Any]
    fit_intercept: bool
    shape: tuple[int, int]

    #: The vectors of a proof, in words.
    _counted: ClassVar[str] = "rows"

    @property
    def separable(self) -> bool | None:
        """True, False, or None if undecided."""
        return None if self.kind == "undecided" else self.kind == "separable"

    @property
    def margin(self) -> float:
        """Margin of the hyperplane: the distance to the nearest row; 0.0 if not separable."""
        return self.proof.margin if isinstance(self.proof, Separation) else 0.0

    @property
    def margin_bound(self) -> float:
        """Upper bound on the margin of any hyperplane: 0.0 if not separable, inf if undecided."""
        if isinstance(self.proof, Separation):
            return self.proof.margin_bound
        return 0.0 if self.proof is not None else float("inf")

    def verify(self, X: Any, y: Any, *, exact: bool = False) -> bool:
        """Return whether the proof proves ``kind`` for the data; it trusts nothing else.

        Parameters
        ----------
        X, y : array-like
            The data of the verdict.
        exact : bool, default False
            Whether to solve for the multipliers in rational arithmetic. By default a bound on
            rounding errors shows that exact multipliers exist close to those of the proof. Signs
            are exact in both cases.

        Returns
        -------
        bool
            False for other data, a changed proof, or an undecided verdict.
        """
        data = read_labelled(X, y)
        if data.rows.shape != self.shape or not np.array_equal(data.classes, self.classes):
            return False
        if self.proof is None or self.proof.kind != self.kind or not self.proof.may_be_of(data):
            return False
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # non-finite numbers prove nothing
                return self._holds(data.signed(self.fit_intercept), exact)
        except (ValueError, IndexError):  # arrays of other lengths
            return False

    def _holds(self, cone: SignedRows, exact: bool) -> bool:
        proof = self.proof
        if proof is not None and proof.exact is not None:
            return self._holds_exactly(cone, proof, proof.exact)
        if isinstance(proof, Separation):
            u = self._packed(proof.weights, proof.intercept)
            return separates(cone, u) and proves_margin(cone, proof)
        if isinstance(proof, QuasiSeparation):
            u = self._packed(proof.weights, proof.intercept)
            return (
                len(proof.columns) == np.count_nonzero(proof.weights)
                and bool(np.isin(proof.rows, proof.boundary).all())
                and separates_weakly(cone, u, proof.boundary)
                and cancels(cone, proof.rows, proof.multipliers, exact=exact)
            )
        if isinstance(proof, Overlap):
            return overlaps(cone, proof.rows, proof.multipliers, proof.rank, exact=exact)
        return False

    def _holds_exactly(self, cone: SignedRows, proof: Proof, exact: ExactNumbers) -> bool:
        """Check the exact integers of a proof, and that its floats are their rounded values."""
        if isinstance(proof, Overlap):
            return (
                np.array_equal(proof.multipliers, rounded(exact.multipliers))
                and cancels_exactly(cone, proof.rows, exact.multipliers)
                and exact_rank(cone, proof.rows) == proof.rank
            )
        if not isinstance(proof, Separation | QuasiSeparation):
            return False
        u = self._packed(proof.weights, proof.intercept)
        if not np.array_equal(u, rounded(exact.direction)):
            return False
        if isinstance(proof, Separation):
            margins, margin = whole_margins(cone, exact.direction)
            return (
                has_signs(cone, exact.direction, np.zeros(0, np.intp))
                and np.array_equal(margins, proof.margins)
                and margin == proof.margin
                and proves_margin_bound(cone, proof)
            )
        return (
            len(proof.columns) == np.count_nonzero(exact.direction[: len(proof.weights)])
            and bool(np.isin(proof.rows, proof.boundary).all())
            and np.array_equal(proof.multipliers, rounded(exact.multipliers))
            and has_signs(cone, exact.direction, proof.boundary)
            and cancels_exactly(cone, proof.rows, exact.multipliers)
        )

    def _packed(self, weights: Floats, intercept: float) -> Floats:
        return np.append(weights, intercept) if self.fit_intercept else weights

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain lists, numbers and strings."""
        return {
            "separable": self.separable,
            "kind": self.kind,
            "margin": self.margin,
            "margin_bound": self.margin_bound,
            "reason": self.reason,
            "classes": self.classes.tolist(),
            "fit_intercept": self.fit_intercept,
            "shape": list(self.shape),
            "proof": None if self.proof is None else self.proof.to_dict(),
        }

    def to_text(self) -> str:
        """Return the verdict as text."""
        n, d = self.shape
        lines = [
            f"{self.kind}: {self.reason}",
            f"  {n} rows, {d} columns, classes {self.classes.tolist()}",
        ]
        proof = self.proof
        if isinstance(proof, Separation):
            lines.append(
                f"  margin {proof.margin:.6g}, at most {proof.margin_bound:.6g} is possible"
            )
        elif isinstance(proof, QuasiSeparation):
            names = ", ".join(map(str, proof.columns[:MAX_NAMED]))
            more = len(proof.columns) - MAX_NAMED
            lines.append(
                f"  {len(proof.boundary)} {self._counted} on the boundary; columns {names}"
                + (f" and {more} more" if more > 0 else "")
            )
        elif isinstance(proof, Overlap):
            lines.append(f"  {len(proof.rows)} {self._counted}, of rank {proof.rank}, cancel")
        lines += [f"  {LOGISTIC[self.kind]}"] if self.kind in LOGISTIC else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        head, *lines = (escape(line.strip()) for line in self.to_text().splitlines())
        return f"<p><b>{head}</b></p><ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"


@dataclass(frozen=True, eq=False, repr=False)
class PairVerdict(Verdict):
    """Verdict on two of several classes; row indices in its proof count the rows of the pair."""

    def verify(self, X: Any, y: Any, *, exact: bool = False) -> bool:
        """Check the proof against the rows of the pair in ``X``; see `Verdict.verify`."""
        rows = as_rows(X)
        labels = check_labels(y, rows.n_rows, "verify")
        rows_of_pair = np.flatnonzero(np.isin(labels, self.classes))
        if len(rows_of_pair) == 0:
            return False
        return super().verify(rows.take(rows_of_pair), labels[rows_of_pair], exact=exact)


@dataclass(frozen=True, eq=False, repr=False)
class RestVerdict(Verdict):
    """Verdict on one class against the rest.

    Parameters
    ----------
    label : object
        The class.
    """

    label: Any = None

    def verify(self, X: Any, y: Any, *, exact: bool = False) -> bool:
        """Check the proof against rows of all classes; see `Verdict.verify`."""
        rows = as_rows(X)
        labels = check_labels(y, rows.n_rows, "verify")
        return super().verify(rows, labels == self.label, exact=exact)


@dataclass(frozen=True, eq=False, repr=False)
class Verdicts(Mapping[Any, Any]):
    """Verdicts by pair of classes, (a, b), or by class; an ordered mapping.

    Parameters
    ----------
    verdicts : dict
    multi_class : {"pairs", "ovr"}
    """

    verdicts: dict[Any, Verdict]
    multi_class: str

    def __getitem__(self, key: Any) -> Verdict:
        return self.verdicts[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)

    @property
    def separable(self) -> bool | None:
        """True if all are separable, False if one is not, None otherwise (undecided)."""
        separable = [verdict.separable for verdict in self.verdicts.values()]
        return False if False in separable else None if None in separable else True

    def verify(self, X: Any, y: Any, *, exact: bool = False) -> bool:
        """Check all proofs against data; see `Verdict.verify`."""
        return all(verdict.verify(X, y, exact=exact) for verdict in self.verdicts.values())

    def to_dict(self) -> dict[str, Any]:
        """Return all verdicts as plain lists, numbers and strings."""
        return {
            "separable": self.separable,
            "multi_class": self.multi_class,
            "verdicts": [
                {"classes": list(key) if isinstance(key, tuple) else key, **verdict.to_dict()}
                for key, verdict in self.verdicts.items()
            ],
        }

    def to_text(self) -> str:
        """Return one line per verdict."""
        return table(self._table(), left=2)

    def _table(self) -> list[tuple[str, ...]]:
        between = " and " if self.multi_class == "pairs" else ""
        lines = [
            (
                between.join(map(str, key)) if isinstance(key, tuple) else f"{key} and the rest",
                verdict.kind,
                f"{verdict.margin:.6g}" if verdict.separable else "",
            )
            for key, verdict in self.verdicts.items()
        ]
        return [("classes", "verdict", "margin"), *lines]

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return html_table("Verdicts", self._table())


def verdicts_of_pairs(data: LabelledRows, decide: Callable[[LabelledRows], Verdict]) -> Verdicts:
    """Return the verdict on every pair of classes."""
    by_key: dict[Any, Verdict] = {}
    for a, b in combinations(range(len(data.classes)), 2):
        rows = np.flatnonzero((data.label == a) | (data.label == b))
        label = (data.label[rows] == b).astype(np.intp)
        part = LabelledRows(data.rows.take(rows), label, data.classes[[a, b]], data.names)
        key = label_value(data.classes[a]), label_value(data.classes[b])
        by_key[key] = PairVerdict(**vars(decide(part)))
    return Verdicts(by_key, "pairs")


def verdicts_of_classes(data: LabelledRows, decide: Callable[[LabelledRows], Verdict]) -> Verdicts:
    """Return the verdict on each class against the rest."""
    by_key: dict[Any, Verdict] = {}
    for k, name in enumerate(data.classes):
        label = (data.label == k).astype(np.intp)
        part = LabelledRows(data.rows, label, np.array([False, True]), data.names)
        key = label_value(name)
        by_key[key] = RestVerdict(**vars(decide(part)), label=key)
    return Verdicts(by_key, "ovr")


NOT_ENDED = "the search in float64 ran out of steps"
NOT_CANCELLING = "the multipliers found in float64 do not provably cancel"
NOT_HELD = "float64 does not hold the distances from the direction found"
NOT_STRICT = "the direction found in float64 does not provably separate"


def not_exact(count: int, what: str) -> str:
    """Return the reason that vectors are only numerically on the boundary of a direction."""
    return (
        f"the direction found in float64 has {count} {what} close to its boundary, but not "
        "provably on it"
    )


def not_decided(cone: ConeRows, why: str, bound: float = float("inf")) -> str:
    """Return why floating point gives no proof, and the limits of rational arithmetic.

    Parameters
    ----------
    cone : ConeRows
    why : str
        What float64 did not prove.
    bound : float
        No hyperplane has a larger margin.
    """
    parts = [
        f"{why}, and {cone.size} vectors of {cone.dimension} numbers are more than rational "
        f"arithmetic decides in every case ({GUARANTEED_NUMBERS} numbers, {GUARANTEED_UNKNOWNS} "
        f"of a vector, {GUARANTEED_DIGITS} binary digits of a vector in whole numbers)."
    ]
    if bound < float("inf"):
        parts.append(f"A margin, if there is one, is at most {bound:.3g}.")
    parts.append(
        "Columns that are linearly dependent up to rounding, as after standardization, can cause "
        "this: leave such columns out, or pass them unscaled."
    )
    return " ".join(parts)
