"""Documents, alphabet and tokenization of texts, equivalent to scikit-learn's vectorizers.

The tokenizer here is the slow path, for custom patterns and functions. The compiled core handles
scikit-learn's default tokens.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import portable
from separable.data.arrow_arrays import as_arrow, is_text, nulls, text_buffers
from separable.data.table import is_missing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray


__all__ = [
    "SPECIAL",
    "TextSource",
    "alphabet",
    "char_ngrams",
    "char_wb_ngrams",
    "documents_of",
    "preprocessor_of",
    "strip_accents_of",
    "tables_for",
    "tokenizer_of",
    "word_ngrams",
]

WORD, SPACE = 1, 2

#: Flag of characters without a context-free lower case.
SPECIAL = 4


def strip_accents_of(choice: Any) -> Callable[[str], str] | None:
    """Return the function that strips accents, or None."""
    if not choice:
        return None
    if callable(choice):
        function: Callable[[str], str] = choice
        return function
    return _strip_ascii if choice == "ascii" else _strip_unicode


def _strip_unicode(text: str) -> str:
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text)
    return "".join(c for c in parts if not unicodedata.combining(c))


def _strip_ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def preprocessor_of(
    preprocessor: Callable[[str], str] | None, strip_accents: Any, lowercase: bool
) -> Callable[[str], str] | None:
    """Return the preprocessing function of texts, or None."""
    if preprocessor is not None:
        return preprocessor
    strip = strip_accents_of(strip_accents)
    if strip is None:
        return str.lower if lowercase else None
    return (lambda text: strip(text.lower())) if lowercase else strip


def tokenizer_of(
    tokenizer: Callable[[str], Sequence[str]] | None, pattern: str
) -> Callable[[str], Sequence[str]]:
    """Return the tokenizer."""
    if tokenizer is not None:
        return tokenizer
    return re.compile(pattern).findall


def word_ngrams(
    tokens: Iterable[str], stop_words: Collection[str], min_n: int, max_n: int
) -> list[str]:
    """Return the n-grams of tokens, joined with spaces."""
    words = [token for token in tokens if token not in stop_words]
    if max_n == 1:
        return words
    return [
        " ".join(words[i : i + n])
        for n in range(min_n, min(max_n, len(words)) + 1)
        for i in range(len(words) - n + 1)
    ]


def char_ngrams(text: str, min_n: int, max_n: int) -> list[str]:
    """Return the n-grams of characters; runs of white space count as one space."""
    text = re.sub(r"\s\s+", " ", text)
    return [
        text[i : i + n]
        for n in range(min_n, min(max_n, len(text)) + 1)
        for i in range(len(text) - n + 1)
    ]


def char_wb_ngrams(text: str, min_n: int, max_n: int) -> list[str]:
    """Return the n-grams of characters within words, each with a space on both sides.

    A word that is shorter than n counts once.
    """
    ngrams = []
    for word in text.split():
        padded = f" {word} "
        largest = min(max_n, max(len(padded), min_n))
        ngrams += [
            padded[i : i + n]
            for n in range(min_n, largest + 1)
            for i in range(max(len(padded) - n, 0) + 1)
        ]
    return ngrams


@cache
def alphabet() -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Return the flags and the lower case of every code point.

    A capital sigma has two lower-case forms, depending on its neighbours, and a dotted capital I
    becomes two characters. Such characters are marked `SPECIAL`: their documents are lowered by
    ``str.lower``.
    """
    n = sys.maxunicode + 1
    points = np.arange(n, dtype=np.uint32)
    points[0xD800:0xE000] = 0  # surrogates are not characters
    text = points.tobytes().decode("utf-32-le" if sys.byteorder == "little" else "utf-32-be")
    flags = np.zeros(n, np.uint8)
    for flag, pattern in ((WORD, r"\w+"), (SPACE, r"\s+")):
        for match in re.finditer(pattern, text):
            flags[match.start() : match.end()] |= flag
    lower, special = _lower(text, points)
    flags[special] |= SPECIAL
    return flags, lower


def tables_for(documents: portable.TextDocuments) -> tuple[Any, Any]:
    """Return the tables that documents need: none for ASCII."""
    return (None, None) if documents.is_ascii else alphabet()


def _lower(text: str, points: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], list[int]]:
    blocks = range(0, len(text), 1024)
    odd = [b for b in blocks if len(text[b : b + 1024].lower()) != len(text[b : b + 1024])]
    longer = [p for b in odd for p in range(b, b + 1024) if len(text[p : p + 1].lower()) > 1]
    special = [ord("Σ"), *longer]
    plain = points.copy()
    plain[special] = 0
    code = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"
    lowered = plain.tobytes().decode(code).lower().encode(code)
    lower = np.frombuffer(lowered, dtype=np.uint32).copy()
    lower[0xD800:0xE000] = np.arange(0xD800, 0xE000)
    lower[special] = special
    return lower, special


class TextSource:
    """Reader of the texts that a user passes.

    Parameters
    ----------
    kind : {"content", "file", "filename"}
        Type of the items.
    encoding, decode_error : str
        How bytes are decoded.
    any_type : bool, default False
        Whether a function of the user takes the items, so that they need not be texts.
    """

    def __init__(
        self, kind: str, encoding: str, decode_error: str, *, any_type: bool = False
    ) -> None:
        self.kind = kind
        self.any_type = any_type
        self.encoding = encoding
        self.decode_error = decode_error

    def documents(self, data: Any) -> portable.TextDocuments:
        """Return the texts for the compiled core, Arrow data without a copy."""
        arrays = _arrow_chunks(data) if self.kind == "content" else None
        if arrays is None:
            return documents_of(self.texts(data))
        documents = portable.TextDocuments()
        first = 0
        for array in arrays:
            _refuse_null(array, first)
            bad = documents.add_arrow(*text_buffers(array))
            if bad >= 0:
                raise ValueError(
                    f"The text in row {first + bad} is not valid UTF-8 or longer than 1 GB. "
                    "Decode it with the right encoding, or leave it out."
                )
            first += len(array)
        return documents

    def texts(self, data: Any) -> list[str]:
        """Return the texts as a list of str."""
        arrays = _arrow_chunks(data) if self.kind == "content" else None
        if arrays is not None:
            first = 0
            for array in arrays:
                _refuse_null(array, first)
                first += len(array)
            return [text for array in arrays for text in array.to_pylist()]
        items = _items(data)
        if self.kind == "content" and all(isinstance(item, str) for item in items):
            return items
        return [self._text(item, row) for row, item in enumerate(items)]

    def _text(self, item: Any, row: int) -> str:
        if self.kind == "filename":
            item = Path(item).read_bytes()
        elif self.kind == "file":
            item = item.read()
        if isinstance(item, (bytes, bytearray, memoryview)):
            try:
                return bytes(item).decode(self.encoding, self.decode_error)
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"The text in row {row} is not {self.encoding}: {error.reason} at byte "
                    f"{error.start}. Name its encoding, or pass decode_error='replace'."
                ) from error
        if isinstance(item, str) or (self.any_type and not is_missing(item)):
            return item  # type: ignore[no-any-return]
        raise ValueError(_not_text(item, row))


def documents_of(texts: list[str]) -> portable.TextDocuments:
    """Return a list of str for the compiled core."""
    documents = portable.TextDocuments()
    bad = documents.add_list(texts)
    if bad >= 0:
        _refuse_text(texts[bad], bad)
    return documents


def _refuse_text(text: Any, row: int) -> None:
    if not isinstance(text, str):
        raise ValueError(_not_text(text, row))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"The text in row {row} has a lone surrogate, {text[error.start]!r} at character "
            f"{error.start}, so it is not valid Unicode. Decode it again with the right encoding, "
            "or with text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')."
        ) from None
    raise ValueError(f"The text in row {row} is longer than 1 GB. Cut it into parts.")


def _not_text(item: Any, row: int) -> str:
    if is_missing(item):
        return (
            f"The text in row {row} is missing ({item}). Fill missing texts with '' or drop the "
            "row."
        )
    return (
        f"The text in row {row} is {item!r:.80}, of type {type(item).__name__}. Texts must be str "
        "or bytes: convert it with str."
    )


def _items(data: Any) -> list[Any]:
    """Return an iterable as a new list."""
    if isinstance(data, (str, bytes)):
        raise ValueError(
            f"Expected a list of texts, got one {type(data).__name__}: {data!r:.40}. Put it into a "
            "list: [text]."
        )
    if hasattr(data, "columns") or isinstance(data, Mapping):
        raise ValueError(
            "Expected a list of texts, got a table. Pass one of its columns, for example "
            "table['text']."
        )
    if isinstance(data, np.ndarray) and data.ndim != 1:
        raise ValueError(
            f"Expected a list of texts, got an array of shape {data.shape}. Pass one of its "
            "columns, for example X[:, 0]."
        )
    for name in ("to_pylist", "tolist"):  # Arrow; NumPy and pandas
        if hasattr(data, name):
            return list(getattr(data, name)())
    if not isinstance(data, Iterable):
        raise ValueError(f"Expected a list of texts, got {type(data).__name__}.")
    return list(data)


def _arrow_chunks(data: Any) -> list[Any] | None:
    """Return the Arrow arrays of a text column, or None if the data is not Arrow's."""
    if isinstance(data, (list, tuple, np.ndarray)) or hasattr(data, "columns"):
        return None
    if not hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__arrow_c_array__"):
        return None
    if str(getattr(data, "dtype", "")).lower() in ("object", "binary"):
        return None
    import pyarrow as pa

    array = as_arrow(data)
    kind = array.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return None
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        values = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not pa.types.is_null(kind) and not is_text(values):
            raise ValueError(
                f"Expected texts, got an Arrow array of {kind}. Pass a column of text, or convert "
                "it with str."
            )
        try:
            array = array.cast(pa.large_string())
        except pa.ArrowNotImplementedError:  # polars categories: one text at a time
            return None
    return list(array.chunks) if isinstance(array, pa.ChunkedArray) else [array]


def _refuse_null(array: Any, first: int) -> None:
    if array.null_count:
        raise ValueError(_not_text(None, first + int(np.argmax(nulls(array)))))
