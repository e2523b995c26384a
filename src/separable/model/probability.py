"""Classes and probabilities from scores. Nothing here overflows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.model.kinds import Model

__all__ = [
    "calibrated",
    "classes_of",
    "log_probabilities",
    "model_probabilities",
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


def calibrated(
    scores: NDArray[np.float64], calibration: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return slope s + offset: log-odds from scores of shape (n, k) that are not.

    Parameters
    ----------
    scores : ndarray, shape (n, k)
    calibration : ndarray, shape (k, 2)
        Slope and offset of each score.
    """
    with np.errstate(over="ignore"):
        return np.nan_to_num(scores * calibration[:, 0] + calibration[:, 1])


def model_probabilities(model: Model, scores: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the probability of each class from a model's scores, shape (n, k), or None.

    Probabilities are there for a link that means them, and for scores with a calibration.
    """
    if model.classes is None:
        return None
    calibration: NDArray[np.float64] | None = getattr(model, "calibration", None)
    if calibration is not None:
        return probabilities(calibrated(scores, calibration), len(model.classes), "logistic")
    if model.link == "logistic" or model.link == "softmax":
        return probabilities(scores, len(model.classes), model.link)
    return None


def log_probabilities(scores: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Return the logarithms of the softmax, exact where it is tiny, from scores of shape (n, k)."""
    if n_classes == 1:
        return np.zeros((len(scores), 1))
    if n_classes == 2:
        return -np.logaddexp(0.0, scores * [1.0, -1.0])
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
        shares: NDArray[np.float64] = scores - scores.max(axis=1, keepdims=True)
        np.exp(shares, out=shares)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def one_vs_rest(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sigmoids of each row, divided by their sum.

    Taken in logarithms, so that a row whose sigmoids all round to 0 still has its shares.
    """
    return softmax(-np.logaddexp(0.0, -scores))
