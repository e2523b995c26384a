"""Feature hashing of terms, with the names that fell into each column."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.strings import LazyTexts, PackedTexts
from separable.features.text.analyzer import tables_for
from separable.features.text.vocabulary import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable._core import portable
    from separable.data.rows import Rows
    from separable.features.text.text_plan import TextPlan

__all__ = ["HashedNames", "TextHashing"]

#: Names spelled out for a shared column.
MAX_SPELLED = 3


class TextHashing:
    """Fitted state of a `TextEncoder` with ``n_features``.

    Parameters
    ----------
    plan : TextPlan
    """

    complete = True
    idf = None

    def __init__(self, plan: TextPlan) -> None:
        self.plan = plan
        self.n_documents = 0
        self._hasher = plan.hasher()

    @classmethod
    def restored(
        cls,
        plan: TextPlan,
        terms: PackedTexts,
        limit: int,
        n_documents: int,
    ) -> TextHashing:
        """Return a state with the names that `terms` returned."""
        made = cls(plan)
        made._hasher.set_names(terms.utf8, terms.offsets, limit)
        made.n_documents = n_documents
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {
            "plan": self.plan,
            "terms": self.terms(),
            "limit": self.limit,
            "n_documents": self.n_documents,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(TextHashing.restored(**state).__dict__)

    # --- learning ---

    def count(self, data: Any, threads: int, *, keep: bool) -> portable.TextRows | None:
        """Record the names of terms; return the counts per text if ``keep``."""
        rows, n_documents = self._run(data, threads, learn=True, keep=keep)
        self.n_documents += n_documents
        return rows

    def _run(
        self, data: Any, threads: int, *, learn: bool, keep: bool
    ) -> tuple[portable.TextRows | None, int]:
        if self.plan.takes_tokens:
            met = _Counted(self.plan.token_lists(data))
            return self._hasher.encode_tokens(met, learn, keep), met.n
        documents = self.plan.documents(data)
        tables = tables_for(documents)
        rows = self._hasher.encode(documents, *tables, threads, learn, keep)
        return rows, len(documents)

    def merged(self, other: TextHashing) -> TextHashing:
        """Return the state fitted to the texts of both."""
        made = TextHashing(self.plan)
        made._hasher.merge(self._hasher)
        made._hasher.merge(other._hasher)
        made.n_documents = self.n_documents + other.n_documents
        return made

    def settle(self) -> None:
        """Do nothing: columns are fixed."""

    # --- encoding ---

    @property
    def n_features(self) -> int:
        """Number of columns."""
        assert self.plan.n_features is not None
        return self.plan.n_features

    def encode(self, data: Any, threads: int) -> portable.TextRows:
        """Return the signed counts of texts by column."""
        rows, _ = self._run(data, threads, learn=False, keep=True)
        assert rows is not None
        return rows

    def columns_of(self, rows: portable.TextRows, threads: int) -> portable.TextRows:  # noqa: ARG002
        """Return the counts kept by `count`: they are by column already."""
        return rows

    def matrix(self, rows: portable.TextRows, threads: int) -> Rows:
        """Return counts by column as a weighted matrix."""
        plan = self.plan
        make = self._hasher.matrix32 if plan.dtype == "float32" else self._hasher.matrix64
        return rows_of(make(rows, plan.binary, plan.norm or "", threads), self.n_features)

    # --- names ---

    @property
    def limit(self) -> int:
        """Largest hash whose name is kept."""
        return int(self._hasher.limit)

    @property
    def n_names(self) -> int:
        """Number of distinct names: exact while all are kept, else estimated."""
        return round(self._hasher.n_names)

    def terms(self) -> PackedTexts:
        """Return the kept names."""
        utf8, offsets, _ = self._hasher.names()
        return PackedTexts(utf8, offsets)

    def by_column(self) -> dict[int, tuple[str, ...]]:
        """Return the kept names of each column, sorted."""
        return dict(self.names().known())

    def names(self) -> HashedNames:
        """Return the name of each column; a shared column lists its names."""
        utf8, offsets, columns = self._hasher.names()
        return HashedNames(self.n_features, PackedTexts(utf8, offsets), columns)


class HashedNames(LazyTexts):
    """Names of hashed columns: the terms in each, or its number.

    Parameters
    ----------
    n_features : int
    terms : PackedTexts
        Known terms by column, sorted within a column.
    columns : ndarray of int
        Column of each term.
    """

    def __init__(self, n_features: int, terms: PackedTexts, columns: NDArray[Any]) -> None:
        self._n_features, self._terms, self._columns = n_features, terms, columns

    def known(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield the columns with known terms, and the terms."""
        starts = np.flatnonzero(np.diff(self._columns, prepend=-1)).tolist()
        terms = iter(self._terms)
        for first, last in pairwise([*starts, len(self._terms)]):
            yield int(self._columns[first]), tuple(islice(terms, last - first))

    @property
    def differ(self) -> bool:
        """Return whether all names certainly differ: no term looks like a column name."""
        utf8 = self._terms.utf8.tobytes()
        return b"hash:" not in utf8 and b"(shared)" not in utf8

    def __len__(self) -> int:
        return self._n_features

    def _at(self, index: int) -> str:
        first, last = np.searchsorted(self._columns, [index, index + 1]).tolist()
        return _spelled(self._terms[first:last]) if last > first else f"hash:{index}"

    def __iter__(self) -> Iterator[str]:
        reached = 0
        for column, terms in self.known():
            yield from (f"hash:{index}" for index in range(reached, column))
            yield _spelled(terms)
            reached = column + 1
        yield from (f"hash:{index}" for index in range(reached, self._n_features))


def _spelled(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    more = f"|and {len(names) - MAX_SPELLED} more" if len(names) > MAX_SPELLED else ""
    return f"{'|'.join(names[:MAX_SPELLED])}{more} (shared)"


class _Counted:
    """Chunks of lists, and the number of lists."""

    def __init__(self, chunks: Any) -> None:
        self._chunks = chunks
        self.n = 0

    def __iter__(self) -> Any:
        for chunk in self._chunks:
            self.n += len(chunk)
            yield chunk
