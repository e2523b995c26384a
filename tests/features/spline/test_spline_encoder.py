"""SplineEncoder: the matrix of SplineTransformer, and curves that np.interp draws."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

import separable
from separable import LinearModel, LogisticRegression, Ridge, SplineEncoder


def a_column(n=500, seed=0):
    return np.random.default_rng(seed).gamma(2.0, 10.0, n)


def curve_of(column, weights, x):
    """Return the curve of a fitted column, by NumPy's interpolation."""
    if column.period:
        knots = np.concatenate([column.knots, column.knots[:1] + column.period])
        x = (np.asarray(x) - knots[0]) % column.period + knots[0]
        return np.interp(x, knots, np.append(weights, weights[0]))
    return np.interp(x, column.knots, weights)


@pytest.mark.parametrize("continuation", ["constant", "linear"])
def test_the_matrix_is_that_of_scikit_learn(continuation):
    X = np.column_stack([a_column(seed=s) for s in range(3)])
    encoder = SplineEncoder(8, continuation=continuation).fit(X)
    new = np.column_stack([np.linspace(-20, 300, 200)] * 3)
    matrix = encoder.transform(new)
    first = 0
    for at, column in enumerate(encoder.columns_):
        theirs = SplineTransformer(
            knots=column.knots[:, None], degree=1, extrapolation=continuation
        ).fit(column.knots[:, None])
        expected = theirs.transform(new[:, [at]])
        ours = matrix[:, first : first + column.width].toarray()
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-13)
        first += column.width
    assert matrix.shape[1] == first


@given(st.integers(2, 12), st.integers(2, 60), st.booleans(), st.integers(0, 2**32 - 1))
def test_a_model_draws_the_interpolated_curve(n_knots, n, periodic, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4)
    period = float(np.ptp(values) * rng.uniform(0.3, 2))
    encoder = SplineEncoder(n_knots, periods={0: period} if periodic else None)
    encoder.fit(values[:, None])
    (column,) = encoder.columns_
    weights = rng.normal(size=column.width)
    x = np.concatenate([values, rng.normal(size=50) * 3 * values.std(), column.knots])
    found = encoder.transform(x[:, None]) @ weights
    np.testing.assert_allclose(found, curve_of(column, weights, x), rtol=1e-7, atol=1e-7)


def test_knots_are_quantiles_between_the_tails():
    values = np.arange(50_000.0)
    (column,) = SplineEncoder().fit(values[:, None]).columns_
    expected = np.quantile(values[49:49_950], np.linspace(0, 1, 32))
    np.testing.assert_allclose(column.knots, expected, atol=1.0)
    assert (column.knots[0], column.knots[-1]) == (49.0, 49_949.0)


def test_a_frequent_value_has_a_knot_and_takes_none_from_the_others():
    rng = np.random.default_rng(1)
    gains = np.where(rng.random(5000) < 0.9, 0.0, rng.uniform(100, 5000, 5000))
    (column,) = SplineEncoder(10).fit(gains[:, None]).columns_
    assert column.knots[0] == 0.0
    others = np.quantile(gains[gains > 0], np.linspace(0, 1, 10))
    np.testing.assert_allclose(column.knots[1:-1], others[:-1], rtol=0.05)


@pytest.mark.parametrize("distinct", [2, 3, 4, 32])
def test_few_values_are_all_knots(distinct):
    values = np.arange(100.0) % distinct
    encoder = SplineEncoder().fit(values[:, None])
    np.testing.assert_array_equal(encoder.columns_[0].knots, np.arange(distinct))
    np.testing.assert_array_equal(
        encoder.transform(values[:, None]).toarray(), np.eye(distinct)[values.astype(int)]
    )


def test_outliers_do_not_move_the_curve_nor_explode():
    x = np.concatenate([np.linspace(0, 1, 5000), [1e9, -1e9]])
    y = np.concatenate([np.sin(6 * np.linspace(0, 1, 5000)), [0.0, 0.0]])
    encoder = SplineEncoder().fit(x[:, None])
    model = Ridge(alpha=0.1).fit(encoder.transform(x[:, None]), y)
    far = encoder.transform([[1e9], [-1e300], [1.7e308]])
    assert np.abs(model.predict(far)).max() < 1.5
    inside = model.predict(encoder.transform(x[:5000, None]))
    assert np.abs(inside - y[:5000])[50:-50].max() < 0.05


def test_missing_values_are_a_level_if_training_had_them():
    frame = pd.DataFrame({"a": [1.0, 2.0, np.nan, 4.0], "b": [1.0, 2.0, 3.0, 4.0]})
    encoder = SplineEncoder().fit(frame)
    names = ("a[<2]", "a[1-4]", "a[>2]", "a=(missing)", "b[<2]", "b[1-3]", "b[2-4]", "b[>3]")
    assert encoder.feature_names == names
    assert encoder.sources == ("a",) * 4 + ("b",) * 4
    row = encoder.transform(pd.DataFrame({"a": [np.nan], "b": [np.nan]})).toarray()
    np.testing.assert_array_equal(row, [[0, 0, 0, 1, 0, 0, 0, 0]])
    assert encoder.transform(frame).nnz == 8  # no explicit zeros


def test_columns_that_do_not_vary():
    table = {"x": [1.0, 2.0, 3.0], "one": [7, 7, 7], "gone": [None] * 3, "some": [5, None, 5]}
    with pytest.warns(UserWarning, match="Columns without a curve.*'one', 'gone', 'some'"):
        encoder = SplineEncoder().fit(table)
    assert encoder.feature_names[3:] == ("gone=(missing)", "some=(missing)")
    matrix = encoder.transform({"x": [9], "one": [8], "gone": [1], "some": [None]}).toarray()
    np.testing.assert_array_equal(matrix, [[0, 0, 1, 0, 1]])
    with pytest.raises(ValueError, match="No column has two different values"):
        SplineEncoder().fit([[1.0], [1.0]])


def test_a_cycle_is_closed():
    hours = np.arange(240) % 24
    encoder = SplineEncoder(periods={"hour": 24}).fit({"hour": hours})
    assert encoder.feature_names[:2] == ("hour[23-1]", "hour[0-2]")
    matrix = encoder.transform({"hour": [23.25, -0.75, 47.25, 24.0, 0.0]}).toarray()
    np.testing.assert_array_equal(matrix[0], matrix[1])
    np.testing.assert_array_equal(matrix[0], matrix[2])
    np.testing.assert_array_equal(matrix[3], matrix[4])
    assert matrix[0, [23, 0]].tolist() == [0.75, 0.25]
    sparse = encoder.transform({"hour": [23.25, 1.5]})
    assert sparse.has_sorted_indices
    tiny = encoder.transform({"hour": [-1e-20]}).toarray()
    np.testing.assert_allclose(tiny, matrix[3:4], atol=1e-15)


def test_names_are_short_different_and_readable():
    encoder = SplineEncoder(3).fit({"t": [-5.0, -3.0, 4.0], "u": [1e-7, 1.0000001, 1.0000002]})
    assert encoder.feature_names[:3] == ("t[<-3]", "t[-5 to 4]", "t[>-3]")
    assert encoder.feature_names[3:] == ("u[<1.0000001]", "u[1e-07 to 1.0000002]", "u[>1.0000001]")


@given(st.lists(st.integers(0, 40), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_parts_of_the_rows_give_the_encoder_of_all(sizes, seed):
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=(size + 3, 2)).round(2) for size in sizes]
    parts[0][0, 0] = np.nan
    whole = SplineEncoder(5, periods={1: 1.5}).fit(np.vstack(parts))
    fed = clone(whole)
    merged = clone(whole).partial_fit(parts[-1])
    for part in parts:
        fed.partial_fit(part)
    for part in parts[:-1]:
        merged = merged.merge(clone(whole).partial_fit(part))
    for made in (fed, merged):
        for one, other in zip(made.columns_, whole.columns_, strict=True):
            np.testing.assert_array_equal(one.knots, other.knots)
            assert one.missing == other.missing


def test_encoders_that_cannot_be_merged():
    one = SplineEncoder().fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match="'n_knots' differs, 32 and 8"):
        one.merge(SplineEncoder(8).fit([[1.0], [2.0]]))
    with pytest.raises(ValueError, match="expecting 1 features"):
        one.merge(SplineEncoder().fit([[1.0, 2.0], [2.0, 3.0]]))
    loaded = SplineEncoder.from_parts(*one.to_parts())
    with pytest.raises(ValueError, match="has the knots but not the counts"):
        loaded.partial_fit([[3.0]])


TABLES = {
    "dict": lambda a, b: {"a": a, "b": b},
    "pandas": lambda a, b: pd.DataFrame({"a": a, "b": b}),
    "arrow": lambda a, b: pa.table({"a": a, "b": b}),
    "texts": lambda a, b: {"a": [repr(float(x)) for x in a], "b": b},
    "records": lambda a, b: [{"a": x, "b": y} for x, y in zip(a, b, strict=True)],
}


@pytest.mark.parametrize("table", TABLES)
def test_tables_of_every_kind(table):
    a, b = a_column(40), np.arange(40) % 5
    expected = SplineEncoder(6).fit_transform(np.column_stack([a, b])).toarray()
    made = SplineEncoder(6).fit(TABLES[table](a, b))
    np.testing.assert_array_equal(made.transform(TABLES[table](a, b)).toarray(), expected)
    assert list(made.feature_names_in_) == ["a", "b"]
    dense = SplineEncoder(6, sparse_output=False).fit_transform(TABLES[table](a, b))
    np.testing.assert_array_equal(dense, expected)


def test_one_record_has_the_score_of_its_table():
    rng = np.random.default_rng(3)
    table = {"a": [*a_column(60).tolist(), None], "hour": rng.integers(0, 24, 61).tolist()}
    encoder = SplineEncoder(7, periods={"hour": 24}).fit(table)
    weights = rng.normal(size=(1, len(encoder.feature_names)))
    model = LinearModel(weights, [0.5], None, "identity", encoder=encoder)
    for record in ({"a": 12.5, "hour": 23}, {"a": None, "hour": -1}, {"a": 1e9, "hour": 7.5}):
        pairs = dict(encoder.encode_one(record))
        row = encoder.transform([record]).toarray()[0]
        assert pairs == {at: value for at, value in enumerate(row.tolist()) if value}
        assert model.predict([record])[0] == model.predict([record, record])[0]


def test_explanations_add_up_by_raw_column(tmp_path):
    frame = pd.DataFrame({"age": a_column(200), "pay": a_column(200, 1)})
    y = np.sin(frame["age"] / 10) + frame["pay"] / 30
    encoder = SplineEncoder(8).fit(frame)
    learned = Ridge(alpha=0.1).fit(encoder.transform(frame), y).model_
    model = LinearModel(learned.weights, learned.intercept, None, "identity", encoder=encoder)
    parts = model.explain(frame).by_column()
    assert list(parts) == ["age", "pay"]
    total = parts["age"] + parts["pay"] + learned.intercept
    np.testing.assert_allclose(total, model.predict(frame))
    (age, pay), weights = encoder.columns_, learned.weights[0]
    np.testing.assert_allclose(parts["age"], curve_of(age, weights[: age.width], frame["age"]))
    np.testing.assert_allclose(parts["pay"], curve_of(pay, weights[age.width :], frame["pay"]))
    model.save(tmp_path / "curves.safetensors")
    loaded = separable.load(tmp_path / "curves.safetensors")
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    again = pickle.loads(pickle.dumps(encoder))
    assert abs(again.transform(frame) - encoder.transform(frame)).max() == 0


def test_a_curve_beats_a_line():
    rng = np.random.default_rng(4)
    X = rng.uniform(-3, 3, (800, 2))
    y = np.sin(2 * X[:, 0]) + np.abs(X[:, 1]) > 1.5
    curves = make_pipeline(SplineEncoder(), LogisticRegression(C=10.0)).fit(X[:400], y[:400])
    lines = LogisticRegression(C=10.0).fit(X[:400], y[:400])
    assert curves.score(X[400:], y[400:]) > 0.95 > 0.8 > lines.score(X[400:], y[400:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_knots": 1}, "'n_knots' parameter of SplineEncoder must be an int from 2"),
        ({"n_knots": 2.5}, "'n_knots' parameter"),
        ({"n_knots": True}, "'n_knots' parameter"),
        ({"continuation": "cubic"}, "'continuation' parameter .* 'constant' or 'linear'"),
        ({"periods": 24}, "'periods' parameter"),
        ({"periods": {"b": 24}}, "names the column 'b', which the data does not have"),
        ({"periods": {3: 24}}, "names the column 3"),
        ({"periods": {"a": 0}}, "The period of column 'a' must be a positive number"),
        ({"periods": {"a": "day"}}, "must be a positive number"),
    ],
)
def test_wrong_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        SplineEncoder(**options).fit({"a": [1.0, 2.0]})


def test_wrong_values():
    encoder = SplineEncoder().fit({"a": [1.0, 2.0]})
    with pytest.raises(ValueError, match="'red' is not a number"):
        encoder.transform({"a": ["red"]})
    with pytest.raises(ValueError, match="infinity"):
        SplineEncoder().fit(np.array([[1.0], [np.inf]]))
    with pytest.raises(TypeError, match="Sparse data was passed"):
        encoder.transform(sp.csr_array(np.ones((2, 1))))
    with pytest.raises(ValueError, match="difference that float64 cannot hold"):
        SplineEncoder().fit([[-1.5e308], [1.5e308]])
    steep = SplineEncoder(continuation="linear").fit([[0.0], [1e-300]])
    with pytest.raises(ValueError, match="too far from the training values"):
        steep.transform([[1e300]])


def damaged(**changes):
    table = {"a": [1, 2, 3], "b": [1, 2, 4]}
    tensors, values = SplineEncoder(periods={"b": 5.0}).fit(table).to_parts()
    for name, value in changes.items():
        (tensors if name in tensors else values)[name] = value
    return tensors, values


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"knots": np.array([1.0, 2.0, 2.0, 1.0, 2.0, 4.0])}, "knots must ascend"),
        ({"knots": np.array([1.0, 2.0, np.nan, 1.0, 2.0, 4.0])}, "knots must be finite"),
        ({"knots": np.array([1.0, 2.0, 3.0, 1.0, 2.0, 9.0])}, "knots must ascend"),
        ({"knots": np.array([1.0, 2.0])}, "wrong number of knots"),
        ({"missing": np.array([0, 2], np.uint8)}, "wrong 'missing'"),
        ({"periods": np.array([0.0, -1.0])}, "wrong 'periods'"),
        ({"periods": np.array([0.0])}, "wrong number of columns"),
        ({"continuation": "cubic"}, "'continuation'"),
        ({"sparse_output": 1}, "wrong 'sparse_output'"),
        ({"more": 1}, "wrong values"),
    ],
)
def test_damaged_parts(changes, message):
    with pytest.raises(ValueError, match=message):
        SplineEncoder.from_parts(*damaged(**changes))
    assert SplineEncoder.from_parts(*damaged()).feature_names[0] == "a[<2]"


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that it does not inherit from scikit-learn's base class
    CHECKS = list(estimator_checks_generator(SplineEncoder()))


@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=lambda each: getattr(each, "func", type(each)).__name__
)
def test_scikit_learns_checks(estimator, check):
    check(clone(estimator))
