"""A text in chunks of any size is the same table as the whole."""

from __future__ import annotations

import csv
import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separable.data import TableError, read, scan
from separable.data.io.csv.records import Records

CELLS = st.one_of(
    st.text(st.sampled_from('ab ",;\n\r|#é'), max_size=6),
    st.sampled_from(["", "NA", "1", "2.5", "x", "-"]),
)


def written(rows: list[list[str]], ending: str) -> bytes:
    """Return CSV with quotes where they are needed; csv.writer leaves some \\r without."""
    lines = [["first", "second", "third"], *rows]
    return "".join(",".join(map(quoted, line)) + ending for line in lines).encode()


def quoted(cell: str) -> str:
    doubled = cell.replace('"', '""')
    return f'"{doubled}"' if set(cell) & set(',"\r\n') else cell


@given(
    st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=15),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 80),
)
def test_chunks_are_parts_of_the_whole(rows, ending, size):
    options = {"format": "csv", "header": True, "delimiter": ",", "quoting": True}
    options["column_types"] = dict.fromkeys(["first", "second", "third"], "category")
    text = written(rows, ending)
    whole = read(io.BytesIO(text), **options)
    result = scan(io.BytesIO(text), chunk_bytes=size, **options)
    table = pa.concat_tables([chunk.table for chunk in result])
    assert table.to_pydict() == whole.table.to_pydict()
    assert result.report.missing == whole.report.missing
    expected = [[cell.strip() for cell in row] for row in rows]
    missing = {"", "NA", "-"}
    assert [list(row.values()) for row in table.to_pylist()] == [
        [None if cell in missing else cell for cell in row] for row in expected
    ]


@given(st.binary(max_size=120), st.integers(1, 40))
def test_any_bytes_in_chunks_are_the_whole_or_an_error(content, size):
    text = b"a,b\n1,x\n" + content
    options = {"format": "csv", "header": True, "delimiter": ","}
    options["column_types"] = {"a": "category", "b": "category"}
    try:
        whole = read(io.BytesIO(text), **options).table
    except TableError:
        whole = None
    try:
        tables = [c.table for c in scan(io.BytesIO(text), chunk_bytes=size, **options)]
    except TableError:
        assert whole is None
        return
    assert whole is not None
    assert pa.concat_tables(tables).to_pydict() == whole.to_pydict()


@given(st.text(st.sampled_from('a",\n\r'), max_size=40))
def test_records_are_those_of_pythons_csv(text):
    data = text.encode()
    records = Records(data, ",", quoting=True)
    if records.unclosed is not None:
        return
    result = [int(width) for width in records.widths[~records.empty]]
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert result == [len(row) for row in rows if row]


@pytest.mark.parametrize("content", [b"", b"a", b"\n", b'"a\nb"\nc'])
def test_records_of_short_texts(content):
    records = Records(content, ",", quoting=True)
    assert len(records.starts) == len(records.ends) == len(records.widths)
    assert np.all(records.ends > records.starts)
