"""Learning lanes of all classes together, under a penalty with corners, along chains of strengths."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from separable.certified.l1_judge import corner_and_curve
from separable.certified.l1_multinomial import L1Multinomial
from separable.certified.l1_multinomial_judge import judge_l1_multinomial
from separable.certified.l1_solve import L1Solver
from separable.certified.solve import Solved
from separable.certified.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from separable.certified.dual_lanes import Start
    from separable.certified.judge import Judgement
    from separable.certified.problem import Lane
    from separable.certified.sharing import End

    Floats = NDArray[np.float64]

__all__ = ["L1MultinomialSolver"]


class L1MultinomialSolver(L1Solver):
    """Learns lanes of one problem, each all classes together, with an l1 or elastic net penalty.

    Lanes of one fold are a chain from small to large C, each starting from the weights of the one
    before.

    Parameters
    ----------
    problem : Problem
        With ``n_classes``; its loss is log loss.
    request : Request
    """

    def _learn(
        self, lanes: Sequence[Lane], chain: list[int], start: Start | None, end: End
    ) -> Iterator[Solved]:
        """Learn a chain, one lane after the other."""
        weights = self._first_of(start, chain[0])
        for k in chain:
            end.leave_if_abandoned()
            found, sweeps = self._learn_one(lanes[k], weights, end)
            weights = found.weights
            yield Solved([k], found, np.array([max(sweeps, 1)]), ["coordinates"])

    def _first_of(self, start: Start | None, k: int) -> Floats:
        """Return the weights that a chain starts from, (d, K)."""
        d, K = self.problem.rows.n_features, self.problem.n_classes
        mine = slice(k * K, (k + 1) * K)
        corner, curve = corner_and_curve(self.problem)
        if start is not None and start.weights is not None:
            return np.asarray(start.weights[:, mine], dtype=np.float64)
        if start is not None and curve > 0:
            pull = self.problem.along(np.ascontiguousarray(start.dual[:, mine]))
            return np.sign(pull) * np.maximum(np.abs(pull) - corner, 0.0) / curve
        return np.zeros((d, K))

    def _learn_one(self, lane: Lane, weights: Floats, end: End) -> tuple[Judgement, int]:
        """Learn one lane; return sweeps too."""
        problem, tol = self.problem, self.tol

        def judge(p: Floats, u: Floats) -> Judgement:
            return judge_l1_multinomial(problem, lane, p, tol, u)

        on_step = partial(end.tell, self.request.callback)
        watch = Watch(judge, tol=tol, to_rounding=problem.is_small, on_step=on_step)
        work = L1Multinomial(problem, self._columns, lane, end.leave_if_abandoned)
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            p, u = work.learn(weights, watch, self.request.max_iter)
            return watch.end(p, u), work.sweeps
