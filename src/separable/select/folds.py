"""Folds of validation, shuffled on request, with a warning where rows are in the order of y."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import f as f_distribution
from sklearn.base import is_classifier
from sklearn.model_selection import KFold, StratifiedKFold

from separable.fitting.splits import read_splits
from separable.model.parameters import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.fitting.splits import Split
    from separable.select.fits import Problem

    Floats = NDArray[np.float64]

__all__ = ["OrderedRowsWarning", "read_folds"]

#: Of shuffled rows, means of folds differ so much with at most this probability.
CHANCE = 1e-6
#: The share of the variance of y that lies between folds, at least.
BETWEEN = 0.5
#: Rows in ascending or descending order of so many values are not so by chance.
VALUES = 10


class OrderedRowsWarning(UserWarning):
    """Folds hold out rows in the order of y: what one holds out, the others have never seen."""


def read_folds(
    cv: Any, estimator: Any, problem: Problem, groups: Any, shuffle: bool, random_state: int
) -> list[Split]:
    """Return the folds of ``cv``; a number of them shuffled, or with a warning where y is in order.

    Parameters
    ----------
    cv, estimator, groups
        As `read_splits` has them.
    problem : Problem
    shuffle : bool
        Whether a number of folds is of shuffled rows.
    random_state : int
        The seed of the shuffle.
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
        kind = StratifiedKFold if is_classifier(estimator) else KFold
        cv = kind(5 if cv is None else int(cv), shuffle=True, random_state=random_state)
    splits = read_splits(cv, estimator, problem.X, problem.y, groups, problem.n_rows)
    if is_number and not shuffle and groups is None and not is_classifier(estimator):
        _warn_of_order(problem.y, splits)
    return splits


def _warn_of_order(y: Any, splits: list[Split]) -> None:
    """Warn where the order of rows is that of a target, or folds differ as shuffled ones never."""
    y = np.asarray(y)
    if y.dtype.kind not in "fiu" or len(splits) < 2:
        return
    for target in y.reshape(len(y), -1).T.astype(np.float64):
        means = np.array([target[split.test].mean() for split in splits])
        is_sorted = _is_sorted(target)
        if is_sorted or _differ(target, means, splits):
            what = "are in the order of y" if is_sorted else "come in blocks that differ in y"
            warnings.warn(
                f"Rows {what}: its mean is {means.min():.4g} in one of {len(splits)} folds and "
                f"{means.max():.4g} in another, so folds hold out what the others hardly show. Use "
                "shuffle=True; or, if rows are in the order of time, a splitter such as "
                "TimeSeriesSplit.",
                OrderedRowsWarning,
                stacklevel=4,
            )
            return


def _is_sorted(target: Floats) -> bool:
    steps = np.diff(target)
    return bool((steps >= 0).all() or (steps <= 0).all()) and len(np.unique(target)) >= VALUES


def _differ(target: Floats, means: Floats, splits: list[Split]) -> bool:
    """Return whether means of folds differ beyond chance, by the F test of one-way analysis."""
    sizes = np.array([len(split.test) for split in splits])
    total = float(((target - target.mean()) ** 2).sum())
    between = float((sizes * (means - target.mean()) ** 2).sum())
    free = int(sizes.sum()) - len(sizes)
    if not np.isfinite(total) or total <= 0 or free <= 0 or between < BETWEEN * total:
        return False
    ratio = (between / (len(sizes) - 1)) / max((total - between) / free, 1e-300)
    return bool(f_distribution.sf(ratio, len(sizes) - 1, free) <= CHANCE)
