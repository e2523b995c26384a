"""Training on a stream of rows, with checkpoints.

A checkpoint is a model file from which a stream continues to the same bits.
"""

from __future__ import annotations

import signal
import threading
import time
import warnings
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.files.training_rows import TrainingRows
from separable.model.words import counted
from separable.workflow.options import file_name
from separable.workflow.progress import warn
from separable.workflow.stream.progressive_validation import PIECE, Gauge, Record, is_mark, next_cut
from separable.workflow.training_warnings import fit_warning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from separable.data.rows import Rows
    from separable.model.kinds import Model
    from separable.workflow.options import Every
    from separable.workflow.stream.progressive_validation import Line
    from separable.workflow.stream.stream_rows import Batch, RowStream, Source


__all__ = [
    "Checkpoint",
    "Checkpoints",
    "Interrupts",
    "StreamLearner",
    "block_of",
    "read_checkpoint",
    "refuse_changed_data",
    "stream_model",
    "write_checkpoint",
]

#: Maximum number of separate arrays of row hashes before they are joined.
PARTS = 64
NO_ROWS = TrainingRows(np.empty(0, np.uint64), 0)

#: Key of a checkpoint in the evidence of a model.
KEY = "checkpoint"


class Interrupts:
    """Defers Ctrl-C until the end of a critical section."""

    def __init__(self) -> None:
        self._held = self._came = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _handle(self, *_: object) -> None:
        if not self._held:
            raise KeyboardInterrupt
        self._came = True

    @contextmanager
    def held(self) -> Iterator[None]:
        """Defer Ctrl-C until the end of the block."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._came:
            self._came = False
            raise KeyboardInterrupt


class Checkpoints:
    """Schedule of checkpoints.

    Parameters
    ----------
    write : callable
        Writes a checkpoint.
    every : Every
    """

    def __init__(self, write: Callable[[], None], every: Every) -> None:
        self.write, self._every = write, every
        self._row, self._time = 0, time.monotonic()

    def at(self, row: int) -> None:
        """Write a checkpoint if one is due after this many rows, earlier passes included."""
        if self._every.rows is not None:
            due = row - self._row >= self._every.rows
        else:
            due = time.monotonic() - self._time >= (self._every.seconds or 0)
        if due:
            self.write()
            self._row, self._time = row, time.monotonic()


def block_of(estimator: Any, rows: Rows) -> int:
    """Return the block size of a moment learner; checkpoints never split a block."""
    from separable.moments.base import MomentEstimator
    from separable.moments.naive_bayes.base_counts import NaiveBayes
    from separable.statistics.row_blocks import block_rows

    if not isinstance(estimator, MomentEstimator) or isinstance(estimator, NaiveBayes):
        return 1
    return block_rows(rows.n_features, sparse=rows.is_sparse)


class StreamLearner:
    """Trains a learner on a stream, and counts rows.

    Parameters
    ----------
    estimator : object
        With ``partial_fit``.
    stream : RowStream
    record : Record, optional
        The record of a checkpoint to continue from.
    on_line : callable, optional
        Called with each line of the progress table.
    on_batches : callable, optional
        Called with the batches of all rows, before they are learned from.
    """

    def __init__(
        self,
        estimator: Any,
        stream: RowStream,
        record: Record | None = None,
        on_line: Callable[[Line], object] = str,
        on_batches: Callable[[list[Batch]], object] = len,
    ) -> None:
        self.estimator, self.stream = estimator, stream
        self.record = record or Record()
        classes = stream.target.classes
        self.gauge = Gauge(estimator, 0 if classes is None else len(classes))
        self.checkpoints: Checkpoints | None = None
        self._on_line, self._on_batches = on_line, on_batches
        self._interrupts = Interrupts()
        self._waiting: list[Batch] = []
        self._seen = [NO_ROWS]
        self._earlier = 0  # rows of complete passes of this run

    def run(self, passes: int = 1) -> None:
        """Run the remaining passes."""
        try:
            with self._interrupts:
                while self.record.passes < passes:
                    self._run_pass()
                    if self.record.passes < passes:
                        self._keep()
        except KeyboardInterrupt:
            if self.checkpoints is not None and self._can_keep():
                self.checkpoints.write()
            raise
        if not self.record.lines:
            raise ValueError(
                f"{file_name(self.stream.source.data)}: no row can be used for training: "
                f"{counted(self.record.missing, 'row')} without a target."
            )

    @property
    def training_rows(self) -> TrainingRows | None:
        """Hashes of the rows learned so far; None if the continued model has none."""
        if len(self._seen) > 1:
            self._seen = [TrainingRows.joined(self._seen)]
        return self._seen[0] if self._seen else None

    def go_on_from(self, model: Model) -> None:
        """Continue from the row hashes of an earlier model."""
        self._seen = [] if model.training_rows is None else [model.training_rows]

    def _run_pass(self) -> None:
        record = self.record
        self._waiting = []
        for batch in self.stream.batches(self._rows_left, record.row):
            self._waiting.append(batch)
            if self._rows_left() == 0:
                self._learn()
                if record.is_first_pass and is_mark(record.examples):
                    self._on_line(record.add_line(self.gauge, self.estimator))
                self._keep()
        with self._interrupts.held():
            if self._waiting:
                self._learn_now()
            if record.is_first_pass and record.examples and not is_mark(record.examples):
                self._on_line(record.add_line(self.gauge, self.estimator))
            self._earlier += record.examples
            record.end_pass(self.gauge, self.estimator)

    def _rows_left(self) -> int:
        """Return the number of rows missing to a complete block."""
        record = self.record
        cut = next_cut(record.examples) if record.is_first_pass else record.examples + PIECE
        if record.block > 1:
            cut = min(cut, (record.examples // record.block + 1) * record.block)
        return cut - record.examples - sum(len(batch.y) for batch in self._waiting)

    def _can_keep(self) -> bool:
        """Return whether a checkpoint is possible now: no row waits for its block."""
        record = self.record
        return (record.row > 0 or record.passes > 0) and record.examples % record.block == 0

    def _keep(self) -> None:
        """Write a checkpoint if it is due."""
        if self.checkpoints is not None and self._can_keep():
            with self._interrupts.held():
                self.checkpoints.at(self._earlier + self.record.examples)

    def _learn(self) -> None:
        with self._interrupts.held():
            self._learn_now()

    def _learn_now(self) -> None:
        waiting, target = self._waiting, self.stream.target
        self._on_batches(waiting)
        if self.record.is_first_pass:
            self.record.test(self.estimator, waiting, target)
        classes = {} if target.classes is None else {"classes": target.classes}
        for batch in waiting:
            if batch.rows is not None:
                began = self.estimator.__sklearn_is_fitted__()
                new_classes = {} if began else classes
                self.record.block = block_of(self.estimator, batch.rows)
                self.estimator.partial_fit(
                    batch.rows, batch.y, sample_weight=batch.weight, **new_classes
                )
                if self.record.is_first_pass:
                    self._remember(batch)
        self.record.count(waiting, target)
        self._waiting = []

    def _remember(self, batch: Batch) -> None:
        if batch.rows is None or not self._seen:
            return
        self._seen.append(TrainingRows.of(batch.rows, batch.weight))
        if len(self._seen) > PARTS:
            self._seen = [TrainingRows.joined(self._seen)]


@dataclass
class Checkpoint:
    """What a stream needs to continue, besides the model and its training state.

    Parameters
    ----------
    asked : dict
        The options of the run.
    files : list of dict
        Fingerprints of the files; see `Source.prints`.
    task : str
    classes : list or None
        The classes, in order.
    announced : str
        The source of the classes, for messages.
    record : Record
        Counters and position.
    """

    asked: dict[str, Any]
    files: list[dict[str, Any]]
    task: str
    classes: list[Any] | None
    announced: str
    record: Record


def write_checkpoint(path: str, model: Model, checkpoint: Checkpoint) -> None:
    """Write a model, its training state and a checkpoint to a file, atomically."""
    evidence = {**model.evidence, KEY: asdict(checkpoint)}
    replace(model, evidence=evidence).save(path, include_state=True)


def read_checkpoint(path: str) -> tuple[Model, Checkpoint]:
    """Read what `write_checkpoint` wrote."""
    import msgspec

    from separable.model.files.model_file import load

    if not Path(path).exists():
        raise ValueError(f"{path}: checkpoint not found. Check the path of --resume.")
    model = load(path)
    result = dict(model.evidence).get(KEY)
    if result is None or model.state is None:
        raise ValueError(
            f"{path}: this is a model, not a checkpoint of --stream --checkpoint. To learn from "
            f"more rows: separable update {path} DATA"
        )
    try:
        return model, msgspec.convert(result, Checkpoint)
    except msgspec.ValidationError as error:
        raise ValueError(
            f"{path}: the checkpoint cannot be read ({error}). Start again without --resume."
        ) from None


def refuse_changed_data(path: str, checkpoint: Checkpoint, source: Source) -> None:
    """Refuse files that are not those of the checkpoint."""
    now, then = source.prints(), checkpoint.files
    where = file_name(source.data)
    if len(now) != len(then):
        raise ValueError(
            f"{where}: {counted(len(now), 'file')} now, but {path} was made with {len(then)}. "
            "Name the same files, or start again without --resume."
        )
    for new, old in zip(now, then, strict=True):
        if new["bytes"] != old["bytes"]:
            what = f"{new['name']} has {new['bytes']} bytes, but had {old['bytes']}"
        elif new["start"] != old["start"]:
            what = f"{new['name']} does not begin as it did"
        else:
            continue
        raise ValueError(
            f"{where}: {what} when {path} was made. A stream can only be resumed with the same "
            f"data. Give it, or learn the new rows with separable update {path} {source.data}"
        )


def stream_model(learner: StreamLearner, n_rows: int, *, warns: bool = True) -> Model:
    """Return the current model with its encoder.

    Parameters
    ----------
    learner : StreamLearner
    n_rows : int
        Number of training rows.
    warns : bool
        Whether to print the warnings of the solver.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model: Model = learner.estimator.model_
    encoder = learner.stream.encoder
    for one in caught if warns else ():
        message = fit_warning(one.message, model, n_rows, encoder)
        if message:
            warn(message)
    return replace(model, encoder=encoder, training_rows=learner.training_rows)
