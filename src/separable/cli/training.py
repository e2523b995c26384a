"""What ``separable train`` does: fit encoder and learner, once to test them, once to keep."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from separable.cli.learners import DEFAULT_LEARNERS, LEARNERS, new_learner
from separable.cli.mixed_columns import mixed_columns
from separable.cli.number_use import adds_counts, notes_on_numbers, refuse_negative
from separable.cli.output import counted, naming_file
from separable.cli.train_table import read_table_and_target
from separable.data.table import TableError
from separable.features.table_encoder import TableEncoder
from separable.model.words import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.cli.options import ReadingOptions
    from separable.cli.target import Finding, Rows, Target
    from separable.model.kinds import Model

__all__ = ["Training", "train_model"]


@dataclass(frozen=True)
class Training:
    """Everything a run of ``train`` found, for text or JSON to tell."""

    data: str
    target_name: str
    target: Target
    table: pa.Table
    held_out: Finding | None
    trained: Finding
    encoder: TableEncoder
    model: Model
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def train_model(
    data: str,
    target_name: str,
    learner: str | None,
    options: dict[str, list[str]],
    test_size: float,
    seed: int,
    reading: ReadingOptions,
) -> Training:
    """Train a learner on a file, test it on rows held out, train it again on all rows.

    Parameters
    ----------
    data : str
        The file.
    target_name : str
        The column to predict.
    learner : str or None
        A key of `LEARNERS`; None: that of `DEFAULT_LEARNERS` which fits the target.
    options : dict of str to list of str
        The columns named in --number, --category and --drop.
    test_size : float
        The share of rows to hold out.
    seed : int
    reading : ReadingOptions

    Returns
    -------
    Training
    """
    task = None if learner is None else LEARNERS[learner].task
    table, target = read_table_and_target(data, target_name, task, options, reading)
    chosen = learner or DEFAULT_LEARNERS[target.task]
    columns = table.drop_columns([target_name])
    fitter = _Fitter(data, columns, target, chosen, options, seed)
    train_rows, test_rows = target.split(test_size, seed)
    encoder, model = fitter.fit(None)  # first: what fails here is not due to the hold-out
    held_out = fitter.test(train_rows, test_rows) if len(test_rows) else None
    trained = target.training(fitter.predict(encoder, model, None))
    told: dict[str, Any] = {
        "task": target.task,
        "target": target_name,
        "rows": len(target.values),
        **trained.values,
        "held_out": None if held_out is None else held_out.values,
    }
    asked = {name for names in options.values() for name in names}
    return Training(
        data=data,
        target_name=target_name,
        target=target,
        table=table,
        held_out=held_out,
        trained=trained,
        encoder=encoder,
        model=replace(model, encoder=encoder, evidence={**model.evidence, "train": told}),
        notes=(
            *_notes_on_task(target, target_name, learner),
            *mixed_columns(columns, asked),
            *notes_on_numbers(chosen, encoder, model),
        ),
        warnings=tuple(dict.fromkeys(fitter.warnings)),
    )


def _notes_on_task(target: Target, name: str, learner: str | None) -> Iterator[str]:
    """Tell where the values of the target decided what is predicted."""
    if learner is None and target.task == "regression":
        yield (
            f"The target {name!r} looks like a quantity, so its numbers are predicted, with "
            f"--model {DEFAULT_LEARNERS['regression']}. For classes name a classifier."
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

    def fit(self, chosen: Rows | None) -> tuple[TableEncoder, Model]:
        """Fit on the chosen rows of the target; on all, keeping its warnings, for None."""
        rows, values = self._rows(chosen)
        with naming_file(self.data, rows):
            estimator = new_learner(self.learner, self.seed, values)
            counts = adds_counts(estimator)
            encoder = TableEncoder(scale=not counts)
            encoder.set_params(**{k: v or None for k, v in self.options.items()})
            table = self._take(rows)
            encoded = encoder.fit(table).encode(table)
            if counts:
                refuse_negative(encoded, encoder, self.learner)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator.fit(encoded, values)
        if chosen is None:
            told = [_warning(one.message, estimator.model_, len(rows), encoder) for one in caught]
            self.warnings += filter(None, told)
        return encoder, estimator.model_

    def predict(self, encoder: TableEncoder, model: Model, chosen: Rows | None) -> NDArray[Any]:
        """Predict the chosen rows of the target, all for None."""
        rows, _ = self._rows(chosen)
        with naming_file(self.data, rows):
            return model.predict(encoder.encode(self._take(rows)))

    def test(self, train_rows: Rows, test_rows: Rows) -> Finding:
        """Fit on some rows and measure on the others."""
        try:
            encoder, model = self.fit(train_rows)
            predicted = self.predict(encoder, model, test_rows)
        except TableError as error:
            raise TableError(
                f"{error} It is so in the training part ({len(train_rows)} of "
                f"{len(self.target.values)} rows), not in the whole file: hold out fewer rows with "
                "a smaller --test-size, or none with --test-size 0."
            ) from None
        return self.target.held_out(train_rows, test_rows, predicted)

    def _rows(self, chosen: Rows | None) -> tuple[Rows, NDArray[Any]]:
        """Return the places in the table, and the target, of the chosen rows."""
        rows, values = self.target.rows, self.target.values
        return (rows, values) if chosen is None else (rows[chosen], values[chosen])

    def _take(self, rows: Rows) -> pa.Table:
        import pyarrow as pa

        places: Any = pa.array(rows)
        return self.table if len(rows) == self.table.num_rows else self.table.take(places)


def _warning(
    message: Warning | str, model: Model, n_rows: int, encoder: TableEncoder | None = None
) -> str:
    """Return a warning of a learner in one line, with the names and options known here.

    That the levels of a category make up each other is how it is encoded, and the edge of a grid is
    told by the report: '' is returned.
    """
    from sklearn.exceptions import ConvergenceWarning

    from separable.fitting.choice import GridEdgeWarning
    from separable.moments.rank_warning import DependentColumns

    if isinstance(message, GridEdgeWarning):
        return ""
    if isinstance(message, DependentColumns) and encoder is not None:
        if not message.forget_levels(encoder.sources):
            return ""
        return message.text(lambda column: shown(encoder.feature_names[column]))
    evidence, k = model.evidence, model.n_scores
    counts_mistakes = {"epochs", "training_mistakes"} <= evidence.keys()
    if not isinstance(message, ConvergenceWarning) or not counts_mistakes:
        return " ".join(str(message).split())
    which = f" for at least one of its {k} one-vs-rest models" if k > 1 else ""
    return (
        f"{model.learner} stopped after {counted(evidence['epochs'], 'epoch')} and has not "
        f"converged: {evidence['training_mistakes']} of {n_rows} training rows are on the "
        f"wrong side{which}. The classes may not be linearly separable: "
        f"--model {DEFAULT_LEARNERS['classification']} makes the best of that."
    )
