"""Classes and probabilities from scores. Nothing here overflows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "classes_of",
    "log_probabilities",
    "one_vs_rest",
    "probabilities",
    "sigmoid",
    "softmax",
]


def classes_of(scores: NDArray[np.float64], classes: NDArray[Any]) -> NDArray[Any]:
    """Return the class of each row of ``scores``, shape (n, k).

    One class: always that one. Two: ``classes[1]`` where the score is > 0. More: the largest
    score, the first of equals.
    """
    if len(classes) == 1:
        chosen = np.zeros(len(scores), dtype=np.intp)
    elif len(classes) == 2:
        chosen = (scores[:, 0] > 0).astype(np.intp)
    else:
        chosen = scores.argmax(axis=1)
    answer: NDArray[Any] = classes[chosen]
    return answer


def probabilities(
    scores: NDArray[np.float64], n_classes: int, link: Literal["logistic", "softmax"]
) -> NDArray[np.float64]:
    """Return the probability of each class from ``scores``, shape (n, k).

    Logistic: the sigmoid of the score; for more than two classes the sigmoids divided by their
    sum. Softmax: the softmax of the scores.
    """
    if n_classes == 1:
        return np.ones((len(scores), 1))
    if n_classes == 2:
        return sigmoid(scores * [-1.0, 1.0])
    return softmax(scores) if link == "softmax" else one_vs_rest(scores)


def log_probabilities(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithms of the softmax, from scores of shape (n,), two classes, or (n, K)."""
    if scores.ndim == 1:
        return -np.logaddexp(0.0, scores[:, None] * [1.0, -1.0])
    top = scores - scores.max(axis=1, keepdims=True)
    with np.errstate(under="ignore"):
        logs: NDArray[np.float64] = top - np.log(np.exp(top).sum(axis=1, keepdims=True))
    return logs


def sigmoid(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(-s)), exact to rounding at both ends."""
    small = np.exp(-np.abs(scores))  # in (0, 1], so nothing overflows
    return np.where(scores >= 0, 1.0, small) / (1.0 + small)


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return exp(s_k) / sum of exp(s_j), by row."""
    with np.errstate(over="ignore", under="ignore"):  # -inf and 0 are the right answers there
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return shares


def one_vs_rest(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sigmoids of each row, divided by their sum.

    Taken in logarithms, so that a row whose sigmoids all round to 0 still has its shares.
    """
    return softmax(-np.logaddexp(0.0, -scores))
