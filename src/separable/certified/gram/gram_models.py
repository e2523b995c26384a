"""Elastic net models from the Gram matrix, or from the rows if it lacks digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.duality.gap import certify
from separable.certified.duality.published import Published, publish
from separable.certified.gram.gram_problem import GramProblem, SquareModels
from separable.certified.number_range import inverse_scales
from separable.certified.problem import Columns, Problem
from separable.certified.solvers.options import SolverOptions
from separable.certified.solvers.parallel import Cancellation
from separable.certified.solvers.policy import solver_of
from separable.certified.solvers.solved import Solved, Start
from separable.data.rows import Rows, largest_magnitude
from separable.penalties.elastic_net import ElasticNetPenalty
from separable.typing import Floats

#: Rounding of the largest alpha must not leave a weight.
MARGIN = 1.0 + 1e-12


def refuse_not_finite(rows: Rows) -> None:
    """Refuse rows that are not finite and that no sums tell of."""
    largest_magnitude(rows, rows)


def with_end(solver_options: SolverOptions) -> tuple[SolverOptions, Cancellation]:
    """Return a request whose callback ends all work once it says so, and where that is kept."""
    end = Cancellation(solver_options.callback)
    if solver_options.callback is None and solver_options.n_jobs == 1:
        return solver_options, end
    return replace(solver_options, callback=end), end


def models_of(
    gram: GramProblem,
    alphas: Floats,
    penalty: ElasticNetPenalty,
    solver_options: SolverOptions,
    rows: Callable[[], Problem],
    *,
    is_small: bool,
) -> SquareModels:
    """Learn the models of some alphas from sums; where these lack digits the rows are asked.

    Parameters
    ----------
    alphas : ndarray, shape (K,)
        In any order.
    rows : callable
        Returns the problem of the same rows.
    is_small : bool
        Whether to solve to rounding.
    """
    order = np.argsort(-alphas, kind="stable")
    most = solver_options.max_iter
    if is_small and most > solver_options.l1.min_iter:
        most -= min(solver_options.l1.max_interior_steps, most // 2)
    options = replace(solver_options, max_iter=most)
    found, known = gram.path(alphas[order], penalty, options, is_small=is_small)
    if most < solver_options.max_iter:  # small problems have another solver, on the rows
        known = known & np.array([one.converged for one in found.certificates])
    doubtful = np.flatnonzero(~known)
    if len(doubtful):
        _ask_rows(rows(), found, alphas[order], doubtful, solver_options)
    back = np.argsort(order, kind="stable")
    return SquareModels(
        found.weights[back],
        found.intercept[back],
        [found.certificates[k] for k in back],
        found.steps[back],
        [found.solvers[k] for k in back],
    )


def _ask_rows(
    problem: Problem,
    found: SquareModels,
    alphas: Floats,
    doubtful: NDArray[np.intp],
    solver_options: SolverOptions,
) -> None:
    """Certify models from the rows, and learn those from the rows that did not converge."""
    tol = solver_options.requested_tol
    for k in doubtful.tolist():
        certified_solution, published = certify_alpha(
            problem, float(alphas[k]), found.weights[k], tol
        )
        left = solver_options.max_iter - int(found.steps[k])
        if not certified_solution.certificates[0].converged and left > 0:
            rest = replace(solver_options, max_iter=left)
            better, other = learn_from_rows(problem, float(alphas[k]), rest, found.weights[k])
            if better.solution.is_better_than(certified_solution):
                published = other
                found.steps[k] += better.passes[0]
                found.solvers[k] = better.solvers[0]
        found.weights[k], found.intercept[k] = published.weights[:, 0], published.intercept[0]
        found.certificates[k] = published.certificates[0]


# ---------------------------------------------------------------------- from the rows


def alpha_max(problem: Problem) -> float:
    """Return the smallest alpha for which all weights are 0, with a margin for rounding."""
    y = np.asarray(problem.target, dtype=np.float64)
    share = np.full(len(y), 1.0 / len(y))
    if problem.weight is not None:
        share = problem.weight / problem.weight.sum()
    if problem.fit_intercept:
        y = y - share @ y
    correlation = problem.x.rmatvec((share * y)[:, None])[:, 0] / math.sqrt(problem.value)
    largest = float(
        (correlation if problem.penalty.positive else np.abs(correlation)).max(initial=0.0)
    )
    return largest / problem.penalty.l1_ratio * MARGIN


def certify_alpha(
    problem: Problem, alpha: float, weights: Floats, tol: float
) -> tuple[CertifiedSolution, Published]:
    """Certify weights of the raw columns, from the rows, with the best intercept."""
    lanes = [problem.alpha_lane(alpha)]
    u, _ = problem.columns.seen(weights[:, None], np.zeros(1))
    found = certify(problem, lanes, None, tol, u)
    return found.times(alpha), publish(problem, lanes, found, alpha=alpha)


def learn_from_rows(
    problem: Problem, alpha: float, solver_options: SolverOptions, weights: Floats | None
) -> tuple[Solved, Published]:
    """Learn one model from the rows; certificate and dual point are those of alpha's problem."""
    start, lanes = None, [problem.alpha_lane(alpha)]
    if weights is not None:
        u, b = problem.columns.seen(weights[:, None], np.zeros(1))
        start = Start(np.zeros((problem.rows.n_rows, 1)), b, u)
    (solved,) = solver_of(problem, solver_options).solve(lanes, start)
    published = publish(problem, lanes, solved.solution, alpha=alpha)
    return replace(solved, solution=solved.solution.times(alpha)), published


def columns_of(gram: GramProblem, *, standardize: bool, is_sparse: bool) -> Columns:
    """Return what models from sums tell of columns: nothing, or how they were standardised."""
    if not standardize:
        return Columns()
    shift = gram.mean if gram.fit_intercept and not is_sparse else None
    return Columns(shift, inverse_scales(gram.penalised))
