"""Newton steps for multinomial logistic regression: full Hessian or conjugate gradients.

Probabilities are invariant to equal changes of all classes; steps have mean 0 over the classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.solvers.softmax_newton import Step
from separable.linalg.blas import add_rows_to_scatter, fill_lower
from separable.linalg.cholesky import Cholesky

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from separable.certified.design.softmax_products import MultinomialRows
    from separable.certified.solvers.softmax_newton import MultinomialObjective
    from separable.typing import Floats

    Guess = Callable[[Floats, Floats], tuple[Floats, Floats]]

__all__ = ["MAX_HESSIAN_SIZE", "ConjugateSteps", "direct_step"]

#: Maximum number of weights of all classes for a full Hessian, of all rows or a sample.
MAX_HESSIAN_SIZE = 1500
#: Cells of rows times classes that are expanded at a time.
BLOCK_CELLS = 1 << 20
#: Largest relative residual of conjugate gradients (the forcing term).
FORCING_TERM = 0.2
#: Sampled rows per weight for the preconditioner.
ROWS_PER_WEIGHT = 8
#: Maximum number of columns for a Gram matrix.
MAX_GRAM_COLUMNS = 2000
#: Smallest curvature of a column.
TINY = float(np.finfo(np.float64).tiny)


def direct_step(
    x: MultinomialRows,
    objective: MultinomialObjective,
    q: Floats,
    gradient: Floats,
    total: Floats,
    residual_tol: float = 0.0,
) -> Step:
    """Return the Newton step by the full Hessian."""
    del residual_tol
    bordered = objective.fit_intercept
    equations = Cholesky(_hessian(x, objective, q))
    right = np.vstack([gradient, total]) if bordered else gradient
    K = len(total)
    solution = equations.solve(-right.T.ravel()).reshape(K, -1).T
    solution = solution - solution.mean(axis=1, keepdims=True)
    du = np.ascontiguousarray(solution[: x.size])
    db = solution[-1] if bordered else np.zeros(K)
    return Step(du, db, x.matvec(du) + db, np.zeros_like(du))


def _hessian(x: MultinomialRows, objective: MultinomialObjective, q: Floats) -> Floats:
    """Return the Hessian in all weights and intercepts."""
    step = max(1, BLOCK_CELLS // (q.shape[1] * (x.size + 1)))
    parts = ((rows, q[here], objective.c[here]) for here, rows in x.blocks(step))
    return _curvature(parts, objective, x.size)


def _curvature(
    parts: Iterable[tuple[Floats, Floats, Floats]], objective: MultinomialObjective, size: int
) -> Floats:
    """Return the Hessian in the weights of the first class, its intercept, the second class, ...

    A term that acts on equal changes of all classes only makes it invertible. Parts are rows with
    their probabilities and costs.
    """
    K, m = objective.n_classes, size + objective.fit_intercept
    whole = np.zeros((K, m, K, m))
    for rows, q_part, c in parts:
        wide = np.column_stack([rows, np.ones(len(rows))]) if objective.fit_intercept else rows
        shared = q_part[:, :, None] * wide[:, None, :]  # q_k x
        for k in range(K):
            cost = c * q_part[:, k]
            left = wide * cost[:, None]
            after = shared[:, k + 1 :].reshape(len(rows), -1)
            whole[k, :, k + 1 :] -= (left.T @ after).reshape(m, K - k - 1, m)
            others = 1.0 - q_part[:, k] if K == 1 else q_part.sum(axis=1) - q_part[:, k]
            whole[k, :, k] += (left * others[:, None]).T @ wide
    for k in range(K):
        whole[k + 1 :, :, k] = whole[k, :, k + 1 :].transpose(1, 2, 0)
        whole[k, range(size), k, range(size)] += objective.penalty
    sizes = np.einsum("kjkj->j", whole) / K**2
    diagonal = np.arange(m)
    for k in range(K):
        for other in range(K):
            whole[k, diagonal, other, diagonal] += sizes
    return whole.reshape(K * m, K * m)


class ConjugateSteps:
    """Truncated Newton steps by preconditioned conjugate gradients.

    Parameters
    ----------
    after_product : callable
        Called after each Hessian-vector product; returning True stops the solver.
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
        residual_tol: float,
    ) -> Step:
        """Return a step with a small residual, relative to the gradient or absolute."""
        model = _Model(x, objective, q)
        du, db, moved = np.zeros_like(gradient), np.zeros_like(total), np.zeros(q.shape)
        left, rest = -gradient, -total
        pu, pb = model.inverse(left, rest)
        size = float(np.vdot(left, pu)) + float(rest @ pb)
        enough = min(FORCING_TERM, size**0.25 / (1.0 + size) ** 0.25) ** 2 * size
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
            if (
                self._after_product()
                or new <= enough
                or float(np.vdot(left, left)) <= residual_tol**2
            ):
                break
            pu, pb = mu + (new / size) * pu, mb + (new / size) * pb
            size = new
        return Step(du, db, moved, left)


class _Model:
    """The Hessian at given probabilities, as an operator, with a preconditioner."""

    def __init__(self, x: MultinomialRows, objective: MultinomialObjective, q: Floats) -> None:
        self._x, self._objective = x, objective
        self._q: NDArray[Any] = q.astype(x.dtype, copy=False)
        self._c: NDArray[Any] = objective.c.astype(x.dtype, copy=False)
        self._guess = _guess(x, objective, q)

    def inverse(self, g: Floats, total: Floats) -> tuple[Floats, Floats]:
        """Apply the preconditioner."""
        return self._guess(g, total)

    def image(self, u: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the scores of a direction and its Hessian product."""
        ds, along, sums = self._x.hessian_products(self._c, self._q, u, b)
        return ds, along + self._objective.penalty * u, sums


def _guess(x: MultinomialRows, objective: MultinomialObjective, q: Floats) -> Guess:
    """Return a preconditioner from a sample of rows.

    Rows are sampled in proportion to their leverage-like contribution to the curvature.
    """
    spread = q * (1.0 - q)
    spread *= objective.c[:, None]
    h = spread.mean(axis=1)
    total, together = float(h.sum()), objective.n_classes * (x.size + 1) <= MAX_HESSIAN_SIZE
    if not (np.isfinite(total) and total > 0) or x.size > MAX_GRAM_COLUMNS:
        return _Diagonal(x, spread, objective)
    chosen, times = np.arange(len(h)), np.ones(len(h))
    most = ROWS_PER_WEIGHT * x.size * (objective.n_classes if together else 1)
    if len(h) > 2 * most:
        sizes = np.maximum(objective.penalty + x.squares(h[:, None])[:, 0], TINY)
        cumulative = np.cumsum(h * (x.lengths(1.0 / sizes) + x.size / total))
        quantiles = (np.arange(most) + 0.5) * (cumulative[-1] / most)
        chosen, counts = np.unique(np.searchsorted(cumulative, quantiles), return_counts=True)
        times = counts * (cumulative[-1] / most) / np.diff(cumulative, prepend=0.0)[chosen]
    if together:
        return _Together(x.take(chosen), q[chosen], times * objective.c[chosen], objective)
    return _ClassByClass(x.take(chosen), times * h[chosen], spread, objective)


class _Together:
    """Preconditioner by the full Hessian of sampled rows."""

    def __init__(self, rows: Floats, q: Floats, c: Floats, objective: MultinomialObjective) -> None:
        self._has_b = objective.fit_intercept
        step = max(1, BLOCK_CELLS // (q.shape[1] * (rows.shape[1] + 1)))
        cuts = [slice(start, start + step) for start in range(0, len(rows), step)]
        parts = ((rows[cut], q[cut], c[cut]) for cut in cuts)
        self._factor = Cholesky(_curvature(parts, objective, rows.shape[1]))

    def __call__(self, g: Floats, total: Floats) -> tuple[Floats, Floats]:
        right = np.vstack([g, total]) if self._has_b else g
        solution = self._factor.solve(right.T.ravel()).reshape(len(total), -1).T
        solution = solution - solution.mean(axis=1, keepdims=True)
        du = np.ascontiguousarray(solution[: len(g)])
        return du, solution[-1] if self._has_b else np.zeros_like(total)


class _Intercepts:
    """Diagonal preconditioner of the intercepts."""

    def __init__(self, spread: Floats, objective: MultinomialObjective) -> None:
        self._curvature, self._has_b = spread.sum(axis=0), objective.fit_intercept

    def __call__(self, total: Floats) -> Floats:
        if not self._has_b:
            return np.zeros_like(total)
        db: Floats = np.divide(
            total, self._curvature, out=np.zeros_like(total), where=self._curvature > 0
        )
        db -= db.mean()
        return db


class _ClassByClass:
    """Preconditioner by the mean curvature of the classes, the same for each class."""

    def __init__(
        self, rows: Floats, h: Floats, spread: Floats, objective: MultinomialObjective
    ) -> None:
        rows *= np.sqrt(h)[:, None]
        products = np.zeros((rows.shape[1],) * 2)
        add_rows_to_scatter(products, rows)
        fill_lower(products)
        products[np.diag_indices(len(products))] += objective.penalty
        self._factor, self._intercepts = Cholesky(products), _Intercepts(spread, objective)

    def __call__(self, g: Floats, total: Floats) -> tuple[Floats, Floats]:
        return self._factor.solve(g), self._intercepts(total)


class _Diagonal:
    """Diagonal preconditioner."""

    def __init__(self, x: MultinomialRows, spread: Floats, objective: MultinomialObjective) -> None:
        self._curvature = np.maximum(objective.penalty + x.squares(spread), TINY)
        self._intercepts = _Intercepts(spread, objective)

    def __call__(self, g: Floats, total: Floats) -> tuple[Floats, Floats]:
        return g / self._curvature, self._intercepts(total)
