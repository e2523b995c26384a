"""Vowpal Wabbit text to rows: ``label importance base tag|namespace:scale feature:value ...``."""

from __future__ import annotations

from typing import Any, Literal

from separable._core import portable
from separable.data.io.formats import check_choice
from separable.data.io.readers import LineReader, SparseBatch, SparseFiles
from separable.data.resources import n_threads
from separable.data.rows import Rows
from separable.data.table import TableError

__all__ = ["VwFiles", "VwReader"]

#: Message for each error code of the core, in order (VwReason in vw_text.hpp).
REASONS = (
    (
        "bar_missing",
        "there is no | in the line, which starts with {text}. Put one between the label and "
        "the features, as in '1 | price:0.5'",
    ),
    (
        "label_malformed",
        "the label {text} is not a number. Labels of several parts (costs, actions) are not "
        "supported: write one number, or nothing for a row without a label",
    ),
    (
        "label_not_finite",
        "the label {text} is not a finite number. Leave it out or drop the line",
    ),
    (
        "words_too_many",
        "{text} is one word too many: only label, importance and base may come before the | and "
        "the tag that touches it",
    ),
    (
        "weight_malformed",
        "the importance {text} is not a finite number. Write one, or leave it out for 1",
    ),
    (
        "weight_negative",
        "the importance {text} is negative. Write 0 to leave a row out",
    ),
    (
        "base_malformed",
        "the base {text} is not a finite number. Write one, or leave it out for 0",
    ),
    (
        "namespace_missing",
        "a scale follows the | without a namespace: {text}. Write it as in |name:2, or leave a "
        "blank",
    ),
    (
        "scale_malformed",
        "the scale {text} of the namespace is not a decimal number. Write one, as in |name:2",
    ),
    (
        "value_malformed",
        "the value {text} is not a decimal number. Write one after the colon; a value that is a "
        "word belongs in the name, as in colour=red",
    ),
    (
        "value_not_finite",
        "the value {text} is not a finite number. Leave the feature out or drop the line",
    ),
    (
        "value_too_large",
        "the value of {text}, times the scale of its namespace and summed with others of the "
        "same column, overflows float64. Scale the feature",
    ),
    (
        "nul_byte",
        "there is a NUL byte in {text}. The file is binary, damaged or UTF-16: write it as "
        "UTF-8 text",
    ),
    (
        "not_utf8",
        "the name {text} is not UTF-8. Write the file as UTF-8",
    ),
)
MOST_BITS = 31


class VwReader(LineReader):
    r"""Incremental reader of Vowpal Wabbit text.

    The rows do not depend on how the bytes are split into chunks, nor on the number of threads.
    Columns of a row are in the order of the line; values of duplicate features are summed. A blank
    line, which ends a multi-line example, is skipped: each line is a row.

    Parameters
    ----------
    n_features : int, optional
        None: one column per name, numbered by first appearance. A power of 2, 2^b with b from 1 to
        31: columns are Vowpal Wabbit's b-bit hashes (``-b``); names are not kept.
    on_error : {"raise", "skip"}, default "raise"
        For an invalid line: raise ``LineError``, or count it in ``skipped``.
    name : str, default "the file"
        Name of the file in errors.
    n_jobs : int, optional
        Number of threads; None is 1, -1 all cores.

    Examples
    --------
    >>> reader = VwReader()
    >>> reader.feed(b"1 2.0 first|house price:0.25 old |street:10 quiet:.5\n| price:3\n")
    >>> reader.finish()
    >>> batch = reader.take()
    >>> reader.feature_names
    ('house^price', 'house^old', 'street^quiet', 'price')
    >>> batch.rows.to_matrix().toarray()
    array([[0.25, 1.  , 5.  , 0.  ],
           [0.  , 0.  , 0.  , 3.  ]])
    >>> batch.labels, batch.weights, batch.tags
    (array([ 1., nan]), array([2., 1.]), ('first', ''))
    """

    reasons = REASONS

    def __init__(
        self,
        n_features: int | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        name: str = "the file",
        *,
        n_jobs: int | None = None,
    ) -> None:
        check_choice("on_error", on_error, ("raise", "skip"), "VwReader")
        bits = _bits_of(n_features)
        self._parser = portable.VwParser(bits, on_error == "skip", n_threads(n_jobs, "VwReader"))
        self._hashes = bits is not None
        self._names: list[str] = []
        super().__init__(self._parser, on_error, name)

    def _take(self, most: int) -> SparseBatch:
        (values, indices, indptr), width, labels, weights, base, tags = self._parser.take(most)
        rows = Rows(values, width, indices, indptr)
        return SparseBatch(rows, labels, None, weights, tuple(tags), base)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Name of each column so far, ``namespace^feature``; None if columns are hashes."""
        if self._hashes:
            return None
        self._names += self._parser.names(len(self._names))
        return tuple(self._names)


def _bits_of(n_features: int | None) -> int | None:
    if n_features is None:
        return None
    bits = int(n_features).bit_length() - 1
    if not (1 <= bits <= MOST_BITS and n_features == 1 << bits):
        raise ValueError(
            "The 'n_features' parameter of VwReader must be a power of 2 from 2 to 2^31, or None "
            f"for one column per name. Got {n_features!r} instead."
        )
    return bits


class VwFiles(SparseFiles):
    """Vowpal Wabbit text; several files share the names of their columns."""

    format = "vw"
    _last: Any = None

    def _reader(self, name: str) -> Any:
        if self._last is not None and self.options.n_features is None:
            raise TableError(
                "Several files of Vowpal Wabbit text share columns only by hashing. Give "
                "n_features, a power of 2 such as 2**18, or read the files one by one."
            )
        on_error: Literal["raise", "skip"] = "skip" if self.options.skip else "raise"
        self._last = VwReader(self.options.n_features, on_error, name)
        return self._last

    def _names(self) -> tuple[str, ...] | None:
        names: tuple[str, ...] | None = self._last.feature_names
        return names
