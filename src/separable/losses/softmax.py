"""The softmax loss of rows, log sum_k e^(s_k) - s_y, and the intercepts that are best for it.

Scores have shape (n, K). A class that no row has is no part of a model: its scores are -inf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.typing import Floats

    Labels = NDArray[np.int32]

__all__ = ["best_intercepts", "divergences", "entropies", "log_softmax", "losses", "totals"]

#: Most steps towards the best intercepts.
MOST_STEPS = 100
#: What rounding may add to a sum of losses.
SLACK = 1e-15
#: The most that one step may move an intercept where Newton's method does not help.
FARTHEST = 700.0
#: Up to so many classes, columns are taken one by one.
FEW = 64
#: Scores that are further apart than this are brought closer, and taken apart again by steps.
WIDE, COOLING = 128.0, 4.0
#: Of how far apart they are: what is rounding, so that no step of that size is worth its time.
DIGITS = 2.0**-30


def _tops(s: Floats) -> Floats:
    """Return the largest of each row: column by column, which is faster where these are few."""
    if s.shape[1] > FEW:
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
    """Return the cost of each class's rows, (K,)."""
    return np.bincount(y, weights=c, minlength=n_classes).astype(np.float64, copy=False)


def log_softmax(s: Floats) -> tuple[Floats, Floats]:
    """Return the logarithm of each row's softmax, (n, K), and that of its sum of e^s, (n,)."""
    top = _tops(s)
    with np.errstate(under="ignore"):
        norm = top + np.log(_sums(np.exp(s - top[:, None])))
    return s - norm[:, None], norm


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
    away[rows, y] = -np.inf  # e^0 is added apart, so that small losses keep their digits
    with np.errstate(under="ignore"):
        rest = _sums(np.exp(away - top[:, None]))
        loss: Floats = np.where(top > 0, top + np.log(rest + np.exp(-top)), np.log1p(rest))
    return loss


def entropies(p: Floats) -> Floats:
    """Return -sum_k p_k log p_k of each row."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * np.log(p), 0.0)
    total: Floats = -_sums(terms)
    return total


def divergences(p: Floats, s: Floats) -> Floats:
    """Return sum_k p_k log(p_k / q_k) >= 0 of each row, where q is the softmax of its scores.

    Summed from terms p log(p / q) - p + q, none of which is negative; where p is close to q, as a
    series, for there the logarithms cancel.
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
    """Return the b, (K,), that minimises sum_i c_i loss(y_i, s_i + b); its sum is 0.

    Newton's method. Where a step of it does not help, b_k + log(cost of class k / what the model
    gives it) does: it never raises the sum. A class without cost gets -inf. A guess, (K,), may save
    steps.
    """
    K = s.shape[1]
    used = c > 0
    if not used.all():
        y, s, c = y[used], s[used], c[used]
    wanted = totals(y, c, K)
    there = np.flatnonzero(wanted > 0)
    place = np.zeros(K, np.int32)
    place[there] = np.arange(len(there), dtype=np.int32)
    b = np.full(K, -np.inf)
    label, some = place[y], s[:, there]
    found, heat = np.zeros(len(there)) if guess is None else guess[there], 1.0
    while float(np.ptp(some)) > WIDE * heat:
        heat *= COOLING
    coolest = max(1.0, DIGITS * heat)
    while heat >= coolest:  # scores that are far apart: first as if all were closer
        found = heat * _descend(label, some / heat, c, wanted[there], found / heat)
        heat /= COOLING
    b[there] = found
    return b


def _descend(y: Labels, s: Floats, c: Floats, wanted: Floats, b: Floats) -> Floats:
    """Return the best intercepts of classes that all have a cost, from those given."""
    floor = SLACK * float(wanted.sum())
    value, got, hessian = _model(y, s + b, c)
    size = np.inf
    for _ in range(MOST_STEPS):
        left = wanted - got
        last, size = size, float(np.abs(left).max())
        if size <= floor or (size <= 1e6 * floor and size > 0.5 * last):
            break  # as good as rounding lets it be
        found = None
        best = _newton_step(hessian, left)
        for step in (best, 0.25 * best, 0.0625 * best, _scaling_step(wanted, got)):
            new = _model(y, s + (b + step), c)
            if new[0] <= value + SLACK * abs(value):
                found = step, new
                break
        if found is None:
            break
        b = b + found[0]
        b -= b.mean()
        value, got, hessian = found[1]
    return b


def _model(y: Labels, s: Floats, c: Floats) -> tuple[float, Floats, Floats]:
    """Return the sum of losses, what each class is given, and the curvature by intercepts."""
    logs, _ = log_softmax(s)
    with np.errstate(under="ignore"):
        q = np.exp(logs)
    value = float(c @ losses(y, s))
    given = q * c[:, None]
    got = given.sum(axis=0)
    return value, got, np.diag(got) - given.T @ q


def _newton_step(hessian: Floats, left: Floats) -> Floats:
    # no curvature along equal intercepts, which change nothing: any does
    matrix = hessian + float(np.trace(hessian)) / len(left) ** 2
    try:
        step: Floats = np.linalg.solve(matrix, left).astype(np.float64)
    except np.linalg.LinAlgError:
        return np.full_like(left, np.nan)
    step -= step.mean()
    return step


def _scaling_step(wanted: Floats, got: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        step: Floats = np.clip(np.log(wanted / got), -FARTHEST, FARTHEST)
    return step
