"""Training in frames: the real learner's steps, and files of them."""

from __future__ import annotations

import re
from io import BytesIO

import numpy as np
import pytest
from scipy import sparse

from separable import LDA, AveragedPerceptron, Perceptron, SGDClassifier
from separable.plot import TrainingFramesDisplay
from tests.plot.clouds import texts_of, two_clouds

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

DESCENT = SGDClassifier(
    "sigmoid_mse", shuffle=False, learning_rate="constant", eta0=0.5, max_iter=3, tol=None
)


def perceptron(X, y):
    """The slide: on a mistake add y x, until an epoch has none."""
    w, b, steps = np.zeros(2), 0.0, []
    for epoch in range(1, 1000):
        before = len(steps)
        for i, (x, side) in enumerate(zip(X, np.where(y == 1, 1.0, -1.0), strict=True)):
            if side * (w @ x + b) <= 0:
                w, b = w + side * x, b + side
                steps.append((w, b, i, epoch))
        if len(steps) == before:
            return steps
    raise AssertionError


def descent(X, y, eta, epochs):
    """w -= eta d/dw (t - sigma(w.x + b))^2."""
    w, b, steps = np.zeros(2), 0.0, []
    for epoch in range(1, epochs + 1):
        for i, (x, t) in enumerate(zip(X, y, strict=True)):
            sigma = 1 / (1 + np.exp(-(w @ x + b)))
            slope = -2 * (t - sigma) * sigma * (1 - sigma)
            w, b = w - eta * slope * x, b - eta * slope
            steps.append((w, b, i, epoch))
    return steps


@pytest.mark.parametrize("seed", range(4))
def test_frames_of_the_perceptron_are_the_slides_steps(seed):
    X, y = two_clouds(40, seed, gap=0.2)
    frames = TrainingFramesDisplay.from_estimator(Perceptron(shuffle=False), X, y, panels=2).frames
    steps = perceptron(X, y)
    assert len(frames) == len(steps) + 1 >= 3
    assert frames.row[1:].tolist() == [step[2] for step in steps]
    assert frames.epoch[1:].tolist() == [step[3] for step in steps]
    np.testing.assert_allclose(frames.coef[1:], [step[0] for step in steps], atol=1e-12)
    np.testing.assert_array_equal(frames.intercept[1:], [step[1] for step in steps])
    assert not frames.coef[0].any()


def test_frames_of_descent_are_gradient_steps():
    X, y = two_clouds(12)
    frames = TrainingFramesDisplay.from_estimator(DESCENT, X, y, panels=2).frames
    steps = descent(X, y, 0.5, 3)
    assert len(frames) == 12 * 3 + 1
    np.testing.assert_allclose(frames.coef[1:], [step[0] for step in steps], rtol=1e-9)
    np.testing.assert_allclose(frames.intercept[1:], [step[1] for step in steps], atol=1e-12)


@pytest.mark.parametrize(
    "learner",
    [
        Perceptron(shuffle=False),
        Perceptron(shuffle=False, eta0=0.3, fit_intercept=False),
        DESCENT,
        SGDClassifier("sigmoid_mse", shuffle=False, max_iter=4),
        SGDClassifier("log_loss", shuffle=False, max_iter=3, penalty="l2", average=True),
        AveragedPerceptron(shuffle=False, max_iter=2),
    ],
    ids=lambda learner: repr(learner)[:40],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_last_frame_is_the_learners_answer_to_the_bit(learner, dtype):
    X, y = two_clouds(20, 3, gap=0.6)
    X = X.astype(dtype)
    display = TrainingFramesDisplay.from_estimator(learner, X, y, panels=1)
    fitted = learner.__class__(**learner.get_params()).fit(X, y)
    assert display.frames.coef[-1].tobytes() == fitted.coef_[0].astype(np.float64).tobytes()
    assert display.frames.intercept[-1] == fitted.intercept_[0]
    assert display.wrong(len(display.frames) - 1) == (fitted.predict(X) != y).sum()
    assert not hasattr(learner, "coef_")  # a copy learned


def test_panels():
    X, y = two_clouds(12)
    display = TrainingFramesDisplay.from_estimator(DESCENT, X, y, panels=6)
    assert len(display.axes_) == 6
    assert any("SGDClassifier on (y - sigma)²: 36 updates" in text for text in texts_of(display))
    titles = [ax.get_title(loc="left") for ax in display.axes_]
    assert titles[0].startswith("start: 6 of 12 wrong")
    assert titles[-1].startswith("update 36 (epoch 3)")
    scores = X @ display.frames.coef[-1] + display.frames.intercept[-1]
    losses = ((y == display.classes[1]) - 1 / (1 + np.exp(-scores))) ** 2
    assert f"mean loss {losses.mean():.3f}" in titles[-1]
    # the boundary drawn satisfies w.x + b = 0
    line = next(line for line in display.axes_[-1].lines if line.get_label() == "boundary")
    points = np.column_stack(line.get_data())
    scores = points @ display.frames.coef[-1] + display.frames.intercept[-1]
    np.testing.assert_allclose(scores, 0, atol=1e-9)
    assert len(points) == 2


def test_chosen_frames():
    X, y = two_clouds(12)
    frames = TrainingFramesDisplay.from_estimator(DESCENT, X, y, panels=2).frames
    for most in (1, 2, 5, 9, 30, 37, 100):
        chosen = frames.chosen(most)
        assert chosen[-1] == 36
        assert len(chosen) == min(most, 37)
        assert (np.diff(chosen) > 0).all()


def test_gif(tmp_path):
    from PIL import Image

    X, y = two_clouds(12)
    display = TrainingFramesDisplay.from_estimator(DESCENT, X, y, panels=2)
    path = display.save(tmp_path / "x.gif", frames=4, seconds=0.2)
    with Image.open(path) as picture:
        assert picture.n_frames == 4
        assert picture.info["loop"] == 0
        assert picture.info["duration"] == 200
        first = np.asarray(picture.convert("RGB"))
        picture.seek(3)
        assert (np.asarray(picture.convert("RGB")) != first).any()
    assert path.read_bytes() == display.save(tmp_path / "y.gif", frames=4, seconds=0.2).read_bytes()


def test_html_asks_for_nothing_outside(tmp_path):
    from base64 import b64decode

    from PIL import Image

    X, y = two_clouds(12)
    display = TrainingFramesDisplay.from_estimator(DESCENT, X, y, panels=2)
    page = display.save(tmp_path / "x.html", frames=3).read_text(encoding="utf-8")
    assert page == display.to_html(frames=3)
    frames = re.findall(r'"([A-Za-z0-9+/=]{1000,})"', page)
    rest = re.sub(r'"[A-Za-z0-9+/=]{1000,}"', "", page).replace('picture.src = "data:', "")
    assert not re.search(r"//|<link|@import|src *=", rest)
    assert len(frames) == 3
    for frame in frames:
        assert Image.open(BytesIO(b64decode(frame))).format == "PNG"


def test_other_files_are_refused(tmp_path):
    X, y = two_clouds(12)
    display = TrainingFramesDisplay.from_estimator(DESCENT, X, y, panels=2)
    with pytest.raises(ValueError, match=r"saved as .gif or .html. Got 'x.mp4'"):
        display.save(tmp_path / "x.mp4")
    with pytest.raises(ValueError, match=r"frames must be an int >= 1. Got 0"):
        display.save(tmp_path / "x.gif", frames=0)
    with pytest.raises(ValueError, match=r"seconds must be a finite float > 0. Got 0"):
        display.save(tmp_path / "x.html", seconds=0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("learner", "error", "message"),
    [
        (Perceptron(), ValueError, "Set shuffle=False"),
        (LDA(), TypeError, "LDA does not learn row by row"),
        (
            SGDClassifier("log_loss", shuffle=False, early_stopping=True, max_iter=3),
            ValueError,
            "do not end where its fit ends",
        ),
    ],
)
def test_learners_without_frames(learner, error, message):
    with pytest.raises(error, match=message):
        TrainingFramesDisplay.from_estimator(learner, *two_clouds(24))


def test_sparse_rows_are_learned_from_as_they_are():
    X, y = two_clouds(16, 2, gap=0.3)
    X[np.abs(X) < 0.5] = 0
    X = sparse.csr_array(X.astype(np.float32))
    display = TrainingFramesDisplay.from_estimator(DESCENT, X, y, panels=1)
    fitted = SGDClassifier(**DESCENT.get_params()).fit(X, y)
    assert display.frames.coef[-1].tobytes() == fitted.coef_[0].astype(np.float64).tobytes()


def test_too_many_steps():
    X, y = two_clouds(2000)
    learner = SGDClassifier("log_loss", shuffle=False, max_iter=11, tol=None)
    with pytest.raises(ValueError, match="2000 rows in 11 epochs are 22000 steps"):
        TrainingFramesDisplay.from_estimator(learner, X, y)


def test_bad_rows():
    X, y = two_clouds(12)
    learner = Perceptron(shuffle=False)
    with pytest.raises(ValueError, match=r"draws two classes. Got 3"):
        TrainingFramesDisplay.from_estimator(learner, X, np.arange(12) % 3)
    with pytest.raises(ValueError, match=r"2 columns. Got 1"):
        TrainingFramesDisplay.from_estimator(learner, X[:, :1], y)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        TrainingFramesDisplay.from_estimator(learner, X, y)
