"""``separable update``: continue training on new rows."""

from __future__ import annotations

import math
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from separable.cli.io.output import json_bytes, write_data
from separable.cli.options.command import OUTPUT, command, heading
from separable.cli.options.options import (
    json_option,
    load_trusted,
    patterns_option,
    reading_options,
    talk_options,
)
from separable.cli.render.messages import note
from separable.model.words import counted
from separable.workflow.options import data_name, file_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.model.kinds import Model
    from separable.workflow.options import ReadingOptions
    from separable.workflow.stream.stream_learning import StreamLearner
    from separable.workflow.stream.stream_rows import Batch, RowStream, Source
    from separable.workflow.stream.stream_target import StreamTarget

__all__ = ["update"]


@command(
    short_help="Update a model with new rows.",
    examples=(
        "separable update clicks.safetensors today.csv",
        "separable update clicks.safetensors today.csv -o newer.safetensors",
    ),
)
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA")
@heading(
    OUTPUT,
    click.option("-o", "--output", metavar="FILE", help="Output model file.  [default: MODEL]"),
)
@click.option("--target", metavar="COL", help="The column to predict.  [default: as in training]")
@click.option(
    "--weight", metavar="COL", help="Column of sample weights.  [default: as in training]"
)
@json_option()
@reading_options
@patterns_option
@talk_options
def update(
    model: str,
    data: str,
    output: str | None,
    target: str | None,
    weight: str | None,
    as_json: bool,
    reading: ReadingOptions,
) -> None:
    """Update MODEL with the rows of DATA, and write it in place.

    DATA is read as by `train --stream`: in bounded memory, - is standard input. Columns are encoded
    as in training; new levels have no effect and are counted. Each row is predicted before it is
    learned, by the model before the update and by the current one.

    Learners that see one row at a time (SGD, the perceptrons, Widrow-Hoff) and learners based on
    sums (ridge, least squares, LDA, naive Bayes) can be updated: the result is the same as training
    on all rows in this order. The command refuses the others.
    """
    from separable.cli.io.output import model_path, save_noted

    path = model_path(output or model, data)
    run = _Update(model, data, target, weight, reading)
    updated = run.run()
    save_noted(updated, path)
    for message in run.source.notes:
        note(message)
    if as_json:
        write_data(json_bytes({"model": path, "learner": updated.learner, **run.summary}))
    else:
        click.echo(run.text(path))


class _Update:
    """One run of ``update``."""

    def __init__(
        self, path: str, data: str, target: str | None, weight: str | None, reading: ReadingOptions
    ) -> None:
        from separable.workflow.stream.stream_rows import Source
        from separable.workflow.training_record import trained_on

        self.path, self.data = path, data
        self.model: Model = load_trusted(path)
        self._refuse_unable()
        self.trained = trained_on(self.model)
        self.target_name = target or self.trained.get("target")
        self.weight_name = weight or self.trained.get("weight")
        base = self.trained.get("index_base", "auto")
        self.source: Source = Source(data, reading, base)
        self.summary: dict[str, Any] = {}
        self._right = self._tested = 0.0

    def run(self) -> Model:
        """Train on the rows and return the new model."""
        from separable.cli.render.stream_table import LineTable
        from separable.workflow.stream.progressive_validation import Record
        from separable.workflow.stream.stream_learning import StreamLearner, stream_model

        estimator = _learner_class(self.model).from_model(self.model)
        stream = self._stream()
        with LineTable(file_name(self.data)) as table:
            learner = StreamLearner(estimator, stream, Record(), table.add_line, self._on_batches)
            learner.go_on_from(self.model)
            if self.model.state is not None:
                learner.record.before = learner.gauge.before(self.model)
            table.begin(learner.gauge.name, stream.target, learner.record)
            self.source.progress = table.reading
            learner.run()
        self.summary = self._figures(learner)
        updates = [*self.trained.get("updates", ()), self.summary]
        rows = self.trained.get("rows")
        total = {} if rows is None else {"rows": rows + self.summary["rows"]}
        model = stream_model(learner, self.summary["rows"])
        record = {**self.trained, **total, "updates": updates}
        return self._decided(replace(model, evidence={**model.evidence, "train": record}))

    def _decided(self, model: Model) -> Model:
        """Return the model with the decision threshold it had, if it still has probabilities."""
        from separable.model.linear_model import LinearModel

        decision = self.model.decision
        if decision is None or not isinstance(model, LinearModel):
            return model
        if model.link == "score":
            note(
                "The decision threshold is dropped: it needs the calibration of the old scores. "
                "Retrain on all rows to choose it again."
            )
            return model
        note("The decision threshold is kept; it was chosen before the update.")
        return replace(model, decision=decision)

    def _on_batches(self, batches: Sequence[Batch]) -> None:
        """Predict rows with the model before the update."""
        import numpy as np

        from separable.workflow.stream.progressive_validation import batch_weights

        parts = [batch for batch in batches if batch.rows is not None]
        if not parts:
            return
        y, weight = np.concatenate([batch.y for batch in parts]), batch_weights(parts)
        predicted = np.concatenate([self.model.predict(batch.rows) for batch in parts])
        good = (predicted - y) ** 2 if self.model.classes is None else predicted == y
        self._right += float((weight * good).sum())
        self._tested += float(weight.sum())

    def _figures(self, learner: StreamLearner) -> dict[str, Any]:
        from separable.workflow.stream.stream_report import line_figures

        record = learner.record
        is_number = self.model.classes is None
        name = "rmse" if is_number else "accuracy"
        result = line_figures(record.lines[-1], None, is_number=is_number)
        before = self._right / self._tested
        return {
            "data": data_name(self.data),
            "rows": record.lines[-1].examples,
            "rows_without_target": record.missing,
            "before": {name: math.sqrt(before) if is_number else before},
            "progressive": {name: result[name], "mean_loss": result["mean_loss"]},
            "loss": learner.gauge.name,
            "unseen": record.unseen,
        }

    def text(self, path: str) -> str:
        """Return the results as text for a terminal."""
        from separable.model.words import shown, table

        summary = self.summary
        name = "rmse" if "rmse" in summary["before"] else "accuracy"
        of_what = "root mean squared error" if name == "rmse" else "accuracy"
        rows: list[tuple[str, ...]] = [
            (f"{of_what} of the model before the update", f"{summary['before'][name]:.4f}"),
            ("progressive, each row before it was learned", f"{summary['progressive'][name]:.4f}"),
        ]
        if summary["loss"] is not None:
            rows.append(
                (f"{summary['loss']}, progressive", f"{summary['progressive']['mean_loss']:.4f}")
            )
        after = self.trained.get("rows")
        since = "" if after is None else f", after {after} before"
        lines = [f"{file_name(self.data)}: {counted(summary['rows'], 'row')} learned{since}"]
        if summary["rows_without_target"]:
            lines.append(f"  {summary['rows_without_target']} more without a target skipped")
        for column, met in summary["unseen"].items():
            first = ", ".join(repr(shown(level)) for level in met["first"])
            lines.append(
                f"  {shown(column)}: {met['count']} with a level not seen in training: no effect "
                f"({first})"
            )
        where = "in place" if path == self.path else f"to {path}"
        end = f"Wrote the model {where}. Next:\n  separable evaluate {shlex.quote(path)} NEW.csv"
        return "\n".join([*lines, table(rows), "", end])

    # --- models that can be updated ---

    def _stream(self) -> RowStream:
        from separable.features.table.table_encoder import TableEncoder
        from separable.workflow.stream.encoded_streams import SparseStream, TableStream
        from separable.workflow.stream.stream_rows import Wanted

        encoder, source, where = self.model.encoder, self.source, file_name(self.data)
        if encoder is None:
            if not source.is_sparse:
                raise ValueError(
                    f"{self.path}: this model has no encoder for tables such as {where}: it was "
                    "trained on svmlight or Vowpal Wabbit text and needs such files."
                )
            return SparseStream(source, Wanted(None), self._target(), self.model.n_features)
        if source.is_sparse or not isinstance(encoder, TableEncoder):
            raise ValueError(
                f"{where}: {self.path} was not trained on such rows. Give a table with the same "
                "columns."
            )
        if self.target_name is None:
            raise click.UsageError(f"{self.path} does not say what it predicts: give --target COL.")
        wanted = Wanted(self.target_name, weight=self.weight_name)
        return TableStream(source, wanted, self._target(), encoder)

    def _target(self) -> StreamTarget:
        from separable.workflow.stream.stream_target import Labels, Quantities

        column = "" if self.target_name is None else f" column {self.target_name!r}"
        where = f"{file_name(self.data)}: the target{column}"
        if self.model.classes is None:
            return Quantities(where)
        remedy = "A model cannot learn a new class: train one on all rows, with all classes."
        return Labels(where, self.model.classes, "of the model", remedy)

    def _refuse_unable(self) -> None:
        if self.model.state is not None:
            return
        name = self.model.learner
        again = "Retrain on all rows, or train a model that supports updates: separable train DATA "
        again += "--target COL --stream"
        if not hasattr(_learner_class(self.model), "partial_fit"):
            raise ValueError(
                f"{self.path}: {name} needs all rows at once and cannot be updated. {again}"
            )
        if self.model.link == "log":
            raise ValueError(
                f"{self.path}: this {name} model predicts the logarithm of its target, and its "
                "scale comes from all training rows, so it cannot be updated. Retrain on all rows, "
                "or without the logarithm: separable train DATA --target COL --target-log no"
            )
        raise ValueError(
            f"{self.path}: this {name} model was saved without its training state, because the "
            f"state is large or comes from fewer rows than features. {again}"
        )


def _learner_class(model: Model) -> Any:
    from separable.workflow.learners import LEARNERS

    for learner in LEARNERS.values():
        if learner.import_path.endswith(f":{model.learner}"):
            return learner.load()
    raise ValueError(f"{model.learner} models are not made by separable train.")
