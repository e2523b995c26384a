"""Bytes that are no UTF-8 text: file, line and byte are named, or the row is skipped."""

from __future__ import annotations

import io
import random
import re

import pytest

from separable.data import read, scan
from separable.data.io.encodings import bytes_not_text, is_utf8, marked_as_text
from separable.data.table import TableError

#: A good row, and one with a bad byte at the place of %s, by format.
ROWS = {
    "csv": (b"good,1", b"b%sd,2"),
    "csv quoted": (b'"good\nrow",1', b'"b%s\nd",2'),
    "csv single": (b"good", b"b%sd"),
    "jsonl": (b'{"a": "good", "b": 1}', b'{"a": "b%sd", "b": 2}'),
    "jsonl key": (b'{"a": "good", "b": 1}', b'{"a%s": "bd", "b": 2}'),
    "svmlight": (b"good 1:1", b"b%sd 2:1"),
    "vw": (b"1 | good", b"1 | b%sd"),
}
HEADERS = {"csv": b"a,b\n", "csv quoted": b"a,b\n", "csv single": b"a\n"}
BAD = [b"\xe9", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\xaf"]


def chunks(*args, **kwargs):
    return list(scan(*args, **kwargs))


@pytest.mark.native
@pytest.mark.parametrize("reader", [read, chunks])
@pytest.mark.parametrize("bad", BAD, ids=bytes.hex)
@pytest.mark.parametrize("kind", ROWS)
def test_the_place_is_named_and_the_row_can_be_skipped(reader, bad, kind):
    good, wrong = ROWS[kind]
    header = HEADERS.get(kind, b"")
    lines = [good] * 7 + [wrong % bad] + [good] * 5
    text = header + b"\n".join(lines) + b"\n"
    before = text[: text.index(bad)]
    line = before.count(b"\n") + 1
    column = len(before) - before.rfind(b"\n")
    with pytest.raises(TableError) as raised:
        reader(io.BytesIO(text), format=kind.partition(" ")[0])
    where = re.match(r"the file:(\d+):(\d+): .*not (?:valid )?UTF-8", str(raised.value))
    assert where is not None, raised.value
    start = wrong.index(b"%s")
    assert int(where[1]) == line
    if kind in ("svmlight", "vw"):  # these name the byte at which the word begins
        assert int(where[2]) <= column < int(where[2]) + start + 1
    else:
        assert int(where[2]) == column
    result = reader(io.BytesIO(text), format=kind.partition(" ")[0], on_error="skip")
    parts = result if isinstance(result, list) else [result]
    assert sum(map(len, parts)) == 12
    report = parts[-1].report
    if reader is read:
        assert (report.skipped, [each.line for each in report.examples]) == (1, [line])
    tables = [part.table.to_pylist() for part in parts if part.table is not None]
    assert all("good" in str(row) for table in tables for row in table)


def test_nul_bytes_are_skipped(tmp_path):
    text = b"a,b\n1,2\n3,\x004\n5,6\n"
    with pytest.raises(TableError, match=r"the file:3:3: a NUL byte"):
        read(io.BytesIO(text))
    data = read(io.BytesIO(text), on_error="skip")
    assert data.table.to_pydict() == {"a": [1, 5], "b": [2, 6]}
    assert [(each.line, each.column) for each in data.report.examples] == [(3, 3)]


def test_a_bad_header_is_never_skipped():
    for bad in (b"\xe9", b"\0"):
        with pytest.raises(TableError, match=r"^the file:1:2: "):
            read(io.BytesIO(b"a" + bad + b",b\n1,2\n"), on_error="skip")


def test_later_lines_keep_their_numbers():
    text = b'a,b\n1,2\n"\xe9\n\n",3\n4,5,6\n7,8\n'
    report = read(io.BytesIO(text), on_error="skip").report
    assert [each.line for each in report.examples] == [3, 6]


def test_what_is_valid():
    rng = random.Random(0)
    pool = ["a", "é", "\u20ac", "\U0001f600", "\0", "\n"]
    for _ in range(300):
        pieces = [rng.choice([*map(str.encode, pool), b"\xff", b"\xc3"]) for _ in range(8)]
        data = b"".join(pieces)
        try:
            data.decode()
            valid = True
        except UnicodeDecodeError:
            valid = False
        assert is_utf8(data) == valid
        marked = marked_as_text(data)
        assert len(marked) == len(data)
        marked.decode()
        indices = bytes_not_text(data)
        assert marked == bytes(ord("?") if i in indices else c for i, c in enumerate(data))
        assert (not indices) == (valid and b"\0" not in data)
    long = ("x" * ((1 << 20) - 1) + "é").encode()
    assert is_utf8(long)
    assert not is_utf8(long[:-1])
