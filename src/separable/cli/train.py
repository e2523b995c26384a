"""``separable train``: a table to a trained, tested, explained and saved model."""

from __future__ import annotations

import shlex
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from separable.cli.learners import DEFAULT_LEARNER, LEARNERS, learner_class
from separable.cli.output import (
    check_output,
    counted,
    file_name,
    json_bytes,
    naming_file,
    say,
    write_data,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.cli.target import Target
    from separable.data.table import ColumnType
    from separable.features.table_encoder import TableEncoder
    from separable.model.linear_model import LinearModel

__all__ = ["HeldOut", "Training", "train"]


@dataclass(frozen=True)
class HeldOut:
    """What a model trained on some rows gets right of the others.

    Parameters
    ----------
    rows : int
        The rows held out.
    correct : int
        How many of them the model predicts rightly.
    constant : object
        The most common class of the training rows.
    constant_correct : int
        How many of the held-out rows are of that class.
    """

    rows: int
    correct: int
    constant: Any
    constant_correct: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain JSON values."""
        return {
            "rows": self.rows,
            "correct": self.correct,
            "accuracy": self.correct / self.rows,
            "constant": self.constant,
            "constant_correct": self.constant_correct,
            "constant_accuracy": self.constant_correct / self.rows,
        }


@dataclass(frozen=True)
class Training:
    """Everything a run of ``train`` found, for text or JSON to tell."""

    data: str
    target_name: str
    target: Target
    table: pa.Table
    held_out: HeldOut | None
    encoder: TableEncoder
    model: LinearModel
    mistakes: int
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def _only(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str:  # noqa: ARG001
    """Return the one value of an option that may not be given twice."""
    if len(values) > 1:
        raise click.BadParameter(f"given {len(values)} times ({', '.join(values)}). Give it once.")
    return values[0]


@click.command(
    short_help="Train a model on a table and test it on rows held out.",
    epilog="Example: separable train penguins.csv --target species -o penguins.safetensors",
)
@click.argument("data", metavar="DATA")
@click.option(
    "--target",
    required=True,
    multiple=True,
    callback=_only,
    metavar="COL",
    help="The column to predict.",
)
@click.option(
    "-o", "--output", metavar="FILE", help="The model file.  [default: DATA's name.safetensors]"
)
@click.option(
    "--model",
    "learner",
    type=click.Choice(list(LEARNERS)),
    default=DEFAULT_LEARNER,
    show_default=True,
    help="The learner.",
)
@click.option("--number", multiple=True, metavar="COL", help="Treat a column as numbers.")
@click.option("--category", multiple=True, metavar="COL", help="Treat a column as categories.")
@click.option("--drop", multiple=True, metavar="COL", help="Leave a column out.")
@click.option(
    "--test-size",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.25,
    show_default=True,
    help="The share of rows to hold out; 0 tests nothing.",
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def train(
    data: str,
    target: str,
    output: str | None,
    learner: str,
    number: tuple[str, ...],
    category: tuple[str, ...],
    drop: tuple[str, ...],
    test_size: float,
    seed: int,
    as_json: bool,
) -> None:
    """Train a classifier on DATA, a CSV file with a header line (- is standard input).

    Numbers are standardised, categories become one number for each level, missing values are
    allowed. Part of the rows is held out to measure the error; the model that is saved is then
    trained on all of them. --number, --category and --drop may be given several times.
    """
    from separable.cli.train_report import training_dict, training_text

    path = output or _default_output(data)
    if path == "-":
        raise click.UsageError("-o -: a model does not go to standard output. Name a file.")
    check_output(path, data=data)
    options = {"number": list(number), "category": list(category), "drop": list(drop)}
    training = _train(data, target, learner, options, test_size, seed)
    training.model.save(path)
    for note in training.notes:
        say(f"Note: {note}")
    for warning in training.warnings:
        say(f"Warning: {warning}")
    if as_json:
        write_data(json_bytes({"model": path, **training_dict(training)}))
    else:
        click.echo(training_text(training, path))


def _train(
    data: str,
    target_name: str,
    learner: str,
    options: dict[str, list[str]],
    test_size: float,
    seed: int,
) -> Training:
    from separable.cli.mixed_columns import mixed_columns
    from separable.cli.target import read_target
    from separable.data.split import stratified_split

    table, kind = _read(data, target_name, options)
    target = read_target(table, target_name, file_name(data), kind)
    columns = table.drop_columns([target_name])
    _refuse_no_columns(columns, target_name, data)
    fitter = _Fitter(data, columns, target, learner, options, seed)
    train_rows, test_rows = stratified_split(target.labels, test_size, seed)
    encoder, model = fitter.fit(None)  # first: what fails here is not due to the hold-out
    held_out = fitter.test(train_rows, test_rows) if len(test_rows) else None
    mistakes = int((fitter.predict(encoder, model, None) != target.labels).sum())
    task: dict[str, Any] = {
        "target": target_name,
        "rows": len(target.labels),
        "training_mistakes": mistakes,
        "held_out": None if held_out is None else held_out.to_dict(),
    }
    model = replace(model, encoder=encoder, evidence={**model.evidence, "train": task})
    return Training(
        data,
        target_name,
        target,
        table,
        held_out,
        encoder,
        model,
        mistakes,
        tuple(mixed_columns(columns, {name for names in options.values() for name in names})),
        tuple(fitter.warnings),
    )


class _Fitter:
    """Fits and tests encoder and learner on chosen rows of one table."""

    def __init__(
        self,
        data: str,
        table: pa.Table,
        target: Target,
        learner: str,
        options: dict[str, list[str]],
        seed: int,
    ) -> None:
        self.data, self.table, self.target = data, table, target
        self.learner, self.options, self.seed = learner, options, seed
        self.warnings: list[str] = []

    def fit(self, chosen: NDArray[Any] | None) -> tuple[TableEncoder, LinearModel]:
        """Fit on the chosen of the labelled rows; on all, keeping its warnings, for None."""
        from separable.features.table_encoder import TableEncoder

        rows, labels = self._rows(chosen)
        with naming_file(self.data, rows):
            encoder = TableEncoder(**{k: v or None for k, v in self.options.items()})
            table = self._take(rows)
            encoded = encoder.fit(table).encode(table)
        estimator = learner_class(self.learner)(random_state=self.seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator.fit(encoded, labels)
        if chosen is None:
            self.warnings += [_warning(one.message, estimator.model_, labels) for one in caught]
        return encoder, estimator.model_

    def predict(
        self, encoder: TableEncoder, model: LinearModel, chosen: NDArray[Any] | None
    ) -> NDArray[Any]:
        """Predict the chosen of the labelled rows."""
        rows, _ = self._rows(chosen)
        with naming_file(self.data, rows):
            return model.predict(encoder.encode(self._take(rows)))

    def test(self, train_rows: NDArray[Any], test_rows: NDArray[Any]) -> HeldOut:
        """Fit on some rows and count what is right among the others."""
        import numpy as np

        from separable.data.table import TableError

        labels = self.target.labels
        try:
            encoder, model = self.fit(train_rows)
            right = self.predict(encoder, model, test_rows) == labels[test_rows]
        except TableError as error:
            raise TableError(
                f"{error} It is so in the training part ({len(train_rows)} of {len(labels)} "
                "rows), not in the whole file: hold out fewer rows with a smaller --test-size, or "
                "none with --test-size 0."
            ) from None
        classes, counts = np.unique(labels[train_rows], return_counts=True)
        common = classes[counts.argmax()]
        constant_right = labels[test_rows] == common
        return HeldOut(len(test_rows), int(right.sum()), common.item(), int(constant_right.sum()))

    def _rows(self, chosen: NDArray[Any] | None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the places in the table, and the labels, of the chosen rows."""
        rows, labels = self.target.rows, self.target.labels
        return (rows, labels) if chosen is None else (rows[chosen], labels[chosen])

    def _take(self, rows: NDArray[Any]) -> pa.Table:
        import pyarrow as pa

        return self.table if len(rows) == self.table.num_rows else self.table.take(pa.array(rows))


def _warning(message: Warning | str, model: LinearModel, labels: NDArray[Any]) -> str:
    """Return a warning of a learner in one line, and for what can be typed here."""
    from sklearn.exceptions import ConvergenceWarning

    if not isinstance(message, ConvergenceWarning):
        return " ".join(str(message).split())
    evidence, k = model.evidence, len(model.weights)
    which = f" for at least one of its {k} one-vs-rest models" if k > 1 else ""
    return (
        f"{model.learner} stopped after {counted(evidence['epochs'], 'epoch')} and has not "
        f"converged: {evidence['training_mistakes']} of {len(labels)} training rows are on the "
        f"wrong side{which}. The classes may not be linearly separable: "
        f"--model {DEFAULT_LEARNER} makes the best of that."
    )


def _read(
    data: str, target: str, options: dict[str, list[str]]
) -> tuple[pa.Table, ColumnType | None]:
    """Return the table, its target as text, and what the options say of the target."""
    from separable.data.table import NotANumberError, TableError, read_csv, require_columns

    types: dict[str, ColumnType] = dict.fromkeys(options["number"], "number")
    types |= dict.fromkeys(options["category"], "category")
    try:
        table = read_csv(data, {**types, target: "category"})
    except NotANumberError as error:
        raise TableError(
            f"{error} Or use it as a category: --category {shlex.quote(error.column)} instead of "
            "--number."
        ) from None
    for names in ([target], *options.values()):
        require_columns(names, table.column_names, file_name(data))
    _set_target_apart(target, options)
    return table, types.get(target)


def _set_target_apart(target: str, options: dict[str, list[str]]) -> None:
    """Take the target out of the options: said of it, one is about its labels, not a feature."""
    if target in options["drop"]:
        raise click.UsageError(f"--drop {target}: the target cannot be left out.")
    if target in options["number"] and target in options["category"]:
        raise click.UsageError(
            f"The target {target} is named in --number and --category. Keep one."
        )
    for option, names in options.items():
        options[option] = [name for name in names if name != target]


def _refuse_no_columns(columns: pa.Table, target: str, data: str) -> None:
    from separable.data.table import TableError

    if not columns.column_names:
        raise TableError(
            f"{file_name(data)}: there is no column to learn from: the target {target!r} is the "
            "only one. Add the columns that it is to be predicted from."
        )


def _default_output(data: str) -> str:
    return "model.safetensors" if data == "-" else f"{Path(data).stem}.safetensors"
