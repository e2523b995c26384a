"""Contents of a report as plain values: collected first, rendered as a page later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separable.workflow.training_record import (
    Column,
    Data,
    RegularizationCurve,
    Reproduction,
    Standing,
    Tried,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from separable.errors import Absent
    from separable.geometry.verdict import Verdict
    from separable.model.kinds import Model
    from separable.model.metrics.evaluation import Evaluation
    from separable.model.metrics.metric_registry import Predictions
    from separable.select.curves.learning_results import LearningCurve

__all__ = [
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
class Measured:
    """Performance on a set of rows.

    Parameters
    ----------
    how : str
        Which rows these are, in words.
    figures : Evaluation
    y_true : ndarray, shape (n,)
        Empty if only the figures are known, from a model file; so are the predictions.
    predictions : Predictions
    weight : ndarray, shape (n,), or None
    caution : str or None
        Reasons why the metrics may be too optimistic.
    is_new : bool or None
        True: the model was not trained on these rows; False: it was, on some or all; None: not
        known.
    seen : int
        Number of rows that the model was trained on, as far as known.
    """

    how: str
    figures: Evaluation
    y_true: NDArray[Any]
    predictions: Predictions
    weight: NDArray[np.float64] | None = None
    caution: str | None = None
    is_new: bool | None = None
    seen: int = 0


@dataclass(frozen=True)
class Mark:
    """A span of a text, and its contribution to the score.

    Parameters
    ----------
    start, stop : int
        Offsets in characters.
    contribution : float
        For the predicted class.
    """

    start: int
    stop: int
    contribution: float


@dataclass(frozen=True)
class HardRow:
    """A row with a large error.

    Parameters
    ----------
    row : int
        In the file, counted from 1.
    y_true, predicted : object
    probability : float or None
        Of the true class; None without probabilities and in regression.
    margin : float
        Deficit of the score of the true class, or the absolute residual.
    values : tuple of (str, str)
        Raw columns and values, the most important first.
    contributions : tuple of (str, float)
        Features and their contributions to the score of the predicted class, largest first.
    texts : tuple of (str, str, tuple of Mark)
        Columns of free text: name, text (shortened if long), marks.
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
    """A bound on the distance from the optimum.

    Parameters
    ----------
    relative_gap : float
        The largest, if there are several models.
    tol : float
    converged : bool
    models : int
        1, or the number of one-vs-rest models.
    primal, dual : float or None
        None if there are several models.
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
class Contents:
    """All contents of a report.

    Parameters
    ----------
    model : LinearModel or VotedModel
        The saved model, trained on all rows, with its encoder.
    data : Data
    tried : Tried or Absent
    measured : Measured or Absent
        The rows of metrics, curves and hardest rows.
    learning_curve : LearningCurve or Absent
        Of the same learner with the same parameters.
    regularization : RegularizationCurve or Absent
    separability : Verdict or Absent
    separability_rows : str
        A description of the rows and columns of the verdict.
    hard_rows : tuple of HardRow or Absent
    certificate : Certificate or Absent
    reproduction : Reproduction
    notes, warnings : tuple of str
        Messages of the training, and problems found in the data.
    learning_curve_rows : str
        A description of the rows of the learning curve.
    hard_rows_about : str
        A sentence with the number of errors, and which of them are shown.
    title : str or None
        The title of the page; None: from data and target.
    held_out : Measured or None
        The record of the rows held out in training. The page leads with it if the model was
        trained on the rows of ``measured``.
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
