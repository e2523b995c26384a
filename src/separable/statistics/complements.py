"""The sums of all parts but one, for every part."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.moments.base import AnySums

__all__ = ["each_complement"]


def each_complement(parts: Sequence[AnySums]) -> Iterator[AnySums]:
    """Yield, for each part, the sums of all others, by merging only.

    Parts before it are merged from the front and those after it from the back, so that no digits
    are lost by subtracting. What is no longer needed is let go on the way.
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
