"""Folds of a cross-validation: defaults, training and test rows, a warning about sorted rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import Rows
from separable.estimator import check_random_state, is_classifier
from separable.model.parameters import ParameterError, Requirement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.typing import Floats, Indices

    Folds = list[tuple[Indices, Indices]]


__all__ = [
    "CV",
    "DEFAULT_FOLDS",
    "GIVE_SPLITTER",
    "Folds",
    "OrderedRowsWarning",
    "Split",
    "default_folds",
    "group_folds",
    "k_folds",
    "numbered_folds",
    "paired",
    "read_folds",
    "read_splits",
    "runs_of",
    "stratified_folds",
    "take",
]


def _is_cv(value: Any) -> bool:
    if isinstance(value, Integral):
        return int(value) >= 2  # True is 1
    if isinstance(value, str):
        return False
    return value is None or hasattr(value, "split") or isinstance(value, Iterable)


CV = Requirement("None, an int >= 2, a splitter or a list of splits", _is_cv)


@dataclass(frozen=True)
class Split:
    """One fold.

    Parameters
    ----------
    n_rows : int
        The number of all rows.
    test : ndarray of int
        Rows that are held out.
    given : ndarray of int or None
        Rows to train on; None: all others, ascending.
    is_complement : bool
        Whether each row is once in one of the two.
    """

    n_rows: int
    test: Indices
    given: Indices | None = None
    is_complement: bool = True

    @property
    def train(self) -> Indices:
        """Rows to train on."""
        if self.given is not None:
            return self.given
        others = np.ones(self.n_rows, np.bool_)
        others[self.test] = False
        return np.flatnonzero(others)

    @property
    def n_train(self) -> int:
        """The number of rows to train on."""
        return self.n_rows - len(self.test) if self.given is None else len(self.given)


def read_splits(cv: Any, estimator: Any, X: Any, y: Any, groups: Any, n_rows: int) -> list[Split]:
    """Return the folds of scikit-learn's ``cv``, checked.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test)
        A number of folds is stratified for classifiers; with groups it keeps each of them together.
    estimator, X, y, groups
        As ``cross_validate`` has them.
    n_rows : int
        The number of rows of X.
    """
    if groups is not None and np.shape(groups) != (n_rows,):
        raise ValueError(
            f"groups must name one group a row, shape ({n_rows},). Got {np.shape(groups)}."
        )
    if isinstance(cv, str | bool) or (isinstance(cv, Integral) and cv < 2):
        raise ValueError(
            "cv must be a number of folds, 2 or more, a splitter or pairs (train, test). "
            f"Got {cv!r}."
        )
    if groups is not None and isinstance(cv, Integral):
        cv = group_folds(np.asarray(groups), int(cv))
    if cv is None or isinstance(cv, Integral):
        cv = numbered_folds(5 if cv is None else int(cv), n_rows, y, is_classifier(estimator))
    pairs = cv.split(X, y, groups) if hasattr(cv, "split") else cv
    splits = [_checked(train, test, n_rows, k) for k, (train, test) in enumerate(pairs)]
    if not splits:
        raise ValueError("cv gives no folds. It has to give at least one pair (train, test).")
    if groups is not None:
        _check_groups(np.asarray(groups), splits)
    return splits


def numbered_folds(k: int, n_rows: int, y: Any, stratified: bool, seed: int | None = None) -> Folds:
    """Return the folds that scikit-learn's ``check_cv`` makes of a number.

    Parameters
    ----------
    k : int
        Number of folds.
    n_rows : int
    y : array-like
        Targets.
    stratified : bool
        Keep the fraction of each class in the folds, where y holds classes.
    seed : int, optional
        Of the shuffle; None: rows stay in order.
    """
    if not stratified:
        return k_folds(n_rows, k, seed)
    labels = np.asarray(y)
    is_continuous = labels.dtype.kind == "f" and bool((labels != np.floor(labels)).any())
    if labels.ndim != 1 or is_continuous:
        return k_folds(n_rows, k, seed)
    counts = np.unique(labels, return_counts=True)[1]
    if k > counts.max():
        raise ValueError(
            f"n_splits={k} cannot be greater than the number of members in each class."
        )
    if k > counts.min():
        warnings.warn(
            f"The least populated class in y has only {counts.min()} members, which is less than "
            f"n_splits={k}.",
            UserWarning,
            stacklevel=4,
        )
    return stratified_folds(labels, k, seed)


def k_folds(n_rows: int, k: int, seed: int | None = None) -> Folds:
    """Return k folds of nearly equal size, the same as scikit-learn's ``KFold``."""
    if k > n_rows:
        raise ValueError(
            f"Cannot have number of splits n_splits={k} greater than the number of samples: "
            f"n_samples={n_rows}."
        )
    order = np.arange(n_rows)
    if seed is not None:
        check_random_state(seed).shuffle(order)
    sizes = np.full(k, n_rows // k)
    sizes[: n_rows % k] += 1
    fold = np.empty(n_rows, np.intp)
    fold[order] = np.repeat(np.arange(k), sizes)
    return _pairs(fold, k)


def stratified_folds(labels: NDArray[Any], k: int, seed: int | None = None) -> Folds:
    """Return k folds with nearly the same fraction of each class.

    The same folds as scikit-learn's ``StratifiedKFold``: rows sorted by class, classes in the
    order of their first rows, are dealt to the folds in turn; the folds of each class are then
    shuffled among its rows.
    """
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    codes = rank[codes]
    ordered = np.sort(codes)
    dealt = np.stack([np.bincount(ordered[j::k], minlength=len(first)) for j in range(k)])
    generator = None if seed is None else check_random_state(seed)
    fold = np.empty(len(codes), np.intp)
    for label in range(len(first)):
        folds_of_class = np.repeat(np.arange(k), dealt[:, label])
        if generator is not None:
            generator.shuffle(folds_of_class)
        fold[codes == label] = folds_of_class
    return _pairs(fold, k)


def group_folds(groups: NDArray[Any], k: int) -> Folds:
    """Return k folds that keep groups together, the same as scikit-learn's ``GroupKFold``.

    The largest group goes first, each to the fold that has the fewest rows.
    """
    labels, codes = np.unique(groups, return_inverse=True)
    if k > len(labels):
        raise ValueError(
            f"Cannot have number of splits n_splits={k} greater than the number of groups: "
            f"{len(labels)}."
        )
    sizes = np.bincount(codes)
    rows_of_fold = np.zeros(k, np.intp)
    fold_of_group = np.empty(len(labels), np.intp)
    for group in np.argsort(sizes, kind="stable")[::-1]:
        lightest = int(np.argmin(rows_of_fold))
        rows_of_fold[lightest] += sizes[group]
        fold_of_group[group] = lightest
    return _pairs(fold_of_group[codes], k)


def _pairs(fold: Indices, k: int) -> Folds:
    """Return the training and test rows of each fold from the fold of each row."""
    return [(np.flatnonzero(fold != j), np.flatnonzero(fold == j)) for j in range(k)]


def _check_groups(groups: NDArray[Any], splits: list[Split]) -> None:
    """Refuse folds that split a group."""
    labels, codes = np.unique(groups, return_inverse=True)
    for k, split in enumerate(splits):
        both = np.intersect1d(codes[split.train], codes[split.test])
        if len(both):
            raise ValueError(
                f"Fold {k} trains on rows of group {labels[both].tolist()[0]!r} and holds others "
                "of it out: this cv does not keep groups together. Give a number of folds, or a "
                "splitter such as GroupKFold; or leave groups out."
            )


def _checked(train: Any, test: Any, n_rows: int, fold: int) -> Split:
    train, test = (
        _row_numbers(train, n_rows, fold, "train"),
        _row_numbers(test, n_rows, fold, "test"),
    )
    seen = np.zeros(n_rows, np.bool_)
    seen[test] = True
    both = np.flatnonzero(seen[train])
    if len(both):
        raise ValueError(
            f"Fold {fold} trains on row {train[both[0]]}, which it also holds out. Held-out rows "
            "say something only where they were not learned from."
        )
    seen[train] = True
    whole = bool(seen.all()) and len(train) + len(test) == n_rows
    in_order = whole and bool((np.diff(train) > 0).all())
    return Split(n_rows, test, None if in_order else train, whole)


def _row_numbers(rows: Any, n_rows: int, fold: int, part: str) -> Indices:
    """Return row numbers, also from a mask."""
    numbers = np.asarray(rows)
    if numbers.dtype == np.bool_ and numbers.shape == (n_rows,):
        numbers = np.flatnonzero(numbers)
    if numbers.ndim != 1 or len(numbers) == 0:
        raise ValueError(
            f"Fold {fold} has no {part} rows (shape {numbers.shape}). Every fold needs some."
        )
    if numbers.dtype.kind not in "iu":
        raise ValueError(
            f"The {part} rows of fold {fold} are {numbers.dtype}. Give row numbers, or a mask with "
            f"{n_rows} entries."
        )
    if numbers.min() < 0 or numbers.max() >= n_rows:
        bad = int(numbers[(numbers < 0) | (numbers >= n_rows)][0])
        raise ValueError(
            f"Fold {fold} names {part} row {bad}, but rows are numbered 0 ... {n_rows - 1}."
        )
    return numbers.astype(np.intp, copy=False)


def runs_of(splits: Sequence[Split]) -> list[list[int]]:
    """Group consecutive folds with disjoint test rows.

    A fold that does not train on all rows that it does not hold out is a group of its own.
    """
    runs: list[list[int]] = []
    taken: NDArray[np.bool_] | None = None
    for k, split in enumerate(splits):
        if taken is not None and split.is_complement and not taken[split.test].any():
            runs[-1].append(k)
        else:
            taken = np.zeros(split.n_rows, np.bool_) if split.is_complement else None
            runs.append([k])
        if taken is not None:
            taken[split.test] = True
    return runs


def paired(X: Any, y: Any) -> tuple[Any, Any, int]:
    """Return X and y as indexable containers, and the number of rows."""
    X = X.to_matrix() if isinstance(X, Rows) else X
    if not (_is_matrix(X) and type(y) is np.ndarray and len(y) == X.shape[0]):
        X, y = import_module("sklearn.utils").indexable(X, y)
    return X, y, int(X.shape[0] if hasattr(X, "shape") else len(X))


def _is_matrix(X: Any) -> bool:
    """Return whether X is an array or a CSR matrix."""
    return type(X) is np.ndarray or getattr(X, "format", None) == "csr"


def take(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows, without a copy if they are consecutive rows of an array."""
    if type(X) is np.ndarray and len(rows) and (np.diff(rows) == 1).all():
        return X[rows[0] : rows[-1] + 1]
    if _is_matrix(X):
        return X[rows]
    return import_module("sklearn.utils")._safe_indexing(X, rows)


#: The number of folds without ``cv``.
DEFAULT_FOLDS = 5
#: Significance level of the F test that the means of folds differ.
SIGNIFICANCE = 1e-6
#: Minimum fraction of the variance of y that lies between folds.
MIN_FRACTION_BETWEEN = 0.5
#: Minimum number of distinct values for sorted rows not to be sorted by chance.
MIN_DISTINCT = 10

#: Remedies for sorted rows: of functions with ``shuffle``, and of learners with only ``cv``.
SHUFFLE = "Use shuffle=True"
GIVE_SPLITTER = "Leave cv at None, or give cv=KFold(5, shuffle=True)"


class OrderedRowsWarning(UserWarning):
    """The rows are sorted by y, so a fold holds out values that the other folds lack."""


def default_folds(target: NDArray[Any], seed: int, rarest: int | None = None) -> Folds:
    """Return the default folds of a learner that tunes itself by cross-validation.

    Rows are shuffled, because files are often sorted by time or something else.

    Parameters
    ----------
    target : ndarray, shape (n,)
        Classes, or numbers to predict.
    seed : int
        Seed of the shuffle.
    rarest : int, optional
        Number of rows of the rarest class, which limits the number of stratified folds. None: the
        target is numeric.
    """
    if rarest is None:
        return k_folds(len(target), min(DEFAULT_FOLDS, len(target)), seed)
    # A class of one row is not learned where it is held out.
    return stratified_folds(target, int(np.clip(rarest, 2, DEFAULT_FOLDS)), seed)


def read_folds(
    cv: Any,
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any,
    n_rows: int,
    *,
    shuffle: bool = False,
    random_state: int = 0,
    remedy: str = SHUFFLE,
    stacklevel: int = 2,
) -> list[Split]:
    """Return the folds of ``cv``, a number of them shuffled or with a warning about sorted rows.

    Parameters
    ----------
    cv, estimator, X, y, groups, n_rows
        As in `read_splits`.
    shuffle : bool, default False
        Shuffle the rows before a number of folds is made.
    random_state : int, default 0
        The seed of the shuffle.
    remedy : str, default `SHUFFLE`
        Remedy in the warning.
    stacklevel : int, default 2
        Stack level of the warning; 1 is the caller.
    """
    if not isinstance(shuffle, bool | np.bool_):
        raise ParameterError(f"The 'shuffle' parameter must be True or False. Got {shuffle!r:.60}.")
    is_number = isinstance(cv, Integral) or cv is None
    if shuffle and (not is_number or groups is not None):
        raise ParameterError(
            "shuffle=True needs a number of folds, such as cv=5, and no groups. Otherwise give a "
            "splitter that shuffles, such as KFold or GroupKFold."
        )
    if shuffle:
        k = DEFAULT_FOLDS if cv is None else int(cv)
        cv = numbered_folds(k, n_rows, y, is_classifier(estimator), random_state)
    splits = read_splits(cv, estimator, X, y, groups, n_rows)
    if is_number and not shuffle and groups is None and not is_classifier(estimator):
        _warn_of_order(y, splits, remedy, stacklevel + 2)
    return splits


def _warn_of_order(y: Any, splits: list[Split], remedy: str, stacklevel: int) -> None:
    """Warn if rows are sorted by a target, or folds differ more than by chance."""
    y = np.asarray(y)
    if y.dtype.kind not in "fiu" or len(splits) < 2:
        return
    for target in y.reshape(len(y), -1).T.astype(np.float64):
        size = float(np.abs(target).max(initial=0.0))
        if not 0 < size < np.inf:
            continue
        unit = target / size  # squares of it neither vanish nor overflow
        means = np.array([unit[split.test].mean() for split in splits])
        is_sorted = _is_sorted(target)
        if is_sorted or _differ(unit, means, splits):
            what = "are in the order of y" if is_sorted else "come in blocks that differ in y"
            low, high = means.min() * size, means.max() * size
            warnings.warn(
                f"Rows {what}: its mean is {low:.4g} in one of {len(splits)} folds and "
                f"{high:.4g} in another, so folds hold out values that are rare in the others. "
                f"{remedy}; or, if rows are in the order of time, a splitter such as "
                "TimeSeriesSplit.",
                OrderedRowsWarning,
                stacklevel=stacklevel,
            )
            return


def _is_sorted(target: Floats) -> bool:
    ascending = bool((target[1:] >= target[:-1]).all())
    return (ascending or bool((target[1:] <= target[:-1]).all())) and len(
        np.unique(target)
    ) >= MIN_DISTINCT


def _differ(target: Floats, means: Floats, splits: list[Split]) -> bool:
    """Return whether means of folds differ beyond chance, by the F test of one-way analysis."""
    from scipy.special import fdtrc

    sizes = np.array([len(split.test) for split in splits])
    total = float(((target - target.mean()) ** 2).sum())
    between = float((sizes * (means - target.mean()) ** 2).sum())
    free = int(sizes.sum()) - len(sizes)
    if not np.isfinite(total) or total <= 0 or free <= 0 or between < MIN_FRACTION_BETWEEN * total:
        return False
    ratio = (between / (len(sizes) - 1)) / max((total - between) / free, 1e-300)
    return bool(fdtrc(len(sizes) - 1, free, ratio) <= SIGNIFICANCE)
