from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from separable.model.files.json_values import pack, plain, unpack


def test_numbers_that_json_lacks_survive_as_tagged_text() -> None:
    value = {"a": [math.nan, -math.inf, 1.5], "b": {"c": math.inf}}
    packed = json.loads(json.dumps(pack(value), allow_nan=False))
    assert packed["b"] == {"c": {"__float__": "inf"}}
    back: Any = unpack(packed)
    assert math.isnan(back["a"][0])
    assert back["a"][1:] == [-math.inf, 1.5]
    assert back["b"] == {"c": math.inf}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [{"b": {1, 2}}]}, r"here\['a'\]\[0\]\['b'\] is a set"),
        ({"a": b"bytes"}, r"here\['a'\] is a bytes"),
        ({"a": 1 + 2j}, r"here\['a'\] is a complex"),
        ({"__float__": "nan"}, "which model files keep for NaN"),
        ({"a": "\udc80"}, "half of a surrogate pair"),
        ({"\udc80": 1}, "half of a surrogate pair"),
        ({"a": 2**2000}, "more than 1024 bits"),
        ({"a": np.array([object()])}, r"here\['a'\]\[0\] is a object"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_place(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plain(value, "here")


def test_values_that_hold_themselves_are_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match="nested more than 64 levels deep"):
        plain(loop, "here")


def test_subclasses_become_plain() -> None:
    class Name(str):
        __slots__ = ()

    found = plain({"a": Name("x"), "b": np.str_("y"), "c": np.float64(2.0)}, "here")
    assert [type(each) for each in found.values()] == [str, str, float]
