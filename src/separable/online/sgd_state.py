"""State of stochastic gradient descent with one step size for all weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.online.descent import MEANS, DescentState, Steps
from separable.online.state import WEIGHTS, Layout, ModelArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from separable.online.runs import TrainingBatch

__all__ = ["SgdState"]

#: The l1 penalty applied to each weight so far.
TAKEN: Layout = {"q": ModelArray(None, double=True)}
CLOCK = ("steps", "scale", "due", "mean_scale", "mean_count")


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
        self.clock |= dict.fromkeys(CLOCK, 0.0) | {"scale": 1.0}

    def run_block(
        self,
        batch: TrainingBatch,
        plan: native.DescentPlan,
        progress: native.DescentProgress | None,
        block: int,
    ) -> tuple[native.DescentRun, dict[str, float]]:
        """Train one block of lanes; return the run and the clock after it."""
        clock = native.SgdClock(**{name: self.clock[name] for name in CLOCK})
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
        return run, {name: getattr(clock, name) for name in CLOCK}

    def check_saved(self, tensors: Mapping[str, NDArray[Any]], clock: dict[str, float]) -> None:
        """Refuse impossible values."""
        super().check_saved(tensors, clock)
        if clock["scale"] == 0:
            raise ValueError("scale is 0")

    def weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return weights and intercepts, or their means, with all pending penalties applied."""
        n_models, clock = self.n_models - self.n_ghosts or 1, self.clock
        w, arrays = np.empty((n_models, self.n_features)), self.arrays()
        b = arrays["b"][:n_models].astype(np.float64)
        if self.averaged and clock["mean_count"]:
            count = clock["mean_count"]
            native.unpack(self.native_weights(), clock["mean_scale"] / count, count, w)
            return self.as_model(w, b - arrays["u_b"][:n_models] / count)
        last = native.OnlineWeights(self.lanes["w"], self.lanes["b"])
        native.unpack(last, 1.0, 1.0, w)
        if "q" in self.layout:  # the penalty still to be taken from weights no row has touched
            left = clock["due"] + np.sign(w) * arrays["q"][:n_models]
            w = np.copysign(np.maximum(np.abs(w) - left, 0.0), w)
        w *= clock["scale"]
        w += 0.0  # never -0.0
        return self.as_model(w, b)
