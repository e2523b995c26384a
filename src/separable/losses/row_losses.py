"""Losses of all rows as functions of their scores, (n, K): of one score a row, or of all classes.

Newton's method, interior points, coordinate descent and certificates of joint classes see the
losses through these. A dual point has the values z of the rows, with the sign of the target; that
of joint classes has probabilities p, which stand for z_ik = c_i (1[y_i = k] - p_ik).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separable._core import native
from separable.losses.loss import LOGISTIC, Loss
from separable.losses.softmax import (
    best_intercepts,
    divergences,
    entropies,
    hessian_product,
    losses,
    softmax,
    totals,
)
from separable.typing import Floats, Indices


@dataclass(frozen=True)
class RowModel:
    """The second-order model of the losses at some scores.

    Parameters
    ----------
    gradient, curvature : ndarray, shape (n, K)
        First and second derivatives in each score.
    c : ndarray, shape (n,)
    q : ndarray, shape (n, K), or None
        Probabilities of the classes; None: K = 1.
    """

    gradient: Floats
    curvature: Floats
    c: Floats
    q: Floats | None = None

    @property
    def dual(self) -> Floats:
        """The dual point of the gradient."""
        return -self.gradient if self.q is None else self.q

    def moved(self, dual: Floats, ds: Floats) -> Floats:
        """Return a dual point after a change of scores, linearised."""
        if self.q is None:
            return dual - self.product(ds)
        return dual + hessian_product(np.ones(len(ds)), self.q, ds)

    def product(self, ds: Floats) -> Floats:
        """Return the Hessian product of each row."""
        return self.curvature * ds if self.q is None else hessian_product(self.c, self.q, ds)

    def coupling(self, k: int, other: int) -> Floats:
        """Return minus the mixed second derivative of two different scores, (n,)."""
        assert self.q is not None
        return self.c * self.q[:, k] * self.q[:, other]

    def hessians(self) -> Floats:
        """Return the second derivatives of each row, (n, K, K)."""
        if self.q is None:
            return self.curvature[:, :, None]
        hessians: Floats = -self.c[:, None, None] * self.q[:, :, None] * self.q[:, None, :]
        each = np.arange(self.q.shape[1])
        hessians[:, each, each] = self.curvature
        return hessians

    def root(self) -> Floats:
        """Return R, (n, K, K), with RR' the Hessian: c^1/2 (diag(q^1/2) - q q^1/2') if K > 1."""
        if self.q is None:
            return np.sqrt(self.curvature)[:, :, None]
        halves, each = np.sqrt(self.q), np.arange(self.q.shape[1])
        root = -self.q[:, :, None] * halves[:, None, :]
        root[:, each, each] += halves
        root *= np.sqrt(self.c)[:, None, None]
        return root


class RowLosses(ABC):
    """The losses of all rows, their derivatives and dual points.

    Parameters
    ----------
    y, c : ndarray, shape (n,)
        Targets and costs.
    width : int
        Scores of a row.
    """

    loss: Loss
    y: NDArray[Any]
    c: Floats
    width: int

    @abstractmethod
    def take(self, rows: Indices) -> RowLosses:
        """Return those of the given rows."""

    @abstractmethod
    def of_present(self) -> tuple[NDArray[np.intp], RowLosses]:
        """Return the scores that count, those of classes that have a cost, and their losses."""

    @abstractmethod
    def total(self, s: Floats) -> float:
        """Return the sum of the losses."""

    @abstractmethod
    def best_intercepts(self, s: Floats) -> Floats:
        """Return the optimal intercepts for scores s."""

    @abstractmethod
    def expand(self, s: Floats) -> RowModel:
        """Return the second-order model of the losses at scores s."""

    def evaluate(self, s: Floats) -> tuple[RowModel, float]:
        """Return the second-order model at scores s, and the sum of the losses."""
        return self.expand(s), self.total(s)

    @abstractmethod
    def dual_variables(self, dual: Floats) -> Floats:
        """Return the values z of a dual point, minus the gradients that it stands for."""

    @abstractmethod
    def dual_value(self, dual: Floats) -> float:
        """Return minus the sum of the conjugates."""

    @abstractmethod
    def gap(self, dual: Floats, s: Floats) -> float:
        """Return the sum of the gaps of the rows."""

    @abstractmethod
    def clip(self, dual: Floats) -> Floats:
        """Return a dual point clipped to its domain."""

    @abstractmethod
    def excess(self, dual: Floats) -> float:
        """Return how far a dual point is outside its domain."""


@dataclass(frozen=True)
class BinaryLosses(RowLosses):
    """A loss of one score a row."""

    loss: Loss
    y: Floats
    c: Floats
    width = 1

    def take(self, rows: Indices) -> BinaryLosses:
        return BinaryLosses(self.loss, self.y[rows], self.c[rows])

    def of_present(self) -> tuple[NDArray[np.intp], BinaryLosses]:
        return np.arange(1), self

    def total(self, s: Floats) -> float:
        return self.loss.total(self.y, s[:, 0], self.c)

    def best_intercepts(self, s: Floats) -> Floats:
        return np.array([self.loss.best_intercept(self.y, s[:, 0], self.c)])

    def expand(self, s: Floats) -> RowModel:
        gradient, curvature = self.loss.derivatives(self.y, s[:, 0], self.c)
        return RowModel(gradient[:, None], curvature[:, None], self.c)

    def dual_variables(self, dual: Floats) -> Floats:
        return dual

    def dual_value(self, dual: Floats) -> float:
        return self.loss.dual_total(self.y, self.c, dual[:, 0])

    def gap(self, dual: Floats, s: Floats) -> float:
        gaps = self.loss.gap(self.y, s[:, 0], self.c, dual[:, 0])
        return float(np.maximum(gaps, 0.0).sum())

    def clip(self, dual: Floats) -> Floats:
        return self.loss.clip_dual(self.y, self.c, dual[:, 0])[:, None]

    def excess(self, dual: Floats) -> float:
        return float(np.abs(dual - self.clip(dual)).sum())


@dataclass(frozen=True)
class SoftmaxLosses(RowLosses):
    """The multinomial log loss of K classes.

    Parameters
    ----------
    y : ndarray of int32, shape (n,)
        The class of each row.
    width : int
        K; classes without a cost are absent.
    """

    y: NDArray[np.int32]
    c: Floats
    width: int
    loss = LOGISTIC

    @cached_property
    def totals(self) -> Floats:
        """The total cost of each class."""
        return totals(self.y, self.c, self.width)

    @property
    def present(self) -> NDArray[np.bool_]:
        """The classes with a cost."""
        return self.totals > 0

    def take(self, rows: Indices) -> SoftmaxLosses:
        return SoftmaxLosses(self.y[rows], self.c[rows], self.width)

    def of_present(self) -> tuple[NDArray[np.intp], SoftmaxLosses]:
        present = np.flatnonzero(self.present)
        index = np.zeros(self.width, np.int32)
        index[present] = np.arange(len(present), dtype=np.int32)
        return present, SoftmaxLosses(index[self.y], self.c, len(present))

    def total(self, s: Floats) -> float:
        return float(self.c @ losses(self.y, s))

    def best_intercepts(self, s: Floats, guess: Floats | None = None) -> Floats:
        return best_intercepts(self.y, s, self.c, guess)

    def expand(self, s: Floats) -> RowModel:
        return self._model(softmax(s))

    def evaluate(self, s: Floats) -> tuple[RowModel, float]:
        """Return the second-order model at scores s, and the sum of the losses."""
        q, K = np.array(s, order="C"), self.width
        totals, hessian = np.zeros(K), np.zeros((K, K))
        loss = native.expand_softmax(self.y, self.c, q, totals, hessian)
        return self._model(q), loss

    def _model(self, q: Floats) -> RowModel:
        return RowModel(-self.dual_variables(q), self.c[:, None] * q * (1.0 - q), self.c, q)

    def dual_variables(self, dual: Floats) -> Floats:
        z = -dual
        index = np.arange(len(z))
        # 1 - p_y as the sum of the other probabilities avoids cancellation
        z[index, self.y] = 0.0
        z[index, self.y] = -(z @ np.ones(z.shape[1]))
        z *= self.c[:, None]
        return z

    def probabilities(self, z: Floats) -> Floats:
        """Return the probabilities of dual variables; one-hot for rows without a cost."""
        c = self.c[:, None]
        p = np.divide(-z, c, out=np.zeros_like(z), where=c > 0)
        p[np.arange(len(p)), self.y] += 1.0
        return p

    def dual_value(self, dual: Floats) -> float:
        return float(self.c @ entropies(dual))

    def gap(self, dual: Floats, s: Floats) -> float:
        return float(self.c @ divergences(dual, s))

    def clip(self, dual: Floats) -> Floats:
        p = np.maximum(dual, 0.0)
        p /= p.sum(axis=1, keepdims=True)
        return p

    def excess(self, dual: Floats) -> float:
        return -float(self.c @ np.minimum(dual, 0.0).sum(axis=1))

    def feasible(self, p: NDArray[Any], *, fit_intercept: bool) -> Floats:
        """Return feasible probabilities: in the simplex, with the class totals of the labels.

        The totals matter only with an intercept. Excess probability of a class is taken from its
        rows proportionally and moved to the classes with a deficit, in proportion to it.

        Parameters
        ----------
        p : ndarray of float32 or float64, shape (n, K)
            Rows need not sum to 1; negative and non-finite values count as 0.
        """
        kept = np.where(self.present & np.isfinite(p), np.maximum(p, 0.0), 0.0)
        probabilities = kept.astype(np.float64)
        total = probabilities @ np.ones(probabilities.shape[1])
        empty = np.flatnonzero(total <= 0)
        probabilities[empty, self.y[empty]] = 1.0
        total[empty] = 1.0
        probabilities /= total[:, None]
        if not fit_intercept:
            return probabilities
        got = self.c @ probabilities
        share = np.divide(self.totals, got, out=np.ones_like(got), where=got > 0)
        kept = np.minimum(1.0, share)
        lacking = np.maximum(self.totals - got * kept, 0.0)
        if lacking.sum() > 0:
            left = probabilities @ (1.0 - kept)
            probabilities *= kept
            probabilities += left[:, None] * (lacking / lacking.sum())
        return probabilities
