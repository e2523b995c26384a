"""Bad input ends in a message that says where and what to do."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from separable import AveragedPerceptron, Perceptron, SGDClassifier, SGDRegressor

pytestmark = pytest.mark.native

X = np.arange(12.0).reshape(4, 3)
y = [0, 1, 0, 1]


def hole(value, where=(2, 1), cast=np.asarray):
    bad = X.copy()
    bad[where] = value
    return cast(bad)


def out_of_range():
    bad = sp.csr_array(X)
    bad.indices = bad.indices.copy()
    bad.indices[-1] = 99
    return bad


CASES = {
    "NaN": (hole(np.nan), y, r"NaN in row 2, column 1: fill missing values"),
    "NaN sparse": (hole(np.nan, cast=sp.csr_array), y, r"NaN in row 2, column 1"),
    "inf": (hole(-np.inf), y, r"infinity in row 2, column 1"),
    "NaN named": (
        pd.DataFrame(hole(np.nan), columns=["a", "b", "c"]),
        y,
        r"NaN in row 2, column 'b'",
    ),
    "one class": (X, [1, 1, 1, 1], r"at least two classes.*only one class: 1"),
    "empty": (np.empty((0, 3)), [], r"0 sample"),
    "no features": (np.empty((4, 0)), y, r"0 feature"),
    "1-d": (X[0], [1], r"Reshape your data"),
    "3-d": (X[None], [1], r"got 3D array"),
    "lengths": (X, [0, 1], r"X has 4 rows, y has 2"),
    "y NaN": (X, [0, 1, np.nan, 0], r"y contains NaN.*row 2"),
    "y None": (X, np.array(["a", None, "b", "a"], dtype=object), r"missing value.*row 1"),
    "y mixed": (X, np.array(["a", 1, "b", "a"], dtype=object), r"mixes text and other values"),
    "y continuous": (X, [0.1, 0.7, 0.3, 0.2], r"Unknown label type"),
    "no y": (X, None, r"requires y to be passed"),
    "complex": (X + 1j, y, r"Complex data not supported"),
    "index out of range": (out_of_range(), y, r"column index 99 in row 3, outside 0 ... 2"),
    "pandas text": (
        pd.DataFrame({"size": [1, 2, 3, 4], "colour": list("rgbr")}),
        y,
        r"Column 'colour' holds text.*'r'.*TableEncoder",
    ),
    "polars text": (
        pl.DataFrame({"size": [1, 2, 3, 4], "colour": list("rgbr")}),
        y,
        r"Column 'colour' holds text.*TableEncoder",
    ),
    "arrow text": (
        pa.table({"size": [1, 2, 3, 4], "colour": list("rgbr")}),
        y,
        r"Column 'colour' holds text.*'r'.*TableEncoder",
    ),
    "pandas dates": (
        pd.DataFrame({"t": pd.to_datetime(["2020-01-01", None] * 2)}),
        y,
        r"Column 't' holds dates or times \(datetime64.*days since",
    ),
    "polars dates": (
        pl.DataFrame({"t": [dt.date(2020, 1, 1)] * 4}),
        y,
        r"Column 't' holds dates or times",
    ),
    "numpy dates": (
        np.full((4, 1), np.datetime64("2020-01-01")),
        y,
        r"holds dates or times \(datetime64",
    ),
    "pandas NA": (
        pd.DataFrame({"a": pd.array([1, None, 3, 4], dtype="Int64")}),
        y,
        r"NaN in row 1, column 'a': fill missing values",
    ),
    "masked": (np.ma.masked_equal(X, 4.0), y, r"masked array with missing entries"),
    "strings": (np.array([["a", "b"]] * 4), y, r"holds text.*'a'.*TableEncoder"),
    "objects": (
        np.array([[1, 2], [3, "x"], [1, 1], [2, 2]], dtype=object),
        y,
        r"'1' holds text.*'x' in row 1",
    ),
}


@pytest.mark.parametrize("cls", [Perceptron, SGDClassifier])
@pytest.mark.parametrize("name", CASES)
def test_message(name, cls):
    data, target, message = CASES[name]
    for method in ("fit", "partial_fit"):
        if name == "one class" and method == "partial_fit":
            continue
        with pytest.raises(ValueError, match=message):
            getattr(cls(), method)(data, target)


@pytest.mark.parametrize("name", [n for n in CASES if n != "one class" and n[:2] != "y "])
def test_message_of_a_regressor(name):
    data, target, message = CASES[name]
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=message):
            getattr(SGDRegressor(), method)(data, target)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ([0, 1, np.nan, 0], r"NaN.*row 2"),
        ([0, 1, -np.inf, 0], r"inf.*row 2"),
        (list("abab"), r"numbers|text"),
    ],
)
def test_numbers_to_predict(target, message):
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=message):
            getattr(SGDRegressor(), method)(X, target)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1, -2, 1], r"row 2 has -2.0.*Use 0"),
        ([1, np.nan, 1, 1], r"row 1 has nan"),
        ([1, 1], r"2 entries, X has 4 rows"),
        ([[1, 1], [1, 1]], r"must be 1D"),
        ([0, 0, 0, 0], r"weight is zero"),
        ([1, 0, 1, 0], r"only one class: 0"),
    ],
)
@pytest.mark.parametrize("cls", [Perceptron, SGDClassifier])
def test_weights(weight, message, cls):
    with pytest.raises(ValueError, match=message):
        cls().fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("cls", [Perceptron, AveragedPerceptron])
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("eta0", 0, "a finite float > 0"),
        ("eta0", np.inf, "a finite float > 0"),
        ("max_iter", 0, "an int >= 1"),
        ("max_iter", 2.5, "an int >= 1"),
        ("max_work", -1, "a float > 0"),
        ("shuffle", "yes", "a bool"),
        ("multi_class", "both", "'ovr' or 'argmax'"),
        ("class_weight", "even", "None, 'balanced' or a dict"),
        ("random_state", -1, "None, an int >= 0"),
    ],
)
def test_parameters(cls, name, value, words):
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=rf"The '{name}' parameter of {cls.__name__} must be"):
            getattr(cls(**{name: value}), method)(X, y)
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        cls(**{name: value}).fit(X, y)


@pytest.mark.parametrize("cls", [SGDClassifier, SGDRegressor])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("loss", "zero_one"), ("penalty", "l3"), ("alpha", -1e-9), ("alpha", np.nan),
        ("l1_ratio", 1.5), ("fit_intercept", "yes"), ("max_iter", 0), ("tol", -1.0),
        ("epsilon", -0.1), ("learning_rate", "slow"), ("eta0", 0.0), ("eta0", np.inf),
        ("power_t", np.nan), ("validation_fraction", 1.0), ("n_iter_no_change", 0),
        ("average", -1), ("random_state", -1), ("warm_start", 1.5), ("early_stopping", None),
    ],
)  # fmt: skip
def test_parameters_of_sgd(cls, name, value):
    for method in ("fit", "partial_fit"):
        learner = cls(**{name: value})
        with pytest.raises(ValueError, match=rf"The '{name}' parameter of {cls.__name__} must be"):
            getattr(learner, method)(X, y)
        assert not hasattr(learner, "coef_")


def test_losses_of_classes_are_not_for_numbers():
    with pytest.raises(ValueError, match=r"'loss' parameter of SGDRegressor must be.*'hinge'"):
        SGDRegressor("hinge").fit(X, y)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.array([[1e38, 1e38], [1e38, -1e38], [3, 4]], dtype=np.float32), "float32"),
        (np.array([[1e200, 1e200], [1e200, -1e200], [3, 4]]), "float64"),
    ],
)
@pytest.mark.parametrize("rule", ["ovr", "argmax"])
def test_overflow(data, message, rule):
    for labels in ([1, 0, 1], [1, 0, 2]):
        learner = Perceptron(multi_class=rule, shuffle=False)
        with pytest.raises(
            ValueError, match=rf"row \d overflowed.*{message}.*[Ss]cale the columns"
        ):
            learner.fit(data, labels)
        assert not hasattr(learner, "model_")


@pytest.mark.parametrize("bad", [np.ones((1, 4)), [[1.0, np.nan, 3.0]]])
def test_failed_fit_keeps_the_previous_model(bad):
    learner = Perceptron().fit(X, [0, 0, 1, 1])
    before = learner.coef_.copy()
    with pytest.raises(ValueError, match=r"NaN|classes"):
        learner.fit(bad, [1])
    np.testing.assert_array_equal(learner.coef_, before)


def test_predict_with_too_few_features():
    learner = Perceptron().fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="X has 2 features, but Perceptron is expecting 3"):
        learner.predict(X[:, :2])
    with pytest.raises(ValueError, match="X has 2 features"):
        learner.partial_fit(X[:, :2], y)


def test_start_of_wrong_shape():
    with pytest.raises(ValueError, match=r"coef_init must be finite and of shape \(1, 3\)"):
        Perceptron().fit(X, y, coef_init=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"coef_init must be .* shape \(3, 3\), got \(9,\)"):
        Perceptron().fit(X, [0, 1, 2, 0], coef_init=np.arange(9.0))


@pytest.mark.parametrize("eta0", [1e-50, 1e50])
def test_learning_rate_that_float32_cannot_hold(eta0):
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=r"'eta0' .* must be a number that float32.*can hold"):
            getattr(Perceptron(eta0=eta0), method)(X.astype(np.float32), y)


def test_weight_of_a_class_that_does_not_exist():
    with pytest.raises(ValueError, match=r"class_weight names 9, which is not among .*\[0, 1\]"):
        Perceptron(class_weight={0: 1.0, 9: 2.0}).fit(X, y)
    with pytest.raises(ValueError, match="class_weight must be finite and >= 0"):
        Perceptron(class_weight={0: -1.0}).fit(X, y)


def test_weights_beyond_exact_counting():
    with pytest.raises(ValueError, match=r"weight of row 2 is 1e\+19; at most 2\^53"):
        Perceptron().fit(X, y, sample_weight=[1, 1, 1e19, 1])


def test_parameters_that_change_in_a_stream():
    stream = Perceptron().partial_fit(X, y)
    with pytest.raises(ValueError, match="'eta0' parameter"):
        stream.set_params(eta0=-3.0).partial_fit(X, y)
    with pytest.raises(ValueError, match=r"multi_class was 'ovr'.*cannot become 'argmax'"):
        stream.set_params(eta0=1.0, multi_class="argmax").partial_fit(X, y)
    with pytest.raises(ValueError, match="'balanced' needs all rows"):
        AveragedPerceptron(class_weight="balanced").fit(X, y).partial_fit(X, y)


def test_pocket_has_no_streams():
    assert not hasattr(Perceptron(pocket=True), "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        Perceptron(pocket=True).partial_fit(X, y)


def test_value_that_the_type_of_the_stream_cannot_hold():
    stream = Perceptron().partial_fit(X.astype(np.float32), y)
    with pytest.raises(ValueError, match=r"began in float32, which cannot hold 1e\+300"):
        stream.partial_fit(np.full((1, 3), 1e300), [0])


def test_labels_that_change_type():
    stream = Perceptron().partial_fit(X, y)
    with pytest.raises(ValueError, match="labels changed type"):
        stream.partial_fit(X, list("abab"))
