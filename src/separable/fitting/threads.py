"""Threads of linear algebra: one, so that the bits do not depend on how many there are."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import scipy.linalg  # noqa: F401  # its own library is to be loaded before libraries are looked up
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = ["one_blas_thread"]


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which NumPy and SciPy multiply matrices in one thread."""
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited
