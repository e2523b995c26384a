"""OneHotEncoder: the matrix of scikit-learn's, on every kind of table, and back."""

from __future__ import annotations

import datetime as dt
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder as Peer
from sklearn.utils.estimator_checks import estimator_checks_generator

from separable import LogisticRegression, OneHotEncoder

pytestmark = pytest.mark.native

RNG = np.random.default_rng(0)
WORDS = np.array(["red", "green", "blue", "straße", "日本", ""], dtype=object)
TABLES = {
    "objects": RNG.choice(WORDS, (60, 3)),
    "texts": RNG.choice(WORDS, (60, 2)).astype(str),
    "whole numbers": RNG.integers(-3, 4, (50, 2)),
    "wide whole numbers": RNG.integers(-(2**62), 2**62, (50, 1)),
    "floats": RNG.choice([0.5, -1.0, np.nan, 3.0], (50, 2)),
    "booleans": RNG.random((30, 2)) < 0.5,
    "objects with None and NaN": np.array(
        [["a", None], ["b", "x"], [np.nan, "y"], [None, "x"]], object
    ),
    "number objects": RNG.choice(np.array([1, 2.5, -3], dtype=object), (40, 2)),
    "lists": [["a", 1], ["b", 2], ["a", 2]],
    "frame": pd.DataFrame({"a": RNG.choice(WORDS, 40), "b": RNG.integers(0, 3, 40)}),
    "object frame": pd.DataFrame({"a": RNG.choice(WORDS, 40)}, dtype=object),
    "category frame": pd.DataFrame({"a": pd.Categorical(["u", "v", "u"], ["v", "u", "w"])}),
    "text frame with holes": pd.DataFrame({"a": ["u", None, "v", "u"]}, dtype="str"),
}
SETTINGS = (
    {},
    {"drop": "first"},
    {"drop": "if_binary"},
    {"min_frequency": 8},
    {"min_frequency": 0.3},
    {"max_categories": 3},
    {"max_categories": 2, "min_frequency": 3, "drop": "first"},
    {"max_categories": 1},
    {"dtype": np.float32},
)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("name", TABLES)
def test_the_matrix_is_that_of_scikit_learn(name, settings):
    X = TABLES[name]
    ours, theirs = OneHotEncoder(**settings), Peer(**settings)
    got, expected = ours.fit_transform(X), theirs.fit_transform(X)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got.toarray(), expected.toarray())
    np.testing.assert_array_equal(ours.transform(X).toarray(), expected.toarray())
    np.testing.assert_array_equal(ours.fit(X).transform(X).toarray(), expected.toarray())
    for mine, their in zip(ours.categories_, theirs.categories_, strict=True):
        assert str(mine.tolist()) == str(their.tolist())  # so that NaN is NaN
    if theirs.drop_idx_ is None:
        assert ours.drop_idx_ is None
    else:
        np.testing.assert_array_equal(ours.drop_idx_, theirs.drop_idx_)
    names = [
        name.replace("infrequent_sklearn", "infrequent") for name in theirs.get_feature_names_out()
    ]
    assert ours.get_feature_names_out().tolist() == names


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("settings", SETTINGS[:3], ids=str)
def test_inverse_transform_gives_the_levels_back(name, settings):
    X = TABLES[name]
    encoder = OneHotEncoder(**settings)
    matrix = encoder.fit_transform(X)
    back, theirs = encoder.inverse_transform(matrix), Peer(**settings).fit(X)
    expected = theirs.inverse_transform(theirs.transform(X))
    plain = [[v.item() if isinstance(v, np.generic) else v for v in row] for row in expected]
    assert str(back.tolist()) == str(plain)  # so that NaN is NaN
    assert str(encoder.inverse_transform(matrix.toarray()).tolist()) == str(back.tolist())


@pytest.mark.parametrize("make", [pa.table, pl.DataFrame, pd.DataFrame, dict])
def test_every_kind_of_table_gives_the_same_matrix(make):
    table = {"c": ["x", "y", "x", "z"], "n": [1, 2, 2, 1]}
    expected = OneHotEncoder().fit_transform(
        np.array([*zip(*table.values(), strict=True)], dtype=object)
    )
    encoder = OneHotEncoder()
    np.testing.assert_array_equal(encoder.fit_transform(make(table)).toarray(), expected.toarray())
    assert encoder.feature_names == ("c_x", "c_y", "c_z", "n_1", "n_2")


def test_arrow_columns_of_every_type():
    days = [dt.date(2024, 1, 1), None, dt.date(2023, 1, 1), dt.date(2024, 1, 1)]
    table = pa.table(
        {
            "chunks": pa.chunked_array([["b", "a"], ["b", None]]),
            "dictionary": pa.array(["q", None, "p", "q"]).dictionary_encode(),
            "whole": pa.array([3, 1, None, 3], pa.int16()),
            "unsigned": pa.array([3, 1, 2, 3], pa.uint8()),
            "float": pa.array([0.5, 0.5, None, -1.0]),
            "boolean": [True, False, None, True],
            "day": pa.array(days),
            "view": pa.array(["u", "v", "v", "u"], pa.string_view()),
        }
    )
    for part in (table, table.slice(1), pa.concat_tables([table, table])):
        encoder = OneHotEncoder()
        matrix = encoder.fit_transform(part)
        expected = part.to_pylist()
        for row, back in zip(expected, encoder.inverse_transform(matrix), strict=True):
            got = dict(zip(table.column_names, back, strict=True))
            got["day"] = None if got["day"] is None else got["day"].date()
            assert got == row


def test_polars_categories_and_a_stream_without_a_library():
    frame = pl.DataFrame({"c": pl.Series(["x", "y", None], dtype=pl.Categorical)})
    assert OneHotEncoder().fit(frame).categories_[0].tolist() == ["x", "y", None]

    class Stream:
        def __arrow_c_stream__(self, schema=None):
            return pa.table({"c": ["k", "l"]}).__arrow_c_stream__(schema)

    assert OneHotEncoder().fit(Stream()).feature_names == ("c_k", "c_l")


@given(
    st.lists(
        st.tuples(st.text(max_size=3) | st.none(), st.integers(-2, 2)), min_size=1, max_size=30
    )
)
def test_encoding_and_back_is_the_identity(rows):
    X = np.empty((len(rows), 2), dtype=object)
    X[:] = rows
    encoder = OneHotEncoder()
    matrix = encoder.fit_transform(X)
    assert (np.diff(matrix.indptr) == 2).all()
    assert encoder.inverse_transform(matrix).tolist() == [list(row) for row in rows]
    np.testing.assert_array_equal(matrix.toarray(), Peer().fit_transform(X).toarray())


# --- unknown levels ---


def test_unknown_levels():
    X, new = [["a"], ["b"], ["b"], ["c"]], [["b"], ["z"]]
    with pytest.raises(ValueError, match=r"unknown categories \['z'\] in column 0 \(x0\)"):
        OneHotEncoder().fit(X).transform(new)
    ignoring = OneHotEncoder(handle_unknown="ignore").fit(X)
    assert ignoring.transform(new).toarray().tolist() == [[0, 1, 0], [0, 0, 0]]
    assert ignoring.inverse_transform(ignoring.transform(new)).tolist() == [["b"], [None]]
    for policy in ("infrequent_if_exist", "warn"):
        grouped = OneHotEncoder(handle_unknown=policy, min_frequency=2).fit(X)
        if policy == "warn":
            with pytest.warns(UserWarning, match="unknown categories in columns"):
                got = grouped.transform(new)
        else:
            got = grouped.transform(new)
        assert got.toarray().tolist() == [[1, 0], [0, 1]]
        assert grouped.infrequent_categories_[0].tolist() == ["a", "c"]
    none_rare = OneHotEncoder(handle_unknown="infrequent_if_exist").fit(X)
    assert none_rare.transform(new).toarray()[1].tolist() == [0, 0, 0]
    with pytest.warns(UserWarning, match="encoded as all zeros"):
        OneHotEncoder(handle_unknown="ignore", drop="first").fit(X).transform(new)


def test_given_categories():
    encoder = OneHotEncoder(categories=[["c", "a", "b"]])
    assert encoder.fit_transform([["a"], ["c"]]).toarray().tolist() == [[0, 1, 0], [1, 0, 0]]
    with pytest.raises(ValueError, match="unknown categories"):
        encoder.fit([["z"]])
    with pytest.raises(ValueError, match="contain duplicate elements"):
        OneHotEncoder(categories=[["a", "a"]]).fit([["a"]])
    with pytest.raises(ValueError, match="Unsorted categories"):
        OneHotEncoder(categories=[[2, 1]]).fit([[1]])
    with pytest.raises(ValueError, match="got 2 lists for 1 columns"):
        OneHotEncoder(categories=[["a"], ["b"]]).fit([["a"]])
    dropped = OneHotEncoder(drop=["b"]).fit([["a"], ["b"]])
    assert dropped.feature_names == ("x0_a",)
    with pytest.raises(ValueError, match="not found in the training data: 'z'"):
        OneHotEncoder(drop=["z"]).fit([["a"], ["b"]])
    with pytest.raises(ValueError, match="because it is infrequent"):
        OneHotEncoder(drop=["a"], min_frequency=2).fit([["a"], ["b"], ["b"]])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"handle_unknown": "drop"}, "'handle_unknown' parameter of OneHotEncoder must be one of"),
        ({"min_frequency": 0}, "'min_frequency' parameter of OneHotEncoder must be an int >= 1"),
        ({"min_frequency": 1.5}, "'min_frequency'"),
        ({"max_categories": 0}, "'max_categories' parameter of OneHotEncoder must be an int >= 1"),
        ({"drop": "last"}, "'drop' parameter of OneHotEncoder must be 'first'"),
        ({"drop": ["a", "b"]}, "should have length equal to the number of features \\(1\\)"),
        ({"categories": "all"}, "'categories' parameter of OneHotEncoder must be 'auto'"),
        ({"feature_name_combiner": "+"}, "'feature_name_combiner' parameter"),
    ],
)
def test_wrong_parameters(settings, message):
    with pytest.raises(ValueError, match=message):
        OneHotEncoder(**settings).fit([["a"]])


def test_wrong_data():
    with pytest.raises(
        TypeError, match=r"Column 0: Encoders require .* uniformly strings or numbers"
    ):
        OneHotEncoder().fit(np.array([["a"], [1]], dtype=object))
    with pytest.raises(TypeError, match="unhashable"):
        OneHotEncoder().fit(pd.DataFrame({"a": [[1], [2]]}))
    with pytest.raises(TypeError, match="Sparse data was passed"):
        OneHotEncoder().fit(sp.eye(2, format="csr"))
    fitted = OneHotEncoder().fit(pd.DataFrame({"a": ["x"], "b": ["y"]}))
    with pytest.raises(ValueError, match="column 0 is 'b', expected 'a'"):
        fitted.transform(pd.DataFrame({"b": ["x"], "a": ["y"]}))
    with pytest.raises(ValueError, match="Expected 2 columns, got 3"):
        fitted.inverse_transform(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="all zeros in column 0"):
        fitted.inverse_transform(np.zeros((1, 2)))


# --- scikit-learn's contract ---


def test_in_a_pipeline_and_a_column_transformer():
    frame = pd.DataFrame({"c": list("abab"), "x": [1.0, 2.0, 3.0, 4.0]})
    both = ColumnTransformer([("c", OneHotEncoder(), ["c"])], remainder="passthrough")
    assert both.fit_transform(frame).shape == (4, 3)
    assert both.get_feature_names_out().tolist() == ["c__c_a", "c__c_b", "remainder__x"]
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(frame[["c"]], [0, 1, 0, 1])
    assert model.score(frame[["c"]], [0, 1, 0, 1]) == 1
    encoder = OneHotEncoder(sparse_output=False).set_output(transform="pandas")
    assert encoder.fit_transform(frame[["c"]]).columns.tolist() == ["c_a", "c_b"]
    assert pickle.loads(pickle.dumps(encoder)).feature_names == ("c_a", "c_b")
    assert repr(clone(encoder)) == "OneHotEncoder(sparse_output=False)"
    combined = OneHotEncoder(feature_name_combiner=lambda name, level: f"{name}={level}")
    assert combined.fit(frame[["c"]]).feature_names == ("c=a", "c=b")


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that it does not inherit from scikit-learn's base class
    CHECKS = list(estimator_checks_generator(OneHotEncoder(handle_unknown="ignore")))


@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=lambda each: getattr(each, "func", type(each)).__name__
)
def test_scikit_learns_checks(estimator, check):
    check(clone(estimator))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "0 feature"),
        ({"a": []}, "0 sample"),
        ({"a": [1, 2], "b": [1]}, "differ in length: 'a' has 2, 'b' has 1"),
    ],
)
def test_dicts_of_columns_that_are_no_table(columns, message):
    with pytest.raises(ValueError, match=message):
        OneHotEncoder().fit(columns)


def test_sources_name_the_column_of_each_number_out():
    encoder = OneHotEncoder(drop="if_binary").fit(
        {"a": ["x", "y"], "b": ["u", "v"], "c": ["p", "p"]}
    )
    assert encoder.feature_names == ("a_y", "b_v", "c_p")
    assert encoder.sources == ("a", "b", "c")
    assert OneHotEncoder().fit(np.array([[1, 2], [3, 2]])).sources == ("x0", "x0", "x1")


def test_nan_of_any_float_is_one_level():
    column = [np.float32("nan"), np.float64("nan"), np.float16("nan"), float("nan"), np.float32(1)]
    encoder = OneHotEncoder(sparse_output=False)
    out = encoder.fit_transform(np.array(column, dtype=object).reshape(-1, 1))
    assert out.tolist() == [[0, 1], [0, 1], [0, 1], [0, 1], [1, 0]]
    assert len(encoder.categories_[0]) == 2
