"""Answers are those of the model, in every format of request."""

from __future__ import annotations

import csv
import io
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import separable
import separable.serve
from separable.cli.app import run
from separable.datasets import PENGUINS
from tests.serve.conftest import RECORD, Client

ODD = RECORD | {"island": "Mars", "sex": None, "year": 2030}


@pytest.fixture(scope="module")
def rows():
    with open(PENGUINS, newline="") as file:  # noqa: PTH123
        return list(csv.DictReader(file))


def records_of(rows):
    """The rows as JSON clients send them: numbers as numbers, nothing as null."""
    numbers = {"bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "year"}
    return [
        {
            name: None if value in ("", "NA") else float(value) if name in numbers else value
            for name, value in row.items()
            if name != "species"
        }
        for row in rows
    ]


def test_csv_is_answered_as_the_command_answers(client, model_file, tmp_path):
    out = tmp_path / "out.csv"
    assert run(["predict", str(model_file), str(PENGUINS), "-o", str(out), "-q"]) == 0
    body = PENGUINS.read_bytes() if hasattr(PENGUINS, "read_bytes") else open(PENGUINS, "rb").read()  # noqa: PTH123, SIM115
    answer = client("POST", "/predict", body, {"content-type": "text/csv"})
    assert answer.status == 200
    assert answer.body == out.read_bytes()


def test_one_record_has_the_bits_of_the_batch(client, model_file, rows):
    records = records_of(rows)[::7]
    batch = client("POST", "/predict", records).json["predictions"]
    alone = [client("POST", "/predict", record).json["predictions"][0] for record in records]
    assert alone == batch
    scores = separable.load(model_file).decision_function(records)
    names = [f"score_{label}" for label in separable.load(model_file).classes]
    assert np.array_equal([[row[name] for name in names] for row in batch], scores)


@pytest.mark.parametrize(
    "body",
    [
        RECORD,
        [RECORD],
        {"records": [RECORD]},
        {"instances": [RECORD]},
        {"dataframe_records": [RECORD]},
        {"columns": {name: [value] for name, value in RECORD.items()}},
        {"inputs": {name: [value] for name, value in RECORD.items()}},
        {"inputs": [list(RECORD.values())]},
        {"dataframe_split": {"columns": list(RECORD), "data": [list(RECORD.values())]}},
    ],
)
def test_every_json_body_is_the_same_row(client, body):
    expected = client("POST", "/predict", [RECORD, RECORD]).json["predictions"][0]
    answer = client("POST", "/predict", body)
    assert answer.status == 200
    assert answer.json["predictions"] == [expected]
    values = client("POST", "/invocations", body)
    assert values.json == {"predictions": [expected["prediction"]]}


def test_json_lines_and_arrow_are_answered_in_kind(client, rows):
    records = records_of(rows)[:5]
    expected = client("POST", "/predict", records).json["predictions"]
    import json

    lines = "\n".join(map(json.dumps, records)).encode()
    answer = client("POST", "/predict", lines, {"content-type": "application/x-ndjson"})
    assert [json.loads(line) for line in answer.body.splitlines()] == expected
    table, sink = pa.Table.from_pylist(records), io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    kind = "application/vnd.apache.arrow.stream"
    answer = client("POST", "/predict", sink.getvalue(), {"content-type": kind})
    assert pa.ipc.open_stream(answer.body).read_all().to_pylist() == expected


def test_contributions_and_intercept_add_up_to_the_score(client, model_file):
    answer = client("POST", "/predict?explain=100", [RECORD]).json["predictions"][0]
    model = separable.load(model_file)
    k = model.classes.tolist().index(answer["prediction"])
    total = model.intercept[k] + sum(each["contribution"] for each in answer["because"])
    assert total == pytest.approx(answer[f"score_{answer['prediction']}"], abs=1e-9)


def test_unusual_values_are_listed_and_counted(client):
    warnings = client("POST", "/predict", [RECORD, ODD]).json["warnings"]
    found = {(each["column"], each["kind"], tuple(each["rows"])) for each in warnings}
    assert found == {
        ("island", "unseen", (1,)), ("sex", "missing", (1,)), ("year", "out_of_range", (1,)),
    }  # fmt: skip
    metrics = client("GET", "/metrics").body.decode()
    line = 'column_values_total{model="penguins",column="year",kind="out_of_range"} 1'
    assert line in metrics


def test_a_single_record_has_the_warnings_of_a_batch(client):
    alone = RECORD | {"sex": None, "year": 2030}
    one = client("POST", "/predict", [alone]).json["warnings"]
    two = client("POST", "/predict", [alone, RECORD]).json["warnings"]
    pairs = [sorted((each["column"], each["kind"]) for each in answer) for answer in (one, two)]
    assert pairs[0] == pairs[1] == [("sex", "missing"), ("year", "out_of_range")]


def test_a_strict_server_refuses_unusual_values(model_file):
    strict = Client(separable.serve.app(model_file, strict=True))
    answer = strict("POST", "/predict", [RECORD, ODD])
    assert answer.status == 422
    assert answer.json["column"] == "island"
    assert strict("POST", "/predict", [RECORD]).status == 200


def test_mean_contributions_of_served_rows_are_those_of_explanations(client, model_file, rows):
    records = records_of(rows)[:40]
    client("POST", "/predict", records)
    for record in records[:3]:
        client("POST", "/predict", record)
    model = separable.load(model_file)
    both = records + records[:3]
    label = model.classes.tolist()[0]
    expected = model.explain(both).by_column(label)["body_mass_g"].mean()
    start = f'column="body_mass_g",score="{label}",rows="served"}} '
    (line,) = [
        each for each in client("GET", "/metrics").body.decode().split("\n") if start in each
    ]
    assert float(line.rpartition(" ")[2]) == pytest.approx(expected, rel=1e-8)


def test_a_model_of_numbers_needs_no_encoder(tmp_path):
    model = separable.LinearModel([[2, -1]], [0.5], None, "identity", ["width", "height"])
    model.save(tmp_path / "m.safetensors")
    client = Client(separable.serve.app(tmp_path / "m.safetensors"))
    assert client("POST", "/predict", {"width": 3, "height": 4}).json["predictions"] == [
        {"prediction": 2.5}
    ]
    refused = client("POST", "/predict", {"width": None, "height": 4})
    assert refused.status == 422
    assert refused.json["column"] == "width"


def test_serving_imports_no_training_code(model_file):
    code = (
        "import sys, separable.serve\n"
        f"application = separable.serve.app({str(model_file)!r})\n"
        "served = next(iter(application.registry))\n"
        f"served.predict([{RECORD!r}], 3).records()\n"
        "from separable.serve.pages import landing_page, openapi_document\n"
        "landing_page(served), openapi_document(served)\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not {name.split(".")[0] for name in loaded} & {"sklearn", "scipy", "pandas", "polars"}
    families = ("workflow", "select", "certified", "online", "moments", "fitting")
    assert not {f"separable.{family}" for family in families} & loaded
