"""Held-out rows, and the folds of the other rows."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from separable.data.split import group_split, stratified_split
from separable.data.table import TableError
from separable.errors import by_spelling
from separable.fitting.splits import group_folds, k_folds, stratified_folds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.workflow.target import Rows
    from separable.workflow.training_problem import Problem

__all__ = [
    "Folds",
    "folds_of",
    "forward_folds",
    "held_out_rows",
    "how_held_out",
    "part_of",
    "refuse_one_class",
]

Folds: TypeAlias = "list[tuple[NDArray[np.intp], NDArray[np.intp]]]"


def held_out_rows(problem: Problem, test_size: float, seed: int) -> tuple[Rows, Rows]:
    """Return the training rows and the held-out rows."""
    if problem.times is not None:
        return _last_in_time(problem.times, test_size)
    if problem.groups is not None:
        return group_split(problem.groups, test_size, seed)
    return problem.target.split(test_size, seed)


def how_held_out(problem: Problem) -> str:
    """Return a sentence that says how rows are held out."""
    if problem.times is not None:
        return f"the latest by {problem.options.time}"
    if problem.groups is not None:
        return f"no {problem.options.group} in both training and test rows"
    return "stratified by class" if problem.task == "classification" else "at random"


def _last_in_time(times: NDArray[Any], test_size: float) -> tuple[Rows, Rows]:
    """Hold out the latest rows: all of them later than every other."""
    n = len(times)
    if test_size == 0:
        return np.arange(n), np.arange(0)
    ordered = np.sort(times)
    first = min(max(math.floor(n * (1 - test_size) + 0.5), 1), n - 1)
    starts = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1  # index of the first later time
    cut = ordered[starts[np.abs(starts - first).argmin()]]
    return np.flatnonzero(times < cut), np.flatnonzero(times >= cut)


def part_of(problem: Problem, chosen: Rows, most: int, seed: int) -> Rows:
    """Return the indices of a random sample of the chosen rows; 0 means all of them."""
    n = len(chosen)
    if not most or n <= most:
        return np.arange(n)
    if problem.task == "classification":
        return stratified_split(problem.target.values[chosen], 1 - most / n, seed)[0]
    return np.sort(np.random.default_rng(seed).permutation(n)[:most])


def folds_of(problem: Problem, chosen: Rows, n_folds: int, seed: int) -> Folds | None:
    """Return folds of the chosen rows; None if there are too few."""
    if problem.times is not None:
        return forward_folds(problem.times[chosen], n_folds) or None
    if problem.groups is not None:
        return _group_folds(problem.groups[chosen], n_folds)
    n = len(chosen)
    if problem.task == "regression":
        if n < 4:
            return None
        return k_folds(n, min(n_folds, n // 2), seed)
    _, codes = np.unique(problem.target.values[chosen], return_inverse=True)
    counts = np.bincount(codes)
    if (len(counts) == 2 and counts.min() < 2) or counts.max() < 2:
        return None
    most = (
        counts.min() if len(counts) == 2 else counts.max()
    )  # both classes must be in the training rows
    # A class of one row is unknown while that row is held out.
    return stratified_folds(codes, min(n_folds, int(most)), seed)


def _group_folds(groups: NDArray[np.int64], n_folds: int) -> Folds | None:
    n_groups = len(np.unique(groups))
    if n_groups < 2:
        return None
    return group_folds(groups, min(n_folds, n_groups))


def forward_folds(times: NDArray[Any], n_folds: int) -> Folds:
    """Return folds that each hold out a period and train on everything before it.

    Rows of the same time stay together, so there may be fewer folds than requested.
    """
    n, order = len(times), np.argsort(times, kind="stable")
    ordered = times[order]
    starts = np.append(np.flatnonzero(ordered[1:] > ordered[:-1]) + 1, n)
    wanted = np.arange(1, n_folds + 2) * n // (n_folds + 1)
    cuts = np.unique(starts[np.minimum(np.searchsorted(starts, wanted), len(starts) - 1)])
    return [
        (np.sort(order[:start]), np.sort(order[start:stop]))
        for start, stop in pairwise(cuts.tolist())
    ]


def refuse_one_class(problem: Problem, train: Rows) -> None:
    """Refuse training rows of one class, which can result from groups or time."""
    if problem.task != "classification":
        return
    classes = np.unique(problem.target.values[train])
    if len(classes) < 2:
        raise TableError(
            f"All training rows are of class {classes[0].item()!r}: {how_held_out(problem)}. "
            "Change ",
            by_spelling("test_size or seed", "--test-size or --seed"),
            ", or name another column.",
        )
