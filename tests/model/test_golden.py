"""Model files that earlier versions wrote: they load, and say what they said then."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from separable import load
from separable.features.base import ENCODERS
from separable.model.files.container import open_container
from tests.model.golden.make import FOLDER, LEFT_OUT, file_of, from_json, go_on, told
from tests.model.specimens import LEARNERS, specimens

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted(FOLDER.glob("v*/*.safetensors"))
#: Classes, names and values are the same. Scores (in regression, predictions) are sums:
#: those in these files were added up by BLAS, in another order than ``linear_scores`` has.
CLOSE = 1e-12


def close(found: Any, expected: Any) -> bool:
    if isinstance(expected, float) and isinstance(found, float):
        return found == expected or abs(found - expected) <= CLOSE * max(1.0, abs(expected))
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(close(found[k], expected[k]) for k in found)
    return type(found) is type(expected) and bool(found == expected)


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_golden_file_says_what_it_said(path: Path, tmp_path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text())
    data, model = from_json(expected["data"]), load(path)
    found = json.loads(json.dumps(told(model, data)))
    if model.classes is not None:
        assert found["predict"] == expected["told"]["predict"]
    assert close(found, expected["told"])
    model.save(tmp_path / "again", include_state=model.state is not None)
    assert json.loads(json.dumps(told(load(tmp_path / "again"), data))) == found


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_golden_file_holds_the_same_tensors_when_saved_again(path: Path, tmp_path: Path) -> None:
    model = load(path)
    model.save(tmp_path / "again", include_state=model.state is not None)
    _, before = open_container(path.read_bytes())
    _, after = open_container((tmp_path / "again").read_bytes())
    assert before.keys() == after.keys()
    for name, tensor in before.items():
        assert after[name].dtype == tensor.dtype
        assert after[name].shape == tensor.shape
        assert after[name].tobytes() == tensor.tobytes()


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if '"continued": null' not in path.with_suffix(".json").read_text()],
    ids=name_of,
)
def test_training_goes_on_from_a_golden_file(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text())
    model, data = load(path), from_json(expected["data"])
    learner = next(each for each in LEARNERS.values() if each.__name__ == model.learner)
    went_on = go_on(learner, model, data, from_json(expected["target"]))
    scores = went_on.model_.decision_function(data)
    np.testing.assert_allclose(scores, expected["continued"], rtol=1e-9, atol=1e-9)


def test_every_kind_of_file_has_a_golden_one() -> None:
    kept = [name for name in specimens() if not LEFT_OUT.search(name)]
    missing = [name for name in kept if not file_of(name).exists()]
    assert not missing, f"write them: python -m tests.model.golden.make ({missing})"
    assert {name.partition(", ")[0] for name in kept} >= {*LEARNERS, *ENCODERS}
