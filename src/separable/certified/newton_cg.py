"""Provisional."""

from typing import Any


def newton_cg(
    problem: Any, lane: Any, *, tol: float, max_iter: int, start: Any = None, on_step: Any = None
) -> Any:
    raise NotImplementedError
