"""The step-by-step algorithms of the lectures in plain NumPy, to read and to check by.

One presentation at a time and no shortcuts. The learners of ``separable`` compute the same weights;
their tests compare both.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from separable.typing import Floats

    Scalar = Callable[[Any, Any, float], Any]

__all__ = [
    "LOSSES",
    "SLOPES",
    "argmax_perceptron",
    "batch_perceptron",
    "perceptron",
    "presentations",
    "sgd",
    "vote",
    "voted_perceptron",
    "widrow_hoff",
]

#: loss(score s, target y, epsilon). Targets of classifiers are -1 and +1.
LOSSES: dict[str, Scalar] = {
    "perceptron": lambda s, y, _: np.maximum(0, -y * s),
    "hinge": lambda s, y, _: np.maximum(0, 1 - y * s),
    "squared_hinge": lambda s, y, _: np.maximum(0, 1 - y * s) ** 2,
    "log_loss": lambda s, y, _: np.logaddexp(0, -y * s),
    "sigmoid_mse": lambda s, y, _: ((y + 1) / 2 - 1 / (1 + np.exp(-s))) ** 2,
    "squared_error": lambda s, y, _: (s - y) ** 2 / 2,
    "huber": lambda s, y, e: np.where(
        np.abs(s - y) <= e, (s - y) ** 2 / 2, e * np.abs(s - y) - e**2 / 2
    ),
    "epsilon_insensitive": lambda s, y, e: np.maximum(0, np.abs(s - y) - e),
    "modified_huber": lambda s, y, _: np.where(
        y * s >= -1, np.maximum(0, 1 - y * s) ** 2, -4 * y * s
    ),
    "squared_epsilon_insensitive": lambda s, y, e: np.maximum(0, np.abs(s - y) - e) ** 2,
}
#: The derivative of each loss by the score.
SLOPES: dict[str, Scalar] = {
    "perceptron": lambda s, y, _: -y * (y * s <= 0),
    "hinge": lambda s, y, _: -y * (y * s < 1),
    "squared_hinge": lambda s, y, _: -2 * y * max(0.0, 1 - y * s),
    "log_loss": lambda s, y, _: -y / (1 + np.exp(y * s)),
    "sigmoid_mse": lambda s, y, _: -2 * y * np.exp(y * s) / (1 + np.exp(y * s)) ** 3,
    "squared_error": lambda s, y, _: s - y,
    "huber": lambda s, y, e: np.clip(s - y, -e, e),
    "epsilon_insensitive": lambda s, y, e: np.sign(s - y) * (abs(s - y) > e),
    "modified_huber": lambda s, y, _: -y * np.clip(2 * (1 - y * s), 0, 4),
    "squared_epsilon_insensitive": lambda s, y, e: 2 * np.sign(s - y) * max(0.0, abs(s - y) - e),
}


def presentations(weight: float) -> list[float]:
    """Return the step sizes of a row of weight k + f: k of 1 and, if f > 0, one of f."""
    whole = math.floor(weight)
    return [1.0] * whole + ([weight - whole] if weight > whole else [])


def perceptron(
    X: Floats,
    y: Any,
    epochs: int,
    eta: float = 1.0,
    weights: Any = None,
    fit_intercept: bool = True,
    start: Any = None,
    orders: Sequence[Any] | None = None,
    tie: int = 0,
) -> tuple[Floats, float, list[int], Floats]:
    """Run the perceptron; y is -1 or +1.

    ``orders`` has the order of the rows of each epoch. A score of 0 is right for the target
    ``tie``; 0: for neither. Returns w, b, the mistakes of each epoch, and (w, b) after each step.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([-1, -1, -1, 1])
    >>> w, b, mistakes, steps = perceptron(X, y, epochs=20)
    >>> w, float(b), mistakes
    (array([3., 2.]), -4.0, [2, 3, 3, 2, 2, 3, 2, 1, 0])
    """
    X = np.hstack([X, np.full((len(X), 1), float(fit_intercept))])
    w = np.zeros(X.shape[1]) if start is None else np.array(start, dtype=float)
    mistakes: list[int] = []
    history = []
    for epoch in range(epochs):
        mistakes.append(0)
        for i in range(len(X)) if orders is None else orders[epoch]:
            for size in presentations(1 if weights is None else weights[i]):
                margin = y[i] * (w @ X[i])
                if margin < 0 or (margin == 0 and y[i] != tie):
                    w = w + eta * size * y[i] * X[i]
                    mistakes[-1] += 1
                history.append(w)
        if mistakes[-1] == 0:
            break
    return w[:-1], w[-1], mistakes, np.array(history)


def argmax_perceptron(
    X: Floats,
    label: Any,
    n_classes: int,
    epochs: int,
    eta: float = 1.0,
    weights: Any = None,
    start: Any = None,
    orders: Sequence[Any] | None = None,
    fit_intercept: bool = True,
) -> tuple[Floats, Floats, list[int], Floats]:
    """Run the multi-class perceptron; return W, b, mistakes of each epoch, [W b] of each step."""
    X = np.hstack([X, np.full((len(X), 1), float(fit_intercept))])
    W = np.zeros((n_classes, X.shape[1])) if start is None else np.array(start, dtype=float)
    met: set[int] = set()
    mistakes: list[int] = []
    history = []
    for epoch in range(epochs):
        mistakes.append(0)
        for i in range(len(X)) if orders is None else orders[epoch]:
            met.add(label[i])
            for size in presentations(1 if weights is None else weights[i]):
                s = W @ X[i]
                rivals = [k for k in sorted(met) if k != label[i]]
                rival = max(rivals, key=s.__getitem__) if rivals else None
                if rival is not None and s[label[i]] <= s[rival]:
                    W = W.copy()
                    W[label[i]] += eta * size * X[i]
                    W[rival] -= eta * size * X[i]
                    mistakes[-1] += 1
                history.append(W)
        if mistakes[-1] == 0:
            break
    return W[:, :-1], W[:, -1], mistakes, np.array(history)


def batch_perceptron(
    X: Floats,
    y: Any,
    epochs: int,
    eta: float = 1.0,
    eps: float = 0.0,
    weights: Any = None,
    fit_intercept: bool = True,
    start: Any = None,
    tie: int = 0,
) -> tuple[Floats, float, list[int], Any, Floats]:
    """Run the batch perceptron; y is -1 or +1.

    Returns w, b, the misclassified rows of each epoch, |Delta| of the last, and (w, b) after each.
    """
    X = np.hstack([X, np.full((len(X), 1), float(fit_intercept))])
    weights = np.ones(len(X)) if weights is None else weights
    theta = np.zeros(X.shape[1]) if start is None else np.array(start, dtype=float)
    mistakes: list[int] = []
    history = []
    norm: Any = 0.0
    for _ in range(epochs):
        margins = y * (X @ theta)
        wrong = (margins < 0) | ((margins == 0) & (y != tie))
        delta = (weights[wrong] * y[wrong]) @ X[wrong] / weights.sum()
        theta = theta + eta * delta
        mistakes.append(int((wrong & (weights > 0)).sum()))
        history.append(theta)
        norm = np.linalg.norm(delta)
        if mistakes[-1] == 0 or norm < eps or not delta.any():
            break
    return theta[:-1], theta[-1], mistakes, norm, np.array(history)


def vote(vectors: Any, X: Floats, fit_intercept: bool = True) -> Floats:
    """Return the sum of sign(w.x + b) over all vectors (w, b), one a presentation."""
    X = np.hstack([X, np.full((len(X), 1), float(fit_intercept))])
    votes: Floats = np.sign(X @ np.asarray(vectors).T).sum(axis=1)
    return votes


def voted_perceptron(
    X: Floats,
    y: Any,
    epochs: int,
    X_test: Floats,
    presentations: int = 0,
    last: int | None = None,
    **options: Any,
) -> tuple[Floats, Floats]:
    """Run the voted perceptron; return the votes at ``X_test`` and all vectors (w, b).

    ``presentations`` fills up with the final vector where other models went on for longer;
    ``last`` is the number of distinct vectors that vote, counted from the last.
    """
    *_, vectors = perceptron(X, y, epochs, **options)
    more = max(0, presentations - len(vectors))
    vectors = np.concatenate([vectors, np.repeat(vectors[-1:], more, axis=0)])
    if last is not None:
        changes = 1 + np.flatnonzero((np.diff(vectors, axis=0) != 0).any(axis=1))
        vectors = vectors[np.append(0, changes)[-last:][0] :]
    return vote(vectors, X_test, options.get("fit_intercept", True)), vectors


def widrow_hoff(
    X: Floats,
    y: Any,
    epochs: int,
    eta: float | None,
    weights: Any = None,
    fit_intercept: bool = True,
    start: Any = None,
    orders: Sequence[Any] | None = None,
) -> tuple[Floats, float, list[float], Floats]:
    """Run the Widrow-Hoff rule; ``eta`` None: 1 / (4 max |x|^2) over the rows so far.

    Returns w, b, the mean squared error of each epoch (before each step), and (w, b) after each.
    """
    X = np.hstack([X, np.full((len(X), 1), float(fit_intercept))])
    w = np.zeros(X.shape[1]) if start is None else np.array(start, dtype=float)
    weights = np.ones(len(X)) if weights is None else weights
    errors: list[float] = []
    history = []
    largest = 0.0
    for epoch in range(epochs):
        errors.append(0.0)
        for i in range(len(X)) if orders is None else orders[epoch]:
            largest = max(largest, X[i] @ X[i])
            step = 0.25 / largest if eta is None and largest > 0 else eta or 0.0
            for size in presentations(weights[i]):
                r = w @ X[i] - y[i]
                w = w - step * size * r * X[i]
                errors[-1] += size * r**2 / weights.sum()
                history.append(w)
    return w[:-1], w[-1], errors, np.array(history)


def sgd(
    X: Floats,
    y: Any,
    loss: str,
    eta: Callable[[int], float],
    *,
    l1: float = 0.0,
    l2: float = 0.0,
    epsilon: float = 0.1,
    weight: Any = None,
    epochs: int = 1,
    intercept: bool = True,
    start: Any = None,
    orders: Sequence[Any] | None = None,
) -> tuple[Floats, float, Floats, float, Floats]:
    """Run stochastic gradient descent; ``eta`` is the step size as a function of t = 1, 2, ...

    Returns w, b, the mean of each over all steps, and (w, b) after each step.
    """
    first = np.zeros(X.shape[1] + 1) if start is None else np.array(start, dtype=float)
    w, b, t = first[:-1], first[-1], 0
    due, taken = 0.0, np.zeros_like(w)  # of the l1 penalty: all of it so far, what w has lost
    history = []
    for epoch in range(epochs):
        for i in range(len(X)) if orders is None else orders[epoch]:
            for size in presentations(1 if weight is None else weight[i]):
                t += 1
                g = size * SLOPES[loss](w @ X[i] + b, y[i], epsilon)
                decay = max(0.0, 1 - eta(t) * l2)
                w = decay * w - eta(t) * g * X[i]
                due, taken, before = decay * due + eta(t) * l1, decay * taken, w
                w = np.sign(w) * np.maximum(np.abs(w) - (due + taken * np.sign(w)), 0)
                taken = taken + w - before
                b = b - eta(t) * g * intercept
                history.append(np.append(w, b))
    steps = np.array(history)
    mean = steps.mean(axis=0)
    return w, b, mean[:-1], mean[-1], steps
