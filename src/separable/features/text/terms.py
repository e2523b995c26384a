"""Columns of terms: a vocabulary of words and n-grams with document frequencies, or hashes."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import Rows
from separable.data.strings import LazyTexts, PackedTexts, pack_strings
from separable.features.text.analyzer import tables_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable._core import portable
    from separable.features.text.text_plan import TextPlan

__all__ = ["HashedNames", "TextHashing", "TextVocabulary", "rows_of"]


class TextVocabulary:
    """Fitted state of a `TextEncoder` with a vocabulary.

    Parameters
    ----------
    plan : TextPlan
        With ``vocabulary`` the columns are fixed, and only document frequencies are counted.
    """

    def __init__(self, plan: TextPlan) -> None:
        self.plan = plan
        self.n_documents = 0
        self.complete = True  # whether all counts are still available
        self._counter = plan.counter()
        self._fixed_df: NDArray[np.int64] | None = None
        if plan.vocabulary is not None:
            self._counter.set_names(*pack_strings(plan.vocabulary))
            self._fixed_df = np.zeros(len(plan.vocabulary), np.int64)
        self._idf: NDArray[Any] | None = None
        self._settled = False
        self._terms: PackedTexts | None = None  # as stored in a file

    @classmethod
    def restored(
        cls,
        plan: TextPlan,
        terms: PackedTexts,
        idf: NDArray[Any] | None,
        n_documents: int,
    ) -> TextVocabulary:
        """Return a vocabulary that can encode but not be fitted further."""
        made = cls.__new__(cls)
        made.plan, made.n_documents, made.complete = plan, n_documents, False
        made._counter = plan.counter()
        made._counter.set_names(terms.utf8, terms.offsets)
        made._fixed_df, made._idf, made._settled = None, idf, True
        made._terms = terms
        return made

    def assume(self) -> None:
        """Use the given terms without counting."""
        self._settled = True

    # --- learning ---

    def count(self, data: Any, threads: int, *, keep: bool) -> portable.TextRows | None:
        """Count texts; return the counts per text if ``keep``."""
        self._settled = False
        if self._fixed_df is not None:
            rows = self.encode(data, threads)
            rows.frequencies(self._fixed_df)
            self.n_documents += len(rows)
            return rows if keep else None
        if self.plan.takes_tokens:
            kept = self._counter.count_tokens(self.plan.token_lists(data), keep)
        else:
            documents = self.plan.documents(data)
            kept = self._counter.count(documents, *tables_for(documents), threads, keep)
        self.n_documents = self._counter.n_documents
        return kept

    def merged(self, other: TextVocabulary) -> TextVocabulary:
        """Return the vocabulary fitted to the texts of both."""
        made = TextVocabulary(self.plan)
        if (
            made._fixed_df is not None
            and self._fixed_df is not None
            and other._fixed_df is not None
        ):
            made._fixed_df += self._fixed_df + other._fixed_df
        else:
            made._counter.merge(self._counter)
            made._counter.merge(other._counter)
        made.n_documents = self.n_documents + other.n_documents
        return made

    def change_min_df(self, min_df: int) -> None:
        """Set another minimum document frequency; columns are chosen again on the next access."""
        self.plan = replace(self.plan, min_df=min_df)
        self._settled = False

    def settle(self) -> None:
        """Choose and number the columns, if texts were counted since."""
        if self._settled:
            return
        if not self.n_documents:
            raise ValueError("There are no texts to learn from. Pass at least one.")
        if self._fixed_df is None:
            self._prune()
            df = self._counter.df()
        else:
            df = self._fixed_df
        self._idf = self.plan.idf(df, self.n_documents)
        self._settled = True

    def _prune(self) -> None:
        plan, n = self.plan, self.n_documents
        high = plan.max_df * n if isinstance(plan.max_df, float) else plan.max_df
        low = plan.min_df * n if isinstance(plan.min_df, float) else plan.min_df
        if high < low:
            raise ValueError(
                f"max_df={plan.max_df} means {high:g} documents, fewer than the {low:g} of "
                f"min_df={plan.min_df}. Raise max_df or lower min_df."
            )
        kept = self._counter.order(float(low), float(high))
        if not kept:
            if not self._counter.order(0.0, np.inf):
                raise ValueError(
                    "empty vocabulary: the texts have no words, or only stop words. Look at the "
                    "texts, the token_pattern and the stop_words."
                )
            raise ValueError(
                "After pruning, no terms remain. Try a lower min_df or a higher max_df."
            )
        if plan.max_features is not None and kept > plan.max_features:
            counts = self._counter.df() if plan.binary else self._counter.tf()
            best = (-counts.astype(plan.dtype)).argsort()[: plan.max_features]
            marked = np.zeros(kept, np.uint8)
            marked[best] = 1
            self._counter.limit(marked)

    # --- encoding ---

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self._counter.n_columns

    @property
    def idf(self) -> NDArray[Any] | None:
        """Weight of each column, or None."""
        self.settle()
        return self._idf

    def encode(self, data: Any, threads: int) -> portable.TextRows:
        """Return the counts of texts by column."""
        self._counter.label()
        if self.plan.takes_tokens:
            return self._counter.encode_tokens(self.plan.token_lists(data))
        documents = self.plan.documents(data)
        return self._counter.encode(documents, *tables_for(documents), threads)

    def columns_of(self, rows: portable.TextRows, threads: int) -> portable.TextRows:
        """Return the counts kept by `count` as counts by column."""
        if self._fixed_df is None:
            self._counter.to_columns(rows, threads)
        return rows

    def matrix(self, rows: portable.TextRows, threads: int) -> Rows:
        """Return counts by column as a weighted matrix."""
        plan = self.plan
        make = self._counter.matrix32 if plan.dtype == "float32" else self._counter.matrix64
        logs: Any = plan.logs
        idf: Any = self._idf
        arrays = make(rows, plan.binary, plan.norm or "", idf, logs, threads)
        return rows_of(arrays, self.n_features)

    def names(self) -> PackedTexts:
        """Return the column names."""
        self.settle()
        if self._terms is not None:
            return self._terms
        utf8, offsets = self._counter.names(0, self.n_features)
        return PackedTexts(utf8, offsets)

    def terms(self) -> PackedTexts:
        """Return the known terms: those of the columns."""
        return self.names()


def rows_of(arrays: tuple[Any, Any, Any], n_features: int) -> Rows:
    """Return the arrays of the core as Rows, with 32-bit indices if they fit."""
    values, indices, indptr = arrays
    if len(values) < np.iinfo(np.int32).max:
        return Rows(values, n_features, indices, indptr.astype(np.int32))
    return Rows(values, n_features, indices.astype(np.int64), indptr)


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
