"""Training sums of each fold, merged from the sums of the held-out rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.moments.base import AnySums
    from separable.statistics.moments import Moments
    from separable.typing import Indices


__all__ = ["each_complement", "holds_out_each_once", "merged_folds"]


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
