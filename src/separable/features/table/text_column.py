"""Free-text columns, encoded by a TextEncoder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.data.strings import ChainedTexts, PrefixedTexts
from separable.features.encoding_report import ColumnReport
from separable.features.row_assembly import BlockSlot, NumberSlot, Slot
from separable.features.table.category_column import categories_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.data.ingest.dates import TypedColumn
    from separable.features.text.text_encoder import TextEncoder

__all__ = ["TextColumn", "TextState", "text_encoder"]

#: From this many texts on, terms of a single text are dropped.
ENOUGH_TEXTS = 100


def text_encoder(options: Any) -> tuple[TextEncoder, bool]:
    """Return a new text encoder, and whether its ``min_df`` is chosen automatically.

    Parameters
    ----------
    options : TextEncoder, mapping of its parameters, or None
        None: words and pairs of words, sublinear tf-idf, rows of length 1.
    """
    from separable.features.text.text_encoder import TextEncoder

    if isinstance(options, TextEncoder):
        return TextEncoder(**options.get_params(deep=False)), False
    if options is not None and not isinstance(options, Mapping):
        raise ValueError(
            "The 'text' parameter of TableEncoder must give a TextEncoder or a dict of its "
            f"parameters for a column. Got {options!r} instead."
        )
    hashing = options is not None and options.get("n_features") is not None
    weights = {"use_idf": False} if hashing else {"sublinear_tf": True}  # hashing keeps no counts
    settings: dict[str, Any] = {"ngram_range": (1, 2), **weights, **(options or {})}
    counts = settings.get("n_features") is None and settings.get("vocabulary") is None
    return TextEncoder(**settings), counts and "min_df" not in settings


class TextState:
    """Fitted counts of a text column; merges exactly.

    Parameters
    ----------
    encoder : TextEncoder
        Not shared while texts are added.
    chooses_min_df : bool
        Whether ``min_df`` depends on the number of texts.
    """

    def __init__(self, encoder: TextEncoder, chooses_min_df: bool) -> None:
        self._encoder = encoder
        self._is_handed_out = False  # a fitted column uses the encoder: copy it before adding texts
        self.chooses_min_df = chooses_min_df
        self.count = 0
        self.missing = 0

    def add(self, column: TypedColumn) -> None:
        """Fit to values."""
        texts, missing = _texts(column)
        self._learn(texts, int(missing.sum()))

    def with_missing(self, n: int) -> TextState:
        """Return the state with more missing texts."""
        if not n:
            return self
        least = 1 if self.chooses_min_df else self._encoder.min_df
        state = TextState(self._encoder.copy_to_learn_on(least), self.chooses_min_df)
        state.count, state.missing = self.count, self.missing
        state._learn([""] * n, n)
        return state

    def _learn(self, texts: list[str], missing: int) -> None:
        self._encoder, self._is_handed_out = self._own(), False
        self._encoder.partial_fit(texts)
        self.count += len(texts)
        self.missing += missing

    def _own(self) -> TextEncoder:
        if not self._is_handed_out:
            return self._encoder
        return self._encoder.copy_to_learn_on(1 if self.chooses_min_df else self._encoder.min_df)

    def merge(self, other: TextState) -> TextState:
        """Return the state for the rows of both."""
        merged = TextState(self._own().merge(other._own()), self.chooses_min_df)
        merged.count = self.count + other.count
        merged.missing = self.missing + other.missing
        return merged

    def finish(self, name: str) -> TextColumn | str:
        """Return the fitted column, or the reason to drop it."""
        if self.count == self.missing:
            return "every value is missing"
        encoder = self._encoder
        if self.chooses_min_df:
            encoder.choose_min_df(2 if self.count >= ENOUGH_TEXTS else 1)
        self._is_handed_out = True
        try:
            _ = encoder.feature_names
        except ValueError as error:
            return f"no words to learn from: {error}"
        return TextColumn(name, encoder, self.missing > 0)


@dataclass(frozen=True, slots=True)
class TextColumn:
    """Encoder of a text column; a missing text is a row of zeros.

    Parameters
    ----------
    name : str
        Raw column.
    encoder : TextEncoder
        Fitted.
    missing : bool
        Whether training values were missing, which adds an indicator ``name=(missing)``.
    """

    name: str
    encoder: TextEncoder
    missing: bool

    kind: ClassVar[str] = "text"

    @property
    def feature_names(self) -> Sequence[str]:
        """Output feature names."""
        names = PrefixedTexts(f"{self.name}:", self.encoder.feature_names)
        return ChainedTexts([names, (f"{self.name}=(missing)",)]) if self.missing else names

    @property
    def width(self) -> int:
        """Number of output features."""
        return len(self.encoder.feature_names) + self.missing

    def encode(self, column: TypedColumn) -> tuple[list[Slot], ColumnReport]:
        """Return the slots of the column, and the missing values."""
        texts, missing = _texts(column)
        slots: list[Slot] = [BlockSlot(self.encoder.encode(texts))]
        if self.missing:
            slots.append(NumberSlot(missing.astype(np.float64)))
        return slots, ColumnReport.of_missing(self.name, missing, self.missing)

    def encode_one(self, value: Any) -> list[tuple[int, float]] | None:
        """Return index and value of the non-zeros of one record.

        None: the value is unusual, and `encode` must handle it.
        """
        if type(value) is not str:
            return None
        rows = self.encoder.encode([value])
        if rows.indices is None:
            return None
        return list(zip(rows.indices.tolist(), rows.values.tolist(), strict=True))

    def shown(self, index: int, value: float) -> str | None:
        """Return None: the name of the feature is its raw value."""
        del index, value
        return None


def _texts(column: TypedColumn) -> tuple[list[str], Any]:
    categories = categories_of(column)
    levels = np.array([*categories.levels, ""], dtype=object)
    return levels[categories.codes].tolist(), categories.codes < 0
