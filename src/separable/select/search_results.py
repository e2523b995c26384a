"""Results of a search: the table of scikit-learn's ``GridSearchCV``, and the best estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.estimator import available_if
from separable.model.words import lined_up
from separable.select.results import shown_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from separable.select.cross_validation import FoldResult

__all__ = ["Search", "results_table"]

#: Rows of the table that are shown.
SHOWN = 20


def _best_has(method: str) -> Any:
    def check(search: Search) -> bool:
        return hasattr(search.best_estimator_, method)

    return check


class Search:
    """Scores of all candidates, and the best one refitted to all rows.

    Attributes
    ----------
    cv_results_ : dict of ndarray
        As of ``GridSearchCV``: ``params``, ``param_<name>``, ``split<k>_test_<score>``,
        ``mean_test_<score>``, ``std_test_<score>``, ``rank_test_<score>``, and times of fitting
        and scoring; candidates that were learned together share their time evenly. With
        ``return_train_score`` also ``split<k>_train_<score>`` and the like.
    how_ : tuple of str
        For each candidate "lanes", "sums" or "refit", or "mixed" where its folds differ in that.
    best_index_, best_params_, best_score_
        The candidate of the best mean score, or the one that ``select`` chose.
    best_estimator_ : estimator
        Fitted to all rows, unless ``refit=False``.
    scorer_ : callable, or dict of callable
    n_splits_ : int
    refit_time_ : float
        Seconds.
    multimetric_ : bool
    """

    def __init__(self, **results: Any) -> None:
        for name, value in results.items():
            setattr(self, name, value)

    cv_results_: dict[str, Any]
    how_: tuple[str, ...]
    scorer_: Any
    n_splits_: int
    multimetric_: bool
    best_index_: int
    best_params_: dict[str, Any]
    best_score_: float
    best_estimator_: Any
    refit_time_: float
    _learner: str
    _scored: tuple[str, ...]

    def __getattr__(self, name: str) -> Any:
        if name in ("best_estimator_", "refit_time_"):
            raise AttributeError(f"There is no {name}: the search was made with refit=False.")
        if name in ("best_index_", "best_params_", "best_score_"):
            raise AttributeError(
                f"There is no {name}: of several scores, refit has to name the one that decides."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions of the best estimator."""
        predictions: NDArray[Any] = self.best_estimator_.predict(X)
        return predictions

    @available_if(_best_has("decision_function"))
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the best estimator."""
        scores: NDArray[np.float64] = self.best_estimator_.decision_function(X)
        return scores

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the best estimator."""
        probabilities: NDArray[np.float64] = self.best_estimator_.predict_proba(X)
        return probabilities

    @available_if(_best_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the log-probabilities of the best estimator."""
        probabilities: NDArray[np.float64] = self.best_estimator_.predict_log_proba(X)
        return probabilities

    def score(self, X: Any, y: Any) -> float:
        """Return the selecting score of the best estimator on other rows."""
        scorer = self.scorer_[self._scored[0]] if self.multimetric_ else self.scorer_
        return float(scorer(self.best_estimator_, X, y))

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes of the best estimator."""
        classes: NDArray[Any] = self.best_estimator_.classes_
        return classes

    def to_text(self) -> str:
        """Return the candidates from best to worst, with their scores."""
        table, name = self.cv_results_, self._scored[0]
        columns = [key for key in table if key.startswith("param_")]
        lines = [["rank", "by", *(key[6:] for key in columns), f"mean {name}", "std"]]
        order = np.argsort(table[f"rank_test_{name}"], kind="stable")
        for k in order[:SHOWN]:
            values = [str(table[key][k]) for key in columns]
            figures = [shown_number(table[f"{part}_test_{name}"][k]) for part in ("mean", "std")]
            lines.append([str(table[f"rank_test_{name}"][k]), self.how_[k], *values, *figures])
        n, more = len(order), "" if len(order) <= SHOWN else f"\n... and {len(order) - SHOWN} more"
        title = f"{self._learner}, {n} candidate{'s' * (n > 1)}, {self.n_splits_} folds"
        return f"{title}\n{lined_up(lines)}{more}"

    def __repr__(self) -> str:
        return self.to_text()


def results_table(
    candidates: Sequence[Mapping[str, Any]],
    results: Sequence[Sequence[FoldResult]],
    names: Sequence[str],
) -> dict[str, Any]:
    """Return ``cv_results_``.

    Parameters
    ----------
    candidates : sequence of dict
        The parameters of each.
    results : sequence of sequence of FoldResult
        By candidate and fold.
    names : sequence of str
        The scores, as the table names them.
    """
    table: dict[str, Any] = {}
    for key in ("fit_time", "score_time"):
        times = np.array([[getattr(fold, key) for fold in folds] for folds in results])
        table[f"mean_{key}"], table[f"std_{key}"] = times.mean(axis=1), times.std(axis=1)
    for name in sorted({name for each in candidates for name in each}):
        table[f"param_{name}"] = _column(name, candidates)
    table["params"] = [dict(each) for each in candidates]
    for index, name in enumerate(names):
        scores = np.array(
            [[list(fold.scores.values())[index] for fold in each] for each in results]
        )
        for k, column in enumerate(scores.T):
            table[f"split{k}_test_{name}"] = column
        mean = scores.mean(axis=1)
        table[f"mean_test_{name}"], table[f"std_test_{name}"] = mean, scores.std(axis=1)
        worst = np.where(np.isnan(mean), -np.inf, mean)
        table[f"rank_test_{name}"] = _ranks(worst)
    if results[0][0].train_scores:
        _add_train_scores(table, results, names)
    return table


def _add_train_scores(
    table: dict[str, Any], results: Sequence[Sequence[FoldResult]], names: Sequence[str]
) -> None:
    """Add the scores on the training rows of the folds."""
    for index, name in enumerate(names):
        scores = np.array(
            [[list(fold.train_scores.values())[index] for fold in each] for each in results]
        )
        for k, column in enumerate(scores.T):
            table[f"split{k}_train_{name}"] = column
        table[f"mean_train_{name}"] = scores.mean(axis=1)
        table[f"std_train_{name}"] = scores.std(axis=1)


def _column(name: str, candidates: Sequence[Mapping[str, Any]]) -> np.ma.MaskedArray[Any, Any]:
    """Return the values of a parameter; masked where a candidate leaves it as it was."""
    values = [each.get(name) for each in candidates]
    kinds = {type(value) for value in values}
    plain = kinds <= {int, float} or kinds == {bool} or kinds == {str}
    filled: NDArray[Any] = np.empty(len(values), dtype=np.object_)
    filled[:] = values
    column: NDArray[Any] = np.array(values) if plain else filled
    return np.ma.MaskedArray(column, mask=[name not in each for each in candidates])


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return 1 for the highest score; equal scores share the best rank."""
    return (np.searchsorted(np.sort(-scores), -scores) + 1).astype(np.int32)
