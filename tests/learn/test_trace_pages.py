"""Traces as files: a page of the lab, an animation; tables of results for notebooks."""

from __future__ import annotations

import numpy as np
import pytest

from separable import LDA, BatchPerceptron, LogisticRegression, Perceptron, WidrowHoff
from separable.datasets import load
from separable.geometry import separability
from separable.learn import trace
from separable.select import cross_validate, learning_curve


def test_a_saved_trace_is_the_lab_at_its_last_step(opened, tmp_path):
    X, y, _ = load("and")
    order = [3, 1, 0, 2]
    steps = trace(Perceptron(eta0=0.5), X, y, order=order, start=[0, 1, 0.25])
    file = steps.save(tmp_path / "trace.html")
    with pytest.raises(FileExistsError):
        steps.save(file)
    with opened(file.read_text()) as page:
        now = page.inner_text("#now").replace("\u2212", "-")
        assert now.startswith(f"Step {len(steps)} of {len(steps)}, {steps.updates} updates.")
        b, w1, w2 = steps.weights[-1, 0]
        assert f"(b, w) = ({b:g}, {w1:g}, {w2:g})" in now


@pytest.mark.parametrize("learner", [BatchPerceptron(), Perceptron()], ids=repr)
def test_pages_of_traces_name_the_learner(learner, tmp_path):
    X, y, _ = load("or")
    text = trace(learner, X, y, order="given").save(tmp_path / "a.html").read_text()
    assert "learner=batch" in text or "learner=perceptron" in text


def test_traces_that_the_lab_cannot_show(tmp_path):
    X, y, _ = load("or")
    cases = [(WidrowHoff(), "shows classifiers"), (Perceptron(), "differs between epochs")]
    for learner, message in cases:
        with pytest.raises(ValueError, match=message):
            trace(learner, X, y).save(tmp_path / "b.html")
    with pytest.raises(ValueError, match="at most 8 columns"):
        trace(Perceptron(), np.hstack([X] * 5), y, order="given").save(tmp_path / "b.html")
    assert not (tmp_path / "b.html").exists()


def test_an_animation_has_a_frame_for_each_update(tmp_path):
    from PIL import Image

    X, y, _ = load("or")
    steps = trace(Perceptron(), X, y, order="given")
    with Image.open(steps.animate(tmp_path / "or.gif", frames=5)) as image:
        assert image.n_frames == min(5, steps.updates + 1)
    with pytest.raises(ValueError, match="two columns"):
        trace(WidrowHoff(), X, y).animate(tmp_path / "b.gif")


def test_results_have_tables_for_notebooks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, "<a>", "b")
    scores = cross_validate(LDA(), X, y, cv=5)
    curve = learning_curve(LDA(), X, y)
    certificate = LogisticRegression().fit(X, y).certificate_
    for shown, text in [
        (scores, "std. error"),
        (curve, "Best constant prediction"),
        (certificate, "the optimum is at least"),
        (separability(X, y), "&lt;a&gt;"),
        (separability(X, rng.permutation(np.repeat(["a", "<b>", "c"], 20))), "&lt;b&gt;"),
        (trace(Perceptron(max_iter=2), X, y), "&lt;a&gt;"),
    ]:
        html = shown._repr_html_()
        assert text in html
        assert "<a>" not in html
        assert html.count("<tr>") == html.count("</tr>")
    assert scores._repr_html_().count("<tr>") == 8  # the head, five folds, mean, standard error
