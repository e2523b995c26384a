"""The questions of the lessons: complete for every seed, and their answers computed another way."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

from separable import LDA, BatchPerceptron, Lasso, LeastSquares, Perceptron, Ridge
from separable.geometry import separability
from separable.lab import lab
from separable.lab.lab_page import LESSONS
from tests.lab.in_node import in_node

SEEDS = list(range(25))
QUESTIONS = (
    "given.map((seed) => Object.fromEntries(Object.keys(lessons.LESSONS).map((name) => "
    "[name, lessons.questionsOf(name, seed).map((q) => ({ ...q, task: Boolean(q.task), "
    "key: lessons.keyOf(q), accepts: !q.task && lessons.isRight(q, q.choices ? String(q.right) : "
    "q.answer.join(', ')) }))])))"
)


@pytest.fixture(scope="module")
def sets():
    """Return the questions of every lesson for each seed."""
    return in_node(QUESTIONS, SEEDS)


def numbers(text):
    """Return the numbers of a question."""
    return [float(v) for v in re.findall(r"-?\d+(?:\.\d+)?", text.replace("\u2212", "-"))]


def test_every_lesson_has_three_to_six_questions_with_an_answer(sets):
    for lessons in sets:
        assert tuple(lessons) == LESSONS
        for questions in lessons.values():
            assert 3 <= len(questions) <= 6
            for question in questions:
                assert question["why"]
                assert question["key"]
                assert question["accepts"] or question["task"]
                assert not re.search("NaN|undefined|Infinity", json.dumps(question))


def test_questions_depend_on_the_seed(sets):
    for name in LESSONS:
        assert len({json.dumps(lessons[name]) for lessons in sets}) > 1 or name == "L18"


def answers(sets, name, k):
    """Yield the numbers in question k of a lesson, and its answer."""
    for lessons in sets:
        question = lessons[name][k]
        yield numbers(question["ask"]), question["answer"]


def test_scores_and_updates(sets):
    for (bias, free, money), (answer,) in answers(sets, "L1", 0):
        assert answer == bias + free + money
    for (b, w1, w2, eta, x1, x2, y), answer in answers(sets, "L4", 0):
        mistake = y * (b + w1 * x1 + w2 * x2) <= 0
        step = eta * y * mistake
        assert answer == [b + step, w1 + step * x1, w2 + step * x2]
    for given, answer in answers(sets, "L10", 0):
        b, w1, w2, _, x1, x2, y = given[:7]
        np.testing.assert_allclose(answer, b + w1 * x1 + w2 * x2 - y, atol=1e-12)


def test_answers_of_learners(sets):
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    learner = Perceptron(shuffle=False).fit(corners, [0, 0, 0, 1])
    assert sets[0]["L4"][2]["answer"] == [learner.evidence_["updates"]]
    batch = BatchPerceptron().fit(corners, [0, 0, 0, 1])
    assert sets[0]["L7"][1]["answer"] == [batch.n_iter_]
    for (_, _, _, *y), (slope,) in answers(sets, "L9", 0):
        fitted = LeastSquares().fit([[0], [1], [2]], y)
        np.testing.assert_allclose(slope, np.ravel(fitted.coef_), atol=1e-12)
    for given, (slope,) in answers(sets, "L11", 0):
        fitted = Ridge(alpha=given[-1]).fit([[-1], [0], [1]], given[3:6])
        np.testing.assert_allclose(slope, np.ravel(fitted.coef_), atol=1e-12)


def test_answers_of_the_lasso_and_of_discriminants(sets):
    X = [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    for lessons in sets:
        y = numbers(lessons["L12"][1]["ask"])[8:12]
        (alpha,) = numbers(lessons["L12"][2]["ask"])[:1]
        fitted = Lasso(alpha=alpha).fit(X, y)
        np.testing.assert_allclose(lessons["L12"][2]["answer"], fitted.coef_, atol=1e-10)
    for lessons in sets:
        rows = [[v] for v in numbers(lessons["L22"][0]["ask"])]
        (x,) = numbers(lessons["L22"][2]["ask"].replace("delta_2", ""))[:1]
        fitted = LDA(priors=[0.5, 0.5]).fit(rows, [0, 0, 1, 1])
        delta = fitted.discriminants([[x]])[0, 1]
        np.testing.assert_allclose(lessons["L22"][2]["answer"], delta, atol=1e-12)
        moved = LDA(priors=[0.25, 0.75]).fit(rows, [0, 0, 1, 1])
        np.testing.assert_allclose(
            moved.decision_function([lessons["L22"][3]["answer"]]), 0, atol=1e-12
        )


def test_counts(sets):
    assert sets[0]["L5"][1]["answer"] == [14]
    assert sets[0]["L16"][1]["answer"] == [14]
    for (radius, gamma), (answer,) in answers(sets, "L5", 2):
        assert answer == math.floor((radius / gamma) ** 2)
    for (side, _), (answer,) in answers(sets, "L23", 1):
        assert answer == side * side


REPLIES = [("1, -2, 3", True), ("(1, \u22122, 3)", True), ("1 -2 3.001", True), ("1, 2, 3", False)]


@pytest.mark.parametrize(("text", "right"), [*REPLIES, ("1, -2", False), ("", False)])
def test_replies(text, right):
    assert in_node("lessons.isRight({ answer: [1, -2, 3] }, given)", text) == right


def test_a_task_is_solved_by_moving_a_row():
    solved = "given.map(([X, y]) => lessons.questionsOf('L5', 1)[3].task({ X, y, steps: [] }))"
    corners, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1]
    moved = [[0, 0], [0, 1], [1, 0], [0.2, 0.2]]
    assert in_node(solved, [[corners, y], [moved, y], [corners, [-1, 1, 1, 1]]]) == [
        False,
        True,
        False,
    ]


def test_each_student_has_rows_of_their_own():
    sets = in_node("given.map((seed) => seeded.cloudsOf(seed))", [*range(40), 7])
    assert sets[-1] == sets[7]
    assert len({json.dumps(each) for each in sets}) == 40
    verdicts = [separability(np.array(each["X"]), each["y"]).kind for each in sets]
    assert {"separable", "overlap"} <= set(verdicts)
    for each in sets:
        assert np.abs(each["X"]).max() < 8
        assert sorted(each["y"]) == [-1] * 20 + [1] * 20


@pytest.mark.slow
def test_a_link_holds_the_number_of_the_rows(opened):
    address = "#example=seeded&student=12&learner=perceptron&at=40"
    with opened(lab(), address) as page:
        first = page.inner_text("#python")
        assert "X = [[" in first
        page.fill("#student", "13")
        page.press("#student", "Enter")
        page.wait_for_url("**student=13**")
        assert page.inner_text("#python") != first


def test_wrong_lessons_and_seeds():
    with pytest.raises(ValueError, match="no lesson 'L24'"):
        lab(lesson="L24")
    with pytest.raises(ValueError, match="from 0 to"):
        lab(lesson="L4", seed=-1)


@pytest.mark.slow
def test_a_lesson_in_the_browser(opened):
    with opened(lab(lesson="L4", seed=3)) as page:
        assert page.inner_text("#progress") == "Question 1 of 5, 0 answered."
        page.click("#next")
        page.fill("#reply", "0, 0, 0")
        page.click("#check")
        assert page.inner_text("#feedback") == "Not yet. Try again."
        page.fill("#reply", "-1, 0, 0")
        page.click("#check")
        assert page.inner_text("#feedback").startswith("Right.")
        assert page.inner_text("#now").startswith("Step 1 of 36")
        assert not page.is_visible("#key")
        with page.expect_download() as download:
            page.click("#results")
        results = json.loads(download.value.path().read_text())
        assert (results["lesson"], results["student"], results["solved"]) == ("L4", 3, 1)
        assert results["answers"][1]["wrong_replies"] == ["0, 0, 0"]


@pytest.mark.slow
def test_every_question_opens_and_the_key_has_its_answer(opened):
    with opened(lab(lesson="L1", key=True)) as page:
        for name in LESSONS:
            page.select_option("#lessonName", name)
            count = page.locator("#answers li").count()
            for _ in range(count - 1):
                assert page.inner_text("#ask")
                page.click("#next")
            assert page.is_disabled("#next")
        page.wait_for_url("**lessonName=L23**")
