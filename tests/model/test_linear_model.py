from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from separable.model.linear_model import LinearModel, TrainingState


def model(**changes: Any) -> LinearModel:
    given: dict[str, Any] = {
        "weights": [[4, 2]],
        "intercept": [-3],
        "classes": ["ham", "spam"],
        "link": "score",
        "feature_names": ["free", "money"],
        "learner": "Perceptron",
    }
    return LinearModel(**(given | changes))


def test_is_frozen_and_its_arrays_are_read_only_copies() -> None:
    weights = np.ones((1, 2))
    m = model(weights=weights, state=TrainingState({"sum": np.zeros(2)}, {"t": np.int64(3)}))
    weights[0, 0] = 99
    assert m.weights.tolist() == [[1, 1]]
    for array in (m.weights, m.intercept, m.classes, m.state.tensors["sum"]):
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 0
    with pytest.raises(AttributeError):
        m.link = "softmax"
    assert type(m.state.values["t"]) is int


def test_read_only_arrays_are_not_copied() -> None:
    weights = np.ones((1, 2))
    weights.setflags(write=False)
    assert model(weights=weights).weights is weights


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_through_pickle_and_deepcopy_stay_frozen(clone: Any) -> None:
    m = model(parameters={"a": [1, None]}, state=TrainingState({"s": np.arange(3)}, {"t": 1}))
    other = clone(m)
    assert other is not m
    np.testing.assert_array_equal(other.weights, m.weights)
    assert other.parameters == m.parameters
    assert other.feature_names == m.feature_names
    assert not other.weights.flags.writeable
    assert not other.state.tensors["s"].flags.writeable
    assert other.predict([[1, 1]]).tolist() == ["spam"]


def test_numpy_values_in_parameters_and_evidence_become_plain() -> None:
    m = model(
        parameters={"C": np.float32(0.5), "on": np.bool_(True), "init": np.array([1, 2])},
        evidence={"mistakes": (np.int32(3), 4), "margin": np.float64("nan")},
    )
    assert m.parameters == {"C": 0.5, "on": True, "init": [1, 2]}
    assert type(m.parameters["on"]) is bool
    assert m.evidence["mistakes"] == [3, 4]
    assert np.isnan(m.evidence["margin"])


def test_binary_scores_and_classes_and_zero_is_the_first_class() -> None:
    m = model(weights=[[1, -1]], intercept=[0])
    X = [[2, 1], [1, 1], [1, 2]]
    assert m.decision_function(X).tolist() == [1, 0, -1]
    assert m.predict(X).tolist() == ["spam", "ham", "ham"]


def test_multiclass_takes_the_first_of_equal_scores() -> None:
    m = model(weights=np.eye(3), intercept=np.zeros(3), classes=[10, 20, 30], feature_names=None)
    assert m.decision_function([[1, 2, 3]]).tolist() == [[1, 2, 3]]
    assert m.predict([[1, 2, 3], [5, 5, 0], [0, 0, 0], [-1, 4, 4]]).tolist() == [30, 10, 10, 20]


def test_one_class_is_always_the_answer() -> None:
    m = model(classes=[7])
    assert m.predict([[1, 1], [-9, -9]]).tolist() == [7, 7]
    assert m.decision_function([[1, 1]]).shape == (1,)
    assert model(classes=[7], link="logistic").predict_proba([[1, 1]]).tolist() == [[1.0]]


def test_regression_returns_numbers() -> None:
    one = model(classes=None, link="identity")
    assert one.predict([[1, 1]]).tolist() == [3]
    two = model(weights=[[1, 0], [0, 2]], intercept=[0, 1], classes=None, link="identity")
    assert two.predict([[3, 4]]).tolist() == [[3, 9]]


def test_logistic_probabilities_of_two_classes() -> None:
    m = model(weights=[[1]], intercept=[0], link="logistic", feature_names=None)
    p = m.predict_proba([[0.0], [np.log(3)], [800.0], [-800.0], [1e300]])
    np.testing.assert_allclose(p, [[0.5, 0.5], [0.25, 0.75], [0, 1], [1, 0], [0, 1]], rtol=1e-15)


def test_logistic_probabilities_of_more_classes_are_normalised_sigmoids() -> None:
    m = model(
        weights=np.eye(3), intercept=np.zeros(3), classes=[0, 1, 2], link="logistic",
        feature_names=None,
    )  # fmt: skip
    odds = np.array([1.0, 3.0, 0.25])
    sigmoids = odds / (1 + odds)
    p = m.predict_proba([np.log(odds), [-1000.0, -1000.0, -1001.0]])
    np.testing.assert_allclose(p[0], sigmoids / sigmoids.sum(), rtol=1e-14)
    # every sigmoid there rounds to 0, yet their ratios are 1 : 1 : 1/e
    np.testing.assert_allclose(p[1], np.array([1, 1, np.exp(-1)]) / (2 + np.exp(-1)), rtol=1e-14)


def test_softmax_probabilities_do_not_overflow() -> None:
    m = model(
        weights=np.eye(3), intercept=np.zeros(3), classes=[0, 1, 2], link="softmax",
        feature_names=None,
    )  # fmt: skip
    p = m.predict_proba([np.log([1.0, 2.0, 5.0]), [1e308, -1e308, 0.0]])
    np.testing.assert_allclose(p, [[0.125, 0.25, 0.625], [1, 0, 0]], rtol=1e-14)
    binary = model(weights=[[1]], intercept=[0], link="softmax", feature_names=None)
    np.testing.assert_allclose(binary.predict_proba([[np.log(4)]]), [[0.2, 0.8]], rtol=1e-14)


def test_no_probabilities_names_the_link_and_the_way_out() -> None:
    with pytest.raises(
        AttributeError, match=r"Perceptron model has no predict_proba.*'score'.*decision_function"
    ):
        model().predict_proba([[1, 1]])
    with pytest.raises(AttributeError, match=r"'identity'.*Use predict"):
        model(classes=None, link="identity").predict_proba([[1, 1]])


def test_same_scores_from_every_kind_of_input() -> None:
    m = model()
    dense = np.array([[1.0, 0.0], [0.0, 0.0], [2.0, 3.0]])
    inputs = [
        dense.tolist(),
        dense.astype(np.float32),
        np.asfortranarray(dense),
        dense.astype(int),
        sp.csr_matrix(dense),
        sp.csc_array(dense.astype(np.float32)),
        pd.DataFrame(dense, columns=["free", "money"]),
    ]
    for X in inputs:
        np.testing.assert_array_equal(m.decision_function(X), [1, -3, 11])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": [4, 2]}, r"weights must have shape \(k, d\). Got shape \(2,\)"),
        ({"weights": [["a", "b"]]}, "weights must be numbers"),
        ({"weights": [[4, np.nan]]}, r"weights must be finite. Found nan at \[0, 1\]"),
        ({"intercept": [np.inf]}, r"intercept must be finite. Found inf at \[0\]"),
        ({"intercept": [1, 2]}, "intercept must have one number for each of 1 rows.*Got 2"),
        ({"weights": np.zeros((1, 0))}, "at least one row and one column"),
        ({"weights": np.zeros((0, 2)), "intercept": []}, "at least one row and one column"),
        (
            {"weights": np.zeros((2, 2)), "intercept": [0, 0]},
            "must have 1 rows for 2 classes.*Got 2",
        ),
        ({"classes": [1, 2, 3]}, "must have 3 rows for 3 classes.*Got 1"),
        ({"classes": ["spam", "ham"]}, "sorted and unique. Found 'spam' before 'ham'"),
        ({"classes": [1, 1]}, "sorted and unique"),
        ({"classes": []}, r"Got shape \(0,\)"),
        ({"classes": [[1, 2]]}, r"Got shape \(1, 2\)"),
        ({"classes": [0.0, np.nan]}, "classes must be finite"),
        ({"classes": [b"a", b"b"]}, r"bool, int, float or str. Got dtype \|S1"),
        ({"classes": np.array(["a", 1], dtype=object)}, "all of one type. Found int, str"),
        ({"classes": np.array(["a", "a\0"], dtype=object)}, "ends in a zero character"),
        ({"link": "probit"}, "link must be one of .*Got 'probit'"),
        ({"link": "identity"}, "Got 'identity' with classes"),
        ({"classes": None}, "Got 'score' without classes"),
        ({"family": "other"}, "family must be None or one of.*Got 'other'"),
        ({"learner": 3}, "learner must be text"),
        ({"feature_names": ["a"]}, "one name for each of 2 features. Got 1"),
        ({"feature_names": ["a", 2]}, r"feature_names\[1\] must be a str. Got 2"),
        ({"feature_names": "ab"}, "Got one str"),
        ({"feature_names": ["a", "\ud800"]}, r"feature_names\[1\].*not valid Unicode"),
        ({"parameters": {"f": object()}}, r"parameters\['f'\] is a object"),
        ({"evidence": {1: 2}}, "evidence has the key 1, but keys must be str"),
        ({"state": {}}, "state must be a TrainingState. Got dict"),
    ],
)
def test_wrong_pieces_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model(**changes)


def test_long_labels_are_refused_before_numpy_widens_all_of_them() -> None:
    labels = np.array([*(f"{i:04d}" for i in range(2000)), "z" * 50_000], dtype=object)
    with pytest.raises(ValueError, match=r"2001 classes as long as.*Shorten the labels"):
        LinearModel(np.zeros((2001, 1)), np.zeros(2001), labels, "score")


@pytest.mark.parametrize(
    ("classes", "dtype"),
    [
        (np.array(["a", "b"], dtype=object), "<U1"),
        (np.array([False, True], dtype=object), "bool"),
        (np.array([1, 2], dtype=object), "int64"),
        (np.array([1, 2], dtype=np.int8), "int8"),
        (np.array([1, 2], dtype=">i4"), "int32"),
        ([0.5, 1.5], "float64"),
    ],
)
def test_classes_keep_or_find_their_type(classes: Any, dtype: str) -> None:
    m = model(classes=classes)
    assert m.classes.dtype == np.dtype(dtype)
    assert m.predict([[9, 9]]).dtype == np.dtype(dtype)


def test_encoder_brings_its_names(toy_encoder: Any) -> None:
    encoder = toy_encoder(("Dream", "Torgersen"), 2.0)
    m = model(weights=[[1, 2, 3]], encoder=encoder, feature_names=None)
    assert m.feature_names == ("size", "island=Dream", "island=Torgersen")
    records = [{"size": 4, "island": "Dream"}, {"size": 2, "island": "elsewhere"}]
    assert m.decision_function(records).tolist() == [2 + 2 - 3, 1 - 3]
    assert m.decision_function(np.array([[2.0, 1.0, 0.0]])).tolist() == [1]  # encoded already
    with pytest.raises(ValueError, match="feature_names must be those of the encoder"):
        model(weights=[[1, 2, 3]], encoder=encoder, feature_names=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"encoder.sources must name the raw column of each of 2"):
        model(encoder=encoder, feature_names=None)


def test_repr_is_short() -> None:
    assert repr(model()) == "LinearModel(Perceptron, 2 features, 2 classes, link='score')"


def calibrated(**changes):
    given = {
        "weights": [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
        "intercept": [0.0, 0.5, -0.5],
        "classes": ["a", "b", "c"],
        "link": "score",
        "calibration": [[2.0, 0.0], [1.0, -1.0], [0.0, 0.5]],
    }
    return LinearModel(**{**given, **changes})


def test_a_calibration_makes_probabilities_of_scores():
    model = calibrated()
    X = np.array([[1.0, -1.0], [0.0, 3.0]])
    odds = model.decision_function(X) * [2.0, 1.0, 0.0] + [0.0, -1.0, 0.5]
    shares = 1 / (1 + np.exp(-odds))
    np.testing.assert_allclose(
        model.predict_proba(X), shares / shares.sum(axis=1, keepdims=True), rtol=1e-14
    )
    two = calibrated(weights=[[1.0, 2.0]], intercept=[0.0], classes=[0, 1], calibration=[[3, -1]])
    expected = 1 / (1 + np.exp(-(3 * 5.0 - 1)))
    np.testing.assert_allclose(two.predict_proba([[1, 2]]), [[1 - expected, expected]], rtol=1e-9)
    assert two.predict([[1, 2]]).tolist() == [1]
    assert np.isfinite(calibrated(calibration=[[1e300, 0]] * 3).predict_proba([[-1e9, -1e9]])).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"calibration": [[1.0, 0.0]]}, r"slope and offset of each of 3 scores, shape \(3, 2\)"),
        ({"calibration": [[1, 0], [-1, 0], [1, 0]]}, "slopes >= 0: a larger score is more likely"),
        ({"calibration": [[1, np.nan]] * 3}, "calibration must be finite"),
        ({"link": "logistic"}, "calibration is for scores, link 'score'. The link is 'logistic'"),
        ({"classes": None, "link": "identity"}, "The link is 'identity'"),
    ],
)
def test_calibrations_that_cannot_be(changes, message):
    with pytest.raises(ValueError, match=message):
        calibrated(**changes)


def test_a_calibration_is_saved_pickled_and_not_merged(tmp_path):
    from separable import load

    model = calibrated(family="online")
    model.save(tmp_path / "model")
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.calibration, model.calibration)
        np.testing.assert_array_equal(
            again.predict_proba(np.eye(2)), model.predict_proba(np.eye(2))
        )
    with pytest.raises(ValueError, match="Models with a calibration cannot be merged"):
        model.merge(model, weights=[1, 1])
