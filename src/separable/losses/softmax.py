"""The multinomial log loss, log sum_k e^(s_k) - s_y, and its optimal intercepts.

Scores have shape (n, K). The scores of an absent class are -inf.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separable.typing import Floats

Labels = NDArray[np.int32]


#: Maximum number of Newton steps.
MOST_STEPS = 100
#: Relative rounding error of a sum of losses.
SLACK = 1e-15
#: Maximum change of an intercept in one scaling step.
MAX_SCALING_STEP = 700.0
#: With at most this many classes, maxima are taken column by column.
MAX_COLUMNWISE = 64
#: Annealing: scores with a larger range are divided by a temperature, which falls by this factor.
MAX_RANGE, COOLING = 128.0, 4.0
#: The last temperature, relative to the first: below it steps are rounding.
MIN_TEMPERATURE = 2.0**-30


def _tops(s: Floats) -> Floats:
    """Return the maximum of each row; column by column is faster for few classes."""
    if s.shape[1] > MAX_COLUMNWISE:
        top: Floats = s.max(axis=1)
        return top
    top = s[:, 0].copy()
    for column in s.T[1:]:
        np.maximum(top, column, out=top)
    return top


def _sums(terms: Floats) -> Floats:
    """Return the sum of each row."""
    return terms @ np.ones(terms.shape[1])


def totals(y: Labels, c: Floats, n_classes: int) -> Floats:
    """Return the total cost of each class, (K,)."""
    return np.bincount(y, weights=c, minlength=n_classes).astype(np.float64, copy=False)


def log_softmax(s: Floats) -> tuple[Floats, Floats]:
    """Return the log-softmax of each row, (n, K), and its log-sum-exp, (n,)."""
    top = _tops(s)
    with np.errstate(under="ignore"):
        norm = top + np.log(_sums(np.exp(s - top[:, None])))
    return s - norm[:, None], norm


def softmax(s: Floats) -> Floats:
    """Return the softmax of each row's scores, (n, K)."""
    with np.errstate(under="ignore"):
        return np.exp(log_softmax(s)[0])


def hessian_product(c: Floats, q: Floats, ds: Floats) -> Floats:
    """Return the Hessian product of each row: the change of c (q - 1[y = k]) with scores by ds."""
    mean = np.einsum("ik,ik->i", q, ds)
    change: Floats = ds - mean[:, None]
    change *= q
    change *= c[:, None]
    return change


def losses(y: Labels, s: Floats) -> Floats:
    """Return the loss of each row.

    Examples
    --------
    >>> losses(np.array([0, 1]), np.array([[0.0, 0.0], [0.0, 1000.0]])).round(3)
    array([0.693, 0.   ])
    """
    rows = np.arange(len(y))
    away = s - s[rows, y][:, None]
    top = np.maximum(_tops(away), 0.0)
    away[rows, y] = -np.inf  # log1p keeps the digits of small losses
    with np.errstate(under="ignore"):
        rest = _sums(np.exp(away - top[:, None]))
        loss: Floats = np.where(top > 0, top + np.log(rest + np.exp(-top)), np.log1p(rest))
    return loss


def entropies(p: Floats) -> Floats:
    """Return the entropy -sum_k p_k log p_k of each row."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * np.log(p), 0.0)
    total: Floats = -_sums(terms)
    return total


def divergences(p: Floats, s: Floats) -> Floats:
    """Return the KL divergence sum_k p_k log(p_k / q_k) of each row, q the softmax of its scores.

    Summed from the non-negative terms p log(p / q) - p + q; near p = q, where the logarithms
    cancel, from a series.
    """
    logs, _ = log_softmax(s)
    with np.errstate(divide="ignore", invalid="ignore", under="ignore", over="ignore"):
        q = np.exp(logs)
        t = (p - q) / q
        series = q * t * t * (0.5 - t / 6.0 + t * t / 12.0)
        plain = np.where(p > 0, p * (np.log(p) - logs), 0.0) - p + q
        terms = np.where(np.abs(t) < 1e-3, series, np.maximum(plain, 0.0))
    total: Floats = _sums(terms)
    return total


def best_intercepts(y: Labels, s: Floats, c: Floats, guess: Floats | None = None) -> Floats:
    """Return the intercepts b, (K,), that minimise sum_i c_i loss(y_i, s_i + b); they sum to 0.

    Damped Newton's method. If no Newton step decreases the loss, the scaling step
    b_k + log(class total / predicted total) does, as in iterative proportional fitting. A class
    without cost gets -inf. ``guess``, (K,), is a warm start.
    """
    K = s.shape[1]
    used = c > 0
    if not used.all():
        y, s, c = y[used], s[used], c[used]
    target = totals(y, c, K)
    present = np.flatnonzero(target > 0)
    code = np.zeros(K, np.int32)
    code[present] = np.arange(len(present), dtype=np.int32)
    b = np.full(K, -np.inf)
    label, scores = code[y], s[:, present]
    best, temperature = np.zeros(len(present)) if guess is None else guess[present], 1.0
    while float(np.ptp(scores)) > MAX_RANGE * temperature:
        temperature *= COOLING
    last = max(1.0, MIN_TEMPERATURE * temperature)
    while temperature >= last:  # annealing of scores with a large range
        start = best / temperature
        best = temperature * _descend(label, scores / temperature, c, target[present], start)
        temperature /= COOLING
    b[present] = best
    return b


def _descend(y: Labels, s: Floats, c: Floats, target: Floats, b: Floats) -> Floats:
    """Return the optimal intercepts of classes that all have a cost, starting from b."""
    floor = SLACK * float(target.sum())
    value, predicted, hessian = _model(y, s + b, c)
    size = np.inf
    for _ in range(MOST_STEPS):
        residual = target - predicted
        last, size = size, float(np.abs(residual).max())
        if size <= floor or (size <= 1e6 * floor and size > 0.5 * last):
            break  # converged to rounding
        accepted = None
        best = _newton_step(hessian, residual)
        for step in (best, 0.25 * best, 0.0625 * best, _scaling_step(target, predicted)):
            new = _model(y, s + (b + step), c)
            if new[0] <= value + SLACK * abs(value):
                accepted = step, new
                break
        if accepted is None:
            break
        b = b + accepted[0]
        b -= b.mean()
        value, predicted, hessian = accepted[1]
    return b


def _model(y: Labels, s: Floats, c: Floats) -> tuple[float, Floats, Floats]:
    """Return the loss, the predicted class totals, and the Hessian in the intercepts."""
    q = softmax(s)
    value = float(c @ losses(y, s))
    weighted = q * c[:, None]
    predicted = weighted.sum(axis=0)
    return value, predicted, np.diag(predicted) - weighted.T @ q


def _newton_step(hessian: Floats, residual: Floats) -> Floats:
    # the Hessian is singular along equal intercepts: add any curvature there
    matrix = hessian + float(np.trace(hessian)) / len(residual) ** 2
    try:
        step: Floats = np.linalg.solve(matrix, residual).astype(np.float64)
    except np.linalg.LinAlgError:
        return np.full_like(residual, np.nan)
    step -= step.mean()
    return step


def _scaling_step(target: Floats, predicted: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        step: Floats = np.clip(np.log(target / predicted), -MAX_SCALING_STEP, MAX_SCALING_STEP)
    return step
