"""Where words stand in a text, as the encoder counts them."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from separable import TextEncoder
from separable.features.text.text_plan import contributions_of_words

TEXTS = st.text(
    st.sampled_from("aAb\u00df\u0130\u03a3\u03c3\u00e9\ufb01 .,-_1\n\u00a0\u00f1\u0301"),
    max_size=40,
)


@given(TEXTS, st.sampled_from([None, "unicode", "ascii"]), st.booleans())
def test_spans_are_the_words_that_are_counted(text, accents, lowercase):
    options = {"strip_accents": accents, "lowercase": lowercase, "norm": None, "use_idf": False}
    encoder = TextEncoder(token_pattern=r"(?u)\b\w+\b", **options)
    encoder.fit([text, "fallback"])
    spans = encoder.word_spans(text)
    if spans is None:  # the text changes its length in ways that cannot be followed
        return
    rows = encoder.encode([text])
    counts = {encoder.feature_names[j]: n for j, n in zip(rows.indices, rows.values, strict=True)}
    found: dict[str, int] = {}
    for span in spans:
        found[span.word] = found.get(span.word, 0) + 1
        assert 0 <= span.start < span.end <= len(text)
    assert found == counts
    assert [a.end <= b.start for a, b in pairwise(spans)].count(False) == 0


def test_places_are_those_of_the_text_as_it_was_written():
    encoder = TextEncoder(strip_accents="unicode").fit(["cafe creme"])
    text = "Le CAFÉ, la crème"
    spans = encoder.word_spans(text)
    assert [text[span.start : span.end] for span in spans] == ["Le", "CAFÉ", "la", "crème"]
    assert [span.word for span in spans] == ["le", "cafe", "la", "creme"]


def test_a_pattern_with_a_group():
    encoder = TextEncoder(token_pattern=r"#(\w+)").fit(["#good #film"])
    text = "so #Good, film"
    assert [text[s.start : s.end] for s in encoder.word_spans(text)] == ["Good"]


@pytest.mark.parametrize(
    "options",
    [{"analyzer": "char"}, {"tokenizer": str.split, "token_pattern": None}, {"preprocessor": str}],
)
def test_no_words(options):
    assert TextEncoder(**options).fit(["good film"]).word_spans("good") is None


def test_shares_sum_to_the_parts():
    encoder = TextEncoder(ngram_range=(1, 3), stop_words=["the"]).fit(["a good film the end"])
    spans = encoder.word_spans("Good the film; good film end")
    words = [span.word for span in spans]
    assert words == ["good", "film", "good", "film", "end"]
    parts = {"good": 1.0, "good film": 3.0, "good film end": -3.0, "absent": 9.0}
    shares = contributions_of_words(spans, (1, 3), parts)
    assert shares == pytest.approx([0.5 + 0.75, 0.75, 0.5 + 0.75 - 1, 0.75 - 1, -1])
    assert sum(shares) == pytest.approx(1.0)
    assert contributions_of_words([], (1, 2), parts) == []
    assert re.fullmatch(r"\w+", words[0])
