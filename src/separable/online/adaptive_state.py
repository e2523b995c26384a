"""The state of gradient descent with a step for each weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.online.descent import MEANS, DescentState, Steps
from separable.online.state import Layout, ModelArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.model.linear_model import TrainingState
    from separable.online.runs import Lesson

__all__ = ["AdaptiveState"]

#: Weights, each with its sum of squared gradients, and the same of the intercept.
ADAPTIVE: Layout = {
    "wa": ModelArray(None, paired=True),
    "b": ModelArray(0, double=True),
    "a0": ModelArray(0, double=True, odd=False),
}
#: Of the l1 penalty: what could have been taken from each weight, and what was.
DUES: Layout = {
    "due": ModelArray(None, double=True, odd=False),
    "q": ModelArray(None, double=True),
}
CLOCK = ("rows", "total", "centred", "y_mean", "y_spread", "mean_count")
#: What is known of a column: see cpp/include/separable/online/columns.hpp.
COUNT, SQUARES, SUM, INVERSE = range(4)
MEAN, SPREAD, RECORD = range(3)


@dataclass
class AdaptiveState(DescentState):
    """Weights in the units of their columns, and what is known of each column."""

    @staticmethod
    def layout_of(steps: Steps) -> Layout:
        """Return what each model has."""
        means = {} if steps.mean_from is None else MEANS
        return ADAPTIVE | means | (DUES if steps.l1 > 0 else {})

    def prepare(self, steps: Steps) -> None:
        """Add the columns."""
        self.shared["columns"] = np.zeros((self.n_features, 4))
        self.shared["centred_index"] = np.zeros(0, dtype=np.int64)
        self.shared["centred"] = np.zeros((3, 0))
        if steps.l1 > 0 or steps.l2 > 0:
            self.shared["last"] = np.zeros(self.n_features)
        self.clock |= dict.fromkeys(CLOCK, 0.0)
        self.steps = steps

    def make_room(self, lesson: Lesson) -> None:
        """Make sure that every column the rows may centre has a place."""
        have = len(self.shared["centred_index"])
        need = int(self.clock["centred"]) + lesson.rows.values.size
        if have >= min(need, self.n_features):
            return
        more = min(self.n_features, 2 * need) - have
        self.shared["centred_index"] = np.pad(self.shared["centred_index"], (0, more))
        self.shared["centred"] = np.pad(self.shared["centred"], ((0, 0), (0, more)))

    def run_block(
        self,
        lesson: Lesson,
        plan: native.DescentPlan,
        progress: native.DescentProgress | None,
        shared: dict[str, NDArray[Any]],
        block: int,
    ) -> tuple[native.DescentRun, dict[str, float]]:
        """Train one block of lanes; return what was done, and the clock after it."""
        lanes = self.lanes
        arrays = native.AdaptiveArrays(
            wa=lanes["wa"],
            b=lanes["b"],
            a0=lanes["a0"],
            u=lanes.get("u"),
            u_b=lanes.get("u_b"),
            due=lanes.get("due"),
            q=lanes.get("q"),
            columns=shared["columns"],
            centred_index=shared["centred_index"],
            centred=shared["centred"],
            last=shared.get("last"),
        )
        clock = native.AdaptiveClock(**{name: self.clock[name] for name in CLOCK})
        run = native.adaptive_sgd(
            lesson.core, arrays, plan, progress, clock, block, *self.lanes_of(block)
        )
        return run, {name: getattr(clock, name) for name in CLOCK}

    def set_start(self, name: str, start: NDArray[np.float64]) -> None:
        """Take a start for w or b, one a model; columns have no units yet."""
        if name == "b":
            super().set_start(name, start)
        else:
            self.set_arrays({"wa": np.stack([start, np.zeros_like(start)], axis=-1)})

    # ------------------------------------------------------------------ in the caller's units

    def weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return weights and intercepts, or their means, in the units of the data."""
        n_models, arrays = self.n_models - self.n_ghosts or 1, self.arrays()
        w = arrays["wa"][:n_models, :, 0].astype(np.float64)
        b = arrays["b"][:n_models].copy()
        n_centred = int(self.clock["centred"])
        index = self.shared["centred_index"][:n_centred]
        b -= w[:, index] @ self.shared["centred"][MEAN, :n_centred]
        if self.averaged and self.clock["mean_count"]:
            w -= arrays["u"][:n_models] / self.clock["mean_count"]
            b -= arrays["u_b"][:n_models] / self.clock["mean_count"]
        elif "last" in self.shared:
            w = self._penalised(w, arrays)
        inverse = np.abs(self.shared["columns"][:, INVERSE])
        w *= np.where(inverse > 0, inverse, 1.0)
        return self.as_model(w + 0.0, b)

    def _penalised(
        self, w: NDArray[np.float64], arrays: dict[str, NDArray[Any]]
    ) -> NDArray[np.float64]:
        """Return weights with the penalty of the rows since each one's last turn taken off.

        Only columns that are not centred have rows that did not use them.
        """
        assert self.steps is not None
        n_models, columns = len(w), self.shared["columns"]
        rows = self.clock["rows"] - self.shared["last"]
        waiting = np.flatnonzero((columns[:, INVERSE] > 0) & (columns[:, SQUARES] > 0) & (rows > 0))
        sums = arrays["wa"][:n_models, waiting, 1].astype(np.float64)
        unit = 1 / columns[waiting, INVERSE]
        deviation = np.sqrt(columns[waiting, SQUARES] / columns[waiting, COUNT])
        with np.errstate(divide="ignore"):
            rate = self._eta(self.steps.eta0) / (deviation * unit * np.sqrt(sums)) * rows[waiting]
        rate[sums == 0] = 0.0
        keep = 1 / (1 + self.steps.l2 * rate / unit)
        kept = keep * w[:, waiting]
        if "q" in self.layout:
            left = keep * arrays["due"][:n_models, waiting] + self.steps.l1 * rate
            left += np.sign(kept) * keep * arrays["q"][:n_models, waiting]
            kept = np.copysign(np.maximum(np.abs(kept) - left, 0.0), kept)
        w[:, waiting] = kept
        return w

    def _eta(self, eta0: float) -> float:
        """Return the step as a number in the units of y."""
        spread = self.clock["y_spread"] / self.clock["total"] if self.classes is None else 1.0
        return float(eta0 * np.sqrt(spread))

    # ------------------------------------------------------------------ files

    def restore(self, saved: TrainingState) -> None:
        """Take over a saved state; its centred columns may be any number."""
        index = saved.tensors.get("centred_index", np.zeros(0, dtype=np.int64))
        self.shared["centred_index"] = np.zeros(len(index), dtype=np.int64)
        self.shared["centred"] = np.zeros((3, len(index)))
        super().restore(saved)
        columns, index = self.shared["columns"], self.shared["centred_index"]
        n_centred = int(self.clock["centred"])
        is_centred = columns[:, INVERSE] < 0
        fits = 0 <= n_centred <= len(index) and is_centred.sum() == n_centred
        if fits:
            index = index[:n_centred]
            fits = bool(((index >= 0) & (index < self.n_features)).all())
        if not fits or not np.array_equal(columns[index, SUM], np.arange(n_centred)):
            raise ValueError(
                "The model's training state does not fit the model: its centred columns are not "
                "those of its list. Save it again from an estimator with include_state=True."
            )
