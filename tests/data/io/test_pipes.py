"""Pipes and devices instead of files: opened once, every row counted."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import socket
import threading
from contextlib import contextmanager, suppress

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from separable.data import read, scan
from separable.data.io import sources as sources_module
from separable.data.io.sources import inputs_of
from separable.data.table import TableError

N = 20_000


def csv_text(delimiter: str = ",") -> bytes:
    lines = (f"{i}{delimiter}{i % 7}.5{delimiter}c{i % 3}" for i in range(N))
    return "\n".join([delimiter.join("abc"), *lines, ""]).encode()


def jsonl_text() -> bytes:
    rows = ({"a": i, "b": i % 7 + 0.5, "c": f"c{i % 3}"} for i in range(N))
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def parquet_bytes() -> bytes:
    out = io.BytesIO()
    columns = {
        "a": [float(i) for i in range(N)],
        "b": [i % 7 + 0.5 for i in range(N)],
        "c": [f"c{i % 3}" for i in range(N)],
    }
    parquet.write_table(pa.table(columns), out)
    return out.getvalue()


def svmlight_text() -> bytes:
    return "".join(f"{i % 3} 1:{i + 1} 2:{i % 7 + 0.5}\n" for i in range(N)).encode()


def vw_text() -> bytes:
    return "".join(f"{i % 3} | a:{i + 1} b:{i % 7 + 0.5}\n" for i in range(N)).encode()


TABLES = {
    "csv": csv_text,
    "tsv": lambda: csv_text("\t"),
    "jsonl": jsonl_text,
    "parquet": parquet_bytes,
    "csv.gz": lambda: gzip.compress(csv_text()),
    "csv.bz2": lambda: bz2.compress(csv_text()),
    "jsonl.xz": lambda: lzma.compress(jsonl_text()),
    "csv.zst": lambda: pa.compress(csv_text(), codec="zstd", asbytes=True),
    "parquet.gz": lambda: gzip.compress(parquet_bytes()),
}
SPARSE = {
    "svm": svmlight_text,
    "vw": vw_text,
    "svm.gz": lambda: gzip.compress(svmlight_text()),
    "vw.xz": lambda: lzma.compress(vw_text()),
}


@contextmanager
def fifo(folder, content: bytes, name: str = "pipe"):
    """A named pipe that somebody writes to, once: a second reader would wait for ever."""
    path = folder / name
    os.mkfifo(path)

    def write() -> None:
        with path.open("wb") as out, suppress(BrokenPipeError):
            out.write(content)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    yield path
    writer.join(10)
    assert not writer.is_alive()


@contextmanager
def descriptor(content: bytes):
    """A pipe under the name that <(command) has."""
    out, into = os.pipe()

    def write() -> None:
        with os.fdopen(into, "wb") as stream:
            stream.write(content)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    yield f"/dev/fd/{out}"
    os.close(out)
    writer.join(10)
    assert not writer.is_alive()


def check_table(table: pa.Table) -> None:
    assert table["a"].to_pylist() == list(range(N))
    assert table["b"].to_pylist() == [i % 7 + 0.5 for i in range(N)]
    assert table["c"].to_pylist() == [f"c{i % 3}" for i in range(N)]


def check_rows(X, y) -> None:
    assert X.shape == (N, 2)
    assert X.toarray().tolist() == [[i + 1, i % 7 + 0.5] for i in range(N)]
    assert y.tolist() == [i % 3 for i in range(N)]


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_pipes(tmp_path, kind):
    content = TABLES[kind]()
    with fifo(tmp_path, content) as path:
        check_table(read(path).table)
    with descriptor(content) as path:
        check_table(read(path).table)
    with fifo(tmp_path, content, "chunks") as path:
        chunks = [chunk.table for chunk in scan(path, chunk_bytes=1 << 15)]
    check_table(pa.concat_tables(chunks))


@pytest.mark.native
@pytest.mark.parametrize("kind", SPARSE)
def test_sparse_text_of_pipes(tmp_path, kind):
    content = SPARSE[kind]()
    with fifo(tmp_path, content) as path:
        check_rows(*read(path))
    with descriptor(content) as path:
        check_rows(*read(path))
    with fifo(tmp_path, content, "chunks") as path:
        chunks = list(scan(path, chunk_bytes=1 << 15))
    X = np.concatenate([chunk.X.toarray() for chunk in chunks])
    assert X.tolist() == [[i + 1, i % 7 + 0.5] for i in range(N)]


def test_a_pipe_that_writes_slowly(tmp_path):
    content = csv_text()[:3000]
    whole = content[: content.rfind(b"\n") + 1]
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def write() -> None:
        with path.open("wb", buffering=0) as out:
            for offset in range(0, len(whole), 7):
                out.write(whole[offset : offset + 7])

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    assert read(path).table["a"].to_pylist() == list(range(whole.count(b"\n") - 1))
    writer.join()


def test_several_pipes_and_a_file(tmp_path):
    text = csv_text()
    (tmp_path / "one.csv").write_bytes(text)
    with fifo(tmp_path, text, "two") as two, fifo(tmp_path, text, "three") as three:
        table = read([tmp_path / "one.csv", two, three]).table
    assert table["a"].to_pylist() == 3 * list(range(N))


def test_a_late_value_of_a_pipe_changes_the_type_of_its_column(tmp_path):
    pad = "x" * 500  # the look at the first MiB does not reach the last row
    lines = [*({"a": i, "b": pad} for i in range(3000)), {"a": "x", "b": pad}]
    content = "".join(json.dumps(line) + "\n" for line in lines).encode()
    with fifo(tmp_path, content) as path:
        column = read(path).table["a"]
    assert column.to_pylist() == [*map(str, range(3000)), "x"]
    text = "a,b\n" + "".join(f"{line['a']},{pad}\n" for line in lines)
    with fifo(tmp_path, text.encode(), "csv") as path:
        column = read(path).table["a"]
    assert column.to_pylist() == [*map(str, range(3000)), "x"]


def test_chunks_of_a_pipe_come_once(tmp_path):
    with fifo(tmp_path, b"a,b\n1,2\n3,4\n") as path:
        chunks = scan(path)
        assert [chunk.table["a"].to_pylist() for chunk in chunks] == [[1, 3]]
        with pytest.raises(TableError, match=r"pipe can be read only once\. Save it in a file"):
            list(chunks)


def test_a_pipe_is_opened_once_however_often_its_start_is_looked_at(tmp_path):
    for size in (10, 5000, 3_000_000):
        content = np.random.default_rng(size).bytes(size)
        with fifo(tmp_path, content, f"pipe{size}") as path:
            (source,) = inputs_of(str(path))
            assert not source.again
            assert source.head() == source.head() == content[:4096]
            with source.open() as opened:
                got = b"".join(iter(lambda: opened.read(1000), b""))
            assert got == content
            with pytest.raises(TableError, match="only once"):
                source.open()


def test_a_pipe_that_is_kept_can_be_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(sources_module, "COPY_BYTES", 1 << 16)  # so that it goes to a file
    content = np.random.default_rng(0).bytes(6_000_000)
    with fifo(tmp_path, content) as path:
        (source,) = inputs_of(str(path))
        source.keep()
        first, second = source.open(), source.open()
        assert first.read(1000) == second.read(1000) == content[:1000]
        for each in (first, second):
            pieces = []
            while piece := each.read(70_001):
                pieces.append(piece)
            assert b"".join(pieces) == content[1000:]
    assert list(tmp_path.iterdir()) == [path]


def test_a_socket_has_no_path_but_may_be_a_descriptor(tmp_path):
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        with pytest.raises(TableError, match=r"socket: cannot be read \(No such device"):
            read(path)
    ours, theirs = socket.socketpair()
    with ours:
        theirs.sendall(b"a,b\n1,2\n3,4\n")
        theirs.close()
        assert read(f"/dev/fd/{ours.fileno()}").table["b"].to_pylist() == [2, 4]


def test_devices():
    with pytest.raises(TableError, match="/dev/null: the file is empty"):
        read("/dev/null")


def test_standard_input_that_does_not_wait(monkeypatch):
    out, into = os.pipe()
    os.set_blocking(out, False)
    timer = threading.Timer(0.2, lambda: (os.write(into, b"3,4\n"), os.close(into)))
    os.write(into, b"a,b\n1,2\n")
    timer.start()
    with os.fdopen(out, "rb", buffering=0) as stream:
        assert read(stream).table["a"].to_pylist() == [1, 3]
    timer.join()


@pytest.mark.parametrize("command", [None, "closed"])
def test_closed_standard_input(monkeypatch, command):
    stream = None
    if command == "closed":
        stream = io.TextIOWrapper(io.BytesIO())
        stream.close()
    monkeypatch.setattr("sys.stdin", stream)
    with pytest.raises(TableError, match="standard input is closed"):
        read("-")


def test_a_file_that_is_closed_or_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n1,\xe9\n")
    with path.open("rb") as stream:
        pass
    with pytest.raises(TableError, match=r"a\.csv is closed\. Open it, or give its path"):
        read(stream)
    with path.open() as stream, pytest.raises(TypeError, match="is open as text"):
        read(stream)
