"""The answer for a row does not depend on what stands beside it, nor on how the row is held.

Bits are compared, of every learner in the registry. The order of the sums is checked against NumPy
in ``test_scores.py``.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import (
    check_methods_sample_order_invariance,
    check_methods_subset_invariance,
)

from separable import (
    LinearModel,
    LogisticRegression,
    Ridge,
    TableClassifier,
    TableEncoder,
    TableRegressor,
    load,
)
from tests.model.specimens import ENCODED, LEARNERS, encoder_specimen, short, target_of, task_of

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.*linearly separable:UserWarning"),
]

ROWS, COLUMNS = 61, 23
METHODS = ("predict", "decision_function", "predict_proba", "predict_log_proba", "transform")
CASES = [
    (name, k) for name in LEARNERS for k in ((2, 3) if task_of(name) == "classification" else (1,))
]
cases = pytest.mark.parametrize(("name", "n_classes"), CASES)


def matrix(rows: int, seed: int) -> np.ndarray:
    """Numbers >= 0 with many digits, a third of them 0: what naive Bayes takes too."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, 1.0, (rows, COLUMNS)) * np.exp(rng.normal(size=COLUMNS))
    X[rng.random(X.shape) < 0.3] = 0.0
    return X


@cache
def fitted(name: str, n_classes: int, sparse: bool = False) -> Any:
    X = matrix(45, 3)
    y = target_of(task_of(name), n_classes, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return short(LEARNERS[name]).fit(sp.csr_array(X) if sparse else X, y)


def answers(predictor: Any, X: Any) -> dict[str, np.ndarray]:
    """Return all that a learner or a model says of rows, one row an answer."""
    found = {}
    for method in METHODS:
        if method != "transform" and not hasattr(type(predictor), method):
            continue
        if hasattr(predictor, method) and not (method == "predict_proba" and no_shares(predictor)):
            found[method] = getattr(predictor, method)(X)
    if type(predictor).__name__ == "BayesianRegression":
        found["std"] = predictor.predict(X, return_std=True)[1]
    return found


def no_shares(predictor: Any) -> bool:
    return getattr(predictor, "link", None) in ("score", "identity") and (
        getattr(predictor, "calibration", None) is None
    )


def assert_same_bits(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    assert found.keys() == wanted.keys()
    for method, values in found.items():
        assert values.shape == wanted[method].shape, method
        assert values.tobytes() == wanted[method].tobytes(), method


def of_rows(found: dict[str, np.ndarray], rows: Any) -> dict[str, np.ndarray]:
    return {method: values[rows] for method, values in found.items()}


@cases
@pytest.mark.parametrize("sparse", [False, True])
def test_a_row_has_the_same_answer_in_every_batch(name: str, n_classes: int, sparse: bool) -> None:
    learner, X, rng = fitted(name, n_classes), matrix(ROWS, 5), np.random.default_rng(6)
    if sparse:
        X = sp.csr_array(X)
    whole = answers(learner, X)
    for row in range(0, ROWS, 4):
        assert_same_bits(answers(learner, X[[row]]), of_rows(whole, [row]))
    for size in (2, 3, 5, 8, 16, 33):
        rows = rng.permutation(ROWS)[:size]
        assert_same_bits(answers(learner, X[rows]), of_rows(whole, rows))
    order = rng.permutation(ROWS)
    assert_same_bits(answers(learner, X[order]), of_rows(whole, order))


def held_otherwise(X: np.ndarray) -> dict[str, Any]:
    """The same rows in other formats."""
    csr = sp.csr_array(X)
    wide = csr.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    strided = np.zeros((2 * len(X), 2 * COLUMNS))
    strided[::2, 1::2] = X
    place = np.tile(np.arange(COLUMNS)[::-1], len(X))  # from the last column to the first
    starts = np.arange(0, place.size + 1, COLUMNS)
    backwards = sp.csr_array((X[:, ::-1].ravel(), place, starts), shape=X.shape)
    halves = np.repeat(X.ravel() / 2, 2), np.repeat(np.tile(np.arange(COLUMNS), len(X)), 2)
    return {
        "Fortran": np.asfortranarray(X),
        "strided": strided[::2, 1::2],
        "csr, int32": csr,
        "csr, int64": wide,
        "csc": sp.csc_array(X),
        "csr, stored zeros": sp.csr_array((X.ravel(), place[::-1], starts), shape=X.shape),
        "csr, backwards": backwards,
        "csr, columns twice": sp.csr_array((*halves, 2 * starts), shape=X.shape),
    }


@cases
@pytest.mark.parametrize("learned_sparse", [False, True])
def test_a_row_has_the_same_answer_in_every_format(
    name: str, n_classes: int, learned_sparse: bool
) -> None:
    learner, X = fitted(name, n_classes, learned_sparse), matrix(ROWS, 7)
    whole = answers(learner, X)
    for form, other in held_otherwise(X).items():
        assert_same_bits(answers(learner, other), whole), form


@cases
def test_float32_is_taken_for_the_float64_it_is(name: str, n_classes: int) -> None:
    learner, X = fitted(name, n_classes), matrix(ROWS, 8).astype(np.float32)
    wanted = answers(learner, X.astype(np.float64))
    for other in (X, np.asfortranarray(X), sp.csr_array(X)):
        assert_same_bits(answers(learner, other), wanted)


@cases
def test_a_model_answers_as_its_learner_and_as_its_file(name, n_classes, tmp_path) -> None:
    learner, X = fitted(name, n_classes), matrix(ROWS, 9)
    model, whole = learner.model_, answers(learner, X)
    model.save(tmp_path / "model")
    for each in (model, load(tmp_path / "model")):
        found = answers(each, X)
        assert_same_bits(found, {method: whole.get(method, found[method]) for method in found})


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(
    "check", [check_methods_subset_invariance, check_methods_sample_order_invariance]
)
def test_scikit_learn_checks_of_invariance(name: str, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(LEARNERS[name].__name__, short(LEARNERS[name]))


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("learned_sparse", [False, True])
@pytest.mark.parametrize("n_train", [12, 45])
def test_a_predictive_deviation_belongs_to_its_row(n_train, learned_sparse, far) -> None:
    X, new, rng = matrix(n_train, 3), matrix(ROWS, 5), np.random.default_rng(1)
    if far:
        X[:, 4] += 1e6
        new[:, 4] += 1e6
    y = X @ np.arange(COLUMNS) + rng.normal(size=n_train)
    learner = LEARNERS["bayesian-regression"]().fit(sp.csr_array(X) if learned_sparse else X, y)
    whole = answers(learner, new)
    order = rng.permutation(ROWS)
    assert_same_bits(answers(learner, new[order]), of_rows(whole, order))
    for row in range(0, ROWS, 6):
        assert_same_bits(answers(learner, sp.csr_array(new[[row]])), of_rows(whole, [row]))
    for other in held_otherwise(new).values():
        assert_same_bits(answers(learner, other), whole)
    single = new.astype(np.float32)
    assert_same_bits(answers(learner, single), answers(learner, single.astype(np.float64)))


# --- encoders and records ---


def rows_of(data: Any, rows: Any) -> Any:
    """Return some rows of raw data, in the container they came in."""
    if isinstance(data, dict):
        return {name: [values[row] for row in rows] for name, values in data.items()}
    if isinstance(data, list):
        return [data[row] for row in rows]
    return data.iloc[rows] if hasattr(data, "iloc") else data[rows]


def count_rows(data: Any) -> int:
    if hasattr(data, "shape"):
        return data.shape[0]
    return len(next(iter(data.values())) if isinstance(data, dict) else data)


@pytest.mark.parametrize("n_classes", [0, 2, 4])
@pytest.mark.parametrize(
    ("kind", "way"), [(kind, way) for kind, ways in ENCODED.items() for way in ways]
)
def test_a_raw_row_has_the_same_answer_alone_and_in_a_table(kind, way, n_classes) -> None:
    specimen = encoder_specimen(kind, way, n_classes)
    model, data = specimen.model, specimen.data
    whole, n = answers(model, data), count_rows(data)
    order = np.random.default_rng(1).permutation(n).tolist()
    assert_same_bits(answers(model, rows_of(data, order)), of_rows(whole, order))
    for row in range(n):
        assert_same_bits(answers(model, rows_of(data, [row])), of_rows(whole, [row]))
        if isinstance(data, list) and isinstance(data[row], dict):
            assert model.predict_one(data[row]) == whole["predict"][row]


WORDS = [f"w{number}" for number in range(300)]


def long_records(n: int) -> list[dict[str, Any]]:
    """Records of several blocks of 4096 columns, not all of them complete."""
    rng = np.random.default_rng(2)
    return [
        {
            "age": None if rng.random() < 0.1 else float(rng.normal(40, 12)),
            "pay": float(rng.lognormal(7, 1)),
            "city": ["Rome", "Oslo", "Bern", None][rng.integers(4)],
            "note": " ".join(rng.choice(WORDS, rng.integers(1, 60))),
            "title": " ".join(rng.choice(WORDS, 5)),
        }
        for _ in range(n)
    ]


def test_predict_one_has_the_bits_of_a_long_row_in_a_table() -> None:
    records = long_records(40)
    texts = {"note": {"n_features": 2**14}, "title": {"n_features": 2**13}}
    encoder = TableEncoder(number=["age", "pay"], category=["city"], text=texts).fit(records)
    weights = np.random.default_rng(3).normal(size=(1, len(encoder.feature_names)))
    model = LinearModel(weights, [0.1], None, "identity", encoder=encoder)
    whole = model.predict(records)
    assert [model.predict_one(record) for record in records] == whole.tolist()
    assert [model.predict([record])[0] for record in records] == whole.tolist()
    assert encoder.encode_one(records[0]) is not None


def test_predict_one_refuses_what_overflows_as_a_table_does() -> None:
    records = [{"a": 1e200}, {"a": 2.0}]
    encoder = TableEncoder(number=["a"], scale=False).fit(records)
    model = LinearModel([[1e200]], [0.0], None, "identity", encoder=encoder)
    for predict in (model.predict_one, lambda record: model.predict([record])):
        with pytest.raises(ValueError, match="score of row 0 overflows float64"):
            predict(records[0])
    assert model.predict_one(records[1]) == 2e200


@pytest.mark.parametrize("learner", [TableClassifier, TableRegressor])
def test_a_learner_of_tables_answers_each_record_alone(learner) -> None:
    records = long_records(60)
    is_classifier = learner is TableClassifier
    y = ["yes" if len(each["note"]) > 90 else "no" for each in records]
    target = y if is_classifier else [len(each["note"]) / 7 for each in records]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = learner(LogisticRegression() if is_classifier else Ridge()).fit(records, target)
    whole = answers(fitted, records)
    for row in range(0, 60, 7):
        assert_same_bits(answers(fitted, [records[row]]), of_rows(whole, [row]))
        assert fitted.model_.predict_one(records[row]) == whole["predict"][row]
