"""Train/test splits: random, stratified, or by group."""

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
    """Hold out rows at random; at least two remain for training.

    Parameters
    ----------
    n_rows : int
    test_size : float
        Fraction to hold out, 0 <= test_size < 1.
    seed : int

    Returns
    -------
    train, test : ndarray of int64
        Row indices, ascending.
    """
    held = max(0, min(math.floor(n_rows * test_size + 0.5), n_rows - 2))
    order = np.random.default_rng(seed).permutation(n_rows)
    return np.sort(order[held:]), np.sort(order[:held])


def stratified_split(
    labels: NDArray[Any], test_size: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Hold out the same fraction of each class at random.

    At least one row of each class remains for training.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    test_size : float
        Fraction to hold out, 0 <= test_size < 1.
    seed : int

    Returns
    -------
    train, test : ndarray of int64
        Row indices, ascending.
    """
    _, classes = np.unique(labels, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(labels))
    by_class = order[np.argsort(classes[order], kind="stable")]
    counts = np.bincount(classes)
    # rank of each row within its class, and the number of held-out rows of the class
    rank = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    held = np.minimum(np.floor(counts * test_size + 0.5), counts - 1)
    is_test = rank < np.repeat(held, counts)
    return np.sort(by_class[~is_test]), np.sort(by_class[is_test])


def group_split(
    groups: NDArray[np.int64], test_size: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Hold out whole groups at random, with about the requested fraction of rows.

    At least one group remains for training, and at least one is held out.

    Parameters
    ----------
    groups : ndarray of int, shape (n,)
        Group code of each row, counted from 0; at least two groups.
    test_size : float
        Fraction of the rows to hold out, 0 <= test_size < 1; 0 holds out none.
    seed : int

    Returns
    -------
    train, test : ndarray of int64
        Row indices, ascending.
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
