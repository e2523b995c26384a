"""Lines without an end: refused after a bounded number of bytes, in every reader of text."""

from __future__ import annotations

import pytest

from separable.data import read, scan
from separable.data.io import encodings
from separable.data.table import TableError


class Endless:
    """A stream that gives the same bytes for ever after its first ones."""

    name = "endless"

    def __init__(self, first: bytes, then: bytes) -> None:
        self.first, self.then, self.given = first, then, 0

    def read(self, size: int = -1) -> bytes:
        assert 0 <= size <= 1 << 24, "all of it is wanted at once"
        data, self.first = (self.first, b"") if self.first else (self.then * size, b"")
        self.given += len(data[:size] or data)
        return data[:size] or data


STARTS = {
    "csv": (b"a,b\n1,2\n", b"x"),
    "jsonl": (b'{"a": 1}\n{"a": "', b"x"),
    "svmlight": (b"1 1:2\n1 2:", b"1"),
    "vw": (b"1 | a:2\n1 | ", b"b"),
}


@pytest.fixture
def short_lines(monkeypatch) -> int:
    """A bound on lines that a test can reach without gigabytes."""
    monkeypatch.setattr(encodings, "LONGEST_LINE", 1 << 22)
    monkeypatch.setattr("separable.data.io.csv.csv_files.LONGEST_LINE", 1 << 22)
    return 1 << 22


@pytest.mark.native
@pytest.mark.parametrize("reader", [read, lambda *args, **more: list(scan(*args, **more))])
@pytest.mark.parametrize("kind", STARTS)
def test_a_line_without_end(short_lines, reader, kind):
    first, then = STARTS[kind]
    stream = Endless(first, then)
    start = first.rfind(b"\n") + 1
    with pytest.raises(TableError, match=rf"^endless: the line that begins at byte {start} has "):
        reader(stream, format=kind)
    assert stream.given < short_lines + (1 << 25)


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_zeros(short_lines, on_error):
    with pytest.raises(TableError, match="the line that begins at byte 0 has more than 4 MiB"):
        read("/dev/zero", on_error=on_error)


def test_a_quote_without_end(short_lines):
    stream = Endless(b'a,b\n1,"', b"x\n")
    with pytest.raises(TableError, match=r"^endless:2: a record of more than \d+ bytes"):
        list(scan(stream, chunk_bytes=1 << 20, format="csv"))
    assert stream.given < 8 * short_lines


def test_a_file_on_disk(short_lines, tmp_path):
    path = tmp_path / "a.csv"
    with path.open("wb") as out:
        out.write(b"a,b\n1,2\n")
        out.truncate(1 << 34)  # 16 GiB that take no space
    with pytest.raises(TableError, match=r"a\.csv: the line that begins at byte 8 has more than"):
        read(path)


def test_long_lines_that_end(short_lines):
    for text in (b"x" * (short_lines - 10), b"x" * short_lines):
        whole = b"a,b\n1," + text + b"\n2,y\n"
        if len(text) == short_lines:
            with pytest.raises(TableError, match="has more than 4 MiB"):
                read_pieces(whole)
        else:
            assert read_pieces(whole).table["b"].to_pylist() == [text.decode(), "y"]


def read_pieces(text: bytes):
    """Read a text that comes in small pieces."""

    class Pieces:
        name, offset = "pieces", 0

        def read(self, size: int = -1) -> bytes:
            start, self.offset = self.offset, self.offset + min(size, 1 << 16)
            return text[start : self.offset]

    return read(Pieces(), format="csv")
