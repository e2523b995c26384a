"""Stochastic gradient descent in the compiled core: settings, states, runs of epochs."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from separable._core import native
from separable.online.runs import refuse_overflow
from separable.online.state import WEIGHTS, Layout, ModelArray, OnlineState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from separable.online.runs import TrainingBatch

__all__ = [
    "ALL_EPOCHS",
    "MAX_EXAMPLES",
    "MEANS",
    "DescentState",
    "Order",
    "SgdState",
    "Steps",
    "StoppingRule",
    "run_descent",
]

#: Progressive validation: summed losses before each update, in all and after 1, 2, 4, ... rows.
PROGRESS: Layout = {
    "loss": ModelArray(0, double=True, odd=False),
    "marks": ModelArray(native.PROGRESS_MARKS, double=True, odd=False),
}
#: Largest count that float64 represents exactly.
MAX_EXAMPLES = 2.0**53
#: Shared arrays with one entry per feature.
PER_FEATURE = ("columns", "last")
#: The sums from which the mean of all weights is computed.
MEANS: Layout = {"u": ModelArray(None, double=True), "u_b": ModelArray(0, double=True)}
#: The l1 penalty applied to each weight so far.
TAKEN: Layout = {"q": ModelArray(None, double=True)}
SGD_CLOCK = ("steps", "scale", "due", "mean_scale", "mean_count")


class Steps(NamedTuple):
    """Loss, penalty and step-size schedule."""

    loss: str
    epsilon: float
    l1: float
    l2: float
    schedule: str
    eta0: float
    power: float
    alpha: float
    t0: float
    fit_intercept: bool
    #: Averaging starts after this many steps; None: no averaging.
    mean_from: float | None
    #: Whether ``fit`` ends with the mean over all epochs but the first.
    mean_of_epochs: bool = False
    #: Take one step for a row of weight k, k times as long, instead of k steps.
    one_step: bool = False
    #: Step size of the intercept over that of the weights.
    intercept_rate: float = 1.0
    #: Larger gradients of the loss are cut.
    largest_gradient: float = math.inf


class Order(NamedTuple):
    """Number of epochs and order of the rows."""

    shuffle: bool = False
    seed: int = 0
    first_epoch: int = 0
    epochs: int = 1


class StoppingRule(NamedTuple):
    """Stop when the mean loss was not below the best by more than ``least`` for some epochs.

    ``patience`` is the number of these epochs, 0: never stop; ``best`` is the best loss so far and
    ``total`` the weight of all rows and models. It needs all models in one block.
    """

    patience: int = 0
    least: float = 0.0
    best: float = 0.0
    total: float = 1.0


ALL_EPOCHS = StoppingRule()


@dataclass
class DescentState(OnlineState):
    """Weights and progressive validation losses."""

    #: Whether the caller set initial weights.
    start_given: bool = False
    #: Settings of the last run, which determine the pending penalties.
    steps: Steps | None = None

    @classmethod
    def before(
        cls,
        classes: NDArray[Any] | None,
        n_features: int,
        dtype: np.dtype[Any],
        steps: Steps,
        open_classes: bool,
    ) -> Self:
        """Return the initial state."""
        layout = cls.layout_of(steps) | PROGRESS
        state = cls(classes, n_features, dtype, "ovr", layout, open_classes)
        state.shared["mark_weight"] = np.zeros(native.PROGRESS_MARKS)
        state.clock = {"examples": 0.0, "weight": 0.0}
        state.steps = steps
        state.prepare(steps)
        return state

    @staticmethod
    @abstractmethod
    def layout_of(steps: Steps) -> Layout:
        """Return the arrays of each model."""

    @abstractmethod
    def prepare(self, steps: Steps) -> None:
        """Add the arrays shared by all models."""

    @abstractmethod
    def run_block(
        self,
        batch: TrainingBatch,
        plan: native.DescentPlan,
        progress: native.DescentProgress | None,
        block: int,
    ) -> tuple[native.DescentRun, dict[str, float]]:
        """Train one block of lanes; return the run and the clock after it."""

    def touched(self, batch: TrainingBatch) -> NDArray[np.int64] | slice:
        """Return the features whose shared values the rows may change."""
        del batch
        return slice(0)

    def save_shared(self, batch: TrainingBatch) -> dict[str, tuple[Any, NDArray[Any]]]:
        """Return a backup of the shared values that the rows may change."""
        touched, n = self.touched(batch), self.n_features
        saved = {}
        for name, array in self.shared.items():
            where = touched if name in PER_FEATURE and len(array) == n else slice(None)
            saved[name] = (where, array[where].copy())
        return saved

    def put_back(self, saved: dict[str, tuple[Any, NDArray[Any]]]) -> None:
        """Restore the backup of ``save_shared``."""
        for name, (where, values) in saved.items():
            self.shared[name][where] = values

    def reserve_columns(self, batch: TrainingBatch) -> None:
        """Allocate shared arrays for the rows."""

    def lanes_of(self, block: int) -> tuple[int, int]:
        """Return the class of a block's first lane and the number of its models."""
        first = block * self.width
        return self.first_class + first, min(self.width, self.n_models - first)

    #: The square of a score may overflow where the score does not.
    unbounded: ClassVar[frozenset[str]] = frozenset(PROGRESS)
    #: Clock values that may be negative.
    signed: ClassVar[frozenset[str]] = frozenset()

    def check_saved(self, tensors: Mapping[str, NDArray[Any]], clock: dict[str, float]) -> None:
        """Refuse impossible counts and sums."""
        for name, number in clock.items():
            if number < 0 and name not in self.signed:
                raise ValueError(f"{name} is {number:g}")
        examples = clock["examples"]
        if examples > MAX_EXAMPLES or examples != int(examples):
            raise ValueError(f"examples is {examples:g}")
        weights = tensors["mark_weight"][: int(examples).bit_length()]
        if examples > 0 and not (clock["weight"] > 0 and (weights > 0).all()):
            raise ValueError("mark_weight and weight must be > 0 where there are examples")

    def progressive_losses(self) -> dict[str, list[float]]:
        """Return the progressive validation loss after 1, 2, 4, ... rows and after all."""
        n_models, examples = self.n_models - self.n_ghosts or 1, int(self.clock["examples"])
        if examples == 0:
            return {"examples": [], "mean_loss": []}
        n_marks = examples.bit_length()
        sums = _sum_of_models(self.array("marks")[:n_models, :n_marks])
        sums /= self.shared["mark_weight"][:n_marks]
        examples_at = [1 << mark for mark in range(n_marks)]
        losses = sums.tolist()
        if examples_at[-1] != examples:
            examples_at.append(examples)
            total = float(_sum_of_models(self.array("loss")[:n_models]))
            losses.append(total / self.clock["weight"])
        return {"examples": examples_at, "mean_loss": [loss / n_models for loss in losses]}


@dataclass
class SgdState(DescentState):
    """Weights stored as scale x w, with the cumulative l1 penalty."""

    @staticmethod
    def layout_of(steps: Steps) -> Layout:
        """Return the arrays of each model."""
        means = {} if steps.mean_from is None else MEANS
        return WEIGHTS | means | (TAKEN if steps.l1 > 0 else {})

    def prepare(self, steps: Steps) -> None:
        """Set the clock."""
        del steps
        self.clock |= dict.fromkeys(SGD_CLOCK, 0.0) | {"scale": 1.0}

    def run_block(
        self,
        batch: TrainingBatch,
        plan: native.DescentPlan,
        progress: native.DescentProgress | None,
        block: int,
    ) -> tuple[native.DescentRun, dict[str, float]]:
        """Train one block of lanes; return the run and the clock after it."""
        clock = native.SgdClock(**{name: self.clock[name] for name in SGD_CLOCK})
        run = native.sgd(
            batch.core,
            self.native_weights(),
            self.lanes.get("q"),
            plan,
            progress,
            clock,
            block,
            *self.lanes_of(block),
        )
        return run, {name: getattr(clock, name) for name in SGD_CLOCK}

    def check_saved(self, tensors: Mapping[str, NDArray[Any]], clock: dict[str, float]) -> None:
        """Refuse impossible values."""
        super().check_saved(tensors, clock)
        if clock["scale"] == 0:
            raise ValueError("scale is 0")

    def weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return weights and intercepts, or their means, with all pending penalties applied."""
        n_models, clock = self.n_models - self.n_ghosts or 1, self.clock
        w = np.empty((n_models, self.n_features))
        b = self.array("b")[:n_models].astype(np.float64)
        if self.averaged and clock["mean_count"]:
            count = clock["mean_count"]
            native.unpack(self.native_weights(), clock["mean_scale"] / count, count, w)
            return self.as_model(w, b - self.array("u_b")[:n_models] / count)
        last = native.OnlineWeights(self.lanes["w"], self.lanes["b"])
        native.unpack(last, 1.0, 1.0, w)
        if "q" in self.layout:  # the penalty still to be taken from weights no row has touched
            left = clock["due"] + np.sign(w) * self.array("q")[:n_models]
            w = np.copysign(np.maximum(np.abs(w) - left, 0.0), w)
        w *= clock["scale"]
        w += 0.0  # never -0.0
        return self.as_model(w, b)


def run_descent(
    state: DescentState,
    batch: TrainingBatch,
    steps: Steps,
    order: Order,
    *,
    progressive: bool,
    measure: bool = True,
    stopping: StoppingRule = ALL_EPOCHS,
) -> tuple[NDArray[np.float64], bool]:
    """Train the state in place, block of lanes by block of lanes.

    Parameters
    ----------
    state, batch, steps, order
        State, rows, settings and order of the rows.
    progressive : bool
        Whether the rows are new, so that their losses count as progressive validation.
    measure : bool
        Whether to sum the losses.
    stopping : StoppingRule
        When to stop before all epochs are made.

    Returns
    -------
    losses : ndarray of shape (epochs, models)
        Sums of weight x loss, each evaluated before the update.
    converged : bool
        Whether the stopping rule ended the run.
    """
    is_number = state.classes is None
    plan = native.DescentPlan(
        label=None if is_number else batch.target,
        number=batch.target if is_number else None,
        weight=batch.counted.weight,
        rows=batch.counted.rows,
        loss=steps.loss,
        epsilon=steps.epsilon,
        l1=steps.l1,
        l2=steps.l2,
        schedule=steps.schedule,
        eta0=steps.eta0,
        power=steps.power,
        alpha=steps.alpha,
        t0=steps.t0,
        mean_from=steps.mean_from or 0.0,
        fit_intercept=steps.fit_intercept,
        shuffle=order.shuffle,
        seed=order.seed,
        first_epoch=order.first_epoch,
        max_epochs=order.epochs,
        patience=stopping.patience,
        least=stopping.least,
        best=stopping.best,
        total=stopping.total,
        measure=measure,
        given_start=state.start_given,
        one_step=steps.one_step,
        intercept_rate=steps.intercept_rate,
        largest_gradient=steps.largest_gradient,
    )
    state.steps = steps
    state.reserve_columns(batch)
    losses, clock = [], state.clock
    for block in range(state.n_blocks):
        # only the last block updates the shared arrays; the others restore them
        last = block == state.n_blocks - 1
        before = {} if last else state.save_shared(batch)
        progress = _progress(state) if progressive else None
        run, clock = state.run_block(batch, plan, progress, block)
        if not last:
            state.put_back(before)
        if run.overflow_row >= 0:
            refuse_overflow(batch, run.overflow_row, steps.eta0)
        if progress is not None:
            clock |= {"examples": progress.examples, "weight": progress.weight}
        losses.append(np.array(run.losses))
    state.clock = state.clock | clock
    return np.concatenate(losses, axis=1), run.converged


def _sum_of_models(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum over the models in a fixed order.

    The order of ``sum`` depends on the memory layout, which a ghost in its own block changes.
    """
    return np.asarray(np.add.accumulate(array, axis=0)[-1])


def _progress(state: DescentState) -> native.DescentProgress:
    return native.DescentProgress(
        state.lanes["loss"],
        state.lanes["marks"],
        state.shared["mark_weight"],
        state.clock["examples"],
        state.clock["weight"],
    )
