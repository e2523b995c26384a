"""Error of fits without a finite solution, because the classes are separable."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from separable.model.words import feature_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.geometry.verdict import Verdict

__all__ = ["SeparationError", "naming_columns"]

#: Maximum number of columns named in a message.
MAX_SHOWN = 5


class SeparationError(ValueError):
    """The classes are separable, so weights without a penalty diverge.

    Parameters
    ----------
    verdict : Verdict
        With the proof.
    what : str
        What has no finite solution.
    remedy : str
        What to do instead.
    columns : sequence of int
        Indices of the columns responsible; empty: all of them together.
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
        self._indices = tuple(int(column) for column in columns)
        super().__init__(self._message())

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns responsible, ``x7`` where none were given; empty: all."""
        return tuple(feature_name(self._names, column) for column in self._indices)

    def named(self, names: Sequence[str] | None) -> SeparationError:
        """Return the same error with the names of all columns, if it has none yet."""
        if names is None or self._names is not None:
            return self
        return SeparationError(self.verdict, self._what, self._remedy, self._indices, names)

    def _message(self) -> str:
        shown = ", ".join(map(repr, self.columns[:MAX_SHOWN]))
        more = len(self.columns) - MAX_SHOWN
        shown += f" and {more} more" if more > 0 else ""
        if self.verdict.kind == "separable" and not self.columns:
            how = (
                f"the classes are separable (by a margin of {self.verdict.margin:.3g}), by all "
                "columns together"
            )
        elif self.verdict.kind == "separable":
            together = "alone" if len(self.columns) == 1 else "together"
            how = f"the classes are separable, by {shown} {together}"
        else:
            verb = "separates" if len(self.columns) == 1 else "separate"
            how = (
                f"the classes are quasi-separable: {shown} {verb} them but for rows on the boundary"
            )
        return (
            f"{self._what} has no finite solution: {how}, so that weights grow without end. "
            f"{self._remedy}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self.verdict, self._what, self._remedy, self._indices, self._names)
        return SeparationError, arguments


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
