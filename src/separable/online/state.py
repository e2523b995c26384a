"""Training state of the online learners: weights in lanes, extensible to new classes.

A ``Layout`` names the arrays of each model. A regressor has one model. One-vs-rest has one model
per class; two classes share one model (that of the second; the first is its negative). An open
stream has one more model, the ghost: it is trained with every label negative, which is what the
model of an unseen class would have learned so far. A new class starts as its copy. The argmax rule
needs no ghost: an unseen class has weights 0.

Models are stored in blocks of lanes, ``w[block][feature][lane]``; one-vs-rest on one or two classes
uses blocks of width 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from separable._core import native
from separable.linalg.blas import aligned_zeros
from separable.model.linear_model import TrainingState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.online.runs import TrainingBatch

__all__ = ["AVERAGED", "WEIGHTS", "Layout", "ModelArray", "OnlineState"]

#: Shorter runs end before the compiled core first polls for an interrupt.
MIN_POLLED = 1 << 20


class ModelArray(NamedTuple):
    """Description of an array per model.

    ``size``: numbers per model, None for one per feature, 0 for a scalar. ``double``: always
    float64. ``odd``: it changes its sign if all labels do. ``paired``: each number has a second one
    next to it, which does not change its sign.
    """

    size: int | None
    double: bool = False
    odd: bool = True
    paired: bool = False

    def shape(self, n_features: int) -> tuple[int, ...]:
        """Return the shape of one model's array."""
        inner = () if self.size == 0 else (n_features if self.size is None else self.size,)
        return (*inner, 2) if self.paired else inner

    def turned(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return a model's array for negated labels; never -0.0."""
        if not self.odd:
            return array
        if not self.paired:
            return np.asarray(0 - array)
        return np.stack([0 - array[..., 0], array[..., 1]], axis=-1)


#: Arrays of the models, by name.
Layout: TypeAlias = dict[str, ModelArray]
WEIGHTS: Layout = {"w": ModelArray(None), "b": ModelArray(0)}
#: The sums u from which the mean of all weights is computed.
AVERAGED: Layout = {**WEIGHTS, "u": ModelArray(None, double=True), "u_b": ModelArray(0, True)}


@dataclass
class OnlineState:
    """Weights of all models, in lanes, with the state needed to continue training.

    Parameters
    ----------
    classes : ndarray or None
        The classes seen or announced, sorted; None for a regressor.
    n_features : int
        The number of features d.
    dtype : dtype
        float32 or float64, the type of the data.
    rule : {"ovr", "argmax"}
        One-vs-rest or the multi-class rule.
    layout : Layout
        The arrays of each model.
    open_classes : bool
        Whether new classes may still appear.
    """

    #: Whether runs record their mistakes for ``note_mistakes``.
    records: ClassVar[bool] = False
    #: Sums that may be infinite and do not affect training.
    unbounded: ClassVar[frozenset[str]] = frozenset()

    classes: NDArray[Any] | None
    n_features: int
    dtype: np.dtype[Any]
    rule: str
    layout: Layout
    open_classes: bool = False
    presented: float = 0.0
    rows_seen: int = 0
    updates: int = 0
    met: NDArray[np.bool_] = field(init=False)
    #: The arrays of the layout as [block]...[lane].
    lanes: dict[str, NDArray[Any]] = field(init=False)
    #: Arrays shared by all models, and counters.
    shared: dict[str, NDArray[Any]] = field(default_factory=dict)
    clock: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        #: Upper bound on |weight|; None: unknown.
        self.weight_bound: float | None = 0.0
        self.met = np.zeros(0 if self.classes is None else len(self.classes), dtype=np.bool_)
        self._allocate()

    @property
    def labels(self) -> NDArray[Any]:
        """The classes of a classifier."""
        assert self.classes is not None
        return self.classes

    @property
    def averaged(self) -> bool:
        """Whether the mean of all weights is kept."""
        return "u" in self.layout

    def _lay_out(self) -> None:
        """Set the number of models and the width of their blocks."""
        n_classes = 2 if self.classes is None else len(self.classes)
        #: The class index of model 0.
        self.first_class = 0 if self.rule == "argmax" or n_classes > 2 else 1
        #: 1 if there is a ghost, the last model, else 0.
        self.n_ghosts = int(self.open_classes and self.rule == "ovr")
        self.n_models = n_classes - self.first_class + self.n_ghosts
        #: The largest number the weights can hold.
        self.most = float(np.finfo(self.dtype).max)
        #: Number of models per block of lanes.
        self.width = 1 if self.first_class else native.lane_width(self.dtype == np.float64)

    def _allocate(self) -> None:
        if self.classes is not None:
            self.classes.setflags(write=False)
        self._lay_out()
        blocks = max(1, -(-self.n_models // self.width))
        self.lanes = {}
        for name, array in self.layout.items():
            shape = (blocks, *array.shape(self.n_features), self.width)
            dtype = np.dtype(np.float64) if array.double else self.dtype
            self.lanes[name] = aligned_zeros(shape, dtype)

    @property
    def n_blocks(self) -> int:
        """The number of blocks of lanes."""
        return len(self.lanes["b"])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by model: w of shape (models, d), b of shape (models,)."""
        return {name: self.array(name) for name in self.lanes}

    def array(self, name: str) -> NDArray[Any]:
        """Return one of the arrays by model."""
        lanes = self.lanes[name]
        if self.width > 1:
            lanes = np.moveaxis(lanes, -1, 1)
        return lanes.reshape(-1, *self.layout[name].shape(self.n_features))[: self.n_models]

    def set_arrays(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Set the arrays from arrays by model."""
        self.weight_bound = None
        for name, by_model in arrays.items():
            lanes = self.lanes[name]
            for model, row in enumerate(by_model):
                lanes[model // self.width, ..., model % self.width] = row

    def continue_from(self, previous: OnlineState) -> None:
        """Copy the weights of an earlier fit on the same classes and features."""
        changed = {
            "n_features": (previous.n_features, self.n_features),
            "rule": (previous.rule, self.rule),
        }
        for what, (before, now) in changed.items():
            if before != now:
                raise ValueError(
                    f"warm_start=True continues the previous fit, but {what} changed from "
                    f"{before} to {now}. Fit a new estimator."
                )
        if {*previous.layout, *previous.shared} != {*self.layout, *self.shared}:
            raise ValueError(
                "warm_start=True continues the previous fit, but parameters changed that say what "
                "is stored with the weights: learning_rate, average or the kind of penalty. Fit a "
                "new estimator."
            )
        if self.classes is not None:
            self._continue_classes(previous)
        else:
            self.set_arrays(previous.arrays())
        self.met = previous.met.copy()
        self.presented, self.rows_seen = previous.presented, previous.rows_seen
        self.updates = previous.updates
        self.shared = {name: array.copy() for name, array in previous.shared.items()}
        self.clock = dict(previous.clock)

    def _continue_classes(self, previous: OnlineState) -> None:
        if not np.array_equal(self.labels, previous.labels):
            raise ValueError(
                "warm_start=True continues the previous fit, but the classes changed from "
                f"{previous.labels.tolist()} to {self.labels.tolist()}. Fit a new estimator."
            )
        by_class = previous.by_class()
        self.set_arrays({k: np.stack(rows[self.first_class :]) for k, rows in by_class.items()})

    def take_start(self, name: str, parameter: str, value: Any, shape: tuple[int, ...]) -> None:
        """Check and set the initial w or b of the caller, if any."""
        if value is None:
            return
        start = np.asarray(value, dtype=np.float64)
        if shape[0] == 1 and start.ndim == len(shape) - 1:  # one model may come without its axis
            start = start[None]
        if start.shape != shape or not np.isfinite(start).all():
            raise ValueError(f"{parameter} must be finite and of shape {shape}, got {start.shape}.")
        if self.rule == "argmax" and len(self.labels) == 2:  # they share it half and half
            start = np.concatenate([-start / 2, start / 2])
        self.set_start(name, start)

    def set_start(self, name: str, start: NDArray[np.float64]) -> None:
        """Set the initial w or b of each model."""
        self.set_arrays({name: start})

    def cast(self, rows: Rows, largest: float) -> Rows:
        """Return rows with values up to ``largest`` in the dtype of the weights."""
        if largest > self.most:
            raise ValueError(
                f"The stream began in {self.dtype}, which cannot hold {largest:.3g}. Scale the "
                "columns, or begin the stream with float64 rows."
            )
        return rows.astype(self.dtype)

    def copy(self) -> Self:
        """Return an independent copy."""
        other = replace(self, shared={k: a.copy() for k, a in self.shared.items()})
        other.met, other.clock = self.met.copy(), dict(self.clock)
        for name, lanes in self.lanes.items():
            other.lanes[name][:] = lanes
        other.weight_bound = self.weight_bound
        return other

    def weight_bound_after(self, largest: float, steps: float, eta: float) -> float:
        """Return a bound on |weight| after ``steps`` steps on values up to ``largest``."""
        if self.weight_bound is None:
            self.weight_bound = max(float(np.abs(self.lanes[name]).max()) for name in ("w", "b"))
        return self.weight_bound + eta * steps * max(largest, 1.0)

    def is_short(self, n_values: float) -> bool:
        """Return whether a run that reads ``n_values`` numbers is too short to be interrupted."""
        return n_values * self.n_blocks < MIN_POLLED

    def is_safe(self, weight_bound: float, largest: float, n_values: int) -> bool:
        """Return whether a run cannot fail: no overflow, too short to be interrupted."""
        scores = weight_bound * max(largest, 1.0) * (self.n_features + 1)
        return self.is_short(n_values) and scores < self.most / 4

    def astype(self, dtype: np.dtype[Any]) -> Self:
        """Return the state with weights of another dtype; itself if unchanged."""
        if self.dtype == dtype:
            return self
        other = replace(self, dtype=dtype)
        other.met = self.met.copy()
        other.set_arrays(self.arrays())
        return other

    def note_mistakes(self, batch: TrainingBatch, runs: list[native.OnlineRun]) -> None:
        """Store the mistakes of a successful run."""

    def native_weights(self) -> native.OnlineWeights:
        """Return the view of the arrays that the compiled core trains."""
        lanes = self.lanes
        return native.OnlineWeights(lanes["w"], lanes["b"], lanes.get("u"), lanes.get("u_b"))

    def add_classes(self, new: NDArray[Any]) -> None:
        """Add new classes, each a copy of the ghost."""
        old, arrays = self.by_class(), self.arrays()
        old_classes, old_met = self.labels.tolist(), dict(zip(self.labels, self.met, strict=True))
        self.classes = np.unique(np.concatenate([self.labels, new]))
        self.met = np.array([old_met.get(c, False) for c in self.classes], dtype=np.bool_)
        self._allocate()
        moved: dict[str, NDArray[Any]] = {}
        for name, by_model in arrays.items():
            ghost = by_model[-1] if self.rule == "ovr" else np.zeros_like(by_model[0])
            known = dict(zip(old_classes, old[name], strict=True))
            by_class = [known.get(c, ghost) for c in self.classes.tolist()][self.first_class :]
            moved[name] = np.stack([*by_class, ghost] if self.rule == "ovr" else by_class)
        self.set_arrays(moved)

    def by_class(self) -> dict[str, list[NDArray[Any]]]:
        """Return w, b and the sums of each class, without the ghost."""
        arrays, n = self.arrays(), len(self.labels)
        if self.first_class == 0:
            return {name: list(a[:n]) for name, a in arrays.items()}
        # One class: the negative of the ghost. Two: the model of the second, and its negative.
        return {name: [self.layout[name].turned(a[0]), *a[: n - 1]] for name, a in arrays.items()}

    def weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return weights (k, d) and intercepts (k,), or their means, for a ``LinearModel``."""
        n_models = self.n_models - self.n_ghosts or 1
        w, lanes = np.empty((n_models, self.n_features)), self.lanes
        native.unpack(self.native_weights(), 1.0, self.presented or 1.0, w)
        b = lanes["b"].reshape(-1)[:n_models].astype(np.float64)
        if self.averaged:
            b -= lanes["u_b"].reshape(-1)[:n_models] / (self.presented or 1.0)
        return self.as_model(w, b)

    def as_model(
        self, w: NDArray[np.float64], b: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weights of all models but the ghost in the form of a ``LinearModel``."""
        n_classes = 0 if self.classes is None else len(self.classes)
        if n_classes == 1 and self.rule == "ovr":
            w, b = 0 - w, 0 - b  # the ghost was trained on what is not this class
        if n_classes == 2 and self.rule == "argmax":
            w, b = w[1:] - w[:1], b[1:] - b[:1]
        w.setflags(write=False)  # a model keeps read-only arrays without a copy
        b.setflags(write=False)
        return w, b

    def to_training_state(self) -> TrainingState:
        """Return the state in the form of a model file."""
        tensors = {name: np.array(a) for name, a in (self.arrays() | self.shared).items()}
        for tensor in tensors.values():
            tensor.setflags(write=False)
        values = {
            "rule": self.rule,
            "open_classes": self.open_classes,
            "presented": self.presented,
            "rows_seen": self.rows_seen,
            "updates": self.updates,
            "met": self.met.tolist(),
            "clock": dict(self.clock),
        }
        return TrainingState(tensors, values)

    def restore(self, saved: TrainingState) -> None:
        """Restore the output of ``to_training_state``, checked against this empty state."""
        values = saved.values
        try:
            if values["rule"] != self.rule:
                raise ValueError(f"rule is {values['rule']!r:.80}, not {self.rule!r}")
            arrays, shared = self.arrays(), self.shared
            for name, array in (arrays | shared).items():
                _check_tensor(name, saved.tensors[name], array, name in self.unbounded)
            met = np.array(values["met"], dtype=np.bool_)
            if met.shape != self.met.shape:
                raise ValueError("met does not fit the classes")
            clock = {name: _finite(values["clock"], name) for name in self.clock}
            self.presented = _finite(values, "presented")
            self.rows_seen = _count(values, "rows_seen")
            self.updates = _count(values, "updates")
            self.check_saved(saved.tensors, clock)
        except (KeyError, ValueError, TypeError, OverflowError) as error:
            raise ValueError(
                f"The model's training state does not fit the model: {error}. Save it again from "
                "an estimator with include_state=True."
            ) from error
        self.met, self.clock = met, clock
        self.shared = {name: np.array(saved.tensors[name]) for name in shared}
        self.set_arrays({name: saved.tensors[name] for name in arrays})

    def check_saved(self, tensors: Mapping[str, NDArray[Any]], clock: dict[str, float]) -> None:
        """Refuse impossible values; shapes and dtypes are already checked."""


def _check_tensor(name: str, tensor: NDArray[Any], expected: NDArray[Any], unbounded: bool) -> None:
    if tensor.shape != expected.shape or tensor.dtype != expected.dtype:
        raise ValueError(f"{name} is {tensor.dtype} {tensor.shape}")
    if not (tensor > -np.inf if unbounded else np.isfinite(tensor)).all():
        raise ValueError(f"{name} is not finite")


def _count(values: Any, name: str) -> int:
    number = int(values[name])
    if number < 0:
        raise ValueError(f"{name} is {number}")
    return number


def _finite(values: Any, name: str) -> float:
    number = float(values[name])
    if not np.isfinite(number):
        raise ValueError(f"{name} is {number}")
    return number
