"""Zip archives: the table inside, the choice among several, hostile archives; URLs."""

from __future__ import annotations

import io
import zipfile

import pytest

from separable.data import read, scan
from separable.data.io import archives
from separable.data.table import TableError

CSV = b"x,y\n1,a\n2,b\n3,a\n"


def archive(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_the_only_table_is_read(tmp_path, method):
    path = archive(tmp_path / "data.zip", {"README": b"about", "in/data.csv": CSV}, method)
    assert read(path, target="y").table.to_pydict() == {"x": [1.0, 2.0, 3.0]}
    assert [len(part) for part in scan(path, chunk_rows=2)] == [2, 1]
    assert len(read(io.BytesIO(path.read_bytes()))) == 3


def test_formats_are_detected_inside(tmp_path):
    lines = b'{"x": 1}\n{"x": 2}\n'
    assert read(archive(tmp_path / "a.zip", {"rows.jsonl": lines})).report.format == "jsonl"
    array = b'[{"x": 1}, {"x": 2}]'
    assert read(archive(tmp_path / "b.zip", {"rows.json": array})).report.format == "json"
    assert read(archive(tmp_path / "c.zip", {"noname": CSV})).report.format == "csv"


def test_several_tables_are_named(tmp_path):
    members = {"a/train.csv": CSV, "a/test.csv": CSV[:8], "__MACOSX/a/._train.csv": b"\0\1"}
    path = archive(tmp_path / "data.zip", members)
    with pytest.raises(TableError, match=r"2 files: 'a/train\.csv', .*table='a/train\.csv'"):
        read(path)
    assert len(read(path, table="a/train.csv")) == 3
    assert len(read(path, table="test.csv")) == 1
    assert len(read(path, table="a/*.csv")) == 4
    with pytest.raises(TableError, match=r"no file 'tran\.csv'"):
        read(path, table="tran.csv")


def test_errors_name_archive_file_and_line(tmp_path):
    path = archive(tmp_path / "data.zip", {"t.csv": CSV + b"4\n"})
    with pytest.raises(TableError, match=r"data\.zip/t\.csv:5: expected 2 values"):
        read(path)


def test_names_that_lead_out_of_the_archive_are_only_names(tmp_path):
    (tmp_path / "in").mkdir()
    path = archive(tmp_path / "in" / "data.zip", {"../evil.csv": CSV})
    assert len(read(path)) == 3
    assert not list(tmp_path.glob("*.csv"))


def test_bombs_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "LARGEST_BYTES", 1 << 16)
    path = archive(tmp_path / "bomb.zip", {"t.csv": b"x,y\n" + b"1,2\n" * 100_000})
    with pytest.raises(TableError, match=r"would unpack to .* Unpack it yourself"):
        read(path)
    path = archive(tmp_path / "bomb.xlsx", {"xl/workbook.xml": b" " * 1_000_000})
    with pytest.raises(TableError, match=r"would unpack to"):
        read(path)


def test_encrypted_nested_empty_and_damaged_archives(tmp_path):
    path = archive(tmp_path / "data.zip", {"t.csv": CSV * 50})
    content = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + offset] |= 1
    (tmp_path / "secret.zip").write_bytes(content)
    with pytest.raises(TableError, match=r"secret\.zip/t\.csv: is encrypted.*password"):
        read(tmp_path / "secret.zip")
    inner = archive(tmp_path / "outer.zip", {"data.zip": path.read_bytes()})
    with pytest.raises(TableError, match=r"outer\.zip/data\.zip is a zip archive.*unpack it"):
        read(inner)
    with pytest.raises(TableError, match="empty zip archive"):
        read(archive(tmp_path / "empty.zip", {}))
    (tmp_path / "cut.zip").write_bytes(path.read_bytes()[:60])
    with pytest.raises(TableError, match=r"cut\.zip: not readable as a zip archive.*get it again"):
        read(tmp_path / "cut.zip")
    content = bytearray(path.read_bytes())
    content[40:44] = b"\xff\xff\xff\xff"
    (tmp_path / "damaged.zip").write_bytes(content)
    with pytest.raises(TableError, match=r"damaged\.zip/t\.csv.*zip data are damaged"):
        read(tmp_path / "damaged.zip")


def test_options_that_select_nothing_are_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes(CSV)
    with pytest.raises(TableError, match="has one table, and takes no table"):
        read(tmp_path / "t.csv", table="t")
    with pytest.raises(TableError, match="takes no query"):
        read(tmp_path / "t.csv", query="SELECT 1")
    with pytest.raises(ValueError, match="not for data in memory"):
        read({"x": [1]}, table="t")
    with pytest.raises(ValueError, match="exclude each other"):
        read(tmp_path / "t.csv", table="t", query="SELECT 1")


@pytest.mark.parametrize(
    ("address", "remedy"),
    [
        ("https://example.org/a.csv?key=1", "Download it first .*curl -LO"),
        ("s3://bucket/a.csv", "Copy the file to this computer"),
        ("file:///data/a.csv", "by its path: /data/a.csv"),
    ],
)
def test_a_url_gets_a_remedy(address, remedy):
    with pytest.raises(TableError, match=remedy):
        read(address)
