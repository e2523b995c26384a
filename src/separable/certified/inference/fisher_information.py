"""Standard errors of unpenalised weights from the observed Fisher information.

The information of weights and intercept at probabilities p is sum_i c_i p_i (1 - p_i) z_i z_i', z_i
a row with a 1 for the intercept; of K classes together, in contrasts with the first, its blocks are
sum_i c_i p_ik (1[k = l] - p_il) z_i z_i'. Rows times the root of their curvature are factored, not
multiplied with each other, so that columns that almost depend on each other keep their digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr, svd

from separable.certified.problem import Problem
from separable.typing import Floats

#: Rows that are factored at a time, as many times as columns.
TIMES = 4
#: Numbers of rows that are factored at a time, at least.
BLOCK = 1 << 18
#: A centred column whose length is below this share of what was taken from it is constant.
CONSTANT = 1e-14
#: A direction that no row tells of has at least this part of a weight that is not determined.
PART = 1e-8


@dataclass(frozen=True)
class Spread:
    """Standard errors of weights and intercepts, for the raw columns.

    Parameters
    ----------
    weights : ndarray, shape (k, d)
        Of one model, or of each class but the first in contrast with the first. NaN where the rows
        do not determine a weight.
    intercept : ndarray, shape (k,)
        NaN without one, and where it is not determined.
    rank : int
        Of the columns, without the one of the intercept.
    """

    weights: Floats
    intercept: Floats
    rank: int


def spread_of(problem: Problem, c: Floats, probabilities: Floats) -> Spread:
    """Return standard errors from the rows of a problem.

    Parameters
    ----------
    problem : Problem
        Rows are at least as many as unknowns of one class.
    c : ndarray, shape (n,)
        The weight of each row.
    probabilities : ndarray, shape (n, k)
        The probability of the class of one model, or of all but the first of classes together.
    """
    rest = 1.0 - probabilities.sum(axis=1)
    curve = (probabilities * (1.0 - probabilities)).sum(axis=1) + rest * (1.0 - rest)
    design = _Design(problem)
    white = design.whiten(c * curve)
    if probabilities.shape[1] == 1:
        roots = white.directions[None] * np.sqrt(2.0)  # the curvature counts p (1 - p) twice
    else:
        roots = _joint_roots(design, white, c, probabilities)
    return design.errors(roots, white)


@dataclass(frozen=True)
class _White:
    """Directions in which rows times the roots of weights have no correlation and length 1.

    Parameters
    ----------
    directions : ndarray, shape (m, rank)
        Unknowns, the intercept first, by direction.
    unit : ndarray, shape (m,)
        The inverse length of each column; 0 where it is constant.
    null : ndarray, shape (m - rank, m)
        Directions of which no row tells, of columns of length 1.
    """

    directions: Floats
    unit: Floats
    null: Floats

    def is_free(self, direction: Floats) -> bool:
        """Return whether no row tells of a sum of unknowns; a constant has the weight 0."""
        direction = direction * self.unit
        size = float(np.linalg.norm(direction))
        return bool((np.abs(self.null @ direction) > PART * size).any())


class _Design:
    """The rows of a problem with a column of ones, where there is an intercept, in front."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._first = int(problem.fit_intercept)
        scale = problem.columns.scale
        d = problem.rows.n_features
        self._scale = np.ones(d) if scale is None else scale
        self._size = d + self._first

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield blocks of rows, and which they are."""
        most = max(TIMES * self._size, BLOCK // self._size)
        some: list[Floats] = []
        start = held = 0
        for _, block in self._problem.x.blocks():
            wide = np.ones((len(block), self._size))
            wide[:, self._first :] = block
            some.append(wide)
            held += len(wide)
            if held >= most:
                yield slice(start, start + held), np.concatenate(some)
                start, held, some = start + held, 0, []
        if some:
            yield slice(start, start + held), np.concatenate(some)

    def whiten(self, weight: Floats) -> _White:
        """Return directions without correlation, of rows with weights."""
        triangle = np.empty((0, self._size))
        root = np.sqrt(weight)
        for here, rows in self.blocks():
            stacked = np.concatenate([triangle, rows * root[here, None]])
            (triangle,) = qr(stacked, mode="r", overwrite_a=True, check_finite=False)
            triangle = triangle[: self._size]
        length = np.sqrt(np.einsum("ij,ij->j", triangle, triangle))
        length[self._constant(length, float(weight.sum()))] = 0.0
        inverse = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
        _, sizes, vt = svd(triangle * inverse, full_matrices=True, check_finite=False)
        least = max(len(weight), self._size) * np.finfo(np.float64).eps * float(sizes.max())
        rank = int((sizes > least).sum())
        return _White(inverse[:, None] * vt[:rank].T / sizes[:rank], inverse, vt[rank:])

    def _constant(self, length: Floats, total: float) -> NDArray[np.bool_]:
        """Return which columns are nothing but the rounding of a constant that was taken off."""
        constant = np.zeros(self._size, np.bool_)
        shift = self._problem.columns.shift
        if shift is not None:
            near = np.abs(shift * self._scale) * np.sqrt(total)
            constant[self._first :] = length[self._first :] <= CONSTANT * near
        return constant

    def errors(self, roots: Floats, white: _White) -> Spread:
        """Return standard errors of columns as they came.

        Parameters
        ----------
        roots : ndarray, shape (k, m, r)
            Roots of the covariance of the unknowns of each model.
        white : _White
        """
        first, shift = self._first, self._problem.columns.shift
        errors = np.sqrt(np.einsum("kmr,kmr->km", roots, roots))
        free = np.abs(white.null).max(axis=0, initial=0.0) > PART
        weights = np.where(free[first:], np.nan, errors[:, first:] * self._scale)
        intercept = np.full(len(roots), np.nan)
        direction = np.zeros(self._size)
        direction[:first] = 1.0
        if first and shift is not None:
            direction[first:] = -shift * self._scale
        if first and not white.is_free(direction):
            intercept = np.linalg.norm(np.einsum("m,kmr->kr", direction, roots), axis=1)
        return Spread(weights, intercept, white.directions.shape[1] - first)


def _joint_roots(design: _Design, white: _White, c: Floats, probabilities: Floats) -> Floats:
    """Return roots of the covariance of each class, of classes learned jointly."""
    k, r = probabilities.shape[1], white.directions.shape[1]
    whole = np.zeros((k, r, k, r))
    for here, rows in design.blocks():
        seen, p = rows @ white.directions, probabilities[here]
        for a in range(k):
            left = (c[here] * p[:, a])[:, None] * seen
            for b in range(a + 1):
                factor = (1.0 - p[:, a]) if a == b else -p[:, b]
                whole[a, :, b] += (left * factor[:, None]).T @ seen
    for a in range(k):
        for b in range(a):
            whole[b, :, a] = whole[a, :, b].T
    values, vectors = eigh(whole.reshape(k * r, k * r), check_finite=False)
    # rounding alone makes an eigenvalue 0 or less: then nothing is known in its direction
    with np.errstate(divide="ignore", invalid="ignore"):
        vectors = vectors / np.sqrt(np.maximum(values, 0.0))
        roots: Floats = np.einsum("mr,krs->kms", white.directions, vectors.reshape(k, r, k * r))
    return roots
