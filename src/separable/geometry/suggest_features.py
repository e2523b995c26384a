"""Polynomial features that make classes separable, with their held-out error.

Adding columns preserves separability, so bisection finds the shortest sufficient prefix of an
ordering with few verdicts. Columns are ordered by separating weights and rescaled by them, which
favours few columns (as in reweighted l1: Candes, Wakin and Boyd 2008). Finally each column is
dropped once and restored if the verdict needs it. A column that was needed once stays needed, so
one round is enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import Rows, as_rows, column_names
from separable.estimator import clone
from separable.features.polynomial_encoder import PolynomialEncoder
from separable.fitting.splits import CV, read_splits, stratified_folds
from separable.fitting.targets import check_labels, find_classes
from separable.geometry.held_out_errors import HELPS, UNDECIDED, PairedErrors, RidgeClasses
from separable.geometry.proofs.proof import Separation
from separable.geometry.separability import separability
from separable.geometry.verdict import Verdict
from separable.model.parameters import ParameterError
from separable.model.words import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.typing import Floats, Indices

__all__ = ["FeatureTable", "Suggestion", "small_set", "suggest_features"]

#: Maximum number of reweighting rounds.
MAX_ROUNDS = 12
#: Scale of the given columns relative to the candidates.
KEPT_SCALE = 100.0
#: Relative precision of margins in the search, where only weights matter.
SEARCH_PRECISION = 0.1


@dataclass(frozen=True)
class FeatureTable:
    """Given columns and candidate columns.

    Parameters
    ----------
    base, extra : ndarray or csr_array, shapes (n, d) and (n, p)
    label : ndarray of int, shape (n,)
    """

    base: Any
    extra: Any
    label: NDArray[np.int32]

    @classmethod
    def of(cls, base: Rows, extra: Rows, label: NDArray[np.int32]) -> FeatureTable:
        """Scale columns to a largest value of 1."""
        kept, added = (_times(rows, 1.0 / _largest(rows)).to_matrix() for rows in (base, extra))
        return cls(kept, added, label)

    def take(self, rows: Indices) -> FeatureTable:
        """Return the table of some rows."""
        return FeatureTable(self.base[rows], self.extra[rows], self.label[rows])

    def matrix(self, columns: Indices, scale: Floats | None = None) -> Any:
        """Return the given columns followed by some candidates."""
        added = self.extra[:, columns]
        if isinstance(self.base, np.ndarray):
            return np.hstack([self.base, added if scale is None else added * scale])
        from scipy.sparse import diags_array, hstack

        added = added if scale is None else added @ diags_array(scale)
        return hstack([self.base, added], format="csr")

    def ask(self, columns: Indices, precision: float = 1e-3) -> Verdict:
        """Return the verdict with some candidates added."""
        return _verdict(self.matrix(columns), self.label, precision)

    def separates(self, columns: Indices) -> bool:
        """Return whether the classes are proved separable with some candidates added."""
        return self.ask(columns, SEARCH_PRECISION).kind == "separable"

    def sizes(self, columns: Indices, scale: Floats) -> Floats | None:
        """Return |weight| of each candidate for separating weights; None if not separable."""
        matrix = self.matrix(columns, scale)
        d = self.base.shape[1]
        matrix = _times(as_rows(matrix), np.append(np.full(d, KEPT_SCALE), np.ones(len(columns))))
        proof = _verdict(matrix, self.label, SEARCH_PRECISION).proof
        if not isinstance(proof, Separation):
            return None
        sizes: Floats = scale * np.linalg.norm(np.atleast_2d(proof.weights)[:, d:], axis=0)
        return sizes


def _verdict(X: Any, label: NDArray[np.int32], precision: float) -> Verdict:
    """Return the joint verdict on two or more classes."""
    result = separability(X, label, precision=precision)
    assert isinstance(result, Verdict)
    return result


def small_set(table: FeatureTable) -> Indices | None:
    """Return a minimal set of candidates; None if all together do not separate."""
    columns = np.arange(table.extra.shape[1])
    if table.separates(columns[:0]):
        return columns[:0]
    scale = np.ones(len(columns))
    for _ in range(MAX_ROUNDS):
        size = table.sizes(columns, scale)
        if size is None:
            break
        order = np.argsort(-size, kind="stable")
        kept = order[: _shortest(table, columns[order])]
        shrunk = len(kept) < len(columns)
        columns, scale = columns[kept], np.maximum(size[kept] / size.max(), 1e-6)
        if not shrunk and len(columns) == 1:
            break
    if size is None and len(columns) == table.extra.shape[1] and not table.separates(columns):
        return None
    return _none_to_drop(table, columns)


def _shortest(table: FeatureTable, columns: Indices) -> int:
    """Return the length of the shortest sufficient prefix."""
    low, high = 0, len(columns)
    while high - low > 1:
        middle = (low + high) // 2
        if table.separates(columns[:middle]):
            high = middle
        else:
            low = middle
    return high


def _none_to_drop(table: FeatureTable, columns: Indices) -> Indices:
    """Drop columns that are not needed, trying the last first."""
    kept = list(columns)
    for column in columns[::-1]:
        rest = [each for each in kept if each != column]
        if table.separates(np.array(rest, dtype=np.intp)):
            kept = rest
    return np.sort(np.array(kept, dtype=np.intp))


def _largest(rows: Rows) -> Floats:
    """Return the largest magnitude of each column, 1 where it is 0."""
    if rows.indptr is None or rows.indices is None:
        largest = np.abs(rows.values).max(axis=0).astype(np.float64)
    else:
        largest = np.zeros(rows.n_features)
        np.maximum.at(largest, rows.indices, np.abs(rows.values).astype(np.float64))
    return np.where(largest > 0, largest, 1.0)


def _times(rows: Rows, scale: Floats) -> Rows:
    """Return rows with columns multiplied, in float64."""
    values = rows.values.astype(np.float64)
    if rows.indptr is None or rows.indices is None:
        return Rows(values * scale, rows.n_features)
    return Rows(values * scale[rows.indices], rows.n_features, rows.indices, rows.indptr)


#: Maximum number of generated values.
MAX_VALUES = 1 << 27


@dataclass(frozen=True, eq=False)
class Suggestion:
    """Squares and products that make classes separable, with the held-out error.

    Parameters
    ----------
    features : tuple of str
        Features to add; none can be dropped. Empty if none is needed. If all candidates together
        do not separate, the features with the fewest misclassified rows.
    separable : bool or None
        Whether the rows are separable with the features; None: undecided.
    verdict : Verdict
        Verdict on the rows with the features, with its proof.
    error, error_before : float or None
        Cross-validated error rate with and without the features. Features are selected within each
        fold. None if there are too few rows for cross-validation.
    error_guess : float
        Error rate of always predicting the most frequent class.
    n_candidates : int
        Number of squares and products tried.
    in_folds : tuple of tuples of str
        Features selected in each fold: the more they differ, the less reliable the selection.
    outcome : {"helps", "does not help", "too few rows"}
        "helps": the held-out error is significantly lower than without the features and than by
        guessing (exact tests, at 2.5 % each). "does not help": it is significantly not halved
        (overfitting). "too few rows": neither is significant.
    reason : str
        The result in words.
    degree : int
    """

    features: tuple[str, ...]
    separable: bool | None
    verdict: Verdict
    error: float | None
    error_before: float | None
    error_guess: float
    n_candidates: int
    in_folds: tuple[tuple[str, ...], ...]
    outcome: str
    reason: str
    degree: int

    def transform(self, X: Any) -> Any:
        """Return the columns of X followed by the features: an array, or a csr_array."""
        base, extra, names = _candidates(X, self.degree)
        indices = [names.index(name) for name in self.features]
        return _plain(
            FeatureTable(base.to_matrix(), extra.to_matrix(), np.empty(0, np.int32)), indices
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain numbers, lists and dicts."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values |= {
            "features": list(self.features),
            "in_folds": [list(names) for names in self.in_folds],
            "verdict": self.verdict.to_dict(),
        }
        return values

    def to_text(self) -> str:
        """Return the result as text."""
        lines = [
            ("features", ", ".join(self.features) or "none"),
            ("verdict", self.verdict.kind),
            ("error on rows held out", _error_text(self.error)),
            ("without the features", _error_text(self.error_before)),
            ("guessing one class", _error_text(self.error_guess)),
        ]
        return f"Features that separate\n{table(lines, left=2)}\n{self.reason}"

    def __repr__(self) -> str:
        return self.to_text()


def suggest_features(
    X: Any,
    y: Any,
    *,
    degree: int = 2,
    cv: Any = 5,
    estimator: Any = None,
    feature_names: Sequence[str] | None = None,
) -> Suggestion:
    """Find a small set of squares and products of columns that makes classes separable.

    The set is minimal: without any one of its features the verdict is not separable. There may be
    other such sets, also smaller ones. Separable does not mean that a model generalizes: with
    enough columns any labels are separable, also random ones. So the result includes the held-out
    error with and without the features.

    Parameters
    ----------
    X : array-like, sparse matrix or numeric data frame, shape (n, d)
    y : array-like, shape (n,)
        The class of each row.
    degree : int, default 2
        Maximum degree of the products.
    cv : int, splitter or iterable of (train, test), default 5
        An int is the number of stratified, shuffled folds, reduced if a class has fewer rows.
    estimator : classifier, optional
        Classifier whose error is measured. None: a ridge classifier on standardized columns.
    feature_names : sequence of str, optional
        Names of the columns; default: those of a data frame, else ``x0``, ``x1``, ...

    Returns
    -------
    Suggestion

    Examples
    --------
    >>> import numpy as np
    >>> from separable.geometry import suggest_features
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> suggestion = suggest_features(X, (X**2).sum(axis=1) < 1)
    >>> suggestion.features
    ('x0^2', 'x1^2')
    >>> suggestion.error < suggestion.error_before
    True
    """
    if isinstance(degree, bool) or not isinstance(degree, int | np.integer) or not 2 <= degree <= 5:
        raise ParameterError(
            f"The 'degree' parameter of suggest_features must be an int from 2 to 5. Got {degree!r}"
            " instead."
        )
    if not CV.holds(cv) or cv is None:
        raise ParameterError(
            "The 'cv' parameter of suggest_features must be an int >= 2, a splitter or a list of "
            f"splits. Got {cv!r} instead."
        )
    base, extra, names = _candidates(X, int(degree), feature_names)
    labels = check_labels(y, base.n_rows, "suggest_features")
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(
            f"suggest_features separates classes, but y holds only one: {classes.tolist()[0]!r}."
        )
    table = FeatureTable.of(base, extra, find_classes(labels, classes))
    chosen, enough = _choose(table)
    verdict = table.ask(chosen)
    learner = RidgeClasses() if estimator is None else estimator
    errors = _Errors.of(table, _folds(table, cv, learner), learner)
    guess = 1.0 - float(np.bincount(table.label).max()) / len(table.label)
    outcome = UNDECIDED if errors is None else errors.compare(guess, len(chosen) > 0)
    return Suggestion(
        tuple(names[index] for index in chosen),
        verdict.separable,
        verdict,
        None if errors is None else float(errors.after.mean()),
        None if errors is None else float(errors.before.mean()),
        guess,
        len(names),
        tuple(tuple(names[index] for index in fold) for fold in (errors.chosen if errors else ())),
        outcome,
        _words(len(chosen), enough, errors, outcome, guess),
        int(degree),
    )


def _candidates(
    X: Any, degree: int, names: Sequence[str] | None = None
) -> tuple[Rows, Rows, list[str]]:
    """Return the columns, their products, and the names of the products."""
    base = as_rows(X)
    encoder = PolynomialEncoder((2, degree)).fit(base)
    size = base.n_rows * encoder.n_output_features_
    if size > MAX_VALUES and not base.is_sparse:
        raise ValueError(
            f"Products of {base.n_features} columns up to degree {degree} are "
            f"{encoder.n_output_features_}, for {base.n_rows} rows {size:.2g} numbers, more than "
            f"the {MAX_VALUES:.2g} that fit. Choose fewer columns, or some of the rows."
        )
    names = column_names(X) if names is None else names
    feature_names = encoder.get_feature_names_out(None if names is None else list(names))
    return base, encoder.encode(base), feature_names.tolist()


def _choose(table: FeatureTable) -> tuple[Indices, bool]:
    """Return columns to add, and whether they make the classes separable."""
    result = small_set(table)
    return (_best(table), False) if result is None else (result, True)


def _best(table: FeatureTable) -> Indices:
    """Return the leading columns by weight with the fewest misclassified rows."""
    every = np.arange(table.extra.shape[1])
    d = table.base.shape[1]
    whole = RidgeClasses().fit(table.matrix(every), table.label)
    order = np.argsort(-np.linalg.norm(whole.coef_[d:], axis=1), kind="stable")
    sizes = [0, *(2**k for k in range(int(np.log2(len(every))) + 1)), len(every)]
    wrong = [_wrong(RidgeClasses(), table, table, order[:size]).sum() for size in sizes]
    return np.sort(order[: sizes[int(np.argmin(wrong))]])


def _wrong(
    estimator: Any, training: FeatureTable, test: FeatureTable, columns: Indices
) -> NDArray[np.bool_]:
    """Return a mask of the misclassified test rows, with some columns added."""
    fitted = clone(estimator).fit(training.matrix(columns), training.label)
    wrong: NDArray[np.bool_] = fitted.predict(test.matrix(columns)) != test.label
    return wrong


def _folds(table: FeatureTable, cv: Any, learner: Any) -> list[tuple[Indices, Indices]]:
    """Return training and test rows of each fold; no folds if a class has one row."""
    label, n = table.label, len(table.label)
    if isinstance(cv, int | np.integer):
        most = min(int(cv), int(np.bincount(label).min()))
        if most < 2:
            return []
        return stratified_folds(label, most, seed=0)
    splits = read_splits(cv, learner, np.empty((n, 1)), label, None, n)
    return [(split.train, split.test) for split in splits]


@dataclass(frozen=True)
class _Errors(PairedErrors):
    """Held-out errors without and with features, and the features selected in each fold."""

    chosen: list[Indices]

    @classmethod
    def of(
        cls, table: FeatureTable, folds: list[tuple[Indices, Indices]], estimator: Any
    ) -> _Errors | None:
        """Select features in each fold and evaluate them on its test rows; None: no folds."""
        if not folds:
            return None
        before, after, chosen = [], [], []
        for train, test in folds:
            training, held_out = table.take(train), table.take(test)
            columns = _choose(training)[0]
            chosen.append(columns)
            before.append(_wrong(estimator, training, held_out, columns[:0]))
            same = not len(columns)
            after.append(before[-1] if same else _wrong(estimator, training, held_out, columns))
        return cls(np.concatenate(before), np.concatenate(after), chosen)


def _words(n_chosen: int, enough: bool, errors: _Errors | None, outcome: str, guess: float) -> str:
    """Return the result in words."""
    if not enough:
        first = (
            "All squares and products together do not separate these rows"
            f"{'; with those named, fewest are wrong' if n_chosen else ''}. A higher degree may, "
            "but rows that contradict each other never are."
        )
    elif n_chosen == 0:
        first = "The rows are separable as they are: nothing has to be added."
    else:
        first = "With these features the rows are separable, and none of them can be dropped."
    if errors is None:
        return f"{first} A class has one row only, so there is no error on rows held out."
    if outcome == HELPS:
        return first
    n, after, before = len(errors.after), float(errors.after.mean()), float(errors.before.mean())
    compared = f"{guess:.3g} by guessing the most frequent class"
    if n_chosen:
        compared = f"{before:.3g} without them and {compared}"
    if outcome == UNDECIDED:
        return (
            f"{first} Whether this holds for other rows, {n} rows are too few to tell: the error "
            f"on rows held out is {after:.3g}, {compared}. About {errors.rows_needed()} rows might "
            "be enough."
        )
    result = f"{first} But on rows held out the error is {after:.3g}, {compared}:"
    if not n_chosen:
        return f"{result} the columns say little of the class of other rows."
    fits = "separates" if enough else "fits"
    return f"{result} what {fits} these rows does not hold for others. This is overfitting."


def _plain(table: FeatureTable, indices: list[int]) -> Any:
    return table.matrix(np.array(indices, dtype=np.intp))


def _error_text(error: float | None) -> str:
    return "unknown" if error is None else f"{error:.3g}"
