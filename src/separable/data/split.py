"""A held-out part of the rows: at random, or each class in proportion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["group_split", "random_split", "stratified_split"]


def random_split(
    n_rows: int, test_size: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Choose rows to hold out at random; at least two stay in training.

    Parameters
    ----------
    n_rows : int
    test_size : float
        The share to hold out, 0 <= test_size < 1.
    seed : int

    Returns
    -------
    train, test : ndarray of int64
        Rows, ascending.
    """
    held = max(0, min(math.floor(n_rows * test_size + 0.5), n_rows - 2))
    order = np.random.default_rng(seed).permutation(n_rows)
    return np.sort(order[held:]), np.sort(order[:held])


def stratified_split(
    labels: NDArray[Any], test_size: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Choose rows to hold out at random, the same share of each class.

    At least one row of each class stays in training.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    test_size : float
        The share to hold out, 0 <= test_size < 1.
    seed : int

    Returns
    -------
    train, test : ndarray of int64
        Rows, ascending.
    """
    _, classes = np.unique(labels, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(labels))
    by_class = order[np.argsort(classes[order], kind="stable")]
    counts = np.bincount(classes)
    # the place of each row among those of its class, and how many of that class are held out
    rank = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    held = np.minimum(np.floor(counts * test_size + 0.5), counts - 1)
    is_test = rank < np.repeat(held, counts)
    return np.sort(by_class[~is_test]), np.sort(by_class[is_test])


def group_split(
    groups: NDArray[np.int64], test_size: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Choose groups to hold out at random, with about the share of rows asked for.

    At least one group stays in training, and one is held out.

    Parameters
    ----------
    groups : ndarray of int, shape (n,)
        The number of each row's group, two at least, counted from 0.
    test_size : float
        The share of the rows to hold out, 0 <= test_size < 1; 0: none.
    seed : int

    Returns
    -------
    train, test : ndarray of int64
        Rows, ascending.
    """
    if test_size == 0:
        return np.arange(len(groups)), np.arange(0)
    sizes = np.bincount(groups)
    order = np.random.default_rng(seed).permutation(len(sizes))
    filled = np.cumsum(sizes[order])
    wanted = test_size * len(groups)
    count = int(np.abs(filled[:-1] - wanted).argmin()) + 1
    held = np.zeros(len(sizes), np.bool_)
    held[order[:count]] = True
    is_test = held[groups]
    return np.flatnonzero(~is_test), np.flatnonzero(is_test)
