from __future__ import annotations

import math
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open

from separable import load
from separable.model.linear_model import LinearModel, TrainingState

if TYPE_CHECKING:
    from pathlib import Path

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
labels = st.one_of(
    st.sets(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5),
    st.sets(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5),
    st.sets(st.booleans(), min_size=1),
    st.sets(texts.filter(lambda text: not text.endswith("\0")), min_size=1, max_size=5),
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
json_dicts = st.dictionaries(texts, json_values, max_size=4)


def same_json(a: Any, b: Any) -> bool:
    """Equality that tells -0.0 from 0.0, 1 from 1.0 and True, and knows NaN."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (
            a == b and math.copysign(1, a) == math.copysign(1, b)
        )
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same_json, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_json(a[key], b[key]) for key in a)
    return bool(a == b)


def assert_same_model(a: LinearModel, b: LinearModel) -> None:
    for ours, theirs in (
        (a.weights, b.weights),
        (a.intercept, b.intercept),
        (a.classes, b.classes),
    ):
        assert (ours is None) == (theirs is None)
        if ours is not None and theirs is not None:
            assert ours.dtype == theirs.dtype
            assert ours.shape == theirs.shape
            assert ours.tobytes() == theirs.tobytes()
            assert not theirs.flags.writeable
    for name in ("link", "feature_names", "learner", "family"):
        assert getattr(a, name) == getattr(b, name)
    assert same_json(dict(a.parameters), dict(b.parameters))
    assert same_json(dict(a.evidence), dict(b.evidence))


@given(st.data())
def test_what_was_saved_is_loaded(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    d = data.draw(st.integers(1, 4))
    classes = data.draw(st.none() | labels)
    k = (
        data.draw(st.integers(1, 3))
        if classes is None
        else (1 if len(classes) < 3 else len(classes))
    )
    rows = st.lists(numbers, min_size=d, max_size=d)
    model = LinearModel(
        data.draw(st.lists(rows, min_size=k, max_size=k)),
        data.draw(st.lists(numbers, min_size=k, max_size=k)),
        None if classes is None else np.array(sorted(classes)),
        "identity"
        if classes is None
        else data.draw(st.sampled_from(["score", "logistic", "softmax"])),
        data.draw(st.none() | st.lists(texts, min_size=d, max_size=d)),
        learner=data.draw(texts),
        parameters=data.draw(json_dicts),
        family=data.draw(st.sampled_from([None, "online", "moments", "certified"])),
        evidence=data.draw(json_dicts),
    )
    path = tmp_path_factory.mktemp("round") / "model.safetensors"
    model.save(path)
    assert_same_model(model, load(path))


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint64", "float16", "float32", "bool", "<U3"]
)
def test_dtype_of_classes_survives(tmp_path: Path, dtype: str) -> None:
    classes = np.array(["no", "yes"] if dtype == "<U3" else [0, 1], dtype=dtype)
    model = LinearModel([[1.0]], [0.0], classes, "score")
    model.save(tmp_path / "m")
    assert_same_model(model, load(tmp_path / "m"))


def test_state_is_written_on_request(tmp_path: Path) -> None:
    tensors = {
        "sum": np.arange(6.0).reshape(2, 3),
        "t": np.array(7),
        "none": np.zeros(0, np.float32),
    }
    state = TrainingState(tensors, {"epoch": 3, "best": math.inf})
    model = LinearModel([[1, 2]], [0], [0, 1], "score", state=state)
    model.save(tmp_path / "without")
    assert load(tmp_path / "without").state is None
    model.save(tmp_path / "with", include_state=True)
    found = load(tmp_path / "with").state
    assert found.values == {"epoch": 3, "best": math.inf}
    for name, tensor in tensors.items():
        assert found.tensors[name].dtype == tensor.dtype
        assert found.tensors[name].shape == tensor.shape
        np.testing.assert_array_equal(found.tensors[name], tensor)
    with pytest.raises(ValueError, match="no training state to include"):
        load(tmp_path / "without").save(tmp_path / "x", include_state=True)


def test_encoder_goes_through_the_file(tmp_path: Path, toy_encoder: Any) -> None:
    encoder = toy_encoder(("Dream", "", "日本"), 2.0)
    model = LinearModel([[1, 2, 3, 4]], [-3], ["no", "yes"], "score", encoder=encoder)
    model.save(tmp_path / "m")
    found = load(tmp_path / "m")
    assert found.feature_names == ("size", "island=Dream", "island=", "island=日本")
    assert found.decision_function([{"size": 4, "island": "日本"}]).tolist() == [3]


def test_an_encoder_that_could_not_be_loaded_is_not_saved(tmp_path: Path) -> None:
    class Stranger:
        kind = "stranger"
        feature_names = sources = ("a",)

    model = LinearModel([[1]], [0], [0, 1], "score", encoder=Stranger())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"Stranger has kind 'stranger'.*Register it"):
        model.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_same_model_gives_same_bytes(tmp_path: Path) -> None:
    for name, parameters in (("a", {"x": 1, "y": 2}), ("b", {"y": 2, "x": 1})):
        LinearModel([[1, 2]], [0], ["n", "y"], "score", ["f", "g"], parameters=parameters).save(
            tmp_path / name
        )
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_any_safetensors_reader_can_open_it(tmp_path: Path) -> None:
    LinearModel([[4, 2]], [-3], ["ham", "spam"], "score", ["free", "money"]).save(tmp_path / "m")
    with safe_open(tmp_path / "m", framework="np") as file:
        assert set(file.metadata()) == {"separable"}
        assert file.get_tensor("weights").tolist() == [[4, 2]]
        assert bytes(file.get_tensor("feature_names:utf8")) == b"freemoney"
        assert file.get_tensor("feature_names:offsets").tolist() == [0, 4, 9]


def test_loading_and_predicting_import_no_training_library(tmp_path: Path) -> None:
    LinearModel([[4, 2]], [-3], ["ham", "spam"], "logistic", ["free", "money"]).save(tmp_path / "m")
    code = (
        "import sys, separable; m = separable.load(sys.argv[1]); m.predict([[1, 1]]); "
        "m.predict_proba([[1, 1]]); e = m.explain([[1, 1]]); str(e), e._repr_html_(), e.to_dict(); "
        "str(m.top_weights()); m.save(sys.argv[1]); "
        "heavy = {'sklearn', 'scipy', 'pandas', 'polars', 'matplotlib'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "m")], check=True, timeout=60)
