"""The Open Inference Protocol: tensors in JSON and in bytes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.serve.conftest import RECORD

PATH = "/v2/models/penguins/infer"


def tensor(name, values):
    kind = "BYTES" if isinstance(values[0], str) else "FP64"
    return {"name": name, "datatype": kind, "shape": [len(values)], "data": values}


def request(*records, **more):
    inputs = [tensor(name, [record[name] for record in records]) for name in RECORD]
    return {"inputs": inputs, **more}


def outputs(answer):
    return {each["name"]: each for each in answer["outputs"]}


def test_inference_is_prediction(client):
    other = RECORD | {"body_mass_g": 5500, "island": "Biscoe"}
    answer = client("POST", PATH, request(RECORD, other, id="seven")).json
    expected = client("POST", "/predict", [RECORD, other]).json["predictions"]
    found = outputs(answer)
    assert (answer["model_name"], answer["model_version"], answer["id"]) == (
        "penguins",
        "1",
        "seven",
    )
    assert found["prediction"]["data"] == [each["prediction"] for each in expected]
    scores = [v for each in expected for k, v in each.items() if k.startswith("score_")]
    assert found["score"]["data"] == scores
    assert found["score"]["shape"] == [2, 3]


def test_the_explanation_is_an_output(client):
    wanted = [{"name": "because"}]
    answer = client("POST", PATH, request(RECORD, outputs=wanted)).json
    (text,) = outputs(answer)["because"]["data"]
    expected = client("POST", "/predict?explain=3", [RECORD]).json["predictions"][0]["because"]
    assert json.loads(text) == expected


def test_binary_tensors_in_and_out(client):
    parts, inputs = [], []
    for name, value in RECORD.items():
        if isinstance(value, str):
            text = value.encode()
            data, kind = len(text).to_bytes(4, "little") + text, "BYTES"
        else:
            data, kind = np.array([value], "<f8").tobytes(), "FP64"
        parts.append(data)
        sizes = {"binary_data_size": len(data)}
        inputs.append({"name": name, "datatype": kind, "shape": [1, 1], "parameters": sizes})
    head = json.dumps({"inputs": inputs, "parameters": {"binary_data_output": True}}).encode()
    header = {"inference-header-content-length": str(len(head))}
    answer = client("POST", PATH, head + b"".join(parts), header)
    size = int(answer.headers["inference-header-content-length"])
    document, at, found = json.loads(answer.body[:size]), size, {}
    for each in document["outputs"]:
        end = at + each["parameters"]["binary_data_size"]
        found[each["name"]], at = answer.body[at:end], end
    assert at == len(answer.body)
    plain = outputs(client("POST", PATH, request(RECORD)).json)
    assert np.frombuffer(found["score"], "<f8").tolist() == plain["score"]["data"]
    assert found["prediction"][4:].decode() == plain["prediction"]["data"][0]


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [2]}, {"shape": [-1]}, {"shape": "x"}, {"datatype": "FP65"}, {"data": None},
        {"data": [{}]}, {"parameters": {"binary_data_size": 99}},
    ],
)  # fmt: skip
def test_bad_tensors(client, change):
    body = request(RECORD)
    body["inputs"][1] |= change
    answer = client("POST", PATH, body)
    assert answer.status == 400
    assert "bill_length_mm" in answer.json["error"]


def test_metadata_and_health(client):
    found = client("GET", "/v2/models/penguins").json
    assert [each["name"] for each in found["inputs"]] == list(RECORD)
    assert found["inputs"][0]["datatype"] == "BYTES"
    assert client("GET", "/v2").json["extensions"] == ["binary_tensor_data"]
    assert client("GET", "/v2/health/ready").json == {"ready": True}
    assert client("GET", "/v2/models/penguins/versions/1/ready").json["ready"] is True
    client.application.ready = False
    assert client("GET", "/v2/health/ready").status == 503
