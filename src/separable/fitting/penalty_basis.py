"""Learning in another basis of the features, so that a ridge penalty smooths curves.

With features X = tents of curves and a basis B, a learner sees X B and finds weights g of the
smallest loss(X B g) + penalty(g). The published weights are w = B g: the scores X w are the same,
and for a ridge penalty w is the optimum of loss(X w) + min |g|^2 over B g = w.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import as_rows

if TYPE_CHECKING:
    from separable.data.rows import Rows
    from separable.features.base import Encoder
    from separable.model.linear_model import LinearModel

__all__ = ["PenaltyBasis", "basis_of"]


@dataclass(frozen=True)
class PenaltyBasis:
    """Basis of the features in which the penalty applies.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array, shape (d, d)
        Column j holds the weights of the features in basis function j.
    """

    matrix: Any

    def rows(self, rows: Rows) -> Rows:
        """Return the rows in the basis."""
        import scipy.sparse as sp

        return as_rows(sp.csr_array(sp.csr_array(rows.to_matrix()) @ self.matrix))

    def published(self, model: LinearModel) -> LinearModel:
        """Return a model of rows in the basis as one of the features."""
        return replace(
            model,
            weights=np.ascontiguousarray((self.matrix @ model.weights.T).T),
            state=None,  # sums and averages of the basis, which do not continue with features
            evidence={**model.evidence, "penalty_basis": "smooth curves"},
        )


def basis_of(encoder: Encoder, learner: Any) -> PenaltyBasis | None:
    """Return the basis of the curves of an encoder; None if there are none.

    Learners that count values, or ask whether they are above a threshold, take the features.
    """
    columns = getattr(encoder, "column_encoders", ())
    if not any(hasattr(each, "basis") for each in columns) or _reads_values(learner):
        return None
    import scipy.sparse as sp

    blocks = [
        each.basis if hasattr(each, "basis") else sp.eye_array(each.width) for each in columns
    ]
    return PenaltyBasis(sp.csr_array(sp.block_diag(blocks)))


def _reads_values(learner: Any) -> bool:
    return bool(getattr(learner, "positive_only", False)) or hasattr(learner, "binarize")
