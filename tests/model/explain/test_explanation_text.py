from __future__ import annotations

import numpy as np

from separable.model.linear_model import LinearModel


def test_one_row_is_a_table_that_ends_in_the_score() -> None:
    model = LinearModel(
        [[1, -5, 2]], [0.5], ["no", "yes"], "score", ["age", "height", "fee"], learner="Perceptron"
    )
    assert str(model.explain([[1, 1, 0]])).splitlines() == [
        "Perceptron predicts no: score -3.5 (> 0 is yes)",
        "  feature            value  weight  contribution",
        "  height                 1      -5            -5",
        "  age                    1       1            +1",
        "  (1 other feature)                            0",
        "  intercept                                 +0.5",
        "  score                                     -3.5",
    ]


def test_many_rows_show_the_first_few() -> None:
    model = LinearModel([[1, 2]], [0], ["no", "yes"], "score", learner="Perceptron")
    lines = str(model.explain(np.arange(20.0).reshape(10, 2))).splitlines()
    assert lines[0] == "Perceptron on 10 rows"
    assert lines[1] == "  row 0: yes, score +2: x1 +2"
    assert lines[-2:] == ["... 5 more rows", "explanation[i] shows row i in full"]
    assert len(lines) == 8


def test_classes_that_are_floats_are_shown() -> None:
    model = LinearModel([[1]], [0], [0.5, 1.5], "score")
    assert "  row 0: 1.5, score +1: x0 +1\n" in str(model.explain([[1], [2]]))


def test_all_classes_are_listed_largest_first() -> None:
    model = LinearModel(np.eye(8), np.zeros(8), list("abcdefgh"), "score")
    last = str(model.explain([np.arange(8.0)])).splitlines()[-1]
    assert last == "all scores: h +7, g +6, f +5, e +4, d +3, c +2, ... 2 more"


def test_regression_speaks_of_predictions() -> None:
    number = LinearModel([[2]], [1], None, "identity", learner="Ridge")
    assert str(number.explain([[3]])).splitlines() == [
        "Ridge predicts 7",
        "  feature     value  weight  contribution",
        "  x0              3       2            +6",
        "  intercept                            +1",
        "  prediction                            7",
    ]
    assert "  row 1: prediction -1: x0 -2\n" in str(number.explain([[3], [-1]]))
    two = LinearModel([[2], [-3]], [1, 0], None, "identity", learner="Ridge")
    told = str(two.explain([[3]]))
    assert told.startswith("Ridge predicts 7 for target 0\n")
    assert told.endswith("\nall targets: 0 is 7, 1 is -9")
    for explanation in (number.explain([[3]]), number.explain([[3], [4]]), two.explain([[3]])):
        for word in ("score", "class"):
            assert word not in str(explanation)
            assert word not in explanation._repr_html_()


def test_a_single_class_says_so() -> None:
    single = LinearModel([[2]], [1], ["only"], "score")
    assert "predicts only: score +7 (the only class met so far)" in str(single.explain([[3]]))


def test_control_characters_cannot_reach_the_terminal() -> None:
    nasty = "\x1b[31mred\nnext\u202e"
    model = LinearModel([[1]], [0], ["a", "b" + nasty], "score", [nasty], learner=nasty)
    for text in (
        str(model.explain([[1]])),
        str(model.explain([[1], [2]])),
        str(model.top_weights()),
    ):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert r"\x1b[31mred\nnext\u202e" in text


def test_long_names_are_cut() -> None:
    model = LinearModel([[1]], [0], [0, 1], "score", ["n" * 5000])
    assert max(len(line) for line in str(model.explain([[1]])).splitlines()) < 100
