"""``separable train --stream``: training on data of any size, one row at a time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from click.core import ParameterSource

from separable.cli.io.output import (
    check_output,
    check_report,
    counted,
    data_name,
    file_name,
    json_bytes,
    model_path,
    save_model,
    write_data,
    write_report,
)
from separable.cli.options.options import command_line_of
from separable.cli.options.training_options import Every
from separable.cli.render.messages import note, say
from separable.cli.stream.encoded_streams import SparseStream, TableStream
from separable.cli.stream.stream_learning import (
    Checkpoint,
    Checkpoints,
    StreamLearner,
    read_checkpoint,
    refuse_changed_data,
    stream_model,
    write_checkpoint,
)
from separable.cli.stream.stream_report import LineTable, stream_dict, stream_text, trained
from separable.cli.stream.stream_rows import Source, Wanted
from separable.cli.stream.stream_target import Labels, Quantities
from separable.cli.training.candidates import checked_settings
from separable.cli.training.learners import LEARNERS, new_learner
from separable.cli.training.training_data import adds_counts

if TYPE_CHECKING:
    from separable.cli.options.training_options import ProblemOptions, StreamOptions
    from separable.cli.stream.progressive_validation import Record
    from separable.cli.stream.stream_rows import RowStream
    from separable.cli.stream.stream_target import StreamTarget
    from separable.cli.training.learners import Task
    from separable.features.table.table_encoder import TableEncoder
    from separable.model.kinds import Model

__all__ = ["StreamRun", "train_stream"]

#: Without --model.
DEFAULTS: dict[Task, str] = {"classification": "sgd-classifier", "regression": "sgd-regressor"}
#: Options of ``train`` that do not apply to streams.
NOT_TAKEN = ("metric", "positive", "group", "time", "folds", "compare_rows", "test", "test_size")


@dataclass(frozen=True)
class StreamRun:
    """The results of a run, for text and JSON."""

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


def train_stream(
    ctx: click.Context,
    stream: StreamOptions,
    *,
    data: str,
    output: str | None,
    report: str | None,
    options: ProblemOptions,
    as_json: bool,
    **others: Any,
) -> None:
    """Train on a stream, save the model and print the results."""
    del others  # refused, or left at their defaults
    _refuse_others(ctx)
    path = model_path(output, data)
    _check_checkpoint(data, path, stream)
    if report is not None:
        kept = {} if stream.checkpoint is None else {"checkpoint": stream.checkpoint}
        check_report(report, "--report", model=path, data=data, **kept)
    source = Source(data, options.reading)
    if (stream.passes or 1) > 1 and not source.again:
        raise click.UsageError(
            f"--passes {stream.passes}: {file_name(data)} can be read only once. Save it to a file."
        )
    run = _Training(source, stream, options, command_line_of(ctx)).run()
    save_model(run.model, path)
    for message in source.notes:
        note(message)
    if report is not None:
        from separable.report.training_record import recalled

        write_report(recalled(run.model, model_file=data_name(path)), report)
    if as_json:
        write_data(json_bytes({"model": path, "report": report, **stream_dict(run)}))
    else:
        click.echo(stream_text(run, path, report))


class _Training:
    """One run of ``train --stream``."""

    def __init__(
        self, source: Source, given: StreamOptions, options: ProblemOptions, command: str
    ) -> None:
        self.source, self.given, self.options, self.command = source, given, options, command
        if len(options.models) > 1:
            raise click.UsageError(f"--model {' --model '.join(options.models)}: name one learner.")
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
        with LineTable(file_name(self.source.data)) as table:
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
            report={"commands": [self.command], "seed": self.options.seed},
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

    # --- the start ---

    def _begin(self) -> tuple[RowStream, Any, Record]:
        from separable.cli.stream.progressive_validation import Record

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
            raise click.UsageError("Missing option '--target'.")
        return TableStream(self.source, wanted, target, encoder)

    def _wanted(self, estimator: Any) -> Wanted:
        options, given = self.options, self.given
        task = options.task
        if self.learner is not None:
            own = LEARNERS[self.learner].task
            if task is not None and task != own:
                raise click.UsageError(f"--task {task}: {self.learner} is for {own}.")
            task = own
        if given.classes is not None and task == "regression":
            raise click.UsageError("--classes: the task is regression, which has no classes.")
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
            conversions=options.conversions,
        )

    def _new(self, name: str) -> Any:
        """Return a learner with ``partial_fit``; the error names those that have it."""
        given = dict(self.settings)
        if name == "sgd-classifier":
            given.setdefault("loss", "log_loss")  # streams need probabilities
        made = new_learner(name, self.options.seed, **given)
        if name == "voted-perceptron":
            raise click.UsageError(
                f"--model {name} stores every misclassified row, so its memory is unbounded. Use "
                "--model averaged-perceptron, whose predictions are similar."
            )
        if not hasattr(made, "partial_fit"):
            can = [each for each, one in LEARNERS.items() if hasattr(one.load()(), "partial_fit")]
            raise click.UsageError(
                f"--model {name} needs all rows at once and cannot learn from a stream. These "
                f"can: {', '.join(each for each in can if each != 'voted-perceptron')}."
            )
        online = LEARNERS[name].import_path.startswith("separable.online")
        if (self.given.passes or 1) > 1 and not online:
            raise click.UsageError(
                f"--passes {self.given.passes}: {name} needs only one pass. Leave it out."
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
        "--set": sorted(options.settings),
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
            raise click.UsageError(
                f"{option} is {_shown(current)} now, but was {_shown(before)} when {path} was "
                "made. Give the same options, or start again without --resume."
            )


def _shown(value: Any) -> str:
    return "not given" if value in (None, [], "") else str(value)


def _refuse_others(ctx: click.Context) -> None:
    """Refuse options of ``train`` that do not apply to streams."""
    for name in NOT_TAKEN:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"--{name.replace('_', '-')} cannot be used with --stream, which validates "
                "progressively. Leave one of them out."
            )


def _check_checkpoint(data: str, output: str, stream: StreamOptions) -> None:
    if stream.checkpoint is None:
        if stream.every is not None:
            raise click.UsageError("--every needs --checkpoint FILE.")
        return
    if Path(stream.checkpoint).resolve() == Path(output).resolve():
        raise click.UsageError(f"--checkpoint {stream.checkpoint} and -o are the same file.")
    check_output(stream.checkpoint, data=data)
