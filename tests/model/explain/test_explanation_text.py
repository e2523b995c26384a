from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest

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


NASTY = "<script>alert('x')</script>\"&"


class Balance(HTMLParser):
    """Collects tags and text, and checks that every tag is closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: set[str] = set()
        self.words: list[str] = []
        self.attributes: set[str] = set()
        self.feed(page)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.stack.append(tag)
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.mark.parametrize("n", [1, 2, 40])
@pytest.mark.parametrize("K", [2, 4])
def test_hostile_names_stay_text(n: int, K: int) -> None:
    k = 1 if K == 2 else K
    classes = sorted(f"{NASTY}{i}" for i in range(K))
    names = [NASTY + str(j) for j in range(30)]
    rng = np.random.default_rng(n)
    model = LinearModel(
        rng.normal(size=(k, 30)), np.zeros(k), classes, "score", names, learner=NASTY
    )
    page = Balance(model.explain(rng.normal(size=(n, 30)))._repr_html_())
    assert page.tags <= {"div", "p", "b", "table", "tr", "th", "td"}
    assert page.attributes <= {"style"}
    assert any(NASTY in word for word in page.words)


def test_one_row_shows_terms_bars_and_score() -> None:
    model = LinearModel([[4, -2]], [-3], ["ham", "spam"], "score", ["free", "money"])
    html = model.explain([[1, 1]])._repr_html_()
    words = Balance(html).words
    assert words == [
        "LinearModel predicts ham: score -1 (> 0 is spam)",
        "feature", "value", "weight", "contribution",
        "free", "1", "4", "+4",
        "money", "1", "-2", "-2",
        "intercept", "-3",
        "score", "-1",
    ]  # fmt: skip
    assert "left:50.00%;width:50.00%" in html  # +4, the largest, runs right
    assert "left:25.00%;width:25.00%" in html  # -2 runs left, half as far


def test_regression_shows_predictions() -> None:
    model = LinearModel([[4, -2]], [-3], None, "identity", ["rooms", "age"], learner="Ridge")
    words = Balance(model.explain([[1, 1]])._repr_html_()).words
    assert words[0] == "Ridge predicts -1"
    assert words[-2:] == ["prediction", "-1"]
    assert Balance(model.explain([[1, 1], [2, 0]])._repr_html_()).words == [
        "Ridge on 2 rows",
        "row", "prediction", "largest contributions",
        "0", "-1", "rooms +4, age -2",
        "1", "5", "rooms +8",
    ]  # fmt: skip


def test_a_row_without_contributions_is_drawn() -> None:
    model = LinearModel([[0]], [-3], ["ham", "spam"], "score")
    assert "1 other feature" in Balance(model.explain([[5]])._repr_html_()).words
