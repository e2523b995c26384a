"""Bad requests get a clear answer, never an error inside the server."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import separable.serve
from separable.serve import Limits
from tests.serve.conftest import RECORD, Client


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "not valid JSON"),
        (b"{", 400, "not valid JSON"),
        (b"\xff\xfe", 400, "not valid JSON"),
        (b"[" * 100_000, 400, ""),
        (b"17", 400, "record"),
        (b"[]", 400, "no rows"),
        (b"[1, 2]", 400, "object"),
        (b'{"columns": {"a": [1], "b": []}}', 400, "same length"),
        (b'{"other": 1}', 422, "lacks"),
        (json.dumps([RECORD, RECORD | {"year": [1]}]).encode(), 422, "it is a list"),
        (json.dumps(RECORD | {"island": {"a": 1}}).encode(), 422, "it is an object"),
        (json.dumps(RECORD | {"year": 1e101}).encode(), 422, "larger than 1e+100"),
        (json.dumps(RECORD | {"year": -(10**400)}).encode(), 422, "larger than 1e+100"),
        (json.dumps([RECORD, {"year": 2007}]).encode(), 422, "it lacks 6 column(s)"),
        (b'[{"island": 1e999}]', None, ""),
    ],
)
def test_bad_bodies(client, body, status, words):
    answer = client("POST", "/predict", body)
    assert 400 <= answer.status < 500
    assert status is None or answer.status == status
    assert words in answer.json["error"]
    assert "Traceback" not in answer.body.decode()
    assert "/" not in answer.json["error"].replace("/openapi.json", "").replace("/x-ndjson", "")


def test_a_bad_cell_names_its_place(client):
    answer = client("POST", "/predict", [RECORD, RECORD | {"year": "1e200"}])
    assert (answer.status, answer.json["column"], answer.json["row"]) == (422, "year", 1)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/predict", 405),
        ("DELETE", "/", 405),
        ("GET", "/../etc/passwd", 404),
        ("GET", "/models", 404),
        ("POST", "/models/nobody/predict", 404),
        ("GET", "/v2/models/penguins/versions/7", 404),
        ("POST", "/v2/models/penguins/infer", 400),
    ],
)
def test_other_paths_and_methods(client, method, path, status):
    assert client(method, path).status == status


def test_content_types(client):
    answer = client("POST", "/predict", b"a", {"content-type": "image/png"})
    assert answer.status == 415
    arrow = {"content-type": "application/vnd.apache.arrow.stream"}
    assert client("POST", "/predict", b"garbage", arrow).status == 400
    csv_type = {"content-type": "text/csv"}
    assert client("POST", "/predict", b"\x00\xff,\n", csv_type).status == 422


def test_a_compressed_body_is_read_within_the_limit(model_file):
    client = Client(separable.serve.app(model_file, limits=Limits(body_bytes=10_000)))
    packed = gzip.compress(json.dumps(RECORD).encode())
    assert client("POST", "/predict", packed, {"content-encoding": "gzip"}).status == 200
    bomb = zlib.compress(b"[" + b" " * 50_000_000 + b"]", 9)
    client.application.limits = Limits(body_bytes=100_000)
    assert client("POST", "/predict", bomb, {"content-encoding": "deflate"}).status == 413
    assert client("POST", "/predict", packed[:-9], {"content-encoding": "gzip"}).status == 400
    assert client("POST", "/predict", b"junk", {"content-encoding": "gzip"}).status == 400
    assert client("POST", "/predict", b"", {"content-encoding": "br"}).status == 415


def test_bodies_and_rows_beyond_the_limits(model_file):
    small = Client(separable.serve.app(model_file, limits=Limits(body_bytes=1000, rows=2)))
    assert small("POST", "/predict", [RECORD] * 3).status == 413
    assert small("POST", "/predict", b" " * 2000).status == 413
    parts = [b" " * 600, b" " * 600]
    assert small("POST", "/predict", b"", {"content-length": "9"}, parts=parts).status == 413
    assert small("POST", "/predict", [RECORD] * 2).status == 200


def test_a_busy_server_says_when_to_try_again(client):
    client.application._active = client.application.limits.concurrent
    answer = client("POST", "/predict", RECORD)
    assert answer.status == 503
    assert answer.headers["retry-after"] == "1"


def test_tokens(model_file):
    client = Client(separable.serve.app(model_file, tokens=["a-secret-of-many-letters"]))
    assert client("POST", "/predict", RECORD).status == 401
    wrong = {"authorization": "Bearer a-secret-of-many-letterz"}
    assert client("POST", "/predict", RECORD, wrong).status == 401
    right = {"authorization": "Bearer a-secret-of-many-letters"}
    assert client("POST", "/predict", RECORD, right).status == 200
    assert client("GET", "/ping").status == 200
    assert client("GET", "/metrics").status == 401


def test_every_answer_has_security_headers(client):
    for method, path in (("GET", "/"), ("GET", "/nowhere"), ("POST", "/predict")):
        headers = client(method, path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]


scalars = st.sampled_from(
    [None, True, False, 0, -1, 1.5, 1e308, -1e-308, 2**63, 10**400, "", "Dream", "1,5", "\x00", "é"]
)
json_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "", "inputs", "columns"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(changes=st.dictionaries(st.sampled_from(sorted(RECORD)), json_values, max_size=4))
def test_any_json_value_is_answered_or_refused(model_file, changes):
    client = _client_of(model_file)
    answer = client("POST", "/predict", [RECORD | changes])
    assert answer.status in (200, 400, 422)
    assert answer.status == 200 or answer.json["error"]


@given(body=json_values)
def test_any_json_body_is_answered_or_refused(model_file, body):
    client = _client_of(model_file)
    for path in ("/predict", "/invocations", "/v2/models/penguins/infer"):
        assert client("POST", path, body).status in (200, 400, 413, 422)


CLIENTS = {}


def _client_of(model_file):
    if model_file not in CLIENTS:
        CLIENTS[model_file] = Client(separable.serve.app(model_file))
    return CLIENTS[model_file]
