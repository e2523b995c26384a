"""Packed strings, and lazy sequences of texts that behave as tuples.

A model of ten million n-grams has ten million names. As Python ``str`` objects they would take ten
times the memory of their bytes, and few are ever read.
"""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray


__all__ = [
    "ChainedTexts",
    "DeferredTexts",
    "LazyTexts",
    "PackedTexts",
    "PrefixedTexts",
    "RepeatedText",
    "groups_of",
    "is_texts",
    "pack_strings",
    "unpack_strings",
]

#: Texts decoded at a time during iteration.
DECODED_TEXTS = 1 << 14
#: Longest sequence shown in full.
MAX_SHOWN = 32

#: Bytes validated at a time.
CHECKED_BYTES = 1 << 20
#: The two highest bits of a UTF-8 continuation byte are 10.
INSIDE, MASK = 0x80, 0xC0


class LazyTexts(Sequence[str]):
    """A sequence of texts, equal to the tuple of its items.

    A subclass implements ``__len__``, ``__iter__`` and ``_at``, the text at a valid index.
    """

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self._at(each) for each in range(*index.indices(len(self))))
        indices = range(len(self))
        try:
            return self._at(indices[index])
        except IndexError:
            raise IndexError(f"index {index} is out of range for {len(self)} texts") from None

    def _at(self, index: int) -> str:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, (tuple, LazyTexts)):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        if len(self) <= MAX_SHOWN:
            return repr(tuple(self))
        first = ", ".join(map(repr, self[: MAX_SHOWN // 2]))
        return f"({first}, ... {len(self)} texts)"


class PackedTexts(LazyTexts):
    """Texts as concatenated UTF-8 bytes and offsets.

    Parameters
    ----------
    utf8 : ndarray of uint8
    offsets : ndarray of int64
        n + 1 ascending offsets into ``utf8``, each at the start of a character.

    Examples
    --------
    >>> import numpy as np
    >>> from separable.data.strings import PackedTexts
    >>> names = PackedTexts(np.frombuffer(b"goodbad", np.uint8), np.array([0, 4, 7]))
    >>> names
    ('good', 'bad')
    >>> names == ("good", "bad")
    True
    """

    def __init__(self, utf8: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.utf8, self.offsets = utf8, offsets

    def part(self, start: int, stop: int) -> PackedTexts:
        """Return a slice of the texts, not copied."""
        offsets = self.offsets[start : stop + 1]
        utf8 = self.utf8[offsets[0] : offsets[-1]]
        return PackedTexts(utf8, offsets - offsets[0])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def _at(self, index: int) -> str:
        start, stop = self.offsets[index : index + 2].tolist()
        return str(self.utf8[start:stop].data, "utf-8")

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), DECODED_TEXTS):
            offsets = self.offsets[first : first + DECODED_TEXTS + 1]
            ends = (offsets - offsets[0]).tolist()
            data = self.utf8[offsets[0] : offsets[-1]].tobytes()
            if data.isascii():
                text = data.decode("ascii")
                yield from [text[start:stop] for start, stop in pairwise(ends)]
            else:
                yield from [data[start:stop].decode() for start, stop in pairwise(ends)]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PackedTexts):
            return np.array_equal(self.offsets, other.offsets) and np.array_equal(
                self.utf8, other.utf8
            )
        return super().__eq__(other)

    __hash__ = LazyTexts.__hash__


class PrefixedTexts(LazyTexts):
    """Texts with a common prefix.

    Parameters
    ----------
    prefix : str
    texts : sequence of str
    """

    def __init__(self, prefix: str, texts: Sequence[str]) -> None:
        self.prefix, self.texts = prefix, texts

    def __len__(self) -> int:
        return len(self.texts)

    def _at(self, index: int) -> str:
        return self.prefix + self.texts[index]

    def __iter__(self) -> Iterator[str]:
        prefix = self.prefix
        return (prefix + text for text in self.texts)


class ChainedTexts(LazyTexts):
    """Concatenation of sequences of texts.

    Parameters
    ----------
    parts : sequence of sequence of str
    """

    def __init__(self, parts: Sequence[Sequence[str]]) -> None:
        self.parts = tuple(part for part in parts if len(part))
        self._starts = [0, *accumulate(len(part) for part in self.parts)]

    def __len__(self) -> int:
        return self._starts[-1]

    def _at(self, index: int) -> str:
        part = bisect_right(self._starts, index) - 1
        return self.parts[part][index - self._starts[part]]

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self.parts)


class RepeatedText(LazyTexts):
    """One text repeated.

    Parameters
    ----------
    text : str
    times : int
    """

    def __init__(self, text: str, times: int) -> None:
        self.text, self.times = text, times

    def __len__(self) -> int:
        return self.times

    def _at(self, index: int) -> str:
        del index
        return self.text

    def __iter__(self) -> Iterator[str]:
        return (self.text for _ in range(self.times))


class DeferredTexts(LazyTexts):
    """Texts of known number, created on first access.

    Parameters
    ----------
    count : int
    make : callable
        Returns all texts.
    """

    def __init__(self, count: int, make: Callable[[], Sequence[str]]) -> None:
        self._count, self._make = count, make
        self._made: Sequence[str] | None = None

    def __reduce__(self) -> tuple[Any, ...]:  # the function need not be picklable
        return tuple, (tuple(self),)

    @property
    def _texts(self) -> Sequence[str]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def __len__(self) -> int:
        return self._count

    def _at(self, index: int) -> str:
        return self._texts[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)


def is_texts(value: object) -> bool:
    """Return whether a value is a tuple of texts or a lazy sequence of texts."""
    if isinstance(value, tuple):
        return all(isinstance(each, str) for each in value)
    return isinstance(value, LazyTexts)


def groups_of(texts: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the distinct texts by first appearance, and the code of each text."""
    parts = texts.parts if isinstance(texts, ChainedTexts) else (texts,)
    number: dict[str, int] = {}
    codes = []
    for part in parts:
        if isinstance(part, RepeatedText):
            codes.append(np.full(len(part), number.setdefault(part.text, len(number)), np.int64))
        else:
            numbers = [number.setdefault(text, len(number)) for text in part]
            codes.append(np.array(numbers, np.int64))
    return tuple(number), np.concatenate([np.zeros(0, np.int64), *codes])


def pack_strings(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the UTF-8 bytes of all texts and the n + 1 offsets between them."""
    if isinstance(texts, PackedTexts):
        return texts.utf8, texts.offsets
    try:
        encoded = [text.encode() for text in texts]
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{error.object!r:.80} has a lone surrogate and is not valid Unicode text. Decode the "
            "text again, for example with errors='replace'."
        ) from error
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


def unpack_strings(utf8: NDArray[Any], offsets: NDArray[Any], name: str) -> PackedTexts:
    """Return the packed texts after validating the tensors."""
    if utf8.dtype != np.uint8 or utf8.ndim != 1:
        raise ValueError(f"the bytes of {name} must be a 1D array of uint8, not {_kind(utf8)}")
    if offsets.dtype != np.int64 or offsets.ndim != 1 or len(offsets) == 0:
        raise ValueError(f"the offsets of {name} must be a 1D array of int64, not {_kind(offsets)}")
    if offsets[0] != 0 or offsets[-1] != len(utf8) or (offsets[1:] < offsets[:-1]).any():
        raise ValueError(f"the offsets of {name} must increase from 0 to {len(utf8)}, and do not")
    _check_utf8(utf8, offsets, name)
    return PackedTexts(utf8, offsets)


def _check_utf8(utf8: NDArray[np.uint8], offsets: NDArray[np.int64], name: str) -> None:
    """Reject bytes that are not UTF-8, and texts that end inside a character."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(utf8), CHECKED_BYTES):
            decoder.decode(utf8[start : start + CHECKED_BYTES].tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} holds bytes that are not UTF-8 ({error.reason})") from error
    starts = offsets[offsets < len(utf8)]
    if ((utf8[starts] & MASK) == INSIDE).any():
        raise ValueError(f"{name} holds bytes that are not UTF-8 (a text ends inside a character)")


def _kind(array: NDArray[Any]) -> str:
    return f"{array.dtype} of shape {array.shape}"
