"""Existence of the maximum likelihood estimate (Albert and Anderson, 1984).

The dual point of an unpenalised fit proves that an optimum exists: multipliers of the vectors
y_i (x_i, 1), or (e_y - e_k) (x) (x_i, 1), that cancel. Only multipliers well above rounding count,
so their vectors must span all of them. Otherwise the separability verdict decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from separable.certified.duality.certificate import Certificate, CertifiedSolution
from separable.certified.problem import TOGETHER, Lane, Problem
from separable.data.rows import Rows
from separable.fitting.separation_error import SeparationError
from separable.geometry.cone.cone_rows import ConeRows
from separable.typing import Floats

#: A multiplier below this, of 1 at most, may be nothing but how closely a fit came to its end.
SURE = 1e-6
#: What rows leave of a column of length 1, squared, that depends on others.
DEPENDENT = 1e-9

REMEDY = (
    "A penalty keeps them finite: LogisticRegression(C=1.0), or LogisticRegressionCV() which "
    "chooses C."
)


def check_optimum(
    problem: Problem, lane: Lane, solution: CertifiedSolution, classes: NDArray[Any], what: str
) -> str:
    """Raise `SeparationError` where a lane without penalty has no optimum.

    Parameters
    ----------
    lane : Lane
        With C = inf.
    solution : CertifiedSolution
        Of this lane.
    classes : ndarray
        Those that the problem's target numbers.
    what : str
        What has no finite solution, for the message.

    Returns
    -------
    doubt : str
        Empty where the fit proves that there is one. Otherwise what the verdict says: that there is
        one although the fit did not reach it, or why it cannot be told.
    """
    part = _Part.of(problem, lane, solution, classes)
    if part.is_proven():
        return ""
    verdict = part.ask()
    if verdict.kind == "separable":
        raise SeparationError(verdict, what, REMEDY, part.separating_columns(verdict))
    if verdict.kind == "quasi-separable":
        used = np.atleast_2d(verdict.proof.weights).any(axis=0)
        raise SeparationError(verdict, what, REMEDY, np.flatnonzero(used).tolist())
    if verdict.separable is None:
        return f"Whether there is an optimum is undecided: {verdict.reason}"
    return "There is an optimum, for the classes overlap: more steps (max_iter) come closer to it."


@dataclass(frozen=True)
class _Part:
    """The rows that a lane learns from, and what it found.

    Parameters
    ----------
    label : ndarray of int, shape (n,)
        0 and 1, or the numbers of the classes present.
    names : ndarray, shape (n,)
        The class of each row, for the verdict: its own, or whether it is that of the model.
    multipliers : ndarray, shape (n, 1) or (n, K - 1)
        The multiplier of each vector, for a weight of 1.
    """

    rows: Rows
    label: NDArray[np.intp]
    n_classes: int
    names: NDArray[Any]
    multipliers: Floats
    fit_intercept: bool
    certificate: Certificate

    @classmethod
    def of(
        cls, problem: Problem, lane: Lane, solution: CertifiedSolution, names: NDArray[Any]
    ) -> _Part:
        """Leave out the rows that are held out."""
        rows, label, dual = problem.rows, problem.target, solution.dual
        weight = np.ones(len(label)) if problem.weight is None else problem.weight
        present = weight > 0
        if problem.fold is not None:
            present &= problem.fold != lane.fold
        if not present.all():
            used = np.flatnonzero(present)
            rows, label = rows.take(used), label[used]
            dual, weight = dual[used], weight[used]
        classes, inverse = np.unique(label, return_inverse=True)
        rest = problem.fit_intercept, solution.certificates[0]
        if lane.target == TOGETHER:
            other = np.arange(len(classes)) != inverse[:, None]
            multipliers = -dual[:, classes][other].reshape(len(label), -1) / weight[:, None]
            return cls(rows, inverse, len(classes), names[label], multipliers, *rest)
        positive = label == lane.target
        labels = names[label] if len(classes) == 2 else positive
        return cls(rows, positive.astype(np.intp), 2, labels, np.abs(dual) / weight[:, None], *rest)

    def ask(self) -> Any:
        """Return the verdict."""
        from separable.geometry import separability

        return separability(self.rows, self.names, fit_intercept=self.fit_intercept)

    def separating_columns(self, verdict: Any) -> list[int]:
        """Return a small set of columns that separates by itself; empty if none is known."""
        from separable.geometry.proofs.sparse_proofs import sparse_direction

        cone = self._cone_as_it_came()
        weights, intercept = verdict.proof.weights, verdict.proof.intercept
        if self.n_classes > 2:
            u = cone.packed(weights, intercept)
        else:
            u = np.append(weights, intercept) if self.fit_intercept else weights
        direction = sparse_direction(cone, u, np.zeros(0, np.intp), cone.column)
        if direction is None:
            return []
        used = np.unique(cone.column[direction != 0])
        return [int(column) for column in used[used >= 0]]

    def is_proven(self) -> bool:
        """Return whether the dual point proves that an optimum exists."""
        if not self.certificate.converged or not self.certificate.primal > 0:
            return False
        strong = self.multipliers > SURE
        if strong.all():
            return True
        n, d = self.rows.shape
        if n < d + self.fit_intercept:
            return False
        cone = self._cone()
        every = np.ones(strong.size)
        return _rank(cone, strong.ravel().astype(np.float64)) == _rank(cone, every)

    def _cone(self) -> ConeRows:
        """Return the vectors as a search sees them."""
        from separable.geometry.cone.cone_rows import JointRows
        from separable.geometry.cone.signed_rows import SeenRows

        cone = self._cone_as_it_came()
        return cone.seen() if isinstance(cone, JointRows) else SeenRows(cone)

    def _cone_as_it_came(self) -> Any:
        from separable.geometry.cone.cone_rows import JointRows
        from separable.geometry.cone.signed_rows import SignedRows

        if self.n_classes > 2:
            return JointRows.of(self.rows, self.label, self.n_classes, self.fit_intercept)
        sign = np.where(self.label == 1, 1.0, -1.0)
        return SignedRows(self.rows, sign, self.fit_intercept)


def _rank(cone: ConeRows, chosen: Floats) -> int:
    """Return how many dimensions the chosen vectors of a cone have."""
    products = cone.gram(chosen)
    size = np.sqrt(np.diagonal(products))
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    return int(dpstrf(products * scale * scale[:, None], tol=DEPENDENT)[2])
