"""Lines above the header, and headers that lack one name."""

from __future__ import annotations

import pytest

from separable.data import read, scan
from separable.data.table import TableError

ROWS = "".join(f"{k}.5,{k % 7},{'ab'[k % 2]}\n" for k in range(40))


def both(path, **options):
    """Read a file whole and in chunks; both are the same."""
    whole = read(path, **options)
    chunks = list(scan(path, chunk_bytes=64, **options))
    assert sum(chunk.table.num_rows for chunk in chunks) == whole.table.num_rows
    assert chunks[0].table.column_names == whole.table.column_names
    return whole


@pytest.mark.parametrize("mark", [";", "|", "\t"])
@pytest.mark.parametrize("line", ["sep={}\n", "SEP={}\r\n", '"sep={}"\n'])
def test_a_line_of_excel_names_the_delimiter(tmp_path, mark, line):
    path = tmp_path / "t.csv"
    path.write_bytes((line.format(mark) + "x,z,y\n" + ROWS).replace(",", mark).encode())
    data = both(path)
    assert data.table.column_names == ["x", "z", "y"]
    assert data.table["x"].to_pylist() == [k + 0.5 for k in range(40)]
    assert data.report.dialect.delimiter == mark


@pytest.mark.parametrize("remarks", ["# a tool\n# 2024\n", "## a,b\n#\n", "# one\n\n"])
def test_remarks_above_the_header_are_ignored_and_noted(tmp_path, remarks):
    path = tmp_path / "t.csv"
    path.write_text(remarks + "x,z,y\n" + ROWS)
    data = both(path)
    assert data.table.column_names == ["x", "z", "y"]
    (note,) = data.report.notes
    assert "begin" in str(note)
    assert "'#'" in str(note)


def test_a_header_with_a_hash_is_a_header(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("##fileformat\n#x,z,y\n" + ROWS)
    assert both(path).table.column_names == ["#x", "z", "y"]
    path.write_text("#x,z,y\n" + ROWS)
    assert both(path).table.column_names == ["#x", "z", "y"]


def test_a_delimiter_at_the_end_of_each_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,z,y\n" + ROWS.replace("\n", ",\n"))
    table = both(path).table
    assert table.column_names == ["x", "z", "y", "c4"]
    assert table["x"].to_pylist() == [k + 0.5 for k in range(40)]
    assert table["c4"].null_count == 40


@pytest.mark.parametrize("form", ["{}", '"{}"', '"row, {}"'])
def test_names_of_rows_without_a_header(tmp_path, form):
    path = tmp_path / "t.csv"
    lines = [f"{form.format(k + 1)},{row}\n" for k, row in enumerate(ROWS.splitlines())]
    path.write_text('"x","z","y"\n' + "".join(lines))
    table = both(path).table
    assert table.column_names == ["c1", "x", "z", "y"]
    assert table["x"].to_pylist() == [k + 0.5 for k in range(40)]


def test_a_header_that_lacks_an_unclear_name_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,z,y\n" + "".join(f"same,{row}\n" for row in ROWS.splitlines()))
    with pytest.raises(TableError, match="but the lines below it have 4"):
        read(path)


def test_errors_name_the_line_below_ignored_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("# a tool\n# 2024\nx,z,y\n" + ROWS + "1,2\n")
    with pytest.raises(TableError, match=r"t.csv:44: expected 3 values"):
        read(path)
