"""CSV files: types from the whole column, missing values, and errors that name the place."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separable.data import read
from separable.data.io.csv.dialect import BLOCK_BYTES
from separable.data.table import MISSING, NotANumberError, TableError, missing_counts

if TYPE_CHECKING:
    from pathlib import Path


#: How a category is held whose values come again.
LEVELS = pa.dictionary(pa.int32(), pa.string())


def table_of(text: str | bytes, **options) -> pa.Table:
    data = text.encode() if isinstance(text, str) else text
    return read(io.BytesIO(data), format="csv", **options).table


@pytest.fixture
def write(tmp_path: Path):
    def write(content: str | bytes, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


# --- types ---


def test_numbers_and_categories():
    table = table_of("age,city,member\n31,Rome,true\n+4.5e1,Oslo,false\n")
    assert table.schema.types == [pa.float64(), LEVELS, pa.bool_()]
    assert table.to_pydict() == {
        "age": [31.0, 45.0],
        "city": ["Rome", "Oslo"],
        "member": [True, False],
    }


def test_a_late_surprise_decides_the_type_of_the_whole_column():
    rows = "".join(f"{i}\n" for i in range(200_000))
    assert table_of("x\n" + rows).schema.types == [pa.float64()]
    table = table_of("x\n" + rows + "late\n")
    assert table.schema.types == [pa.string()]
    assert table["x"][0].as_py() == "0"
    assert table["x"][-1].as_py() == "late"


@pytest.mark.parametrize("text", ["1_000", "0x10", "1 000", "twelve", "1d"])
def test_what_is_not_a_decimal_number_is_text(text):
    assert table_of(f'x;y\n1;1\n"{text}";1\n').schema.types == [LEVELS, pa.float64()]


def test_column_types_override_what_a_column_looks_like():
    table = table_of("zip,x\n01234,1\n", column_types={"zip": "category", "absent": "number"})
    assert table["zip"].to_pylist() == ["01234"]


def test_a_column_asked_for_as_a_number_names_the_line_of_the_text():
    text = 'x,note\n1,"two\nlines"\n\n2,a\nabc,b\n'
    with pytest.raises(
        NotANumberError, match=r":6(?::\d+)?: column 'x': 'abc' .*missing.$"
    ) as caught:
        table_of(text, column_types={"x": "number"})
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.column, str(again)) == ("x", str(caught.value))


# --- missing values ---


@pytest.mark.parametrize("marker", MISSING)
@pytest.mark.parametrize("form", ["{}", "  {} ", '"{}"', '" {}"'])
def test_missing_markers(marker, form):
    cell = form.format(marker)
    table = table_of(f"x,city\n1,Rome\n{cell},{cell}\n3,Oslo\n")
    assert table["x"].to_pylist() == [1.0, None, 3.0]
    assert table["city"].to_pylist() == ["Rome", None, "Oslo"]
    assert missing_counts(table) == {"x": 1, "city": 1}


def test_words_that_only_look_like_missing_are_kept():
    assert table_of("x\nNaN-na\nnone\n--\n")["x"].null_count == 0


def test_a_column_that_is_all_missing_is_a_column_of_numbers():
    assert table_of("a,b\n1,NA\n2,\n").schema.types == [pa.float64(), pa.float64()]


# --- formats ---


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_delimiters_line_endings_and_byte_order_mark(delimiter, ending, start):
    lines = ["a;b".replace(";", delimiter), "1;x".replace(";", delimiter), ""]
    table = table_of(start + ending.join(lines))
    assert table.to_pydict() == {"a": [1.0], "b": ["x"]}


def test_decimal_commas_do_not_make_the_comma_a_delimiter():
    assert table_of("a;b\n1,5;2,5\n3,5;4,5\n").column_names == ["a", "b"]


def test_quotes_newlines_and_delimiters_inside_values():
    table = table_of('a,b\n"x, y","say ""hi""\nthere"\n')
    assert table.to_pydict() == {"a": ["x, y"], "b": ['say "hi"\nthere']}


def test_a_line_longer_than_a_block():
    long = "x" * (BLOCK_BYTES + 10)
    table = table_of(f"a;b\n1;y\n2;{long}\n3;z\n")
    assert table["a"].to_pylist() == [1.0, 2.0, 3.0]
    assert table["b"][1].as_py() == long


@pytest.mark.slow
def test_a_header_longer_than_the_sample():
    names = [f"column {i}" for i in range(20_000)]
    table = table_of("|".join(names) + "\n" + "|".join("1" for _ in names) + "\n")
    assert table.column_names == names


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n", "\ufeff\n\n"])
@pytest.mark.parametrize("more", ["", "\n", "\n\n\n"])
def test_in_a_single_column_an_empty_line_is_a_missing_value(start, more, ending):
    text = f"{start}x\n\n1\n\n\n-3\n2{more}".replace("\n", ending)
    assert table_of(text).to_pydict() == {"x": [None, 1.0, None, None, -3.0, 2.0]}


def test_in_a_single_column_empty_lines_around_quoted_values():
    table = table_of('x\n"a\n\nb"\n\n"c\n"\n\n', column_types={"x": "category"})
    assert table.to_pydict() == {"x": ["a\n\nb", None, "c"]}


def test_in_a_single_column_empty_lines_are_counted_on_all_blocks(monkeypatch):
    monkeypatch.setattr("separable.data.io.csv.dialect.BLOCK_BYTES", 64)
    values = [None if i % 3 else float(i) for i in range(1000)]
    text = "".join("\n" if value is None else f"{value:g}\n" for value in values)
    assert table_of("x\n" + text).to_pydict() == {"x": values}


def test_in_several_columns_empty_lines_are_skipped():
    assert table_of("\nx,y\n\n1,2\n\n3,4\n\n").to_pydict() == {"x": [1.0, 3.0], "y": [2.0, 4.0]}


def test_the_line_of_a_bad_value_below_empty_lines():
    with pytest.raises(TableError, match=r":6(?::\d+)?: column 'x': 'abc' is not a number"):
        table_of("\nx\n1\n\n\nabc\n", column_types={"x": "number"})
    with pytest.raises(
        TableError, match=r":4(?::\d+)?: expected 1 values \(as in the header\), found 2"
    ):
        table_of("x\n1\n\n" + "2,3\n" + "4\n" * 60)


def test_a_header_line_alone_in_a_single_column():
    with pytest.raises(TableError, match="only a header line, no rows"):
        table_of("x\n\n\n")


def test_a_column_without_a_name_is_called_by_its_place():
    assert table_of(",x\n1,2\n").column_names == ["c1", "x"]
    assert table_of(",,x\n1,2,3\n").column_names == ["c1", "c2", "x"]


def test_a_column_without_a_name_is_never_called_like_another():
    assert table_of("c2,,x\n1,2,3\n").column_names == ["c2", "c2_", "x"]
    assert table_of("c2_,,c2,\n1,2,3,4\n").column_names == ["c2_", "c2__", "c2", "c4"]


def test_a_quote_inside_an_unquoted_value_is_text():
    assert table_of('size\n5" pipe\n').to_pydict() == {"size": ['5" pipe']}


@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False),
            st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1).filter(
                lambda t: t.strip() == t and t not in MISSING
            ),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_what_pythons_csv_writes_is_read_back(rows):
    import csv

    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(["number", "text"])
    writer.writerows(rows)
    table = table_of(out.getvalue(), column_types={"text": "category"})
    assert table["number"].to_pylist() == [number for number, _ in rows]
    trimmed = [text.strip() for _, text in rows]
    assert table["text"].to_pylist() == trimmed


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x\n1\n")))
    assert read("-").table.to_pydict() == {"x": [1.0]}


# --- errors ---


def test_file_missing(write, tmp_path):
    write("x\n1\n", "penguins.csv")
    with pytest.raises(TableError, match=r"pengins\.csv: no such file \(did you mean 'penguins"):
        read(tmp_path / "pengins.csv")


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff", "  \n"])
def test_empty_file(write, content):
    with pytest.raises(TableError, match=r"data\.csv: the file is empty"):
        read(write(content))


def test_header_only(write):
    with pytest.raises(TableError, match=r"data\.csv: only a header line, no rows"):
        read(write("a,b\n"))


@pytest.mark.parametrize(
    ("text", "line", "result"),
    [
        ("a,b\n1,2\n3\n", 3, 1),
        ("a,b\n1,2\n\n3,4,5\n", 4, 3),
        ('a,b\n"x\ny",2\n1,2,3\n', 4, 3),
        ("a,b\r\n1,2\r\n3\r\n", 3, 1),
    ],
)
def test_ragged_row(write, text, line, result):
    message = rf"data\.csv:{line}: expected 2 values \(as in the header\), found {result}\."
    with pytest.raises(TableError, match=message + " Put quotes around"):
        read(write(text))


def test_ragged_row_deep_in_a_large_file(write):
    lines = ["a,b"] + ["1,2"] * 300_000 + ["1,2,3"] + ["1,2"] * 10
    with pytest.raises(TableError, match=r":300002(?::\d+)?: expected 2 values"):
        read(write("\n".join(lines)))


def test_duplicate_column_names(write):
    with pytest.raises(TableError, match=r"more than once: 'x' \(columns 1, 3\).*header line"):
        read(write("x,y, x\n1,2,3\n"))


def test_nul_byte(write):
    with pytest.raises(TableError, match=r":2:\d: a NUL byte at byte 5"):
        read(write(b"a,b\n1\0,2\n"))


@pytest.mark.parametrize(
    ("content", "line", "column", "offset"),
    [
        (b"a,b\n1,caf\xe9\n", 2, 6, 9),
        (b"caf\xe9,b\n1,2\n", 1, 4, 3),
        (b"\xef\xbb\xbfa,b\r\n1,2\r\n\xff,2\r\n", 3, 1, 13),
    ],
)
def test_invalid_utf8(write, content, line, column, offset):
    message = rf":{line}:{column}: byte {offset} \(0x..\) is not valid UTF-8.*iconv"
    with pytest.raises(TableError, match=message):
        read(write(content))


def test_other_formats_are_named(write):
    with pytest.raises(TableError, match=r"data\.csv is a PDF.*export the table as CSV"):
        read(write(b"%PDF-1.7"))


def test_a_header_that_begins_like_another_format_is_still_read():
    assert table_of("PAR1,BZh\n1,2\n").column_names == ["PAR1", "BZh"]


def test_a_quote_that_is_never_closed_does_not_swallow_rows(write):
    with pytest.raises(TableError, match=r":3(?::\d+)?: a quote is opened and never closed"):
        read(write('a,b\n1,x\n2,"y\n3,z\n4,w\n'))


@given(st.binary(max_size=200))
def test_any_bytes_give_a_table_or_a_table_error(content):
    try:
        table = table_of(b"a,b\n" + content, header=True)
    except TableError:
        return
    assert table.column_names == ["a", "b"]
    assert table.num_rows > 0


def test_reading_imports_no_pandas():
    script = (
        "import io, sys; from separable.data import read;"
        "from separable.data.table import missing_counts;"
        "missing_counts(read(io.BytesIO(b'a,b\\n1,x\\nNA,?\\n')).table);"
        "sys.exit(any(name in sys.modules for name in ('pandas', 'scipy', 'sklearn', 'polars')))"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_many_columns_are_looked_at_together(monkeypatch):
    from separable.data.io.csv import sniff

    calls = []
    guess = sniff.guess
    monkeypatch.setattr(sniff, "guess", lambda *args: calls.append(1) or guess(*args))
    width = 5000
    names = [f"v{offset}" for offset in range(width)]
    cells = [str(offset / 8) for offset in range(width)]
    cells[7], cells[2500], cells[4000] = "word", "", "007"
    text = "\n".join([",".join(names), *[",".join(cells)] * 3, ""]).encode()
    data = read(io.BytesIO(text))
    assert len(calls) < 100
    result = {column.name: (column.type, column.why) for column in data.report.columns}
    assert result["v7"] == ("category", "text")
    assert result["v2500"] == ("number", "every value is missing")
    assert result["v4000"] == ("category", "a code: '007' begins with 0")
    others = [result[name] for name in names if name not in ("v7", "v2500", "v4000")]
    assert set(others) == {("number", "every value is a number")}
    assert data.table["v4999"].to_pylist() == [4999 / 8] * 3
