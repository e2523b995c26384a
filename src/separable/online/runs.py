"""Runs of epochs in the compiled core."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

import numpy as np

from separable._core import native, portable
from separable.data.resources import available_bytes
from separable.data.rows import core_rows
from separable.estimator import check_random_state
from separable.fitting.targets import RowWeights

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.online.overlap import Separability
    from separable.online.state import OnlineState

    #: Learns in one block of lanes: (rows, weights, plan, block, first class, lanes in use).
    BlockKernel: TypeAlias = Callable[
        [portable.Rows, native.OnlineWeights, native.OnlinePlan, int, int, int], native.OnlineRun
    ]

__all__ = ["Rule", "Run", "TrainingBatch", "draw_seed", "refuse_overflow", "run_epochs"]


#: Shuffled rows are copied for at least so many epochs, from so many bytes on, if they are short.
COPY_EPOCHS = 4
COPY_BYTES = 8_000_000
COPY_ROW_BYTES = 1024


def draw_seed(random_state: Any) -> int:
    """Return the seed of the compiled core that a random state gives."""
    if isinstance(random_state, int):
        return _seed_of_int(random_state)
    return int(check_random_state(random_state).randint(0, 2**31 - 1))


@lru_cache(maxsize=64)
def _seed_of_int(random_state: int) -> int:  # to make a RandomState takes as long as a small fit
    return int(check_random_state(random_state).randint(0, 2**31 - 1))


class TrainingBatch(NamedTuple):
    """Training data: rows, targets (class index or number) and weights.

    ``present`` are the rows of positive weight in memory order, None for all; ``counted`` has them
    in training order. ``origin`` is the caller's index of each row if the rows are a shuffled copy.
    """

    rows: Rows
    target: NDArray[Any]
    counted: RowWeights
    core: portable.Rows
    present: NDArray[np.int64] | None = None
    origin: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, rows: Rows, target: NDArray[Any], counted: RowWeights) -> TrainingBatch:
        """Return a batch with the rows of the compiled core."""
        return cls(rows, target, counted, core_rows(rows), counted.rows)

    @property
    def n_counted(self) -> int:
        """The number of rows of positive weight."""
        return self.rows.n_rows if self.counted.rows is None else len(self.counted.rows)

    def shuffled(self, seed: int, epochs: int) -> TrainingBatch:
        """Return the rows in shuffled order, as indices or, for speed, as a copy.

        A copy is read sequentially, which is faster than scattered short rows. It pays off after a
        few epochs on data larger than the cache, and is skipped if it would take more than a
        quarter of the free memory. It changes no bit.
        """
        order = np.empty(self.n_counted, dtype=np.int64)
        native.shuffled(self.rows.n_rows, self.counted.rows, seed, order)
        size = sum(array.nbytes for array in self.rows.arrays())
        pays = epochs >= COPY_EPOCHS and size >= COPY_BYTES
        pays &= size <= COPY_ROW_BYTES * self.rows.n_rows
        if not pays or 4 * size > available_bytes():
            return self._replace(counted=self.counted._replace(rows=order))
        rows = self.rows.empty_like(order)
        self.core.copy_rows(order, *rows.arrays())
        weight = None if self.counted.weight is None else self.counted.weight[order]
        core = core_rows(rows)
        return TrainingBatch(rows, self.target[order], RowWeights(None, weight), core, None, order)


class Rule(NamedTuple):
    """Training settings: step size, order of the rows, stopping."""

    eta: float
    fit_intercept: bool
    max_epochs: int = 1
    shuffle: bool = False
    seed: int = 0
    first_epoch: int = 0
    #: Values that the pocket may read in any case to evaluate weights; negative: no pocket.
    pocket_values: int = -1
    tie_target: int = 0


class Run:
    """Combined result of the runs of all blocks of lanes.

    ``mistakes`` is (epochs, models); a block that stopped early has no further mistakes. Batch
    learners also have ``stop``, the reason why each model stopped ("" if it did not), and
    ``delta_norm``. ``verdicts`` has the separability of each class that was checked, ``overlaps``
    the models that stopped because their classes overlap. ``is_far``: a mistake bound is far beyond
    all epochs, so that only some were made.
    """

    def __init__(self, runs: list[native.OnlineRun]) -> None:
        by_block = [np.array(run.mistakes, dtype=np.int64) for run in runs]
        epochs = max(len(mistakes) for mistakes in by_block)
        self.mistakes: NDArray[np.int64] = np.concatenate(
            [np.pad(m, ((0, epochs - len(m)), (0, 0))) for m in by_block], axis=1
        )
        self.converged = all(run.converged for run in runs)
        self.pocket_mistakes = [m for run in runs for m in run.pocket_mistakes]
        self.stop = [stop for run in runs for stop in run.stop]
        self.delta_norm = [norm for run in runs for norm in run.delta_norm]
        self.verdicts: list[Separability | None] = []
        self.overlaps = np.zeros(self.mistakes.shape[1], dtype=np.bool_)
        self.is_far = False

    @property
    def converged_models(self) -> NDArray[np.bool_]:
        """The models that made no mistake in their last epoch."""
        return np.asarray((self.mistakes[-1] == 0) & ~self.overlaps)

    def followed_by(self, later: Run) -> Run:
        """Return both runs as one."""
        later.mistakes = np.concatenate([self.mistakes, later.mistakes])
        return later


def run_epochs(
    state: OnlineState,
    batch: TrainingBatch,
    rule: Rule,
    kernel: BlockKernel = native.perceptron,
    learning: NDArray[np.bool_] | None = None,
) -> list[native.OnlineRun]:
    """Train the state in place, block of lanes by block of lanes; ``learning`` is by model."""
    rows, weights = batch.core, state.native_weights()
    plan = native.OnlinePlan(
        label=batch.target,
        weight=batch.counted.weight,
        rows=batch.counted.rows,
        eta=rule.eta,
        fit_intercept=rule.fit_intercept,
        shuffle=rule.shuffle,
        seed=rule.seed,
        first_epoch=rule.first_epoch,
        max_epochs=rule.max_epochs,
        presented=state.presented,
        pocket_values=rule.pocket_values,
        record=state.records,
        tie_target=rule.tie_target,
        learning=learning,
    )
    if state.rule == "argmax":
        runs = [native.argmax_perceptron(rows, weights, plan, state.met)]
    else:
        runs = [
            kernel(
                rows,
                weights,
                plan,
                block,
                state.first_class + block * state.width,
                min(state.width, state.n_models - block * state.width),
            )
            for block in range(state.n_blocks)
        ]
    for run in runs:
        if run.overflow_row >= 0:
            refuse_overflow(batch, run.overflow_row, rule.eta)
    # A block that stopped early keeps its weights, so the longest count serves every mean.
    state.presented = max([run.presented for run in runs])
    if state.records:
        state.note_mistakes(batch, runs)
    return runs


def refuse_overflow(batch: TrainingBatch, row: int, eta: float) -> NoReturn:
    """Raise an error with the row whose score overflowed, and the remedy."""
    caller_row = row if batch.origin is None else int(batch.origin[row])
    values = batch.rows.values
    raise ValueError(
        f"The score of row {caller_row} overflowed to infinity while training: the largest |x| is "
        f"{np.abs(values).max():.3g} in {values.dtype}. Scale the columns first, for example with "
        "sklearn.preprocessing.StandardScaler or separable.TableEncoder, or lower eta0 "
        f"({eta:g})."
    )
