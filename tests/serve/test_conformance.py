"""The server does what /openapi.json says: rows that follow it are answered, others are refused."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings

import separable
from separable.datasets import PENGUINS
from separable.serve import app

schemathesis = pytest.importorskip("schemathesis")

MODELS = {
    "table": lambda: separable.train(PENGUINS, target="species", model="logistic-regression"),
    "numbers": lambda: separable.LinearModel(
        [[2, -1]], [0.5], None, "identity", ["width", "height"]
    ),
}


@pytest.fixture(scope="module", params=["table", "numbers"])
def schema(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("conformance") / "m.safetensors"
    MODELS[request.param]().save(path)
    return schemathesis.openapi.from_asgi("/openapi.json", app(path, reload_seconds=0))


@pytest.mark.slow
@pytest.mark.parametrize("count", [15, pytest.param(1300, marks=pytest.mark.long)])
@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_answers_conform(schema, mode, count):
    """Both paths, valid and invalid bodies: two models make 8 times as many cases."""
    for found in schema.get_all_operations():
        operation = found.ok()

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=count,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def conforms(case):
            case.call_and_validate()

        conforms()
