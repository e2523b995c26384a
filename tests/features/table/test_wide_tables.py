"""Tables of many columns: columns are taken in blocks, with the numbers of each alone."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

from separable import TableEncoder
from separable.data import columns as column_module
from separable.data.columns import as_columns
from separable.data.strings import ChainedTexts
from separable.data.table import CellError
from separable.features.row_assembly import NumberSlot
from separable.features.table import column_specs, number_column
from separable.features.table.column_states import guessed_kinds


def _numbers(n_columns: int, n_rows: int = 20, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {f"c{j}": rng.normal(j % 7, 1 + j % 5, n_rows) for j in range(n_columns)}


def _mixed(n_columns: int = 60, n_rows: int = 23) -> dict[str, list]:
    """Numbers with and without gaps, constant ones, texts, dates and booleans, in no order."""
    rng = np.random.default_rng(3)
    table: dict[str, list] = {}
    for j in range(n_columns):
        numbers = rng.normal(size=n_rows).tolist()
        if j % 4 == 1:
            numbers[j % n_rows] = None
        if j % 9 == 2:
            numbers = [1.5] * n_rows
        if j % 18 == 2:
            numbers[3] = None
        table[f"n{j}"] = numbers
        if j % 7 == 3:
            table[f"k{j}"] = rng.choice(["a", "b", None], n_rows).tolist()
        if j % 11 == 5:
            table[f"b{j}"] = (rng.random(n_rows) < 0.5).tolist()
        if j % 13 == 4:
            days = rng.integers(0, 900, n_rows)
            table[f"d{j}"] = [(np.datetime64("2020-01-01") + int(d)).item() for d in days]
        if j % 17 == 6:
            table[f"m{j}"] = [None] * n_rows
    return table


def _standardised(values: list) -> list[list[float]]:
    """What a column of numbers becomes, by the words of the documentation."""
    there = np.array([v for v in values if v is not None])
    numbers = np.array([np.nan if v is None else v for v in values])
    out = []
    if there.min() < there.max():
        deviation = np.sqrt(np.mean((there - there.mean()) ** 2))
        out.append(np.where(np.isnan(numbers), 0.0, (numbers - there.mean()) / deviation))
    if len(there) < len(values):
        out.append(np.isnan(numbers).astype(float))
    return out


@pytest.mark.native
def test_numbers_are_those_of_each_column_alone():
    table = _mixed()
    encoder = TableEncoder().fit(pa.table(table))
    got = _dense(encoder.encode(pa.table(table)))
    sources = np.array(list(encoder.sources))
    for name, values in table.items():
        if name[0] == "n" and len({*values}) > 1:
            np.testing.assert_allclose(
                got[:, sources == name].T, _standardised(values), rtol=1e-13, atol=1e-15
            )


@pytest.mark.native
@pytest.mark.parametrize("values", [1, 64, 200, 1 << 30])
@pytest.mark.parametrize("chunks", [1, 3])
def test_blocks_do_not_change_bits(monkeypatch, values, chunks):
    whole = pa.table(_mixed())
    parts = np.array_split(np.arange(whole.num_rows), chunks)
    table = pa.concat_tables([whole.slice(int(p[0]), len(p)) for p in parts])
    alone = {
        name: TableEncoder(**{kind: [name]}).fit(whole.select([name]))
        for name, kind, *_ in _taken(TableEncoder().fit(whole))
    }
    monkeypatch.setattr(column_module, "BLOCK_VALUES", values)
    encoder = TableEncoder(n_jobs=2).fit(table)
    rows, report = encoder.encode_with_report(table)
    got = _dense(rows)
    expected = [_dense(each.encode(whole.select([name]))) for name, each in alone.items()]
    assert got.tobytes() == np.hstack(expected).tobytes()
    assert {each.column: each.missing for each in report.columns} == {
        name: whole[name].null_count for name in alone if whole[name].null_count
    }


def _taken(encoder: TableEncoder) -> list[tuple[str, str]]:
    return [(row.column, row.type) for row in encoder.columns_ if row.type != "dropped"]


def _dense(rows) -> np.ndarray:
    matrix = rows.to_matrix()
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


@pytest.mark.native
def test_partial_fits_of_blocks_are_those_of_each_column():
    table = pa.table(_mixed())
    first, second = table.slice(0, 11), table.slice(11)
    both = TableEncoder().partial_fit(first).partial_fit(second)
    for name in ("n1", "n6", "n13"):
        alone = TableEncoder().partial_fit(first.select([name])).partial_fit(second.select([name]))
        ours = {each.name: each for each in both.column_encoders}[name]
        assert ours == alone.column_encoders[0]


class _Counted:
    """Calls of the compiled core from one module, counted."""

    def __init__(self, module, monkeypatch, name):
        self.calls, real = 0, getattr(module.portable, name)

        def counted(*args):
            self.calls += 1
            return real(*args)

        stub = type("portable", (), {name: staticmethod(counted)})
        monkeypatch.setattr(module, "portable", stub)


@pytest.mark.slow
@pytest.mark.native
def test_calls_do_not_grow_with_columns_of_few_rows(monkeypatch):
    counted = _Counted(number_column, monkeypatch, "number_moments")
    slots = []
    added = NumberSlot.add_to
    monkeypatch.setattr(
        NumberSlot, "add_to", lambda self, *args: (slots.append(self), added(self, *args))
    )
    for n_columns, most in ((300, 1), (3000, 1), (30_000, 10)):
        counted.calls = 0
        slots.clear()
        table = pa.table(_numbers(n_columns))
        encoder = TableEncoder().fit(table)
        encoder.encode(table)
        assert 1 <= counted.calls <= most
        assert 1 <= len(slots) <= most
        assert sum(slot.width for slot in slots) == n_columns


@pytest.mark.native
def test_a_wrong_cell_is_named_in_a_block():
    table = _numbers(500)
    encoder = TableEncoder().fit(table)
    wrong = {name: values.copy() for name, values in table.items()}
    wrong["c321"][7] = np.inf
    with pytest.raises(CellError, match="infinity") as caught:
        encoder.encode(wrong)
    assert (caught.value.column, caught.value.row) == ("c321", 7)
    with pytest.raises(CellError, match="infinity"):
        TableEncoder().fit(wrong)
    wrong["c321"][7] = 0.0
    tiny = TableEncoder().fit({**table, "c400": np.linspace(0, 1e-200, 20)})
    wrong["c400"] = np.full(20, 1e300)
    with pytest.raises(CellError, match="too far from the training values") as caught:
        tiny.encode(wrong)
    assert (caught.value.column, caught.value.row) == ("c400", 0)


def test_one_text_of_many_columns_is_found_without_a_pass_over_all():
    texts = ChainedTexts([(f"c{j}",) for j in range(20_000)])
    assert texts[12_345] == "c12345"
    tracemalloc.start()
    try:
        assert texts[19_999] == "c19999"
        assert tracemalloc.get_traced_memory()[1] < 10_000
    finally:
        tracemalloc.stop()


@pytest.mark.native
def test_one_raw_value_of_many_columns_is_found_without_a_pass_over_all():
    encoder = TableEncoder().fit(_numbers(5_000, 4))
    assert encoder.shown(4_000, 0.0) is not None
    tracemalloc.start()
    try:
        assert encoder.shown(4_321, 0.0) is not None
        assert tracemalloc.get_traced_memory()[1] < 10_000
    finally:
        tracemalloc.stop()


def test_names_that_begin_with_others_are_found():
    words = ["".join(letters) for n in (1, 2, 3) for letters in itertools.product("ab=", repeat=n)]
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(500):
        starts = rng.choice(words, rng.integers(1, 5)).tolist()
        names = rng.choice(words, rng.integers(0, 4)).tolist()
        others = [s for i, s in enumerate(starts) for j, t in enumerate(starts) if i != j and
                  s.startswith(t)]  # fmt: skip
        expected = not others and not any(n.startswith(s) for n in names for s in starts)
        assert column_specs._none_begins(starts, names) == expected
        seen.add(expected)
    assert seen == {True, False}


@pytest.mark.native
def test_kinds_are_guessed_in_blocks_as_fit_takes_them(monkeypatch):
    table = pa.table(_mixed())
    fitted = {row.column: (row.type, row.why) for row in TableEncoder().fit(table).columns_}
    guessed = guessed_kinds(table.column_names, as_columns(table))
    assert {n: ("drop" if t == "dropped" else t, why) for n, (t, why) in fitted.items()} == guessed
    counted = _Counted(number_column, monkeypatch, "number_moments")
    wide = pa.table(_numbers(3000))
    guessed_kinds(wide.column_names, as_columns(wide))
    assert counted.calls == 1
