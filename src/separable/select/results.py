"""Results of a validation: scores, standard errors, and the predictions of every held-out row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtr

from separable._notebook import html_table
from separable.fitting.best_candidate import standard_errors
from separable.model.words import lined_up

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from separable.typing import Floats

__all__ = [
    "SIGNIFICANCE",
    "BruteForceError",
    "CrossValidation",
    "LeaveOneOutValidation",
    "p_value",
    "shown_number",
    "variance_factor",
]


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation:
    """Scores by fold, and the predictions of every held-out row.

    Parameters
    ----------
    learner : str
        The class of the estimator.
    scores : dict of str to ndarray, shape (k,)
        By scorer, one score per fold.
    n_train, n_test : ndarray of int, shape (k,)
        Rows of each fold.
    how : tuple of str
        "sums" if a fold was solved from sums of its training rows, "lanes" if it was fitted
        together with the others, "refit" if the estimator was fitted to the rows.
    rows, fold : ndarray of int, shape (m,)
        Row of each prediction below, ascending, and the fold that held it out. If every row is held
        out once, ``rows`` is 0, 1, ..., n - 1, and the predictions are aligned with y.
    predictions : ndarray, shape (m,) or (m, t)
    decision_scores : ndarray, shape (m,) or (m, K), or None
        By ``decision_function``.
    probabilities : ndarray, shape (m, K), or None
        By ``predict_proba``.
    classes : ndarray, shape (K,), or None
        The classes of the columns. A class that a fold has not learned has probability 0 and score
        -inf there.
    """

    learner: str
    scores: Mapping[str, Floats]
    n_train: NDArray[np.intp]
    n_test: NDArray[np.intp]
    how: tuple[str, ...]
    rows: NDArray[np.intp]
    fold: NDArray[np.intp]
    predictions: NDArray[Any]
    decision_scores: Floats | None
    probabilities: Floats | None
    classes: NDArray[Any] | None

    @property
    def n_folds(self) -> int:
        """The number of folds k."""
        return len(self.how)

    @property
    def mean(self) -> dict[str, float]:
        """The mean of the fold scores, by scorer."""
        return {name: float(np.mean(each)) for name, each in self.scores.items()}

    @property
    def standard_error(self) -> dict[str, float]:
        """Standard error of the mean of the fold scores, s / sqrt(k); NaN for one fold.

        Folds share training rows, so the true error is somewhat larger.
        """
        errors = standard_errors(np.stack(list(self.scores.values()), axis=1))
        return dict(zip(self.scores, errors.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists, numbers and text."""
        return {
            "learner": self.learner,
            "scores": {name: each.tolist() for name, each in self.scores.items()},
            "mean": self.mean,
            "standard_error": self.standard_error,
            "n_train": self.n_train.tolist(),
            "n_test": self.n_test.tolist(),
            "how": list(self.how),
            "rows": self.rows.tolist(),
            "fold": self.fold.tolist(),
            **_plain_predictions(self),
        }

    def to_text(self) -> str:
        """Return the table of fold scores, with their mean and its standard error."""
        return f"{self._title()}\n{lined_up(self._table())}"

    def _title(self) -> str:
        folds = f"{self.n_folds} fold{'s' * (self.n_folds > 1)}"
        return f"{self.learner}, {folds}, {len(self.rows)} held-out rows"

    def _table(self) -> list[list[str]]:
        names = list(self.scores)
        table = [["fold", "train", "test", "by", *names]]
        for k, how in enumerate(self.how):
            sizes = [str(k), str(self.n_train[k]), str(self.n_test[k]), how]
            table.append([*sizes, *(shown_number(self.scores[name][k]) for name in names)])
        table.append(["mean", "", "", "", *map(shown_number, self.mean.values())])
        table.append(["std. error", "", "", "", *map(shown_number, self.standard_error.values())])
        return table

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return html_table(self._title(), self._table())


@dataclass(frozen=True, eq=False)
class BruteForceError:
    """Errors of leave-one-out estimates against refits, for some rows.

    Parameters
    ----------
    rows : ndarray of int, shape (m,)
        Rows that were left out and refitted, drawn from those that were not.
    errors : ndarray, shape (m,)
        Absolute error of the decision score or the predicted number; the largest of several.
    changed : int
        Number of predicted classes that differ from those of the refits.
    """

    rows: NDArray[np.intp]
    errors: Floats
    changed: int

    @property
    def largest(self) -> float:
        """The largest error."""
        return float(self.errors.max())

    @property
    def typical(self) -> float:
        """The median error."""
        return float(np.median(self.errors))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists and numbers."""
        return {
            "rows": self.rows.tolist(),
            "errors": self.errors.tolist(),
            "largest": self.largest,
            "typical": self.typical,
            "changed": self.changed,
        }

    def to_text(self) -> str:
        """Return one sentence."""
        return (
            f"Compared with refits for {len(self.rows)} rows: median error {self.typical:.1e}, "
            f"largest {self.largest:.1e}; {self.changed} predicted classes differ."
        )


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOneOutValidation:
    """Leave-one-out scores, and the prediction of every row by the fit to all others.

    Parameters
    ----------
    learner : str
        The class of the estimator.
    scores : dict of str to float
        By scorer, over the predictions for all rows together.
    standard_error : dict of str to float
        For scores that are means over rows: accuracy, mean squared and mean absolute error; NaN
        for the others.
    row_scores : dict of str to ndarray, shape (n,)
        Those scores, row by row.
    n_refits : int
        Number of refits; the predictions of the other rows follow from one fit to all rows.
    estimated : ndarray of int
        Rows whose predictions are estimates from one fit. All others equal those of refits, up to
        rounding and the tolerance of the learner.
    refitted : ndarray of int
        Rows that were refitted because their estimate was doubtful or impossible; empty if all n
        fits were made.
    doubtful : ndarray of int
        Estimated rows with a large possible error: more than ``max_refits`` were doubtful.
    brute_force_error : BruteForceError or None
        Comparison with refits of ``check`` rows.
    predictions : ndarray, shape (n,) or (n, t)
    decision_scores : ndarray, shape (n,) or (n, K), or None
    probabilities : ndarray, shape (n, K), or None
    classes : ndarray, shape (K,), or None
    """

    learner: str
    scores: Mapping[str, float]
    standard_error: Mapping[str, float]
    row_scores: Mapping[str, Floats]
    n_refits: int
    estimated: NDArray[np.intp]
    refitted: NDArray[np.intp]
    doubtful: NDArray[np.intp]
    brute_force_error: BruteForceError | None
    predictions: NDArray[Any]
    decision_scores: Floats | None
    probabilities: Floats | None
    classes: NDArray[Any] | None

    @property
    def approximate(self) -> bool:
        """Whether any prediction is an estimate."""
        return len(self.estimated) > 0

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists, numbers and text."""
        error = self.brute_force_error
        return {
            "learner": self.learner,
            "scores": dict(self.scores),
            "standard_error": dict(self.standard_error),
            "row_scores": {name: each.tolist() for name, each in self.row_scores.items()},
            "n_refits": self.n_refits,
            "approximate": self.approximate,
            "estimated": self.estimated.tolist(),
            "refitted": self.refitted.tolist(),
            "doubtful": self.doubtful.tolist(),
            "brute_force_error": None if error is None else error.to_dict(),
            **_plain_predictions(self),
        }

    def to_text(self) -> str:
        """Return the scores with their standard errors, and which are estimates."""
        table = [["score", "value", "std. error"]]
        for name, value in self.scores.items():
            table.append([name, shown_number(value), shown_number(self.standard_error[name])])
        n = len(self.predictions)
        fits = "no refit" if self.n_refits == 0 else f"{self.n_refits} refits"
        if self.approximate:
            fits = f"{len(self.estimated)} of them estimated from one fit, {fits}"
        text = f"{self.learner}, each of {n} rows left out once, {fits}\n{lined_up(table)}"
        if len(self.doubtful):
            text += (
                f"\n{len(self.doubtful)} rows have a doubtful estimate and were not refitted. A "
                "larger max_refits refits more."
            )
        if self.brute_force_error is not None:
            text += f"\n{self.brute_force_error.to_text()}"
        return text

    def __repr__(self) -> str:
        return self.to_text()


def _plain_predictions(result: CrossValidation | LeaveOneOutValidation) -> dict[str, Any]:
    names = ("predictions", "decision_scores", "probabilities", "classes")
    arrays = {name: getattr(result, name) for name in names}
    return {name: None if each is None else each.tolist() for name, each in arrays.items()}


def shown_number(value: float) -> str:
    """Return a number with six digits; nothing for NaN."""
    return "" if math.isnan(value) else f"{value:.6g}"


#: Significance level of differences.
SIGNIFICANCE = 0.05


def variance_factor(repeats: int, test_per_train: float) -> float:
    """Return the variance of a mean over splits, relative to that of one split.

    Splits share training rows, so their scores are correlated: the factor is not 1 / repeats but
    1 / repeats + n_test / n_train (Nadeau and Bengio, Inference for the generalization error,
    Machine Learning 52, 2003).
    """
    return 1.0 / repeats + test_per_train


def _corrected_error(apart: Floats, test_per_train: float) -> float:
    """Return the standard error of the mean difference over splits; NaN for one split."""
    if len(apart) < 2:
        return math.nan
    return float(np.std(apart, ddof=1)) * math.sqrt(variance_factor(len(apart), test_per_train))


def p_value(apart: Floats, test_per_train: float) -> float:
    """Return the two-sided p-value of the mean difference over splits; NaN for one split.

    Student's t with one degree of freedom less than splits.
    """
    mean, error = float(np.mean(apart)), _corrected_error(apart, test_per_train)
    if math.isnan(error):
        return math.nan
    if error == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return float(2.0 * stdtr(len(apart) - 1, -abs(mean) / error))
