"""The outside of a model file, against the library that defines the format."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load as library_load
from safetensors.numpy import save as library_save

from separable.model.files import container
from separable.model.files.container import (
    DTYPES,
    KEY,
    check_seal,
    close_container,
    container_chunks,
    open_container,
)

DOCUMENT = '{"a":"é\\u001f\x7f \U0001f600/<","b":[1,{"c":null}]}'.encode()
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
shapes = st.lists(st.integers(0, 3), max_size=3)
tensors = st.dictionaries(
    names.filter(lambda name: name != "__metadata__"),
    st.builds(
        lambda dtype, shape: np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape),
        st.sampled_from(list(DTYPES.values())),
        shapes,
    ),
    max_size=5,
)


@given(tensors)
def test_the_bytes_are_those_of_the_library(given_tensors: dict[str, np.ndarray]) -> None:
    data = close_container(DOCUMENT, given_tensors)
    document, found = open_container(data)
    assert data == library_save(given_tensors, metadata={KEY: document.decode()})
    assert check_seal(document, found) == DOCUMENT
    for read in (found, library_load(data)):
        assert read.keys() == given_tensors.keys()
        for name, tensor in given_tensors.items():
            assert read[name].dtype == tensor.dtype
            assert read[name].shape == tensor.shape
            assert read[name].tobytes() == tensor.tobytes()


def test_tensors_are_views_that_cannot_be_written_to() -> None:
    data = close_container(DOCUMENT, {"a": np.arange(6.0), "b": np.zeros((0, 2))})
    for tensor in open_container(data)[1].values():
        assert not tensor.flags.writeable
        assert tensor.flags.aligned
    assert open_container(data)[1]["a"].base is not None


def test_an_array_in_another_order_is_written_in_c_order() -> None:
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    data = close_container(DOCUMENT, {"a": array, "b": array[:, ::2]})
    found = open_container(data)[1]
    assert found["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found["b"].tolist() == [[0, 2], [3, 5]]


def test_arrays_are_not_copied_to_be_written() -> None:
    array = np.arange(1000.0)
    *_, last = container_chunks(DOCUMENT, {"a": array})
    assert np.shares_memory(np.frombuffer(last, np.uint8), array)


def test_what_a_file_cannot_hold_is_refused_before_anything_is_written() -> None:
    with pytest.raises(ValueError, match="a has dtype complex128, which a model file cannot hold"):
        container_chunks(DOCUMENT, {"a": np.zeros(1, complex)})
    many = json.dumps({"evidence": [0] * (1 << 19)}, separators=(",", ":")).encode()
    with pytest.raises(ValueError, match=r"hold about 524289 values and a model file at most"):
        container_chunks(many, {})
    with pytest.raises(ValueError, match=r"its header has \d+ bytes and a model file has at most"):
        container_chunks(b'{"a":"' + b"x" * (1 << 24) + b'"}', {})


def test_too_many_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    three = {name: np.zeros(1) for name in "abc"}
    data = close_container(DOCUMENT, three)
    monkeypatch.setattr(container, "MAX_TENSORS", 2)
    with pytest.raises(ValueError, match="it has 3 tensors and a model file at most 2"):
        close_container(DOCUMENT, three)
    with pytest.raises(ValueError, match="it has 3 tensors and a model file at most 2"):
        open_container(data)


def written(infos: object, body: bytes) -> bytes:
    text = json.dumps({"__metadata__": {KEY: "{}"}, **infos}).encode()  # type: ignore[dict-item]
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + body


def info(dtype: str, shape: list[int], first: int, last: int) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [first, last]}


@pytest.mark.parametrize(
    ("infos", "message"),
    [
        ({"a": info("U8", [1], 0, 1), "b": info("F64", [1], 1, 9)}, "cannot"),
        ({"a": info("U8", [8], 0, 8), "b": info("U8", [9], 0, 9)}, "does not fit"),
        ({"a": info("U8", [4], 0, 4), "b": info("U8", [4], 5, 9)}, "does not fit"),
        ({"a": info("U8", [8], 0, 8)}, "1 bytes at the end belong to none"),
        ({"a": info("U8", [10], 0, 10)}, "does not fit"),
        ({"a": info("F64", [1], 0, 9)}, "does not fit"),
        ({"a": info("U8", [-1], 0, 9)}, "shape"),
        ({"a": info("U8", [3, 3, *[1] * 7], 0, 9)}, "shape"),
        ({"a": info("F8_E4M3", [9], 0, 9)}, "has dtype 'F8_E4M3', not one of a model"),
        ({"a": info("U8", [9], 0, 9) | {"more": 1}}, "unknown field `more`"),
        ({"a": {"dtype": "U8", "shape": [9]}}, "missing required field `data_offsets`"),
        ({"a": info("U8", [9], 9, 0)}, "does not fit"),
        ({"a": info("U8", [0, 2**61], 0, 0), "b": info("U8", [9], 0, 9)}, None),
    ],
)
def test_tensors_that_do_not_fit_the_bytes(infos: object, message: str | None) -> None:
    data = written(infos, b"\1" * 9)
    if message is None:
        assert open_container(data)[1]["b"].tolist() == [1] * 9
        return
    with pytest.raises(ValueError, match=message):
        open_container(data)
