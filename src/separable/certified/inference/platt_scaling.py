"""Platt scaling: a sigmoid fitted to held-out scores.

The source is Platt, "Probabilistic outputs for support vector machines" (1999), with the safeguards
of Lin, Lin and Weng (2007). Folds are a function of the rows themselves: equal rows of a class are
in the same fold, so that weight k is the row k times, and none is held out from its own copy.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import NDArray

from separable.data.rows import Rows
from separable.linalg.design_matrix import dense_blocks
from separable.model.predict.probability import sigmoid
from separable.typing import Floats

#: Parts that are held out, one after the other.
FOLDS = 5
#: Most steps of Newton's method; it needs about ten.
STEPS = 100
#: Halvings of a step.
HALVINGS = 60


class CalibrationWarning(UserWarning):
    """Probabilities are there, but rest on too little."""


def folds_of_rows(rows: Rows, label: NDArray[np.int32], seed: int) -> NDArray[np.int32]:
    """Return the fold of each row, 0 ... 4, spread over the different rows of each class.

    Parameters
    ----------
    label : ndarray of int32, shape (n,)
        Classes by number.
    """
    rng = np.random.default_rng(seed)
    alone: list[int] = []
    key = _keys(rows, rng.random(rows.n_features) - 0.5)
    fold = np.empty(rows.n_rows, np.int32)
    for k in range(int(label.max()) + 1):
        members = np.flatnonzero(label == k)
        different, inverse = np.unique(key[members], return_inverse=True)
        first = 0
        if len(different) < 2:
            first = len(alone)  # not all in one fold, which would leave it no row
            alone.append(int(members[0]))
        fold[members] = ((first + rng.permutation(len(different))) % FOLDS)[inverse]
    if alone:
        warnings.warn(
            f"{len(alone)} of {int(label.max()) + 1} classes have one row only, or copies of it "
            f"(row {alone[0]}), so no model that was learned without it knows the class. Its "
            "probabilities mean little: give it more rows, or use probability=False.",
            CalibrationWarning,
            stacklevel=2,
        )
    return fold


def _keys(rows: Rows, direction: Floats) -> Floats:
    """Return one number a row, the same for rows with the same numbers wherever they stand."""
    direction = direction / float(np.abs(rows.values).max(initial=1.0))  # nothing overflows
    if rows.indptr is not None and rows.indices is not None:
        owner = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
        terms: Floats = rows.values * direction[rows.indices]
        return np.asarray(np.bincount(owner, terms, rows.n_rows), dtype=np.float64)
    keys = np.empty(rows.n_rows)
    for start, block in dense_blocks(rows):  # not a product of matrices: its bits have places
        keys[start : start + len(block)] = (block * direction).sum(axis=1)
    return keys


def sigmoid_of_scores(
    scores: Floats,
    is_positive: NDArray[np.bool_],
    weight: Floats | None = None,
    tol: float = 0.0,
) -> tuple[float, float]:
    """Return slope >= 0 and offset of the sigmoid that fits scores best.

    problem   minimise - sum_i c_i (t_i log p_i + (1 - t_i) log(1 - p_i)),
              p_i = sigma(slope s_i + offset)
    given     t = (N+ + 1) / (N+ + 2) for positive rows and 1 / (N- + 2) for the others, N+ and N-
              being their weights: no probability is fitted to 0 or 1
    returns   slope and offset; slope 0 where scores point the wrong way
    steps     1  start at slope 0 and the odds of the classes, scores in units of their size
              2  step by Newton's method
              3  halve the step until the loss falls enough
              4  end where the slope of the loss is 0 but for rounding
    source    Platt (1999); Lin, Lin and Weng (2007)

    Parameters
    ----------
    scores : ndarray, shape (n,)
        Of rows that their model did not learn from.
    is_positive : ndarray of bool, shape (n,)
    weight : ndarray, shape (n,), or None
    tol : float, default 0
        End where Newton's method expects to lower the loss by less than this fraction of it.
    """
    c = np.ones(len(scores)) if weight is None else weight
    up, down = float(c[is_positive].sum()), float(c[~is_positive].sum())
    t = np.where(is_positive, (up + 1.0) / (up + 2.0), 1.0 / (down + 2.0))
    unit = float(np.abs(scores).max()) or 1.0
    s = scores / unit
    a, b = 0.0, math.log((up + 1.0) / (down + 1.0))  # 1
    value = _loss(c, t, s, a, b)
    for _ in range(STEPS):
        p = sigmoid(a * s + b)
        row_gradient = c * (p - t)
        curve = c * p * (1.0 - p) + 1e-300
        gradient = np.array([row_gradient @ s, row_gradient.sum()])
        if np.abs(gradient).max() <= 1e-14 * c.sum():  # 4
            break
        h = np.array([[curve @ (s * s), curve @ s], [curve @ s, curve.sum()]])
        h += 1e-12 * np.trace(h) * np.eye(2)
        step = -np.linalg.solve(h, gradient)  # 2
        size, descent = 1.0, float(gradient @ step)
        if -descent <= tol * value:
            break
        for _ in range(HALVINGS):  # 3
            new = _loss(c, t, s, a + size * step[0], b + size * step[1])
            if new <= value + 1e-4 * size * descent:
                break
            size *= 0.5
        else:
            break  # the loss is flat but for rounding
        a, b, value = a + size * step[0], b + size * step[1], new
    if not a > 0:
        return 0.0, _constant(c, t)
    return a / unit, b


def _constant(c: Floats, t: Floats) -> float:
    """Return the log-odds of the mean target: the best offset where the slope is 0."""
    mean = float(c @ t) / float(c.sum())
    return math.log(mean) - math.log1p(-mean)


def _loss(c: Floats, t: Floats, s: Floats, a: float, b: float) -> float:
    f = a * s + b
    return float(c @ (np.logaddexp(0.0, f) - t * f))
