"""The encoders of separable.sklearn against scikit-learn's own."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn import feature_extraction, preprocessing
from sklearn.feature_extraction import text

import separable.sklearn as faces

TEXTS = ["A good film", "a boring, boring film", "", "good GOOD café"]
RECORDS = [{"b": 1, "a": "x"}, {"a": ["y", "x"], 3: 2.5}, {"b": None, "a": "z"}]
LEVELS = np.array([["a", 1], ["b", 2], ["a", 3], ["c", 1]], dtype=object)


def same(ours, theirs):
    assert type(ours) is type(theirs)
    assert ours.dtype == theirs.dtype
    dense = [each.toarray() if sparse.issparse(each) else each for each in (ours, theirs)]
    np.testing.assert_allclose(*dense, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("CountVectorizer", {}),
        ("CountVectorizer", {"ngram_range": (1, 2), "max_features": 3, "dtype": np.float32}),
        ("CountVectorizer", {"analyzer": "char_wb", "ngram_range": (2, 3), "binary": True}),
        ("TfidfVectorizer", {}),
        ("TfidfVectorizer", {"norm": "l1", "sublinear_tf": True, "strip_accents": "ascii"}),
        ("TfidfVectorizer", {"use_idf": False, "stop_words": "english"}),
        ("HashingVectorizer", {"n_features": 32}),
    ],
)
def test_vectorizer_equals_that_of_scikit_learn(name, options):
    ours, theirs = (getattr(each, name)(**options) for each in (faces, text))
    same(ours.fit_transform(TEXTS), theirs.fit_transform(TEXTS))
    same(ours.transform(TEXTS[::-1]), theirs.transform(TEXTS[::-1]))
    if name != "HashingVectorizer":
        assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
        same(pickle.loads(pickle.dumps(ours)).transform(TEXTS), theirs.transform(TEXTS))


def test_vocabulary_and_parameters_can_change_after_fit():
    ours = faces.CountVectorizer().fit(TEXTS)
    ours.vocabulary_ = {"film": 0, "good": 1}
    assert ours.transform(["good good film"]).toarray().tolist() == [[1, 2]]
    ours.binary = True
    assert ours.transform(["good good film"]).toarray().tolist() == [[1, 1]]


def test_analyzer_takes_documents_that_are_no_texts():
    options = {"analyzer": lambda tokens: tokens}
    ours, theirs = (each.CountVectorizer(**options) for each in (faces, text))
    tokens = [["a", "b"], ["b", "b"]]
    same(ours.fit_transform(tokens), theirs.fit_transform(tokens))


@pytest.mark.parametrize("options", [{}, {"sort": False}, {"sparse": False, "dtype": np.float32}])
def test_dict_vectorizer_equals_that_of_scikit_learn(options):
    records = [{str(key): value for key, value in record.items()} for record in RECORDS]
    ours, theirs = (each.DictVectorizer(**options) for each in (faces, feature_extraction))
    matrices = ours.fit_transform(records), theirs.fit_transform(records)
    same(*matrices)
    assert ours.feature_names_ == theirs.feature_names_
    assert ours.restrict([0, 2], indices=True).feature_names_ == ours.feature_names_[:2]
    same(ours.transform(records), theirs.restrict([0, 2], indices=True).transform(records))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"drop": "first", "sparse_output": False, "dtype": np.float32},
        {"min_frequency": 2, "handle_unknown": "infrequent_if_exist"},
        {"handle_unknown": "ignore"},
    ],
)
def test_one_hot_encoder_equals_that_of_scikit_learn(options):
    ours, theirs = (each.OneHotEncoder(**options).fit(LEVELS) for each in (faces, preprocessing))
    matrix = ours.transform(LEVELS)
    same(matrix, theirs.transform(LEVELS))
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert ours.inverse_transform(matrix).tolist() == theirs.inverse_transform(matrix).tolist()
    for level, their_level in zip(ours.categories_, theirs.categories_, strict=True):
        assert level.tolist() == their_level.tolist()


@pytest.mark.parametrize(
    "options", [{}, {"degree": (2, 3), "include_bias": False}, {"interaction_only": True}]
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_polynomial_features_equal_those_of_scikit_learn(options, form):
    X = form(np.arange(12.0).reshape(4, 3) % 5)
    ours, theirs = (each.PolynomialFeatures(**options).fit(X) for each in (faces, preprocessing))
    same(ours.transform(X), theirs.transform(X))
    assert ours.n_output_features_ == theirs.n_output_features_
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


@pytest.mark.parametrize("interaction_only", [False, True])
def test_products_of_sparse_rows_beyond_32_bits(interaction_only):
    n = 120_001
    X = sparse.csr_array(([2.0, 3.0, 5.0], ([0, 0, 1], [n - 2, n - 1, n - 1])), shape=(2, n))
    options = {"interaction_only": interaction_only, "degree": 3 - interaction_only}
    ours, theirs = (
        each.PolynomialFeatures(**options).fit_transform(X) for each in (faces, preprocessing)
    )
    assert ours.shape == theirs.shape
    assert ours.indices.dtype == theirs.indices.dtype == np.int64
    assert ours.indices.max() > 2**31
    for one, other in zip(ours.tocoo().coords, theirs.tocoo().coords, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(ours.data, theirs.data)
