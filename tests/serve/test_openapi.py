"""The OpenAPI document and the page at /."""

from __future__ import annotations

import json

import pytest

from separable.export import export
from separable.serve import app
from tests.serve.conftest import RECORD, serving


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


def test_the_page_has_an_example_with_its_answer_and_counts_no_row(client):
    text = client("GET", "/").body.decode()
    row = client.application.registry.get().example()[0]
    assert client.application.registry.get().sums.n_rows == 0
    answer = client("POST", "/predict?explain=10", row).json["predictions"][0]
    assert f"<td>{answer['prediction']}</td>" in text
    assert all(f"<td>{each['contribution']:+.4g}</td>" in text for each in answer["because"])


@pytest.mark.slow
@pytest.mark.parametrize("has_scripts", [True, False])
def test_the_page_in_a_browser(browser, model_file, has_scripts):
    context = browser.new_context(java_script_enabled=has_scripts)
    page, messages = context.new_page(), []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    with serving(app(model_file)) as (host, port):
        page.goto(f"http://{host}:{port}/")
        assert page.locator("#what-if input").count() == (5 if has_scripts else 0)
        text = page.inner_text("body")
    context.close()
    assert ("The form needs JavaScript" in text) != has_scripts
    assert "flipper_length_mm" in text
    assert "probability_Adelie" in text
    assert not messages
