"""Classification targets: a column of class labels and its metrics."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from separable.cli.io.true_targets import class_labels
from separable.cli.training.target import Finding, Target, in_all_rows, refuse_empty
from separable.data.columns import Categories, as_columns
from separable.data.labels import MANY_CLASSES, most_classes, text_array
from separable.data.split import stratified_split
from separable.data.table import TableError, is_number
from separable.model.words import shown

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.cli.training.learners import Task
    from separable.cli.training.target import Rows
    from separable.data.table import ColumnType

__all__ = ["SHOWN_CLASSES", "Classes", "QuantityError", "is_plain"]

#: So many classes are shown of those there are.
SHOWN_CLASSES = 8

#: A whole number as int64 writes it, if it is not too large.
PLAIN = re.compile(r"0|-?[1-9][0-9]{0,18}")


class QuantityError(TableError):
    """What was to be classes looks like a quantity."""


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

        Plain whole numbers become int64, everything else stays as written. Where the user says
        "number" there must be nothing else; "category" is text whatever it looks like.
        """
        what = f"{where}: the target column {name!r}"
        levels, codes = _levels(table, name)
        odd = next((index for index, level in enumerate(levels) if not is_plain(level)), None)
        if kind == "number" and odd is not None:
            row = int(np.flatnonzero(codes == odd)[0])
            raise TableError(
                f"{what} holds {levels[odd]!r} in data row {row + 1}, which is not a plain whole "
                f"number. Correct it, or leave out --number {name} to treat the classes as texts."
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
        """Return the target of labels by code, where it is known."""
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
        """Return the labels of another table; see `Target.truth`."""
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
    """Return a column, whole numbers as their digits, which a float64 might not hold."""
    import pyarrow as pa

    column = table.column(name)
    if pa.types.is_integer(column.type):
        column = column.cast(pa.string())
    return pa.table({name: column})


def _levels(table: pa.Table, name: str) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return the texts of the target column and the place of each row's among them."""
    column = as_columns(whole_numbers_as_text(table, name))[name]
    texts = column if isinstance(column, Categories) else column.as_categories()
    return texts.levels, texts.codes


def is_plain(text: str) -> bool:
    """Whether int64 gives a text back as it was written."""
    return PLAIN.fullmatch(text) is not None and -(2**63) <= int(text) < 2**63


def _refuse_quantity(
    levels: tuple[str, ...], codes: NDArray[np.int32], what: str, *, sure: bool
) -> None:
    """Refuse a target with too many distinct values for classes."""
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    rows, different = int(counts.sum()), int(np.count_nonzero(counts))
    if different <= MANY_CLASSES:
        return
    numbers = all(is_number(level) for level in levels)
    if different <= most_classes(rows, numbers=numbers, sure=sure):
        return
    looks = "a quantity" if numbers else "an identifier or free text"
    predict = "predict the number itself (--model ridge, or another regressor), " if numbers else ""
    raise (QuantityError if numbers else TableError)(
        f"{what} looks like {looks}: {different} different values in {rows} rows. This learner is "
        f"a classifier: {predict}name a column of classes, or group the values into a few classes."
    )
