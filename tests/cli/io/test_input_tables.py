"""Errors name the line and the byte of a value where they are known for sure."""

from __future__ import annotations

import gzip

import pytest

from separable import LinearModel, TableEncoder


@pytest.fixture
def told(separable, tmp_path):
    """Predict a table with a model of the columns a and x; return the error."""
    encoder = TableEncoder().fit({"a": ["p", "q"], "x": [1.0, 2.0]})
    weights = [[1.0] * len(encoder.feature_names)]
    LinearModel(weights, [0.0], None, "identity", encoder=encoder).save("m.safetensors")

    def told(data: bytes, *args: str, name: str = "d.csv") -> str:
        (tmp_path / name).write_bytes(data)
        result = separable("predict", "m.safetensors", name, *args)
        assert result.code == 1
        assert result.err.count("\n") == 1
        return result.err.partition(", or a number too large")[0].removeprefix("Error: ")

    return told


KNOWN = "column 'x': infinity"


@pytest.mark.parametrize(
    ("data", "args", "place"),
    [
        (b"a,x\np,1\np,inf\n", (), "d.csv:3:3"),
        (b"a,x\np,1\np,inf", (), "d.csv:3:3"),
        (b"a,x\r\np,1\r\np,inf\r\n", (), "d.csv:3:3"),
        (b"x,a\n1,p\ninf,q\n", (), "d.csv:3:1"),
        (b'a,x\n"p, q",1\n"p, q",inf\n', (), "d.csv:3:8"),
        (b'a,x\n"p\nq",1\np,inf\n', (), "d.csv:4:3"),
        (b'a,x\n"p\nq",1\n"p\nq",inf\n', (), "d.csv:5:4"),
        (b"\na,x\n\np,1\n\n\np,inf\n", (), "d.csv:7:3"),
        (b"a,x\rp,1\rp,inf\r", (), "d.csv:3:3"),
        (b"b,a,x\n0,p,1\n0,p,inf\n", (), "d.csv:3:5"),
        (b"about,\na,x\np,1\np,inf\n", ("--skip-rows", "1"), "d.csv:4:3"),
        ("a;x\n\u00e9;1\n\u00e9;inf\n".encode("latin-1"), ("--encoding", "latin-1"), "d.csv:3:4"),
    ],
)
def test_line_and_byte(told, data, args, place):
    assert told(data, *args) == f"{place}: {KNOWN}"


@pytest.mark.parametrize(
    ("data", "args"),
    [
        (b"a,x\n# no\np,1\np,inf\n", ("--comment", "#")),
        (b"a,x\np,1\np\np,inf\n", ("--skip-bad-lines",)),
    ],
)
def test_the_row_where_the_line_is_not_known(told, data, args):
    row = 2
    assert told(data, *args) == f"d.csv: data row {row}, {KNOWN}"


def test_compressed_and_json_lines(told):
    packed = gzip.compress(b"a,x\np,1\np,inf\n")
    assert told(packed, name="d.csv.gz") == f"d.csv.gz:3:3: {KNOWN}"
    lines = b'{"a": "p", "x": 1}\n\n{"a": "p", "x": 1e308}\n'
    assert told(lines, name="d.jsonl").startswith("d.jsonl:3: column 'x': 1e+308 is too far")


def test_several_files_have_no_common_lines(told, separable, tmp_path):
    told(b"a,x\np,inf\n")  # makes the model
    (tmp_path / "parts").mkdir()
    for name, value in {"1.csv": "1", "2.csv": "inf"}.items():
        (tmp_path / "parts" / name).write_text(f"a,x\np,{value}\n")
    error = separable("predict", "m.safetensors", "parts").err
    assert error.startswith(f"Error: parts: data row 2, {KNOWN}")


def test_a_value_of_the_wrong_type_in_a_record_of_several_lines(told):
    assert told(b'a,x\n"p\nq",no\n').startswith("d.csv:3:4: column 'x': 'no' is not a number.")
