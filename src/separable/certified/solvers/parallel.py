"""Blocks of work shared out to threads, in an order that does not depend on their number."""

from __future__ import annotations

from collections import deque
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

__all__ = ["End", "shared_out"]

Block = TypeVar("Block")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class End:
    """How work ends early: lanes stop where they are, or nobody takes any more what they learn."""

    asked: Event = field(default_factory=Event)
    abandoned: Event = field(default_factory=Event)

    def leave_if_abandoned(self) -> None:
        """End the work of a thread whose answer nobody takes."""
        if self.abandoned.is_set():
            raise CancelledError

    def tell(self, told: Callable[[int, float], Any] | None, number: int, gap: float) -> bool:
        """Tell the caller of a pass; return whether to stop, as for all lanes once it says so."""
        self.leave_if_abandoned()
        if told is not None and not self.asked.is_set() and told(number, gap):
            self.asked.set()
        return self.asked.is_set()


def shared_out(
    blocks: Sequence[Block], learn: Callable[[Block], Answer], n_jobs: int, end: End
) -> Iterator[Answer]:
    """Yield what blocks teach, in their order.

    Examples
    --------
    >>> list(shared_out([1, 2, 3], lambda block: block * block, 2, End()))
    [1, 4, 9]
    """
    if n_jobs == 1 or len(blocks) == 1:
        yield from map(learn, blocks)
        return
    rest = iter(blocks)
    with ThreadPoolExecutor(n_jobs) as pool:

        def begin(block: Block) -> Future[Answer]:
            return pool.submit(learn, block)

        work = deque(begin(block) for block in islice(rest, n_jobs + 1))
        try:
            while work:  # what is taken is forgotten, so that memory does not grow
                answer = work.popleft().result()
                work.extend(begin(block) for block in islice(rest, 1))
                yield answer
        finally:  # an error, or Ctrl-C, which only this thread hears: the others end too
            end.abandoned.set()
            for one in work:
                one.cancel()
