"""SQLite and DuckDB: types, tables, queries that can only read; Postgres by its messages."""

from __future__ import annotations

import datetime as dt
import io
import sqlite3

import duckdb
import pytest

from separable import errors
from separable.data import read, scan
from separable.data.io.sources import inputs_of
from separable.data.table import TableError

N = 40


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory):
    path = tmp_path_factory.mktemp("sqlite") / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE sales (amount REAL, n INTEGER, paid BOOLEAN, day DATE, who TEXT, "
            "zip TEXT, mixed, serial INTEGER, unknown)"
        )
        connection.executemany(
            "INSERT INTO sales VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)",
            [
                (k / 4, None if k == 3 else k, k % 2, f"2024-05-{k % 28 + 1:02}", f"w{k % 5}",
                 f"0{k % 9}", k if k % 2 else "NA", 2**60 + k)
                for k in range(N)
            ],
        )  # fmt: skip
    connection.close()
    return path


def test_types_follow_values_and_declarations(sqlite):
    data = read(sqlite)
    table = data.table
    assert table.num_rows == N
    assert table["amount"].to_pylist() == [k / 4 for k in range(N)]
    assert table["n"].to_pylist()[2:5] == [2.0, None, 4.0]
    assert table["paid"].to_pylist()[:2] == [False, True]
    assert table["day"].to_pylist()[0] == dt.date(2024, 5, 1)
    assert table["zip"].to_pylist()[:2] == ["00", "01"]
    assert table["mixed"].to_pylist()[:3] == [None, 1.0, None]
    assert table["serial"].to_pylist()[1] == str(2**60 + 1)
    types = {each.name: each.type for each in data.report.columns}
    assert types == {
        "amount": "number", "n": "number", "paid": "boolean", "day": "date", "who": "category",
        "zip": "category", "mixed": "number", "serial": "category", "unknown": "number",
    }  # fmt: skip


def test_chunks_are_the_table(sqlite):
    chunks = list(scan(sqlite, target="who", chunk_rows=15))
    assert [len(chunk) for chunk in chunks] == [15, 15, 10]
    amounts = [value for chunk in chunks for value in chunk.table["amount"].to_pylist()]
    assert amounts == [k / 4 for k in range(N)]
    small = list(scan(sqlite, chunk_bytes=1000))
    assert len(small) > 3
    assert sum(map(len, small)) == N


def test_a_late_text_in_a_column_of_numbers_has_its_type_in_the_first_chunk(tmp_path):
    with sqlite3.connect(tmp_path / "late.db") as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.executemany("INSERT INTO t VALUES (?)", [(k,) for k in range(50)])
        connection.execute("INSERT INTO t VALUES ('late')")
    connection.close()
    whole = read(tmp_path / "late.db").table["x"].to_pylist()
    assert whole[:2] == ["0", "1"]
    assert whole[-1] == "late"


def test_queries(sqlite):
    query = "SELECT who, sum(amount) AS total FROM sales GROUP BY who ORDER BY who -- all of them"
    table = read(sqlite, query=query).table
    assert table["total"].to_pylist() == [
        sum(k / 4 for k in range(N) if k % 5 == w) for w in range(5)
    ]
    assert read(sqlite, query="SELECT n FROM sales LIMIT 3;").table.num_rows == 3


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM sales",
        "SELECT 1; DELETE FROM sales",
        "SELECT 1) ; DROP TABLE sales; --",
        "SELECT load_extension('x')",
        "SELECT * FROM nothing",
        "PRAGMA table_info(sales)",
        "ATTACH 'other.db' AS other",
    ],
)
def test_a_query_can_only_read(sqlite, query, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sqlite.read_bytes()
    with pytest.raises(TableError, match=r"shop\.db: (?:the query failed|a query may only read)"):
        read(sqlite, query=query)
    assert sqlite.read_bytes() == before
    assert not list(tmp_path.iterdir())


def test_tables_are_chosen_by_name(tmp_path):
    path = tmp_path / 'a "b".sqlite'
    with sqlite3.connect(path) as connection:
        connection.execute('CREATE TABLE "odd ""name" (x)')
        connection.execute('INSERT INTO "odd ""name" VALUES (1)')
        connection.execute('CREATE VIEW seen AS SELECT x + 1 AS z FROM "odd ""name"')
        connection.commit()
        assert read(path).table.to_pydict() == {"x": [1.0]}
        assert read(path, table="seen").table.to_pydict() == {"z": [2.0]}
        connection.execute("CREATE TABLE other (y)")
        connection.commit()
    connection.close()
    with pytest.raises(TableError, match=r"2 tables: 'odd \"name', 'other'. Choose one: table="):
        read(path)
    assert len(read(path, table='odd "name')) == 1
    with pytest.raises(TableError, match="no table 'othr' \\(did you mean 'other'"):
        read(path, table="othr")
    with pytest.raises(TableError, match="table 'other': no rows"):
        read(path, table="other")


def test_bytes_are_refused_unless_left_out(tmp_path):
    with sqlite3.connect(tmp_path / "b.db") as connection:
        connection.execute("CREATE TABLE t (x, picture BLOB)")
        connection.execute("INSERT INTO t VALUES (1, x'00ff')")
    connection.close()
    with pytest.raises(TableError, match=r"column 'picture': holds bytes.*columns="):
        read(tmp_path / "b.db")
    assert read(tmp_path / "b.db", columns=["x"]).table.to_pydict() == {"x": [1.0]}


def test_streams_and_damaged_databases(sqlite, tmp_path):
    content = sqlite.read_bytes()
    assert len(read(io.BytesIO(content))) == N
    (tmp_path / "cut.db").write_bytes(content[: len(content) // 2])
    with pytest.raises(TableError, match=r"cut\.db: the database is truncated"):
        read(tmp_path / "cut.db")
    (tmp_path / "noise.db").write_bytes(content[:100] + b"\xff" * (len(content) - 100))
    with pytest.raises(TableError, match=r"noise\.db: not readable as an SQLite database"):
        read(tmp_path / "noise.db")
    (tmp_path / "text.sqlite").write_bytes(b"\0\1\2" * 50)
    with pytest.raises(TableError, match="named like an SQLite database"):
        read(tmp_path / "text.sqlite")


@pytest.fixture(scope="module")
def duck(tmp_path_factory):
    path = tmp_path_factory.mktemp("duckdb") / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE sales AS SELECT i / 4 AS amount, (i % 5)::VARCHAR AS who, "
            "DATE '2024-05-01' + i::INT AS day, (i * 1.5)::DECIMAL(9, 2) AS price, i % 2 = 0 AS ok "
            f"FROM range({N}) r(i)"
        )
        connection.execute("CREATE VIEW rich AS SELECT * FROM sales WHERE amount > 9")
    return path


def test_duckdb(duck):
    data = read(duck, target="who")
    assert data.table["amount"].to_pylist() == [k / 4 for k in range(N)]
    assert data.y.tolist()[:6] == ["0", "1", "2", "3", "4", "0"]
    assert data.table["day"].to_pylist()[1] == dt.date(2024, 5, 2)
    assert [each.type for each in data.report.columns] == [
        "number", "category", "date", "number", "boolean",
    ]  # fmt: skip
    assert [len(chunk) for chunk in scan(duck, chunk_rows=15)] == [15, 15, 10]
    assert len(list(scan(duck, chunk_bytes=500))) > 2
    assert read(duck, table="rich").table["amount"].to_pylist() == [9.25, 9.5, 9.75]
    assert len(read(duck, query="SELECT * FROM sales WHERE ok")) == N // 2


@pytest.mark.parametrize(
    "query",
    ["DROP TABLE sales", "SELECT 1; SELECT 2", "SELECT * FROM read_csv('/etc/passwd')", "SELECT x"],
)
def test_a_query_of_duckdb_can_only_read_its_file(duck, query):
    with pytest.raises(TableError, match=r"shop\.duckdb: (?:the query failed|a query may only)"):
        read(duck, query=query)
    assert len(read(duck)) == N


def test_packages_that_are_not_installed_are_named(duck, monkeypatch):
    monkeypatch.setattr(errors, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install duckdb"):
        read(duck)
    with pytest.raises(ImportError, match="pip install adbc-driver-postgresql"):
        read("postgresql://me:secret@localhost/shop", table="sales")


def test_a_password_is_in_no_message():
    (source,) = inputs_of("postgresql://me:secret@localhost:5432/shop?sslmode=off&password=x")
    assert source.name == "postgresql://me@localhost:5432/shop"
