"""Thread pool over blocks of lanes, with results in block order, and cooperative cancellation."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

Block = TypeVar("Block")
Result = TypeVar("Result")


@dataclass
class Cancellation:
    """Cooperative cancellation: the callback asked to stop, or the consumer went away."""

    callback: Callable[[int, float], Any] | None = None
    stop_requested: bool = False
    abandoned: bool = False

    def __call__(self, number: int, gap: float) -> bool:
        """Report a pass to the callback; return whether any call of it has asked to stop."""
        self.raise_if_abandoned()
        if self.callback is not None and not self.stop_requested and self.callback(number, gap):
            self.stop_requested = True
        return self.stop_requested

    def raise_if_abandoned(self) -> None:
        """Raise CancelledError if the consumer went away."""
        if self.abandoned:
            raise CancelledError


def parallel_map(
    blocks: Sequence[Block], learn: Callable[[Block], Result], n_jobs: int, end: Cancellation
) -> Iterator[Result]:
    """Yield the results of all blocks, in their order.

    Examples
    --------
    >>> list(parallel_map([1, 2, 3], lambda block: block * block, 2, Cancellation()))
    [1, 4, 9]
    """
    if n_jobs == 1 or len(blocks) == 1:
        yield from map(learn, blocks)
        return
    rest = iter(blocks)
    with ThreadPoolExecutor(n_jobs) as pool:

        def begin(block: Block) -> Future[Result]:
            return pool.submit(learn, block)

        work = deque(begin(block) for block in islice(rest, n_jobs + 1))
        try:
            while work:  # release consumed results, so that memory stays bounded
                result = work.popleft().result()
                work.extend(begin(block) for block in islice(rest, 1))
                yield result
        finally:  # on an error or Ctrl-C the worker threads stop too
            end.abandoned = True
            for one in work:
                one.cancel()
