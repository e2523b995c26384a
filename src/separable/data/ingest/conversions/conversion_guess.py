"""Guessed conversion of a text column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from separable.data.ingest.conversions.conversion import DateConversion

if TYPE_CHECKING:
    from separable.data.ingest.conversions.conversion import Conversion

__all__ = ["ConversionGuess"]


@dataclass(frozen=True)
class ConversionGuess:
    """Guessed conversion of a column.

    Parameters
    ----------
    conversion : Conversion or None
        None: the column stays text, for the reason given.
    reason : str
        What was decided, and why.
    converted : int
        Values that were converted.
    missing : dict of str to int
        Texts that count as missing, with the number of values.
    sure : bool
        Whether the texts alone decide; if not, the reason says how it was decided.
    remedy : str
        What to do about a column that stays text.
    """

    conversion: Conversion | None
    reason: str
    converted: int = 0
    missing: dict[str, int] = field(default_factory=dict)
    sure: bool = True
    remedy: str = ""

    @property
    def kind(self) -> str:
        """Type of the converted column."""
        return "date" if isinstance(self.conversion, DateConversion) else "number"
