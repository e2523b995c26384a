from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest

from separable.model.linear_model import LinearModel

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
