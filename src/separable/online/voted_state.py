"""Training state of the voted perceptron: running weights, and the steps that led to them.

Besides its running weights, each model keeps initial weights and its steps: row, size and number of
presentations before it. The rows are copied once, whatever models step along them. What
a chunk brings is only put on a list; ``settle`` makes one array of each list, folds steps beyond
``max_voters`` into the base and drops rows that no step needs any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from separable._core import native, portable
from separable.data.row_operations import stack_rows
from separable.data.rows import core_rows
from separable.model.linear_model import TrainingState
from separable.model.voted.voters import (
    Voters,
    check_steps,
    checked_mistaken,
    voted_model_parts,
    voted_parts,
)
from separable.online.state import WEIGHTS, Layout, ModelArray, OnlineState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.model.voted.voted_model import VotedModel
    from separable.online.runs import TrainingBatch

__all__ = ["VOTED", "Steps", "VotedState"]

#: The base of each model, and the presentations before it became the current weights.
VOTED: Layout = {
    **WEIGHTS,
    "base_w": ModelArray(None, double=True),
    "base_b": ModelArray(0, double=True),
    "base_time": ModelArray(0, double=True, odd=False),
}
#: Steps beyond the cap that may pile up before they are folded.
MAX_UNFOLDED = 1024


class Steps(NamedTuple):
    """Steps of one model: the row, the size and the presentations before each."""

    rows: NDArray[np.int64]
    sizes: NDArray[np.float64]
    times: NDArray[np.float64]

    def opposed(self) -> Steps:
        """Return the steps of the model with all labels turned."""
        return self._replace(sizes=-self.sizes)

    def moved(self, positions: NDArray[np.int64]) -> Steps:
        """Return the steps for rows moved to ``positions``."""
        return self._replace(rows=positions[self.rows])


class VotedState(OnlineState):
    """Running weights in float64, the mistaken rows and each model's steps along them."""

    records: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.mistaken: list[Rows] = []
        #: For each model its steps, in pieces that follow each other.
        self.steps: list[list[Steps]] = [[] for _ in range(self.n_models)]
        #: The rows kept, and the steps since ``settle`` of the model that made most.
        self.n_mistaken = self.n_unsettled = 0

    @property
    def fit_intercept(self) -> bool:
        """Whether steps change the intercept."""
        return self.clock["fit_intercept"] != 0

    # ------------------------------------------------------------------ learning

    def cast(self, rows: Rows, largest: float) -> Rows:
        """Return the rows as they are: float64 weights take float32 rows too."""
        del largest
        return rows

    def note_mistakes(self, batch: TrainingBatch, runs: list[native.OnlineRun]) -> None:
        """Keep the rows of mistakes and the steps along them."""
        steps_taken = [
            Steps(*run.recorded(lane))
            for block, run in enumerate(runs)
            for lane in range(min(self.width, self.n_models - block * self.width))
        ]
        if not any(len(steps.rows) for steps in steps_taken):
            return
        rows = np.unique(np.concatenate([steps.rows for steps in steps_taken]))
        positions = np.zeros(batch.rows.n_rows, dtype=np.int64)
        positions[rows] = np.arange(len(rows)) + self.n_mistaken
        self.mistaken.append(batch.rows.take(rows))
        self.n_mistaken += len(rows)
        self.n_unsettled += max(len(steps.rows) for steps in steps_taken)
        for pieces, steps in zip(self.steps, steps_taken, strict=True):
            if len(steps.rows):
                pieces.append(steps.moved(positions))

    def start_here(self) -> None:
        """Make the running weights the base of a new run."""
        arrays = self.arrays()
        times = np.full(self.n_models, self.presented)
        self.set_arrays({"base_w": arrays["w"], "base_b": arrays["b"], "base_time": times})

    def settle_now_and_then(self, max_voters: int | None) -> None:
        """Settle when enough has piled up, so that memory stays within a few times the cap."""
        if max_voters is not None and self.n_unsettled > max_voters + MAX_UNFOLDED:
            self.settle(max_voters)

    def settle(self, max_voters: int | None) -> None:
        """Join the pieces, keep the last ``max_voters`` vectors of each model, drop idle rows."""
        mistaken = stack_rows(self.mistaken, self.n_features)
        steps = [_joined(pieces) for pieces in self.steps]
        if max_voters is not None:
            core = core_rows(mistaken)
            steps = [
                self._fold(core, model, each, len(each.rows) + 1 - max_voters)
                for model, each in enumerate(steps)
            ]
        mistaken, steps = in_order_of_use(mistaken, steps)
        self._keep([mistaken], steps)

    def _keep(self, mistaken: list[Rows], steps: Sequence[Steps]) -> None:
        self.mistaken, self.steps = mistaken, [[each] for each in steps]
        self.n_mistaken, self.n_unsettled = sum(part.n_rows for part in mistaken), 0

    def _fold(self, core: portable.Rows, model: int, steps: Steps, n: int) -> Steps:
        """Add the first n steps of a model to its base and return the others."""
        if n <= 0:
            return steps
        arrays, sizes = self.arrays(), steps.sizes[:n]
        base = np.array(arrays["base_w"][model])
        native.fold_steps(core, steps.rows[:n], sizes, base)
        b = arrays["base_b"][model]
        # one after the other, as the weights: cumsum is not pairwise
        intercept = np.cumsum(np.append(b, sizes))[-1] if self.fit_intercept else b
        index = model // self.width, ..., model % self.width
        self.lanes["base_w"][index] = base
        self.lanes["base_b"][index] = intercept
        self.lanes["base_time"][index] = steps.times[n - 1]
        return Steps(steps.rows[n:], steps.sizes[n:], steps.times[n:])

    # ------------------------------------------------------------------ classes, copies, fits

    def add_classes(self, new: NDArray[Any]) -> None:
        """Add new classes, each with the steps of the ghost."""
        known = dict(zip(self.labels.tolist(), self._steps_by_class(), strict=True))
        ghost = self.steps[-1]
        super().add_classes(new)
        by_class = [list(known.get(c, ghost)) for c in self.labels.tolist()]
        self.steps = [*by_class[self.first_class :], ghost]

    def continue_from(self, previous: OnlineState) -> None:
        """Take over the weights and the steps of an earlier fit."""
        super().continue_from(previous)
        assert isinstance(previous, VotedState)
        self._copy_records(previous)
        self.steps = previous._steps_by_class()[self.first_class :]

    def copy(self) -> Self:
        """Return a state of its own; what was noted is never changed, so it is shared."""
        other = super().copy()
        other._copy_records(self)
        other.steps = [list(each) for each in self.steps]
        return other

    def _copy_records(self, other: VotedState) -> None:
        self.mistaken, self.n_mistaken = list(other.mistaken), other.n_mistaken
        self.n_unsettled = other.n_unsettled

    def _steps_by_class(self) -> list[list[Steps]]:
        """Return the steps of each class, the ghost left out; see ``by_class``."""
        n = len(self.labels)
        if self.first_class == 0:
            return [list(pieces) for pieces in self.steps[:n]]
        first = [piece.opposed() for piece in self.steps[0]]
        return [first, *(list(pieces) for pieces in self.steps[: n - 1])]

    # ------------------------------------------------------------------ models and files

    def voters(self) -> tuple[Rows, Voters]:
        """Return the mistaken rows and the voters of the models that predict."""
        steps = [_joined(pieces) for pieces in self._predicting()]
        mistaken, steps = in_order_of_use(stack_rows(self.mistaken, self.n_features), steps)
        for array in mistaken.arrays():
            array.setflags(write=False)  # a model keeps read-only arrays without a copy
        first = -len(steps)  # one class: its negative ghost; two: the second's model
        bases = {name: np.stack(each[first:]) for name, each in self.by_class().items()}
        return mistaken, self._voters(steps, bases)

    def _predicting(self) -> list[list[Steps]]:
        """Return the steps of the models that a ``VotedModel`` has."""
        by_class = self._steps_by_class()
        return by_class[self.first_class :] or by_class

    def _voters(self, steps: Sequence[Steps], bases: dict[str, NDArray[Any]]) -> Voters:
        counts = [
            np.diff(np.concatenate([[time], each.times, [self.presented]]))
            for time, each in zip(bases["base_time"], steps, strict=True)
        ]
        return Voters(
            rows=np.concatenate([each.rows for each in steps]),
            steps=np.concatenate([each.sizes for each in steps]),
            counts=np.concatenate([each[1:] for each in counts]),
            starts=np.cumsum([0, *(len(each.rows) for each in steps)]),
            base_counts=np.array([each[0] for each in counts]),
            base_intercept=bases["base_b"],
            base_weights=bases["base_w"] if bases["base_w"].any() else None,
            fit_intercept=self.fit_intercept,
        )

    def to_training_state(self) -> TrainingState:
        """Return the state for a model file, which also has the ghost's voters."""
        saved = super().to_training_state()
        if not self.n_ghosts:
            return saved
        # The rows that predict come first, in the order the model has them in.
        models = [_joined(pieces) for pieces in (*self._predicting(), self.steps[-1])]
        rows, steps = in_order_of_use(stack_rows(self.mistaken, self.n_features), models)
        n_model = 1 + max((int(each.rows.max(initial=-1)) for each in steps[:-1]), default=-1)
        bases = {name: array[-1:] for name, array in self.arrays().items()}
        parts = voted_parts(rows.slice(n_model, rows.n_rows), self._voters(steps[-1:], bases))
        tensors = {**saved.tensors, **{GHOST + name: array for name, array in parts.items()}}
        return TrainingState(tensors, saved.values)

    def recall(self, model: VotedModel) -> None:
        """Take over the steps of a model with the training state that was just restored."""
        assert model.state is not None
        if model.voters.fit_intercept != self.fit_intercept:
            raise ValueError(f"fit_intercept is {self.fit_intercept} there")
        times = self.arrays()["base_time"]
        mistaken, steps = [model.mistaken], []
        if self.n_models > self.n_ghosts:  # else the one class is the opposite of the ghost
            steps = self._recalled(model.voters, times[: len(model.voters)])
        if self.n_ghosts:
            parts = {
                name.removeprefix(GHOST): array
                for name, array in model.state.tensors.items()
                if name.startswith(GHOST)
            }
            rows, voters = voted_model_parts(parts, self.n_features, self.fit_intercept)
            mistaken.append(checked_mistaken(rows))
            check_steps(voters, stack_rows(mistaken, self.n_features))
            steps += self._recalled(voters, times[-1:])
        self._keep(mistaken, steps)

    def _recalled(self, voters: Voters, times: NDArray[np.float64]) -> list[Steps]:
        """Return steps from voters: one is made when all before it have had their counts."""
        steps = []
        for model, time in enumerate(times):
            own = voters[model]
            counts = own.all_counts
            if time + counts.sum() != self.presented:
                raise ValueError(f"the counts of model {model} are not those of its presentations")
            steps.append(Steps(own.rows, own.steps, time + np.cumsum(counts[:-1])))
        return steps


#: What the tensors of the ghost's voters begin with.
GHOST = "ghost_"


def in_order_of_use(mistaken: Rows, steps: Sequence[Steps]) -> tuple[Rows, list[Steps]]:
    """Return the rows that are stepped along, in the order in which they first are, and the steps.

    So the arrays do not depend on how a stream was cut into chunks.
    """
    rows, first = np.unique(np.concatenate([each.rows for each in steps]), return_index=True)
    rows = rows[np.argsort(first)]
    if np.array_equal(rows, np.arange(mistaken.n_rows)):
        return mistaken, list(steps)
    positions = np.zeros(mistaken.n_rows, dtype=np.int64)
    positions[rows] = np.arange(len(rows))
    return mistaken.take(rows), [each.moved(positions) for each in steps]


def _joined(pieces: Sequence[Steps]) -> Steps:
    if len(pieces) == 1:
        return pieces[0]
    empty = np.empty(0)
    return Steps(
        np.concatenate([empty.astype(np.int64), *(piece.rows for piece in pieces)]),
        np.concatenate([empty, *(piece.sizes for piece in pieces)]),
        np.concatenate([empty, *(piece.times for piece in pieces)]),
    )
