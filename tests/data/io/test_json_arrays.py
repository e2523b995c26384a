"""JSON arrays of objects: the same rows as JSON lines, in any layout."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from separable.data import read, scan
from separable.data.io import json_arrays
from separable.data.table import TableError

TEXTS = st.text(alphabet='ab,{}[]":\\/\n\t é\u2028', max_size=8)
ROWS = st.lists(
    st.fixed_dictionaries({"x": st.integers(-99, 99), "s": TEXTS, "n{": TEXTS | st.none()}),
    min_size=1,
    max_size=8,
)


@given(rows=ROWS, indent=st.sampled_from([None, 0, 2]), block=st.integers(1, 40))
def test_an_array_is_the_rows_of_its_lines(rows, indent, block):
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    array = (" \n" + json.dumps(rows, indent=indent, ensure_ascii=False) + "\n").encode()
    before = json_arrays._BLOCK_BYTES
    json_arrays._BLOCK_BYTES = block
    try:
        table = read(io.BytesIO(array)).table
    finally:
        json_arrays._BLOCK_BYTES = before
    assert table.to_pydict() == read(io.BytesIO(lines)).table.to_pydict()


def test_chunks_and_report():
    rows = [{"x": k, "s": f"t{k}"} for k in range(10)]
    chunks = scan(io.BytesIO(json.dumps(rows).encode()), chunk_rows=4)
    assert [chunk.table["x"].to_pylist() for chunk in chunks] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9],
    ]
    assert chunks.report.format == "json"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"x": 1}, {"x": 2}', ":2: the JSON array ends too early"),
        ('[{"x": 1}]\n[{"x": 2}]', "followed by something else"),
        ('[{"x": 1}, 5]', ":2: a value, not an object"),
        ("[[1, 2], [3, 4]]", "holds lists, whose values have no names"),
        ('[{"x": 1}, {"x": }]', ":2:.*not JSON"),
        ("[]", "empty"),
        ('{"data": [{"x": 1}]}', "rows are in 'data'.*jq"),
        ('{\n  "rows": [\n [1, 2]]}', "rows are in 'rows'.*jq"),
    ],
)
def test_other_documents_are_refused(text, message):
    with pytest.raises(TableError, match=message):
        read(io.BytesIO(text.encode()))


def test_the_rows_before_the_end_of_a_cut_array():
    assert len(read(io.BytesIO(b'[{"x": 1}, {"x": 2}, {"x'), on_error="skip")) == 2
