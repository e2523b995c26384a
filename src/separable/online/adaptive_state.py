"""Training state of adaptive SGD: one step size per weight (AdaGrad), column statistics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable._core import native
from separable.linalg.blas import aligned_zeros
from separable.online.descent import MAX_EXAMPLES, MEANS, DescentState, Steps
from separable.online.state import Layout, ModelArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from separable.model.linear_model import TrainingState
    from separable.online.runs import TrainingBatch

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
#: The largest number to predict, by the type of the data.
MAX_TARGET = {"float32": 1e15, "float64": 1e140}
CLOCK = ("rows", "total", "centred", "y_mean", "y_spread", "mean_count")
#: What is known of a column: see cpp/include/separable/online/column_scales.hpp.
COUNT, SQUARES, SUM, INVERSE = range(4)
MEAN, SPREAD = range(2)


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
        self.shared["columns"] = aligned_zeros((self.n_features, 4), np.dtype(np.float64))
        self.shared["centred_index"] = np.zeros(0, dtype=np.int64)
        self.shared["centred"] = np.zeros((3, 0))
        if steps.l1 > 0 or steps.l2 > 0:
            self.shared["last"] = np.zeros(self.n_features)
        self.clock |= dict.fromkeys(CLOCK, 0.0)

    def reserve_columns(self, batch: TrainingBatch) -> None:
        """Make sure that every column the rows may centre has a place."""
        if self.classes is None:
            self._refuse_large(float(np.abs(batch.target).max()))
        have = len(self.shared["centred_index"])
        need = int(self.clock["centred"]) + batch.rows.values.size
        if have >= min(need, self.n_features):
            return
        capacity = min(self.n_features, 2 * need)
        for name in ("centred_index", "centred"):
            old = self.shared[name]
            self.shared[name] = np.zeros((*old.shape[:-1], capacity), dtype=old.dtype)
            self.shared[name][..., :have] = old

    def _refuse_large(self, largest: float) -> None:
        """Refuse numbers whose squared errors, summed up, overflow and end all learning."""
        if largest > MAX_TARGET[self.dtype.name]:
            raise ValueError(
                f"The numbers to predict go up to {largest:.3g}, and {self.dtype}, the type of the "
                "data, cannot hold sums of their squares. Divide y by a constant"
                + (", or give float64 rows." if self.dtype == np.float32 else ".")
            )

    def touched(self, batch: TrainingBatch) -> NDArray[np.int64] | slice:
        """Return the columns that the rows have, and those that are centred."""
        if batch.rows.indices is None:
            return slice(None)
        centred = self.shared["centred_index"][: int(self.clock["centred"])]
        return np.union1d(batch.rows.indices, centred).astype(np.int64)

    def run_block(
        self,
        batch: TrainingBatch,
        plan: native.DescentPlan,
        progress: native.DescentProgress | None,
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
            columns=self.shared["columns"],
            centred_index=self.shared["centred_index"],
            centred=self.shared["centred"],
            last=self.shared.get("last"),
        )
        clock = native.AdaptiveClock(**{name: self.clock[name] for name in CLOCK})
        run = native.adaptive_sgd(
            batch.core, arrays, plan, progress, clock, block, *self.lanes_of(block)
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
        n_models = self.n_models - self.n_ghosts or 1
        takes_mean = self.averaged and self.clock["mean_count"] > 0
        w, b = self._mean(n_models) if takes_mean else self._last(n_models)
        inverse = np.abs(self.shared["columns"][:, INVERSE])
        w *= np.where(inverse > 0, inverse, 1.0)
        return self.as_model(w + 0.0, b)

    def _last(self, n_models: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weights in the units of the columns, and the intercepts without centres."""
        w = self.array("wa")[:n_models, :, 0].astype(np.float64)
        if "last" in self.shared:
            w = self._penalised(w)
        return w, self.array("b")[:n_models] - self._centres(w)

    def _mean(self, n_models: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the means of the same over the steps; penalties are taken step by step."""
        w, count = self.array("wa")[:n_models, :, 0].astype(np.float64), self.clock["mean_count"]
        b = self.array("b")[:n_models] - self._centres(w)
        return w - self.array("u")[:n_models] / count, b - self.array("u_b")[:n_models] / count

    def _centres(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of the columns' centres."""
        n_centred = int(self.clock["centred"])
        index = self.shared["centred_index"][:n_centred]
        # row by row, unlike a matrix product, so that other models change no bit
        products = w.take(index, axis=1) * self.shared["centred"][MEAN, :n_centred]
        return np.asarray(products.sum(axis=1))

    def start_mean(self) -> None:
        """Keep the mean of the weights from now on."""
        self.layout = self.layout | MEANS
        for name, array in MEANS.items():
            shape = (self.n_blocks, *array.shape(self.n_features), self.width)
            self.lanes[name] = aligned_zeros(shape, np.dtype(np.float64))

    def end_mean(self) -> None:
        """Replace the weights by their mean; training continues from there."""
        if self.clock["mean_count"] > 0:
            w, b = self._mean(self.n_models)
            pairs = np.stack([w, self.array("wa")[..., 1]], axis=-1)
            self.set_arrays({"wa": pairs, "b": b + self._centres(w)})
        self.layout = {name: each for name, each in self.layout.items() if name not in MEANS}
        for name in MEANS:
            del self.lanes[name]
        self.clock["mean_count"] = 0.0

    def _penalised(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return weights with all that the penalty may take from them taken off.

        That is the penalty of the rows since each one's last turn, for columns that some rows did
        not use, and what an l1 penalty found nothing to take from before the last step: without
        it the last step would move every weight that is 0 away from 0.
        """
        assert self.steps is not None
        n_models, columns = len(w), self.shared["columns"]
        waiting = np.flatnonzero((columns[:, INVERSE] != 0) & (columns[:, SQUARES] > 0))
        rows = self.clock["rows"] - self.shared["last"][waiting]  # 0 for columns that are centred
        sums = self.array("wa")[:n_models, waiting, 1].astype(np.float64)
        unit = 1 / np.abs(columns[waiting, INVERSE])
        deviation = np.sqrt(columns[waiting, SQUARES] / columns[waiting, COUNT])
        rate, eta = np.zeros_like(sums), self._eta(self.steps.eta0)
        with np.errstate(over="ignore", invalid="ignore"):  # a model checks that it is finite
            np.divide(eta * rows, deviation * unit * np.sqrt(sums), out=rate, where=sums > 0)
            keep = 1 / (1 + self.steps.l2 * rate / unit)
        kept = keep * w[:, waiting]
        if "q" in self.layout:
            left = keep * self.array("due")[:n_models, waiting] + self.steps.l1 * rate
            left += np.sign(kept) * keep * self.array("q")[:n_models, waiting]
            kept = np.copysign(np.maximum(np.abs(kept) - left, 0.0), kept)
        w[:, waiting] = kept
        return w

    def _eta(self, eta0: float) -> float:
        """Return the step as a number in the units of y."""
        spread = self.clock["y_spread"] / self.clock["total"] if self.classes is None else 1.0
        return float(eta0 * np.sqrt(spread))

    # ------------------------------------------------------------------ files

    signed: ClassVar[frozenset[str]] = frozenset({"y_mean"})

    def to_training_state(self) -> TrainingState:
        """Return the state as a model file keeps it: without spare capacity."""
        saved, n_centred = super().to_training_state(), int(self.clock["centred"])
        kept = {
            name: np.ascontiguousarray(saved.tensors[name][..., :n_centred])
            for name in ("centred_index", "centred")
        }
        return replace(saved, tensors={**saved.tensors, **kept})

    def restore(self, saved: TrainingState) -> None:
        """Take over a saved state; its centred columns may be any number."""
        index = saved.tensors.get("centred_index", np.zeros(0))
        n_centred = index.size if index.ndim == 1 else 0
        self.shared["centred_index"] = np.zeros(n_centred, dtype=np.int64)
        self.shared["centred"] = np.zeros((3, n_centred))
        super().restore(saved)

    def check_saved(self, tensors: Mapping[str, NDArray[Any]], clock: dict[str, float]) -> None:
        """Refuse values that training cannot produce, and inconsistent column indices.

        The compiled core trusts the indices: it checks only that the list is within bounds.
        """
        super().check_saved(tensors, clock)
        if not (0 < clock["rows"] <= MAX_EXAMPLES and clock["total"] > 0):
            raise ValueError("rows and total must be > 0, and rows at most 2^53")
        columns, centred = tensors["columns"], tensors["centred"]
        index = _centred_index(tensors, clock["centred"])
        if index is None:
            raise ValueError("its centred columns are not those of its list")
        centred = centred[:, : len(index)]
        used = columns[:, INVERSE] != 0
        if (np.abs(np.frexp(columns[used, INVERSE])[0]) != 0.5).any():
            raise ValueError("the units of its columns are not powers of two")
        if (columns[:, SQUARES] < 0).any() or (columns[used, COUNT] <= 0).any():
            raise ValueError("columns holds a negative count or square")
        if (centred[SPREAD] < 0).any():
            raise ValueError("columns holds a negative spread")
        if (tensors["wa"][..., 1] < 0).any() or (tensors["a0"] < 0).any():
            raise ValueError("wa or a0 holds a negative sum of squares")
        if "due" in tensors and (tensors["due"] < 0).any():
            raise ValueError("due holds a negative number")
        last = tensors.get("last", np.zeros(0))
        if (last < 0).any() or (last > clock["rows"]).any():
            raise ValueError("last is not between 0 and rows")


def _centred_index(
    tensors: Mapping[str, NDArray[Any]], n_centred: float
) -> NDArray[np.int64] | None:
    """Return the list of centred columns, or None if columns and list contradict each other."""
    columns, index = tensors["columns"], tensors["centred_index"]
    is_centred = columns[:, INVERSE] < 0
    if n_centred != is_centred.sum() or n_centred > len(index):
        return None
    index = index[: int(n_centred)]
    if ((index < 0) | (index >= len(columns))).any() or not is_centred[index].all():
        return None
    return index if np.array_equal(columns[index, SUM], np.arange(len(index))) else None
