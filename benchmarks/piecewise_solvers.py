"""Solvers of piecewise linear losses, each forced on the same problems: where passes begin to pay.

Run as ``python -m benchmarks.piecewise_solvers``. Prints the CPU time, the steps and the relative
gap of one fit for each shape and solver. `certified.solvers.policy.POLICY` is read off
these. Then the same of semismooth Newton steps by the width of their first zone,
`SemismoothNewton::kFirstWidth`, on dense, one-hot and count tables.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from separable.certified.preparation import prepare
from separable.certified.problem import Lane
from separable.certified.solvers.options import SemismoothNewtonOptions, SolverOptions
from separable.certified.solvers.policy import solver_of
from separable.certified.solvers.solved import Start
from separable.data.rows import as_rows
from separable.losses.loss import HINGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.certified.problem import Problem

#: Rows, columns, fraction of non-zeros (1: dense).
SHAPES = [
    (2000, 20, 1.0),
    (2000, 200, 1.0),
    (10_000, 256, 0.05),
    (10_000, 512, 0.03),
    (10_000, 1024, 0.015),
    (10_000, 4096, 0.004),
    (10_000, 16_384, 0.001),
]
SOLVERS = ["semismooth_newton", "dual_cd", "interior_point"]
#: Widths of the first zone, and regularizations.
WIDTHS, VALUES = (2.0, 1.4, 1.0, 0.7), (0.1, 1.0, 10.0)
#: Timed fits of each width; the least counts.
REPEATS = 3


def run() -> None:
    """Print one line a shape and solver."""
    rng = np.random.default_rng(0)
    print("rows columns density solver CPU_s steps relative_gap")
    for n, d, density in SHAPES:
        X = rng.normal(size=(n, d))
        if density < 1:
            X = sp.random_array((n, d), density=density, rng=rng, format="csr")
        y = (X @ rng.normal(size=d) + 0.5 * rng.normal(size=n) > 0).astype(np.int32)
        problem = prepare(as_rows(X), HINGE, y, None, fit_intercept=True, standardize=False)
        for force in SOLVERS:
            solver = solver_of(problem, SolverOptions(tol=1e-6, max_iter=200, force=force))
            start = time.process_time()
            (solved,) = solver.solve([Lane(1.0)])
            seconds = time.process_time() - start
            gap = solved.solution.certificates[0].relative_gap
            print(n, d, density, force, f"{seconds:.3f}", int(solved.passes[0]), f"{gap:.1e}")


def _tables() -> Iterator[tuple[str, Any]]:
    """Yield generated tables and their names."""
    rng = np.random.default_rng(0)
    yield "dense", rng.normal(size=(10_000, 100))
    levels = rng.integers(0, 10, size=(20_000, 20)) + 10 * np.arange(20)
    ones = np.ones(levels.size)
    yield "one-hot", sp.csr_array((ones, levels.ravel(), np.arange(0, levels.size + 1, 20)))
    chance = 1 / np.arange(1, 301)
    words = rng.choice(300, size=(40_000, 14), p=chance / chance.sum())
    counts = sp.csr_array((np.ones(words.size), words.ravel(), np.arange(0, words.size + 1, 14)))
    counts.sum_duplicates()
    yield "counts", counts


def _fit(problem: Problem, width: float, C: float) -> tuple[float, int]:
    """Return the seconds and steps of a fit from weights of 0."""
    n, d = problem.rows.shape
    start = Start(np.zeros((n, 1)), np.zeros(1), np.zeros((d, 1)))
    steps = SemismoothNewtonOptions(warm_width=width)
    options = SolverOptions(tol=1e-6, force="semismooth_newton", semismooth_newton=steps)
    solver = solver_of(problem, options)
    before = time.process_time()
    (solved,) = solver.solve([Lane(C)], start)
    return time.process_time() - before, int(solved.passes[0])


def run_widths() -> None:
    """Print one line a table, share of positive rows, C and width of the first zone."""
    rng = np.random.default_rng(1)
    print("table positive C width CPU_s steps")
    for name, X in _tables():
        score = X @ rng.normal(size=X.shape[1])
        score = score / score.std() + 0.3 * rng.normal(size=len(score))
        for share in (0.5, 0.05):
            y = (score > np.quantile(score, 1 - share)).astype(np.int32)
            problem = prepare(as_rows(X), HINGE, y, None, fit_intercept=True, standardize=False)
            for C in VALUES:
                for width in WIDTHS:
                    seconds, steps = min(_fit(problem, width, C) for _ in range(REPEATS))
                    print(name, share, C, width, f"{seconds:.3f}", steps)


if __name__ == "__main__":
    run()
    run_widths()
