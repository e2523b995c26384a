"""TextEncoder: scikit-learn's matrices, its laws, what texts may be, and its errors."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
import unicodedata
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from separable import LogisticRegression, TextEncoder, load
from separable.features.text.analyzer import SPACE, SPECIAL, WORD, alphabet
from tests.features.languages import DESCRIPTIONS, TEXTS

pytestmark = pytest.mark.native

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
#: All descriptions in ``make test-all``, otherwise some of them, a few twice.
ALL_TEXTS = TEXTS + (DESCRIPTIONS if LONG else DESCRIPTIONS[::4] + DESCRIPTIONS[::16])


def assert_same(ours, theirs, rtol=1e-13):
    theirs = theirs.copy()
    theirs.sort_indices()
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours.indptr, theirs.indptr)
    np.testing.assert_array_equal(ours.indices, theirs.indices)
    np.testing.assert_allclose(ours.data, theirs.data, rtol=rtol, atol=0)


def assert_same_bits(ours, theirs):
    assert ours.shape == theirs.shape
    assert ours.indices.tobytes() == theirs.indices.tobytes()
    assert ours.indptr.tobytes() == theirs.indptr.tobytes()
    assert ours.data.tobytes() == theirs.data.tobytes()


def quietly(work):
    """Return what work returns, without the warnings that both sides give."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work()


# --- the matrices of scikit-learn ---

OPTIONS = [
    {},
    {"min_df": 2},
    {"min_df": 0.02, "max_df": 0.3},
    {"max_df": 3},
    {"max_features": 30},
    {"max_features": 31, "binary": True, "min_df": 2},
    {"binary": True},
    {"norm": "l1", "sublinear_tf": True},
    {"norm": None, "smooth_idf": False},
    {"lowercase": False},
    {"dtype": np.float32, "sublinear_tf": True},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii"},
    {"strip_accents": lambda text: text.replace("i", "e")},
    {"preprocessor": str.title},
    {"preprocessor": str.upper, "min_df": 2},
]
WORD_OPTIONS = [
    {"stop_words": "english"},
    {"stop_words": ["film", "the", "και", "10"]},
    {"token_pattern": r"\w+"},
    {"token_pattern": r"(?u)\b\w+\b", "stop_words": ["a", "o"]},
    {"token_pattern": r"[^ ]+"},
    {"token_pattern": r"(\w)\w*", "min_df": 2},
    {"tokenizer": str.split, "token_pattern": None},
    {"tokenizer": lambda text: text.split("l"), "token_pattern": None, "stop_words": [" o"]},
    {"vocabulary": ["film", "good", "a good", "boring film", "boring", "", "x  y"]},
    {"vocabulary": {"the": 1, "of the": 0, "data": 2}},
]
CHAR_OPTIONS = [{"vocabulary": ["a", "of ", "th", "ab b", " a", "και", ""]}]
RANGES = [(1, 1), (1, 2), (2, 3), (3, 3), (1, 4), (5, 7)]


@pytest.mark.slow
@pytest.mark.parametrize("ngram_range", RANGES)
@pytest.mark.parametrize("analyzer", ["word", "char", "char_wb"])
def test_vocabulary_as_scikit_learn(analyzer, ngram_range):
    for options in OPTIONS + (WORD_OPTIONS if analyzer == "word" else CHAR_OPTIONS):
        check_vocabulary({"analyzer": analyzer, "ngram_range": ngram_range, **options})


def check_vocabulary(options):
    peer = TfidfVectorizer(**options)
    theirs = quietly(lambda: peer.fit_transform(ALL_TEXTS))
    encoder = TextEncoder(n_jobs=2, **options)
    ours = quietly(lambda: encoder.fit_transform(ALL_TEXTS))
    rtol = 1e-6 if options.get("dtype") else 1e-13
    assert_same(ours, theirs, rtol)
    assert_same(encoder.transform(ALL_TEXTS[::-1]), peer.transform(ALL_TEXTS[::-1]), rtol)
    assert list(encoder.get_feature_names_out()) == list(peer.get_feature_names_out())
    np.testing.assert_array_equal(encoder.idf_, peer.idf_)
    assert encoder.vocabulary_ == peer.vocabulary_
    assert encoder.fixed_vocabulary_ == peer.fixed_vocabulary_
    assert_same_bits(encoder.transform(ALL_TEXTS), ours)


@pytest.mark.parametrize("ngram_range", RANGES)
@pytest.mark.parametrize("analyzer", ["word", "char", "char_wb"])
def test_counts_as_scikit_learn(analyzer, ngram_range):
    options = {"analyzer": analyzer, "ngram_range": ngram_range, "max_df": 0.5}
    theirs = CountVectorizer(**options).fit_transform(ALL_TEXTS)
    ours = TextEncoder(use_idf=False, norm=None, **options).fit_transform(ALL_TEXTS)
    assert_same(ours, theirs.astype(np.float64), rtol=0)


@pytest.mark.parametrize("n_features", [1, 7, 4096, 2**31 - 1])
@pytest.mark.parametrize("ngram_range", RANGES)
@pytest.mark.parametrize("analyzer", ["word", "char", "char_wb"])
def test_hashing_as_scikit_learn(analyzer, ngram_range, n_features):
    for options in (
        {},
        {"norm": None},
        {"norm": "l1", "binary": True},
        {"alternate_sign": False},
        {"dtype": np.float32},
        {"stop_words": ["film", "the"]},
        {"token_pattern": r"[^ ]+"},
        {"strip_accents": "unicode", "lowercase": False},
    ):
        case = {"analyzer": analyzer, "ngram_range": ngram_range, "n_features": n_features}
        case |= options
        theirs = quietly(lambda case=case: HashingVectorizer(**case).transform(ALL_TEXTS))
        encoder = TextEncoder(n_jobs=2, max_names=1000, **case)
        rtol = 1e-6 if options.get("dtype") else 1e-13
        assert_same(quietly(lambda e=encoder: e.transform(ALL_TEXTS)), theirs, rtol)
        assert_same(quietly(lambda e=encoder: e.fit_transform(ALL_TEXTS)), theirs, rtol)


def test_a_function_that_analyzes():
    def analyzer(text):
        return (part.strip() for part in text.split(","))

    peer = TfidfVectorizer(analyzer=analyzer)
    encoder = TextEncoder(analyzer=analyzer)
    assert_same(encoder.fit_transform(ALL_TEXTS), peer.fit_transform(ALL_TEXTS))
    assert list(encoder.feature_names) == list(peer.get_feature_names_out())


@given(st.lists(st.text(), min_size=1, max_size=6), st.sampled_from(["word", "char", "char_wb"]))
def test_any_text_as_scikit_learn(texts, analyzer):
    texts = [*texts, "some words for all"]
    options = {"analyzer": analyzer, "ngram_range": (1, 2)}
    try:
        [text.encode() for text in texts]
    except UnicodeEncodeError:
        with pytest.raises(ValueError, match=r"The text in row \d+ has a lone surrogate"):
            TextEncoder(**options).fit(texts)
        return
    peer, encoder = TfidfVectorizer(**options), TextEncoder(**options)
    assert_same(encoder.fit_transform(texts), peer.fit_transform(texts))
    assert list(encoder.feature_names) == list(peer.get_feature_names_out())


WORDS = st.lists(st.sampled_from(["ab", "cd", "ef", "gh", "ij", "ΣΑΣ", "ß", "中文"]), max_size=12)


@given(st.lists(WORDS.map(" ".join), min_size=1, max_size=12), st.integers(1, 4))
def test_few_words_as_scikit_learn(texts, n):
    texts = [*texts, "ab cd ab cd ef"]
    peer, encoder = (
        CountVectorizer(ngram_range=(1, n)),
        TextEncoder(ngram_range=(1, n), use_idf=False, norm=None, n_jobs=2),
    )
    assert_same(encoder.fit_transform(texts), peer.fit_transform(texts).astype(float), rtol=0)
    assert list(encoder.feature_names) == list(peer.get_feature_names_out())


@pytest.mark.parametrize(
    "points",
    [
        [*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200)],
        pytest.param([*range(0x20000, sys.maxunicode + 1)], marks=pytest.mark.long),
    ],
    ids=["assigned to scripts", "the rest"],
)
def test_the_alphabet_is_pythons(points):
    flags, lower = alphabet()
    for point in points:
        character = chr(point)
        is_word = character.isalnum() or character == "_"
        assert bool(flags[point] & WORD) == is_word, hex(point)
        assert bool(flags[point] & SPACE) == character.isspace(), hex(point)
        if flags[point] & SPECIAL:
            assert character == "Σ" or len(character.lower()) > 1
        else:
            assert chr(lower[point]) == character.lower(), hex(point)


@pytest.mark.parametrize("end", [0x3400, pytest.param(0x30000, marks=pytest.mark.long)])
def test_every_character_is_cut_and_lowered_as_in_python(end):
    characters = [chr(p) for p in range(end) if unicodedata.category(chr(p)) != "Cs"]
    starts = range(0, len(characters), 997)
    texts = ["".join(f"x{c}y " for c in characters[i : i + 997]) for i in starts]
    for options in ({}, {"analyzer": "char_wb", "ngram_range": (3, 3)}):
        theirs = CountVectorizer(**options).fit_transform(texts)
        ours = TextEncoder(use_idf=False, norm=None, **options).fit_transform(texts)
        assert_same(ours, theirs.astype(float), rtol=0)


# --- laws ---

LAW_OPTIONS = [
    {"ngram_range": (1, 2)},
    {"ngram_range": (1, 3), "min_df": 2, "max_df": 0.5},
    {"max_features": 40, "stop_words": "english"},
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
    {"token_pattern": r"[^ ]+", "ngram_range": (1, 2)},
    {"vocabulary": ["film", "the", "of the"], "ngram_range": (1, 2)},
    {"n_features": 64, "ngram_range": (1, 2)},
    {"n_features": 64, "ngram_range": (1, 2), "max_names": 50},
    {"n_features": 64, "tokenizer": str.split, "token_pattern": None},
]


def assert_same_encoder(ours, theirs):
    assert ours.feature_names == theirs.feature_names
    assert ours.n_documents_ == theirs.n_documents_
    assert_same_bits(ours.transform(ALL_TEXTS), theirs.transform(ALL_TEXTS))
    if ours.n_features is not None:
        assert ours.collisions_ == theirs.collisions_
        assert ours.n_names_ == theirs.n_names_


@pytest.mark.parametrize("options", LAW_OPTIONS, ids=lambda options: ",".join(options))
def test_threads_chunks_and_merging_change_nothing(options):
    encoder = TextEncoder(**options)
    whole = encoder.fit_transform(ALL_TEXTS)
    for n_jobs in (2, 3, 50, -1):
        other = TextEncoder(n_jobs=n_jobs, **options)
        assert_same_bits(other.fit_transform(ALL_TEXTS), whole)
        assert_same_encoder(other, encoder)
    chunks = TextEncoder(**options)
    for start in range(0, len(ALL_TEXTS), 7):
        chunks.partial_fit(ALL_TEXTS[start : start + 7])
    assert_same_encoder(chunks, encoder)
    parts = [TextEncoder(**options).partial_fit(ALL_TEXTS[i::3]) for i in range(3)]
    assert_same_encoder(parts[0].merge(parts[1]).merge(parts[2]), encoder)
    assert_same_encoder(parts[2].merge(parts[1].merge(parts[0])), encoder)
    assert parts[0].n_documents_ == len(ALL_TEXTS[::3])


@pytest.mark.parametrize("options", LAW_OPTIONS, ids=lambda options: ",".join(options))
def test_pickle_clone_and_parts(options):
    encoder = TextEncoder(**options).fit(ALL_TEXTS)
    again = pickle.loads(pickle.dumps(encoder))
    assert_same_encoder(again, encoder)
    assert_same_encoder(again.partial_fit(TEXTS), clone(encoder).fit(ALL_TEXTS + TEXTS))
    if encoder.tokenizer is None:
        made = TextEncoder.from_parts(*encoder.to_parts())
        assert_same_encoder(made, encoder)
        assert_same_parts(made.to_parts(), encoder.to_parts())


def assert_same_parts(ours, theirs):
    assert ours[1] == theirs[1]
    assert ours[0].keys() == theirs[0].keys()
    for name, part in ours[0].items():
        np.testing.assert_array_equal(part, theirs[0][name])


def test_fitting_again_starts_afresh():
    encoder = TextEncoder().fit(["old words"])
    assert encoder.fit(["new text"]).feature_names == ("new", "text")
    assert encoder.partial_fit(["more"]).feature_names == ("more", "new", "text")


def test_a_failed_fit_leaves_the_encoder_as_it_was():
    encoder = TextEncoder().fit(["old words"])
    with pytest.raises(ValueError, match="empty vocabulary"):
        encoder.fit(["! ?"])
    assert encoder.feature_names == ("old", "words")
    with pytest.raises(ValueError, match="row 1 is missing"):
        encoder.partial_fit(["fine", None])
    assert encoder.feature_names == ("old", "words")
    assert encoder.n_documents_ == 1


# --- hashing keeps names ---


def test_names_of_columns():
    encoder = TextEncoder(n_features=8).fit(["good boring film", "plot of words"])
    names = {}
    for name in ("good", "boring", "film", "plot", "of", "words"):
        one = HashingVectorizer(n_features=8).transform([name])
        names.setdefault(int(one.indices[0]), []).append(name)
    for column, name in enumerate(encoder.feature_names):
        here = sorted(names.get(column, []))
        expected = here[0] if len(here) == 1 else "|".join(here) + " (shared)"
        assert name == (expected if here else f"hash:{column}")
    shared = {column: tuple(sorted(n)) for column, n in names.items() if len(n) > 1}
    assert shared
    assert encoder.collisions_ == shared
    assert encoder.n_names_ == 6


def test_columns_with_many_names():
    encoder = TextEncoder(n_features=1).fit(["dd cc bb aa ee"])
    assert encoder.feature_names == ("aa|bb|cc|and 2 more (shared)",)
    assert encoder.collisions_ == {0: ("aa", "bb", "cc", "dd", "ee")}


@pytest.mark.slow
def test_names_are_bounded_and_counted_beyond():
    texts = [" ".join(f"word{i}" for i in range(start, start + 50)) for start in range(0, 5000, 25)]
    encoder = TextEncoder(n_features=2**20, max_names=500).fit(texts)
    named = [name for name in encoder.feature_names if not name.startswith("hash:")]
    assert 490 <= len(named) <= 500
    assert encoder.n_names_ == pytest.approx(5025, rel=0.15)


def test_hashing_needs_no_fit():
    encoder = TextEncoder(n_features=4)
    check_is_fitted(encoder)
    assert encoder.transform(["word"]).shape == (1, 4)
    assert encoder.feature_names == ("hash:0", "hash:1", "hash:2", "hash:3")


# --- what texts may be ---

FEW = ["A good film", "Größe, ΣΟΦΟΣ", "", "a boring film"]


@pytest.mark.parametrize(
    "data",
    [
        tuple(FEW),
        np.array(FEW),
        np.array(FEW, dtype=object),
        pd.Series(FEW),
        pd.Series(FEW, dtype=object),
        pd.Series(FEW, dtype="string"),
        pd.Series(FEW, dtype="category"),
        pl.Series(FEW),
        pl.Series(FEW, dtype=pl.Categorical),
        pa.array(FEW),
        pa.array(["x", *FEW, "y"])[1:-1],
        pa.array(FEW, pa.large_string()),
        pa.array(FEW, pa.string_view()),
        pa.array(FEW).dictionary_encode(),
        pa.chunked_array([FEW[:1], [], FEW[1:]]),
        pa.array([text.encode() for text in FEW], pa.binary()),
        [text.encode() for text in FEW],
        [FEW[0].encode(), *FEW[1:]],
    ],
)
def test_texts_of_many_types(data):
    expected = TextEncoder().fit_transform(FEW)
    assert_same_bits(TextEncoder().fit_transform(data), expected)
    slow = {"token_pattern": r"[^ ,]+"}
    expected = TextEncoder(**slow).fit_transform(FEW)
    assert_same_bits(TextEncoder(**slow).fit_transform(data), expected)


def test_encodings_and_files(tmp_path):
    texts = ["Größe und Maß", "Füße im Schnee"]
    expected = TextEncoder().fit_transform(texts)
    latin = [text.encode("latin-1") for text in texts]
    assert_same_bits(TextEncoder(encoding="latin-1").fit_transform(latin), expected)
    with pytest.raises(ValueError, match=r"row 0 is not utf-8: .* Name its encoding"):
        TextEncoder().fit(latin)
    assert "gre" in TextEncoder(decode_error="ignore").fit(latin).vocabulary_
    paths = []
    for number, data in enumerate(latin):
        path = tmp_path / f"{number}.txt"
        path.write_bytes(data)
        paths.append(path)
    named = TextEncoder(input="filename", encoding="latin-1")
    assert_same_bits(named.fit_transform(paths), expected)
    opened = TextEncoder(input="file", encoding="latin-1")
    assert_same_bits(opened.fit_transform([io.BytesIO(data) for data in latin]), expected)
    assert_same_bits(opened.transform([io.StringIO(text) for text in texts]), expected)


@pytest.mark.parametrize("make", [list, pd.Series, pl.Series, pa.array])
def test_missing_texts_are_named(make):
    for options in ({}, {"token_pattern": r"[^ ]+"}):
        with pytest.raises(
            ValueError, match=r"row 2 is missing \(.*\). Fill missing texts with ''"
        ):
            TextEncoder(**options).fit(make(["good", "film", None]))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("one text", "Expected a list of texts, got one str: 'one text'. Put it into a list"),
        (b"one text", "Expected a list of texts, got one bytes"),
        (["fine", 3], r"row 1 is 3, of type int. Texts must be str or bytes"),
        (["fine", float("nan")], "row 1 is missing"),
        (["fine", "\ud800"], "row 1 has a lone surrogate"),
        ([["good", "film"]], "row 0 is .*'good', 'film'.*, of type list"),
        (pd.DataFrame({"text": ["good"]}), "got a table. Pass one of its columns"),
        (pa.table({"text": ["good"]}), "got a table. Pass one of its columns"),
        ({"text": ["good"]}, "got a table. Pass one of its columns"),
        (np.array([["good"]]), r"got an array of shape \(1, 1\)"),
        (pa.array([1, 2]), "got an Arrow array of int64"),
        (5, "Expected a list of texts, got int"),
        ([], "There are no texts to learn from"),
        (["", "! ?"], "empty vocabulary"),
    ],
)
def test_bad_texts(data, message):
    with pytest.raises(ValueError, match=message):
        TextEncoder().fit(data)


def test_arrow_text_that_is_not_utf8():
    broken = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff")]
    )
    with pytest.raises(ValueError, match="row 1 is not valid UTF-8"):
        TextEncoder().fit(broken)


def test_transform_of_no_text():
    encoder = TextEncoder().fit(["good film"])
    assert encoder.transform([]).shape == (0, 2)
    assert encoder.transform([""]).shape == (1, 2)


# --- parameters ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"input": "text"}, "'input' parameter of TextEncoder must be one of 'content', 'file'"),
        ({"encoding": "utf-9"}, "'encoding' parameter .* an encoding that Python knows"),
        ({"decode_error": "x"}, "'decode_error' parameter"),
        ({"strip_accents": "x"}, "'strip_accents' parameter .* 'ascii', 'unicode', None or a func"),
        ({"lowercase": 1}, "'lowercase' parameter of TextEncoder must be True or False. Got 1"),
        ({"preprocessor": "x"}, "'preprocessor' parameter"),
        ({"tokenizer": "x"}, "'tokenizer' parameter"),
        ({"analyzer": "words"}, "'analyzer' parameter .* 'word', 'char', 'char_wb' or a function"),
        ({"analyzer": None}, "'analyzer' parameter"),
        ({"stop_words": "german"}, "'stop_words' parameter .* 'english', a list of words or None"),
        ({"stop_words": [1]}, "'stop_words' parameter"),
        ({"token_pattern": "("}, "'token_pattern' parameter .* a regular expression"),
        ({"token_pattern": "(a)(b)"}, "at most one group"),
        ({"token_pattern": None}, "'token_pattern' parameter"),
        ({"ngram_range": (2, 1)}, "'ngram_range' parameter .* 1 <= min_n <= max_n"),
        ({"ngram_range": 2}, "'ngram_range' parameter"),
        ({"max_df": 1.5}, "'max_df' parameter"),
        ({"min_df": 0}, "'min_df' parameter .* an int >= 1"),
        ({"min_df": True}, "'min_df' parameter"),
        ({"max_features": 0}, "'max_features' parameter"),
        ({"vocabulary": []}, "'vocabulary' parameter"),
        ({"vocabulary": "words"}, "'vocabulary' parameter"),
        ({"vocabulary": ["a", "a"]}, "Duplicate term in vocabulary: 'a'"),
        ({"vocabulary": {"a": 0, "b": 2}}, "'vocabulary' parameter .* 0, 1, ... each once"),
        ({"vocabulary": [1]}, "'vocabulary' parameter"),
        ({"dtype": np.int64}, "'dtype' parameter .* float32 or float64"),
        ({"dtype": "no"}, "'dtype' parameter"),
        ({"norm": "l3"}, "'norm' parameter"),
        ({"n_features": 0}, "'n_features' parameter"),
        ({"n_features": 4, "min_df": 2}, "'min_df' .* needs a vocabulary, but n_features=4"),
        ({"n_features": 4, "vocabulary": ["a"]}, "'vocabulary' .* needs a vocabulary"),
        ({"max_names": 0}, "'max_names' parameter"),
        ({"n_jobs": 0}, "'n_jobs' parameter"),
        ({"min_df": 3, "max_df": 2}, "max_df=2 means 2 documents, fewer than the 3 of min_df=3"),
        ({"min_df": 2}, "After pruning, no terms remain"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        TextEncoder(**options).fit(["good film", "bad plot"])


def test_warnings_of_scikit_learn():
    with pytest.warns(UserWarning, match=r"stop_words may be inconsistent .*'don'"):
        TextEncoder(stop_words=["don't"]).fit(["good"])
    with pytest.warns(UserWarning, match="'token_pattern' will not be used since 'tokenizer'"):
        TextEncoder(tokenizer=str.split).fit(["good"])
    with pytest.warns(UserWarning, match="'stop_words' will not be used since 'analyzer'"):
        TextEncoder(analyzer="char", stop_words=["a"]).fit(["good"])
    with pytest.warns(UserWarning, match="vocabulary has upper case, as in 'Good'"):
        TextEncoder(vocabulary=["Good"]).fit(["good"])


def test_a_tokenizer_must_give_text():
    encoder = TextEncoder(analyzer=lambda text: [text] if len(text) < 4 else [len(text)])
    with pytest.raises(ValueError, match=r"returned 4 for the text in row 1. It must return str"):
        encoder.fit(["a", "good"])


def test_not_fitted():
    with pytest.raises(ValueError, match="not fitted yet"):
        TextEncoder().transform(["good"])
    assert TextEncoder(vocabulary=["good"], use_idf=False).transform(["good"]).nnz == 1
    with pytest.raises(AttributeError, match="use_idf=False"):
        TextEncoder(use_idf=False).fit(["good"]).idf_  # noqa: B018
    with pytest.raises(AttributeError, match="without n_features has no collisions_"):
        TextEncoder().fit(["good"]).collisions_  # noqa: B018


def test_merging_what_does_not_fit():
    fitted = TextEncoder().fit(["good"])
    with pytest.raises(ValueError, match="their 'ngram_range' differs"):
        fitted.merge(TextEncoder(ngram_range=(1, 2)).fit(["good film"]))
    with pytest.raises(ValueError, match=r"Only a TextEncoder can be merged. Got int"):
        fitted.merge(3)
    loaded = TextEncoder.from_parts(*fitted.to_parts())
    with pytest.raises(ValueError, match=r"was loaded from a file, .* so it cannot partial_fit"):
        loaded.partial_fit(["more"])


# --- scikit-learn, models and files ---


def test_pipeline_and_repr():
    labels = [int("film" in text) for text in ALL_TEXTS]
    pipeline = make_pipeline(TextEncoder(sublinear_tf=True), LogisticRegression())
    assert pipeline.fit(ALL_TEXTS, labels).score(ALL_TEXTS, labels) > 0.9
    assert repr(TextEncoder(ngram_range=(1, 2))) == "TextEncoder(ngram_range=(1, 2))"
    encoder = clone(TextEncoder(min_df=2)).set_params(binary=True)
    assert encoder.get_params()["min_df"] == 2
    with pytest.raises(ValueError, match="Invalid parameter 'mindf' for estimator TextEncoder"):
        encoder.set_params(mindf=3)


@pytest.mark.parametrize("options", [{"ngram_range": (1, 2)}, {"n_features": 512}], ids=str)
def test_a_model_carries_its_encoder(tmp_path, options):
    labels = np.array([int("film" in text) for text in ALL_TEXTS])
    encoder = TextEncoder(**options)
    learner = LogisticRegression().fit(encoder.fit_transform(ALL_TEXTS), labels)
    model = replace(learner.model_, encoder=encoder)
    path = tmp_path / "model.safetensors"
    model.save(path)
    again = load(path)
    expected = learner.decision_function(encoder.transform(TEXTS))
    for texts in (TEXTS, np.array(TEXTS, dtype=object), pa.array(TEXTS)):
        np.testing.assert_array_equal(again.decision_function(texts), expected)
    told = again.explain(["a good film"]).to_dict()
    assert "film" in str(told)
    assert again.encoder.feature_names == encoder.feature_names


def test_functions_cannot_be_saved():
    encoder = TextEncoder(preprocessor=str.lower).fit(["good"])
    with pytest.raises(ValueError, match="whose 'preprocessor' is a function cannot be saved"):
        encoder.to_parts()


def test_predicting_imports_no_training_library(tmp_path):
    path = tmp_path / "parts.pickle"
    fitted = TextEncoder(stop_words="english").fit(ALL_TEXTS)
    path.write_bytes(pickle.dumps(fitted.to_parts()))
    code = (
        "import sys, pickle; from pathlib import Path; from separable import TextEncoder\n"
        f"parts = pickle.loads(Path({str(path)!r}).read_bytes())\n"
        "assert TextEncoder.from_parts(*parts).encode(['the ΣΟΦΟΣ film']).n_rows == 1\n"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"sklearn", "scipy", "pandas", "polars", "pyarrow"} & set(done.stdout.split())


# --- damaged parts ---


def parts(**options):
    return TextEncoder(**options).fit(ALL_TEXTS).to_parts()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, v: t.pop("terms"), "'terms' must be bytes"),
        (lambda t, v: t.update(terms=t["terms"][:-1]), "offsets of 'terms' must increase"),
        (lambda t, v: t.update(terms=t["terms"] | 0x80), "not UTF-8"),
        (lambda t, v: t["term_offsets"].__setitem__(1, 10**9), "offsets of 'terms' must increase"),
        (lambda t, v: t.update(term_offsets=np.zeros(1, np.int64)), "must increase from 0 to"),
        (lambda t, v: t.update(idf=t["idf"][:-1]), "'idf' must be an array"),
        (lambda t, v: t.update(idf=t["idf"] * np.nan), "'idf' must be an array"),
        (lambda t, v: t.pop("idf"), "wrong tensors"),
        (lambda t, v: t.update(more=t["idf"]), "wrong tensors"),
        (lambda t, v: v.pop("norm"), "wrong options"),
        (lambda t, v: v.update(norm="l9"), "'norm' parameter"),
        (lambda t, v: v.update(ngram_range=[1]), "'ngram_range' is wrong"),
        (lambda t, v: v.update(ngram_range=[1, 10**9]), "'ngram_range' parameter"),
        (lambda t, v: v.update(n_documents=-1), "'n_documents' is wrong"),
        (lambda t, v: t.update(stop_words=np.zeros(3)), "'stop_words' must be texts"),
        (lambda t, v: v.update(token_pattern=3), "'token_pattern' must be text"),
        (lambda t, v: v.update(analyzer=["word"]), "'analyzer' must be text"),
    ],
)
def test_damaged_parts(change, message):
    tensors, values = parts()
    change(tensors, values)
    with pytest.raises(ValueError, match=message):
        TextEncoder.from_parts(tensors, values)


def test_terms_that_are_there_twice():
    tensors, values = parts(vocabulary=["aa", "bb"])
    tensors["terms"] = np.frombuffer(b"aaaa", np.uint8)
    with pytest.raises(ValueError, match="names must differ"):
        TextEncoder.from_parts(tensors, values)


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 2**40),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers(-1, 3), max_size=3),
)
ARRAYS = st.one_of(
    st.binary(max_size=30).map(lambda data: np.frombuffer(data, np.uint8)),
    st.lists(st.integers(-2, 40), max_size=9).map(lambda numbers: np.array(numbers, np.int64)),
    st.lists(st.floats(), max_size=9).map(np.array),
    st.lists(st.text(max_size=4), max_size=4).map(tuple),
)


@given(st.data(), st.sampled_from([{}, {"n_features": 8}, {"analyzer": "char"}]))
def test_forged_parts_are_refused_or_work(data, options):
    tensors, values = TextEncoder(**options).fit(["good film", "a bad film"]).to_parts()
    values.update(data.draw(st.dictionaries(st.sampled_from(sorted(values)), JUNK, max_size=2)))
    tensors.update(data.draw(st.dictionaries(st.sampled_from(sorted(tensors)), ARRAYS, max_size=2)))
    try:
        encoder = TextEncoder.from_parts(tensors, values)
    except (ValueError, TypeError):
        return
    assert encoder.encode(FEW).n_rows == len(FEW) if encoder.input == "content" else True


@pytest.mark.parametrize(
    ("option", "values", "others"),
    [
        ("smooth_idf", (True, False), {"use_idf": False}),
        ("alternate_sign", (True, False), {}),
        ("max_df", (1.0, 2), {"vocabulary": ["cat", "dog", "sat"]}),
        ("min_df", (1, 3), {"vocabulary": ["cat", "dog", "sat"]}),
        ("max_features", (None, 1), {"vocabulary": ["cat", "dog", "sat"]}),
        ("lowercase", (True, False), {"preprocessor": str.upper}),
        ("strip_accents", (None, "unicode"), {"preprocessor": str.upper}),
    ],
)
def test_options_that_change_nothing_are_a_warning(option, values, others):
    texts = ["the cat sat on the mat", "a dog sat", "the dog and the Cat", "a caf\xe9"]
    before, after = (TextEncoder(**{option: value}, **others) for value in values)
    plain = before.fit_transform(texts)
    with pytest.warns(UserWarning, match=f"The parameter '{option}' will not be used since"):
        changed = after.fit_transform(texts)
    np.testing.assert_array_equal(plain.toarray(), changed.toarray())
