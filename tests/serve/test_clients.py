"""Client libraries of MLflow, Triton and KServe, which know nothing of this server."""

from __future__ import annotations

import asyncio
import json
import warnings

import numpy as np
import pytest

import separable
from separable.serve import app
from tests.serve.conftest import RECORD, serving

#: Missing in the second row: a number; unseen: a level.
ROWS = [
    RECORD,
    RECORD | {"body_mass_g": None, "island": "Mars"},
    RECORD | {"island": "Biscoe", "bill_depth_mm": 14.0, "flipper_length_mm": 220},
]


def imported(*names):
    """The modules of a client, whose own warnings do not count."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [pytest.importorskip(name) for name in names]


@pytest.fixture(scope="module")
def address(model_file):
    with serving(app(model_file)) as (host, port):
        yield f"{host}:{port}"


@pytest.fixture(scope="module")
def expected(model_file):
    """Classes and scores of the model itself."""
    model = separable.load(model_file)
    return model.predict(ROWS).tolist(), model.decision_function(ROWS)


def tensors(make):
    """The rows as tensors of a client, made of name, shape, type and values."""
    made = []
    for name, value in RECORD.items():
        is_text = isinstance(value, str)
        values = [np.nan if row[name] is None else row[name] for row in ROWS]
        array = np.array(values, dtype=object if is_text else np.float64)
        made.append((make(name, [len(ROWS)], "BYTES" if is_text else "FP64"), array))
    return made


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of MLflow about itself
def test_client_of_mlflow(address, expected):
    pd, client = imported("pandas", "mlflow.pyfunc.scoring_server.client")
    host, _, port = address.partition(":")
    scoring = client.ScoringServerClient(host, int(port))
    scoring.wait_server_ready()
    assert "separable" in scoring.get_version()
    frame = pd.DataFrame(ROWS)
    for data in (frame, frame.to_dict("records"), [list(row.values()) for row in ROWS]):
        assert scoring.invoke(data).get_predictions()[0].tolist() == expected[0]
    with pytest.raises(Exception, match="island"):
        scoring.invoke(frame.drop(columns="island"))


@pytest.mark.parametrize("is_binary", [True, False])
@pytest.mark.parametrize("compression", [None, "gzip", "deflate"])
def test_client_of_triton(address, expected, is_binary, compression):
    (http,) = imported("tritonclient.http")
    with http.InferenceServerClient(address) as client:
        assert client.is_server_live()
        assert client.is_server_ready()
        assert client.is_model_ready("penguins", "1")
        metadata = client.get_model_metadata("penguins")
        assert [each["name"] for each in metadata["inputs"]] == list(RECORD)
        inputs = []
        for tensor, array in tensors(http.InferInput):
            texts = array.dtype == object
            tensor.set_data_from_numpy(array, binary_data=is_binary or not texts)
            inputs.append(tensor)
        names = ("prediction", "score", "because")
        answer = client.infer(
            "penguins",
            inputs,
            outputs=[http.InferRequestedOutput(name, binary_data=is_binary) for name in names],
            request_id="seven",
            request_compression_algorithm=compression,
            response_compression_algorithm=compression,
        )
        with pytest.raises(Exception, match="There is no model 'nobody'"):
            client.infer("nobody", inputs)
    found = [x.decode() if is_binary else x for x in answer.as_numpy("prediction").tolist()]
    assert found == expected[0]
    assert np.array_equal(answer.as_numpy("score"), expected[1])
    assert json.loads(answer.as_numpy("because")[0])[0]["feature"]
    assert answer.get_response()["id"] == "seven"
    warned = {(w["column"], w["kind"]) for w in answer.get_response()["parameters"]["warnings"]}
    assert warned == {("island", "unseen"), ("body_mass_g", "missing")}


@pytest.mark.parametrize("is_binary", [True, False])
def test_client_of_kserve(address, expected, is_binary):
    (kserve,) = imported("kserve")

    async def answered():
        client = kserve.InferenceRESTClient(kserve.RESTConfig(protocol="v2"))
        url = f"http://{address}"
        assert await client.is_server_ready(url)
        assert await client.is_model_ready(url, "penguins")
        inputs = []
        for tensor, array in tensors(kserve.InferInput):
            tensor.set_data_from_numpy(array, binary_data=is_binary or array.dtype != object)
            inputs.append(tensor)
        request = kserve.InferRequest(model_name="penguins", infer_inputs=inputs)
        return await client.infer(url, request, model_name="penguins")

    outputs = {each.name: each.as_numpy() for each in asyncio.run(answered()).outputs}
    assert outputs["prediction"].tolist() == expected[0]
    assert np.array_equal(outputs["score"], expected[1])
