"""Sums of cross-validation folds: training sums by merging, squared errors of held-out rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from separable.moments.base import AnySums
    from separable.statistics.moments import Moments
    from separable.statistics.sums import Sums
    from separable.typing import Floats, Indices

__all__ = [
    "each_complement",
    "gap_of_means",
    "holds_out_each_once",
    "merged_folds",
    "squared_errors",
]


def each_complement(parts: Sequence[AnySums]) -> Iterator[AnySums]:
    """Yield, for each part, the merged sums of all others.

    Prefix and suffix merges avoid subtraction and its cancellation. Sums are freed as soon as they
    are no longer needed.
    """
    if len(parts) == 1:
        yield parts[0] - parts[0]
        return
    after = [parts[-1]]
    for part in parts[-2:0:-1]:
        after.append(part + after[-1])
    before = None
    for part in parts:
        if before is None:
            yield after.pop()
            before = part
        else:
            yield before + after.pop() if after else before
            before = before + part


def merged_folds(held_out: Sequence[Moments]) -> tuple[list[Moments], Moments]:
    """Return the training sums of each fold and the sums of all rows."""
    learned = list(each_complement(held_out))
    return learned, learned[0] + held_out[0]


def holds_out_each_once(tests: Sequence[Indices], n_rows: int) -> bool:
    """Return whether the test sets partition the rows."""
    if sum(len(test) for test in tests) != n_rows:
        return False
    held_out = np.zeros(n_rows, bool)
    for test in tests:
        held_out[test] = True
    return bool(held_out.all())


def gap_of_means(learned: Sums, held_out: Sums, *, fit_intercept: bool) -> tuple[Sums, Floats]:
    """Return the held-out sums in a common scale, and their mean relative to the training mean.

    Parameters
    ----------
    learned, held_out : Sums
        Of one group each.
    fit_intercept : bool
        Whether the origin is the training mean; otherwise 0.
    """
    held_out = held_out.rescaled(np.minimum(learned.scale, held_out.scale))
    if not fit_intercept:
        return held_out, held_out.scaled_means[0]
    origin = learned.rescaled(held_out.scale)
    return held_out, (held_out.seen_from(origin) - origin.offset)[0]


def squared_errors(
    held_out: Sums, gap: Floats, kept: NDArray[np.intp], weights: Floats
) -> tuple[Floats, Floats]:
    """Return the sums of squared errors of rows, from their sums.

    sum c (y - w.x - b)^2 = T - 2 w'c + w'Sw + W e^2 with T, c, S their centred sums and e the error
    at their mean.

    Parameters
    ----------
    held_out : Sums
        Of one group; the targets are the last columns.
    gap : ndarray, shape (p,)
        Their mean, relative to the point where the models predict 0.
    kept : ndarray of int, shape (k,)
        The columns with weights.
    weights : ndarray, shape (A, t, k)
        Of A models, in units of z.

    Returns
    -------
    squares : ndarray, shape (A, t)
        In units of the targets as z, squared.
    fraction : ndarray, shape (A,)
        Its ratio to the largest term of the sum; cancellation if it is small.
    """
    y = np.arange(held_out.n_columns - weights.shape[1], held_out.n_columns)
    own = held_out.scatter[y, y] + held_out.weight[0] * gap[y] ** 2
    spread = np.einsum("atk,atk->at", weights @ held_out.scatter[np.ix_(kept, kept)], weights)
    cross = np.einsum("atk,kt->at", weights, held_out.scatter[np.ix_(kept, y)])
    middle = gap[y] - weights @ gap[kept]
    squares = held_out.scatter[y, y] - 2 * cross + spread + held_out.weight[0] * middle**2
    largest = np.maximum(own, spread)
    fraction = np.divide(squares, largest, out=np.zeros_like(squares), where=largest > 0)
    return squares, fraction.min(axis=1)
