"""build_analyzer and its parts, and inverse_transform, against scikit-learn's."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from separable import TextEncoder

TEXTS = ["The  cat, the CAT\tand  a dog", "", "x", "été à la mer", "a a  a"]


@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 3), (2, 4)])
@pytest.mark.parametrize("analyzer", ["word", "char", "char_wb"])
def test_terms_of_a_document(analyzer, ngram_range):
    options = {"analyzer": analyzer, "ngram_range": ngram_range, "strip_accents": "unicode"}
    ours = TextEncoder(**options).build_analyzer()
    theirs = CountVectorizer(**options).build_analyzer()
    encoder = TextEncoder(**options, norm=None, use_idf=False).fit(TEXTS)
    counts = encoder.transform(TEXTS).toarray()
    for text, row in zip(TEXTS, counts, strict=True):
        assert sorted(ours(text)) == sorted(theirs(text))
        assert {t: row[c] for t, c in encoder.vocabulary_.items() if row[c]} == {
            term: ours(text).count(term) for term in ours(text)
        }


def test_parts_of_the_analysis():
    options = {"stop_words": ["the"], "input": "content", "lowercase": True}
    ours, theirs = TextEncoder(**options), CountVectorizer(**options)
    assert ours.build_preprocessor()("The Cat") == theirs.build_preprocessor()("The Cat")
    assert ours.build_tokenizer()("the cat") == theirs.build_tokenizer()("the cat")
    assert ours.build_analyzer()(b"The cat") == theirs.build_analyzer()(b"The cat") == ["cat"]
    own = TextEncoder(analyzer=str.split, norm=None).build_analyzer()
    assert own("a b") == ["a", "b"]


@pytest.mark.parametrize("dense", [False, True])
def test_inverse_transform(dense):
    ours, theirs = TextEncoder().fit(TEXTS), CountVectorizer().fit(TEXTS)
    counts = theirs.transform(TEXTS)
    found = ours.inverse_transform(counts.toarray() if dense else counts)
    expected = theirs.inverse_transform(counts)
    assert [sorted(row.tolist()) for row in found] == [sorted(row.tolist()) for row in expected]
    stored = counts.astype(np.float64).copy()
    stored.data[0] = 0.0  # a stored zero is none
    assert len(ours.inverse_transform(stored)[0]) == len(expected[0]) - 1


def test_hashed_columns_have_no_inverse():
    with pytest.raises(AttributeError, match="several terms share a column"):
        TextEncoder(n_features=8).inverse_transform(np.ones((1, 8)))
