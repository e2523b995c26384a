"""Separability of the classes within a time limit, on a random sample of many rows."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import Rows, as_rows
from separable.report.contents import Absent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.geometry.verdict import Verdict

__all__ = ["separability_of"]

#: Rows of the first sample, and the factor between samples. The first sample is smaller, but has
#: at least FEWEST rows, if classes times values exceed WORK.
FIRST, TIMES = 1000, 2
FEWEST, WORK = 200, 2_000_000

#: Maximum classes x rows x columns of the smallest sample: more than two classes are compared in
#: pairs.
PAIRS = 1e8

#: Time limit in seconds for the next sample; work grows at worst with the square of the rows.
SECONDS = 5.0

#: With more rows and columns than this a verdict is searched by passes over the rows, which of so
#: many numbers take some seconds at most.
BY_PASSES, NUMBERS = 1500, 1_000_000

NUMBERS_PREDICTED = "The task is regression; separability is a property of classes."


def separability_of(
    rows: Any,
    labels: NDArray[Any],
    *,
    of_what: str = "",
    feature_names: Sequence[str] | None = None,
    seed: int = 0,
) -> tuple[Verdict | Absent, str]:
    """Return the separability verdict and a description of its rows.

    Parameters
    ----------
    rows : Rows, array-like or sparse matrix, shape (n, d)
        As the model takes them.
    labels : ndarray, shape (n,)
    of_what : str
        Which rows these are, in words behind a number of them: " of penguins.csv".
    feature_names : sequence of str, optional
    seed : int, default 0
        Of the random part.

    Returns
    -------
    verdict : Verdict or Absent
    about : str
    """
    whole = as_rows(rows)
    n, d = whole.shape
    classes = len(np.unique(labels))
    if classes < 2:
        return Absent("The rows are all of one class."), ""
    filled = min(d, FEWEST * _numbers(whole))
    if classes > 2 and classes * min(n, FEWEST) * filled > PAIRS:
        return Absent(
            f"{classes} classes with {d} columns would take too long here. Use "
            "separable.geometry.separability(X, y) in Python."
        ), ""
    names = None if feature_names is None or d > len(feature_names) else feature_names
    order = np.random.default_rng(seed).permutation(n)
    verdict, used = _grown(whole, labels, order, names)
    if isinstance(verdict, Absent):
        return verdict, ""
    return verdict, _about(verdict, used, n, d, of_what)


def _grown(
    whole: Rows, labels: NDArray[Any], order: NDArray[np.int64], names: Sequence[str] | None
) -> tuple[Verdict | Absent, int]:
    """Ask larger and larger parts until one overlaps, all rows are in or time is up."""
    n = whole.n_rows
    most = _most_rows(whole)
    used, expected = min(_first_rows(whole, len(np.unique(labels))), most), 0.0
    result: Verdict | Absent = Absent("No random sample of the rows had two classes.")
    start = time.monotonic()
    while True:
        begun = time.monotonic()
        chosen = np.arange(n) if used == n else np.sort(order[:used])
        if len(np.unique(labels[chosen])) == len(np.unique(labels)) or used == most:
            result = _verdict(whole, labels, chosen, names)
        seconds = time.monotonic() - begun
        larger = min(TIMES * used, most)
        expected = seconds * (larger / used) ** 2
        over = not isinstance(result, Absent) and result.kind == "overlap"
        if over or used == most or begun - start + seconds + expected > SECONDS:
            return result, used
        used = larger


def _first_rows(whole: Rows, classes: int) -> int:
    """Return how many rows are looked at first."""
    return int(min(FIRST, max(FEWEST, WORK / (classes * _numbers(whole)))))


def _most_rows(whole: Rows) -> int:
    """Return how many rows can be looked at in short time."""
    n, d = whole.shape
    if min(n, d) <= BY_PASSES:
        return n
    return int(min(n, max(BY_PASSES, NUMBERS / _numbers(whole))))


def _numbers(whole: Rows) -> float:
    """Return how many numbers a row has, in the mean."""
    return max(1.0, whole.values.size / whole.n_rows)


def _verdict(
    whole: Rows, labels: NDArray[Any], chosen: NDArray[Any], names: Sequence[str] | None
) -> Verdict | Absent:
    from separable.geometry.separability import separability

    if len(np.unique(labels[chosen])) < 2:
        return Absent("A random sample of the rows has one class.")
    part = whole
    if len(chosen) < whole.n_rows:
        part, names = _filled_columns(whole.take(chosen), names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a report tells the verdict
        result: Any = separability(part.to_matrix(), labels[chosen], feature_names=names)
    verdict: Verdict = result
    return verdict


def _filled_columns(part: Rows, names: Sequence[str] | None) -> tuple[Rows, Sequence[str] | None]:
    """Return sparse rows without their empty columns, which decide nothing and cost time."""
    if part.indices is None:
        return part, names
    used, new_index = np.unique(part.indices, return_inverse=True)
    rows = Rows(part.values, len(used), new_index.astype(part.indices.dtype), part.indptr)
    return rows, None if names is None else [names[j] for j in used.tolist()]


def _about(verdict: Verdict, used: int, n: int, d: int, of_what: str) -> str:
    columns = f"{d} number{'s' * (d != 1)} each"
    if used == n:
        return f"All {n} rows{of_what} as encoded by the model, {columns}."
    sentence = (
        f"A random sample of {used} of the {n} rows{of_what} as encoded by the model, {columns}"
    )
    if verdict.separable is False:
        return f"{sentence}. A sample is enough: if it is not separable, neither are all rows."
    return f"{sentence}, to limit the time. All rows together may be harder to separate."
