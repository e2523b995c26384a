"""Training and test rows of a learning curve, their order, and the training sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.split import random_split, stratified_split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.typing import Indices


__all__ = ["Repetition", "read_sizes", "repetitions"]

#: Default sizes: their number, and the maximum ratio of the largest to the smallest.
N_SIZES, MAX_RATIO = 9, 256
#: Smallest default size, and its number of rows of each class.
MIN_SIZE, MIN_PER_CLASS = 10, 2


@dataclass(frozen=True, eq=False)
class Repetition:
    """One split of the rows.

    Parameters
    ----------
    train : ndarray of int
        Training rows; a training set of m rows consists of the first m.
    test : ndarray of int
        Held-out rows, the same for all sizes.
    """

    train: Indices
    test: Indices


def repetitions(
    n_rows: int,
    labels: NDArray[Any] | None,
    groups: Any,
    *,
    repeats: int,
    test_size: float,
    random_state: int,
) -> list[Repetition]:
    """Split the rows at random, several times.

    Parameters
    ----------
    n_rows : int
    labels : ndarray, shape (n,), or None
        For classifiers: both parts are stratified, and so is every prefix of the training rows.
    groups : array-like of shape (n,) or None
        Groups that stay together: in one of the parts, and consecutive there.
    repeats : int
    test_size : float
    random_state : int
    """
    _check(repeats, test_size, random_state)
    seeds = np.random.SeedSequence(random_state).generate_state(repeats)
    if groups is not None:
        codes = _group_codes(groups, n_rows)
        made = [_by_groups(codes, test_size, seed) for seed in seeds.tolist()]
    elif labels is not None:
        made = [_by_classes(labels, test_size, seed) for seed in seeds.tolist()]
    else:
        made = [_at_random(n_rows, test_size, seed) for seed in seeds.tolist()]
    if not len(made[0].test):
        raise ValueError(
            f"No row is held out: test_size is {test_size:g} of {n_rows} rows. Use a larger "
            "test_size."
        )
    return _equally_long(made)


def _check(repeats: Any, test_size: Any, random_state: Any) -> None:
    if not _is_int(repeats) or repeats < 1:
        raise ValueError(f"repeats must be an int >= 1. Got {repeats!r}.")
    if not isinstance(test_size, float | np.floating) or not 0 < test_size < 1:
        raise ValueError(f"test_size must be a float above 0 and below 1. Got {test_size!r}.")
    if not _is_int(random_state) or random_state < 0:
        raise ValueError(f"random_state must be an int >= 0. Got {random_state!r}.")


def _is_int(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _at_random(n_rows: int, test_size: float, seed: int) -> Repetition:
    train, test = random_split(n_rows, test_size, seed)
    return Repetition(np.random.default_rng([seed, 1]).permutation(train), test)


def _by_classes(labels: NDArray[Any], test_size: float, seed: int) -> Repetition:
    """Hold out the same fraction of each class, and spread each evenly over the training rows.

    Two rows of each class come first, so that the smallest training sets know all classes.
    """
    train, test = stratified_split(labels, test_size, seed)
    train = np.random.default_rng([seed, 1]).permutation(train)
    _, codes = np.unique(labels[train], return_inverse=True)
    by_class, counts = np.argsort(codes, kind="stable"), np.bincount(codes)
    rank = np.empty(len(train))
    rank[by_class] = np.arange(len(train)) - np.repeat(np.cumsum(counts) - counts, counts)
    fraction = np.where(rank < MIN_PER_CLASS, rank - MIN_PER_CLASS, (rank + 0.5) / counts[codes])
    return Repetition(train[np.argsort(fraction, kind="stable")], test)


def _group_codes(groups: Any, n_rows: int) -> NDArray[np.intp]:
    given = np.asarray(groups)
    if given.shape != (n_rows,):
        raise ValueError(f"groups must name one group a row, shape ({n_rows},). Got {given.shape}.")
    codes: NDArray[np.intp] = np.unique(given, return_inverse=True)[1]
    if codes.max(initial=0) < 1:
        raise ValueError(
            "groups has only one group, so none can be held out. Give two or more, or leave groups "
            "out."
        )
    return codes


def _by_groups(codes: NDArray[np.intp], test_size: float, seed: int) -> Repetition:
    """Hold out groups in random order, up to the fraction of rows, but not all of them."""
    rng = np.random.default_rng([seed, 1])
    order = rng.permutation(int(codes.max()) + 1)
    rows = np.cumsum(np.bincount(codes)[order])
    held = int(np.argmin(np.abs(rows[:-1] - test_size * len(codes)))) + 1
    index = np.empty(len(order), np.intp)
    index[order] = np.arange(len(order))
    shuffled = rng.permutation(len(codes))
    behind = shuffled[np.argsort(index[codes[shuffled]], kind="stable")]
    return Repetition(behind[rows[held - 1] :], np.sort(behind[: rows[held - 1]]))


def _equally_long(made: list[Repetition]) -> list[Repetition]:
    """Cut the training rows of all repetitions to the same number."""
    n = min(len(each.train) for each in made)
    return [Repetition(each.train[:n], each.test) for each in made]


def read_sizes(
    sizes: Any, made: Sequence[Repetition], labels: NDArray[Any] | None
) -> NDArray[np.intp]:
    """Return the training sizes, ascending.

    Parameters
    ----------
    sizes : None, or a sequence of int (rows) or of float (fractions of the training rows)
    made : sequence of Repetition
    labels : ndarray or None
    """
    n = len(made[0].train)
    if sizes is None:
        return _usual_sizes(n, max(_fewest(each, labels) for each in made))
    given = np.atleast_1d(np.asarray(sizes))
    if given.ndim != 1 or not len(given) or given.dtype.kind not in "iuf":
        raise ValueError(
            f"sizes must be None, ints (rows) or floats (fractions of the rows). Got {sizes!r}."
        )
    if given.dtype.kind == "f":
        if not ((given > 0) & (given <= 1)).all():
            raise ValueError(
                f"sizes that are floats are fractions, above 0 and up to 1. Got {sizes!r}; give "
                "ints for numbers of rows."
            )
        given = np.maximum(1, np.floor(given * n + 1e-9))
    if given.min() < 1 or given.max() > n:
        wrong = int(given.min() if given.min() < 1 else given.max())
        raise ValueError(f"A size must be from 1 to {n}, the number of training rows. Got {wrong}.")
    result: NDArray[np.intp] = np.unique(given.astype(np.intp))
    return result


def _usual_sizes(n: int, fewest: int) -> NDArray[np.intp]:
    start = min(n, max(fewest, math.ceil(n / MAX_RATIO)))
    count = 1 if n == start else min(N_SIZES, 2 + int(4 * math.log2(n / start)))
    steps: NDArray[np.intp] = np.unique(np.rint(np.geomspace(start, n, count)).astype(np.intp))
    return steps


def _fewest(made: Repetition, labels: NDArray[Any] | None) -> int:
    """Return the smallest default size."""
    if labels is None:
        return MIN_SIZE
    _, codes = np.unique(labels[made.train], return_inverse=True)
    by_class, counts = np.argsort(codes, kind="stable"), np.bincount(codes)
    which = np.cumsum(counts) - counts + np.minimum(MIN_PER_CLASS, counts) - 1
    return max(MIN_SIZE, int(by_class[which].max()) + 1)
