"""Saved streams of SGD that were tampered with: a clear error, never a crash or a wrong model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from separable import SGDClassifier, SGDRegressor
from separable.model.linear_model import TrainingState

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore:.* has no effect"),  # one set of options, all modes
]

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 6))
X[:, 4:] *= rng.random((50, 2)) < 0.2  # 0 to 3 are centred, 4 and 5 are not
y = (X[:, 0] > 0).astype(int)
INF, NAN = float("inf"), float("nan")


def learned(**settings):
    return SGDClassifier("log_loss", **settings).partial_fit(X, y).model_


def tampered(model, change):
    """Return a model with another training state, as a hostile writer can make it."""
    tensors = {name: np.array(a) for name, a in model.state.tensors.items()}
    values = dict(model.state.values)
    values["clock"] = dict(values["clock"])
    change(tensors, values["clock"], values)
    return replace(model, state=TrainingState(tensors, values))


def refused(model, change, message, cls=SGDClassifier):
    with pytest.raises(ValueError, match="training state does not fit the model.*" + message):
        cls.from_model(tampered(model, change))


def test_the_helper_makes_a_good_state():
    same = SGDClassifier.from_model(tampered(learned(), lambda t, c, v: None))
    other = SGDClassifier("log_loss").partial_fit(X, y).partial_fit(X, y)
    np.testing.assert_array_equal(same.partial_fit(X, y).coef_, other.coef_)


def put(name, where, value):
    return lambda t, c, v: t[name].__setitem__(where, value)


def make(name, value):
    return lambda t, c, v: t.__setitem__(name, value)


def swap_centred(t, c, v):
    """The list names a loose column; a centred one points far beyond the list."""
    t["centred_index"][0] = 4
    t["columns"][4, 2] = 0.0
    t["columns"][0, 2] = 1e9


STATES = {
    "no columns": (lambda t, c, v: t.pop("columns"), "columns"),
    "columns of another shape": (make("columns", np.zeros((7, 4))), r"columns is float64 \(7, 4\)"),
    "columns of floats": (make("columns", np.zeros((6, 4), np.float32)), "columns is float32"),
    "columns NaN": (put("columns", (0, 1), NAN), "columns is not finite"),
    "no list": (lambda t, c, v: t.pop("centred_index"), "centred"),
    "list of one number": (make("centred_index", np.array(3)), "centred_index"),
    "list in two dimensions": (make("centred_index", np.zeros((4, 1), np.int64)), "centred_index"),
    "list of floats": (make("centred_index", np.zeros(6)), "centred_index is float64"),
    "list too short": (
        lambda t, c, v: t.update(centred_index=t["centred_index"][:2], centred=t["centred"][:, :2]),
        "centred columns are not those",
    ),
    "centres of another shape": (make("centred", np.zeros((3, 2))), r"centred is float64 \(3, 2\)"),
    "centres NaN": (put("centred", (0, 0), NAN), "centred is not finite"),
    "index out of bounds": (put("centred_index", 0, 6), "centred columns are not those"),
    "index negative": (put("centred_index", 0, -1), "centred columns are not those"),
    "index twice": (put("centred_index", 0, 1), "centred columns are not those"),
    "place out of bounds": (put("columns", (0, 2), 1e9), "centred columns are not those"),
    "place negative": (put("columns", (0, 2), -5.0), "centred columns are not those"),
    "more places than columns": (
        lambda t, c, v: c.update(centred=5.0), "centred columns are not those",
    ),
    "fewer places than columns": (
        lambda t, c, v: c.update(centred=3.0), "centred columns are not those",
    ),
    "half a place": (lambda t, c, v: c.update(centred=4.5), "centred columns are not those"),
    "a centred column outside the list": (swap_centred, "centred columns are not those"),
    "unit no power of two": (put("columns", (0, 3), -0.3), "units"),
    "count negative": (put("columns", (5, 0), -3.0), "columns holds a negative"),
    "squares negative": (put("columns", (5, 1), -3.0), "columns holds a negative"),
    "spread negative": (put("centred", (1, 0), -3.0), "columns holds a negative"),
    "gradients negative": (put("wa", (0, 0, 1), -3.0), "wa or a0 holds a negative"),
    "gradients of b negative": (put("a0", 0, -3.0), "wa or a0 holds a negative"),
    "weights NaN": (put("wa", (0, 0, 0), NAN), "wa is not finite"),
    "losses NaN": (put("loss", 0, NAN), "loss is not finite"),
    "losses below all": (put("marks", (0, 0), -INF), "marks is not finite"),
    "rows negative": (lambda t, c, v: c.update(rows=-1.0), "rows is -1"),
    "rows beyond counting": (lambda t, c, v: c.update(rows=1e30), "rows at most 2"),
    "rows infinite": (lambda t, c, v: c.update(rows=INF), "rows is inf"),
    "rows missing": (lambda t, c, v: c.pop("rows"), "rows"),
    "no weight": (lambda t, c, v: c.update(total=0.0), "total"),
    "spread of y negative": (lambda t, c, v: c.update(y_spread=-1.0), "y_spread is -1"),
    "examples beyond the marks": (lambda t, c, v: c.update(examples=2.0**70), "examples is 1"),
    "examples before the marks": (lambda t, c, v: c.update(examples=-0.75), "examples is -0.75"),
    "half an example": (lambda t, c, v: c.update(examples=49.5), "examples is 49.5"),
    "marks without weight": (put("mark_weight", 0, 0.0), "mark_weight"),
    "examples without weight": (lambda t, c, v: c.update(weight=0.0), "weight"),
    "no clock": (lambda t, c, v: v.pop("clock"), "clock"),
    "clock a list": (lambda t, c, v: v.update(clock=[1, 2]), "list"),
    "rows_seen infinite": (lambda t, c, v: v.update(rows_seen=INF), "infinity"),
    "rows_seen negative": (lambda t, c, v: v.update(rows_seen=-3), "rows_seen is -3"),
    "updates infinite": (lambda t, c, v: v.update(updates=INF), "infinity"),
}  # fmt: skip


@pytest.mark.parametrize("name", STATES)
def test_adaptive_state(name):
    change, message = STATES[name]
    refused(learned(), change, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("last", 0, -1.0), "last"),
        (put("last", 0, 51.0), "last"),
        (make("last", np.zeros(5)), r"last is float64 \(5,\)"),
        (put("due", (0, 0), -1.0), "due holds a negative"),
        (put("q", (0, 0), NAN), "q is not finite"),
        (lambda t, c, v: t.pop("q"), "q"),
    ],
)
def test_adaptive_state_with_a_penalty(change, message):
    refused(learned(penalty="l1"), change, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, c, v: c.update(scale=0.0), "scale is 0"),
        (lambda t, c, v: c.update(scale=-1.0), "scale is -1"),
        (lambda t, c, v: c.update(steps=-1.0), "steps is -1"),
        (lambda t, c, v: c.update(due=-1.0), "due is -1"),
        (lambda t, c, v: c.update(examples=2.0**70), "examples is 1"),
    ],
)
def test_state_of_one_step_size(change, message):
    refused(learned(learning_rate="constant", penalty="l1"), change, message)


def test_mean_of_nothing():
    refused(learned(average=True), lambda t, c, v: c.update(mean_count=-1.0), "mean_count is -1")


def test_regressor():
    model = SGDRegressor().partial_fit(X, y).model_
    refused(model, put("columns", (0, 2), 1e9), "centred columns are not", SGDRegressor)
    refused(model, lambda t, c, v: c.update(y_spread=-1.0), "y_spread", SGDRegressor)


@pytest.mark.parametrize("dtype", [np.float16, np.int64, np.complex128])
def test_weights_of_a_type_that_nothing_learns(dtype):
    with pytest.raises(ValueError, match="does not fit the model: wa is "):
        SGDClassifier.from_model(
            tampered(learned(), lambda t, c, v: t.update(wa=t["wa"].astype(dtype)))
        )
