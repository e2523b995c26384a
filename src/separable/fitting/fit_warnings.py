"""Warnings of many fits, each issued once."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Notices", "held_back"]


@contextmanager
def held_back() -> Iterator[list[warnings.WarningMessage]]:
    """Hold warnings back to the end; those removed from the list are not issued."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught
    for each in caught:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


@dataclass
class Notices:
    """Collects warnings fold by fold; those from the same place are one.

    Parameters
    ----------
    what : str, default "fold"
        What is counted.
    """

    what: str = "fold"
    seen: dict[tuple[type[Warning], str, int], tuple[Warning, set[int]]] = field(
        default_factory=dict
    )

    @contextmanager
    def of_fold(self, fold: int) -> Iterator[None]:
        """Hold back the warnings of a fold."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for each in caught:
            key = (each.category, each.filename, each.lineno)
            message = each.message if isinstance(each.message, Warning) else each.category()
            self.seen.setdefault(key, (message, set()))[1].add(fold)

    def include(self, others: Notices) -> None:
        """Add what others collected."""
        for key, (message, folds) in others.seen.items():
            self.seen.setdefault(key, (message, set()))[1].update(folds)

    def tell(self, n_folds: int) -> None:
        """Warn of everything that was held back."""
        for (category, filename, line), (message, folds) in self.seen.items():
            many = (
                f" [in {len(folds)} of {n_folds} {self.what}s, first in {self.what} {min(folds)}]"
            )
            if message.args == (str(message),):
                message.args = (str(message) + many,)
            warnings.warn_explicit(message, category, filename, line)
