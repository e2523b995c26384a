"""Boundaries: what is drawn is the true one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from separable import (
    LinearModel,
    LinearSVM,
    LogisticRegression,
    PolynomialEncoder,
    Ridge,
    TextEncoder,
    VotedPerceptron,
)
from separable.plot import BoundaryDisplay

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)


def relative_score(X, w, b):
    return np.abs(X @ w + b) / (np.linalg.norm(w) * np.linalg.norm(X, axis=1) + abs(b))


def test_two_columns_with_margins_and_support_rows():
    X, y = IRIS[0][50:, 2:], IRIS[1][50:]
    svm = LinearSVM(loss="hinge", C=10).fit(X, y)
    display = BoundaryDisplay.from_estimator(svm, X, y)
    assert np.array_equal(display.points, X)
    assert np.abs(svm.decision_function(display.lines[0])).max() < 1e-12
    levels = [svm.decision_function(line) for line in display.margin_lines]
    assert np.allclose(np.abs(levels), 1)
    assert sorted(np.sign(each[0]) for each in levels) == [-1, 1]
    margins = (2 * (y == 2) - 1) * svm.decision_function(X)
    assert np.array_equal(display.support, margins <= 1.001)
    assert display.wrong == (svm.predict(X) != y).sum()
    drawn = [line.get_xydata() for line in display.ax_.lines]
    assert any(np.array_equal(each, display.lines[0]) for each in drawn)
    assert display.ax_.get_xlabel() == "x0"


def test_the_line_drawn_in_thirty_dimensions_is_on_the_hyperplane():
    X, y = CANCER
    model = LogisticRegression(standardize=True).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    w, b = model.coef_[0], model.intercept_[0]
    points = display.points_in_space()
    assert points.shape == (2, 30)
    assert relative_score(points, w, b).max() < 1e-9
    wanted = (X @ w + b) / np.linalg.norm(w)
    assert np.allclose(display.points[:, 0], wanted, atol=1e-9 * np.abs(wanted).max())
    margin = display.points_in_space(display.margin_lines[0])
    scores = model.decision_function(margin)
    assert np.allclose(np.abs(scores), 1, atol=1e-6)
    assert display.wrong == (model.predict(X) != y).sum()
    assert "distance to the boundary" in display.ax_.get_xlabel()


def test_wide_sparse_rows_stay_sparse(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random_array((400, 20_000), density=0.002, rng=rng, format="csr")
    y = np.where(X @ rng.normal(size=20_000) > 0, "yes", "no")
    model = LogisticRegression(C=100).fit(X, y)
    monkeypatch.setattr(sparse.csr_array, "toarray", lambda *_: pytest.fail("made dense"))
    monkeypatch.setattr(sparse.csr_array, "todense", lambda *_: pytest.fail("made dense"))
    display = BoundaryDisplay.from_estimator(model, X, y)
    assert (
        relative_score(display.points_in_space(), model.coef_[0], model.intercept_[0]).max() < 1e-9
    )


def test_three_classes_of_many_columns_are_drawn_truly():
    X, y = load_wine(return_X_y=True)
    model = LogisticRegression(standardize=True).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    scores = model.decision_function(X)
    in_plane = display.scene.score(display.points)
    assert np.allclose(in_plane - in_plane[:, :1], scores - scores[:, :1], atol=1e-8)
    assert display.wrong == (model.predict(X) != y).sum()
    for line in display.lines:
        tops = np.sort(model.decision_function(display.points_in_space(line)), axis=1)
        assert np.allclose(tops[:, -1], tops[:, -2], atol=1e-7)
    assert display.margin is None


def test_two_of_many_classes():
    X, y = IRIS
    model = LogisticRegression(multi_class="ovr").fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y, classes=(2, 1))
    w = model.coef_[1] - model.coef_[2]
    b = model.intercept_[1] - model.intercept_[2]
    assert relative_score(display.points_in_space(), w, b).max() < 1e-9
    assert len(display.points) == 100
    assert display.classes.tolist() == [2, 1]
    wrong = (X[y > 0] @ w + b > 0) != (y[y > 0] == 1)
    assert display.wrong == wrong.sum()


@pytest.mark.parametrize("kind", ["pipeline", "model"])
def test_a_quadratic_boundary_is_a_conic_of_the_original_plane(kind):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["left", "right"])
    y = np.where((X**2).sum(axis=1) > 1.3, "out", "in")
    pipeline = make_pipeline(PolynomialEncoder(2), LinearSVM()).fit(X, y)
    estimator = pipeline
    if kind == "model":
        inner = pipeline[-1].model_
        estimator = LinearModel(
            inner.weights, inner.intercept, inner.classes, "score", encoder=pipeline[0]
        )
    display = BoundaryDisplay.from_estimator(estimator, X, y)
    line = np.concatenate(display.lines)
    frame = pd.DataFrame(line, columns=X.columns)
    spread = np.ptp(pipeline.decision_function(X))
    assert np.abs(pipeline.decision_function(frame)).max() < 1e-3 * spread
    assert len(display.lines) == 1
    assert np.allclose(line[0], line[-1])  # closed
    assert display.wrong == (pipeline.predict(X) != y).sum()
    assert [display.ax_.get_xlabel(), display.ax_.get_ylabel()] == ["left", "right"]
    assert np.array_equal(display.points_in_space(line), line)


def test_other_classifiers_of_two_columns():
    X, y = IRIS[0][:, :2], IRIS[1]
    for estimator in (GaussianNB(), VotedPerceptron(max_iter=2), TheirLogistic()):
        rows = slice(None) if isinstance(estimator, GaussianNB) else slice(100)
        fitted = estimator.fit(X[rows], y[rows])
        display = BoundaryDisplay.from_estimator(fitted, X[rows], y[rows])
        assert display.lines
        assert display.wrong == (fitted.predict(X[rows]) != y[rows]).sum()


def test_the_best_of_a_search_is_drawn():
    X, y = IRIS[0][:100], IRIS[1][:100]
    search = GridSearchCV(LinearSVM(), {"C": [0.1, 1]}, cv=3).fit(X, y)
    display = BoundaryDisplay.from_estimator(search, X, y)
    best = search.best_estimator_
    assert relative_score(display.points_in_space(), best.coef_[0], best.intercept_[0]).max() < 1e-9


def test_without_labels_and_without_margins():
    model = LinearModel([[1.0, -1.0]], [0.0], ["a", "b"], "score", ["u", "v"])
    X = np.random.default_rng(0).normal(size=(20, 2))
    display = BoundaryDisplay.from_estimator(model, X, margin=None, regions=False)
    assert display.wrong is None
    assert display.margin_lines == []
    assert not display.support.any()
    assert "wrong" not in display.ax_.get_title(loc="left")
    assert (
        BoundaryDisplay.from_estimator(model, X).support.sum()
        == (abs(X[:, 0] - X[:, 1]) <= 1).sum()
    )


@pytest.mark.parametrize("d", [1, 2, 5])
def test_one_row(d):
    model = LinearModel(np.ones((1, d)), [0.5], ["a", "b"], "score")
    display = BoundaryDisplay.from_estimator(model, np.ones((1, d)), ["b"])
    assert display.wrong == 0
    display.figure_.canvas.draw()


def test_one_column_has_a_vertical_line():
    model = LinearModel([[2.0]], [-3.0], ["a", "b"], "score", ["age"])
    display = BoundaryDisplay.from_estimator(model, [[0.0], [4.0]], ["a", "b"])
    assert np.allclose(display.lines[0][:, 0], 1.5)
    assert np.allclose(display.points_in_space(), 1.5)
    assert display.ax_.get_ylabel() == "row number"


def test_a_boundary_outside_the_picture_is_told():
    model = LinearModel([[1.0, 1.0]], [100.0], ["a", "b"], "score")
    display = BoundaryDisplay.from_estimator(model, [[0.0, 0.0], [1.0, 1.0]], ["b", "b"])
    assert display.lines == []
    texts = [each.get_text() for each in display.ax_.get_legend().get_texts()]
    assert any("outside the picture" in text for text in texts)


@pytest.mark.parametrize(("w", "x"), [(1e200, 1.0), (1e-200, 1.0), (1.0, 1e150), (1.0, 1e-150)])
def test_numbers_whose_squares_are_too_large_or_small(w, x):
    X = x * np.random.default_rng(0).normal(size=(20, 3))
    model = LinearModel([[w, -w, 2 * w]], [0.0], [0, 1], "score")
    display = BoundaryDisplay.from_estimator(model, X, margin=None)
    points = display.points_in_space()
    assert np.abs(points @ [1.0, -1.0, 2.0]).max() <= 1e-9 * np.abs(points).max()


def test_a_hundred_classes():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(100, 2))
    model = LinearModel(W * 6, -3 * (W**2).sum(axis=1), np.arange(100), "score")
    display = BoundaryDisplay.from_estimator(model, W, np.arange(100))
    assert display.wrong == 0
    assert len(display.lines) > 100
    assert len(display.ax_.get_legend().get_texts()) == 14


def test_errors():
    X, y = IRIS
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="Ridge predicts numbers"):
        BoundaryDisplay.from_estimator(Ridge().fit(X, y), X)
    with pytest.raises(ValueError, match="classes must be two classes of the model"):
        BoundaryDisplay.from_estimator(model, X, y, classes=(0, 7))
    with pytest.raises(ValueError, match="y holds 5, which is not a class"):
        BoundaryDisplay.from_estimator(model, X, np.where(y == 2, 5, y))
    with pytest.raises(ValueError, match="X has 3 features, but this"):
        BoundaryDisplay.from_estimator(model, X[:, :3], y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        BoundaryDisplay.from_estimator(model, X, y[:-1])
    with pytest.raises(ValueError, match="contains NaN in row 0"):
        BoundaryDisplay.from_estimator(model, np.full((2, 4), np.nan))
    with pytest.raises(ValueError, match="Found array with 0 sample"):
        BoundaryDisplay.from_estimator(model, np.empty((0, 4)))
    with pytest.raises(ValueError, match=r"margin must be a finite number > 0"):
        BoundaryDisplay.from_estimator(model, X, y, margin=0)
    four = LinearModel(np.eye(4), np.zeros(4), list("abcd"), "score")
    with pytest.raises(ValueError, match=r"4 classes of 4 features.*classes=\('a', 'b'\)"):
        BoundaryDisplay.from_estimator(four, X)
    with pytest.raises(ValueError, match="All weights of this"):
        BoundaryDisplay.from_estimator(LinearModel([[0.0, 0.0]], [1.0], [0, 1], "score"), X[:, :2])
    for curved in (GaussianNB(), make_pipeline(StandardScaler(), GaussianNB())):
        with pytest.raises(ValueError, match=r"NB is not flat.*two columns, and X has 4"):
            BoundaryDisplay.from_estimator(curved.fit(X, y), X, y)
    with pytest.raises(NotFittedError, match="GaussianNB instance is not fitted"):
        BoundaryDisplay.from_estimator(GaussianNB(), X, y)
    with pytest.raises(ValueError, match="Ridge predicts numbers"):
        BoundaryDisplay.from_estimator(make_pipeline(StandardScaler(), Ridge()).fit(X, y), X)
    with pytest.raises(ValueError, match="knows one class"):
        BoundaryDisplay.from_estimator(LinearModel([[1.0, 1.0]], [0.0], [1], "score"), X[:, :2])


def test_a_pipeline_of_many_columns_is_drawn_as_its_last_step_sees_them():
    X, y = CANCER
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    display = BoundaryDisplay.from_estimator(pipeline, X, y)
    points = display.points_in_space()
    assert points.shape == (2, 30)
    assert np.abs(pipeline[-1].decision_function(points)).max() < 1e-9
    scores = pipeline.decision_function(X)
    np.testing.assert_allclose(
        display.points[:, 0] * np.linalg.norm(pipeline[-1].coef_), scores, atol=1e-9
    )
    assert display.wrong == np.count_nonzero(pipeline.predict(X) != y)
    assert "after StandardScaler" in display.ax_.get_xlabel()
    assert "StandardScaler + LogisticRegression" in display.ax_.get_title(loc="left")
    search = GridSearchCV(pipeline, {"logisticregression__C": [1.0]}, cv=2).fit(X, y)
    again = BoundaryDisplay.from_estimator(search, X, y)
    np.testing.assert_allclose(again.points, display.points)


def test_texts_go_through_a_pipeline():
    texts = ["good film", "bad film", "very good", "very bad"] * 3
    pipeline = make_pipeline(TextEncoder(), LogisticRegression()).fit(texts, [1, 0, 1, 0] * 3)
    display = BoundaryDisplay.from_estimator(pipeline, texts, [1, 0, 1, 0] * 3)
    assert display.wrong == 0
    assert len(display.points) == 12


@pytest.mark.parametrize("names", [object, "U"])
def test_classes_of_scikit_learn_that_are_texts(names):
    X, y = IRIS[0][:, :2], np.array(["a", "b", "c"])[IRIS[1]].astype(names)
    for theirs in (TheirLogistic(), GaussianNB()):
        display = BoundaryDisplay.from_estimator(theirs.fit(X, y), X, y)
        assert display.wrong == np.count_nonzero(theirs.predict(X) != y)


def test_a_machine_of_pairs_is_drawn_by_its_scores():
    """scikit-learn's SVC has weights of pairs, which are no scores of classes."""
    X, y = IRIS[0][:, :2], IRIS[1]
    svc = SVC(kernel="linear").fit(X, y)
    display = BoundaryDisplay.from_estimator(svc, X, y)
    assert display.scene.weights is None
    assert display.wrong == np.count_nonzero(svc.decision_function(X).argmax(axis=1) != y)


def test_points_of_a_conic_are_on_it():
    X = np.random.default_rng(0).normal(size=(200, 2)) * [1.0, 30.0]
    y = (X[:, 0] ** 2 + (X[:, 1] / 30) ** 2 > 1.2).astype(int)
    model = make_pipeline(PolynomialEncoder(2), LogisticRegression(C=10.0, standardize=True))
    model.fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    assert len(display.lines[0]) > 100
    for lines, levels in ((display.lines, [0.0]), (display.margin_lines, [1.0, -1.0])):
        for line in lines:
            assert min(np.abs(model.decision_function(line) - each).max() for each in levels) < 1e-9
