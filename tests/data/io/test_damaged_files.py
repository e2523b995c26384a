"""Damaged files of every format: an error of ours that names the file, or the rows there are."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random

import pyarrow as pa
import pytest
from pyarrow import parquet

from separable.data import read, scan
from separable.data.table import TableError

TABLE = pa.table(
    {
        "a": [1.5, 2.0, None] * 5,
        "b": ["x", "y", None] * 5,
        "c": [True, False, None] * 5,
        "d": pa.array([1, 2, 3] * 5, pa.timestamp("ms")),
        "e": pa.array(["u", "v", "u"] * 5).dictionary_encode(),
    }
)


def parquet_bytes(**options) -> bytes:
    out = io.BytesIO()
    parquet.write_table(TABLE, out, **options)
    return out.getvalue()


CSV = (
    b"a,b,c,d,e\n1,2.5,x,true,2020-01-01\n"
    b'3,,"y,\n z",false,2020-01-02\n-4,1e5,x,true,\n' + b'5,7,"q""q",false,2021-05-05\n' * 3
)
OBJECTS = [{"a": 1, "b": "x", "c": True, "d": "2020-01-01"}, {"a": -2.5, "b": None, "c": False}]
FILES = {
    "csv": [CSV, CSV.replace(b",", b"\t"), b"2\n\n,", b"a\n1\n2\n"],
    "jsonl": [b"".join(json.dumps(each).encode() + b"\n" for each in OBJECTS * 3)],
    "svmlight": [b"1 1:2 3:4.5\n-1 2:1\n1 qid:2 1:1 # c\n0\n" * 2],
    "vw": [b"1 2 tag|a x:1 y:2 |b z\n-1 |a x w:3\n0 0.5 't| q\n" * 2],
    "parquet": [parquet_bytes(), parquet_bytes(compression="none", row_group_size=4)],
}
PACKERS = (gzip.compress, bz2.compress, lzma.compress)
PIECES = [b",", b"\n", b"\r", b'"', b"\0", b"\xff", b";", b":", b"|", b"#", b"{", b"9" * 30]
PIECES += [b"1e999", b"\xef\xbb\xbf", b"\xff\xfe", b"nan", b"\\", b"\xe2\x80\xa8", b"99999-01-01"]


def mutated(rng: random.Random, data: bytes) -> bytes:
    """Change, take out, put in, repeat or cut off some bytes."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        start = rng.randrange(len(out) + 1)
        end = start + rng.randrange(1, 20)
        way = rng.randrange(5)
        if way == 0 and start < len(out):
            out[start] = rng.randrange(256)
        elif way == 1:
            out[start:start] = rng.choice(PIECES)
        elif way == 2:
            del out[start : len(out) if rng.random() < 0.5 else end]
        elif way == 3:
            out[start:start] = out[start:end]
        else:
            out[start:start] = rng.randbytes(3)
    return bytes(out)


def check(data: bytes, reader, **options) -> None:
    """Read it; only an error about the file may come, which names it."""
    try:
        result = reader(io.BytesIO(data), **options)
        for part in result if isinstance(result, list) else [result]:
            if part.table is not None:
                part.table.validate(full=True)
    except TableError as error:
        named = str(error)
        assert "the file" in named or "column" in named.lower(), named
    except Exception as error:
        raise AssertionError(f"{data!r} with {options}") from error


def chunks(*args, **options):
    return list(scan(*args, **options))


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("on_error", ["raise", "skip"])
@pytest.mark.parametrize("kind", FILES)
def test_mutations(kind, on_error):
    rng = random.Random(f"{kind} {on_error}")
    for _ in range(120):
        data = mutated(rng, rng.choice(FILES[kind]))
        if rng.random() < 0.15:
            data = mutated(rng, rng.choice(PACKERS)(data))
        options = {"on_error": on_error}
        if rng.random() < 0.7:
            options["format"] = kind
        check(data, rng.choice([read, chunks]), **options)


def test_an_empty_line_and_one_of_two_values_with_skip():
    data = read(io.BytesIO(b"2\n\n,"), on_error="skip")
    assert data.table.to_pydict() == {"c1": [2.0, None]}
    assert data.report.skipped == 1


@pytest.mark.native
@pytest.mark.parametrize("reader", [read, chunks])
def test_svmlight_rows_without_features(reader):
    result = reader(io.BytesIO(b"1\n0\n"), format="svmlight")
    (data,) = result if isinstance(result, list) else [result]
    assert data.X.shape == (2, 0)
    assert data.y.tolist() == [1, 0]
    wide = reader(io.BytesIO(b"1\n0\n"), format="svmlight", n_features=3)
    (data,) = wide if isinstance(wide, list) else [wide]
    assert data.X.shape == (2, 3)


def test_every_cut_of_a_parquet_file():
    data = parquet_bytes()
    for size in range(8, len(data), 37):
        with pytest.raises(TableError, match=r"^the file: not readable as Parquet \(.+\)\. The"):
            read(io.BytesIO(data[:size]), format="parquet")
    packed = gzip.compress(data)
    with pytest.raises(TableError, match="gzip data end too early"):
        read(io.BytesIO(packed[: len(packed) // 2]), format="parquet")


def test_names_that_come_twice():
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    out = io.BytesIO()
    parquet.write_table(table, out)
    with pytest.raises(
        TableError, match=r"the file: 1 column name\(s\) appear more than once: 'a'"
    ):
        read(io.BytesIO(out.getvalue()))
    with pytest.raises(TableError, match="appear more than once: 'a'"):
        read(table)


def test_an_arrow_file_is_named():
    out = io.BytesIO()
    with pa.ipc.new_file(out, TABLE.schema) as writer:
        writer.write_table(TABLE)
    for size in (20, len(out.getvalue())):
        with pytest.raises(TableError, match="the file is an Arrow file"):
            read(io.BytesIO(out.getvalue()[:size]))
