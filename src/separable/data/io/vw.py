"""Vowpal Wabbit text to rows: ``label importance base tag|namespace:scale feature:value ...``."""

from __future__ import annotations

from typing import Literal

from separable._core import portable
from separable.data.io.choices import check_choice
from separable.data.io.lines import LineReader, SparseBatch
from separable.data.rows import Rows
from separable.data.threads import n_threads

__all__ = ["VwReader"]

#: Each reason of the core, in its order (VwReason in vw_text.hpp), with a sentence.
REASONS = (
    (
        "bar_missing",
        "there is no | in the line, which starts with {text}. Put one between the label and "
        "the features, as in '1 | price:0.5'",
    ),
    (
        "label_malformed",
        "the label {text} is no number. Labels of several parts (costs, actions) are not "
        "read: write one number, or nothing for a row without a label",
    ),
    (
        "label_not_finite",
        "the label {text} is no finite number. Leave it out or drop the line",
    ),
    (
        "words_too_many",
        "{text} is one word too many: at most label, importance and base stand before the | "
        "and the tag that touches it",
    ),
    (
        "weight_malformed",
        "the importance {text} is no finite number. Write one, or leave it out for 1",
    ),
    (
        "weight_negative",
        "the importance {text} is negative. Write 0 to leave a row out",
    ),
    (
        "base_malformed",
        "the base {text} is no finite number. Write one, or leave it out for 0",
    ),
    (
        "namespace_missing",
        "a scale follows the | but no name of a namespace: {text}. Write it as in |name:2, or"
        " leave a blank",
    ),
    (
        "scale_malformed",
        "the scale {text} of the namespace is no decimal number. Write one, as in |name:2",
    ),
    (
        "value_malformed",
        "the value {text} is no decimal number. Write one after the colon; for a value that "
        "is a word, write it into the name, as in colour=red",
    ),
    (
        "value_not_finite",
        "the value {text} is no finite number. Leave the feature out or drop the line",
    ),
    (
        "value_too_large",
        "the value of {text}, times the scale of its namespace and added to what stands under"
        " the same column, is too large for a float64. Scale the feature",
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
    r"""Reads Vowpal Wabbit text from a stream of chunks.

    Any cutting of the bytes into chunks gives the same rows, and so does any number of threads.
    Columns of a row stand in the order of the line; a feature that stands twice has the sum of its
    values.
    A blank line, which ends an example of several lines, is passed over: each line is a row.

    Parameters
    ----------
    n_features : int, optional
        None: a column for each name, numbered in the order in which names come. A power of 2, 2^b
        with b from 1 to 31: columns are Vowpal Wabbit's own hashes of b bits (``-b``); names are
        not kept.
    on_error : {"raise", "skip"}, default "raise"
        What a line that cannot be read does: raise ``LineError``, or be counted in ``skipped``.
    name : str, default "the file"
        What errors call the file.
    n_jobs : int, optional
        Threads; None is 1, -1 all.

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
        (values, indices, indptr), width, labels, weights, base, tags = self._parser.take(most)
        rows = Rows(values, width, indices, indptr)
        return SparseBatch(rows, labels, None, weights, tuple(tags), base)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The name of each column so far, ``namespace^feature``; None: columns are hashes."""
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
            f"for a column for each name. Got {n_features!r} instead."
        )
    return bits
