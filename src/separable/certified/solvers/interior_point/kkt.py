"""KKT systems of an interior-point step, for many rows and columns.

problem   [[I + Z'CZ, Z'c], [c'Z, sum c]] [dw, db] = [right, last],  C = diag(c), c >= 0
given     Z by matvec and rmatvec; c, different in each step, from tiny to huge
steps     1. while the system is well conditioned: conjugate gradients, diagonal preconditioner
          2. else conjugate gradients preconditioned by the rows that matter, factored exactly: all
             but those whose c_i |z_i|^2 have a small sum. With m such rows, Cholesky of
             I + C^1/2 ZZ' C^1/2, m x m (Woodbury's identity), or d x d
source    S. Fine, K. Scheinberg, Efficient SVM training using low-rank kernel representations,
          J. Mach. Learn. Res. 2 (2001), for the identity; rows at a bound have c -> 0
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from separable.certified.solvers.options import KktOptions
from separable.linalg.cholesky import Bordered, Cholesky

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.linalg.design_matrix import DesignMatrix
    from separable.typing import Floats

    Solve = Callable[[Floats], Floats]

__all__ = ["Equations", "KktRows", "RowGram"]


class Equations(Protocol):
    """The linear system of one step."""

    def solve(self, right: Floats, last: float) -> tuple[Floats, float]:
        """Return the solution for the weights and the intercept."""


class KktRows:
    """A design matrix that builds the KKT system of each step; see `DesignMatrix`.

    Parameters
    ----------
    x : DesignMatrix
        In the problem's columns.
    gram : RowGram
        Gram matrix of the same rows.
    """

    def __init__(self, x: DesignMatrix, gram: RowGram) -> None:
        self._x, self._gram, self._options = x, gram, gram.options
        self.shape, self.is_easy = x.shape, True
        self.matvec, self.rmatvec, self.gram = x.matvec, x.rmatvec, x.gram
        self.take, self.expand, self.project = x.take, x.expand, x.project

    def equations(self, c: Floats, *, fit_intercept: bool) -> Equations:
        """Return the linear system of a step."""
        options = self._options
        system = _System(self._x, c, fit_intercept=fit_intercept)
        n, d = self.shape
        size = c * self._gram.squared_norms
        order = np.argsort(-size, kind="stable")
        tail = np.cumsum(size[order][::-1])[::-1]
        m = int(np.count_nonzero(tail > options.max_omitted))
        most = self._rounds(min(m, d), n)

        def exact() -> Equations:
            if min(m, d) > options.max_factored:
                return alone
            if m <= d:
                kept = np.sort(order[:m])
                solve = self._woodbury(kept, c, fit_intercept=fit_intercept)
                return _Iterative(system, solve, options.max_cg_steps, options.cg_tol_factored)
            products = self._x.gram(c)
            products[np.diag_indices(d)] += 1.0
            return Bordered(
                products, self._x.rmatvec(c), system.corner, fit_intercept=fit_intercept
            )

        diagonal = system.diagonal_inverse(self._x.squared_norms(c))
        alone = _Iterative(system, diagonal, most, options.cg_tol)
        return _EasyFirst(self, alone, exact) if self.is_easy else exact()

    def _rounds(self, unknowns: int, n: int) -> int:
        """Return the conjugate gradient steps that cost no more than a factorization."""
        options = self._options
        if unknowns > options.max_factored:
            return options.max_cg_steps_alone
        one = 4.0 * options.dense_is_faster * self._x.nnz + 20.0 * (n + self.shape[1])
        steps = unknowns**3 / 3.0 / (4.0 * one)
        return int(np.clip(steps, options.max_cg_steps, options.max_cg_steps_alone))

    def _woodbury(self, kept: NDArray[np.intp], c: Floats, *, fit_intercept: bool) -> Solve:
        """Return the exact solver of the system restricted to some rows."""
        x, n = self._x, len(c)
        root = np.sqrt(c[kept])
        products = self._gram.of(kept)
        products *= root
        products *= root[:, None]
        products[np.diag_indices(len(kept))] += 1.0
        factor = Cholesky(products)
        del products

        def spread(r: Floats) -> Floats:
            full = np.zeros(n)
            full[kept] = root * r
            return x.rmatvec(full)

        mixed, corner, border = np.zeros(x.shape[1]), 0.0, np.zeros(len(kept))
        if fit_intercept and len(kept):
            border = factor.solve(root)
            corner = float(border @ root)
            mixed = spread(border)

        def solve(right: Floats) -> Floats:
            scores = root * x.matvec(right[:-1])[kept]
            u = right[:-1] - spread(factor.solve(scores))
            b = (right[-1] - float(border @ scores)) / corner if corner > 0 else 0.0
            return np.append(u - b * mixed, b)

        return solve


class RowGram:
    """Row norms and Gram matrix ZZ' of a problem.

    Parameters
    ----------
    x : DesignMatrix
    options : KktOptions, optional
    """

    def __init__(self, x: DesignMatrix, options: KktOptions | None = None) -> None:
        self._x = x
        self.options = KktOptions() if options is None else options

    def prepare(self) -> None:
        """Compute what lanes share before threads start."""
        _ = self.squared_norms, self._all

    @cached_property
    def squared_norms(self) -> Floats:
        """|z|^2 of each row."""
        return self._x.row_norms()

    def of(self, kept: NDArray[np.intp]) -> Floats:
        """Return the Gram matrix of some rows, as a copy."""
        return self._x.row_gram(kept) if self._all is None else self._all[np.ix_(kept, kept)]

    @cached_property
    def _all(self) -> Floats | None:
        n = self._x.shape[0]
        return self._x.row_gram(np.arange(n)) if n <= self.options.max_kept_rows else None


class _System:
    """The system as a linear operator, intercept last."""

    def __init__(self, x: DesignMatrix, c: Floats, *, fit_intercept: bool) -> None:
        self._x, self._c = x, c
        self.corner = float(c.sum()) if fit_intercept else 0.0

    def times(self, p: Floats) -> Floats:
        """Return the product with a vector."""
        rows = self._c * (self._x.matvec(p[:-1]) + (float(p[-1]) if self.corner > 0 else 0.0))
        last = float(rows.sum()) if self.corner > 0 else float(p[-1])
        return np.append(p[:-1] + self._x.rmatvec(rows), last)

    def diagonal_inverse(self, squares: Floats) -> Solve:
        """Return the diagonal preconditioner."""
        diagonal = np.append(1.0 + squares, self.corner if self.corner > 0 else 1.0)
        return lambda right: right / diagonal


class _Iterative:
    """Preconditioned conjugate gradients."""

    def __init__(self, system: _System, roughly: Solve, most: int, tol: float) -> None:
        self._system, self._roughly, self._most, self._tol = system, roughly, most, tol

    def solve(self, right: Floats, last: float) -> tuple[Floats, float]:
        """Return the solution for the weights and the intercept."""
        x, _ = self.run(right, last)
        return x[:-1], float(x[-1])

    def run(self, right: Floats, last: float) -> tuple[Floats, bool]:
        """Return the solution, and whether it converged."""
        return self._run(np.append(right, last if self._system.corner > 0 else 0.0))

    def _run(self, left: Floats) -> tuple[Floats, bool]:
        x, scaled = np.zeros(len(left)), self._roughly(left)
        size = float(left @ scaled)
        enough, p = self._tol**2 * size, scaled
        for _ in range(self._most):
            if not size > 0:
                break
            image = self._system.times(p)
            length = size / float(p @ image)
            if not np.isfinite(length):
                return x, False
            x = x + length * p
            left = left - length * image
            scaled = self._roughly(left)
            new = float(left @ scaled)
            if new <= enough:
                return x, True
            p, size = scaled + (new / size) * p, new
        return x, not size > 0


class _EasyFirst:
    """Conjugate gradients until they first fail to converge; then always factorization."""

    def __init__(self, rows: KktRows, alone: _Iterative, exact: Callable[[], Equations]) -> None:
        self._rows, self._alone, self._make = rows, alone, exact

    def solve(self, right: Floats, last: float) -> tuple[Floats, float]:
        """Return the solution for the weights and the intercept."""
        if self._rows.is_easy:
            x, self._rows.is_easy = self._alone.run(right, last)
            if self._rows.is_easy:
                return x[:-1], float(x[-1])
        return self._exact.solve(right, last)

    @cached_property
    def _exact(self) -> Equations:
        return self._make()
