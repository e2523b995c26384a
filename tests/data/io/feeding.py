"""Bytes to readers of lines, in pieces."""

from __future__ import annotations

from itertools import pairwise


def fed(reader, data, cuts=()):
    """Return the reader after it was fed the bytes, cut at some places, to the end."""
    for begin, end in pairwise([0, *sorted(cuts), len(data)]):
        reader.feed(data[begin:end])
    reader.finish()
    return reader
