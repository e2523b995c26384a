"""Solvers of piecewise linear losses, each forced on the same problems: where passes begin to pay.

Run as ``python -m benchmarks.piecewise_solvers``. Prints the CPU time, the steps and the relative
gap of one fit for each shape and solver. `certified.solvers.policy.POLICY` is read off
these.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp

from separable.certified.preparation import prepare
from separable.certified.problem import Lane
from separable.certified.solvers.options import SolverOptions
from separable.certified.solvers.policy import solver_of
from separable.data.rows import as_rows
from separable.losses.loss import HINGE

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


if __name__ == "__main__":
    run()
