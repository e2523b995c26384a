"""The held-out log loss, from scores: one definition for every contender."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["log_loss"]


def log_loss(scores: NDArray[Any], label: NDArray[np.int64]) -> float:
    """Return the mean of -log p(label), in float64 and without a floor under p.

    Parameters
    ----------
    scores : ndarray of shape (n,) or (n, K)
        Log-odds; of the second class where there are two.
    label : ndarray of shape (n,)
        The class of each row, from 0.

    Returns
    -------
    float
        With p = sigma(score), divided by the sum over classes where there are three and more.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim == 1:
        return float(np.logaddexp(0, np.where(label == 1, -scores, scores)).mean())
    log_share = -np.logaddexp(0, -scores)
    total = np.logaddexp.reduce(log_share, axis=1)
    return float((total - log_share[np.arange(len(label)), label]).mean())
