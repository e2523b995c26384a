"""The error of fits that have no finite solution, because the classes can be separated."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from separable.model.words import feature_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.geometry.verdict import Verdict

__all__ = ["SeparationError", "naming_columns"]

#: So many columns are named in a message.
SHOWN = 5


class SeparationError(ValueError):
    """Classes can be separated, so that weights without a penalty grow without end.

    Parameters
    ----------
    verdict : Verdict
        With the proof.
    what : str
        What has no finite solution.
    remedy : str
        What to do instead.
    columns : sequence of int
        Places of the columns responsible; empty: all of them together.
    names : sequence of str, optional
        Of all columns.
    """

    def __init__(
        self,
        verdict: Verdict,
        what: str,
        remedy: str,
        columns: Sequence[int] = (),
        names: Sequence[str] | None = None,
    ) -> None:
        self.verdict = verdict
        self._what, self._remedy, self._names = what, remedy, names
        self._places = tuple(int(column) for column in columns)
        super().__init__(self._message())

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns responsible, ``x7`` where none were given; empty: all."""
        return tuple(feature_name(self._names, column) for column in self._places)

    def named(self, names: Sequence[str] | None) -> SeparationError:
        """Return the same error with the names of all columns, if it has none yet."""
        if names is None or self._names is not None:
            return self
        return SeparationError(self.verdict, self._what, self._remedy, self._places, names)

    def _message(self) -> str:
        some = ", ".join(map(repr, self.columns[:SHOWN]))
        more = len(self.columns) - SHOWN
        some += f" and {more} more" if more > 0 else ""
        if self.verdict.kind == "separable" and not self.columns:
            how = (
                f"the classes are separable (by a margin of {self.verdict.margin:.3g}), by all "
                "columns together"
            )
        elif self.verdict.kind == "separable":
            together = "alone" if len(self.columns) == 1 else "together"
            how = f"the classes are separable, by {some} {together}"
        else:
            how = (
                f"the classes are quasi-separable: {some} separate{'s' * (len(self.columns) == 1)} "
                "them but for rows on the boundary"
            )
        return (
            f"{self._what} has no finite solution: {how}, so that weights grow without end. "
            f"{self._remedy}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        given = (self.verdict, self._what, self._remedy, self._places, self._names)
        return SeparationError, given


@contextmanager
def naming_columns(names: Sequence[str] | None) -> Iterator[None]:
    """Give errors the names of all columns, where these are known."""
    try:
        yield
    except SeparationError as error:
        named = error.named(names)
        if named is error:
            raise
        raise named from None
