"""Rows scored by a model, with true targets and raw values, and those with the largest errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.columns import Categories, as_columns
from separable.data.rows import as_rows
from separable.data.table import require_columns
from separable.errors import Absent
from separable.model.explain.explanation_text import highlighted_texts
from separable.model.files.training_rows import NOT_RECORDED
from separable.model.linear_model import LinearModel
from separable.model.metrics.metric_registry import predictions_of
from separable.model.predict.inputs import encoded_rows
from separable.model.voted.voted_model import VotedModel
from separable.model.words import cell_text, label_value, number
from separable.report.contents import HardRow, Mark
from separable.workflow.scored_rows import ScoredRows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from separable.model.explain.explanation import Explanation, Terms
    from separable.model.explain.explanation_text import HighlightedText
    from separable.model.files.training_rows import TrainingRows
    from separable.model.kinds import Model
    from separable.typing import Floats


__all__ = [
    "MOST",
    "Fitted",
    "ScoredRows",
    "hard_rows",
    "seen_in_training",
    "target_name",
]


#: Maximum rows, and raw values and contributions per row.
MOST, VALUES, CONTRIBUTIONS = 10, 12, 8

#: Maximum characters of a text: the span with the largest contributions is shown.
LONGEST = 1200

SEVERAL = "The model predicts several numbers per row, which are not compared here."


def seen_in_training(scored: ScoredRows, known: TrainingRows | None) -> dict[str, Any]:
    """Return whether a model was trained on rows, and a note about it, for `Measured`.

    Parameters
    ----------
    scored : JudgedRows
    known : TrainingRows or None
        The training rows of the model, if known.
    """
    if known is None:
        return {"is_new": None, "caution": NOT_RECORDED}
    result = known.find(scored.rows)
    return {"is_new": result.is_new, "seen": result.seen, "caution": result.text() or None}


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted estimator and its linear model.

    Parameters
    ----------
    estimator : estimator, LinearModel or VotedModel
    model : LinearModel or VotedModel
    is_own : bool
        Whether model and estimator agree, including probabilities.
    """

    estimator: Any
    model: Model
    is_own: bool

    @classmethod
    def of(cls, given: Any) -> Fitted:
        """Return the estimator to report on; for a search, the best one."""
        from separable.plot.style.fitted_models import best_of, linear_model

        fitted = best_of(given)
        own = fitted if isinstance(fitted, LinearModel | VotedModel) else None
        if own is None:
            own = getattr(fitted, "model_", None)
        if isinstance(own, LinearModel | VotedModel):
            return cls(fitted, own, is_own=True)
        return cls(fitted, linear_model(fitted), is_own=False)

    @property
    def learner(self) -> Any:
        """The estimator that takes encoded rows; None for a bare model."""
        last = self.estimator[-1] if self._is_pipeline else self.estimator
        last = getattr(last, "learner_", last)
        return last if hasattr(last, "fit") else None

    @property
    def _is_pipeline(self) -> bool:
        from separable.plot.style.fitted_models import is_pipeline

        return is_pipeline(self.estimator)

    def scored(self, X: Any, y: Any, sample_weight: Any = None) -> ScoredRows:
        """Return rows with true targets and predictions.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, table or texts
            Input of the estimator.
        y : array-like, or str
            True targets, or the name of their column in X.
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
            predictions = ask(self.estimator, X)
        if y_true.shape[:1] != (rows.n_rows,):
            raise ValueError(f"y has shape {y_true.shape}, and X has {rows.n_rows} rows.")
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        row_indices = np.arange(rows.n_rows)
        raw = self._raw(X)
        return ScoredRows(self.model, rows, y_true, predictions, row_indices, weight, raw)

    def _true_values(self, X: Any, y: Any) -> Any:
        from separable.workflow.target import column_of_classes, column_of_numbers

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
        """Return a function that gives the raw values of a row, if there is an encoder."""
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
    """Return the name of the target."""
    if isinstance(y, str):
        return y
    return str(getattr(fitted.estimator, "target_name_", None) or getattr(y, "name", None) or "y")


def hard_rows(scored: ScoredRows, most: int = MOST) -> tuple[tuple[HardRow, ...] | Absent, str]:
    """Return the rows with the largest errors, the worst first, and a sentence about them.

    For classes these are misclassified rows, ordered by the probability of the true class, or
    without probabilities by the deficit of its score; rows of unknown classes are left out. In
    regression they are the rows with the largest residuals.

    Parameters
    ----------
    scored : JudgedRows
    most : int
        Maximum number of rows.

    Returns
    -------
    rows : tuple of HardRow, or Absent
    about : str
        The number of errors, and which of them these are.
    """
    if scored.predictions.predicted.ndim > 1:
        return Absent(SEVERAL), ""
    has_weight = (
        np.ones(len(scored.y_true), dtype=bool) if scored.weight is None else scored.weight > 0
    )
    if scored.predictions.classes is None:
        short = np.abs(scored.y_true.astype(np.float64) - scored.predictions.predicted)
        order = _first(has_weight, (-short,), most)
        return _taken_apart(scored, order, short, None), f"Of {_rows(int(has_weight.sum()))}, " + (
            "the largest error." if len(order) == 1 else f"the {len(order)} largest errors."
        )
    wrong, known, short, chance = _mistakes(scored)
    keys = (-short,) if chance is None else (-short, chance)  # the last key is the primary one
    order = _first(has_weight & wrong & known, keys, most)
    return _taken_apart(scored, order, short, chance), _about(has_weight, wrong, known, len(order))


def _mistakes(
    scored: ScoredRows,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Floats, Floats | None]:
    """Return masks of wrong rows and known classes, the deficits, and true-class probabilities."""
    from separable.model.metrics.metric_case import ClassCase, case_of

    predictions = scored.predictions
    case = case_of(scored.y_true, predictions)
    assert isinstance(case, ClassCase)
    n = len(case.y_true)
    wrong, known = case.y_true != case.predicted, case.y_true < case.n_known
    y_true = np.where(known, case.y_true, 0)
    short = np.zeros(n)
    if predictions.scores is not None and predictions.scores.ndim == 1:
        short = np.where(wrong, np.abs(predictions.scores), 0.0)
    elif predictions.scores is not None:
        each = np.arange(n)
        short = predictions.scores[each, case.predicted] - predictions.scores[each, y_true]
    chances = predictions.probabilities
    return wrong, known, short, None if chances is None else chances[np.arange(n), y_true]


def _first(chosen: NDArray[np.bool_], keys: tuple[Floats, ...], most: int) -> NDArray[np.intp]:
    """Return the indices of the first chosen rows in the order of the keys."""
    indices = np.flatnonzero(chosen)
    order = np.lexsort([key[indices] for key in keys])
    first: NDArray[np.intp] = indices[order[:most]]
    return first


def _about(
    has_weight: NDArray[np.bool_], wrong: NDArray[np.bool_], known: NDArray[np.bool_], shown: int
) -> str:
    n, mistakes = int(has_weight.sum()), int((has_weight & wrong).sum())
    if not mistakes:
        return f"All {_rows(n)} are classified correctly."
    strange = int((has_weight & ~known).sum())
    sentence = f"{mistakes} of {_rows(n)} {'is' if mistakes == 1 else 'are'} misclassified"
    if strange:
        sentence += f", {strange} of them because the model does not know their class"
    if not shown:
        return f"{sentence}."
    if shown == mistakes - strange:
        return f"{sentence}: the most confident errors first."
    return f"{sentence}; these are the {shown} most confident errors."


def _rows(n: int) -> str:
    return f"{n} row{'s' * (n != 1)}"


def _taken_apart(
    scored: ScoredRows, indices: NDArray[np.intp], short: Floats, chance: Floats | None
) -> tuple[HardRow, ...]:
    """Return rows with the contributions to their scores."""
    if not len(indices):
        return ()
    explanation, labels = scored.model.explain(scored.rows.take(indices)), scored.labels()
    result = []
    for index, one in zip(indices.tolist(), explanation, strict=True):
        raw = {} if scored.raw is None else scored.raw(index)
        predicted, sign = label_value(scored.predictions.predicted[index]), 1.0
        classes = scored.model.classes
        if classes is not None and len(classes) == 2 and predicted == label_value(classes[0]):
            sign = -1.0  # a single score is that of the second class
        terms = one.terms()
        texts = _texts(one, terms, raw, sign)
        result.append(
            HardRow(
                row=int(scored.row_indices[index]) + 1,
                y_true=label_value(labels[index]),
                predicted=predicted,
                probability=None if chance is None else float(chance[index]),
                margin=float(short[index]),
                values=_values(one, terms, raw, {name for name, _, _ in texts}),
                contributions=tuple(
                    (term.feature, sign * term.contribution) for term in terms.shown[:CONTRIBUTIONS]
                ),
                texts=texts,
            )
        )
    return tuple(result)


def _values(
    one: Explanation, terms: Terms, raw: Mapping[str, Any], texts: set[str]
) -> tuple[tuple[str, str], ...]:
    """Return raw values by contribution; without an encoder the values of the features."""
    if one.model.encoder is None or not raw:
        return tuple((term.feature, number(term.value)) for term in terms.shown[:VALUES])
    adds = {name: abs(float(part[0])) for name, part in one.by_column().items()}
    names = sorted((name for name in adds if name in raw), key=lambda name: -adds[name])
    shown = [name for name in names if name not in texts][:VALUES]
    return tuple((name, cell_text(raw[name])) for name in shown)


def _texts(
    one: Explanation, terms: Terms, raw: Mapping[str, Any], sign: float
) -> tuple[tuple[str, str, tuple[Mark, ...]], ...]:
    """Return columns of free text with their important words."""
    given = {name: value for name, value in raw.items() if isinstance(value, str)}
    return tuple(
        (highlighted.column, *_shortened(highlighted, sign))
        for highlighted in highlighted_texts(one, terms, given)
    )


def _shortened(highlighted: HighlightedText, sign: float) -> tuple[str, tuple[Mark, ...]]:
    """Return a text and its marks; a long text is cut to its most important span."""
    marks = highlighted.marked()
    start, stop = 0, len(highlighted.text)
    if stop > LONGEST:
        start = _strongest_stretch(highlighted)
        stop = start + LONGEST
    begin = "... " if start else ""
    text = begin + highlighted.text[start:stop] + (" ..." if stop < len(highlighted.text) else "")
    shift = len(begin) - start
    return text, tuple(
        Mark(span.start + shift, span.end + shift, sign * fraction)
        for span, fraction in marks
        if start <= span.start and span.end <= stop
    )


def _strongest_stretch(highlighted: HighlightedText) -> int:
    """Return the start of the span with the largest contributions, at the start of a word."""
    spans = highlighted.spans or []
    if not spans:
        return 0
    starts, ends = np.array([(span.start, span.end) for span in spans]).T
    sums = np.concatenate([[0.0], np.cumsum(np.abs(highlighted.contributions))])
    last = np.searchsorted(ends, starts + LONGEST, side="right")
    best = int((sums[last] - sums[np.arange(len(spans))]).argmax())
    full = int(
        np.searchsorted(starts, len(highlighted.text) - LONGEST)
    )  # later spans would be shorter
    best = min(best, full)
    return 0 if best == 0 else int(starts[best])
