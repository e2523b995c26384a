"""The OpenAPI document and the page at /."""

from __future__ import annotations

import json

import pytest

from separable.export import export
from tests.serve.conftest import RECORD


def test_the_document_describes_the_columns(client, model_file):
    document = client("GET", "/openapi.json").json
    row = document["components"]["schemas"]["Row"]
    assert row["required"] == list(RECORD)
    assert row["properties"]["year"]["type"][0] == "number"
    assert row["properties"]["year"]["maximum"] == 1e100
    assert "Biscoe" in row["properties"]["island"]["examples"]
    assert "2007 to 2009" in row["properties"]["year"]["description"]
    example = document["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]
    assert client("POST", "/predict", example["example"]).json["warnings"] == []


def test_export_writes_the_same_schemas(client, model_file):
    import separable

    text = export(separable.load(model_file), to="openapi")
    own = client("GET", "/openapi.json").json["components"]
    assert json.loads(text)["components"] == own


def test_answers_follow_the_document(client):
    jsonschema = pytest.importorskip("jsonschema")
    document = client("GET", "/openapi.json").json
    resolver = {"$ref": "#/components/schemas/Predictions", "components": document["components"]}
    for body in (RECORD, [RECORD, RECORD | {"sex": None}]):
        jsonschema.validate(client("POST", "/predict", body).json, resolver)


def test_the_page_has_the_form_the_columns_and_no_requests(client):
    answer = client("GET", "/")
    text = answer.body.decode()
    assert 'id="what-if"' in text
    assert "<td>flipper_length_mm</td>" in text
    assert "connect-src 'none'" in answer.headers["content-security-policy"]
