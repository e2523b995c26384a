"""svmlight / LIBSVM text to rows: ``label [qid:n] column:value ... # comment``, one row a line."""

from __future__ import annotations

from typing import Literal

from separable._core import portable
from separable.data.io.choices import check_choice
from separable.data.io.lines import LineReader, SparseBatch
from separable.data.rows import Rows
from separable.data.table import TableError, at_place
from separable.data.threads import n_threads

__all__ = ["SvmlightReader"]

#: Each reason of the core, in its order (SvmlightReason in svmlight.hpp), with a sentence.
REASONS = (
    (
        "label_missing",
        "the line starts with {text} and has no label. Write one first, or give "
        "labels='text', which reads such a line as a row with the empty label",
    ),
    (
        "label_no_number",
        "the label {text} is no number, but labels are numbers here: they were asked for, or "
        "all labels before the first rows were handed out are numbers. Correct the line or "
        "give labels='text'",
    ),
    (
        "label_not_finite",
        "the label {text} is no finite number. Drop the line, or give labels='text' if it is "
        "the name of a class",
    ),
    (
        "qid_no_number",
        "{text} is no query: write qid: and a whole number from 0 to 2^62",
    ),
    (
        "pair_malformed",
        "{text} is no pair column:value with a whole number as column. Separate pairs by "
        "blanks, and start comments with #",
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
        "the column of {text} is 0, but columns are counted from 1 here: it was asked for, or"
        " none was 0 before the first rows were handed out. Give index_base=0",
    ),
    (
        "column_outside",
        "the column of {text} lies outside the {n_features} columns asked for. Give a larger "
        "n_features, or index_base=1 if columns are counted from 1",
    ),
    (
        "value_malformed",
        "the value {text} is no decimal number. Write digits with a point, as in 3:0.25, and "
        "blanks between pairs",
    ),
    (
        "value_not_finite",
        "the value {text} is no finite number. Leave the pair out, which means 0, or drop the line",
    ),
    (
        "value_too_large",
        "the value {text} is too large for a float64. Scale the column",
    ),
    (
        "column_twice",
        "the column of {text} stands twice in the line. Keep one of the two",
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
    r"""Reads svmlight / LIBSVM text from a stream of chunks.

    Any cutting of the bytes into chunks gives the same rows, and so does any number of threads.
    Columns come sorted within a row.

    Parameters
    ----------
    index_base : {"auto", 0, 1}, default "auto"
        The number of the first column. ``"auto"``: 0 if a column 0 was read before the first
        ``take``, else 1; so it is exact if rows are taken after ``finish``. A column 0 that comes
        later is an error of its line.
    n_features : int, optional
        The number of columns; a column beyond them is an error of its line. None: as many as
        have been seen, so that later batches can be wider.
    on_error : {"raise", "skip"}, default "raise"
        What a line that cannot be read does: raise ``LineError``, or be counted in ``skipped``.
    name : str, default "the file"
        What errors call the file.
    labels : {"auto", "number", "text"}, default "auto"
        ``"auto"``: numbers, but texts as they are written if one of them is no number. Once numbers
        are handed out, a text is an error of its line.
    n_jobs : int, optional
        Threads; None is 1, -1 all.

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

    def take(self, max_rows: int | None = None) -> SparseBatch | None:
        """Return the rows read since, or the first of them; None: there are none.

        Parameters
        ----------
        max_rows : int, optional
            At most so many; the others wait for the next call.
        """
        most = self._rows_to_take(max_rows)
        if most == 0:
            return None
        self._check_edge()
        (values, indices, indptr), width, labels, qid = self._parser.take(most)
        labels = tuple(labels) if isinstance(labels, list) else labels
        return SparseBatch(Rows(values, max(width, 0), indices, indptr), labels, qid)

    @property
    def index_base(self) -> int:
        """The number of the first column, as far as it is known."""
        return self._parser.base

    def _sentence(self, sentence: str, text: str) -> str:
        return sentence.format(text=text, n_features=self._n_features)

    def _check_edge(self) -> None:
        line = self._parser.edge_line
        if line:
            raise TableError(
                f"{at_place(self._name, line)}: column {self._n_features} lies outside the "
                f"{self._n_features} columns asked for, because the file counts columns from 0: "
                "another line has a column 0. Give index_base=1 if that column 0 is a mistake, or "
                "a larger n_features."
            )


def check_width(n_features: int | None, owner: str) -> None:
    """Refuse a number of columns that cannot be."""
    if n_features is not None and not 1 <= n_features <= 2**62:
        raise ValueError(
            f"The 'n_features' parameter of {owner} must be an int from 1 to 2^62, or None. "
            f"Got {n_features!r} instead."
        )
