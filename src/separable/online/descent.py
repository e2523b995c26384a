"""Runs of gradient descent in the compiled core, and the state they move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separable._core import native
from separable.online.runs import refuse_overflow
from separable.online.state import AVERAGED, WEIGHTS, Layout, ModelArray, OnlineState

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.online.runs import Lesson

__all__ = ["DescentState", "Order", "Steps", "run_descent"]

#: Losses before learning, summed: all, and after 1, 2, 4, 8, ... rows.
PROGRESS: Layout = {
    "loss": ModelArray(0, double=True, odd=False),
    "marks": ModelArray(native.PROGRESS_MARKS, double=True, odd=False),
}
#: What the l1 penalty has taken from each weight.
TAKEN: Layout = {"q": ModelArray(None, double=True)}
CLOCK = ("steps", "scale", "due", "mean_scale", "mean_count")


class Steps(NamedTuple):
    """What is descended, and how far at a time."""

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
    #: The mean counts from this many steps on; None: none is kept.
    mean_from: float | None


class Order(NamedTuple):
    """Which epochs are run, and in which order they take the rows."""

    shuffle: bool = False
    seed: int = 0
    first_epoch: int = 0
    epochs: int = 1


@dataclass
class DescentState(OnlineState):
    """Weights as scale x w, dues of the l1 penalty, and progressive validation."""

    @classmethod
    def before(
        cls,
        classes: NDArray[Any] | None,
        n_features: int,
        dtype: np.dtype[Any],
        steps: Steps,
        open_classes: bool,
    ) -> DescentState:
        """Return the state before the first row."""
        layout = (WEIGHTS if steps.mean_from is None else AVERAGED) | PROGRESS
        if steps.l1 > 0:
            layout |= TAKEN
        state = cls(classes, n_features, dtype, "ovr", layout, open_classes)
        state.shared["mark_weight"] = np.zeros(native.PROGRESS_MARKS)
        state.clock = dict.fromkeys((*CLOCK, "examples", "weight"), 0.0) | {"scale": 1.0}
        return state

    def weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return weights and intercepts, or their means, all shrinking that is due done."""
        n_models, clock = self.n_models - self.n_ghosts or 1, self.clock
        w, b = np.empty((n_models, self.n_features)), self.arrays()["b"][:n_models]
        b = b.astype(np.float64)
        if self.averaged and clock["mean_count"]:
            count = clock["mean_count"]
            native.unpack(self.native_weights(), clock["mean_scale"] / count, count, w)
            b -= self.arrays()["u_b"][:n_models] / count
        else:
            last = native.OnlineWeights(self.lanes["w"], self.lanes["b"])
            native.unpack(last, 1.0, 1.0, w)
            if "q" in self.layout:  # the penalty still to be taken from weights no row has touched
                left = clock["due"] + np.sign(w) * self.arrays()["q"][:n_models]
                w = np.copysign(np.maximum(np.abs(w) - left, 0.0), w)
            w *= clock["scale"]
            w += 0.0  # never -0.0
        return self.as_model(w, b)

    def progressive_losses(self) -> dict[str, list[float]]:
        """Return the mean loss before learning after 1, 2, 4, ... rows and after all."""
        n_models, examples = self.n_models - self.n_ghosts or 1, int(self.clock["examples"])
        if examples == 0:
            return {"examples": [], "mean_loss": []}
        n_marks = examples.bit_length()
        arrays = self.arrays()
        sums = (
            arrays["marks"][:n_models, :n_marks].sum(axis=0) / self.shared["mark_weight"][:n_marks]
        )
        told = [1 << mark for mark in range(n_marks)]
        losses = sums.tolist()
        if told[-1] != examples:
            told.append(examples)
            losses.append(float(arrays["loss"][:n_models].sum()) / self.clock["weight"])
        return {"examples": told, "mean_loss": [loss / n_models for loss in losses]}


def run_descent(
    state: DescentState,
    lesson: Lesson,
    steps: Steps,
    order: Order,
    *,
    progressive: bool,
    measure: bool = True,
) -> NDArray[np.float64]:
    """Train the state in place, one block of lanes after the other.

    Parameters
    ----------
    state, lesson, steps, order
        What is trained, from what, how.
    progressive : bool
        Whether the rows are new, so that their losses before learning count as validation.
    measure : bool
        Whether to sum up the losses.

    Returns
    -------
    ndarray of shape (epochs, models)
        Sums of weight x loss, each row's before it was learned from.
    """
    is_number = lesson.target.dtype == np.float64
    plan = native.DescentPlan(
        label=None if is_number else lesson.target,
        number=lesson.target if is_number else None,
        weight=lesson.counted.weight,
        rows=lesson.counted.rows,
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
        measure=measure,
    )
    losses = []
    for block in range(state.n_blocks):
        run = _run_block(state, lesson, plan, block, progressive)
        if run.overflow_row >= 0:
            refuse_overflow(lesson, run.overflow_row, steps.eta0)
        losses.append(np.array(run.losses))
    return np.concatenate(losses, axis=1)


def _run_block(
    state: DescentState, lesson: Lesson, plan: native.DescentPlan, block: int, progressive: bool
) -> native.DescentRun:
    """Train one block. What all models share moves with the last one only."""
    last = block == state.n_blocks - 1
    shared = state.shared if last else {name: a.copy() for name, a in state.shared.items()}
    clock = native.SgdClock(**{name: state.clock[name] for name in CLOCK})
    progress = None
    if progressive:
        progress = native.DescentProgress(
            state.lanes["loss"],
            state.lanes["marks"],
            shared["mark_weight"],
            state.clock["examples"],
            state.clock["weight"],
        )
    run = native.sgd(
        lesson.core,
        state.native_weights(),
        state.lanes.get("q"),
        plan,
        progress,
        clock,
        block,
        state.first_class + block * state.width,
        min(state.width, state.n_models - block * state.width),
    )
    if last:
        state.clock |= {name: getattr(clock, name) for name in CLOCK}
        if progress is not None:
            state.clock |= {"examples": progress.examples, "weight": progress.weight}
    return run
