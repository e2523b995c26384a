"""CSV files with many columns: long lines, and calls that must not grow with the columns."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import separable.data
from separable.data import dataset as dataset_module
from separable.data.io.csv import csv_file, csv_files, dialect, sniff
from separable.data.table import TableError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _wide(rows: int, columns: int) -> tuple[np.ndarray, list[str]]:
    """Numbers, and a target of words that comes last in each line."""
    numbers = np.random.default_rng(0).normal(size=(rows, columns)).round(3)
    return numbers, ["yes" if row % 3 else "no" for row in range(rows)]


def _text(numbers: np.ndarray, target: list[str]) -> str:
    header = [f"c{index}" for index in range(numbers.shape[1])] + ["y"]
    lines = [[*map(str, row), label] for row, label in zip(numbers.tolist(), target, strict=True)]
    return "".join(",".join(line) + "\n" for line in [header, *lines])


def _counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[int]:
    """Count the calls of a function in the list that is returned."""
    calls: list[int] = []
    before: Callable[..., Any] = getattr(owner, name)

    def counting(*given: Any, **named: Any) -> Any:
        calls.append(1)
        return before(*given, **named)

    monkeypatch.setattr(owner, name, counting)
    return calls


def test_a_sample_has_rows_however_long_lines_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A head shorter than two lines shows no value: every column would be taken for numbers."""
    monkeypatch.setattr(csv_files, "HEAD_BYTES", 500)
    monkeypatch.setattr(csv_files, "PIECE_BYTES", 100)
    numbers, target = _wide(120, 90)
    path = tmp_path / "wide.csv"
    path.write_text(_text(numbers, target))
    parsed = _counted(monkeypatch, dialect._Call, "table")

    dataset = separable.data.read(path, target="y")

    assert len(parsed) == 2  # the sample and the file, once each
    np.testing.assert_array_equal(np.asarray(dataset.y).tolist(), target)
    assert dataset.report.found("c89").why == "every value is a number"
    parts = list(separable.data.scan(path, target="y"))
    assert [label for part in parts for label in np.asarray(part.y).tolist()] == target


def test_one_text_below_the_sample_costs_calls_for_its_column_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(csv_files, "HEAD_BYTES", 500)
    monkeypatch.setattr(csv_files, "PIECE_BYTES", 100)
    numbers, target = _wide(120, 300)
    lines = _text(numbers, target).splitlines()
    cells = lines[40].split(",")
    cells[7], cells[9], cells[11] = "word", " 1.5", " NA "
    lines[40] = ",".join(cells)
    trimmed = _counted(monkeypatch, csv_file, "without_missing")

    dataset = separable.data.read(io.BytesIO("\n".join(lines).encode()), target="y")

    assert len(trimmed) < 20
    types = dataset.report.column_types
    assert [name for name, kind in types.items() if kind != "number"] == ["c7", "y"]
    assert "line 41 has 'word'" in dataset.report.found("c7").why
    assert dataset.report.found("c11").missing == {"NA": 1}
    assert dataset.table["c9"].to_pylist()[39] == 1.5
    assert dataset.table["c11"].to_pylist()[39] is None
    assert dataset.table["c299"].to_pylist() == numbers[:, 299].tolist()


@pytest.mark.slow
def test_many_columns_come_in_few_chunks() -> None:
    """Each block of the parser makes a chunk of every column."""
    numbers, target = _wide(12, 9000)
    text = _text(numbers * 1e-9, target).encode()
    assert len(text) > dialect.BLOCK_BYTES

    table = separable.data.read(io.BytesIO(text), target="y").table

    assert max(column.num_chunks for column in table.columns) == 1


def test_chosen_columns_are_looked_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `predict` does, which gives the columns of the model and their types."""
    numbers, target = _wide(3, 400)
    text = _text(numbers, target).encode()
    names = [f"c{index}" for index in range(399, -1, -1)]
    looked = _counted(monkeypatch, dataset_module, "require_columns")
    present = _counted(monkeypatch, sniff, "_present")

    types = dict.fromkeys(names, "number")
    table = separable.data.read(io.BytesIO(text), columns=[*names, -1], column_types=types).table

    assert table.column_names == [*names, "y"]
    assert table["c7"].to_pylist() == numbers[:, 7].tolist()
    assert len(looked) < 5
    assert len(present) < 20
    with pytest.raises(TableError, match="no column 'c400'"):
        separable.data.read(io.BytesIO(text), columns=["c1", "c400"])


#: Values of a column, and what the documentation says it is.
_KINDS = {
    "word": (["red", "blue", "red", "green"], "category"),
    "day": (["2024-01-31", "2023-02-28", "2020-02-29", "1999-12-31"], "date"),
    "day with a gap": (["2024-01-31", "", "2020-02-29", "NA"], "date"),
    "no such day": (["2024-01-31", "2023-02-30", "2020-02-29", "1999-12-31"], "category"),
    "moment": (["2024-01-31 10:00", "2023-02-28 11:30", "2020-02-29", "1999-12-31"], "date"),
    "day, then text": (["2024-01-31", "2023-02-28", "later", "1999-12-31"], "category"),
    "day and more": (["2024-01-31x", "2024-01-31y", "2024-01-31x", "2024-01-31y"], "category"),
    "truth": (["true", "false", "true", ""], "boolean"),
    "truth and more": (["true", "false", "perhaps", "true"], "category"),
    "number": (["1.5", "-2e3", "inf", "7"], "number"),
    "number but one": (["1.5", "-2e3", "seven", "7"], "category"),
    "letters of numbers": (["e", "fad", "nay", "e"], "category"),
    "code": (["007", "012", "100", "007"], "category"),
    "gaps": (["", "", "NA", ""], "number"),
    "gaps and a word": (["", "", "word", ""], "category"),
}


def _written(kinds: list[str], path: Path) -> Path:
    names = [f"c{j}" for j in range(len(kinds))]
    rows = zip(*(_KINDS[kind][0] for kind in kinds), strict=True)
    path.write_text("\n".join([",".join(names), *map(",".join, rows)]) + "\n", "utf-8")
    return path


@pytest.mark.slow
def test_types_do_not_depend_on_the_columns_beside(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for _ in range(12):
        kinds = rng.choice(list(_KINDS), rng.integers(2, 60)).tolist()
        result = separable.data.read(
            _written(["number", *kinds], tmp_path / "x.csv")
        ).report.columns
        assert [each.type for each in result] == [_KINDS[kind][1] for kind in ["number", *kinds]]


@pytest.mark.slow
def test_calls_do_not_grow_with_columns_of_text_and_dates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _counted(monkeypatch, sniff, "guess")
    for kind in ("word", "day", "day with a gap", "gaps and a word"):
        for n_columns in (100, 1000):
            calls.clear()
            data = separable.data.read(
                _written(["number", *[kind] * n_columns], tmp_path / "x.csv")
            )
            assert data.report.columns[-1].type == _KINDS[kind][1]
            assert len(calls) <= 8


@pytest.mark.parametrize(("last", "decimal"), [("1.5", "."), ("1,5", ",")])
def test_the_decimal_comma_is_searched_where_commas_are(
    monkeypatch: pytest.MonkeyPatch, last: str, decimal: str
) -> None:
    guessed = _counted(monkeypatch, sniff, "guess")
    names = [f"c{index}" for index in range(2000)]
    text = "|".join(names) + "\n" + "|".join(["1"] * 1999 + [last]) + "\n"

    table = separable.data.read(io.BytesIO(text.encode())).table

    assert table["c1999"].to_pylist() == [1.5]
    assert len(guessed) < 20
    assert sniff._decimal(pa.table({"a": ["1", None], "b": [last, "2"]}), "|", ()) == decimal
