"""Standard errors of curves, from the posterior of a ridge penalty (Wahba, 1983; Wood, 2006).

The penalty is the logarithm of a normal prior of the weights in the basis of the curves. With the
penalized Hessian A of the loss in this basis, their posterior covariance is its inverse, times the
residual variance of squared errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from separable.fitting.penalty_basis import terms_of

if TYPE_CHECKING:
    from separable.data.rows import Rows
    from separable.features.base import Encoder
    from separable.fitting.penalty_basis import PenaltyBasis
    from separable.typing import Floats

__all__ = ["curve_errors"]

#: Most functions of the basis, whose covariance is inverted, and most rows that it is summed over.
MOST_FUNCTIONS, MOST_ROWS = 1000, 20_000


def curve_errors(
    encoder: Encoder, basis: PenaltyBasis, inside: Rows, learner: Any, y: Any, weight: Any
) -> dict[str, Any]:
    """Return standard errors of each curve at its knots; of its contributions, with mean 0.

    None are known of classes of more than one score, of other penalties than ridge, of constrained
    columns, and of more than 1000 basis functions.

    Parameters
    ----------
    encoder : Encoder
    basis : PenaltyBasis
    inside : Rows
        Training rows in the basis.
    learner : estimator
        Fitted to them.
    y, weight : array-like
    """
    level = _level(learner, inside.n_rows)
    if level is None or basis.constraints or inside.n_features > MOST_FUNCTIONS:
        return {}
    step = -(-inside.n_rows // MOST_ROWS)
    kept = np.arange(0, inside.n_rows, step)
    part = inside.take(kept)
    w = np.full(len(kept), float(step))
    if weight is not None:
        w = w * np.asarray(weight, np.float64)[kept]
    scores = learner.model_.decision_function(part)
    unit = 1.0
    if learner.model_.classes is None:
        left = np.asarray(y, np.float64).ravel()[kept] - scores
        squares, total = float(w @ left**2), float(w.sum())
    else:
        p = 1.0 / (1.0 + np.exp(-np.abs(scores)))
        w = w * p * (1.0 - p)
    gram = _centred_gram(part, w)
    system = gram.copy()
    system.flat[:: len(system) + 1] += level
    factor, failed = dpotrf(system, lower=1, overwrite_a=1)
    if failed:
        return {}
    lower = np.tril(dpotri(factor, lower=1, overwrite_c=1)[0])
    covariance = lower + np.tril(lower, -1).T
    if learner.model_.classes is None:
        free = float((covariance * gram).sum())
        unit = squares / max(total - free - 1.0, 1.0)
    return _at_knots(encoder, basis, unit * covariance)


def _level(learner: Any, n_rows: int) -> float | None:
    """Return the ridge penalty of squared weights beside the sum of the losses."""
    kind = type(learner).__name__
    if learner.model_.n_scores > 1 or getattr(learner, "positive", False):
        return None
    if kind in ("LogisticRegression", "LogisticRegressionCV"):
        ratio = getattr(learner, "l1_ratio", getattr(learner, "l1_ratio_", 0.0))
        C = float(getattr(learner, "C_", None) or learner.C)
        return 1.0 / C if ratio == 0 and np.isfinite(C) else None
    if kind in ("Ridge", "RidgeCV"):
        return float(np.ravel(getattr(learner, "alpha_", getattr(learner, "alpha", 0.0)))[0])
    if kind == "ElasticNet" and learner.l1_ratio == 0:
        return float(learner.alpha) * n_rows
    return None


def _centred_gram(rows: Rows, w: Floats) -> Floats:
    X: Any = rows.to_matrix()
    product = X.T @ (X.multiply(w[:, None]) if hasattr(X, "multiply") else X * w[:, None])
    gram = product.toarray() if hasattr(product, "toarray") else np.asarray(product)
    means = np.asarray(X.T @ w)
    return np.asarray(gram - np.outer(means, means) / float(w.sum()), np.float64)


def _at_knots(encoder: Encoder, basis: PenaltyBasis, covariance: Floats) -> dict[str, Any]:
    """Return the errors of the values of each curve, less their mean."""
    sizes = [term.size for term in terms_of(encoder)]
    starts = np.cumsum([0, *sizes])
    features = np.cumsum([0, *(term.stop - term.start for term in terms_of(encoder))])
    first, errors = 0, {}
    for column in getattr(encoder, "column_encoders", ()):
        if hasattr(column, "knots"):
            k = int(np.searchsorted(features, first))
            own = slice(int(starts[k]), int(starts[k + 1]))
            at = basis.matrix[first : first + len(column.knots), own].toarray()
            at = at - np.average(at, axis=0, weights=column.rows)
            variances = np.einsum("ij,jk,ik->i", at, covariance[own, own], at)
            errors[column.name] = [float(f"{v:.4g}") for v in np.sqrt(np.maximum(variances, 0.0))]
        first += column.width
    return errors
