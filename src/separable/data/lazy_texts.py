"""Lazy sequences of texts that behave as tuples and create each text on access.

A model of ten million n-grams has ten million names. As Python ``str`` objects they would take ten
times the memory of their bytes, and few are ever read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np

if TYPE_CHECKING:
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
]

#: Texts decoded at a time during iteration.
CHUNK = 1 << 14
#: Longest sequence shown in full.
MAX_SHOWN = 32


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
    >>> from separable.data.lazy_texts import PackedTexts
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
        for first in range(0, len(self), CHUNK):
            offsets = self.offsets[first : first + CHUNK + 1]
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
