"""Regression: the target column as numbers, and how far predictions are from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import click
import numpy as np

from separable.cli.learners import DEFAULT_LEARNERS
from separable.cli.output import naming_file
from separable.cli.target import Finding, Target, in_all_rows, refuse_empty
from separable.data.columns import Numbers as NumberColumn
from separable.data.columns import as_columns
from separable.data.split import random_split
from separable.data.table import CellError, TableError
from separable.model.words import number, table

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.cli.learners import Task
    from separable.cli.target import Rows
    from separable.data.table import ColumnType

__all__ = ["Numbers"]

CLASSIFIER = f"--model {DEFAULT_LEARNERS['classification']}"

FIGURES = {"r2": "R2", "rmse": "root mean squared error", "mae": "mean absolute error"}

#: Errors are squared and added up, which larger numbers do not survive.
LARGEST = 1e150


@dataclass(frozen=True)
class Numbers(Target):
    """A number for each row that has one."""

    task: ClassVar[Task] = "regression"
    column_type: ClassVar[ColumnType] = "number"
    remedy: ClassVar[str] = (
        f"This learner is a regressor, its target must be numbers: for classes use {CLASSIFIER}."
    )

    @classmethod
    def read(cls, table: pa.Table, name: str, where: str, kind: ColumnType | None = None) -> Self:
        """Return the numbers of a table; see `Target.read`."""
        if kind == "category":
            raise click.UsageError(
                f"--category {name}: this learner is a regressor, its target is read as numbers. "
                f"Leave out the option, or predict categories with {CLASSIFIER}."
            )
        column = as_columns(table)[name]
        assert isinstance(column, NumberColumn)
        with naming_file(where):
            _refuse_too_large(column.values, name)
        there = ~np.isnan(column.values)
        target = cls(column.values[there], np.flatnonzero(there), int(np.count_nonzero(~there)))
        _refuse(target.values, f"{where}: the target column {name!r}")
        return target

    def summary(self) -> Finding:
        """Return the range and the mean."""
        low, high, mean = (float(f(self.values)) for f in (np.min, np.max, np.mean))
        return Finding(
            {"target_values": {"minimum": low, "maximum": high, "mean": mean}},
            f"{number(low)} to {number(high)}, mean {number(mean)}",
        )

    def split(self, test_size: float, seed: int) -> tuple[Rows, Rows]:
        """Return the rows to train on and the rows to hold out, chosen at random."""
        return random_split(len(self.values), test_size, seed)

    def held_out(self, train: Rows, test: Rows, predicted: NDArray[Any]) -> Finding:
        """Measure predictions of held-out rows beside the mean of the training rows."""
        actual, constant = self.values[test], float(self.values[train].mean())
        found = _figures(actual, predicted)
        beside = _figures(actual, np.full(len(test), constant))
        values = {"rows": len(test), **found, "constant": constant}
        values |= {f"constant_{name}": figure for name, figure in beside.items()}
        lines = [("", "the model", f"always {number(constant)}")]
        lines += [(FIGURES[k], _shown(k, found[k]), _shown(k, beside[k])) for k in FIGURES]
        title = f"Held out {len(test)} of {len(self.values)} rows at random:"
        note = f"  ({number(constant)}: the mean of the training rows, the best constant answer)"
        return Finding(values, "\n".join([title, table(lines), note]))

    def training(self, predicted: NDArray[Any]) -> Finding:
        """Return the root mean squared error on the training rows."""
        rmse = _root_mean_square(predicted - self.values)
        return Finding(
            {"training_rmse": rmse}, f"root mean squared error {number(rmse)} on the training rows"
        )


def _figures(actual: NDArray[np.float64], predicted: NDArray[np.float64]) -> dict[str, Any]:
    """Return R2 (None where all that is to be predicted is the same), RMSE and MAE."""
    errors = predicted - actual
    rmse, r2 = _root_mean_square(errors), None
    if actual.min() < actual.max():
        ratio = rmse / _root_mean_square(actual - actual.mean())
        r2 = 1.0 - ratio * ratio
    return {"r2": r2, "rmse": rmse, "mae": float(np.abs(errors).mean())}


def _root_mean_square(errors: NDArray[np.float64]) -> float:
    """Return the root of the mean square, of numbers whose squares overflow too."""
    largest = float(np.abs(errors).max())
    if largest == 0 or not np.isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.mean((errors / largest) ** 2)))


def _shown(name: str, figure: float | None) -> str:
    if figure is None:
        return "-"
    return number(round(figure, 4) + 0.0 if name == "r2" else figure)  # never -0


def _refuse_too_large(values: NDArray[np.float64], name: str) -> None:
    bad = np.flatnonzero(np.abs(values) > LARGEST)  # NaN, which is missing, is not
    if not len(bad):
        return
    row = int(bad[0])
    if np.isinf(values[row]):
        problem = (
            "infinity, or a number too large for float64, cannot be predicted. Correct it, or "
            "leave it empty: the row is then left out."
        )
    else:
        problem = f"{values[row]:g} is too large to be predicted. Use a larger unit."
    raise CellError(name, row, problem)


def _refuse(values: NDArray[np.float64], what: str) -> None:
    refuse_empty(what, len(values))
    if values.min() == values.max():
        raise TableError(
            f"{what} holds the same number, {number(values[0])}, {in_all_rows(len(values))}. A "
            "regressor needs rows with different numbers."
        )
