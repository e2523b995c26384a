"""Rows scored by a model, with true targets and raw values: from a model or a fitted estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.columns import Categories, as_columns
from separable.data.rows import as_rows
from separable.data.table import require_columns
from separable.model.files.training_rows import NOT_RECORDED
from separable.model.linear_model import LinearModel
from separable.model.metrics.metric_registry import Answers, predictions_of
from separable.model.predict.inputs import encoded_rows
from separable.model.voted.voted_model import VotedModel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.model.files.training_rows import TrainingRows
    from separable.model.kinds import Model


__all__ = ["Fitted", "ScoredRows", "seen_in_training", "target_name"]


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with their truth, and the predictions of a model for them.

    Parameters
    ----------
    model : LinearModel or VotedModel
        The one that answers, with its encoder.
    rows : Rows
        As its weights take them.
    y_true : ndarray, shape (n,)
    predictions : Answers
    row_indices : ndarray of int, shape (n,)
        Of the rows in their file or table, counted from 0.
    weight : ndarray, shape (n,), or None
    raw : callable, optional
        Gives the raw values of a row by column, for its place among these rows.
    """

    model: Model
    rows: Rows
    y_true: NDArray[Any]
    predictions: Answers
    row_indices: NDArray[np.integer[Any]]
    weight: NDArray[np.float64] | None = None
    raw: Callable[[int], Mapping[str, Any]] | None = None

    def labels(self) -> NDArray[Any]:
        """Return the truth as labels of one type: those of the model, where it knows them all."""
        from separable.model.metrics.metric_case import ClassCase, case_of

        if self.predictions.classes is None:
            return self.y_true
        case = case_of(self.y_true, self.predictions)
        assert isinstance(case, ClassCase)
        known: NDArray[Any] = self.predictions.classes
        if case.y_true.max(initial=0) >= case.n_known:
            known = np.array([str(label) for label in case.labels])
        return known[case.y_true]


def seen_in_training(scored: ScoredRows, known: TrainingRows | None) -> dict[str, Any]:
    """Return whether a model was trained on rows, and what to say of it, for `Measured`.

    Parameters
    ----------
    scored : JudgedRows
    known : TrainingRows or None
        The rows that the model was trained on, where they are known.
    """
    if known is None:
        return {"is_new": None, "caution": NOT_RECORDED}
    result = known.find(scored.rows)
    return {"is_new": result.is_new, "seen": result.seen, "caution": result.text() or None}


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted estimator, and the linear model that it ends in.

    Parameters
    ----------
    estimator : estimator, LinearModel or VotedModel
    model : LinearModel or VotedModel
    is_own : bool
        Whether the model answers as the estimator does, with probabilities.
    """

    estimator: Any
    model: Model
    is_own: bool

    @classmethod
    def of(cls, given: Any) -> Fitted:
        """Return what is to be reported of: of a search the best estimator."""
        from separable.plot.style.fitted import best_of, linear_model

        fitted = best_of(given)
        own = fitted if isinstance(fitted, LinearModel | VotedModel) else None
        if own is None:
            own = getattr(fitted, "model_", None)
        if isinstance(own, LinearModel | VotedModel):
            return cls(fitted, own, is_own=True)
        return cls(fitted, linear_model(fitted), is_own=False)

    @property
    def learner(self) -> Any:
        """The estimator that learns from rows as the model takes them; None of a bare model."""
        last = self.estimator[-1] if self._is_pipeline else self.estimator
        last = getattr(last, "learner_", last)
        return last if hasattr(last, "fit") else None

    @property
    def _is_pipeline(self) -> bool:
        from separable.plot.style.fitted import is_pipeline

        return is_pipeline(self.estimator)

    def scored(self, X: Any, y: Any, sample_weight: Any = None) -> ScoredRows:
        """Return rows with their truth and the answers.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, table or texts
            As the estimator takes them.
        y : array-like, or str
            The truth, or the name of its column in X.
        sample_weight : array-like, optional
        """
        y_true = np.asarray(self._true_values(X, y))
        if self.is_own:
            rows = encoded_rows(self.model, X)
            predictions = predictions_of(self.model, rows)
        else:
            from separable.fitting.predictions import ask

            prepared = self.estimator[:-1].transform(X) if self._is_pipeline else X
            rows = as_rows(prepared)
            result = ask(self.estimator, X)
            predictions = Answers(
                result.predictions, result.decision, result.probabilities, result.classes
            )
        if y_true.shape[:1] != (rows.n_rows,):
            raise ValueError(f"y has shape {y_true.shape}, and X has {rows.n_rows} rows.")
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        row_indices = np.arange(rows.n_rows)
        raw = self._raw(X)
        return ScoredRows(self.model, rows, y_true, predictions, row_indices, weight, raw)

    def _true_values(self, X: Any, y: Any) -> Any:
        from separable.table.table_learner import column_of_classes, column_of_numbers

        name = getattr(self.estimator, "target_name_", None) if y is None else y
        if name is None:
            raise ValueError(
                "A report needs the true targets: pass them as y, or the name of their column."
            )
        if not isinstance(name, str):
            return name
        columns, numbers = as_columns(X), self.model.classes is None
        require_columns([name], columns.names, "X")
        return (column_of_numbers if numbers else column_of_classes)(columns, name)

    def _raw(self, X: Any) -> Callable[[int], Mapping[str, Any]] | None:
        """Return what gives the raw values of a row, where an encoder made numbers of them."""
        kind = getattr(self.model.encoder, "kind", None)
        if kind == "text" and not isinstance(X, np.ndarray | list | tuple):
            X = list(X)
        if kind == "text":
            return lambda row: {"text": X[row]}
        if kind != "table" or isinstance(X, np.ndarray):
            return None
        encoder: Any = self.model.encoder
        columns = {name: as_columns(X)[name] for name in encoder.column_types}
        return lambda row: {name: _cell(column, row) for name, column in columns.items()}


def _cell(column: Any, row: int) -> Any:
    if isinstance(column, Categories):
        code = int(column.codes[row])
        return None if code < 0 else column.levels[code]
    value = float(column.values[row])
    return None if value != value else value


def target_name(fitted: Fitted, y: Any) -> str:
    """Return what the target is called."""
    if isinstance(y, str):
        return y
    return str(getattr(fitted.estimator, "target_name_", None) or getattr(y, "name", None) or "y")
