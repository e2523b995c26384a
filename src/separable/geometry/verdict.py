"""Verdict on linear separability, with its proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.geometry.labelled_rows import read_labelled
from separable.geometry.proofs.checks import cancels, overlaps, separates, separates_weakly
from separable.geometry.proofs.exact_proofs import (
    cancels_exactly,
    exact_rank,
    has_signs,
    whole_margins,
)
from separable.geometry.proofs.proof import Overlap, QuasiSeparation, Separation
from separable.geometry.search.max_margin import proves_margin, proves_margin_bound
from separable.linalg.exact import rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.geometry.cone.signed_rows import SignedRows
    from separable.geometry.proofs.exact_proofs import ExactNumbers
    from separable.geometry.proofs.proof import Proof
    from separable.typing import Floats

__all__ = ["Verdict"]

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
