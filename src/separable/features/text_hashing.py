"""Hashing: the columns of terms without a vocabulary, and the names that fell into them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.strings import cut_strings
from separable.features.alphabet import tables_for
from separable.features.text_vocabulary import rows_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable._core import native
    from separable.data.rows import Rows
    from separable.features.text_plan import TextPlan

__all__ = ["TextHashing"]

#: How many names of a shared column are spelled out.
SPELLED = 3


class TextHashing:
    """What a `TextEncoder` with ``n_features`` has met.

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
        terms: tuple[NDArray[np.uint8], NDArray[np.int64]],
        limit: int,
        n_documents: int,
    ) -> TextHashing:
        """Return what was met once, with the names as `terms` gave them."""
        made = cls(plan)
        made._hasher.set_names(*terms, limit)
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

    def count(self, data: Any, threads: int, *, keep: bool) -> native.TextRows | None:
        """Remember the names of terms; return the counts of each text if they are to be kept."""
        rows, n_documents = self._run(data, threads, learn=True, keep=keep)
        self.n_documents += n_documents
        return rows

    def _run(
        self, data: Any, threads: int, *, learn: bool, keep: bool
    ) -> tuple[native.TextRows | None, int]:
        if self.plan.takes_tokens:
            met = _Counted(self.plan.token_lists(data))
            return self._hasher.encode_tokens(met, learn, keep), met.n
        documents = self.plan.documents(data)
        tables = tables_for(documents)
        rows = self._hasher.encode(documents, *tables, threads, learn, keep)
        return rows, len(documents)

    def merged(self, other: TextHashing) -> TextHashing:
        """Return what the texts of both would have given."""
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
        """The number of columns."""
        assert self.plan.n_features is not None
        return self.plan.n_features

    def encode(self, data: Any, threads: int) -> native.TextRows:
        """Return the signed counts of texts by column."""
        rows, _ = self._run(data, threads, learn=False, keep=True)
        assert rows is not None
        return rows

    def columns_of(self, rows: native.TextRows, threads: int) -> native.TextRows:  # noqa: ARG002
        """Return counts that `count` kept: they are by column."""
        return rows

    def matrix(self, rows: native.TextRows, threads: int) -> Rows:
        """Return counts by column as numbers."""
        plan = self.plan
        make = self._hasher.matrix32 if plan.dtype == "float32" else self._hasher.matrix64
        return rows_of(make(rows, plan.binary, plan.norm or "", threads), self.n_features)

    # --- names ---

    @property
    def limit(self) -> int:
        """Up to which hash names are kept."""
        return int(self._hasher.limit)

    @property
    def n_names(self) -> int:
        """How many names there were: counted while all are kept, else estimated."""
        return round(self._hasher.n_names)

    def terms(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the names kept: UTF-8, and where each name starts."""
        utf8, offsets, _ = self._hasher.names()
        return utf8, offsets

    def by_column(self) -> dict[int, tuple[str, ...]]:
        """Return the names kept, sorted, of each column that has some."""
        utf8, offsets, columns = self._hasher.names()
        names = cut_strings(utf8, offsets)
        starts = np.flatnonzero(np.diff(columns, prepend=-1)).tolist()
        return {int(columns[a]): names[a:b] for a, b in pairwise([*starts, len(names)])}

    def names(self) -> tuple[str, ...]:
        """Return the name of each column; of several names, that it is shared."""
        known = self.by_column()
        return tuple(
            _spelled(known[column]) if column in known else f"hash:{column}"
            for column in range(self.n_features)
        )


def _spelled(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    more = f"|and {len(names) - SPELLED} more" if len(names) > SPELLED else ""
    return f"{'|'.join(names[:SPELLED])}{more} (shared)"


class _Counted:
    """Chunks of lists, and how many lists there were."""

    def __init__(self, chunks: Any) -> None:
        self._chunks = chunks
        self.n = 0

    def __iter__(self) -> Any:
        for chunk in self._chunks:
            self.n += len(chunk)
            yield chunk
