"""The ledger of levels that an encoder met and its training data did not have."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["UnseenLedger"]

#: How many levels of a column are kept by name.
NAMES = 100


class UnseenLedger:
    """What was met since the encoder was fitted, by column and level, counted.

    At most 100 levels of a column are kept by name; the others are counted together. A copy, and
    what comes out of a file or a pickle, starts empty: the ledger is no part of the model.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._columns: dict[str, dict[str, int]] = {}
        self._others: dict[str, int] = {}

    def add(self, column: str, counts: Mapping[str, int]) -> None:
        """Note how often some levels were met."""
        with self._lock:
            named = self._columns.setdefault(column, {})
            for level, count in counts.items():
                if level in named or len(named) < NAMES:
                    named[level] = named.get(level, 0) + count
                else:
                    self._others[column] = self._others.get(column, 0) + count

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return for each column its count, its levels with theirs, and the count of the others."""
        with self._lock:
            return {
                column: {
                    "count": sum(levels.values()) + self._others.get(column, 0),
                    "levels": dict(sorted(levels.items(), key=lambda pair: -pair[1])),
                    "others": self._others.get(column, 0),
                }
                for column, levels in self._columns.items()
            }

    def __reduce__(self) -> tuple[type[UnseenLedger], tuple[()]]:
        return UnseenLedger, ()
