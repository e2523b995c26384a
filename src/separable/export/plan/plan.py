"""What a model computes, without a word of any language: raw columns, steps, places, weights.

A *place* is the number of a feature, the row of `Plan.weights` that belongs to it. A step says
which places a raw value fills, and with what.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "BooleanStep",
    "CategoryStep",
    "DateStep",
    "ExportError",
    "NumberStep",
    "NumbersStep",
    "Plan",
    "RecordStep",
    "Step",
    "TextRules",
    "TextStep",
]


class ExportError(ValueError):
    """A model that cannot be written in a language: the message says why."""


@dataclass(frozen=True)
class NumberStep:
    """A number x as (x - mean) / scale at the place `value`; a missing one as 1 at `missing`.

    Parameters
    ----------
    name : str
        The raw column.
    mean, scale : float
    value, missing : int or None
        None: nothing is filled.
    """

    name: str
    mean: float
    scale: float
    value: int | None
    missing: int | None

    kind = "number"


@dataclass(frozen=True)
class CategoryStep:
    """A level as 1 at its place.

    Parameters
    ----------
    name : str
    levels : tuple of (str or float, int)
        Each level with its place, -1 for none.
    missing : int or None
        The place of a missing value.
    unseen : int or None
        The place of a level that is not listed.
    refuses : bool
        Whether a level that is not listed is an error.
    refuses_missing : bool
        Whether a missing value is one.
    typed : bool
        Whether 1 and "1" are different levels; else every value is written as text first.
    missing_is_nan : bool
        Whether the encoder knows a missing value as NaN, not as None.
    """

    name: str
    levels: tuple[tuple[str | float, int], ...]
    missing: int | None
    unseen: int | None
    refuses: bool
    refuses_missing: bool = False
    typed: bool = False
    missing_is_nan: bool = False

    kind = "category"


@dataclass(frozen=True)
class BooleanStep:
    """True as 1 at the place `true`, a missing value as 1 at `missing`."""

    name: str
    true: int | None
    missing: int | None

    kind = "boolean"


@dataclass(frozen=True)
class DateStep:
    """The parts of a date.

    Parameters
    ----------
    name : str
    numbers : tuple of (mean, scale, place) or None
        Of the days since 1970-01-01, the year and the day of the month.
    cycles : tuple of tuple of (value, place)
        Of month, weekday (Monday is 0) and hour, each counted from 0.
    missing : int or None
    """

    name: str
    numbers: tuple[tuple[float, float, int] | None, ...]
    cycles: tuple[tuple[tuple[int, int], ...], ...]
    missing: int | None

    kind = "date"


@dataclass(frozen=True)
class TextRules:
    """How a text becomes terms, and terms numbers; the words are those of `TextEncoder`.

    Parameters
    ----------
    shortest : int or None
        The characters that a word has to have, where the pattern is one of the usual ones.
    hashed : int or None
        The number of columns terms are hashed into; None: there is a vocabulary.
    """

    lowercase: bool
    strip_accents: str | None
    analyzer: str
    pattern: str
    shortest: int | None
    ngram_range: tuple[int, int]
    stop_words: tuple[str, ...]
    binary: bool
    sublinear: bool
    norm: str | None
    hashed: int | None
    alternate_sign: bool


@dataclass(frozen=True)
class TextStep:
    """The terms of a text, from the place `first` on.

    Parameters
    ----------
    name : str or None
        None: a row is the text itself, which must not be missing.
    rules : TextRules
    first : int
    terms : tuple of str
        By place; none if they are hashed.
    idf : tuple of float or None
    missing : int or None
    """

    name: str | None
    rules: TextRules
    first: int
    terms: tuple[str, ...]
    idf: tuple[float, ...] | None
    missing: int | None

    kind = "text"


@dataclass(frozen=True)
class NumbersStep:
    """A row that is nothing but numbers, none of them missing.

    Parameters
    ----------
    names : tuple of str
    named : bool
        Whether the model knows these names, or they were made up.
    products : tuple of tuple of int, or None
        For each place the columns that are multiplied; None: each column is a place.
    """

    names: tuple[str, ...]
    named: bool
    products: tuple[tuple[int, ...], ...] | None

    kind = "numbers"


@dataclass(frozen=True)
class RecordStep:
    """A row that is a dict of features: numbers, texts, or lists of texts.

    Parameters
    ----------
    numbers : tuple of (str, int)
        Features that are numbers, with their places.
    levels : tuple of (str, tuple of (str, int))
        Features that are texts, with the place of each text.
    """

    numbers: tuple[tuple[str, int], ...]
    levels: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]

    kind = "record"


Step: TypeAlias = (
    NumberStep | CategoryStep | BooleanStep | DateStep | TextStep | NumbersStep | RecordStep
)


@dataclass(frozen=True)
class Plan:
    """A model as steps and weights.

    Parameters
    ----------
    learner : str
        In letters, digits and underscores, so that it can stand in a comment.
    takes : {"columns", "numbers", "text", "record"}
        What a row is; all but columns have a single step.
    steps : tuple of Step
    weights : ndarray, shape (places, scores)
    intercept : tuple of float
    classes : tuple or None
    probabilities : {"logistic", "softmax"} or None
    calibration : tuple of (slope, offset), or None
    threshold : float or None
        A value counts as 1 if it is above, else as 0.
    """

    learner: str
    takes: Literal["columns", "numbers", "text", "record"]
    steps: tuple[Step, ...]
    weights: NDArray[np.float64]
    intercept: tuple[float, ...]
    classes: tuple[Any, ...] | None
    probabilities: Literal["logistic", "softmax"] | None
    calibration: tuple[tuple[float, float], ...] | None
    threshold: float | None

    @property
    def title(self) -> str:
        """What stands before the word model: the learner, if one is known."""
        return "linear" if self.learner == "LinearModel" else self.learner

    @property
    def n_scores(self) -> int:
        """The number of scores."""
        return len(self.intercept)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the raw columns; none where a row is a text or a dict."""
        if self.takes == "numbers":
            (step,) = self.steps
            assert isinstance(step, NumbersStep)
            return step.names
        names = (getattr(step, "name", None) for step in self.steps)
        return tuple(name for name in names if name is not None)

    @property
    def zero(self) -> float:
        """What a value of 0 counts as: 1 below a negative threshold, else 0."""
        return float(self.threshold is not None and self.threshold < 0)

    @property
    def one(self) -> float:
        """What a value of 1 counts as."""
        return 1.0 if self.threshold is None else float(self.threshold < 1)

    @property
    def base(self) -> tuple[float, ...]:
        """The scores of a row that fills no place."""
        sums = self.weights.sum(axis=0).tolist() if self.zero else [0.0] * self.n_scores
        return tuple(b + s for b, s in zip(self.intercept, sums, strict=True))

    def has(self, kind: str) -> bool:
        """Whether there is a step of a kind."""
        return any(step.kind == kind for step in self.steps)
