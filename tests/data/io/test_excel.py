"""Workbooks: typed cells, the header row, the choice of a sheet, damaged files."""

from __future__ import annotations

import datetime as dt
import io
import zipfile

import pytest

from separable.data import read, scan
from separable.data.table import NotANumberError, TableError
from tests.data.io.workbooks import workbook

DAY, NOON = dt.date(2024, 3, 5), dt.datetime(2024, 3, 5, 12, 30)
ROWS = [
    ["age", "city", "member", "day", "seen", "code"],
    [31, "Rome", True, DAY, NOON, "007"],
    [2.5, None, False, None, dt.datetime(2024, 3, 6), "010"],
    [None, "Oslo", None, dt.date(1999, 12, 31), NOON, None],
]


@pytest.fixture
def write(tmp_path):
    def write(sheets, name="book.xlsx", **options):
        path = tmp_path / name
        path.write_bytes(workbook(sheets, **options))
        return path

    return write


def test_cells_keep_their_types(write):
    data = read(write({"Data": ROWS}))
    assert data.table.to_pydict() == {
        "age": [31.0, 2.5, None],
        "city": ["Rome", None, "Oslo"],
        "member": [True, False, None],
        "day": [DAY, None, dt.date(1999, 12, 31)],
        "seen": [NOON, dt.datetime(2024, 3, 6), NOON],
        "code": ["007", "010", None],
    }
    assert data.report.format == "excel"
    assert [each.n_missing for each in data.report.columns] == [1, 1, 1, 1, 0, 1]


def test_titles_above_the_header_and_empty_rows_are_passed_over(write):
    rows = [["Sales of 2024"], [], *ROWS[:2], [], *ROWS[2:], []]
    path = write({"Data": rows})
    data = read(path)
    assert data.table.equals(read(write({"Data": ROWS}, "plain.xlsx")).table)
    assert "1 row(s) above the table were ignored" in data.report.notes[0]


def test_a_table_without_a_header(write):
    path = write({"Data": [[1, "a"], [2, "b"]]})
    assert read(path).table.to_pydict() == {"c1": [1.0, 2.0], "c2": ["a", "b"]}
    assert read(path, header=True).table.to_pydict() == {"1": [2.0], "a": ["b"]}


def test_a_header_above_texts_only(write):
    path = write({"Data": [["city", "land"], ["Rome", "Italy"], ["Oslo", "Norway"]]})
    assert read(path).table.column_names == ["city", "land"]


def test_markers_and_errors_are_missing_in_a_column_of_numbers(write):
    path = write({"Data": [["x", "y"], [1, "a"], ["NA", "b"], [3.5, "a"], ["#N/A", "b"]]})
    data = read(path)
    assert data.table.column("x").to_pylist() == [1.0, None, 3.5, None]
    assert data.report.columns[0].missing == {"NA": 1, None: 1}


def test_numbers_among_texts_stay_as_written(write):
    path = write({"Data": [["x", "y"], [1, 1], ["b", 2], [2.5, 3], [DAY, 4], [True, 5]]})
    assert read(path).table.column("x").to_pylist() == ["1", "b", "2.5", "2024-03-05", "true"]


def test_the_only_sheet_with_a_table_is_read(write):
    path = write(
        {"Notes": [["see below"]], "Data": ROWS, "Old": ROWS, "Empty": []}, hidden=("Old",)
    )
    assert len(read(path)) == 3


def test_several_sheets_are_named(write):
    path = write({"2023": ROWS, "2024": ROWS[:3]})
    with pytest.raises(TableError, match=r"2 sheets: '2023', '2024'. Choose one: table='2023'"):
        read(path)
    assert len(read(path, table="2024")) == 2
    with pytest.raises(TableError, match=r"no sheet '2025' \(did you mean"):
        read(path, table="2025")


def test_chunks_are_the_table(write):
    path = write({"Data": [["x", "y"], *([k, f"t{k % 7}"] for k in range(100))]})
    whole = read(path)
    parts = [chunk.table for chunk in scan(path, chunk_rows=30)]
    assert [part.num_rows for part in parts] == [30, 30, 30, 10]
    values = [value for part in parts for value in part.column("y").to_pylist()]
    assert values == whole.table.column("y").to_pylist()


def test_several_workbooks_have_common_types(write, tmp_path):
    write({"Data": [["x"], [1], [2]]}, "a.xlsx")
    write({"Data": [["x"], ["b"], [2]]}, "b.xlsx")
    assert read(str(tmp_path / "*.xlsx")).table.to_pydict() == {"x": ["1", "2", "b", "2"]}
    write({"Data": [["z"], [1]]}, "c.xlsx")
    with pytest.raises(TableError, match=r"c\.xlsx, sheet 'Data' has no column 'x'"):
        read(str(tmp_path / "*.xlsx"))


def test_an_error_names_the_row_of_the_sheet(write):
    path = write({"Data": [["title"], ["x", "y"], [1, 2], [], ["b", 3]]})
    with pytest.raises(NotANumberError, match=r"sheet 'Data', row 5, column 'x': 'b' is not"):
        read(path, column_types={"x": "number"})


def test_streams_and_archives(write, tmp_path):
    content = write({"Data": ROWS}).read_bytes()
    assert len(read(io.BytesIO(content))) == 3
    with zipfile.ZipFile(tmp_path / "book.zip", "w") as file:
        file.writestr("folder/book.xlsx", content)
    assert len(read(tmp_path / "book.zip")) == 3


def test_damaged_workbooks(write, tmp_path):
    content = write({"Data": ROWS}).read_bytes()
    for name, broken in {"cut": content[:-200], "noise": b"\0" * 500}.items():
        path = tmp_path / f"{name}.xlsx"
        path.write_bytes(broken)
        with pytest.raises(TableError, match=rf"{name}\.xlsx.*get it again"):
            read(path)
    with zipfile.ZipFile(tmp_path / "empty.xlsx", "w") as file:
        file.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(TableError, match=r"empty\.xlsx"):
        read(tmp_path / "empty.xlsx")
    path = tmp_path / "old.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    with pytest.raises(TableError, match=r"not readable as a workbook"):
        read(path)


def test_an_empty_sheet_and_a_query_are_refused(write):
    with pytest.raises(TableError, match="the sheet is empty"):
        read(write({"Data": []}))
    with pytest.raises(TableError, match="no rows"):
        read(write({"Data": [["x", "y"]]}))
    with pytest.raises(TableError, match="takes no query"):
        read(write({"Data": ROWS}), query="SELECT 1")
