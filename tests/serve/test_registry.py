"""Replacing files while the server runs: tested, compared, swapped; a bad file changes nothing."""

from __future__ import annotations

import os
import threading
from dataclasses import replace

import pytest

import separable
import separable.serve
from separable.model.files.model_file import ModelFileError
from separable.model.self_test import SelfTest
from separable.serve.registry import Registry
from tests.serve.conftest import RECORD, Client


@pytest.fixture
def linear():
    return separable.LinearModel([[2.0, -1.0]], [0.5], None, "identity", ["width", "height"])


def test_a_replaced_file_is_served_and_a_bad_one_is_not(tmp_path, linear):
    path = tmp_path / "m.safetensors"
    linear.save(path)
    client = Client(separable.serve.app(path))
    row = {"width": 1.0, "height": 0.0}

    def answer():
        client.application.registry.refresh()
        found = client("POST", "/predict", row).json
        return found["predictions"][0]["prediction"], found["model"]["sha256"]

    first = answer()
    assert first[0] == 2.5
    replace(linear, intercept=[10.0]).save(path)
    second = answer()
    assert second[0] == 12.0
    assert second[1] != first[1]
    path.write_bytes(path.read_bytes()[:200])  # truncated in place
    (change,) = client.application.registry.refresh()
    assert "Cannot load" in change.problem
    assert answer() == second
    path.unlink()
    assert answer() == second
    linear.save(path)
    assert answer() == first


def test_a_model_of_other_columns_or_classes_is_refused(tmp_path, linear):
    path = tmp_path / "m.safetensors"
    linear.save(path)
    registry = Registry([path])
    replace(linear, feature_names=["width", "depth"]).save(path)
    (change,) = registry.refresh()
    assert "'depth'" in change.problem
    classes = separable.LinearModel([[1, 1]], [0], ["a", "b"], "score", ["width", "height"])
    classes.save(path)
    (change,) = registry.refresh()
    assert "other classes" in change.problem


def test_versions_of_a_folder(tmp_path, linear):
    (tmp_path / "price").mkdir()
    for version in ("9", "10"):
        replace(linear, intercept=[float(version)]).save(
            tmp_path / "price" / f"{version}.safetensors"
        )
    client = Client(separable.serve.app(folder=tmp_path))
    row = {"width": 0.0, "height": 0.0}
    found = client("POST", "/models/price/predict", row).json
    assert found["model"]["version"] == "10"  # not "9"
    old = client("POST", "/predict?version=9", row).json
    assert old["predictions"][0]["prediction"] == 9.0
    linear.save(tmp_path / "price" / "11.safetensors")
    client.application.registry.refresh()
    assert client("POST", "/models/price/predict", row).json["model"]["version"] == "11"
    os.unlink(tmp_path / "price" / "11.safetensors")  # noqa: PTH108
    client.application.registry.refresh()
    assert client("POST", "/models/price/predict", row).json["model"]["version"] == "10"


def test_a_model_that_computes_other_scores_is_not_served(model_file, tmp_path):
    model = separable.load(model_file)
    assert model.self_test.differing_row(model) is None
    wrong = [list(row) for row in model.self_test.scores]
    wrong[2][0] += 1e-12
    forged = replace(model, self_test=SelfTest(model.self_test.rows, tuple(map(tuple, wrong))))
    path = tmp_path / "forged.safetensors"
    forged.save(path)
    with pytest.raises(ModelFileError, match="test row 2"):
        separable.serve.app(path)


@pytest.mark.parametrize("name", ["a b.safetensors", "..safetensors"])
def test_names_that_no_address_can_have(tmp_path, linear, name):
    linear.save(tmp_path / name)
    with pytest.raises(ValueError, match="name of a model"):
        separable.serve.app(tmp_path / name)


def test_requests_hold_the_model_they_began_with(model_file):
    application = separable.serve.app(model_file)
    served = application.registry.get()
    application.registry._models.clear()
    assert served.predict([RECORD]).records()


@pytest.mark.parametrize("reloads", [200, pytest.param(10_000, marks=pytest.mark.long)])
def test_no_answer_is_mixed_while_files_are_replaced(tmp_path, linear, reloads):
    """Each answer is that of the model whose hash it names, however often the file changes."""
    path = tmp_path / "m.safetensors"
    linear.save(path)
    client = Client(separable.serve.app(path, reload_seconds=0))
    registry, known = client.application.registry, {}
    done = threading.Event()

    def replace_it():
        for k in range(reloads):
            replace(linear, intercept=[float(k % 7)]).save(path)
            registry.refresh()
        done.set()

    thread = threading.Thread(target=replace_it)
    thread.start()
    answers = 0
    while not done.is_set() or answers < 20:
        found = client("POST", "/predict", [{"width": 1.0, "height": 0.0}] * 3).json
        values = [each["prediction"] for each in found["predictions"]]
        assert len(set(values)) == 1
        assert known.setdefault(found["model"]["sha256"], values[0]) == values[0]
        answers += 1
    thread.join()
    assert len(set(known.values())) == len(known)
