"""DictEncoder: the matrix of scikit-learn's DictVectorizer, in chunks, merged and saved."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from decimal import Decimal
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer
from sklearn.pipeline import make_pipeline

from separable import DictEncoder, LinearModel, Perceptron, load

pytestmark = pytest.mark.native

NAMES = st.sampled_from(["a", "b", "c", "ä", "a=b"])
TEXTS = st.sampled_from(["x", "y", "日", "b=x", ""])
VALUES = st.one_of(
    st.integers(-5, 5), st.floats(-9, 9), st.booleans(), TEXTS, st.lists(TEXTS, max_size=3)
)
RECORDS = st.lists(st.dictionaries(NAMES, VALUES, max_size=4), min_size=1, max_size=12).filter(
    lambda records: any(
        not isinstance(value, list) or value for record in records for value in record.values()
    )
)


@given(RECORDS)
def test_the_matrix_is_that_of_dict_vectorizer(records):
    ours, theirs = DictEncoder(), DictVectorizer()
    got, expected = ours.fit_transform(records), theirs.fit_transform(records)
    assert list(ours.feature_names) == theirs.get_feature_names_out().tolist()
    assert ours.vocabulary_ == theirs.vocabulary_
    np.testing.assert_array_equal(got.toarray(), expected.toarray())
    assert (got.data != 0).all()
    assert got.has_sorted_indices
    np.testing.assert_array_equal(DictEncoder(sparse=False).fit_transform(records), got.toarray())
    back = ours.inverse_transform(got)
    assert back == ours.inverse_transform(got.toarray())
    assert back == [
        {k: v for k, v in row.items() if v} for row in theirs.inverse_transform(expected)
    ]


@given(RECORDS, RECORDS)
def test_chunks_and_merging_are_fitting_the_whole(first, second):
    whole = DictEncoder().fit(first + second)
    chunks = DictEncoder().partial_fit(first).partial_fit(second)
    merged = DictEncoder().fit(first).merge(DictEncoder().fit(second))
    expected = whole.transform(first).toarray()
    for each in (chunks, merged):
        assert each.feature_names == whole.feature_names
        np.testing.assert_array_equal(each.transform(first).toarray(), expected)


def test_what_counts_as_what():
    records = [
        {"n": np.float32(1.5), "d": Decimal("2"), "i": np.int64(3), "none": None, "nan": np.nan},
        OrderedDict(tags={"u"}, words=("v", "v"), array=np.array(["p", "q"])),
        MappingProxyType({"t": np.str_("w"), 7: 1}),
    ]
    encoder = DictEncoder()
    matrix = encoder.fit_transform(iter(records)).toarray()
    names = ("7", "array=p", "array=q", "d", "i", "n", "t=w", "tags=u", "words=v")
    assert encoder.feature_names == names
    assert matrix[0].tolist() == [0, 0, 0, 2, 3, 1.5, 0, 0, 0]
    assert matrix[1].tolist() == [0, 1, 1, 0, 0, 0, 0, 1, 2]
    assert matrix[2].tolist() == [1, 0, 0, 0, 0, 0, 1, 0, 0]
    assert encoder.sources == ("7", "array", "array", "d", "i", "n", "t", "tags", "words")


def test_what_training_did_not_have_is_counted():
    encoder = DictEncoder().fit([{"city": "Rome", "age": 3}])
    rows = encoder.encode([{"city": "Oslo", "age": 4, "size": 1}, {"city": "Oslo"}])
    assert rows.values.tolist() == [4]
    assert encoder.unseen_ == {
        "city": {"count": 2, "levels": {"Oslo": 2}, "others": 0},
        "size": {"count": 1, "levels": {"(a number)": 1}, "others": 0},
    }
    assert pickle.loads(pickle.dumps(encoder)).unseen_ == {}


def test_refusals():
    with pytest.raises(TypeError, match=r"Row 1, feature 'a': expected a number.* got \{'b': 1\}"):
        DictEncoder().fit([{}, {"a": {"b": 1}}])
    with pytest.raises(
        TypeError, match="feature 'a': expected a text, as all of a list must be, got 1"
    ):
        DictEncoder().fit([{"a": ["x", 1]}])
    with pytest.raises(TypeError, match="feature 'a': expected a finite number, got inf"):
        DictEncoder().fit([{"a": np.inf}])
    with pytest.raises(TypeError, match="rows that are dicts, but row 0 is a list"):
        DictEncoder().fit([[1, 2]])
    with pytest.raises(TypeError, match="got a text"):
        DictEncoder().fit("abc")
    with pytest.raises(ValueError, match="not fitted yet"):
        DictEncoder().transform([{}])


def test_in_a_pipeline_and_in_a_model_file(tmp_path):
    records = [{"w": "the"}, {"w": "cat", "n": 2.0}, {"w": "dog", "n": 1.0}, {"w": "a"}]
    labels = ["det", "noun", "noun", "det"]
    model = make_pipeline(clone(DictEncoder()), Perceptron()).fit(records, labels)
    assert model.predict(records).tolist() == labels
    encoder = model[0]
    linear = LinearModel(
        model[1].coef_, model[1].intercept_, ["det", "noun"], "score", encoder=encoder
    )
    linear.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again.predict(records).tolist() == labels
    assert again.feature_names == encoder.feature_names
    with pytest.raises(ValueError, match="damaged"):
        DictEncoder.from_parts({"numbers": ("a",)}, {"separator": "=", "sparse": True})


def test_keys_that_are_no_texts_are_the_same_in_a_file(tmp_path):
    rows = [{1: 2.0, ("a", 2): "x"}, {1: 5.0, ("a", 2): "y"}]
    encoder = DictEncoder().fit(rows)
    parts = DictEncoder.from_parts(*encoder.to_parts())
    np.testing.assert_array_equal(
        parts.transform(rows).toarray(), encoder.transform(rows).toarray()
    )
    assert parts.unseen_ == {}


def test_a_frame_is_no_row():
    with pytest.raises(TypeError, match=r"got a DataFrame.*to_dict\('records'\)"):
        DictEncoder().fit(pd.DataFrame({"a": ["x", "y"]}))


def test_a_series_of_dicts_keeps_its_index():
    series = pd.Series([{"a": 1.0}, {"a": 2.0}], index=[7, 9])
    encoder = DictEncoder(sparse=False).set_output(transform="pandas")
    assert encoder.fit_transform(series).index.tolist() == [7, 9]
    assert encoder.transform(series)["a"].tolist() == [1.0, 2.0]


def test_restrict_keeps_columns_and_counts_the_others_as_unseen():
    rows = [{"foo": 1, "bar": 2}, {"foo": 3, "baz": 1, "kind": "x"}]
    encoder = DictEncoder().fit(rows)
    assert encoder.feature_names_ == ["bar", "baz", "foo", "kind=x"]
    assert encoder.restrict([True, False, False, True]) is encoder
    assert encoder.feature_names_ == ["bar", "kind=x"]
    assert encoder.transform(rows).toarray().tolist() == [[2, 0], [0, 1]]
    assert {name: each["count"] for name, each in encoder.unseen_.items()} == {"foo": 2, "baz": 1}
    assert encoder.restrict([1], indices=True).feature_names_ == ["kind=x"]
    with pytest.raises(ValueError, match="2 entries and there are 1 columns"):
        encoder.restrict([True, False])
