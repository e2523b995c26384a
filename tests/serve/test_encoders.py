"""Models with every encoder are served; what an encoder cannot read is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from separable import (
    DictEncoder,
    LinearModel,
    OneHotEncoder,
    PolynomialEncoder,
    SplineEncoder,
    TextEncoder,
)
from separable.serve import app
from tests.serve.conftest import Client

NUMBERS = np.random.default_rng(0).normal(size=(20, 2))
FRAME = pd.DataFrame(NUMBERS, columns=["a", "b"])
LEVELS = pd.DataFrame({"a": ["x", "y"] * 10, "b": ["u", "v", "w", "u"] * 5})
RECORDS = [{"a": 1.0, "b": "x"}, {"c": 2.0}]
TEXTS = ["a good film", "a bad film", "so so"]
#: By name: encoder, what it is fitted to, and the same as records.
ENCODERS = {
    "polynomial": (PolynomialEncoder, NUMBERS, [{"x0": a, "x1": b} for a, b in NUMBERS]),
    "polynomial-named": (PolynomialEncoder, FRAME, FRAME.to_dict("records")),
    "spline": (SplineEncoder, FRAME, FRAME.to_dict("records")),
    "one-hot": (OneHotEncoder, LEVELS, LEVELS.to_dict("records")),
    "dict": (DictEncoder, RECORDS, RECORDS),
    "text": (TextEncoder, TEXTS, [{"text": text} for text in TEXTS]),
}
ODD = [None, True, 0, 1.5, 1e99, 1e308, 2**63, 10**400, "", "x", "\x00", "inf", "2", [], {}, [1]]


@pytest.fixture(params=sorted(ENCODERS))
def case(request, tmp_path):
    make, data, records = ENCODERS[request.param]
    encoder = make().fit(data)
    weights = np.random.default_rng(1).normal(size=(1, encoder.encode(data).n_features))
    model = LinearModel(weights, [0.5], ["no", "yes"], "score", encoder=encoder)
    model.save(tmp_path / "m.safetensors")
    return Client(app(tmp_path / "m.safetensors")), model.decision_function(data), records


@pytest.mark.every_case
def test_scores_are_those_of_the_model(case):
    client, scores, records = case
    answer = client("POST", "/predict?explain=3", records)
    assert answer.status == 200, answer.body
    assert [each["score"] for each in answer.json["predictions"]] == scores.tolist()
    alone = client("POST", "/predict", records[1]).json["predictions"][0]
    assert alone["score"] == scores[1]
    assert client("GET", "/").status == client("GET", "/openapi.json").status == 200


@pytest.mark.every_case
def test_odd_values_are_answered_or_refused(case):
    client, _, records = case
    names = list(records[0])
    for first, other in itertools.product(ODD, [0.5, "x", None]):
        row = dict.fromkeys(names, other) | {names[0]: first}
        for body in (row, [row, records[0]], {"columns": {k: [v] for k, v in row.items()}}):
            answer = client("POST", "/predict", body)
            assert answer.status in (200, 400, 422), (body, answer.body)
