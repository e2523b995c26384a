"""Vocabulary of words and n-grams: document frequencies and pruning."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import Rows
from separable.data.strings import PackedTexts, pack_strings
from separable.features.text.analyzer import tables_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable._core import portable
    from separable.features.text.text_plan import TextPlan

__all__ = ["TextVocabulary", "rows_of"]


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
