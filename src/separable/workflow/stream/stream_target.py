"""Target of a stream: determined from the first rows, then read chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.columns import Categories, as_columns
from separable.data.labels import MANY_CLASSES, most_classes
from separable.data.table import TableError, is_number
from separable.errors import Message, Option, by_spelling
from separable.workflow.columns.role_columns import class_labels
from separable.workflow.progress import note
from separable.workflow.target import LARGEST, is_plain

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.workflow.learners import Task

__all__ = ["Labels", "Quantities", "StreamTarget", "order_warning", "settled_target", "target_of"]

#: Minimum rows to judge their order, and the fraction of the expected changes of class below
#: which rows count as sorted.
ENOUGH_ROWS, ORDERED = 50, 0.2

SHUFFLE = "A stream is learned in order: shuffle the rows if they are sorted by class."


@dataclass(frozen=True)
class Labels:
    """Class labels, known before training starts.

    Parameters
    ----------
    where : str
        The target in words, to begin messages.
    classes : ndarray
        Sorted, int64 or str.
    announced : str
        How they are known.
    remedy : str
        What to do about another class; by default to name all classes.
    """

    where: str
    classes: NDArray[Any]
    announced: str
    remedy: str = ""
    task: Task = field(default="classification", init=False)

    def of_texts(
        self, levels: tuple[str, ...], codes: NDArray[Any], first_row: int
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the label of each row that has one, and which rows have one."""
        known = {str(label): code for code, label in enumerate(self.classes.tolist())}
        labels = map(str, class_labels(self.classes, list(levels)).tolist())
        code_of = np.array([*(known.get(label, -1) for label in labels), -1], dtype=np.int64)
        mask = codes >= 0
        result = code_of[codes]
        odd = np.flatnonzero(mask & (result < 0))
        if len(odd):
            self._refuse(levels[codes[odd[0]]], first_row + int(odd[0]))
        return self.classes[result[mask]], mask

    def of_values(self, y: NDArray[Any], first_row: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the labels of sparse rows, which all have one."""
        kind = self.classes.dtype.kind
        labels = y.astype(np.str_) if kind == "U" and y.dtype.kind != "U" else y
        odd = np.flatnonzero(~np.isin(labels, self.classes))
        if len(odd):
            self._refuse(str(labels[odd[0]]), first_row + int(odd[0]))
        return labels.astype(self.classes.dtype), np.ones(len(y), dtype=np.bool_)

    def _refuse(self, label: str, row: int) -> None:
        names = ",".join([*map(str, self.classes.tolist()), label])
        if len(self.classes) > MANY_CLASSES:
            names = f"A,B,...,{label}"
        remedy = (self.remedy,) if self.remedy else ("Name all of them: ", _classes_option(names))
        raise TableError(
            f"{self.where} holds {label!r} in data row {row + 1}, which is not among the classes "
            f"{self.announced}. ",
            *remedy,
        )


@dataclass(frozen=True)
class Quantities:
    """Numbers.

    Parameters
    ----------
    where : str
        The target in words, to begin messages.
    """

    where: str
    task: Task = field(default="regression", init=False)
    classes: None = field(default=None, init=False)

    def of_texts(
        self, levels: tuple[str, ...], codes: NDArray[Any], first_row: int
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the number of each row that has one, and which rows have one."""
        try:
            numbers = np.array((*levels, "nan"), dtype=np.str_).astype(np.float64)
        except ValueError:
            odd = next(index for index, level in enumerate(levels) if not is_number(level))
            row = first_row + int(np.flatnonzero(codes == odd)[0])
            raise TableError(
                f"{self.where} holds {levels[odd]!r} in data row {row + 1}, which is not a number, "
                "but the first rows look like a quantity. Correct it, or name a classifier with ",
                Option("model"),
                ".",
            ) from None
        return self.of_values(numbers[codes], first_row)

    def of_values(self, y: NDArray[Any], first_row: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the numbers, but for those that are missing."""
        if y.dtype.kind not in "iuf":
            raise TableError(
                f"{self.where} holds texts. Name a classifier with ", Option("model"), "."
            )
        numbers = y.astype(np.float64)
        odd = np.flatnonzero(np.abs(numbers) > LARGEST)
        if len(odd):
            raise TableError(
                f"{self.where} holds {numbers[odd[0]]:g} in data row "
                f"{first_row + int(odd[0]) + 1}, which is too large to predict. Correct it, use a "
                "larger unit, or leave it empty to skip the row."
            )
        mask = ~np.isnan(numbers)
        return numbers[mask], mask


StreamTarget = Labels | Quantities


def _classes_option(names: str) -> Any:
    listed = str(names.split(","))
    return by_spelling(f"classes={listed}", f"--classes {names}")


def target_of(
    target: StreamTarget, table: pa.Table, name: str, first_row: int
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the target of each row of a table that has one, and which rows have one."""
    column = as_columns(table.select([name]))[name]
    if isinstance(column, Categories):
        return target.of_texts(column.levels, column.codes, first_row)
    return target.of_values(column.values, first_row)


def settled_target(
    where: str,
    values: tuple[NDArray[Any], NDArray[Any]],
    task: Task | None,
    classes: str | None,
    *,
    texts: bool = False,
) -> StreamTarget:
    """Settle what is predicted from the target of the first rows.

    Parameters
    ----------
    where : str
        The target in words, to begin messages.
    values : (ndarray, ndarray)
        Its different values, as texts or as numbers, and how often each occurs.
    task : "classification" or "regression", optional
        By default classes, or numbers where the values look like a quantity.
    classes : str, optional
        The classes as the user named them, with commas between.
    texts : bool
        Whether classes are texts whatever they look like.
    """
    distinct, counts = values
    rows = int(counts.sum())
    if not rows:
        raise TableError(
            f"{where} is empty in the first rows. Name another column with ", Option("target"), "."
        )
    if task == "regression":
        return Quantities(where)
    if classes is not None:
        announced = [text.strip() for text in classes.split(",")]
        return Labels(where, _as_labels(announced, texts=texts), "that were named")
    numbers = distinct.dtype.kind != "U" or all(is_number(level) for level in distinct.tolist())
    whole = not numbers or all(float(level).is_integer() for level in distinct.tolist())
    if len(distinct) > most_classes(rows, numbers=numbers, sure=task is not None, whole=whole):
        if numbers and task is None:
            note(
                Message(
                    f"{where} looks like a quantity, so the task is regression. For "
                    "classification name a classifier with ",
                    Option("model"),
                    ".",
                )
            )
            return Quantities(where)
        looks = "a quantity" if numbers else "an identifier or free text"
        instead = ("predict numbers with ", Option("model", "sgd-regressor"), ", ")
        raise TableError(
            f"{where} looks like {looks}: {len(distinct)} different values in the first {rows} "
            "rows. For classification ",
            *(instead if numbers else ()),
            "name another column, or name the classes with ",
            Option("classes"),
            ".",
        )
    labels = _as_labels([_text(value) for value in distinct.tolist()], texts=texts)
    if len(labels) == 1:
        raise TableError(
            f"{where} holds a single class, {labels.tolist()[0]!r}, in the first {rows} rows. "
            f"{SHUFFLE} If other classes come later, name them all: ",
            _classes_option(f"{labels.tolist()[0]},..."),
        )
    return Labels(where, labels, f"of the first {rows} rows")


def order_warning(target: StreamTarget, y: NDArray[Any]) -> Message | None:
    """Return what to say of classes that come one after the other, or nothing.

    Parameters
    ----------
    target : Labels or Quantities
    y : ndarray
        The targets of the first rows, in their order.
    """
    if target.classes is None or len(y) < ENOUGH_ROWS:
        return None
    changes = int(np.count_nonzero(y[1:] != y[:-1]))
    fractions = np.unique(y, return_counts=True)[1] / len(y)
    expected = (len(y) - 1) * (1 - float((fractions**2).sum()))
    if changes >= ORDERED * expected:
        return None
    return Message(
        f"{target.where} changes {changes} times in the first {len(y)} rows; in random order it "
        f"would change about {expected:.0f} times. In a stream the last rows count most: shuffle "
        "the rows first, or train without ",
        by_spelling("stream", "--stream"),
        ".",
    )


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _as_labels(names: list[str], *, texts: bool) -> NDArray[Any]:
    whole = not texts and all(map(is_plain, names))
    return np.unique(np.array([int(n) for n in names] if whole else names))
