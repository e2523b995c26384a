"""Files as people have them: one for each way to write a column, a table or a file.

`COLUMNS` are ways to write the column ``x`` of a table whose target depends on it. `FILES` are ways
to write a plain table that train. `REFUSED` are files that do not, with a part of the message.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import sqlite3
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tests.data.io.workbooks import workbook

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

N_ROWS = 60

_RNG = np.random.default_rng(7)
AMOUNTS = np.round(np.exp(_RNG.normal(6.5, 1.2, N_ROWS)), 2)
AMOUNTS[:3] = (1234.5, 87.25, 12040.75)
DAYS = [dt.datetime(2024, 1, 1) + dt.timedelta(hours=float(h)) for h in 8 * AMOUNTS % 8000]
OTHERS = np.round(_RNG.normal(size=N_ROWS), 2)
LABELS = np.where(np.log(AMOUNTS) + _RNG.normal(size=N_ROWS) > 6.5, "good", "bad")


def grouped(number: float, group: str, decimal: str, places: int = 2) -> str:
    """Write a number with marks."""
    return f"{number:,.{places}f}".translate({ord(","): group, ord("."): decimal})


def indian(number: float) -> str:
    """Write a whole number with the groups of India."""
    head, tail = f"{number:.0f}"[:-3], f"{number:.0f}"[-3:]
    parts = [head[max(at - 2, 0) : at] for at in range(len(head), 0, -2)][::-1]
    return ",".join([*parts, tail])


@dataclass(frozen=True)
class Way:
    """A way to write the column ``x``."""

    write: Callable[[float, dt.datetime, int], str]
    #: The type of the column ("": one of text), and a part of what is said about it.
    kind: str = "number"
    said: str = ""
    #: A part of a warning.
    warned: str = ""
    options: tuple[str, ...] = ()


def _cells(write: Callable[[float], str], **fields: object) -> Way:
    return Way(lambda number, _, __: write(number), **fields)  # type: ignore[arg-type]


def _days(form: str, **fields: object) -> Way:
    return Way(lambda _, day, __: day.strftime(form), **{"kind": "date", **fields})  # type: ignore[arg-type]


_WORDS = ("n/a", "unknown", "-", "?", "none", "#N/A")

COLUMNS = {
    "plain": _cells(str),
    "dollars": _cells(lambda v: f"${grouped(v, ',', '.')}", said="'$1,234.5'"),
    "parentheses": _cells(
        lambda v: f"({grouped(v, ',', '.')})" if v < 400 else grouped(v, ",", "."), said="converted"
    ),
    "germany": _cells(lambda v: f"{grouped(v, '.', ',')} EUR", said="'1.234,5 EUR'"),
    "germany, no cents": _cells(lambda v: f"{grouped(v, '.', ',', 0)},-- €", said="converted"),
    "france": _cells(lambda v: f"{grouped(v, chr(0x202F), ',')}\u00a0€", said="converted"),
    "switzerland": _cells(lambda v: f"CHF {grouped(v, chr(0x2019), '.')}", said="converted"),
    "switzerland, no cents": _cells(lambda v: f"{grouped(v, chr(39), '.', 0)}.-", said="converted"),
    "india": _cells(lambda v: f"₹{indian(100 * v)}", said="converted"),
    "percent": _cells(lambda v: f"{v / 100:.1f}%", said="%'"),
    "unit": _cells(lambda v: f"{v:.1f} kg", said="kg'"),
    "decimal comma": _cells(lambda v: f"{v:.2f}".replace(".", ","), said=""),
    "points": _cells(lambda v: grouped(v * 10, ".", "", 0), said=""),
    "power": _cells(lambda v: f"{v:.3E}"),
    "magnitudes": _cells(
        lambda v: f"{v / 1000:.2f}k" if v > 300 else f"{v:.0f}", said="1234.5k"
    ),
    "millions": _cells(
        lambda v: f"€{v / 1000:.2f}M" if v > 500 else f"€{v:.0f}K", said="converted"
    ),
    "minus sign": _cells(lambda v: f"\u2212{v}" if v < 400 else f"{v}", said="converted"),
    "missing words": Way(
        lambda v, _, at: _WORDS[at % 6] if at % 9 == 4 else str(v), said="missing: "
    ),
    "sentinel": Way(
        lambda v, _, at: "9999" if at % 9 == 4 else f"{v % 100:.1f}", warned="--missing 9999"
    ),
    "dots": _days("%d.%m.%Y", said="such as 31.1.2024"),
    "dots, short": _days("%d.%m.%y %H:%M", said="such as 31.1.2024"),
    "slashes": _days("%m/%d/%y", said="such as 1/31/2024"),
    "month names": _days("%d-%b-%y", said="such as 31 Jan 2024"),
    "time zones": _days("%Y-%m-%dT%H:%M:%S+02:00"),
    "mixed dates": Way(
        lambda _, day, at: day.strftime("%Y-%m-%d" if at % 3 else "%d.%m.%Y"), "date", "31.1.2024"
    ),
    "times": _days("%H:%M", kind="number", said="durations such as"),
    "durations": _cells(lambda v: f"{v // 60:.0f}h {v % 60:.0f}m", said="durations such as"),
    "yes and no": _cells(lambda v: "yes" if v > 600 else "no", kind="boolean"),
    "Y and N": _cells(lambda v: "Y" if v > 600 else "N", kind="boolean"),
    "zip codes": _cells(lambda v: f"{v % 30:05.0f}", kind="category"),
    "mixed units": _cells(
        lambda v: f"{v:.0f} g" if v > 500 else f"{v / 1000:.3f} kg",
        kind="", warned="numbers with different units",
    ),
    "ranges": _cells(
        lambda v: f"{v // 5 * 5:.0f}-{v // 5 * 5 + 5:.0f}",
        kind="", warned="ranges of numbers",
    ),
    "bounds": _cells(
        lambda v: ">1000" if v > 1000 else f"{v:.1f}", kind="",
        warned="numbers with bounds",
    ),
    "quarters": Way(
        lambda _, day, __: f"Q{(day.month + 2) // 3} {day.year}", "category"
    ),
    "labels": Way(
        lambda _, __, at: ("a;b", "b;c", "a", "c", "a;c", "b", "a;b;c")[at % 7], "category"
    ),
}  # fmt: skip


def table_of(way: Way) -> list[tuple[str, ...]]:
    """Return the rows of a table with a column written in a way."""
    cells = (
        way.write(float(v), day, at) for at, (v, day) in enumerate(zip(AMOUNTS, DAYS, strict=True))
    )
    return list(zip(cells, map(str, OTHERS), LABELS.tolist(), strict=True))


def csv_of(rows: list[tuple[str, ...]], delimiter: str = ",", names: str = "x,z,y") -> str:
    """Return rows as CSV text, with quotes where they are needed."""
    lines = [names.split(","), *rows]
    return "".join(delimiter.join(_quoted(cell, delimiter) for cell in row) + "\n" for row in lines)


def _quoted(cell: str, delimiter: str) -> str:
    doubled = cell.replace('"', '""')
    return f'"{doubled}"' if delimiter in cell or '"' in cell else cell


# --- plain tables in files of many kinds ---

ROWS = table_of(COLUMNS["plain"])
TEXT = csv_of(ROWS)
CELLS: list[list[object]] = [[float(x), float(z), y] for x, z, y in ROWS]
RECORDS = [dict(zip("xzy", row, strict=True)) for row in CELLS]


def archive(**files: str) -> bytes:
    """Return a zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, text in files.items():
            made.writestr(f"{name}.csv", text)
    return out.getvalue()


def write_sqlite(path: Path, *tables: str) -> None:
    """Write a database with the same rows in each table."""
    with sqlite3.connect(path) as connection:
        for table in tables:
            connection.execute(f"CREATE TABLE {table} (x REAL, z REAL, y TEXT)")
            connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", CELLS)
    connection.close()


def write_duckdb(path: Path) -> None:
    """Write a database of DuckDB."""
    import duckdb

    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (x DOUBLE, z DOUBLE, y VARCHAR)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", CELLS)


_HEAD: list[object] = ["x", "z", "y"]

#: The name of a file, its contents (or what writes it), and options.
FILES: dict[str, tuple[str, bytes | Callable[[Path], None], tuple[str, ...]]] = {
    "mark": ("t.csv", b"\xef\xbb\xbf" + TEXT.encode(), ()),
    "utf-16": ("t.csv", TEXT.encode("utf-16"), ()),
    "semicolons": ("t.csv", csv_of(ROWS, ";").replace(".", ",").encode(), ()),
    "tabs": ("t.tsv", csv_of(ROWS, "\t").encode(), ()),
    "empty lines": ("t.csv", TEXT.replace("\n", "\n\n").encode(), ()),
    "line ends": ("t.csv", TEXT.replace("\n", "\r\n").encode(), ()),
    "title": ("t.csv", b"Report 2024\n" + TEXT.encode(), ("--skip-rows", "1")),
    "comments": ("t.csv", b"# station 7\n# made by a logger\n" + TEXT.encode(), ()),
    "separator": ("t.csv", b"sep=;\r\n" + csv_of(ROWS, ";").encode(), ()),
    "trailing": ("t.csv", TEXT.replace("\n", ",\n").replace("y,\n", "y\n").encode(), ()),
    "names of rows": (
        "t.csv",
        "\n".join(f"{k}," * (k > 0) + row for k, row in enumerate(TEXT.split())).encode(), (),
    ),
    "two headers": ("t.csv", b"measures,,outcome\n" + TEXT.encode(), ("--skip-rows", "1")),
    "ragged, skipped": ("t.csv", TEXT.encode() + b"1,2\n", ("--skip-bad-lines",)),
    "empty columns": ("t.csv", TEXT.replace("\n", ",,\n").encode(), ()),
    "zip": ("t.zip", archive(a=TEXT), ()),
    "zip of two": ("t.zip", archive(a=TEXT, b="q\n1\n"), ("--table", "a.csv")),
    "workbook": ("t.xlsx", workbook({"S": [_HEAD, *CELLS]}), ()),
    "workbook, merged": (
        "t.xlsx", workbook({"S": [["measures", None, "outcome"], _HEAD, *CELLS]}),
        ("--skip-rows", "1"),
    ),
    "workbook, title": ("t.xlsx", workbook({"S": [["Report"], [], _HEAD, *CELLS]}), ()),
    "workbook of two": (
        "t.xlsx", workbook({"S": [_HEAD, *CELLS], "B": [["q"], [1]]}), ("--sheet", "S"),
    ),
    "array": ("t.json", json.dumps(RECORDS).encode(), ()),
    "lines": ("t.jsonl", "\n".join(map(json.dumps, RECORDS)).encode(), ()),
    "sqlite": ("t.db", lambda path: write_sqlite(path, "t"), ()),
    "sqlite of two": ("t.db", lambda path: write_sqlite(path, "t", "u"), ("--table", "u")),
    "query": ("t.db", lambda path: write_sqlite(path, "t", "u"), ("--query", "SELECT * FROM u")),
    "duckdb": ("t.duckdb", write_duckdb, ()),
}  # fmt: skip

#: The name of a file, its contents, and a pattern of the message: where, what and remedy.
REFUSED: dict[str, tuple[str, bytes | Callable[[Path], None], str]] = {
    "empty": ("t.csv", b"", r"t\.csv: the file is empty\. It needs a header line and rows"),
    "header": ("t.csv", b"x,z,y\n", r"t\.csv: only a header line, no rows\. Add"),
    "page": ("t.csv", b"<!DOCTYPE html><html>no</html>", r"t\.csv: a web page or XML.*Download"),
    "latin": (
        "t.csv", TEXT.replace("x,z,y", "größe,z,y").encode("latin-1"),
        r"t\.csv:1:3: byte 2 .* not valid UTF-8.*--encoding windows-1252",
    ),
    "ragged": ("t.csv", TEXT.encode() + b"1,2\n", r"t\.csv:62: expected 3 .*--skip-bad-lines"),
    "wide row": ("t.csv", TEXT.encode() + b"1,2,a,b\n", r"t\.csv:62: expected 3 .*found 4"),
    "quotes": ("t.csv", TEXT.encode() + b'1,"2,good\n', r"t\.csv:62:3: a quote is opened.*Close"),
    "names": ("t.csv", TEXT.replace("x,z,y", "x,x,y").encode(), r"'x' \(columns 1, 2\)\. Rename"),
    "two headers": ("t.csv", b"m,,o\n" + TEXT.encode(), r"two header lines.*--skip-rows 1"),
    "preamble": (
        "t.csv", b"Report;;\nby SAP;;\n;;\n" + csv_of(ROWS, ";").encode(),
        r"below other lines.*--skip-rows 3",
    ),
    "merged": (
        "t.xlsx", workbook({"S": [["m", None, "o"], _HEAD, *CELLS]}),
        r"two header lines.*--skip-rows 1",
    ),
    "title": ("t.csv", b"Report 2024\n" + TEXT.encode(), r"t\.csv:1: 1 value.*--skip-rows 1"),
    "one class": (
        "t.csv", TEXT.replace("bad", "good").encode(), r"single class, 'good'.*at least two",
    ),
    "zip of two": ("t.zip", archive(a=TEXT, b=TEXT), r"t\.zip: has 2 files.*--table a\.csv"),
    "sheets": (
        "t.xlsx", workbook({"A": [_HEAD, *CELLS], "B": [["q"], [1]]}),
        r"2 sheets: 'A', 'B'.*--table A",
    ),
    "tables": ("t.db", lambda path: write_sqlite(path, "t", "u"), r"2 tables: 't', 'u'.*--table t"),
    "wrapped": (
        "t.json", json.dumps({"data": RECORDS}).encode(), r"t\.json: .*rows are in 'data'.*jq",
    ),
}  # fmt: skip


def written(folder: Path, name: str, contents: bytes | Callable[[Path], None]) -> Path:
    """Write a file and return its path."""
    path = folder / name
    if isinstance(contents, bytes):
        path.write_bytes(contents)
    else:
        contents(path)
    return path
