"""Explanations: exact contributions of features to scores."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import Rows
from separable.data.strings import groups_of
from separable.model.predict.probability import classes_of, predicted_numbers
from separable.model.predict.scores import row_blocks
from separable.model.words import feature_name, label_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from separable.model.kinds import Model


__all__ = ["Explanation", "Term", "Terms"]


@dataclass(frozen=True)
class Term:
    """Contribution of one feature to a score: weight x value.

    Parameters
    ----------
    feature : str
    value, weight, contribution : float
    raw : str, optional
        Value in the raw table, if an encoder changed it and the name does not say it.
    source : str, optional
        Raw column, if there is an encoder.
    """

    feature: str
    value: float
    weight: float
    contribution: float
    raw: str | None = None
    source: str | None = None

    @property
    def name(self) -> str:
        """The feature, with its raw value if there is one: ``age 39``."""
        return self.feature if self.raw is None else f"{self.feature} {self.raw}"


@dataclass(frozen=True)
class Terms:
    """Decomposition of a score: score = intercept + shown terms + other terms.

    Parameters
    ----------
    label : object
        Class of this score (the second of two classes), or the index of the target.
    predicted : object
        Predicted class, or in regression the predicted number.
    score, intercept : float
    shown : tuple of Term
        Largest contributions in descending order, without zeros.
    other_count, other_contribution : int, float
        Number and total contribution of the features that are not shown.
    """

    label: Any
    predicted: Any
    score: float
    intercept: float
    shown: tuple[Term, ...]
    other_count: int
    other_contribution: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Contributions of the features to the scores of rows.

    For every row and score, |intercept + sum of contributions - score| is at most 1e-12 times the
    sum of the absolute values of intercept and contributions. The score is that of
    ``decision_function``; a ``VotedModel`` has separate weights for each row. Contributions are
    computed on demand: only the data is kept, and sparse rows stay sparse.

    Two classes have one score, for ``classes[1]``. With more, ``label`` selects the class; None
    selects the predicted class of each row. In regression with several targets ``label`` is the
    index of the target, and None selects the first.

    Parameters
    ----------
    model : LinearModel or VotedModel
    rows : Rows
    all_scores : ndarray of float64, shape (n, k)
    feature_names : sequence of str or None

    Examples
    --------
    >>> from separable import LinearModel
    >>> spam = LinearModel([[4, 2]], [-3], ["ham", "spam"], "score", ["free", "money"])
    >>> spam.explain([[1, 1]])
    LinearModel predicts spam: score +3 (> 0 is spam)
      feature    value  weight  contribution
      free           1       4            +4
      money          1       2            +2
      intercept                           -3
      score                               +3
    """

    model: Model
    rows: Rows
    all_scores: NDArray[np.float64]
    feature_names: Sequence[str] | None = None

    def __len__(self) -> int:
        return self.rows.n_rows

    def __getitem__(self, index: int | slice) -> Explanation:
        """Return the explanation of one row or a slice of rows."""
        if not isinstance(index, slice):
            row = self._row(index)
            index = slice(row, row + 1)
        start, stop, step = index.indices(len(self))
        if step == 1:
            rows = self.rows.slice(start, max(start, stop))
        else:
            rows = self.rows.take(np.arange(start, stop, step))
        return Explanation(self.model, rows, self.all_scores[index], self.feature_names)

    def __iter__(self) -> Iterator[Explanation]:
        return (self[row] for row in range(len(self)))

    def __str__(self) -> str:
        from separable.model.explain.explanation_text import explanation_text

        return explanation_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from separable.model.explain.explanation_text import explanation_html

        return explanation_html(self)

    @property
    def scores(self) -> NDArray[np.float64]:
        """Scores, shape (n,) if there is one per row, else (n, k)."""
        return self.all_scores[:, 0] if self.model.n_scores == 1 else self.all_scores

    @property
    def intercept(self) -> NDArray[np.float64]:
        """Intercept of each score, shape (k,), if it is the same for all rows."""
        intercept: NDArray[np.float64] | None = getattr(self.model, "intercept", None)
        if intercept is None:
            raise AttributeError(
                f"Each row of this {self.model.learner} model has its own intercept: use "
                "intercepts(), or terms(row).intercept."
            )
        return intercept

    def intercepts(self, label: Any = None) -> NDArray[np.float64]:
        """Return the intercept of one score per row, shape (n,).

        Parameters
        ----------
        label : object, optional
            Class or target, as described above.
        """
        return self.model.weights_at(self.rows, self.all_scores, self._which(label))[1]

    @property
    def predicted(self) -> NDArray[Any]:
        """Predicted class of each row, or the numbers in regression."""
        if self.model.classes is None:
            return predicted_numbers(self.model, self.scores)
        return classes_of(self.all_scores, self.model.classes, self.model.score_threshold)

    def contributions(self, label: Any = None) -> Rows:
        """Return the contributions w_j x_j to one score per row, in the format of the data.

        Parameters
        ----------
        label : object, optional
            Class or target, as described above.

        Returns
        -------
        Rows
            Dense rows: n x d. CSR rows: the same ``indices`` and ``indptr`` (shared, not copied)
            with the contribution of each stored value.
        """
        rows = self.rows
        weights, _ = self.model.weights_at(rows, self.all_scores, self._which(label))
        values = weights * rows.values
        return Rows(values, rows.n_features, rows.indices, rows.indptr)

    def by_column(self, label: Any = None) -> dict[str, NDArray[np.float64]]:
        """Return the contributions of each raw column, through the model's encoder.

        All features of a column, for example one per category, are summed.

        Parameters
        ----------
        label : object, optional
            Class or target, as described above.

        Returns
        -------
        dict of str to ndarray of float64, shape (n,)
            Columns in the order of the encoder.
        """
        encoder = self.model.encoder
        if encoder is None:
            raise ValueError(
                f"This {self.model.learner} model has no encoder, so its features are the raw "
                "columns. Use contributions() or terms()."
            )
        columns, groups = groups_of(encoder.sources)
        sums = column_sums(self, label, groups, len(columns))
        return dict(zip(columns, sums.T, strict=True))

    def terms(self, row: int = 0, label: Any = None, n: int | None = None) -> Terms:
        """Return the decomposition of one score of one row, largest contributions first.

        Parameters
        ----------
        row : int, default 0
        label : object, optional
            Class or target, as described above.
        n : int, optional
            Maximum number of terms shown. None: all non-zero terms.

        Returns
        -------
        Terms
        """
        if n is not None and operator.index(n) < 0:
            raise ValueError(
                f"The 'n' parameter of terms must be an int >= 0 or None. Got {n!r} instead."
            )
        one = self[row]
        which = one._which(label)
        k = int(which[0])
        whole = one.rows.astype(np.dtype(np.float64)).sum_duplicates()
        features = np.arange(whole.n_features) if whole.indices is None else whole.indices
        at_row, intercepts = self.model.weights_at(whole, one.all_scores, which)
        values, weights = whole.values.reshape(-1), at_row.reshape(-1)
        parts = weights * values
        order = np.argsort(-np.abs(parts), kind="stable")
        count = int(np.count_nonzero(parts))
        first, rest = np.split(order, [count if n is None else min(n, count)])
        score = float(one.all_scores[0, k])
        sources = None if self.model.encoder is None else self.model.encoder.sources
        return Terms(
            label=self._label(k),
            predicted=self._predicted(one, k),
            score=score,
            intercept=float(intercepts[0]),
            shown=tuple(
                Term(
                    feature_name(self.feature_names, int(features[j])),
                    float(values[j]),
                    float(weights[j]),
                    float(parts[j]),
                    self._raw(int(features[j]), float(values[j])),
                    None if sources is None else sources[int(features[j])],
                )
                for j in first
            ),
            other_count=self.rows.n_features - len(first),
            other_contribution=float(parts[rest].sum()),
        )

    def to_dict(self, n: int = 10) -> dict[str, Any]:
        """Return the explanation as JSON values.

        Parameters
        ----------
        n : int, default 10
            Terms per row; the others are summed.

        Returns
        -------
        dict
        """
        return _explanation_dict(self, n)

    def _raw(self, feature: int, value: float) -> str | None:
        shown = getattr(self.model.encoder, "shown", None)
        return None if shown is None else shown(feature, value)

    def _predicted(self, one: Explanation, k: int) -> Any:
        """Return the predicted class of one row, or in regression the number of score k."""
        if self.model.classes is not None:
            return label_value(one.predicted[0])
        return float(predicted_numbers(self.model, one.all_scores[0])[k])

    def _row(self, index: int) -> int:
        row = operator.index(index)
        if not -len(self) <= row < len(self):
            raise IndexError(f"There is no row {row}: this explanation has {len(self)} rows.")
        return row % len(self)

    def _label(self, k: int) -> Any:
        """Return the class or target of score k."""
        classes = self.model.classes
        return k if classes is None else label_value(classes[1 if len(classes) == 2 else k])

    def _which(self, label: Any) -> NDArray[np.intp]:
        """Return for each row the index of the score that ``label`` selects."""
        n, k = self.all_scores.shape
        if label is None:
            multiclass = self.model.classes is not None and k > 1
            return self.all_scores.argmax(axis=1) if multiclass else np.zeros(n, dtype=np.intp)
        labels = [self._label(number) for number in range(k)]
        if label_value(label) not in labels:
            known = ", ".join(repr(each) for each in labels[:10]) + (", ..." if k > 10 else "")
            raise ValueError(f"There is no score for {label!r}. There is one for: {known}.")
        return np.full(n, labels.index(label_value(label)), dtype=np.intp)


def _explanation_dict(explanation: Explanation, n: int) -> dict[str, Any]:
    """Return the explanation as JSON values, with the n largest terms of each row.

    A row has the predicted class, the class of its score and the score; in regression the predicted
    number and the index of the target.
    """
    model = explanation.model
    entry, all_name = (_class, "scores") if model.classes is not None else (_target, "targets")
    rows: list[dict[str, Any]] = []
    for index, scores in enumerate(explanation.all_scores.tolist()):
        terms = explanation.terms(index, n=n)
        rows.append({"row": index, **entry(terms), **_parts(terms)})
        if model.link == "log":
            rows[-1]["score"] = terms.score
        if len(scores) > 1:
            rows[-1][all_name] = scores
    if model.encoder is not None:
        columns = explanation.by_column()
        for index, row in enumerate(rows):
            row["columns"] = {name: float(sums[index]) for name, sums in columns.items()}
    classes = None if model.classes is None else [label_value(label) for label in model.classes]
    return {"learner": model.learner, "link": model.link, "classes": classes, "rows": rows}


def _class(terms: Terms) -> dict[str, Any]:
    return {"predicted": terms.predicted, "label": terms.label, "score": terms.score}


def _target(terms: Terms) -> dict[str, Any]:
    return {"predicted": terms.predicted, "target": terms.label}


def _parts(terms: Terms) -> dict[str, Any]:
    return {
        "intercept": terms.intercept,
        "terms": [
            {
                "feature": term.feature,
                "value": term.value,
                "weight": term.weight,
                "contribution": term.contribution,
                **({} if term.raw is None else {"raw": term.raw}),
            }
            for term in terms.shown
        ],
        "others": {"count": terms.other_count, "contribution": terms.other_contribution},
    }


def column_sums(
    explanation: Explanation, label: Any, groups: NDArray[np.int64], n_groups: int
) -> NDArray[np.float64]:
    """Return the contributions of each group of features, shape (n, n_groups).

    Parameters
    ----------
    explanation : Explanation
    label : object
        Class or target, None as in ``Explanation``.
    groups : ndarray of int64, shape (d,)
        Group of each feature; each of 0 ... n_groups - 1 has at least one feature.
    n_groups : int

    Returns
    -------
    ndarray of float64, shape (n, n_groups)
    """
    sums = np.zeros((len(explanation), n_groups))
    for start, stop in row_blocks(explanation.rows):
        block = explanation[start:stop].contributions(label)
        sums[start:stop] = _add_up(block, groups, n_groups)
    return sums


def _add_up(block: Rows, groups: NDArray[np.int64], n_groups: int) -> NDArray[np.float64]:
    if block.indptr is None or block.indices is None:
        order = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[order], np.arange(n_groups))
        dense: NDArray[np.float64] = np.add.reduceat(block.values[:, order], starts, axis=1)
        return dense
    sums = np.zeros(block.n_rows * n_groups)
    row = np.repeat(np.arange(block.n_rows), np.diff(block.indptr))
    cell = row * n_groups + groups[block.indices]
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    if len(starts):  # reduceat sums pairwise
        sums[cell[order][starts]] = np.add.reduceat(block.values[order], starts)
    return sums.reshape(block.n_rows, n_groups)
