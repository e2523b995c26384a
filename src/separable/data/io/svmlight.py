"""svmlight / LIBSVM text to rows: ``label [qid:n] column:value ... # comment``, one per line."""

from __future__ import annotations

from typing import Any, Literal

from separable._core import portable
from separable.data.io.formats import check_choice
from separable.data.io.readers import LineReader, SparseBatch, SparseFiles
from separable.data.resources import n_threads
from separable.data.rows import Rows
from separable.data.table import TableError

__all__ = ["SvmlightFiles", "SvmlightReader"]

#: Message for each error code of the core, in order (SvmlightReason in svmlight.hpp).
REASONS = (
    (
        "label_missing",
        "the line starts with {text} and has no label. Write one first, or pass labels='text', "
        "which reads such a line as a row with the empty label",
    ),
    (
        "label_no_number",
        "the label {text} is not a number, but labels are numbers here: as requested, or because "
        "all labels before the first batch were numbers. Correct the line or pass labels='text'",
    ),
    (
        "label_not_finite",
        "the label {text} is not a finite number. Drop the line, or pass labels='text' if it is "
        "the name of a class",
    ),
    (
        "qid_no_number",
        "{text} is not a query id: write qid: and an integer from 0 to 2^62",
    ),
    (
        "pair_malformed",
        "{text} is not a pair column:value with an integer column. Separate pairs by blanks, and "
        "start comments with #",
    ),
    (
        "column_negative",
        "the column of {text} is negative. Count columns from 0 or 1",
    ),
    (
        "column_too_large",
        "the column of {text} is above 2^62. Number the columns anew",
    ),
    (
        "column_below_base",
        "the column of {text} is 0, but columns are counted from 1 here: as requested, or "
        "because none was 0 before the first batch. Pass index_base=0",
    ),
    (
        "column_outside",
        "the column of {text} is outside the {n_features} requested columns. Pass a larger "
        "n_features, or index_base=1 if columns are counted from 1",
    ),
    (
        "value_malformed",
        "the value {text} is not a decimal number. Write digits with a point, as in 3:0.25, and "
        "blanks between pairs",
    ),
    (
        "value_not_finite",
        "the value {text} is not a finite number. Leave the pair out, which means 0, or drop "
        "the line",
    ),
    (
        "value_too_large",
        "the value {text} overflows float64. Scale the column",
    ),
    (
        "column_twice",
        "the column of {text} appears twice in the line. Keep one of the two",
    ),
    (
        "nul_byte",
        "there is a NUL byte in {text}. The file is binary, damaged or UTF-16: write it as "
        "UTF-8 text",
    ),
    (
        "not_utf8",
        "the label {text} is not UTF-8. Write the file as UTF-8",
    ),
)
LABEL_KINDS = ("auto", "number", "text")


class SvmlightReader(LineReader):
    r"""Incremental reader of svmlight / LIBSVM text.

    The rows do not depend on how the bytes are split into chunks, nor on the number of threads.
    Columns are sorted within a row.

    Parameters
    ----------
    index_base : {"auto", 0, 1}, default "auto"
        Number of the first column. ``"auto"``: 0 if a column 0 occurs before the first ``take``,
        else 1, so it is exact if rows are taken after ``finish``. A later column 0 is an error.
    n_features : int, optional
        Number of columns; a column beyond them is an error. None: as many as have occurred, so
        later batches can be wider.
    on_error : {"raise", "skip"}, default "raise"
        For an invalid line: raise ``LineError``, or count it in ``skipped``.
    name : str, default "the file"
        Name of the file in errors.
    labels : {"auto", "number", "text"}, default "auto"
        ``"auto"``: numbers, or texts as written if one of them is not a number. Once numbers have
        been returned, a text label is an error.
    n_jobs : int, optional
        Number of threads; None is 1, -1 all cores.

    Examples
    --------
    >>> reader = SvmlightReader()
    >>> reader.feed(b"+1 1:0.5 3:2 # a comment\n-1 2")
    >>> reader.feed(b":25e-2\n")
    >>> reader.finish()
    >>> batch = reader.take()
    >>> batch.labels
    array([ 1., -1.])
    >>> batch.rows.to_matrix().toarray()
    array([[0.5 , 0.  , 2.  ],
           [0.  , 0.25, 0.  ]])
    """

    reasons = REASONS

    def __init__(
        self,
        index_base: Literal["auto", 0, 1] = "auto",
        n_features: int | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        name: str = "the file",
        *,
        labels: Literal["auto", "number", "text"] = "auto",
        n_jobs: int | None = None,
    ) -> None:
        check_choice("index_base", index_base, ("auto", 0, 1), "SvmlightReader")
        check_choice("on_error", on_error, ("raise", "skip"), "SvmlightReader")
        check_choice("labels", labels, LABEL_KINDS, "SvmlightReader")
        check_width(n_features, "SvmlightReader")
        self._n_features = n_features
        self._parser = portable.SvmlightParser(
            None if index_base == "auto" else int(index_base),
            n_features,
            LABEL_KINDS.index(labels),
            on_error == "skip",
            n_threads(n_jobs, "SvmlightReader"),
        )
        super().__init__(self._parser, on_error, name)

    def _take(self, most: int) -> SparseBatch:
        self._check_edge()
        (values, indices, indptr), width, labels, qid = self._parser.take(most)
        labels = tuple(labels) if isinstance(labels, list) else labels
        return SparseBatch(Rows(values, max(width, 0), indices, indptr), labels, qid)

    @property
    def index_base(self) -> int:
        """Number of the first column, as far as it is known."""
        return self._parser.base

    def _sentence(self, sentence: str, text: str) -> str:
        return sentence.format(text=text, n_features=self._n_features)

    def _check_edge(self) -> None:
        line = self._parser.edge_line
        if line:
            raise TableError(
                f"column {self._n_features} is outside the {self._n_features} requested columns, "
                "because the file counts columns from 0: another line has a column 0. Pass "
                "index_base=1 if that column 0 is a mistake, or a larger n_features.",
                file=self._name,
                line=line,
            )


def check_width(n_features: int | None, owner: str) -> None:
    """Raise if the number of columns is invalid."""
    if n_features is not None and not 1 <= n_features <= 2**62:
        raise ValueError(
            f"The 'n_features' parameter of {owner} must be an int from 1 to 2^62, or None. "
            f"Got {n_features!r} instead."
        )


class SvmlightFiles(SparseFiles):
    """svmlight files. The first file determines whether columns are counted from 0 or 1."""

    format = "svmlight"
    _last: Any = None

    @property
    def index_base(self) -> Literal["auto", 0, 1]:
        """Number of the first column, as far as it is known."""
        base: Literal["auto", 0, 1] = self.options.index_base
        return base if self._last is None else self._last.index_base

    def _reader(self, name: str) -> Any:
        on_error: Literal["raise", "skip"] = "skip" if self.options.skip else "raise"
        self._last = SvmlightReader(
            self.index_base, self.options.n_features, on_error, name, labels=self.options.labels
        )
        return self._last
