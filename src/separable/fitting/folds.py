"""Cross-validation folds: defaults, and a warning if the rows are sorted by y."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import fdtrc

from separable.estimator import is_classifier
from separable.fitting.splits import k_folds, numbered_folds, read_splits, stratified_folds
from separable.model.parameters import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.fitting.splits import Folds, Split
    from separable.typing import Floats


__all__ = ["FOLDS", "GIVE_SPLITTER", "OrderedRowsWarning", "default_folds", "read_folds"]

#: The number of folds without ``cv``.
FOLDS = 5
#: Significance level of the F test that the means of folds differ.
CHANCE = 1e-6
#: Minimum fraction of the variance of y that lies between folds.
BETWEEN = 0.5
#: Minimum number of distinct values for sorted rows not to be sorted by chance.
VALUES = 10

#: What to do about ordered rows: of functions with ``shuffle``, and of learners with ``cv`` alone.
SHUFFLE = "Use shuffle=True"
GIVE_SPLITTER = "Leave cv at None, or give cv=KFold(5, shuffle=True)"


class OrderedRowsWarning(UserWarning):
    """Folds hold out rows in the order of y: what one holds out, the others have never seen."""


def default_folds(target: NDArray[Any], seed: int, rarest: int | None = None) -> Folds:
    """Return the folds of a learner that chooses by cross-validation, without ``cv``.

    Rows are shuffled: files are often in the order of time or of something else.

    Parameters
    ----------
    target : ndarray, shape (n,)
        Classes, or numbers to predict.
    seed : int
        Of the shuffle.
    rarest : int, optional
        Rows of the rarest class: folds have the same fraction of each class, and are no more than
        these rows. None: the target is no class.
    """
    if rarest is None:
        return k_folds(len(target), min(FOLDS, len(target)), seed)
    # A class of one row is not learned where it is held out.
    return stratified_folds(target, int(np.clip(rarest, 2, FOLDS)), seed)


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
    """Return the folds of ``cv``; a number of them shuffled, or with a warning where y is in order.

    Parameters
    ----------
    cv, estimator, X, y, groups, n_rows
        As `read_splits` has them.
    shuffle : bool, default False
        Whether a number of folds is of shuffled rows.
    random_state : int, default 0
        The seed of the shuffle.
    remedy : str, default `SHUFFLE`
        What the warning advises.
    stacklevel : int, default 2
        Whom the warning is for; 1 is the caller.
    """
    if not isinstance(shuffle, bool | np.bool_):
        raise ParameterError(f"The 'shuffle' parameter must be True or False. Got {shuffle!r:.60}.")
    is_number = isinstance(cv, Integral) or cv is None
    if shuffle and (not is_number or groups is not None):
        raise ParameterError(
            "shuffle=True shuffles a number of folds, cv=5, of rows without groups. Give a "
            "splitter with shuffle=True of its own instead, such as KFold or GroupKFold."
        )
    if shuffle:
        k = FOLDS if cv is None else int(cv)
        cv = numbered_folds(k, n_rows, y, is_classifier(estimator), random_state)
    splits = read_splits(cv, estimator, X, y, groups, n_rows)
    if is_number and not shuffle and groups is None and not is_classifier(estimator):
        _warn_of_order(y, splits, remedy, stacklevel + 2)
    return splits


def _warn_of_order(y: Any, splits: list[Split], remedy: str, stacklevel: int) -> None:
    """Warn where the order of rows is that of a target, or folds differ as shuffled ones never."""
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
                f"{high:.4g} in another, so folds hold out what the others hardly show. "
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
    ) >= VALUES


def _differ(target: Floats, means: Floats, splits: list[Split]) -> bool:
    """Return whether means of folds differ beyond chance, by the F test of one-way analysis."""
    sizes = np.array([len(split.test) for split in splits])
    total = float(((target - target.mean()) ** 2).sum())
    between = float((sizes * (means - target.mean()) ** 2).sum())
    free = int(sizes.sum()) - len(sizes)
    if not np.isfinite(total) or total <= 0 or free <= 0 or between < BETWEEN * total:
        return False
    ratio = (between / (len(sizes) - 1)) / max((total - between) / free, 1e-300)
    return bool(fdtrc(len(sizes) - 1, free, ratio) <= CHANCE)
