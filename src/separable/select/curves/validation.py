"""Validation curves: performance against one parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.fitting.best_candidate import best_index, one_standard_error_index, standard_errors
from separable.fitting.scorers import MetricScorer, metric_scorer
from separable.model.words import lined_up
from separable.select.comparison import check_one_score, metric_of
from separable.select.grid_search import penalties_of, search
from separable.select.results import shown_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.typing import Floats


__all__ = ["ValidationCurve", "validation_curve"]


@dataclass(frozen=True, eq=False, repr=False)
class ValidationCurve:
    """Cross-validated scores by the value of one parameter.

    Parameters
    ----------
    learner : str
        The class of the estimator.
    name : str
        The parameter.
    values : tuple
        Its V values, in the order given.
    metric : str
        Name of the score.
    greater_is_better : bool
    scores : ndarray, shape (V, folds)
    train_scores : ndarray, shape (V, folds), or None
        Scores on the training rows of each fold, if requested.
    how : tuple of str
        For each value "lanes", "sums", "refit" or "mixed".
    best_index : int
        Index of the best mean; ties go to the simplest value if that is known, else to the first.
    one_se_index : int or None
        Index of the simplest value whose mean is within one standard error of the best; None
        if it is unknown which values are simpler.
    """

    learner: str
    name: str
    values: tuple[Any, ...]
    metric: str
    greater_is_better: bool
    scores: Floats
    train_scores: Floats | None
    how: tuple[str, ...]
    best_index: int
    one_se_index: int | None

    @property
    def mean(self) -> Floats:
        """Mean score over the folds for each value, (V,)."""
        mean: Floats = self.scores.mean(axis=1)
        return mean

    @property
    def standard_error(self) -> Floats:
        """Standard errors of the means, s / sqrt(folds); NaN for one fold."""
        return standard_errors(self.scores.T)

    @property
    def best(self) -> Any:
        """The value with the best mean score."""
        return self.values[self.best_index]

    @property
    def one_se(self) -> Any:
        """The simplest value within one standard error of the best; None: not known."""
        return None if self.one_se_index is None else self.values[self.one_se_index]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists, numbers and text; values as they were given."""
        own = self.train_scores
        return {
            "learner": self.learner,
            "name": self.name,
            "values": list(self.values),
            "metric": self.metric,
            "greater_is_better": self.greater_is_better,
            "scores": self.scores.tolist(),
            "train_scores": None if own is None else own.tolist(),
            "mean": self.mean.tolist(),
            "standard_error": self.standard_error.tolist(),
            "how": list(self.how),
            "best": self.best,
            "one_se": self.one_se,
        }

    def to_text(self) -> str:
        """Return a table of the values and their mean scores, with the selected values marked."""
        own = self.train_scores
        table = [
            [self.name, "by", *(["training"] if own is not None else []), "mean", "std. error"]
        ]
        table[0].append("")
        for k, value in enumerate(self.values):
            figures = [] if own is None else [float(own[k].mean())]
            figures += [float(self.mean[k]), float(self.standard_error[k])]
            marks = ["best"] * (k == self.best_index) + ["1-SE"] * (k == self.one_se_index)
            shown = [shown_number(each) for each in figures]
            table.append([str(value), self.how[k], *shown, ", ".join(marks)])
        folds = f"{self.scores.shape[1]} fold{'s' * (self.scores.shape[1] > 1)}"
        return f"{self.learner}, {self.metric} by {self.name}, {folds}\n{lined_up(table)}"

    def __repr__(self) -> str:
        return self.to_text()


def validation_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    name: str,
    values: Sequence[Any],
    cv: Any = 5,
    scoring: Any = None,
    simpler: str | None = None,
    train_scores: bool = False,
    sample_weight: Any = None,
    groups: Any = None,
    score_weight: Any = None,
    n_jobs: int | None = None,
    shuffle: bool = False,
    random_state: int = 0,
) -> ValidationCurve:
    """Cross-validate an estimator for many values of one parameter.

    Folds, scores and cost are those of `search`: all C of a certified learner are lanes of one
    pass, all alpha of a moment learner are solved from the same sums.

    Parameters
    ----------
    estimator : estimator
        Any estimator with ``fit`` and ``predict``, also a pipeline. It is not modified.
    X : array-like, sparse matrix or data frame of shape (n, d)
    y : array-like of shape (n,) or (n, t)
    name : str
        The parameter, such as "C", or "step__C" of a pipeline.
    values : sequence
        At least one.
    cv : int, splitter or iterable of (train, test), default 5
        As in `cross_validate`.
    scoring : str, callable or None, default None
        A name of ``separable.model.metrics.METRICS``, in its own direction, or one of
        scikit-learn's scorers. None: accuracy, R2, or the estimator's own score.
    simpler : {"smaller", "larger"} or None, default None
        Which values give simpler models, for the one-standard-error rule. None: smaller C, larger
        alpha, unknown for other parameters.
    train_scores : bool, default False
        Also score the training rows of each fold; scores well above those of the held-out rows
        indicate overfitting.
    sample_weight : array-like of shape (n,), optional
        For training only.
    groups : array-like of shape (n,), optional
        Rows of one group are held out together, by a number of folds and by splitters of groups.
    score_weight : array-like of shape (n,), optional
        Weights of the rows in scores.
    n_jobs : int or None, default None
        Number of threads for lanes; None: as set in the estimator.
    shuffle : bool, default False
        Shuffle the rows before a number of folds is made. Otherwise folds follow the order of the
        rows, and an `OrderedRowsWarning` says if that is the order of y.
    random_state : int, default 0
        Seed of the shuffle.

    Returns
    -------
    ValidationCurve

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from separable import Ridge
    >>> from separable.select import validation_curve
    >>> X, y = load_diabetes(return_X_y=True)
    >>> values = [0.001, 0.01, 0.1, 1.0]
    >>> curve = validation_curve(Ridge(), X, y, name="alpha", values=values, train_scores=True)
    >>> curve
    Ridge, r2 by alpha, 5 folds
    alpha    by  training      mean  std. error
    0.001  sums  0.519...  0.482...   0.0245...  best
    0.01   sums  0.518...  0.481...   0.0242...
    0.1    sums  0.513...  0.479...   0.0236...  1-SE
    1.0    sums  0.435...  0.410...   0.0224...
    >>> curve.best, curve.one_se
    (0.001, 0.1)
    """
    tried = _tried(name, values)
    check_one_score(scoring)
    order = _simplicity(name, tried, simpler)
    scorer = metric_scorer(scoring, y)
    result = search(
        estimator,
        {name: tried},
        X,
        y,
        cv,
        scorer,
        refit=False,
        sample_weight=sample_weight,
        groups=groups,
        score_weight=score_weight,
        n_jobs=n_jobs,
        return_train_score=train_scores,
        shuffle=shuffle,
        random_state=random_state,
    )
    table, folds = result.cv_results_, range(result.n_splits_)
    scores = np.stack([table[f"split{k}_test_score"] for k in folds], axis=1)
    own = (
        np.stack([table[f"split{k}_train_score"] for k in folds], axis=1) if train_scores else None
    )
    mean = scores.mean(axis=1)
    best, one_se = int(mean.argmax()), None
    if order is not None:
        best = best_index(mean, order)
        one_se = one_standard_error_index(mean, standard_errors(scores.T), order)
    metric, better = metric_of(scorer, estimator)
    sign = scorer.sign if isinstance(scorer, MetricScorer) else 1.0
    return ValidationCurve(
        learner=type(estimator).__name__,
        name=name,
        values=tuple(tried),
        metric=metric,
        greater_is_better=better,
        scores=sign * scores,
        train_scores=None if own is None else sign * own,
        how=result.how_,
        best_index=best,
        one_se_index=one_se,
    )


def _tried(name: str, values: Any) -> list[Any]:
    """Return the values of the parameter as a list."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ValueError(f"values must be a list of values of {name}. Got {values!r}.")
    tried = list(values)
    if not tried:
        raise ValueError("values is empty. Give at least one value of the parameter.")
    return tried


def _simplicity(name: str, values: list[Any], simpler: str | None) -> Floats | None:
    """Return a measure that grows as models become simpler; None: unknown."""
    if simpler is None:
        return penalties_of({name: values})
    if simpler not in ("smaller", "larger"):
        raise ValueError(f"simpler must be 'smaller', 'larger' or None. Got {simpler!r}.")
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"simpler={simpler!r} compares numbers, but some values are not numbers: {values!r}. "
            "Leave simpler out."
        ) from None
    return numbers if simpler == "larger" else -numbers
