"""Training on a stream: data of any size, one row at a time, in bounded memory."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.errors import Message, Option, OptionError, by_spelling
from separable.model.words import counted
from separable.workflow.comparison.candidates import checked_settings
from separable.workflow.learners import LEARNERS, new_learner
from separable.workflow.options import (
    Every,
    ProblemOptions,
    checked_models,
    command_line,
    data_name,
    file_name,
)
from separable.workflow.progress import keeping, note, remembering_files, say, stream_lines
from separable.workflow.stream.encoded_streams import SparseStream, TableStream
from separable.workflow.stream.stream_learning import (
    Checkpoint,
    Checkpoints,
    StreamLearner,
    read_checkpoint,
    refuse_changed_data,
    stream_model,
    write_checkpoint,
)
from separable.workflow.stream.stream_report import stream_dict, stream_text, trained
from separable.workflow.stream.stream_rows import Source, Wanted
from separable.workflow.stream.stream_target import Labels, Quantities
from separable.workflow.training_problem import adds_counts
from separable.workflow.training_run import save_model

if TYPE_CHECKING:
    import os

    from separable.errors import Spelling
    from separable.features.table.table_encoder import TableEncoder
    from separable.model.kinds import Model
    from separable.workflow.learners import Task
    from separable.workflow.options import StreamOptions
    from separable.workflow.stream.progressive_validation import Record
    from separable.workflow.stream.stream_rows import RowStream
    from separable.workflow.stream.stream_target import StreamTarget

__all__ = ["StreamRun", "train_stream"]

#: Without a model.
DEFAULTS: dict[Task, str] = {"classification": "sgd-classifier", "regression": "sgd-regressor"}
#: Options of a comparison, which a stream does not make.
NOT_TAKEN = (
    *("metric", "positive", "group", "time", "folds", "compare_rows", "budget"),
    *("increasing", "decreasing", "nonnegative"),
    *("curves", "interactions", "cost", "threshold", "class_weight", "target_log"),
)


@dataclass(frozen=True, repr=False)
class StreamRun:
    """The result of ``separable.train(..., stream=True)``.

    Parameters
    ----------
    data : str
    target_name : str or None
    learner : str
    stream : RowStream
    record : Record
        Progressive validation: each row is predicted before it is learned.
    passes : int
    gauge : str or None
        The name of the loss.
    model : LinearModel
    seconds : float
    rows_read : int
    notes, warnings : tuple of Message
    """

    data: str
    target_name: str | None
    learner: str
    stream: RowStream
    record: Record
    passes: int
    gauge: str | None
    model: Model
    seconds: float
    rows_read: int
    notes: tuple[Message, ...] = ()
    warnings: tuple[Message, ...] = ()

    def summary(self) -> str:
        """Return the text that ``separable train --stream`` prints."""
        return stream_text(self)

    def to_dict(self, spelling: Spelling = "train") -> dict[str, Any]:
        """Return the results as JSON values."""
        return stream_dict(self, spelling)

    def next_commands(self, model: str) -> list[str]:
        """Return commands that use the model, given the quoted path of its file."""
        data = "NEW.csv" if self.stream.encoder is not None else "NEW"
        return [
            f"separable explain {model}",
            f"separable evaluate {model} {data}",
            f"separable update {model} {data}",
        ]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, with its training state if that has at most 256 MB."""
        save_model(self.model, path)

    def __repr__(self) -> str:
        rows = counted(self.record.lines[-1].examples, "row")
        return f"StreamRun: {self.learner} for {self.target_name or 'the labels'}, {rows}"

    def _repr_html_(self) -> str:
        """Return the summary for a notebook."""
        return f"<pre>{escape(self.summary())}</pre>"


def train_stream(data: Any, options: ProblemOptions, stream: StreamOptions) -> StreamRun:
    """Train on a stream.

    Parameters
    ----------
    data : str
        Files that are read in chunks.
    options : ProblemOptions
    stream : StreamOptions
    """
    if not isinstance(data, str):
        raise OptionError(
            by_spelling("stream=True", "--stream"), ": a stream is read from files. Name a file."
        )
    _refuse_others(options)
    if stream.checkpoint is None and stream.every is not None:
        raise OptionError(
            by_spelling("every", "--every"),
            " needs ",
            by_spelling("checkpoint", "--checkpoint FILE"),
            ".",
        )
    options = replace(options, models=checked_models(options.models))
    with keeping() as kept, remembering_files():
        source = Source(data, options.reading)
        if (stream.passes or 1) > 1 and not source.again:
            raise OptionError(
                Option("passes", stream.passes),
                f": {file_name(data)} can be read only once. Save it to a file.",
            )
        run = _Training(source, stream, options).run()
        for message in source.notes:
            note(message)
        return replace(run, notes=tuple(kept.notes), warnings=tuple(kept.warnings))


def _refuse_others(options: ProblemOptions) -> None:
    """Refuse options that do not apply to streams."""
    default = ProblemOptions("")
    for name in NOT_TAKEN:
        value = getattr(options, name)
        if value != getattr(default, name):
            raise OptionError(
                Option(name, value),
                " cannot be used with a stream, which validates progressively. Leave one of them "
                "out.",
            )


class _Training:
    """One run of ``train --stream``."""

    def __init__(self, source: Source, given: StreamOptions, options: ProblemOptions) -> None:
        self.source, self.given, self.options = source, given, options
        if len(options.models) > 1:
            raise OptionError(Option("model", options.models), ": name one learner.")
        self.settings = checked_settings(options)
        self.learner = options.models[0] if options.models else None
        self.run_options = _run_options(given, options)

    def run(self) -> StreamRun:
        start = time.monotonic()
        if self.given.resume is None:
            stream, estimator, record = self._begin()
            before = None
        else:
            stream, estimator, record, before = self._go_on(self.given.resume)
        begun, done = record.passes, record.examples
        passes = self.given.passes or 1
        with stream_lines(file_name(self.source.data)) as table:
            learner = StreamLearner(estimator, stream, record, table.add_line)
            if before is not None:
                learner.go_on_from(before)
            table.begin(learner.gauge.name, stream.target, record)
            self.source.progress = table.reading
            self._keep_checkpoints(learner)
            try:
                learner.run(passes)
            except KeyboardInterrupt:
                table.end()
                self._note_interrupt(learner)
                raise
        assert self.learner is not None
        model = trained(
            stream_model(learner, learner.record.lines[-1].examples),
            learner,
            data=data_name(self.source.data),
            target=self.options.target or None,
            weight=self.options.weight,
            passes=passes,
            report={"commands": [self._command()], "seed": self.options.seed},
        )
        return StreamRun(
            data=self.source.data,
            target_name=self.options.target or None,
            learner=self.learner,
            stream=stream,
            record=learner.record,
            passes=passes,
            gauge=learner.gauge.name,
            model=model,
            seconds=time.monotonic() - start,
            rows_read=learner.record.lines[-1].examples * (passes - begun) - done,
        )

    def _command(self) -> str:
        name = "-" if self.source.data == "-" else shlex.quote(data_name(self.source.data))
        given = [*self.options.given(), *self.given.given()]
        return command_line("separable", "train", name, options=given)

    # --- the start ---

    def _begin(self) -> tuple[RowStream, Any, Record]:
        from separable.workflow.stream.progressive_validation import Record

        estimator = None if self.learner is None else self._new(self.learner)
        stream = self._stream(estimator)
        stream.begin()
        if estimator is None:
            self.learner = DEFAULTS[stream.target.task]
            estimator = self._new(self.learner)
        return stream, estimator, Record()

    def _go_on(self, path: str) -> tuple[RowStream, Any, Record, Model]:
        model, checkpoint = read_checkpoint(path)
        _refuse_other_options(path, checkpoint.asked, self.run_options)
        refuse_changed_data(path, checkpoint, self.source)
        where = f"{file_name(self.source.data)}: the target"
        target: StreamTarget = Quantities(where)
        if checkpoint.classes is not None:
            target = Labels(where, np.array(checkpoint.classes), checkpoint.announced)
        self.learner = self.learner or DEFAULTS[target.task]
        kind = LEARNERS[self.learner].load()
        stream = self._stream(kind(), target, model)
        estimator = kind.from_model(model)
        say(
            f"Continuing from {path}: {counted(checkpoint.record.row, 'row')} of pass "
            f"{checkpoint.record.passes + 1} done."
        )
        return stream, estimator, checkpoint.record, model

    def _stream(
        self, estimator: Any, target: StreamTarget | None = None, model: Model | None = None
    ) -> RowStream:
        wanted = self._wanted(estimator)
        encoder: TableEncoder | None = None if model is None else model.encoder  # type: ignore[assignment]
        if self.source.is_sparse:
            width = None if model is None else model.n_features
            return SparseStream(self.source, wanted, target, width)
        if not wanted.target:
            raise OptionError("Name the column to predict: ", Option("target"), ".")
        return TableStream(self.source, wanted, target, encoder)

    def _wanted(self, estimator: Any) -> Wanted:
        options, given = self.options, self.given
        task = options.task
        if self.learner is not None:
            own = LEARNERS[self.learner].task
            if task is not None and task != own:
                raise OptionError(Option("task", task), f": {self.learner} is for {own}.")
            task = own
        if given.classes is not None and task == "regression":
            raise OptionError(
                Option("classes", given.classes), ": the task is regression, which has no classes."
            )
        return Wanted(
            target=options.target or None,
            task=task or ("classification" if given.classes is not None else None),
            classes=given.classes,
            weight=options.weight,
            columns={kind: names for kind, names in options.columns.items() if names},
            encode_rows=given.encode_rows or Wanted.encode_rows,
            bits=given.bits,
            features=given.features,
            counts=estimator is not None and adds_counts(estimator),
            learner=self.learner,
            threads=options.threads,
            conversions=dict(options.conversions),
        )

    def _new(self, name: str) -> Any:
        """Return a learner with ``partial_fit``; the error names those that have it."""
        given = dict(self.settings)
        if name == "sgd-classifier":
            given.setdefault("loss", "log_loss")  # streams need probabilities
        made = new_learner(name, self.options.seed, **given)
        if name == "voted-perceptron":
            raise OptionError(
                Option("model", name),
                " stores every misclassified row, so its memory is unbounded. Use ",
                Option("model", "averaged-perceptron"),
                ", whose predictions are similar.",
            )
        if not hasattr(made, "partial_fit"):
            can = [each for each, one in LEARNERS.items() if hasattr(one.load()(), "partial_fit")]
            listed = ", ".join(each for each in can if each != "voted-perceptron")
            raise OptionError(
                Option("model", name),
                " needs all rows at once and cannot learn from a stream. These can: ",
                f"{listed}.",
            )
        online = LEARNERS[name].import_path.startswith("separable.online")
        if (self.given.passes or 1) > 1 and not online:
            raise OptionError(
                Option("passes", self.given.passes), f": {name} needs only one pass. Leave it out."
            )
        return made

    # --- checkpoints ---

    def _keep_checkpoints(self, learner: StreamLearner) -> None:
        path = self.given.checkpoint
        if path is None:
            return
        files, target = self.source.prints(), learner.stream.target

        def write() -> None:
            classes = None if target.classes is None else target.classes.tolist()
            announced = target.announced if isinstance(target, Labels) else ""
            checkpoint = Checkpoint(
                self.run_options, files, target.task, classes, announced, learner.record
            )
            try:
                model = stream_model(learner, learner.record.examples, warns=False)
            except ValueError:  # sums of a single class have no model yet
                return
            write_checkpoint(path, model, checkpoint)

        learner.checkpoints = Checkpoints(write, self.given.every or Every(seconds=60.0))

    def _note_interrupt(self, learner: StreamLearner) -> None:
        path, record = self.given.checkpoint, learner.record
        if path is None:
            say("Interrupted: nothing was saved. Use --checkpoint FILE to keep what was learned.")
        elif not Path(path).exists():
            say("Interrupted: nothing was saved, because too little was learned.")
        else:
            rows, of_pass = counted(record.row, "row"), ""
            if not record.is_first_pass:
                of_pass = f" of pass {record.passes + 1}"
            say(f"Interrupted after {rows}{of_pass}. To continue, repeat the command with:")
            say(f"  --resume {path}")


def _run_options(given: StreamOptions, options: ProblemOptions) -> dict[str, Any]:
    """Return the options that affect the result."""
    result: dict[str, Any] = {
        "--target": options.target or None,
        "--model": options.models[0] if options.models else None,
        "--set": sorted(f"{name}={value}" for name, value in options.settings.items()),
        "--task": options.task,
        "--weight": options.weight,
        "--seed": options.seed,
        "--passes": given.passes or 1,
        "--classes": given.classes,
        "--encode-rows": given.encode_rows or Wanted.encode_rows,
        "--bits": given.bits,
        "--features": given.features,
    }
    result |= {f"--{kind}": list(names) for kind, names in options.columns.items()}
    reading = options.reading.for_read().items()
    return result | {f"--{name.replace('_', '-')}": value for name, value in reading}


def _refuse_other_options(path: str, then: dict[str, Any], now: dict[str, Any]) -> None:
    for option in {**then, **now}:
        before, current = then.get(option), now.get(option)
        if before != current:
            raise OptionError(
                f"{option} is {_shown(current)} now, but was {_shown(before)} when {path} was "
                "made. Give the same options, or start again without --resume."
            )


def _shown(value: Any) -> str:
    return "not given" if value in (None, [], "") else str(value)
