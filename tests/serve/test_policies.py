"""Cells that the model cannot convert are missing ones, listed and counted."""

from __future__ import annotations

import csv
import io
import itertools

import numpy as np
import pytest

import separable
import separable.serve
from separable.cli.app import run
from tests.serve.conftest import Client

ROW = {
    "price": "$1,200.50", "day": "05.03.2024", "open": "yes", "size": 0.3,
    "when": "2024-03-13", "city": "Oslo", "note": "good film",
}  # fmt: skip
#: By column, cells that are values in JSON, alone or among others, and cells that are not.
READABLE = {
    "price": ["$3", 3, 3.5, "1,234.5", None], "day": ["06.03.2024", None],
    "size": [2, -1.5, "7", None], "open": ["no", True, False, 1, 0, None],
    "when": ["2024-01-02", None],
    "city": ["Rome", 3, 3.0, True, "Mars", None], "note": ["plain", 5, True, None],
}  # fmt: skip
UNCONVERTIBLE = {
    "price": ["abc", True], "day": ["xx", 5, False], "size": ["abc", "", "1,5", "-Infinity", True],
    "open": ["perhaps", 7, "2024-01-02"], "when": ["never", 3, 1e300, True],
}  # fmt: skip


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 200
    words = ["good", "bad", "fine", "dull", "great", "awful", "plain", "film", "actor", "plot"]
    amounts = rng.lognormal(7, 1, n)
    table = {
        "price": [f"${x:,.2f}" for x in amounts],
        "day": [f"{rng.integers(1, 28):02d}.{rng.integers(1, 13):02d}.2024" for _ in range(n)],
        "open": rng.choice(["yes", "no"], n).tolist(),
        "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)).tolist(),
        "when": [f"2024-0{rng.integers(1, 9)}-11" for _ in range(n)],
        "city": rng.choice(["Oslo", "Rome", "3"], n).tolist(),
        "note": [" ".join(rng.choice(words, 6)) for _ in range(n)],
        "buy": np.where(amounts > 1000, "yes", "no").tolist(),
    }
    path = tmp_path_factory.mktemp("policies") / "mixed.safetensors"
    separable.train(table, "buy", model="logistic-regression").save(path)
    return path


@pytest.fixture(scope="module")
def client(file):
    return Client(separable.serve.app(file))


def of(columns):
    return [ROW | {name: value} for name, values in columns.items() for value in values]


def warned(answer, kind):
    return {w["column"]: w["count"] for w in answer.json["warnings"] if w["kind"] == kind}


def csv_of(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, list(ROW))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def test_unconvertible_cells_have_the_answer_of_missing_ones(client):
    rows = of(UNCONVERTIBLE)
    blank = [ROW | {name: None} for name, values in UNCONVERTIBLE.items() for _ in values]
    answer, expected = client("POST", "/predict", rows), client("POST", "/predict", blank)
    assert answer.status == 200
    assert answer.json["predictions"] == expected.json["predictions"]
    assert warned(answer, "unconvertible") == {k: len(v) for k, v in UNCONVERTIBLE.items()}
    assert not warned(answer, "missing")
    first = next(w for w in answer.json["warnings"] if w["column"] == "price")
    assert (first["rows"], first["values"]) == ([0, 1], ["abc", "True"])


def test_a_row_has_the_same_answer_alone_and_among_others(client):
    rows = of(READABLE) + of(UNCONVERTIBLE)
    among = client("POST", "/predict", rows).json["predictions"]
    alone = [client("POST", "/predict", row).json["predictions"][0] for row in rows]
    assert alone == among
    by_column = {name: [row[name] for row in rows] for name in ROW}
    assert client("POST", "/predict", {"columns": by_column}).json["predictions"] == among


def test_csv_has_the_bits_of_the_command(client, file, tmp_path):
    """The command refuses such cells, so it gets the table without them."""
    texts = {name: [v for v in values if isinstance(v, str)] for name, values in READABLE.items()}
    cells = [(name, value) for name, values in UNCONVERTIBLE.items() for value in values if value]
    odd = of(texts) + [ROW | {name: value} for name, value in cells]
    blank = of(texts) + [ROW | {name: ""} for name, _ in cells]
    path, out = tmp_path / "blank.csv", tmp_path / "out.csv"
    path.write_bytes(csv_of(blank))
    assert run(["predict", str(file), str(path), "-o", str(out), "-q"]) == 0
    answer = client("POST", "/predict", csv_of(odd), {"content-type": "text/csv"})
    assert answer.body == out.read_bytes()
    assert "unconvertible" in answer.headers["x-warnings"]
    path.write_bytes(csv_of(odd))
    assert run(["predict", str(file), str(path), "-o", str(out), "-q"]) == 1


def test_readable_cells_are_not_listed(client):
    assert not warned(client("POST", "/predict", of(READABLE)), "unconvertible")


def test_tensors_and_bodies_of_mlflow_follow_the_policy(client):
    row = ROW | {"size": "abc"}
    values = client("POST", "/invocations", {"dataframe_records": [row]})
    assert values.status == 200
    assert "unconvertible" in values.headers["x-warnings"]
    inputs = [
        {"name": name, "datatype": "BYTES", "shape": [1], "data": [str(value)]}
        for name, value in row.items()
    ]
    answer = client("POST", "/v2/models/mixed/infer", {"inputs": inputs}).json
    (warning,) = answer["parameters"]["warnings"]
    assert (warning["column"], warning["kind"]) == ("size", "unconvertible")


def test_they_are_counted_and_a_strict_server_refuses_them(file):
    client = Client(separable.serve.app(file))
    client("POST", "/predict", [ROW | {"size": "abc"}, ROW])
    line = 'column_values_total{model="mixed",column="size",kind="unconvertible"} 1'
    assert line in client("GET", "/metrics").body.decode()
    strict = Client(separable.serve.app(file, strict=True))
    for name, value in itertools.chain([("city", "Mars"), ("size", None)], [("price", "abc")]):
        answer = strict("POST", "/predict", ROW | {name: value})
        assert (answer.status, answer.json["column"]) == (422, name)
    assert strict("POST", "/predict", ROW).status == 200


def test_a_model_without_a_policy_refuses(tmp_path):
    model = separable.LinearModel([[2, -1]], [0.5], None, "identity", ["width", "height"])
    model.save(tmp_path / "m.safetensors")
    client = Client(separable.serve.app(tmp_path / "m.safetensors"))
    for value in ("abc", None, True):
        answer = client(
            "POST", "/predict", [{"width": 1, "height": 1}, {"width": 1, "height": value}]
        )
        assert (answer.status, answer.json["column"], answer.json["row"]) == (422, "height", 1)
