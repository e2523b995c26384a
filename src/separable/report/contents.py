"""Contents of a report as plain values: collected first, rendered as a page later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from separable.geometry.verdict import Verdict
    from separable.model.kinds import Model
    from separable.model.metrics.evaluation import Evaluation
    from separable.model.metrics.metric_registry import Answers
    from separable.select.curves.learning_results import LearningCurve

__all__ = [
    "Absent",
    "Certificate",
    "Column",
    "Contents",
    "Data",
    "HardRow",
    "Mark",
    "Measured",
    "RegularizationCurve",
    "Reproduction",
    "Standing",
    "Tried",
]


@dataclass(frozen=True)
class Absent:
    """A part that is not there.

    Parameters
    ----------
    reason : str
        Why, in a sentence for the reader.
    """

    reason: str


@dataclass(frozen=True)
class Column:
    """One column of the data.

    Parameters
    ----------
    name : str
    role : str
        "number", "category", "boolean", "date", "text"; "target", "group", "time", "weight"; or
        "dropped".
    missing : int or None
        None where that is not known.
    about : str
        What else there is to say, such as the number of levels.
    """

    name: str
    role: str
    missing: int | None
    about: str


@dataclass(frozen=True)
class Data:
    """What was learned from.

    Parameters
    ----------
    name : str
        Of the file, without its folder; empty where that is not known.
    rows : int or None
        Those with a target; None where that is not known.
    columns : tuple of Column
    target : str
    task : {"classification", "regression"}
    target_counts : tuple of (label, int)
        How many rows each class has, the most common first; empty in regression.
    target_bins : tuple of (float, float, int)
        From, to and how many rows, in regression; else empty.
    sha256 : str or None
        Of the bytes of the file, where it is one file.
    """

    name: str
    rows: int | None
    columns: tuple[Column, ...]
    target: str
    task: Literal["classification", "regression"]
    target_counts: tuple[tuple[Any, int], ...] = ()
    target_bins: tuple[tuple[float, float, int], ...] = ()
    sha256: str | None = None


@dataclass(frozen=True)
class Standing:
    """How one learner did in cross-validation.

    Parameters
    ----------
    learner : str
    params : mapping of str to object
        Those that were best.
    mean, standard_error : float or None
        None where it failed.
    difference, difference_error : float or None
        To the best.
    differs : bool or None
        Whether that is more than noise.
    seconds : float or None
    failed : str or None
        Why it has no scores.
    """

    learner: str
    params: Mapping[str, Any]
    mean: float | None
    standard_error: float | None
    difference: float | None
    difference_error: float | None
    differs: bool | None
    seconds: float | None
    failed: str | None


@dataclass(frozen=True)
class Tried:
    """Learners compared by cross-validation, from best to worst.

    Parameters
    ----------
    metric : str
    greater_is_better : bool
    folds : int
    rows, of_rows : int
        How many rows were compared on, of how many.
    standings : tuple of Standing
    taken : str
        The learner that was taken.
    why : str
        Why that one, in words.
    """

    metric: str
    greater_is_better: bool
    folds: int
    rows: int
    of_rows: int
    standings: tuple[Standing, ...]
    taken: str
    why: str


@dataclass(frozen=True)
class Measured:
    """Summary of the performance on some rows.

    Parameters
    ----------
    how : str
        Which rows these are, in words.
    figures : Evaluation
    y_true : ndarray, shape (n,)
        Of length 0 where a model file remembers the figures alone, without rows; so are the
        answers.
    predictions : Answers
    weight : ndarray, shape (n,), or None
    caution : str or None
        Why the figures may be too good, such as that the rows were learned from.
    is_new : bool or None
        True: the model was not trained on these rows; False: it was, on some or all; None: not
        known.
    seen : int
        How many of the rows the model was trained on, as far as that is known.
    """

    how: str
    figures: Evaluation
    y_true: NDArray[Any]
    predictions: Answers
    weight: NDArray[np.float64] | None = None
    caution: str | None = None
    is_new: bool | None = None
    seen: int = 0


@dataclass(frozen=True)
class RegularizationCurve:
    """The score of the chosen learner by its regularization parameter.

    Parameters
    ----------
    learner : str
    parameter : str
        "C", "alpha", ...
    metric : str
        The score that selected the value.
    greater_is_better : bool
    values, means, errors : tuple of float
        Strengths in ascending order, with mean and standard error over the folds.
    chosen : float
    """

    learner: str
    parameter: str
    metric: str
    greater_is_better: bool
    values: tuple[float, ...]
    means: tuple[float, ...]
    errors: tuple[float, ...]
    chosen: float


@dataclass(frozen=True)
class Mark:
    """A stretch of a text and what it adds to the score.

    Parameters
    ----------
    start, stop : int
        Characters of the text, as Python counts them.
    contribution : float
        For the predicted class.
    """

    start: int
    stop: int
    contribution: float


@dataclass(frozen=True)
class HardRow:
    """A row that the model gets wrong, and is sure of.

    Parameters
    ----------
    row : int
        In the file, from 1 on.
    y_true, predicted : object
    probability : float or None
        Of the true class; None where the model gives none, or predicts numbers.
    margin : float
        By how much the score of the true class falls short, or the absolute residual.
    values : tuple of (str, str)
        Raw columns and values, the most telling first.
    contributions : tuple of (str, float)
        Names of features with what they add to the score of the predicted class, largest first.
    texts : tuple of (str, str, tuple of Mark)
        Columns of free text: name, text (shortened, if it is long), marks.
    """

    row: int
    y_true: Any
    predicted: Any
    probability: float | None
    margin: float
    values: tuple[tuple[str, str], ...]
    contributions: tuple[tuple[str, float], ...]
    texts: tuple[tuple[str, str, tuple[Mark, ...]], ...] = ()


@dataclass(frozen=True)
class Certificate:
    """How far from the optimum the fit is, at most.

    Parameters
    ----------
    relative_gap : float
        The largest, where there are several models.
    tol : float
    converged : bool
    models : int
        1, or the number of one-vs-rest models.
    primal, dual : float or None
        None where there are several models.
    is_local : bool
        Whether only a local optimum is claimed.
    """

    relative_gap: float
    tol: float
    converged: bool
    models: int = 1
    primal: float | None = None
    dual: float | None = None
    is_local: bool = False


@dataclass(frozen=True)
class Reproduction:
    """How to come to the same model again.

    Parameters
    ----------
    commands : tuple of str
        To type.
    versions : tuple of (str, str)
        Of separable, Python, NumPy, ...
    seed : int or None
    model_file : str or None
        Its name.
    """

    commands: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]
    seed: int | None
    model_file: str | None


@dataclass(frozen=True)
class Contents:
    """Everything a report says.

    Parameters
    ----------
    model : LinearModel or VotedModel
        Trained on all rows, with its encoder: the one that is saved.
    data : Data
    tried : Tried or Absent
    measured : Measured or Absent
        Figures, curves and hard rows are of these rows.
    learning_curve : LearningCurve or Absent
        Of the same learner with the same parameters.
    regularization : RegularizationCurve or Absent
    separability : Verdict or Absent
    separability_rows : str
        Which rows and columns the verdict is about, in words.
    hard_rows : tuple of HardRow or Absent
    certificate : Certificate or Absent
    reproduction : Reproduction
    notes, warnings : tuple of str
        Messages of the training, and problems found in the data.
    learning_curve_rows : str
        Which rows the learning curve is of, in words.
    hard_rows_about : str
        How many rows are wrong, and which of them are shown, in words.
    title : str or None
        What the page is called; None: after the data and the target.
    held_out : Measured or None
        What the model remembers of the rows held out in training. The page leads with it if the
        model was trained on the rows of ``measured``.
    """

    model: Model
    data: Data
    tried: Tried | Absent
    measured: Measured | Absent
    learning_curve: LearningCurve | Absent
    regularization: RegularizationCurve | Absent
    separability: Verdict | Absent
    separability_rows: str
    hard_rows: tuple[HardRow, ...] | Absent
    certificate: Certificate | Absent
    reproduction: Reproduction
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    learning_curve_rows: str = ""
    hard_rows_about: str = ""
    title: str | None = None
    held_out: Measured | None = None
