"""Language-independent plan of a model: raw columns, encoding steps, weights.

A *feature index* is a row of `Plan.weights`. A step maps a raw value to feature indices and values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from separable.data.ingest.conversions.conversion import conversion_kind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from separable.data.ingest.conversions.conversion import Conversion


__all__ = [
    "BooleanStep",
    "CategoryStep",
    "CurveStep",
    "DateStep",
    "ExportError",
    "NumberStep",
    "NumbersStep",
    "PairStep",
    "Plan",
    "RecordStep",
    "Step",
    "TextRules",
    "TextStep",
    "refuse_mixed_levels",
    "refuse_nul_texts",
    "refuse_texts",
]


class ExportError(ValueError):
    """A model that cannot be exported to a language; the message says why."""


@dataclass(frozen=True)
class NumberStep:
    """A number x as (x - mean) / scale at feature `value`; a missing value as 1 at `missing`.

    Parameters
    ----------
    name : str
        The raw column.
    mean, scale : float
    value, missing : int or None
        Feature indices; None: no feature.
    conversion : Conversion or None
        How texts are converted to numbers.
    """

    name: str
    mean: float
    scale: float
    value: int | None
    missing: int | None
    conversion: Conversion | None = None

    kind = "number"


@dataclass(frozen=True)
class CurveStep:
    """A number x between breaks i and i + 1 as 1 - t and t at their features.

    t is (x - breaks[i]) / (breaks[i + 1] - breaks[i]).

    Parameters
    ----------
    name : str
        The raw column.
    breaks : tuple of float
        Ascending; empty if the column has no curve.
    indices : tuple of int
        Feature index of each break.
    linear : bool
        Whether the outer pieces continue; if not, t is clipped to 0 and 1.
    period : float
        x is taken modulo the period, from the first break on; 0: it is not.
    missing : int or None
        Feature index of a missing value.
    conversion : Conversion or None
        How texts are converted to numbers.
    """

    name: str
    breaks: tuple[float, ...]
    indices: tuple[int, ...]
    linear: bool
    period: float
    missing: int | None
    conversion: Conversion | None = None

    kind = "curve"


@dataclass(frozen=True)
class CategoryStep:
    """A level as 1 at its feature index.

    Parameters
    ----------
    name : str
    levels : tuple of (str or float, int)
        Each level with its feature index, -1 for none.
    missing : int or None
        Feature index of a missing value.
    unseen : int or None
        Feature index of a level that is not listed.
    refuses : bool
        Whether a level that is not listed is an error.
    refuses_missing : bool
        Whether a missing value is an error.
    typed : bool
        Whether 1 and "1" are different levels; if not, every value is converted to text first.
    missing_is_nan : bool
        Whether the encoder represents a missing value by NaN, not None.
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
    """True as 1 at feature `true`, a missing value as 1 at `missing`."""

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
    numbers : tuple of (mean, scale, index) or None
        For the days since 1970-01-01, the year and the day of the month.
    cycles : tuple of tuple of (value, index)
        For month, weekday (Monday is 0) and hour, each counted from 0.
    missing : int or None
    conversion : Conversion or None
        How texts are converted to dates.
    """

    name: str
    numbers: tuple[tuple[float, float, int] | None, ...]
    cycles: tuple[tuple[tuple[int, int], ...], ...]
    missing: int | None
    conversion: Conversion | None = None

    kind = "date"


@dataclass(frozen=True)
class TextRules:
    """Tokenization and weighting of texts; the fields are named as in `TextEncoder`.

    Parameters
    ----------
    shortest : int or None
        Minimum length of a word, if the token pattern is one of the common ones.
    hashed : int or None
        Number of hashed features; None: the encoder has a vocabulary.
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
    """The terms of a text, from feature index `first` on.

    Parameters
    ----------
    name : str or None
        None: the row itself is the text, which must not be missing.
    rules : TextRules
    first : int
    terms : tuple of str
        By feature index; empty if terms are hashed.
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
    """A row of numbers without missing values.

    Parameters
    ----------
    names : tuple of str
    named : bool
        Whether the names come from the model; if not, they are x0, x1, ...
    products : tuple of tuple of int, or None
        For each feature the columns that are multiplied; None: each column is a feature.
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
        Numeric features with their indices.
    levels : tuple of (str, tuple of (str, int))
        Categorical features with the index of each level.
    """

    numbers: tuple[tuple[str, int], ...]
    levels: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]

    kind = "record"


Step: TypeAlias = (
    NumberStep
    | CurveStep
    | CategoryStep
    | BooleanStep
    | DateStep
    | TextStep
    | NumbersStep
    | RecordStep
)


@dataclass(frozen=True)
class PairStep:
    """The products of the features of two columns.

    Parameters
    ----------
    columns : tuple of (int, int)
        Indices of both columns among the steps of the plan.
    first, second : CurveStep, CategoryStep or BooleanStep
        How each column is encoded within the pair, at features counted from 0.
    start : int
        Feature index of the first product.
    width : int
        Features of the second column: i of the first times j of the second is at
        ``start + i * width + j``.
    size : int
        Features of the first column.
    """

    columns: tuple[int, int]
    first: Step
    second: Step
    start: int
    width: int
    size: int

    @property
    def axes(self) -> tuple[Step, Step]:
        """How both columns are encoded."""
        return self.first, self.second


@dataclass(frozen=True)
class Plan:
    """A model as encoding steps and weights.

    Parameters
    ----------
    learner : str
        Name in letters, digits and underscores, safe in a comment.
    takes : {"columns", "numbers", "text", "record"}
        Type of a row; all but "columns" have a single step.
    steps : tuple of Step
    weights : ndarray, shape (features, scores)
    intercept : tuple of float
    classes : tuple or None
    probabilities : {"logistic", "softmax"} or None
    calibration : tuple of (slope, offset), or None
    score_threshold : float
        Score above which the second of two classes is predicted.
    threshold : float or None
        Binarization: values above it become 1, others 0.
    output_range : tuple of float, or None
        Regression of a logarithm: the prediction is exp(score), within this range.
    pairs : tuple of PairStep
        Products of columns; with the features of single columns they make the score.
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
    score_threshold: float = 0.0
    output_range: tuple[float, float] | None = None
    pairs: tuple[PairStep, ...] = ()

    @property
    def title(self) -> str:
        """The learner, or "linear" if it is not known."""
        return "linear" if self.learner == "LinearModel" else self.learner

    @property
    def n_scores(self) -> int:
        """The number of scores."""
        return len(self.intercept)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the raw columns; empty if a row is a text or a dict."""
        if self.takes == "numbers":
            (step,) = self.steps
            assert isinstance(step, NumbersStep)
            return step.names
        names = (getattr(step, "name", None) for step in self.steps)
        return tuple(name for name in names if name is not None)

    @property
    def zero(self) -> float:
        """The value of 0 after the threshold: 1 if the threshold is negative, else 0."""
        return float(self.threshold is not None and self.threshold < 0)

    @property
    def one(self) -> float:
        """The value of 1 after the threshold."""
        return 1.0 if self.threshold is None else float(self.threshold < 1)

    @property
    def base(self) -> tuple[float, ...]:
        """The scores of a row whose features are all 0."""
        sums = self.weights.sum(axis=0).tolist() if self.zero else [0.0] * self.n_scores
        return tuple(b + s for b, s in zip(self.intercept, sums, strict=True))

    @property
    def conversions(self) -> tuple[Conversion | None, ...]:
        """The conversion of each step."""
        return tuple(getattr(step, "conversion", None) for step in self.steps)

    @property
    def kinds(self) -> set[str]:
        """The sections of a runtime file that the steps need: their kinds and conversions."""
        made = {step.kind for step in self.steps}
        made |= {axis.kind for pair in self.pairs for axis in pair.axes}
        for conversion in self.conversions:
            if conversion is not None:
                made |= {"converted", f"{conversion_kind(conversion)} conversion"}
        return made

    def has(self, kind: str) -> bool:
        """Return whether the plan has a step of this kind."""
        return any(step.kind == kind for step in self.steps)


def refuse_texts(plan: Plan, language: str) -> None:
    """Refuse columns of free text, and rows without fixed columns.

    Parameters
    ----------
    plan : Plan
    language : str
        Name of the language in the message.
    """
    for step in plan.steps:
        if isinstance(step, TextStep):
            what = (
                "takes texts" if step.name is None else f"has a column of texts, {step.name!r:.80}"
            )
            raise ExportError(
                f"This {plan.learner} model {what}, and {language} has neither Python's letters "
                "nor its lower case to cut them into the same words. Export it to Python or "
                "JavaScript (js)."
            )
        if isinstance(step, RecordStep):
            raise ExportError(
                f"This {plan.learner} model takes rows through a DictEncoder, which have no fixed "
                f"columns, as rows in {language} have. Export it to Python or JavaScript (js)."
            )


def refuse_mixed_levels(plan: Plan, language: str) -> None:
    """Refuse a column whose levels are partly texts and partly numbers."""
    for step in plan.steps:
        if isinstance(step, CategoryStep) and len({type(level) for level, _ in step.levels}) > 1:
            raise ExportError(
                f"Column {step.name!r:.80} has texts and numbers as levels, and a column of "
                f"{language} has one type. Write all of them as texts before training, or export "
                "to Python, JavaScript or C."
            )


def refuse_nul_texts(plan: Plan, language: str) -> None:
    """Refuse levels and classes with a NUL character, which ends a text in some languages."""
    named = [
        (f"Column {step.name!r:.80} has the level", level)
        for step in plan.steps
        if isinstance(step, CategoryStep)
        for level, _ in step.levels
    ]
    named += [("The model has the class", label) for label in plan.classes or ()]
    for what, text in named:
        if isinstance(text, str) and "\0" in text:
            raise ExportError(
                f"{what} {text!r:.80}, which holds a NUL character, and texts of {language} end at "
                "the first. Replace it before training, or export to Python, JavaScript, C or SQL."
            )
