"""Values of a parametrization, of which an ordinary run takes some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable


def first(count: int, values: Iterable[Any]) -> list[Any]:
    """Return values that are long after the first ones."""
    long = pytest.mark.long
    return [
        value if place < count else pytest.param(value, marks=long)
        for place, value in enumerate(values)
    ]
