"""Lecture row L1: score = w.x + b, class by its sign, the bias as x0 = 1."""

from __future__ import annotations

import numpy as np

from separable import LinearModel

WORDS = ["free", "money"]
SPAM = LinearModel([[4, 2]], [-3], ["ham", "spam"], "score", WORDS)


def counts(text: str) -> list[int]:
    return [text.split().count(word) for word in WORDS]


def test_free_money_scores_exactly_three() -> None:
    x = [counts("free money")]
    assert SPAM.decision_function(x).tolist() == [3.0]
    assert SPAM.predict(x).tolist() == ["spam"]


def test_class_is_the_sign_of_the_score_and_zero_is_not_positive() -> None:
    texts = ["free money", "money", "free", "", "free free money money"]
    scores = SPAM.decision_function([counts(text) for text in texts])
    assert scores.tolist() == [3.0, -1.0, 1.0, -3.0, 9.0]
    assert SPAM.predict([counts(text) for text in texts]).tolist() == [
        "spam" if score > 0 else "ham" for score in (3, -1, 1, -3, 9)
    ]
    on_the_plane = LinearModel([[1]], [-1], ["ham", "spam"], "score")
    assert on_the_plane.predict([[1]]).tolist() == ["ham"]


def test_bias_as_a_feature_that_is_always_one() -> None:
    homogeneous = LinearModel([[-3, 4, 2]], [0], ["ham", "spam"], "score", ["BIAS", *WORDS])
    x = np.array([counts("free money"), counts("money")])
    with_one = np.column_stack([np.ones(len(x)), x])
    np.testing.assert_array_equal(
        homogeneous.decision_function(with_one), SPAM.decision_function(x)
    )


def test_explanation_shows_the_slide() -> None:
    text = str(SPAM.explain([counts("free money")]))
    lines = [line.split() for line in text.splitlines()]
    assert ["free", "1", "4", "+4"] in lines
    assert ["money", "1", "2", "+2"] in lines
    assert ["intercept", "-3"] in lines
    assert ["score", "+3"] in lines
