"""Learning in another basis of the features, so that a ridge penalty smooths curves and surfaces.

With features X = tents of curves and a basis B, a learner sees X B and finds weights g of the
smallest loss(X B g) + penalty(g). The published weights are w = B g: the scores X w are the same,
and for a ridge penalty w is the optimum of loss(X w) + min |g|^2 over B g = w. The functions of a
term are scaled by its smoothing level, which `fitting.smoothing` estimates from the training rows;
the learner's own regularization parameter then multiplies all levels.

The basis of a monotone curve has increasing functions only, and their weights have one sign:
`constrain` tells the learner.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import as_rows
from separable.estimator import is_classifier
from separable.fitting.smoothing import DEFAULT_OPTIONS, AdditiveFit, Term, fit_additive

if TYPE_CHECKING:
    from separable.data.rows import Rows
    from separable.features.base import Encoder
    from separable.model.linear_model import LinearModel
    from separable.typing import Floats

__all__ = [
    "PenaltyBasis",
    "additive_fit",
    "are_smoothed",
    "basis_of",
    "constrain",
    "targets_of",
    "terms_of",
]


@dataclass(frozen=True)
class PenaltyBasis:
    """Basis of the features in which the penalty applies.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array, shape (d, m)
        Column j holds the weights of the features in basis function j.
    constraints : dict of str to str
        Constrained columns: "increasing", "decreasing" or "nonnegative".
    """

    matrix: Any
    constraints: dict[str, str] = field(default_factory=dict)

    def rows(self, rows: Rows) -> Rows:
        """Return the rows in the basis."""
        import scipy.sparse as sp

        made = sp.csr_array(sp.csr_array(rows.to_matrix()) @ self.matrix)
        made.sort_indices()
        return as_rows(made)

    def published(self, model: LinearModel) -> LinearModel:
        """Return a model of rows in the basis as one of the features."""
        parameters = model.parameters
        if self.constraints:  # they are of the basis, too
            parameters = {**parameters, "monotonic_cst": None}
        return replace(
            model,
            weights=np.ascontiguousarray((self.matrix @ model.weights.T).T),
            state=None,  # sums and averages of the basis, which do not continue with features
            parameters=parameters,
            evidence={**model.evidence, "penalty_basis": "smooth curves"},
        )


def basis_of(
    encoder: Encoder, learner: Any, rows: Rows, y: Any, weight: Any = None
) -> PenaltyBasis | None:
    """Return the basis of the curves and pairs of an encoder; None if there are none.

    Learners that count values, or ask whether they are above a threshold, take the features.

    Parameters
    ----------
    encoder : Encoder
    learner : estimator
    rows : Rows
        Training rows, encoded: the levels are estimated from them, once for each encoder.
    y : array-like
        Classes or numbers.
    weight : array-like, optional

    Returns
    -------
    PenaltyBasis or None
        With ``Ridge(alpha=1)``, or about ``LogisticRegression(C=1)``, the levels are the estimates.
    """
    terms = terms_of(encoder)
    if all(term.basis is None for term in terms) or _reads_values(learner):
        return None
    import scipy.sparse as sp

    scales = getattr(encoder, "term_scales_", None)
    if scales is None or len(scales) != len(terms):
        classes = is_classifier(learner)
        scales = _scales(rows, terms, targets_of(y, classes), weight, classes=classes)
        encoder.term_scales_ = scales  # type: ignore[attr-defined]  # forgotten by the next fit
    blocks = [
        scale * (sp.eye_array(term.size) if term.basis is None else sp.csr_array(term.basis))
        for term, scale in zip(terms, scales.tolist(), strict=True)
    ]
    return PenaltyBasis(sp.csr_array(sp.block_diag(blocks)), _constraints_of(encoder))


def are_smoothed(encoder: Encoder) -> bool:
    """Return whether there are curves or pairs, few enough to estimate their levels."""
    terms = terms_of(encoder)
    return (
        any(term.basis is not None for term in terms) and terms[-1].stop <= DEFAULT_OPTIONS.features
    )


def terms_of(encoder: Encoder) -> list[Term]:
    """Return the terms of an encoder: curves, pairs, categories; numbers as lines are one term."""
    terms: list[Term] = []
    constraints = _constraints_of(encoder)
    start, is_line = 0, False
    for each in getattr(encoder, "terms", ()):
        stop = start + each.width
        if each.width == 1 and is_line:
            terms[-1] = Term(terms[-1].start, stop)
        elif each.width:
            terms.append(Term(start, stop, _basis_of_term(each, constraints)))
        is_line, start = each.width == 1, stop
    return terms


def _constraints_of(encoder: Encoder) -> dict[str, str]:
    return dict(getattr(encoder, "constraints", {}))


def _basis_of_term(term: Any, constraints: dict[str, str]) -> Floats | None:
    constraint = constraints.get(term.name)
    basis: Floats | None = getattr(term, "basis", None)
    if constraint is None or basis is None:
        return basis
    return None if constraint == "nonnegative" else np.asarray(term.monotone_basis)


def constrain(learner: Any, encoder: Encoder) -> None:
    """Give a learner the signs of its weights, for an encoder with constrained columns.

    Parameters
    ----------
    learner : estimator
        It is to be fitted to the rows of the encoder, in the basis of `basis_of`.
    encoder : Encoder
    """
    constraints = _constraints_of(encoder)
    if not constraints:
        return
    if not hasattr(learner, "monotonic_cst"):
        raise ValueError(
            f"{type(learner).__name__} cannot keep {', '.join(map(repr, constraints))} to one "
            "direction. Use LogisticRegression, LinearSVM, or for numbers ElasticNet(l1_ratio=0)."
        )
    signs: list[int] = []
    for each in getattr(encoder, "terms", ()):
        basis = _basis_of_term(each, constraints)
        size = each.width if basis is None else basis.shape[1]
        constraint = constraints.get(each.name)
        if constraint == "nonnegative":
            signs += [1] * size
        else:  # a missing value, the last one, has no direction
            gone = int(bool(getattr(each, "missing", False)))
            sign = {"increasing": 1, "decreasing": -1}.get(constraint or "", 0)
            signs += [sign] * (size - gone) + [0] * gone
    learner.monotonic_cst = signs


def targets_of(y: Any, classes: bool) -> Floats:
    """Return numbers as one column, classes as an indicator of each; of two, of the second."""
    y = np.asarray(y)
    if not classes:
        return np.asarray(y.reshape(len(y), -1), np.float64)
    labels, codes = np.unique(y, return_inverse=True)
    kept = np.arange(len(labels))[1 if len(labels) == 2 else 0 :]
    return np.asarray(codes[:, None] == kept, np.float64)


def additive_fit(
    rows: Rows, terms: list[Term], targets: Floats, weight: Any = None
) -> AdditiveFit | None:
    """Fit an additive model to a bounded number of rows; None if there are too many features."""
    if rows.n_features > DEFAULT_OPTIONS.features:
        return None
    weight = None if weight is None else np.asarray(weight, np.float64)
    if rows.n_rows > DEFAULT_OPTIONS.rows:
        kept = np.arange(0, rows.n_rows, -(-rows.n_rows // DEFAULT_OPTIONS.rows))
        rows, targets = rows.take(kept), targets[kept]
        weight = None if weight is None else weight[kept]
    return fit_additive(rows, terms, targets, weight)


def _scales(
    rows: Rows, terms: list[Term], targets: Floats, weight: Any, *, classes: bool
) -> Floats:
    """Return the factor of the basis of each term."""
    fit = additive_fit(rows, terms, targets, weight)
    if fit is None:
        return np.ones(len(terms))
    unit = 1.0
    if classes:  # the curvature of a logistic loss is the variance of its class
        unit = 1.0 / max(float(targets.var(axis=0).mean()), 1e-3)
    scales: Floats = np.sqrt(unit / fit.levels)
    return scales


def _reads_values(learner: Any) -> bool:
    """Return whether values or weights of the basis would mean something else to a learner."""
    signed = getattr(learner, "positive_only", False) or getattr(learner, "positive", False)
    return bool(signed) or hasattr(learner, "binarize")
