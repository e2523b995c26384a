"""The small data sets of the lectures."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separable.datasets import PENGUINS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.typing import Floats

__all__ = ["EXAMPLES", "Example", "load"]

CORNERS = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
#: The distributions of "normals": means of both classes, and their standard deviation.
NORMAL_MEANS, NORMAL_DEVIATION = (-1.25, 1.25), 1.0


class Example(NamedTuple):
    """Rows, their classes, and the names of the columns."""

    X: Floats
    y: NDArray[Any]
    columns: tuple[str, ...]


def _boolean(outputs: list[int]) -> Example:
    return Example(CORNERS.copy(), np.array(outputs), ("x1", "x2"))


def _clouds() -> Example:
    """Return two Gaussian clouds of 20 rows each that a line separates."""
    rng = np.random.RandomState(3)
    X = np.concatenate([rng.normal(-1.6, 0.7, (20, 2)), rng.normal(1.6, 0.7, (20, 2))])
    return Example(X.round(2), np.repeat([0, 1], 20), ("x1", "x2"))


def _ring() -> Example:
    """Return a disc inside a ring: a circle separates them, no line does."""
    rng = np.random.RandomState(0)
    angle = rng.uniform(0, 2 * np.pi, 48)
    radius = np.concatenate([rng.uniform(0, 0.8, 24), rng.uniform(1.4, 2.0, 24)])
    X = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return Example(X.round(2), np.repeat([0, 1], 24), ("x1", "x2"))


def _normals() -> Example:
    """Return one column: 20 rows of each of two normal distributions with the same variance."""
    rng = np.random.RandomState(7)
    x = np.concatenate([rng.normal(mean, NORMAL_DEVIATION, 20) for mean in NORMAL_MEANS])
    return Example(x.round(2)[:, None], np.repeat([0, 1], 20), ("x",))


def _words() -> Example:
    """Return four phrases as the words "very", "not", "good", "bad"; the class is 1 for praise."""
    X = np.array([[1.0, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]])
    return Example(X, np.array([1, 0, 0, 1]), ("very", "not", "good", "bad"))


def _spam() -> Example:
    """Return counts of four words in twelve invented mails; the lecture's weights separate them."""
    counts = [
        *([1, 1, 0, 0], [2, 0, 0, 0], [1, 2, 0, 1], [0, 2, 0, 0], [1, 0, 1, 0], [3, 1, 0, 0]),
        *([0, 0, 1, 1], [0, 1, 0, 2], [0, 0, 2, 0], [0, 1, 1, 1], [0, 0, 0, 1], [0, 1, 2, 0]),
    ]
    classes = np.repeat(["spam", "other"], 6)
    return Example(np.array(counts, dtype=float), classes, ("free", "money", "meeting", "report"))


def _digits() -> Example:
    """Return the 8 x 8 images of handwritten digits that scikit-learn contains."""
    from sklearn.datasets import load_digits

    images: Any = load_digits()
    names = tuple(f"pixel {i},{j}" for i in range(8) for j in range(8))
    return Example(np.asarray(images.data, dtype=float), np.asarray(images.target), names)


def _penguins() -> Example:
    """Return bill length and depth in mm of Adelie and Gentoo penguins, without missing values."""
    columns = ("bill_length_mm", "bill_depth_mm")
    with PENGUINS.open(encoding="utf-8", newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["species"] in ("Adelie", "Gentoo") and row[columns[0]] not in ("", "NA")
        ]
    X = np.array([[float(row[name]) for name in columns] for row in rows])
    return Example(X, np.array([row["species"] for row in rows]), columns)


#: The names that ``load`` knows.
EXAMPLES: dict[str, Callable[[], Example]] = {
    "and": lambda: _boolean([0, 0, 0, 1]),
    "or": lambda: _boolean([0, 1, 1, 1]),
    "xor": lambda: _boolean([0, 1, 1, 0]),
    "clouds": _clouds,
    "normals": _normals,
    "ring": _ring,
    "words": _words,
    "spam": _spam,
    "digits": _digits,
    "penguins": _penguins,
}


def load(name: str) -> Example:
    """Return one of the small data sets of the lectures.

    Parameters
    ----------
    name : str
        "and", "or", "xor", "clouds", "normals", "ring", "words", "spam", "digits" or "penguins".
        "normals" is one column of two normal distributions; "words" are the phrases "very good",
        "very bad", "not good" and "not bad"; "spam" the counts of four words in twelve mails;
        "digits" the 1797 images of scikit-learn; "penguins" the bills of Adelie and Gentoo
        penguins.

    Returns
    -------
    Example
        ``X``, ``y`` and ``columns``.

    Examples
    --------
    >>> from separable import Perceptron
    >>> from separable.datasets import load
    >>> X, y, columns = load("and")
    >>> Perceptron().fit(X, y).predict(X)
    array([0, 0, 0, 1])
    """
    if name not in EXAMPLES:
        raise ValueError(f"There is no example {name!r}. Choose one of {', '.join(EXAMPLES)}.")
    return EXAMPLES[name]()
