"""The choice of solver: one table by loss, rows and size."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from separable.certified.problem import Problem
from separable.certified.solvers.driver import Driver
from separable.certified.solvers.logistic_tiles import is_scattered, is_worth_spreading
from separable.certified.solvers.options import SolverOptions
from separable.penalties.signed_ridge import SignedRidgePenalty

#: Work budget of a model in a search over regression, in passes times non-zeros: about ten seconds
#: for 50 models. No other solver takes over from passes that it ends. At least this many passes are
#: run, and they stop at this relative gap. A budget of enough passes is none.
SEARCH_WORK, MIN_PASSES, ENOUGH_PASSES, SEARCH_TOL = 7e7, 10, 60, 1e-4
#: Multiplications of a factor in the time of a pass of dual coordinate descent over one non-zero.
PASS_COST = 100
#: Rows are of like norms up to this ratio of the largest squared norm and their mean.
ALIKE_NORMS = 4.0


@dataclass(frozen=True)
class Rule:
    """One line of the policy: the solvers of problems of a shape, one after the other.

    Parameters
    ----------
    loss : str
        "logistic", "smooth" or "piecewise" (linear).
    rows : str
        "dense", "sparse", "scattered" or "any". Of a logistic loss, sparse rows that are worth
        spreading are dense, and those whose columns are all light are "scattered", as in text.
    above : int
        It is for more rows and more columns than this.
    solvers : tuple of str
        Each takes over when the one before it ends without the requested gap.
    passes, max_passes : int
        Passes of the first solver, if there is another: ``passes``, and up to ``max_passes`` where
        norms of rows are alike and while passes cost less than one factor of the next solver.
    far : tuple of str
        The solvers that take over where those passes leave a gap above `driver.FAR`. Empty: the
        same ones.
    """

    loss: str
    rows: str
    above: int
    solvers: tuple[str, ...]
    passes: int = 1000
    max_passes: int = 0
    far: tuple[str, ...] = ()

    def passes_for(self, problem: Problem) -> int:
        """Return the passes of the first solver on the rows of a problem."""
        if self.max_passes <= self.passes or not _has_alike_norms(problem):
            return self.passes
        factor = min(problem.rows.shape) ** 3 / 6
        paid = int(factor / (PASS_COST * max(1, problem.rows.values.size)))
        return max(self.passes, min(paid, self.max_passes))


#: Semismooth Newton steps; an interior point if they stall; if it fails, too, steps to the end.
NEWTON_FIRST = ("semismooth_newton", "interior_point", "patient_semismooth_newton")

#: Problems with an l2 penalty; the first rule that holds counts. Without a penalty: newton. Weights
#: of one sign have signed_newton, whatever the loss.
#:
#: lbfgs has Newton steps of its own after 30 or 60 passes. dual_cd is first where rows are almost
#: orthogonal: text; with many rows and columns a step of the others costs hundreds of its passes.
#: semismooth_newton ends after `max_steps` steps, or when it
#: stalls: `SemismoothNewtonOptions`. Between 300 and 2000 sparse columns 20 passes tell: of tf-idf
#: they leave a gap below 1e-3, and few rows near the breakpoint for Newton steps; of counts and of
#: one-hot columns 4e-2, and the factors of the interior point, by BLAS, are faster. Above 4000 it
#: would factor too large a matrix. The limits of piecewise linear losses are read off
#: `benchmarks/piecewise_solvers.py`.
POLICY = (
    Rule("logistic", "dense", 2000, ("dual_cd", "newton"), 30),
    Rule("logistic", "scattered", 512, ("dual_cd", "lbfgs", "newton"), 60),
    Rule("logistic", "any", 0, ("lbfgs", "newton")),
    Rule("smooth", "any", 512, ("dual_cd", "newton"), 60),
    Rule("smooth", "any", 0, ("newton",)),
    Rule("piecewise", "sparse", 4000, ("dual_cd", "semismooth_newton"), 60, 600),
    Rule("piecewise", "sparse", 2000, ("dual_cd", *NEWTON_FIRST), 60, 600),
    Rule("piecewise", "sparse", 300, ("dual_cd", *NEWTON_FIRST), 20, 600, ("interior_point",)),
    Rule("piecewise", "any", 4000, ("semismooth_newton",)),
    Rule("piecewise", "any", 0, NEWTON_FIRST),
)
#: Problems with an l1 part, and squared errors.
L1_ORDER = ("coordinate_descent", "l1_interior_point")


def _has_alike_norms(problem: Problem) -> bool:
    """Return whether no row is much longer than the mean, as in tf-idf of texts."""
    squares = np.empty(problem.rows.n_rows)
    problem.core.squared_norms(squares)
    return bool(squares.max() <= ALIKE_NORMS * squares.mean())


def rule_of(problem: Problem, force: str | None = None) -> Rule:
    """Return the rule of a problem with an l2 penalty."""
    loss = "smooth" if problem.loss.is_smooth else "piecewise"
    loss = "logistic" if problem.loss.is_multinomial else loss
    if force is not None:
        return Rule(loss, "any", 0, (force,))
    n, d = problem.rows.shape
    is_dense = not problem.rows.is_sparse
    rows = "dense" if is_dense else "sparse"
    if not is_dense and loss == "logistic":
        rows = "dense" if is_worth_spreading(problem) else rows
        rows = "scattered" if rows == "sparse" and is_scattered(problem) else rows
    return next(
        rule
        for rule in POLICY
        if rule.loss == loss and rule.rows in (rows, "any") and min(n, d) > rule.above
    )


def solver_of(problem: Problem, solver_options: SolverOptions) -> Driver:
    """Return the solver for a problem."""
    if isinstance(problem.penalty, SignedRidgePenalty):
        return Driver(problem, solver_options, ("signed_newton",))
    if not problem.penalty.is_smooth or problem.loss.is_quadratic:
        order = L1_ORDER if solver_options.force is None else (solver_options.force,)
        most = solver_options.max_iter
        sweeps = solver_options.l1.sweeps(problem.rows, most, problem.n_classes)
        return Driver(problem, solver_options, order if sweeps < most else order[:1], sweeps)
    rule = rule_of(problem, solver_options.force)
    passes = int(max(MIN_PASSES, SEARCH_WORK // max(1, problem.rows.values.size)))
    is_searched = problem.is_regression and not solver_options.certified
    if is_searched and rule.solvers[0] == "dual_cd" and passes < ENOUGH_PASSES:
        tol = SEARCH_TOL if solver_options.tol is None else solver_options.tol
        max_iter = min(passes, solver_options.max_iter)
        # certificates tell which models the budget ended
        options = replace(solver_options, tol=tol, max_iter=max_iter, scores_only=False)
        return Driver(problem, options, ("dual_cd",))
    passes = rule.passes_for(problem)
    return Driver(problem, solver_options, rule.solvers, passes, rule.far)
