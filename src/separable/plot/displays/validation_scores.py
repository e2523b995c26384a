"""Scores by the value of a parameter, read from finished searches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separable.fitting.best_candidate import best_place, one_error_place, standard_errors
from separable.plot.style.curves import simplicity

if TYPE_CHECKING:
    from separable.typing import Floats


__all__ = ["Line", "lines_of_learner", "lines_of_search", "units_of"]


@dataclass(frozen=True, eq=False)
class Line:
    """Scores by the value of one parameter, the larger the better.

    Parameters
    ----------
    label : str
        What sets it apart from other lines; empty for one alone.
    values : ndarray, shape (V,)
        Ascending.
    mean, standard_error : ndarray, shape (V,)
    """

    label: str
    values: Floats
    mean: Floats
    standard_error: Floats

    def best(self, name: str) -> int:
        """Return the place of the best mean; of those that tie, the simplest model's."""
        simple = simplicity(name, self.values)
        return best_place(self.mean, -self.values if simple is None else simple)

    def one_error(self, name: str) -> int | None:
        """Return the place of the simplest model within a standard error of the best.

        None where it is not known which values make a model simpler, or there is no error.
        """
        simple, best = simplicity(name, self.values), self.best(name)
        if simple is None or not np.isfinite(self.standard_error[best]):
            return None
        return one_error_place(self.mean, self.standard_error, simple)


def units_of(scoring: str | None) -> tuple[str, float]:
    """Return what a score is called, and the sign that makes it so: errors are shown positive."""
    if scoring is None:
        return "score", 1.0
    if scoring.startswith("neg_"):
        return scoring[4:].replace("_", " "), -1.0
    return scoring.replace("_", " "), 1.0


def sorted_line(label: str, values: Any, mean: Floats, error: Floats) -> Line:
    """Return a line in ascending order of its values."""
    numbers = np.asarray(values, dtype=np.float64)
    order = np.argsort(numbers, kind="stable")
    return Line(label, numbers[order], mean[order], error[order])


def lines_of_learner(learner: Any) -> tuple[str, list[Line], str | None]:
    """Return the parameter, the lines and the score of a learner that tuned itself."""
    table = getattr(learner, "cv_results_", None)
    name = None
    if isinstance(table, dict) and "mean_score" in table:
        name = next((each for each in ("C", "alpha") if each in table), None)
    if name is None or table is None:
        if hasattr(learner, "fit"):
            check_is_fitted(learner)
        raise TypeError(
            f"This {type(learner).__name__} has no cross-validated scores. Pass a fitted learner "
            "that searches its regularization, such as separable.LogisticRegressionCV or "
            "separable.LassoCV, or a search to from_search."
        )
    error = np.asarray(table["standard_error"], dtype=np.float64)
    ratios = np.asarray(table.get("l1_ratio", np.zeros(len(error))))
    lines = []
    for ratio in np.unique(ratios):
        one = ratios == ratio
        label = "" if len(np.unique(ratios)) == 1 else f"l1_ratio = {ratio:g}"
        lines.append(sorted_line(label, table[name][one], table["mean_score"][one], error[one]))
    return name, lines, dict(learner.evidence_).get("scoring")


def lines_of_search(
    search: Any, name: str | None, scoring: str | None = None
) -> tuple[str, list[Line], str | None]:
    """Return the same of a search over any parameters, and one of its scores."""
    if hasattr(search, "fit"):
        check_is_fitted(search)
    table = search.cv_results_
    metric = _metric_of(search, scoring)
    mean = table[f"mean_test_{metric}"]
    columns = {key[6:]: table[key] for key in table if key.startswith("param_")}
    name = _axis_of(columns, name)
    scores = np.array([table[f"split{k}_test_{metric}"] for k in range(search.n_splits_)])
    error = standard_errors(scores)
    others = [key for key in columns if key != name and len(set(map(str, columns[key]))) > 1]
    labels = np.array([_label(columns, others, k) for k in range(len(error))])
    values = np.ma.filled(columns[name].astype(np.float64), np.nan)
    lines = []
    for label in dict.fromkeys(labels.tolist()):
        one = (labels == label) & np.isfinite(mean) & ~np.isnan(values)
        if one.any():
            lines.append(sorted_line(label, values[one], mean[one], error[one]))
    return name, lines, _scoring_of(search, metric)


def _metric_of(search: Any, scoring: str | None) -> str:
    """Return the score to draw: that asked for, or the one that decided."""
    metrics: list[str] = [key[10:] for key in search.cv_results_ if key.startswith("mean_test_")]
    if scoring is not None:
        if scoring not in metrics:
            raise ValueError(
                f"scoring={scoring!r} is not a score of the search. Scores: {metrics}."
            )
        return scoring
    decided = getattr(search, "refit", None) or getattr(search, "_scored", metrics)[0]
    return next((each for each in metrics if each == decided), metrics[0])


def _label(columns: dict[str, Any], names: list[str], k: int) -> str:
    """Return the label of candidate k: the parameters in which lines differ."""
    last = [name.rpartition("__")[2] for name in names]
    words = dict(zip(names, last if len(set(last)) == len(last) else names, strict=True))
    mask = [name for name in names if columns[name][k] is not np.ma.masked]
    parts = [f"{words[name]} = {columns[name][k]}" for name in mask]
    return ", ".join(parts) or "nothing else set" * bool(names)


def _axis_of(columns: dict[str, Any], name: str | None) -> str:
    """Return the parameter of the axis: that asked for, or the one with most different numbers."""
    numbers = {key: _count_of_numbers(column) for key, column in columns.items()}
    able = [key for key, count in numbers.items() if count]
    if name is not None and name not in able:
        raise ValueError(
            f"The search has no numeric values of {name!r}. Numeric parameters: {able}."
        )
    if not able:
        raise ValueError(
            f"The search varies no numeric parameter, only {list(columns)}, so there is no curve. "
            "cv_results_ has the scores as a table."
        )
    return name if name is not None else max(able, key=lambda key: numbers[key])


def _count_of_numbers(column: Any) -> int:
    values = np.ma.asarray(column).compressed().tolist()
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return 0
    return len(set(values))


def _kind_of(learner: Any) -> str:
    from sklearn.base import is_classifier, is_regressor

    return "classifier" if is_classifier(learner) else "regressor" if is_regressor(learner) else ""


def _scoring_of(search: Any, metric: str) -> str | None:
    if metric != "score":
        return metric
    scoring = getattr(search, "scoring", None)
    if isinstance(scoring, str):
        return scoring
    learner = getattr(search, "best_estimator_", getattr(search, "estimator", None))
    scorer = search.scorer_
    named = getattr(getattr(scorer, "_score_func", None), "__name__", None)
    if named is None:  # the estimator's own
        return {"classifier": "accuracy", "regressor": "r2"}.get(_kind_of(learner))
    sign = getattr(scorer, "_sign", 1)
    return f"neg_{named}" if sign < 0 else named.removesuffix("_score")
