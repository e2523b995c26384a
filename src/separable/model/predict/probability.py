"""Classes, probabilities and numbers from scores, without overflow.

Exponentials and logarithms are those of the compiled core, bit-identical in every position of an
array (``cpp/include/separable/model/probabilities.hpp``).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from separable._core import native

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.model.kinds import Model

__all__ = [
    "calibrated",
    "classes_of",
    "exponentials",
    "log_probabilities",
    "model_log_probabilities",
    "model_probabilities",
    "one_vs_rest",
    "predicted_numbers",
    "probabilities",
    "sigmoid",
    "softmax",
    "softplus",
]


def classes_of(
    scores: NDArray[np.float64], classes: NDArray[Any], threshold: float = 0.0
) -> NDArray[Any]:
    """Return the class of each row of ``scores``, shape (n, k).

    One class: always that one. Two: ``classes[1]`` if the score is above the threshold. More: the
    largest score, the first in a tie.
    """
    if len(classes) == 1:
        chosen = np.zeros(len(scores), dtype=np.intp)
    elif len(classes) == 2:
        is_second = scores[:, 0] > threshold
        if classes.dtype.kind != "U":  # texts are not copied one by one
            return np.asarray(np.where(is_second, classes[1], classes[0]))
        chosen = is_second.astype(np.intp)
    else:
        chosen = scores.argmax(axis=1)
    predicted: NDArray[Any] = classes[chosen]
    return predicted


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
        both = np.empty((len(scores), 2))
        native.binary_probabilities(scores[:, 0], both)
        return both
    return softmax(scores) if link == "softmax" else one_vs_rest(scores)


def calibrated(
    scores: NDArray[np.float64], calibration: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return slope s + offset: log-odds from uncalibrated scores of shape (n, k).

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

    Defined if the link implies probabilities, or with a calibration.
    """
    if model.classes is None:
        return None
    calibration: NDArray[np.float64] | None = getattr(model, "calibration", None)
    if calibration is not None:
        return probabilities(calibrated(scores, calibration), len(model.classes), "logistic")
    if model.link == "logistic" or model.link == "softmax":
        return probabilities(scores, len(model.classes), model.link)
    return None


def model_log_probabilities(model: Model, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithms of a model's probabilities from its scores, of shape (n,) or (n, k)."""
    assert model.classes is not None
    columns, calibration = scores.reshape(len(scores), -1), getattr(model, "calibration", None)
    if calibration is not None:
        return log_probabilities(calibrated(columns, calibration), len(model.classes), "logistic")
    assert model.link == "logistic" or model.link == "softmax"
    return log_probabilities(columns, len(model.classes), model.link)


def log_probabilities(
    scores: NDArray[np.float64], n_classes: int, link: Literal["logistic", "softmax"]
) -> NDArray[np.float64]:
    """Return the logarithms of the probabilities, accurate for tiny ones.

    Parameters
    ----------
    scores : ndarray, shape (n, k)
    n_classes : int
    link : {"logistic", "softmax"}
        As in ``probabilities``; two classes have the same logarithms either way.
    """
    if n_classes == 1:
        return np.zeros((len(scores), 1))
    if n_classes == 2:
        return -softplus(scores * [1.0, -1.0])
    logs = _copy(scores) if link == "softmax" else -softplus(-scores)
    native.log_softmax(logs)
    return logs


def sigmoid(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(-s)), accurate at both ends."""
    out = _copy(scores)
    native.sigmoid(out)
    return out


def predicted_numbers(model: Model, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the numbers that a model of regression predicts, from its scores.

    With the link "log" these are the exponentials of the scores, within the output range.
    """
    if model.output_range is None:
        return scores
    return exponentials(scores, *model.output_range)


def exponentials(scores: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Return e^s, from low to high, both above 0."""
    values = np.minimum(_copy(scores) - math.log(high), 0.0)
    native.exponential(values)
    return np.clip(high * values, low, high)


def softplus(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(1 + exp(s)), accurate at both ends."""
    values = _copy(scores)
    native.softplus(values)
    return values


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return exp(s_k) / sum of exp(s_j), by row."""
    out = _copy(scores)
    native.softmax(out)
    return out


def one_vs_rest(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sigmoids of each row, divided by their sum.

    Computed with logarithms, so that a row whose sigmoids all round to 0 still has probabilities.
    """
    return softmax(-softplus(-scores))


def _copy(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a copy in C order, which the compiled core may modify."""
    return np.array(scores, dtype=np.float64, order="C")
