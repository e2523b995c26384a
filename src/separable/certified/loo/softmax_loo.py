"""Leave-one-out of multinomial logistic regression from one fit: one Newton step.

As `left_out_smooth`, with K scores a row: its gradient is g_i = c_i (p_i - e), e the class of the
row, its curvature the K x K matrix W_i = c_i (diag p_i - p_i p_i'), and its leverage H_i, K x K,
the products x_i' A^-1 x_i between classes. Without row i the scores move by
-(1 - H_i W_i)^-1 (x_i' A^-1 p_i - H_i g_i), where p_i is what else changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import softmax

from separable.certified.loo.changes import Deviations
from separable.certified.loo.loo_rows import parts_of
from separable.linalg.cholesky import Cholesky

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.loo.changes import Changes
    from separable.certified.loo.loo_rows import LeftOutRows
    from separable.typing import Floats, Indices


__all__ = ["JointFit", "left_out_multinomial"]

#: A row with a larger eigenvalue of H W decides on its own scores.
MAX_LEVERAGE = 0.9
#: A reach that is doubtful, as there is one step only.
MAX_STEP = 0.3


@dataclass(frozen=True)
class JointFit:
    """A model of K classes fitted to all rows.

    Parameters
    ----------
    rows : LeftOutRows
    label : ndarray of int, shape (n,)
    c : ndarray, shape (n,)
        Costs.
    scores : ndarray, shape (n, K)
    weights : ndarray, shape (d, K)
        Of the problem's columns.
    l2 : float
        l2; 0: no penalty.
    changes : Changes
    """

    rows: LeftOutRows
    label: NDArray[np.int32]
    c: Floats
    scores: Floats
    weights: Floats
    l2: float
    changes: Changes


def left_out_multinomial(fit: JointFit) -> tuple[Floats, Floats]:
    """Return the scores of each row without it, (n, K), and how doubtful these are, (n,)."""
    n, k = fit.scores.shape
    p = softmax(fit.scores, axis=1)
    gradient = fit.c[:, None] * (p - np.eye(k)[fit.label])
    inverse = Cholesky(_matrix(fit, p)).solve(np.eye(k * fit.rows.size))
    gradients = _Gradients(fit, gradient)
    apart = np.eye(k) - 1.0 / k  # what adds the same to all classes does not count
    moved, length, widest, own = np.empty((n, k)), np.empty(n), np.empty(n), np.empty(n)
    for part in parts_of(np.arange(n), k * max(k, fit.rows.size)):
        x = fit.rows.take(part)
        h = _leverages(x, inverse, k)
        w = fit.c[part, None, None] * (
            p[part, :, None] * np.eye(k) - p[part, :, None] * p[part, None, :]
        )
        own[part] = np.linalg.eigvals(h @ w).real.max(axis=1)
        widest[part] = np.linalg.eigvalsh(apart @ h @ apart)[:, -1]
        g = fit.changes.own(part)[:, None] * gradient[part]
        correlation = (gradients(part).reshape(len(part), -1) @ inverse).reshape(len(part), k, -1)
        right = np.einsum("ikm,im->ik", correlation, x) - _times(h, g)
        moved[part] = -np.linalg.solve(np.eye(k) - h @ w, right[:, :, None])[:, :, 0]
        v = np.asarray(np.linalg.solve(np.eye(k) - w @ h, g[:, :, None])[:, :, 0], np.float64)
        length[part] = np.sqrt(np.maximum(np.einsum("ik,ik->i", v, _times(h, v)), 0.0))
    step_bound = length * np.sqrt(widest.max())
    doubt = np.where(step_bound > MAX_STEP, step_bound, 0.0)
    doubt[(own > MAX_LEVERAGE) | gradients.lost | ~np.isfinite(step_bound)] = np.inf
    return fit.scores + moved, doubt


def _times(matrices: Floats, vectors: Floats) -> Floats:
    product: Floats = (matrices @ vectors[:, :, None])[:, :, 0]
    return product


def _leverages(x: Floats, inverse: Floats, k: int) -> Floats:
    """Return H of some rows, (B, K, K)."""
    m = x.shape[1]
    h = np.empty((len(x), k, k))
    for at in range(k):
        across = (x @ inverse[at * m : (at + 1) * m]).reshape(len(x), k, m)
        h[:, at] = np.einsum("ikm,im->ik", across, x)
    return h


def _matrix(fit: JointFit, p: Floats) -> Floats:
    """Return A, (K m, K m), class by class.

    What adds the same to all classes moves no probability. Where it is not penalised it gets a
    curvature here: no gradient has such a component.
    """
    k, m = p.shape[1], fit.rows.size
    whole = np.empty((k, m, k, m))
    none = np.zeros(len(p))
    for a in range(k):
        for b in range(a, k):
            curvature = p[:, a] * (1.0 - p[:, a] if a == b else p[:, b])
            products = fit.rows.sums(fit.c * curvature, none)[0]
            whole[a, :, b] = whole[b, :, a] = products if a == b else -products
    weights = np.arange(m - fit.rows.has_last)
    for a in range(k):
        whole[a, weights, a, weights] += fit.l2
    size = np.array([whole[a, range(m), a, range(m)] for a in range(k)]).mean(axis=0)
    free = np.arange(m) if fit.l2 == 0 else np.arange(len(weights), m)
    for at in free:
        whole[:, at, :, at] += size[at]
    return whole.reshape(k * m, k * m)


class _Gradients:
    """Gradients at the fit of the objectives without one row, apart from its own loss."""

    def __init__(self, fit: JointFit, gradient: Floats) -> None:
        self._fit = fit
        rows, k = fit.rows, gradient.shape[1]
        penalty = rows.many_weights(fit.l2 * fit.weights.T)
        self._rest = penalty + np.stack([rows.sums(fit.c, gradient[:, a])[1] for a in range(k)])
        changes = fit.changes
        self._by_class: Floats | None = None
        if changes.factor is not None:
            sums = [changes.sums_by_class(rows, gradient[:, a]) for a in range(k)]
            self._by_class = np.stack(sums, axis=1)
        self._deviations = Deviations(rows, changes) if changes.is_standardized else None

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Rows without which a column is constant."""
        none = np.zeros(self._fit.rows.n_rows, np.bool_)
        return none if self._deviations is None else self._deviations.lost

    def __call__(self, part: Indices) -> Floats:
        """Return those of some rows, (B, K, m)."""
        fit = self._fit
        correlation = np.tile(self._rest, (len(part), 1, 1))
        if self._by_class is not None and fit.changes.factor is not None:
            correlation += np.tensordot(fit.changes.factor[part] - 1.0, self._by_class, axes=1)
        if self._deviations is not None:
            away = fit.l2 * (self._deviations.without(part) - 1.0)
            for a in range(correlation.shape[1]):
                correlation[:, a] += fit.rows.many_weights(away * fit.weights[:, a])
        return correlation
