"""Conversion of a target column of texts such as ``$1,200`` to numbers.

The conversions are those of feature columns, with one difference: a text that cannot be read is an
error and not a missing value, since its row would be lost without a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.data.columns import Numbers
from separable.data.ingest.conversions.applying import convert
from separable.data.ingest.conversions.guessing import guess_conversion
from separable.data.labels import most_classes
from separable.errors import Option, OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from separable.data.columns import Categories
    from separable.data.ingest.conversions.conversion import Conversion
    from separable.data.ingest.conversions.guessing import ConversionGuess, Given

__all__ = ["converted_target", "guess_target", "is_quantity"]


def guess_target(
    name: str, column: Categories, given: Mapping[str, Given], *, sure: bool
) -> ConversionGuess | None:
    """Guess the conversion of a target to numbers.

    Parameters
    ----------
    name : str
    column : Categories
    given : mapping of str to conversion
        Those that the user gave, by column.
    sure : bool
        Whether numbers are requested. If not, there is a guess only if nearly all texts can be
        read and are too many to be classes.

    Returns
    -------
    ConversionGuess or None
        None: plain texts or plain numbers.
    """
    if name not in given and not sure:
        guess = guess_conversion(name, column, {})
        if guess is None or guess.kind == "date":
            return None
        if guess.conversion is None:
            return guess if guess.reason.startswith("numbers") and _many_texts(column) else None
        if not is_quantity(converted_target(name, column, guess.conversion)):
            return None
    guess = guess_conversion(name, column, given, "number")
    if guess is not None and guess.kind == "date":
        raise OptionError(
            Option("convert", {name: given.get(name)}), ": the target has to be numbers, not dates."
        )
    return guess


def is_quantity(values: NDArray[np.float64]) -> bool:
    """Return whether numbers have too many distinct values to be classes."""
    present = values[~np.isnan(values)]
    whole = bool(np.all(present == np.floor(present)))
    most = most_classes(len(present), numbers=True, sure=False, whole=whole)
    return len(np.unique(present)) > most


def _many_texts(column: Categories) -> bool:
    """Return whether texts are too many to be classes: "<=50K" and ">50K" are two classes."""
    n_values = int(np.count_nonzero(column.codes >= 0))
    return len(column.levels) > most_classes(n_values, numbers=True, sure=False)


def converted_target(name: str, column: Categories, conversion: Conversion) -> NDArray[np.float64]:
    """Return a target column as numbers, NaN where it is missing.

    Raises
    ------
    CellError
        A text that the conversion does not read.
    """
    values = convert(name, column, conversion)
    assert isinstance(values, Numbers)
    return values.values
