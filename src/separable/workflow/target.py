"""The target column of a training run: a subclass of `Target` per task."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np

from separable.data.columns import Categories, as_columns
from separable.data.columns import Numbers as NumberColumn
from separable.data.dataset import whole_numbers
from separable.data.ingest.dates import Booleans, is_date, typed_column
from separable.data.labels import MANY_CLASSES, label_array, most_classes, text_array
from separable.data.split import random_split, stratified_split
from separable.data.table import CellError, TableError, is_number
from separable.errors import Message, Option, OptionError
from separable.features.table.category_column import categories_of
from separable.features.table.number_column import numbers_of
from separable.model.words import number, rounded, shown
from separable.workflow.columns.role_columns import class_labels
from separable.workflow.input_tables import naming_file
from separable.workflow.target_texts import with_converted_target

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.columns import Columns
    from separable.data.ingest.conversions.conversion import Conversion
    from separable.data.table import ColumnType
    from separable.workflow.learners import Task

    Rows: TypeAlias = NDArray[np.int64]


__all__ = [
    "SHOWN_CLASSES",
    "TARGETS",
    "Classes",
    "Finding",
    "Numbers",
    "QuantityError",
    "Target",
    "column_of_classes",
    "column_of_numbers",
    "in_all_rows",
    "is_plain",
    "refuse_empty",
]


#: Maximum number of classes that are printed.
SHOWN_CLASSES = 8

#: An integer in the spelling of int64; very large ones are checked separately.
PLAIN = re.compile(r"0|-?[1-9][0-9]{0,18}")

#: Most distinct numbers that may be classes even if most of them have one row.
FEW_CLASSES = 10

#: Values of a target that are looked at to see whether it holds dates.
LOOKED_AT = 20

#: The option for classes, and for numbers.
CLASSIFIER, REGRESSOR = Option("model", "logistic-regression"), Option("model", "ridge")

#: The sum of squared errors of larger numbers overflows.
LARGEST = 1e150


@dataclass(frozen=True)
class Finding:
    """A result as values and as text.

    Parameters
    ----------
    values : dict
        As JSON values.
    text : str
        One or more lines.
    """

    values: dict[str, Any]
    text: str


@dataclass(frozen=True)
class Target(ABC):
    """The target, in the rows that have one.

    Parameters
    ----------
    values : ndarray
        The label or number of each of these rows.
    rows : ndarray of int64
        Their indices in the table.
    missing : int
        Number of rows without a target.
    conversion : Conversion or None
        How the texts of the column were converted to numbers.
    reason : str
        What the conversion reads, with counts.
    """

    values: NDArray[Any]
    rows: Rows
    missing: int
    conversion: Conversion | None = None
    reason: str = ""

    task: ClassVar[Task]

    #: The type with which the column is read if it needs no conversion, and a hint for errors.
    column_type: ClassVar[ColumnType]
    remedy: ClassVar[Message] = Message()

    @classmethod
    @abstractmethod
    def read(
        cls,
        table: pa.Table,
        name: str,
        where: str,
        kind: ColumnType | None = None,
        *,
        sure: bool = True,
    ) -> Self:
        """Return the target of a table; raise an error if it does not suit the task.

        Parameters
        ----------
        table : pyarrow.Table
        name : str
            The target column, read as `column_type`.
        where : str
            The file, to begin error messages.
        kind : "number" or "category", optional
            The type given by the user.
        sure : bool, default True
            False: the task is a guess, to be revised if there are many distinct numbers.
        """

    @abstractmethod
    def summary(self) -> Finding:
        """Return a short description of the target."""

    @abstractmethod
    def split(self, test_size: float, seed: int) -> tuple[Rows, Rows]:
        """Return the rows to train on and the rows to hold out, both of `rows`."""

    @abstractmethod
    def check(self, what: str) -> None:
        """Refuse a constant target; ``what`` begins the message."""

    @abstractmethod
    def read_true_values(self, table: pa.Table, name: str, where: str) -> Self:
        """Return the target column of a test table."""

    @abstractmethod
    def constant(self, chosen: Rows, weight: NDArray[np.float64] | None) -> Any:
        """Return the best constant prediction of the chosen rows."""

    @abstractmethod
    def training(self, predicted: NDArray[Any]) -> Finding:
        """Return the training error, from the predictions of all rows."""


def refuse_empty(what: str, count: int) -> None:
    """Refuse a target without a single value."""
    if not count:
        raise TableError(
            f"{what} is empty in every row. Name another column with ", Option("target"), "."
        )


def in_all_rows(count: int) -> str:
    """Return the phrase for a condition that holds in every row."""
    return f"in all {count} rows" if count > 1 else "in its only row"


class QuantityError(TableError):
    """The target of a classification looks like a quantity."""


@dataclass(frozen=True)
class Classes(Target):
    """A label for each row that has one, all int64 or all str."""

    task: ClassVar[Task] = "classification"
    column_type: ClassVar[ColumnType] = "category"

    @classmethod
    def read(
        cls,
        table: pa.Table,
        name: str,
        where: str,
        kind: ColumnType | None = None,
        *,
        sure: bool = True,
    ) -> Self:
        """Return the labels of a table; see `Target.read`.

        Plain integers become int64, everything else stays text. If the user says
        "number" there must be nothing else; "category" is text whatever it looks like.
        """
        what = f"{where}: the target column {name!r}"
        levels, codes = _levels(table, name)
        odd = next((index for index, level in enumerate(levels) if not is_plain(level)), None)
        if kind == "number" and odd is not None:
            row = int(np.flatnonzero(codes == odd)[0])
            raise TableError(
                f"{what} holds {levels[odd]!r} in data row {row + 1}, which is not a plain whole "
                "number. Correct it, or leave out ",
                Option("number", name),
                " to treat the classes as texts.",
            )
        _refuse_quantity(levels, codes, what, sure=sure)
        labels: NDArray[Any] = text_array(levels)
        if kind != "category" and odd is None:
            labels = labels.astype(np.int64)
        target = cls._of(labels, codes)
        target.check(what)
        return target

    @classmethod
    def _of(cls, labels: NDArray[Any], codes: NDArray[np.int32]) -> Self:
        """Return the target from label codes; rows without a label are dropped."""
        mask = codes >= 0
        return cls(labels[codes[mask]], np.flatnonzero(mask), int(np.count_nonzero(~mask)))

    def check(self, what: str) -> None:
        """Refuse a single class; see `Target.check`."""
        rows = len(self.values)
        refuse_empty(what, rows)
        classes = np.unique(self.values)
        if len(classes) == 1:
            raise TableError(
                f"{what} holds a single class, {classes[0].item()!r}, {in_all_rows(rows)}. A "
                "classifier needs at least two classes."
            )

    def read_true_values(self, table: pa.Table, name: str, where: str) -> Self:
        """Return the labels of another table; see `Target.read_true_values`."""
        levels, codes = _levels(table, name)
        labels: NDArray[Any]
        if self.values.dtype.kind != "i":
            labels = class_labels(np.unique(self.values), list(levels))
        else:
            odd = next((index for index, level in enumerate(levels) if not is_plain(level)), None)
            if odd is not None:
                row = int(np.flatnonzero(codes == odd)[0])
                raise TableError(
                    f"{where}: the target column {name!r} holds {levels[odd]!r} in data row "
                    f"{row + 1}, where the training rows have whole numbers. Use the same labels."
                )
            labels = text_array(levels).astype(np.int64)
        result = self._of(labels, codes)
        refuse_empty(f"{where}: the target column {name!r}", len(result.values))
        return result

    def constant(self, chosen: Rows, weight: NDArray[np.float64] | None) -> Any:
        """Return the most common class; see `Target.constant`."""
        classes, codes = np.unique(self.values[chosen], return_inverse=True)
        return classes[np.bincount(codes, weight).argmax()].item()

    def counts(self) -> dict[Any, int]:
        """Return the number of rows of each class, in order."""
        classes, counts = np.unique(self.values, return_counts=True)
        return dict(zip(classes.tolist(), counts.tolist(), strict=True))

    def summary(self) -> Finding:
        """Return the classes and how many rows each has."""
        counts = self.counts()
        first = list(counts.items())[:SHOWN_CLASSES]
        listed = ", ".join(f"{shown(label)} {count}" for label, count in first)
        more = ", ..." if len(counts) > SHOWN_CLASSES else ""
        return Finding(
            {"classes": [{"class": label, "rows": count} for label, count in counts.items()]},
            f"{len(counts)} classes ({listed}{more})",
        )

    def split(self, test_size: float, seed: int) -> tuple[Rows, Rows]:
        """Return the rows to train on and to hold out, stratified by class."""
        return stratified_split(self.values, test_size, seed)

    def training(self, predicted: NDArray[Any]) -> Finding:
        """Count the training rows predicted wrongly."""
        mistakes = int((predicted != self.values).sum())
        return Finding(
            {"training_mistakes": mistakes},
            f"{mistakes} of {len(self.values)} training rows misclassified",
        )


def whole_numbers_as_text(table: pa.Table, name: str) -> pa.Table:
    """Return a column with integers as text, since float64 may not hold all their digits."""
    import pyarrow as pa

    column = table.column(name)
    if pa.types.is_integer(column.type):
        column = column.cast(pa.string())
    return pa.table({name: column})


def _levels(table: pa.Table, name: str) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return the distinct texts of the target column, and the index of each row's text."""
    column = as_columns(whole_numbers_as_text(table, name))[name]
    texts = column if isinstance(column, Categories) else column.as_categories()
    return texts.levels, texts.codes


def is_plain(text: str) -> bool:
    """Whether a text is an int64 in its canonical spelling."""
    return PLAIN.fullmatch(text) is not None and -(2**63) <= int(text) < 2**63


def _refuse_quantity(
    levels: tuple[str, ...], codes: NDArray[np.int32], what: str, *, sure: bool
) -> None:
    """Refuse a target with too many distinct values for classes."""
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    rows, different = int(counts.sum()), int(np.count_nonzero(counts))
    if sure and different <= MANY_CLASSES:
        return
    numbers = all(is_number(level) for level in levels)
    is_rare = numbers and not sure and 2 * different > rows
    whole = not numbers or all(float(level).is_integer() for level in levels)
    if whole and different <= FEW_CLASSES:
        return
    if different <= most_classes(rows, numbers=numbers, sure=sure, whole=whole) and not is_rare:
        return
    if all(map(is_date, levels[:LOOKED_AT])):
        raise TableError(
            f"{what} holds dates, which are neither classes nor numbers. Predict a number instead: "
            "a column of days or hours since some moment."
        )
    looks = "a quantity" if numbers else "an identifier or free text"
    predict = ("predict the number itself (", REGRESSOR, ", or another regressor), ")
    raise (QuantityError if numbers else TableError)(
        f"{what} looks like {looks}: {different} different values in {rows} rows. This learner is "
        "a classifier: ",
        *(predict if numbers else ()),
        "name a column of classes, or group the values into a few classes.",
    )


@dataclass(frozen=True)
class Numbers(Target):
    """A number for each row that has one."""

    task: ClassVar[Task] = "regression"
    column_type: ClassVar[ColumnType] = "number"
    remedy: ClassVar[Message] = Message(
        "This learner is a regressor and needs a numeric target. For classes use ", CLASSIFIER, "."
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
            raise OptionError(
                Option("category", name),
                ": this learner is a regressor and needs a numeric target. Leave out the option, "
                "or predict categories with ",
                CLASSIFIER,
                ".",
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
        """Refuse a constant target; see `Target.check`."""
        _refuse(self.values, what)

    def read_true_values(self, table: pa.Table, name: str, where: str) -> Self:
        """Return the numbers of another table; see `Target.read_true_values`."""
        table = with_converted_target(table, name, self.conversion, where)
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
            f"{number(low)} to {number(high)}, mean {number(mean)}"
            f"{f'; {self.reason}' if self.reason else ''}",
        )

    def split(self, test_size: float, seed: int) -> tuple[Rows, Rows]:
        """Return the rows to train on and the rows to hold out, chosen at random."""
        return random_split(len(self.values), test_size, seed)

    def training(self, predicted: NDArray[Any]) -> Finding:
        """Return the root mean squared error on the training rows."""
        rmse = _root_mean_square(predicted - self.values)
        return Finding(
            {"training_rmse": rmse},
            f"root mean squared error {rounded(rmse, 4)} on the training rows",
        )


def _root_mean_square(errors: NDArray[np.float64]) -> float:
    """Return the root mean square, also of numbers whose squares overflow."""
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


def column_of_classes(columns: Columns, name: str) -> NDArray[Any]:
    """Return a column as labels: numbers, integers as such, booleans, everything else as text."""
    parsed = typed_column(columns, name)
    if isinstance(parsed, Booleans):
        _refuse_missing(name, np.isnan(parsed.values))
        return parsed.values.astype(np.bool_)
    column = columns[name]
    if isinstance(column, NumberColumn):
        values = numbers_of(name, column)
        _refuse_missing(name, np.isnan(values))
        if np.abs(values).max(initial=0) >= 2**53:  # float64 may not represent its digits
            exact = label_array(columns.raw(name))
            return exact if exact.dtype.kind in "iu" else whole_numbers(values)
        return whole_numbers(values)
    categories = categories_of(column)
    _refuse_missing(name, categories.codes < 0)
    return np.array(categories.levels, dtype=object)[categories.codes]


def column_of_numbers(columns: Columns, name: str) -> NDArray[np.float64]:
    """Return a column as numbers."""
    values = numbers_of(name, columns[name])
    _refuse_missing(name, np.isnan(values))
    return values


def _refuse_missing(name: str, missing: NDArray[np.bool_]) -> None:
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise TableError(
            f"The target column {name!r} has {int(missing.sum())} missing value(s), the first in "
            f"row {row}. Drop these rows, or fill them in."
        )


#: The target of each task.
TARGETS: dict[Task, type[Target]] = {"classification": Classes, "regression": Numbers}
