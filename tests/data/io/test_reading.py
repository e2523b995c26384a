"""Reading: every kind of source, every kind of damage."""

from __future__ import annotations

import bz2
import datetime as dt
import functools
import gzip
import io
import lzma
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from separable.data import LineError, TableError, read, scan

if TYPE_CHECKING:
    from pathlib import Path

TEXT = b"age,city\n31,Rome\n45,Oslo\nNA,?\n"
VALUES = {"age": [31.0, 45.0, None], "city": ["Rome", "Oslo", None]}


def zstd(data: bytes) -> bytes:
    return pa.compress(data, "zstd", asbytes=True)


PACKERS = {"gzip": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zstd": zstd}


@pytest.fixture
def write(tmp_path: Path):
    def write(content: str | bytes, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def both(source, **options) -> tuple[pa.Table, pa.Table]:
    """Read a source whole and in chunks."""
    whole = read(source, **options).table
    parts = [chunk.table for chunk in scan(source, chunk_bytes=64, **options)]
    return whole, pa.concat_tables(parts)


# --- compression ---


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("name", ["data.csv", "data", "data.csv.xz"])
def test_compression_is_known_by_content_not_by_name(write, kind, name):
    path = write(PACKERS[kind](TEXT), name)
    for table in both(path):
        assert table.to_pydict() == VALUES
    assert read(path).report.compression == kind


@pytest.mark.parametrize("kind", PACKERS)
def test_several_compressed_pieces_one_behind_the_other(write, kind):
    pack = PACKERS[kind]
    path = write(pack(b"x,y\n1,a\n") + pack(b"2,b\n") + pack(b"3,c\n"))
    for table in both(path):
        assert table["x"].to_pylist() == [1.0, 2.0, 3.0]


def rows_of(count: int) -> bytes:
    rng = np.random.default_rng(0)
    return b"x,y\n" + b"".join(
        b"%d,%d\n" % tuple(pair) for pair in rng.integers(0, 1e9, (count, 2))
    )


@functools.cache
def packed_rows(kind: str) -> bytes:
    return PACKERS[kind](rows_of(100_000))


@pytest.mark.slow
@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("chunks", [False, True])
def test_a_file_that_was_cut_off_says_how_many_rows_there_are(write, kind, chunks):
    packed = packed_rows(kind)
    path = write(packed[: len(packed) * 2 // 3], "data.csv.gz")

    def run(**options):
        return sum(len(c) for c in scan(path, **options)) if chunks else len(read(path, **options))

    message = rf"data\.csv\.gz:\d+: the {kind} data end too early.* after \d+ rows\."
    with pytest.raises(TableError, match=message):
        run()
    rows = run(on_error="skip")
    assert 10_000 < rows < 100_000


@pytest.mark.parametrize("kind", ["gzip", "bz2", "xz"])
def test_compressed_bytes_that_were_changed(write, kind):
    packed = bytearray(PACKERS[kind](rows_of(10_000)))
    packed[len(packed) // 2 : len(packed) // 2 + 20] = b"\0" * 20
    with pytest.raises(TableError, match=f"the {kind} data are damaged"):
        read(write(bytes(packed)))


def test_what_follows_compressed_data_is_told(write):
    with pytest.raises(TableError, match="the gzip data are followed by something else"):
        read(write(gzip.compress(TEXT) + b"hello world"))


def test_zeros_behind_compressed_data_are_padding(write):
    assert read(write(gzip.compress(TEXT) + b"\0" * 100)).table.to_pydict() == VALUES


# --- encodings ---


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_with_a_mark(write, encoding):
    path = write("name,x\nZoë,1\nJürgen,2\n".encode(encoding))
    for table in both(path):
        assert table.to_pydict() == {"name": ["Zoë", "Jürgen"], "x": [1.0, 2.0]}


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le"])
def test_encodings_that_must_be_named(write, encoding):
    path = write("name,x\nZoë,1\nJürgen,2\n".encode(encoding))
    for table in both(path, encoding=encoding):
        assert table["name"].to_pylist() == ["Zoë", "Jürgen"]


def test_an_encoding_that_does_not_fit(write):
    with pytest.raises(TableError, match=r":1: not valid ascii|:2:3: byte 9"):
        read(write("name,x\nZoë,1\n".encode("latin-1")), encoding="ascii")
    with pytest.raises(TableError, match=r"not valid utf-16.*encoding="):
        read(write(b"\xff\xfea\0\n\0\0"))
    with pytest.raises(ValueError, match="'encoding' parameter must name an encoding"):
        read(write(TEXT), encoding="klingon")


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [None, 64, 1 << 20])
def test_invalid_utf8_names_line_and_byte(write, chunk):
    lines = [b"name,x"] + [b"a,1"] * 500_000
    lines[400_000] = b"\xe9,1"
    path = write(b"\n".join(lines))
    position = 7 + 4 * 399_999
    with pytest.raises(
        TableError, match=rf":400001(?::\d+)?: byte {position} \(0xe9\) is not valid UTF-8"
    ):
        list(scan(path, chunk_bytes=chunk)) if chunk and chunk > 64 else read(path)


@pytest.mark.parametrize("chunks", [False, True])
def test_nul_byte_names_line_and_byte(write, chunks):
    path = write(b"x,y\n" + b"1,2\n" * 300_000 + b"1,\x002\n" + b"1,2\n" * 300_000)
    with pytest.raises(TableError, match=r":300002:3: a NUL byte at byte 1200006"):
        list(scan(path)) if chunks else read(path)


# --- sources ---


def test_glob_folder_and_list_of_files(write, tmp_path):
    for position, name in enumerate(["b.csv", "a.csv", "c.csv"]):
        write(f"x,y\n{position},t\n", name)
    write("not read", ".hidden")
    write("", "_SUCCESS")
    for source in (tmp_path, str(tmp_path / "*.csv"), sorted(tmp_path.glob("?.csv"))):
        for table in both(source):
            assert table["x"].to_pylist() == [1.0, 0.0, 2.0]
    report = read(tmp_path).report
    assert [source[-5:] for source in report.sources] == ["a.csv", "b.csv", "c.csv"]
    assert "3 files (" in str(report)


def test_files_with_the_columns_in_another_order(write, tmp_path):
    write("x,y\n1,a\n", "a.csv")
    write("y;x\nb;2\n", "b.csv")
    for table in both(tmp_path):
        assert table.to_pydict() == {"x": [1.0, 2.0], "y": ["a", "b"]}


def test_files_with_other_columns(write, tmp_path):
    write("x,y\n1,a\n", "a.csv")
    write("x,z\n1,a\n", "b.csv")
    message = r"b\.csv and .*a\.csv have different columns: .*b\.csv lacks 'y' and has 'z' besides"
    with pytest.raises(TableError, match=message):
        read(tmp_path)
    with pytest.raises(TableError, match=message):
        list(scan(tmp_path))


def test_a_type_that_the_second_file_changes(write, tmp_path):
    write("x,y\n1,a\n", "a.csv")
    write("x,y\nlate,b\n", "b.csv")
    table = read(tmp_path).table
    assert table["x"].to_pylist() == ["1", "late"]
    with pytest.raises(
        TableError, match=r"b\.csv:2:1: column 'x': 'late' is not a number.*column_t"
    ):
        list(scan(tmp_path))


def test_a_folder_of_several_formats(write, tmp_path):
    write("x,y\n1,a\n", "a.csv")
    write('{"x": 1}\n', "b.jsonl")
    with pytest.raises(TableError, match=r"2 formats \(.*a\.csv is csv, .*b\.jsonl is jsonl\)"):
        read(tmp_path)


def test_nothing_to_read(tmp_path):
    with pytest.raises(TableError, match="the folder has no files"):
        read(tmp_path)
    with pytest.raises(TableError, match="no file matches"):
        read(str(tmp_path / "*.csv"))
    with pytest.raises(TableError, match="Cannot read a float"):
        read(1.5)


def test_file_objects(write):
    path = write(gzip.compress(TEXT))
    with path.open("rb") as file:
        assert read(file).table.to_pydict() == VALUES
        file.seek(0)
        chunks = scan(file)
        assert [len(chunk) for chunk in chunks] == [3]
        assert [len(chunk) for chunk in chunks] == [3]
    with path.open(encoding="latin-1") as file, pytest.raises(TypeError, match="binary mode"):
        read(file)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (TEXT, "csv"),
        (gzip.compress(TEXT), "csv"),
        (b'{"age": 31}\n', "jsonl"),
    ],
    ids=["plain", "gzip", "jsonl"],
)
def test_what_comes_in_once_is_known_by_its_start(content, kind):
    class Pipe:
        def __init__(self):
            self.read = io.BytesIO(content).read

    data = read(Pipe())
    assert data.report.format == kind
    assert data.table["age"][0].as_py() == 31
    chunks = scan(Pipe())
    assert sum(len(chunk) for chunk in chunks) > 0
    with pytest.raises(TableError, match="the file can be read only once"):
        list(chunks)


def test_standard_input_in_chunks():
    script = (
        "from separable.data import scan\n"
        "for chunk in scan('-', chunk_rows=2): print(chunk.table['x'].to_pylist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=b"x\n1\n2\n3\n", capture_output=True, check=True
    )
    assert done.stdout == b"[1.0, 2.0]\n[3.0]\n"


# --- damage ---


@pytest.mark.parametrize("chunks", [False, True])
@pytest.mark.parametrize("size", [10_000_000, pytest.param(100_000_000, marks=pytest.mark.long)])
def test_a_line_of_many_megabytes(write, chunks, size):
    long = b"x" * size
    path = write(b"a,b\n1,y\n2," + long + b"\n3,z\n")
    if chunks:
        tables = [chunk.table for chunk in scan(path)]
        table = pa.concat_tables(tables)
    else:
        table = read(path).table
    assert table["a"].to_pylist() == [1.0, 2.0, 3.0]
    assert len(table["b"][1].as_py()) == size


def test_empty_files(write):
    for content in (b"", b"\n\n", gzip.compress(b"")):
        with pytest.raises(TableError, match=r"data\.csv: the file is empty"):
            read(write(content))
    with pytest.raises(TableError, match="the file is empty"):
        read(write(b"", "data.jsonl"))


@pytest.mark.parametrize("chunks", [False, True])
def test_header_only(write, chunks):
    with pytest.raises(TableError, match="only a header line, no rows"):
        list(scan(write("a,b\n"))) if chunks else read(write("a,b\n"))


@pytest.mark.parametrize("chunks", [False, True])
def test_ragged_rows_are_skipped_when_asked(write, chunks):
    lines = ["a,b"] + ["1,2"] * 50_000
    lines[10_000], lines[20_000] = "1,2,3", "4"
    path = write("\n".join(lines))
    if chunks:
        result = scan(path, on_error="skip", chunk_bytes=1000)
        rows = sum(len(chunk) for chunk in result)
    else:
        result = read(path, on_error="skip")
        rows = len(result)
    assert rows == 49_998
    assert result.report.skipped == 2
    first, second = result.report.examples
    assert (first.line, first.reason, first.text) == (10_001, "expected 2 values, found 3", "1,2,3")
    assert (second.line, second.text) == (20_001, "4")
    assert "2 lines left out" in str(result.report)
    with pytest.raises(TableError, match=r":10001(?::\d+)?: expected 2 values.*on_error='skip'"):
        list(scan(path, chunk_bytes=1000)) if chunks else read(path)


def test_cells_that_are_not_of_the_given_type_are_skipped_when_asked(write):
    path = write("x,y\n1,2\nabc,3\n4,?\n5,no\n")
    given = {"x": "number", "y": "number"}
    with pytest.raises(TableError, match=r":3(?::\d+)?: column 'x': 'abc' is not a number"):
        read(path, column_types=given)
    result = read(path, column_types=given, on_error="skip")
    assert result.table.to_pydict() == {"x": [1.0, 4.0], "y": [2.0, None]}
    assert [(e.line, e.reason) for e in result.report.examples] == [
        (3, "column 'x': 'abc' is not a number"),
        (5, "column 'y': 'no' is not a number"),
    ]


def test_a_first_line_that_is_a_comment(write):
    path = write("|1x3 Cross validator\n" + "25, Private, <=50K.\n38, ?, >50K.\n" * 3)
    message = r":1: 1 value\(s\), but the lines below it have 3.*skip_rows=1, or comment='\|'"
    with pytest.raises(TableError, match=message):
        read(path)
    for options in ({"skip_rows": 1}, {"comment": "|"}):
        for table in both(path, **options):
            assert table.column_names == ["c1", "c2", "c3"]
            assert table["c1"].to_pylist() == [25.0, 38.0] * 3
            assert table["c2"].to_pylist() == ["Private", None] * 3


def test_comments_keep_the_count_of_lines(write):
    path = write("a,b\n# one\n1,2\n# two\n3\n")
    with pytest.raises(TableError, match=r":5(?::\d+)?: expected 2 values"):
        read(path, comment="#")


def test_an_unclosed_quote(write):
    path = write('a,b\n1,x\n2,"y\n3,z\n')
    with pytest.raises(
        TableError, match=r":3(?::\d+)?: a quote is opened and never closed.*quoting=False"
    ):
        read(path)
    assert read(path, quoting=False).table["b"].to_pylist() == ["x", '"y', "z"]


def test_quotes_that_are_only_characters(write):
    text = 'ham\t"Oh" she said\nspam\t5" pipe\nham\t"never closed\nham\t"a" "b"\n' * 3
    for table in both(write(text)):
        assert table.num_rows == 12
        assert table["c2"].to_pylist()[:4] == [
            '"Oh" she said',
            '5" pipe',
            '"never closed',
            '"a" "b"',
        ]


def test_quoted_newlines_in_chunks(write):
    lines = ["id,note"] + [f'{i},"line {i}\r\nsecond ""{i}"", x"' for i in range(1000)]
    path = write("\n".join(lines))
    for size in (1, 50, 333, 4096):
        parts = [chunk.table for chunk in scan(path, chunk_bytes=size)]
        table = pa.concat_tables(parts)
        assert table["id"].to_pylist() == [float(i) for i in range(1000)]
        assert table["note"][7].as_py() == 'line 7\r\nsecond "7", x'


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_endings_in_chunks(write, ending):
    text = "".join(f"{line}{ending}" for line in ["x,y", *(f"{i},a" for i in range(500))])
    for size in (1, 7, 100):
        parts = [chunk.table for chunk in scan(write(text), chunk_bytes=size)]
        assert pa.concat_tables(parts)["x"].to_pylist() == [float(i) for i in range(500)]


# --- names, header, target ---


def test_a_file_without_a_header(write):
    path = write("5.1,3.5,setosa\n4.9,3.0,virginica\n")
    assert read(path).table.column_names == ["c1", "c2", "c3"]
    assert read(path, header=True).table.column_names == ["5.1", "3.5", "setosa"]
    X, y = read(path, target=3)
    assert X.column_names == ["c1", "c2"]
    assert y.tolist() == ["setosa", "virginica"]
    assert read(path, target=-1).y.tolist() == y.tolist()
    assert read(path, target="c1").y.tolist() == [5.1, 4.9]
    assert read(path, target=1).y.tolist() == [5.1, 4.9]
    with pytest.raises(
        TableError, match=r"has no column number 4: it has 3 columns, counted from 1"
    ):
        read(path, target=4)


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("color,size\nred,big\nblue,small\n", True),
        ("p,x\np,x\ne,x\np,b\ne,x\n", False),
        ("y,color\nn,red\ny,blue\nn,red\ny,red\nn,blue\n", True),
        ("date,n\n2020-01-01,a\n", True),
        ("2020-01-02,b\n2020-01-01,a\n", False),
        ("id,2019,2020\n1,2,3\n", True),
        ("1,2\n", False),
    ],
)
def test_whether_there_is_a_header(write, text, header):
    assert read(write(text), header=header).report.dialect.header is header
    if text.count("\n") > 1 or not header:
        assert read(write(text)).report.dialect.header is header


def test_a_name_that_is_asked_for_makes_the_first_line_a_header(write):
    path = write("y\ny\nn\ny\nn\n")
    assert read(path, target="y").y.tolist() == ["y", "n", "y", "n"]


def test_a_target_that_is_not_there(write):
    path = write("species,x\na,1\n")
    with pytest.raises(
        TableError, match=r"data\.csv has no column 'specis' \(did you mean 'species'"
    ):
        read(path, target="specis")
    with pytest.raises(TableError, match=r"has no column 'specis'"):
        list(scan(path, target="specis"))


def test_rows_without_a_target_are_left_out_and_counted(write):
    path = write("x,y\n1,a\n2,\n3,NA\n4,b\n")
    data = read(path, target="y")
    assert data.table["x"].to_pylist() == [1.0, 4.0]
    assert data.report.rows_without_target == 2
    assert data.report.rows == 2
    assert "2 rows without a target left out" in str(data.report)
    chunks = scan(path, target="y", chunk_rows=2)
    assert [chunk.y.tolist() for chunk in chunks] == [["a"], ["b"]]


def test_a_target_of_its_own(write):
    path = write("x\n1\n2\n")
    assert read(path, target=np.array([0, 1])).y.tolist() == [0, 1]
    with pytest.raises(TableError, match=r"shape \(3,\), but the data has 2 rows"):
        read(path, target=[0, 1, 2])
    with pytest.raises(TypeError, match="scan takes the target as the name"):
        scan(path, target=[0, 1])


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1", "2"], [1, 2]),
        (["1", "2.5"], [1.0, 2.5]),
        (["true", "false"], [True, False]),
        (["a", "b"], ["a", "b"]),
        (["2020-01-01", "2020-01-02"], np.array(["2020-01-01", "2020-01-02"], "datetime64[us]")),
    ],
)
def test_kinds_of_targets(write, cells, values):
    y = read(write("x,y\n" + "".join(f"1,{cell}\n" for cell in cells)), target="y").y
    expected = np.asarray(values)
    assert y.dtype == expected.dtype
    np.testing.assert_array_equal(y, expected)


def test_chosen_columns(write):
    path = write("a,b,c\n1,2,3\n")
    for table in both(path, columns=["c", 1]):
        assert table.to_pydict() == {"c": [3.0], "a": [1.0]}
    data = read(path, target="b", columns=["a"])
    assert data.table.column_names == ["a"]
    assert data.y.tolist() == [2]
    with pytest.raises(TableError, match="has no column 'd'"):
        read(path, columns=["d"])


def test_duplicate_names(write):
    with pytest.raises(TableError, match=r"more than once: 'x' \(columns 1, 3\)"):
        list(scan(write("x,y,x\n1,2,3\n")))


# --- types ---


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["00123", "4"], "category"),
        (["1234567890123456", "1"], "category"),
        (["123456789012345", "1"], "number"),
        (["0", "0.5", "-3e2"], "number"),
        (["0.12345678901234567"], "number"),
        (["True", "FALSE", "true"], "boolean"),
        (["yes", "no"], "category"),
        (["2020-01-31", "1999-12-01"], "date"),
        (["2020-01-31T10:00", "2020-01-31 10:00:00.5"], "date"),
        (["2020-01-31T10:00:00Z", "2020-01-31T10:00:00+02:00"], "date"),
        (["2020-01-31", "2020-02-30"], "category"),
        (["01/02/2020"], "category"),
    ],
)
def test_types(write, cells, kind):
    path = write("x,y\n" + "".join(f"{cell},1\n" for cell in cells))
    assert read(path).report.column_types["x"] == kind
    assert all(chunk.report.column_types["x"] == kind for chunk in scan(path))


def test_why_a_code_is_text(write):
    assert "a code: '00123' begins with 0" in str(read(write("zip,x\n00123,1\n")).report)


def test_given_types(write):
    path = write("a,b,c,d\n1,yes,2020-01-01,001\n0,no,,2\n")
    given = {"a": "boolean", "b": "boolean", "c": "category", "d": "number"}
    for table in both(path, column_types=given):
        assert table.to_pydict() == {
            "a": [True, False],
            "b": [True, False],
            "c": ["2020-01-01", None],
            "d": [1.0, 2.0],
        }
    with pytest.raises(TableError, match=r":2(?::\d+)?: column 'b': 'yes' is not an ISO date"):
        read(path, column_types={"b": "date"})
    with pytest.raises(
        ValueError, match=r"column_types\['a'\]\" parameter must be one of 'number'"
    ):
        read(path, column_types={"a": "float"})


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_decimal_commas(write, delimiter):
    text = "a;b\n1,5;x\n-2,25;y\n3;z\n".replace(";", delimiter)
    for table in both(write(text)):
        assert table["a"].to_pylist() == [1.5, -2.25, 3.0]
    assert read(write(text), decimal=".").report.column_types["a"] == "category"
    assert read(write("a;b\n1,234;x\n")).report.column_types["a"] == "category"
    assert read(write("a;b\n1,234;x\n"), decimal=",").table["a"].to_pylist() == [1.234]


def surprise(late: str) -> str:
    """A text whose sample, at the start, the middle and the end, does not show the surprise."""
    rows = ["1,a"] * 800_000
    rows[300_000] = f"{late},a"
    return "x,y\n" + "\n".join(rows)


@pytest.mark.slow
def test_a_surprise_between_the_samples(write):
    path = write(surprise("late"))
    data = read(path)
    assert data.table["x"][300_000].as_py() == "late"
    assert "text: line 300002 has 'late', other values are numbers" in str(data.report)
    message = (
        r"data\.csv:300002:1: column 'x': 'late' is not a number.*"
        r"column_types={'x': 'category'}"
    )
    with pytest.raises(TableError, match=message):
        list(scan(path))
    chunks = scan(path, column_types={"x": "category"})
    assert sum(len(chunk) for chunk in chunks) == 800_000


def test_types_do_not_change_between_chunks(write):
    lines = "".join(f"{i},{'' if i % 2 else 'a'},{i % 7}\n" for i in range(2000))
    schemas = {str(c.table.schema) for c in scan(write("i,t,n\n" + lines), chunk_bytes=100)}
    assert len(schemas) == 1


# --- missing ---


def test_what_was_taken_as_missing_by_column_and_marker(write):
    path = write("x,city\n1,Rome\nNA,?\n ? ,\n,Oslo\nNaN,-\n")
    expected = {"x": {"NA": 1, "?": 1, "": 1, "NaN": 1}, "city": {"?": 1, "": 1, "-": 1}}
    assert read(path).report.missing == expected
    chunks = scan(path, chunk_bytes=1)
    assert sum(len(chunk) for chunk in chunks) == 5
    assert chunks.report.missing == expected
    assert "3 missing" in str(chunks.report)


def test_missing_markers_can_be_set(write):
    path = write("x,city\n1,Rome\n-99,?\n")
    data = read(path, missing=["-99"])
    assert data.table.to_pydict() == {"x": [1.0, None], "city": ["Rome", "?"]}
    with pytest.raises(ValueError, match="'missing' parameter must be a list of texts"):
        read(path, missing="NA")


# --- options ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_error": "ignore"}, "'on_error' parameter must be one of 'raise', 'skip'"),
        ({"format": "xls"}, "'format' parameter must be one of 'csv'"),
        ({"delimiter": ", "}, "'delimiter' parameter must be one ASCII character"),
        ({"decimal": ";"}, "'decimal' parameter must be one of"),
        ({"header": "yes"}, "'header' parameter must be one of True, False, None"),
        ({"skip_rows": -1}, "'skip_rows' parameter must be an int >= 0"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        read(io.BytesIO(TEXT), **options)


def test_any_delimiter_can_be_given(write):
    assert read(write("a:b\n1:x\n"), delimiter=":").table.to_pydict() == {"a": [1.0], "b": ["x"]}


def test_running_text_is_one_column(write):
    lines = [
        f"this is sentence {i}, with commas" + ", and more" * (i % 4) + f", {i}" * (i % 3)
        for i in range(60)
    ]
    data = read(write("\n".join(lines)))
    assert data.table["c1"].to_pylist() == lines
    assert "one value a line, no header line" in str(data.report)


def test_progress(write):
    events = []
    path = write(rows_of(1000))
    rows = sum(len(chunk) for chunk in scan(path, chunk_bytes=4000, progress=events.append))
    assert events[-1].rows == rows == 1000
    assert events[-1].bytes_read == events[-1].bytes_total == path.stat().st_size
    assert [p.rows for p in events] == sorted({p.rows for p in events})


def test_progress_of_parquet(tmp_path):
    path, events = tmp_path / "data.parquet", []
    parquet.write_table(pa.table({"x": list(range(1000))}), path)
    assert (
        sum(map(len, scan(path, chunk_rows=100, chunk_bytes=800, progress=events.append))) == 1000
    )
    assert len(events) > 1
    assert events[-1].rows == 1000
    assert events[-1].bytes_read == events[-1].bytes_total == path.stat().st_size
    assert events[0].bytes_read < events[-1].bytes_read


# --- JSON lines and Parquet ---


def test_json_lines(write):
    path = write('{"a": 1, "b": "x", "c": true}\n\n{"b": null, "a": 2.5, "d": "2020-01-01"}\n', "d")
    for table in both(path):
        got = table.to_pydict()
        assert got["a"] == [1.0, 2.5]
        assert got["b"] == ["x", None]
        assert got["c"] == [True, None]
        assert str(got["d"][1]) == "2020-01-01"
    assert read(path).report.missing == {"b": {None: 1}, "c": {None: 1}, "d": {None: 1}}


def test_json_lines_that_are_not_json(write):
    path = write('{"a": 1}\n{"a": 2\n[3]\n{"a": 4}\n', "data.jsonl")
    with pytest.raises(TableError, match=r"data\.jsonl:2: not JSON \(.*on_error='skip'"):
        read(path)
    data = read(path, on_error="skip")
    assert data.table["a"].to_pylist() == [1.0, 4.0]
    assert [(e.line, e.reason[:8]) for e in data.report.examples] == [
        (2, "not JSON"),
        (3, "a list, "),
    ]


@pytest.mark.parametrize("text", ['{\n "a": [1, 2]\n}\n', '{"a": 1,\n"b": 2}'])
def test_a_json_document_is_not_json_lines(write, text):
    with pytest.raises(TableError, match=r"one JSON document.*json\.load"):
        read(write(text, "data.json"))


def test_json_values_that_are_nested(write):
    path = write('{"a": 1, "b": [1, 2]}\n', "data.jsonl")
    with pytest.raises(TableError, match=r"column 'b': holds a list.*columns="):
        read(path)
    assert read(path, columns=["a"]).table.to_pydict() == {"a": [1.0]}


@pytest.mark.slow
def test_a_json_value_of_another_kind_far_behind(write):
    lines = ['{"a": 1, "b": "x"}\n'] * 100_000
    lines[90_000] = '{"a": "late", "b": "x"}\n'
    path = write("".join(lines), "data.jsonl")
    data = read(path)
    assert data.table["a"][90_000].as_py() == "late"
    assert data.table["a"][0].as_py() == "1"
    assert "text: line 90001 has 'late', others are number" in str(data.report)
    with pytest.raises(
        TableError, match=r":90001(?::\d+)?: column 'a': 'late' is not number.*column_types"
    ):
        list(scan(path))


def test_a_json_column_that_begins_far_behind(write, monkeypatch):
    monkeypatch.setattr("separable.data.io.jsonl.HEAD_BYTES", 20)
    path = write('{"a": 1}\n' * 50 + '{"a": 2, "b": 3}\n', "data.jsonl")
    data = read(path)
    assert data.table.column_names == ["a"]
    assert "first appeared after the lines that determined the columns" in str(data.report)
    with pytest.raises(TableError, match=r":51: new column 'b', .*columns=\["):
        list(scan(path))
    assert read(path, columns=["a"]).table["a"].to_pylist()[-1] == 2


def test_json_values_of_several_kinds(write):
    path = write('{"a": 1}\n{"a": "x"}\n{"a": true}\n', "data.jsonl")
    assert read(path).table["a"].to_pylist() == ["1", "x", "true"]
    with pytest.raises(TableError, match=r":2(?::\d+)?: column 'a': 'x' is not"):
        read(path, column_types={"a": "number"})


def test_parquet(tmp_path):
    table = pa.table({"x": [1, 2, None], "t": ["a", "b", "a"], "flag": [True, False, None]})
    path = tmp_path / "data.parquet"
    parquet.write_table(table, path)
    for result in both(path):
        assert result.to_pydict() == table.to_pydict()
    X, y = read(path, target="t", columns=["x"])
    assert X.column_names == ["x"]
    assert y.tolist() == ["a", "b", "a"]
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read(packed).table.to_pydict() == table.to_pydict()
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(TableError, match=r"data\.parquet: not readable as Parquet"):
        read(path)


# --- sparse rows ---


@pytest.mark.native
def test_svmlight_and_vowpal_wabbit_text(write):
    path = write(gzip.compress(b"1 1:2 3:4\n-1 2:1\n"), "rows")
    data = read(path)
    assert data.report.format == "svmlight"
    assert data.X.toarray().tolist() == [[2, 0, 4], [0, 1, 0]]
    assert data.y.tolist() == [1, -1]
    with pytest.raises(TableError, match="no named columns, and each line begins with its target"):
        read(path, target="y")
    path = write(b"1 2.0 first|house price:0.25 old\n-1 |house price:3\n | old\n", "rows.vw")
    data = read(path)
    assert data.feature_names == ("house^price", "house^old", "old")
    assert data.weights.tolist() == [2.0, 1.0]
    assert data.y.tolist() == [1, -1]
    assert data.report.rows_without_target == 1


@pytest.mark.native
def test_a_line_of_svmlight_text_that_cannot_be_read_is_an_error_of_the_table(write):
    path = write("1 1:1\n-1 2:x\n", "data.svm")
    with pytest.raises(TableError, match=r":2:6: the value 'x'.*on_error='skip'") as e:
        read(path)
    assert isinstance(e.value, LineError)
    assert str(pickle.loads(pickle.dumps(e.value))) == str(e.value)
    report = read(path, on_error="skip").report
    assert (report.skipped, report.examples[0].line, report.examples[0].column) == (1, 2, 6)
    assert "data.svm:2:6: the value 'x'" in str(report)
    assert report.to_dict()["examples"][0]["kind"] == "value_malformed"


def test_several_svmlight_files_and_lines_that_are_skipped(write, tmp_path):
    write("1 1:2 3:4\n", "a.svm")
    write("-1 2:x\n2 5:1\n", "b.svm")
    data = read(tmp_path, on_error="skip")
    assert data.X.shape == (2, 5)
    assert data.y.tolist() == [1, 2]
    assert (data.report.skipped, data.report.examples[0].line) == (1, 1)


# --- in memory ---


def frames():
    import pandas as pd
    import polars as pl

    columns = {"x": [1.0, 2.0], "t": ["a", "b"]}
    table = pa.table(columns)
    yield "table", table
    yield "batch", table.to_batches()[0]
    yield "reader", table.to_reader()
    yield "pandas", pd.DataFrame(columns)
    yield "polars", pl.DataFrame(columns)
    yield "dict", columns
    yield "records", [{"x": 1.0, "t": "a"}, {"x": 2.0, "t": "b"}]
    yield "structured", np.array([(1.0, "a"), (2.0, "b")], dtype=[("x", "f8"), ("t", "U1")])


@pytest.mark.parametrize("source", [pytest.param(one, id=name) for name, one in frames()])
def test_tables_in_memory(source):
    X, y = read(source, target="t")
    assert X.to_pydict() == {"x": [1.0, 2.0]}
    assert y.tolist() == ["a", "b"]


def test_arrays_in_memory():
    from scipy import sparse

    data = read(np.array([[1, 2], [3, 4]]), target=2)
    assert data.table.to_pydict() == {"c1": [1, 3]}
    assert data.y.tolist() == [2, 4]
    matrix = sparse.csr_array(np.eye(3))
    data = read(matrix, target=[0, 1, 0])
    assert (matrix != data.X).nnz == 0
    assert data.report.n_features == 3
    assert [len(chunk) for chunk in scan(matrix, chunk_rows=2)] == [2, 1]
    with pytest.raises(TableError, match="no named columns"):
        read(matrix, target="x")
    with pytest.raises(TableError, match=r"Expected a 2D array, got 1 dimension\(s\)"):
        read(np.zeros(3))


def test_booleans_and_dates_in_memory_keep_their_type():
    import datetime as dt

    data = read({"b": [True, None], "d": [dt.date(2020, 1, 1), None], "s": ["x", None]})
    assert data.report.column_types == {"b": "boolean", "d": "date", "s": "category"}
    assert data.report.missing == {"b": {None: 1}, "d": {None: 1}, "s": {None: 1}}


# --- folders, several files, given types ---


@pytest.mark.slow
def test_a_folder_gives_its_data_files_and_names_the_others(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"x,y\n1,u\n")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"x,y\n2,v\n"))
    (tmp_path / "README.md").write_text("# Words, and more\n")
    (tmp_path / ".hidden").write_text("x")
    data = read(tmp_path, target="y")
    assert data.table.to_pydict() == {"x": [1.0, 2.0]}
    assert data.report.notes == ["ignored in the folder: 'README.md'"]
    (tmp_path / "c.csv").write_bytes(
        b"x,y\n" + b"3,u\n" * 500_000 + b"late,u\n" + b"3,u\n" * 90_000
    )
    assert read(tmp_path).report.notes == data.report.notes  # read twice, told once


def test_a_folder_without_known_names_is_read_whole(tmp_path):
    (tmp_path / "part-0").write_bytes(b"x,y\n1,u\n")
    (tmp_path / "part-1").write_bytes(b"x,y\n2,v\n")
    data = read(tmp_path, target="y")
    assert data.table.to_pydict() == {"x": [1.0, 2.0]}
    assert data.report.notes == []


def test_svmlight_files_of_numbers_and_texts(tmp_path):
    (tmp_path / "a.svm").write_bytes(b"1 1:1\n2 2:1\n")
    (tmp_path / "b.svm").write_bytes(b"spam qid:3 1:1\n2:1\n")
    with pytest.raises(ValueError, match=r"no label.*labels='text'"):
        read(tmp_path)
    (tmp_path / "b.svm").write_bytes(b"spam qid:3 1:1\n")
    with pytest.raises(TableError, match=r"numbers in some files and texts in others.*labels="):
        read(tmp_path)
    data = read(tmp_path, labels="text")
    assert data.y.tolist() == ["1", "2", "spam"]
    assert data.qid.tolist() == [-1, -1, 3]
    with pytest.raises(ValueError, match=r"'labels' parameter must be one of 'auto'"):
        read(tmp_path, labels="words")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"1 |a x y:2 |b z\n-1 |a x |c\xc3\xa4 w\n", "vw"),
        (b"|a x y\n| x\n", "vw"),
        (b"1 2.0 tag|a x\n0 'tag|a x\n", "vw"),
        (b"5|good film indeed\n1|bad film\n3|so so\n", "csv"),
        (b"1 | 2 | 3\n4 | 5 | 6\n", "csv"),
    ],
)
def test_vowpal_wabbit_text_without_a_name(text, kind):
    assert read(io.BytesIO(text)).report.format == kind


@pytest.mark.slow
def test_zstd_leaves_nothing_on_standard_error():
    code = (
        "import io, pyarrow as pa; from separable.data import read;"
        "read(io.BytesIO(pa.compress(b'a,b\\n1,2\\n', 'zstd', asbytes=True)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr == b""


@pytest.mark.parametrize("encoding", ["hex", "rot13", 7])
def test_an_encoding_of_other_things_than_text(encoding):
    with pytest.raises(ValueError, match="'encoding' parameter must name an encoding"):
        read(io.BytesIO(b"a,b\n1,2\n"), encoding=encoding)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_dates_with_and_without_an_offset_are_given_in_utc(tmp_path, ending):
    texts = ["2020-01-02", "2020-01-02 10:30", "2020-01-02T10:30:00Z", "2020-01-02T01:30+02:00"]
    file = tmp_path / f"dates.{ending}"
    lines = ["x", *texts] if ending == "csv" else [f'{{"x": "{text}"}}' for text in texts]
    file.write_text("\n".join(lines) + "\n")
    result = read(file, column_types={"x": "date"}).table["x"].to_pylist()
    day = dt.datetime(2020, 1, 2)
    assert [(moment - day) / dt.timedelta(hours=1) for moment in result] == [0, 10.5, 10.5, -0.5]
    file.write_text(file.read_text().replace(":00Z", ":61Z"))
    with pytest.raises(TableError, match=r"'2020-01-02T10:30:61Z' is not (an ISO )?date"):
        read(file, column_types={"x": "date"})


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (pa.array([1, 0, None]), "boolean", [True, False, None]),
        (pa.array([1.0, 0.0]), "boolean", [True, False]),
        (pa.array(["2020-01-02"]).cast(pa.string_view()), "date", [dt.date(2020, 1, 2)]),
        (pa.array(["1", "2.5"]).cast(pa.large_string()), "number", [1.0, 2.5]),
        (pa.array(["1", "2"]).dictionary_encode(), "number", [1.0, 2.0]),
        (pa.array([True, None]), "category", ["True", None]),
        (pa.array([True, None]), "number", [1.0, None]),
        (pa.array([2**60 + 1]), "category", [str(2**60 + 1)]),
        (pa.array([dt.datetime(2020, 1, 2, 3)]), "category", ["2020-01-02 03:00:00"]),
        (pa.nulls(2), "category", [None, None]),
        (pa.nulls(2), "date", [None, None]),
    ],
)
def test_a_given_type_of_a_column_in_memory(values, kind, expected):
    data = read(pa.table({"x": values}), column_types={"x": kind})
    assert data.table["x"].to_pylist() == expected


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (pa.array(["1", "a"]).cast(pa.large_string()), "number", "a value is not a number"),
        (pa.array([1, 2]), "date", "int64 is not a date"),
        (pa.array([1, 2]), "boolean", "int64 is not boolean"),
        (pa.array([dt.date(2020, 1, 1)]), "number", "is not a number"),
    ],
)
def test_a_given_type_that_a_column_cannot_have(values, kind, message):
    with pytest.raises(TableError, match=f"column 'x': .*{message}"):
        read(pa.table({"x": values}), column_types={"x": kind})


def test_targets_of_moments():
    times = pa.table({"x": [1, 2], "y": pa.array([dt.time(1), dt.time(2, 30)])})
    assert read(times, "y").y.tolist() == ["01:00:00", "02:30:00"]
    fine = pa.table({"x": [1, 2], "y": pa.array([1, 2], pa.timestamp("ns"))})
    assert read(fine, "y").y.tolist() == [1, 2]


@pytest.mark.slow
def test_many_wrong_values_are_counted_and_a_few_are_told():
    text = b"a,b\n" + b"x,1\n1,y\nx,y\n2,2\n" * 20_000  # a look for each line would take minutes
    types = {"a": "number", "b": "number"}
    data = read(io.BytesIO(text), column_types=types, on_error="skip")
    assert data.table.to_pydict() == {"a": [2.0] * 20_000, "b": [2.0] * 20_000}
    assert data.report.skipped == 60_000
    assert [example.line for example in data.report.examples] == [2, 4, 6, 8, 10]


def test_an_error_shows_the_start_of_a_long_value():
    text = b"a,b\n" + b"1,2\n" * 5 + b"z" * 1_000_000 + b",2\n"
    with pytest.raises(TableError, match=r"column 'a': 'z{80}'\.\.\. is not a number") as error:
        read(io.BytesIO(text), column_types={"a": "number"})
    assert len(str(error.value)) < 1000


@pytest.mark.slow
@pytest.mark.parametrize("whole", [True, False])
def test_json_lines_with_wrong_values_can_be_left_out(whole):
    good = b'{"n":1,"d":"2020-01-02","b":true,"t":"x"}\n'
    bad = [
        b'{"n":"one","d":"2020-01-02","b":true,"t":"x"}\n',
        b'{"n":1,"d":"soon","b":true,"t":"x"}\n',
        b'{"n":1,"d":"2020-01-02","b":"maybe","t":"x"}\n',
        b'{"n":1,"d":"2020-01-02","b":true,"t":["x"]}\n',
    ]
    text = good * 30_000 + b"".join(bad) + b'{"n":null,"d":"NA","b":null,"t":null}\n'
    options = {"column_types": {"n": "number", "b": "boolean", "d": "date"}, "on_error": "skip"}
    if whole:
        data = read(io.BytesIO(text), **options)
        rows, report = len(data), data.report
    else:
        chunks = scan(io.BytesIO(text), **options)
        rows, report = sum(map(len, chunks)), chunks.report
    assert rows == 30_001
    assert report.skipped == 4
    assert [example.line for example in report.examples] == [30_001, 30_002, 30_003, 30_004]
    assert "'one' is not number" in report.examples[0].reason
    with pytest.raises(TableError, match=r":30001(?::\d+)?: column 'n': 'one' is not number"):
        read(io.BytesIO(text), **{**options, "on_error": "raise"})
