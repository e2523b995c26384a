"""Progress of cross-validation: a callback after each fit of a candidate on a fold."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["counting_fits", "fit_done"]

_ON_FIT: ContextVar[Callable[[], Any] | None] = ContextVar("on_fit", default=None)


@contextmanager
def counting_fits(callback: Callable[[int], Any]) -> Iterator[None]:
    """Call back after each fit of a candidate on a fold, with the number of fits so far."""
    fits = count(1)
    token = _ON_FIT.set(lambda: callback(next(fits)))
    try:
        yield
    finally:
        _ON_FIT.reset(token)


def fit_done() -> None:
    """Report one fit."""
    callback = _ON_FIT.get()
    if callback is not None:
        callback()
