"""The epochs of SGD: when they end, and the rows held out to tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separable._core import native
from separable.model.predict.scores import linear_scores
from separable.online.adaptive_state import AdaptiveState
from separable.online.descent import (
    ALL_EPOCHS,
    DescentState,
    Order,
    Steps,
    StoppingRule,
    run_descent,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.online.base_sgd import SGDBase
    from separable.online.runs import TrainingBatch

__all__ = ["Epochs", "HeldOut"]

#: Rows presented without progress before epochs end, if n_iter_no_change is None: dense rows of
#: classes, and sparse rows or numbers to predict.
PATIENT_ROWS, FEWER_PATIENT_ROWS = 5000, 2000
#: Fewest epochs without progress in these two cases, and most.
MIN_PATIENCE, LOWER_MIN_PATIENCE, MAX_PATIENCE = 3, 1, 40


class HeldOut(NamedTuple):
    """Rows to stop by."""

    rows: Rows
    target: NDArray[Any]
    weight: NDArray[np.float64] | None
    steps: Steps

    def loss(self, state: DescentState) -> float:
        """Return the mean loss, over rows and models."""
        w, b = state.weights()
        scores = linear_scores(self.rows, w, b)
        if state.classes is None:
            targets = self.target[:, None]
        elif len(b) == 1:
            targets = np.where(self.target[:, None] == 1, 1.0, -1.0)
        else:
            targets = np.where(self.target[:, None] == np.arange(len(b)), 1.0, -1.0)
        values = _losses(self.steps, scores.ravel(), np.ascontiguousarray(targets).ravel())
        by_row = values.reshape(scores.shape).mean(axis=1)
        return float(np.average(by_row, weights=self.weight))


def _losses(
    steps: Steps, scores: NDArray[np.float64], targets: NDArray[np.float64]
) -> NDArray[np.float64]:
    values = np.empty(len(scores))
    native.write_loss(steps.loss, steps.epsilon, scores, targets, gradient=False, out=values)
    return values


class Epochs:
    """The epochs of a fit, and when they end.

    They end when for ``n_iter_no_change`` epochs the loss (of the held-out rows, if there are any,
    else of the training rows, each before it is learned from) was not below the best so far by
    more than ``tol`` times the loss of the first epoch.
    """

    def __init__(
        self,
        learner: SGDBase,
        state: DescentState,
        batch: TrainingBatch,
        steps: Steps,
        seed: int,
        held: HeldOut | None,
    ) -> None:
        self.learner, self.state, self.batch, self.steps = learner, state, batch, steps
        self.seed, self.held = seed, held
        self.losses: list[float] = []
        self.validation: list[float] = []
        self.converged = False
        self._best: DescentState | None = None

    def run(self) -> DescentState:
        """Run the epochs and return the state to keep."""
        learner = self.learner
        self._run_epochs(0, 1)
        takes_mean = self.steps.mean_of_epochs and learner.max_iter > 1
        if takes_mean:
            assert isinstance(self.state, AdaptiveState)
            self.state.start_mean()
        self._run_others()
        state = self.state if self._best is None else self._best
        if takes_mean:
            assert isinstance(state, AdaptiveState)
            state.end_mean()
        return state

    def _run_others(self) -> None:
        """Run the second epoch and those after it, by the stopping rule."""
        learner = self.learner
        if self.held is not None:
            self._run_one_by_one()
        elif learner.tol is None:
            self._run_epochs(1, learner.max_iter - 1)
        elif self.state.n_blocks == 1:
            first = self.losses[0]
            stopping = StoppingRule(
                self._patience(), learner.smallest_fall(first), first, self._total_weight()
            )
            self._run_epochs(1, learner.max_iter - 1, stopping)
        else:
            self._run_one_by_one()

    def _patience(self) -> int:
        """Return the number of epochs without progress that end the run."""
        if self.learner.n_iter_no_change is not None:
            return self.learner.n_iter_no_change
        rows, least = PATIENT_ROWS, MIN_PATIENCE
        if self.batch.rows.is_sparse or self.state.classes is None:
            rows, least = FEWER_PATIENT_ROWS, LOWER_MIN_PATIENCE
        return min(MAX_PATIENCE, max(least, -(-rows // self.batch.n_counted)))

    def _run_one_by_one(self) -> None:
        """Apply the stopping rule after each epoch: to held-out rows, or to several blocks."""
        learner, best, waited = self.learner, np.inf, 0
        for epoch in range(learner.max_iter):
            if epoch > 0:
                self._run_epochs(epoch, 1)
            if self.held is not None:
                self.validation.append(self.held.loss(self.state))
            loss = self._followed()[-1]
            waited = 0 if loss < best - learner.smallest_fall(self._followed()[0]) else waited + 1
            if loss < best:
                best = loss
                if self.held is not None:
                    self._best = self.state.copy()
            if waited >= self._patience():
                self.converged = True
                break

    def warning(self) -> str:
        """Return what should be said of a run that did not end well, or nothing."""
        name, losses = type(self.learner).__name__, self._followed()
        if self.steps.schedule != "adaptive" and losses[-1] > self._zero_loss():
            return (
                f"{name} ended with a mean loss of {losses[-1]:.4g}, which is worse than the "
                f"{self._zero_loss():.4g} of weights that are all 0: the steps are too long "
                f"({self._describe_steps()}). Use learning_rate='adaptive', shorter steps, or "
                "scale the columns."
            )
        if self.learner.tol is not None and not self.converged:
            return (
                f"{name} made max_iter={self.learner.max_iter} epochs and the loss is still "
                f"falling (from {losses[0]:.4g} to {losses[-1]:.4g}). Raise max_iter, or tol."
            )
        return ""

    def evidence(self) -> dict[str, Any]:
        """Return what the epochs did."""
        evidence: dict[str, Any] = {
            "epochs": len(self.losses),
            "converged": self.converged,
            "losses": self.losses,
        }
        if self.held is not None:
            evidence |= {
                "validation_losses": self.validation,
                "best_epoch": int(np.argmin(self.validation)) + 1,
            }
        return evidence

    def _run_epochs(self, first: int, count: int, stopping: StoppingRule = ALL_EPOCHS) -> None:
        """Run so many epochs and note their losses."""
        if count == 0:
            return
        order = Order(bool(self.learner.shuffle), self.seed, first, count)
        progressive = first == 0 and self._is_new()
        sums, self.converged = run_descent(
            self.state, self.batch, self.steps, order, progressive=progressive, stopping=stopping
        )
        total = self._total_weight()
        # one by one: NumPy 1.26 warns of an overflow that is not there where these are near 1e-320
        self.losses += [loss / total for loss in sums.sum(axis=1).tolist()]

    def _total_weight(self) -> float:
        """Return the weight of all rows and models."""
        present = self._present_weight()
        total = self.batch.n_counted if present is None else float(present.sum())
        return total * self.state.n_models

    def _present_weight(self) -> NDArray[np.float64] | None:
        """Return the weights of the rows that count, None if all are 1."""
        weight, rows = self.batch.counted.weight, self.batch.counted.rows
        return weight if weight is None or rows is None else weight[rows]

    def _zero_loss(self) -> float:
        """Return the mean loss of weights that are all 0, where weights can be worse than that."""
        if self.steps.loss == "perceptron":
            return np.inf  # it is 0 at weights 0, and says nothing about how long steps should be
        if self.state.classes is not None:  # the same for either class
            return float(_losses(self.steps, np.zeros(1), np.ones(1))[0])
        rows = self.batch.counted.rows
        numbers = self.batch.target if rows is None else self.batch.target[rows]
        losses = _losses(self.steps, np.zeros(len(numbers)), numbers)
        return float(np.average(losses, weights=self._present_weight()))

    def _describe_steps(self) -> str:
        if self.steps.schedule == "optimal":
            return f"learning_rate='optimal', alpha={self.steps.alpha:g}"
        return f"learning_rate={self.steps.schedule!r}, eta0={self.steps.eta0:g}"

    def _is_new(self) -> bool:
        """Return whether no row was learned from before, as far as this fit knows."""
        return not (self.learner.warm_start and self.state.rows_seen > 0)

    def _followed(self) -> list[float]:
        return self.losses if self.held is None else self.validation
