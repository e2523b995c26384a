"""Regression targets: a numeric column and its error metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import click
import numpy as np

from separable.cli.io.output import naming_file
from separable.cli.training.target import Finding, Target, in_all_rows, refuse_empty
from separable.data.columns import Numbers as NumberColumn
from separable.data.columns import as_columns
from separable.data.split import random_split
from separable.data.table import CellError, TableError
from separable.model.words import number

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.cli.training.learners import Task
    from separable.cli.training.target import Rows
    from separable.data.table import ColumnType

__all__ = ["Numbers"]

#: What to type for classes instead.
CLASSIFIER = "--model logistic-regression"

#: Errors are squared and added up, which larger numbers do not survive.
LARGEST = 1e150


@dataclass(frozen=True)
class Numbers(Target):
    """A number for each row that has one."""

    task: ClassVar[Task] = "regression"
    column_type: ClassVar[ColumnType] = "number"
    remedy: ClassVar[str] = (
        f"This learner is a regressor and needs a numeric target. For classes use {CLASSIFIER}."
    )

    @classmethod
    def read(
        cls,
        table: pa.Table,
        name: str,
        where: str,
        kind: ColumnType | None = None,
        *,
        sure: bool = True,  # noqa: ARG003 # numbers are numbers
    ) -> Self:
        """Return the numbers of a table; see `Target.read`."""
        if kind == "category":
            raise click.UsageError(
                f"--category {name}: this learner is a regressor and needs a numeric target. Leave "
                f"out the option, or predict categories with {CLASSIFIER}."
            )
        target = cls._of(table, name, where)
        target.check(f"{where}: the target column {name!r}")
        return target

    @classmethod
    def _of(cls, table: pa.Table, name: str, where: str) -> Self:
        column = as_columns(table.select([name]))[name]
        assert isinstance(column, NumberColumn)
        with naming_file(where):
            _refuse_too_large(column.values, name)
        mask = ~np.isnan(column.values)
        return cls(column.values[mask], np.flatnonzero(mask), int(np.count_nonzero(~mask)))

    def check(self, what: str) -> None:
        """Refuse what is the same in all rows; see `Target.check`."""
        _refuse(self.values, what)

    def read_true_values(self, table: pa.Table, name: str, where: str) -> Self:
        """Return the numbers of another table; see `Target.truth`."""
        result = self._of(table, name, where)
        refuse_empty(f"{where}: the target column {name!r}", len(result.values))
        return result

    def constant(self, chosen: Rows, weight: NDArray[np.float64] | None) -> float:
        """Return the mean; see `Target.constant`."""
        return float(np.average(self.values[chosen], weights=weight))

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

    def training(self, predicted: NDArray[Any]) -> Finding:
        """Return the root mean squared error on the training rows."""
        rmse = _root_mean_square(predicted - self.values)
        return Finding(
            {"training_rmse": rmse}, f"root mean squared error {number(rmse)} on the training rows"
        )


def _root_mean_square(errors: NDArray[np.float64]) -> float:
    """Return the root of the mean square, of numbers whose squares overflow too."""
    largest = float(np.abs(errors).max())
    if largest == 0 or not np.isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.mean((errors / largest) ** 2)))


def _refuse_too_large(values: NDArray[np.float64], name: str) -> None:
    bad = np.flatnonzero(np.abs(values) > LARGEST)  # NaN, which is missing, is not
    if not len(bad):
        return
    row = int(bad[0])
    if np.isinf(values[row]):
        problem = (
            "infinity, or a number too large for float64, cannot be predicted. Correct it, or "
            "leave it empty to skip the row."
        )
    else:
        problem = f"{values[row]:g} is too large to predict. Use a larger unit."
    raise CellError(name, row, problem)


def _refuse(values: NDArray[np.float64], what: str) -> None:
    refuse_empty(what, len(values))
    if values.min() == values.max():
        raise TableError(
            f"{what} holds the same number, {number(values[0])}, {in_all_rows(len(values))}. A "
            "regressor needs different values."
        )
