from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from separable.model.linear_model import LinearModel


def test_two_classes_have_one_side_each() -> None:
    model = LinearModel([[1, -3, 0, 2, -1]], [0], ["ham", "spam"], "score", list("abcde"))
    towards_spam, towards_ham = model.top_weights(1)
    assert (towards_spam.label, towards_spam.weights) == ("spam", (("d", 2.0),))
    assert (towards_ham.label, towards_ham.weights) == ("ham", (("b", -3.0),))
    assert str(model.top_weights()).splitlines() == [
        "towards spam",
        "  d  +2",
        "  a  +1",
        "towards ham",
        "  b  -3",
        "  e  -1",
    ]


def test_more_classes_have_two_groups_each_with_default_names() -> None:
    model = LinearModel([[1, -1], [0, 2], [0, 0]], [0, 0, 0], [7, 8, 9], "score")
    found = [(g.label, g.towards, g.weights) for g in model.top_weights()]
    assert found == [
        (7, "towards 7", (("x0", 1.0),)),
        (7, "away from 7", (("x1", -1.0),)),
        (8, "towards 8", (("x1", 2.0),)),
        (8, "away from 8", ()),
        (9, "towards 9", ()),
        (9, "away from 9", ()),
    ]
    assert "(none)" in str(model.top_weights())
    assert json.loads(json.dumps(model.top_weights().to_dict()))[0]["label"] == 7


def test_regression_raises_and_lowers() -> None:
    one = LinearModel([[1, -1]], [0], None, "identity").top_weights()
    assert [g.towards for g in one] == ["raises the prediction", "lowers the prediction"]
    two = LinearModel([[1], [2]], [0, 0], None, "identity").top_weights()
    assert [g.towards for g in two][2:] == ["raises target 1", "lowers target 1"]


def test_equal_weights_come_in_the_order_of_features() -> None:
    model = LinearModel(np.ones((1, 50)), [0], [0, 1], "score")
    assert [name for name, _ in model.top_weights(5)[0].weights] == ["x0", "x1", "x2", "x3", "x4"]


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "3"])
def test_n_is_checked(n: Any) -> None:
    model = LinearModel([[1]], [0], [0, 1], "score")
    with pytest.raises(ValueError, match=r"'n' parameter of top_weights must be an int >= 1. Got"):
        model.top_weights(n)
