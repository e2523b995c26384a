"""Batch perceptron: one step along the mean of all mistakes per epoch."""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import numpy as np

from separable._core import native
from separable.data.rows import column_names
from separable.fitting.base import one_or_list, with_parameters
from separable.model.parameters import (
    POSITIVE_OR_NONE,
    Requirement,
)
from separable.online.base_perceptron import DOUBLE, PerceptronBase
from separable.online.runs import Rule, Run, TrainingBatch, run_epochs

if TYPE_CHECKING:
    from separable.data.rows import Rows
    from separable.online.base import Targets
    from separable.online.state import OnlineState

__all__ = ["BatchPerceptron"]


@with_parameters
class BatchPerceptron(PerceptronBase):
    """Batch perceptron classifier: one update per pass over the rows.

    Delta = (1/n) sum of y (1, x) over the rows with y (w.x + b) <= 0, then (b, w) += eta0 Delta,
    until no row is misclassified. On linearly separable data this happens, with at most
    n (R / gamma)^2 misclassified rows over all epochs, and the weights strictly separate the
    training rows. The order of the rows does not matter. Three or more classes are fitted
    one-vs-rest; each model stops on its own.

    Parameters
    ----------
    eps : float or None
        Also stop a model when the norm of its Delta, in the space (1, x) if there is an intercept,
        is below ``eps``; some rows may then be misclassified. Default: never.
    max_iter : int
        Maximum number of epochs, each one pass over the rows and one step.
    max_work : float
        Limit on the numbers read: (non-zeros + features) x epochs for each block of models.

    Attributes
    ----------
    evidence_ : dict
        ``epochs``, ``stopped_by`` and ``stopped_by_model`` ("no mistakes", "eps", "stalled": the
        step no longer changed the weights, with mistakes left, "max_iter", "max_work" or
        "rounding"), ``converged`` and ``converged_models`` (stopped by "no mistakes"),
        ``mistakes`` (misclassified rows per epoch, over the models still training),
        ``mistakes_per_model``, ``delta_norm`` (in each model's last epoch), ``training_mistakes``
        (misclassified rows, counted in float64), ``tied_rows`` (rows with a score of 0). After
        convergence also ``margin`` (min y (w.x + b) / |w|), and, for a zero start and unit
        weights, ``gamma`` (the margin in the space (1, x)), ``radius`` R and ``bound``
        n (R / gamma)^2 on the mistakes of each model.

    Examples
    --------
    >>> from separable import BatchPerceptron
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> logical_and = BatchPerceptron().fit(X, [0, 0, 0, 1])
    >>> logical_and.predict(X)
    array([0, 0, 0, 1])
    >>> sum(logical_and.evidence_["mistakes"]) <= logical_and.evidence_["bound"]
    True
    """

    _: KW_ONLY
    eps: float | None = None
    max_iter: int = 10_000

    _requirements: ClassVar[dict[str, Requirement]] = {"eps": POSITIVE_OR_NONE}
    _ineffective: ClassVar = ()  # there is nothing to shuffle
    multi_class = "ovr"

    def _fit_rows(self, X: Any, rows: Rows, targets: Targets, state: OnlineState) -> Self:
        self._check_ties()
        batch, zero_start = self._prepare(rows, targets, state)
        rule = self._fit_rule(state, batch.rows)
        run = self._run(state, batch, rule)
        if all(run.stop) and state.dtype == np.float32 and self.eps is None:
            state, run = self._confirm_in_double(state, run, batch, rule)
        state.rows_seen += batch.n_counted
        state.updates += len(run.mistakes)
        model = self._build_model(state, column_names(X), self._describe(run, state))
        bounded = zero_start and batch.counted.weight is None
        double, n_rows = state.astype(DOUBLE), batch.n_counted
        model = self._with_margins(model, double, batch, run, bounded=bounded, factor=n_rows)
        self._warn_of_mistakes(model, state.labels, n_rows)
        return self._keep(X, state, model, len(run.mistakes))

    @property
    def partial_fit(self) -> NoReturn:
        """Raise AttributeError: a step needs all rows."""
        raise AttributeError(
            "BatchPerceptron has no partial_fit: each of its steps needs all rows, which a stream "
            "does not have. Use Perceptron for streams."
        )

    # ------------------------------------------------------------------ steps

    def _can_stream(self) -> bool:
        return False

    def _fit_rule(self, state: OnlineState, rows: Rows) -> Rule:
        work = (rows.values.size + rows.n_features) * state.n_blocks
        return Rule(
            eta=float(self.eta0),
            fit_intercept=bool(self.fit_intercept),
            max_epochs=max(1, int(min(self._max_epochs(), self.max_work / work))),
            tie_target=self._tie_target,
        )

    def _run(self, state: OnlineState, batch: TrainingBatch, rule: Rule) -> Run:
        eps = 0.0 if self.eps is None else float(self.eps)
        kernel = partial(native.batch_perceptron, eps=eps)
        return Run(run_epochs(state, batch, rule, kernel))

    def _stopped_by(self, run: Run) -> str:
        """Return why the last model stopped; a limit or a stall before ``eps``."""
        if not all(run.stop):
            return self._limit(run)
        return next((why for why in ("stalled", "eps") if why in run.stop), "no mistakes")

    def _describe(self, run: Run, state: OnlineState) -> dict[str, Any]:
        """Return the evidence of the run."""
        return {
            "epochs": len(run.mistakes),
            "stopped_by": self._stopped_by(run),
            "converged_models": [stop == "no mistakes" for stop in run.stop],
            "stopped_by_model": [stop or self._limit(run) for stop in run.stop],
            "mistakes": run.mistakes.sum(axis=1).tolist(),
            "mistakes_per_model": run.mistakes.sum(axis=0).tolist(),
            "delta_norm": one_or_list(np.array(run.delta_norm)),
            "rows_seen": state.rows_seen,
        }
