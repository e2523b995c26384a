"""Newton's steps for all classes together: by the whole Hessian, or by conjugate gradients.

Equal changes of all classes change no probability; steps have none, in weights and intercepts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.cholesky import Cholesky
from separable.certified.multinomial_newton import Step
from separable.fitting.scatter import add_rows_to_scatter, fill_lower

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.certified.multinomial_newton import MultinomialObjective
    from separable.certified.multinomial_rows import MultinomialRows

    Floats = NDArray[np.float64]

__all__ = ["ConjugateSteps", "direct_step"]

#: Numbers of rows times classes that are written out at a time.
WRITTEN = 1 << 20
#: How much of the gradient a step may leave.
LOOSE = 0.2
#: Rows, as many times as columns, from which the curvature is guessed.
SAMPLE = 4
#: Least curvature of a column.
TINY = float(np.finfo(np.float64).tiny)


def direct_step(
    x: MultinomialRows,
    objective: MultinomialObjective,
    q: Floats,
    gradient: Floats,
    total: Floats,
    few: float = 0.0,
) -> Step:
    """Return the minimum of the quadratic model, by its whole Hessian."""
    del few
    bordered = objective.fit_intercept
    equations = Cholesky(_hessian(x, objective, q))
    right = np.vstack([gradient, total]) if bordered else gradient
    K = len(total)
    found = equations.solve(-right.T.ravel()).reshape(K, -1).T
    found = found - found.mean(axis=1, keepdims=True)
    du = np.ascontiguousarray(found[: x.size])
    db = found[-1] if bordered else np.zeros(K)
    return Step(du, db, x.scores(du) + db, np.zeros_like(du))


def _hessian(x: MultinomialRows, objective: MultinomialObjective, q: Floats) -> Floats:
    """Return the curvature by the weights of the first class, its intercept, the second, ...

    To which is added what acts on equal changes alone, so that it can be inverted.
    """
    K, m = q.shape[1], x.size + objective.fit_intercept
    whole = np.zeros((K, m, K, m))
    step = max(1, WRITTEN // (K * m))
    for here, rows in x.blocks(step):
        wide = np.column_stack([rows, np.ones(len(rows))]) if objective.fit_intercept else rows
        mine, c = q[here], objective.c[here]
        shared = mine[:, :, None] * wide[:, None, :]  # q_k x
        for k in range(K):
            cost = c * mine[:, k]
            left = wide * cost[:, None]
            after = shared[:, k + 1 :].reshape(len(rows), -1)
            whole[k, :, k + 1 :] -= (left.T @ after).reshape(m, K - k - 1, m)
            others = 1.0 - mine[:, k] if K == 1 else mine.sum(axis=1) - mine[:, k]
            whole[k, :, k] += (left * others[:, None]).T @ wide
    for k in range(K):
        whole[k + 1 :, :, k] = whole[k, :, k + 1 :].transpose(1, 2, 0)
        whole[k, range(x.size), k, range(x.size)] += objective.penalty
    sizes = np.einsum("kjkj->j", whole) / K**2
    diagonal = np.arange(m)
    for k in range(K):
        for other in range(K):
            whole[k, diagonal, other, diagonal] += sizes
    return whole.reshape(K * m, K * m)


class ConjugateSteps:
    """Steps by conjugate gradients on the quadratic model, from a guess of its inverse.

    Parameters
    ----------
    after_product : callable
        Called after each product with the rows there and back; True ends the work.
    """

    def __init__(self, after_product: Callable[[], bool]) -> None:
        self._after_product = after_product

    def __call__(
        self,
        x: MultinomialRows,
        objective: MultinomialObjective,
        q: Floats,
        gradient: Floats,
        total: Floats,
        few: float,
    ) -> Step:
        """Return a step that leaves a small part of the gradient, or few."""
        model = _Model(x, objective, q)
        du, db, moved = np.zeros_like(gradient), np.zeros_like(total), np.zeros(q.shape)
        left, rest = -gradient, -total
        pu, pb = model.inverse(left, rest)
        size = float(np.vdot(left, pu)) + float(rest @ pb)
        enough = min(LOOSE, size**0.25 / (1.0 + size) ** 0.25) ** 2 * size
        while size > 0:
            ds, image, sums = model.image(pu, pb)
            length = size / (float(np.vdot(pu, image)) + float(pb @ sums))
            if not np.isfinite(length):
                break
            du, db = du + length * pu, db + length * pb
            moved += length * ds
            left, rest = left - length * image, rest - length * sums
            mu, mb = model.inverse(left, rest)
            new = float(np.vdot(left, mu)) + float(rest @ mb)
            if self._after_product() or new <= enough or float(np.vdot(left, left)) <= few**2:
                break
            pu, pb = mu + (new / size) * pu, mb + (new / size) * pb
            size = new
        return Step(du, db, moved, left)


class _Model:
    """The quadratic model of the objective at some shares, and a guess of its inverse."""

    def __init__(self, x: MultinomialRows, objective: MultinomialObjective, q: Floats) -> None:
        self._x, self._objective = x, objective
        self._q: NDArray[Any] = q.astype(x.dtype, copy=False)
        self._c: NDArray[Any] = objective.c.astype(x.dtype, copy=False)
        spread = q * (1.0 - q)
        spread *= objective.c[:, None]
        self._of_b = spread.sum(axis=0)
        self._factor = self._guess(spread.mean(axis=1))
        self._diagonal = np.ones(1)
        if self._factor is None:
            self._diagonal = np.maximum(objective.penalty + x.squares(spread), TINY)

    def _guess(self, h: Floats) -> Cholesky | None:
        """Return the curvature of the mean class, from rows in proportion to what they add."""
        reach = np.cumsum(h)
        total, most = float(reach[-1]), SAMPLE * self._x.size
        if not (np.isfinite(total) and total > 0):
            return None
        chosen, weight = np.arange(len(h)), h
        if len(h) > 2 * most:
            places = (np.arange(most) + 0.5) * (total / most)
            chosen, times = np.unique(np.searchsorted(reach, places), return_counts=True)
            weight = times.astype(np.float64) * (total / most)
        rows = self._x.some(chosen)
        if rows is None:
            return None
        rows *= np.sqrt(weight)[:, None]
        products = np.zeros((rows.shape[1],) * 2)
        add_rows_to_scatter(products, rows)
        fill_lower(products)
        products[np.diag_indices(len(products))] += self._objective.penalty
        return Cholesky(products)

    def inverse(self, g: Floats, total: Floats) -> tuple[Floats, Floats]:
        """Return roughly what moves the gradient by g and the sums by total."""
        du = g / self._diagonal if self._factor is None else self._factor.solve(g)
        if not self._objective.fit_intercept:
            return du, np.zeros_like(total)
        db = np.divide(total, self._of_b, out=np.zeros_like(total), where=self._of_b > 0)
        return du, db - db.mean()

    def image(self, u: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the scores of a step, and by how much it moves gradient and sums."""
        ds, along, sums = self._x.curved(self._c, self._q, u, b)
        return ds, along + self._objective.penalty * u, sums
