"""Margins of every classifier, against distances computed row by row."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from separable import (
    BernoulliNB,
    LinearModel,
    LinearSVM,
    LogisticRegression,
    Perceptron,
    PolynomialEncoder,
    Ridge,
    TableClassifier,
    VotedPerceptron,
)
from separable.geometry import margins
from separable.workflow.learners import LEARNERS

CLASSIFIERS = [
    learner.load()
    for learner in LEARNERS.values()
    if learner.task == "classification" and "voted" not in learner.import_path
]


def counts(classes, n=40):
    rng = np.random.default_rng(classes)
    label = rng.permutation(np.arange(n) % classes)
    return rng.poisson(1 + 2 * np.eye(classes, 5)[label]).astype(float), label


def by_hand(model, X, row_class_pairs):
    """Return margins and distances of rows, one at a time."""
    W, b = model.weights, model.intercept
    if len(W) == 1:
        W, b = np.vstack([-W / 2, W / 2]), np.array([-b[0] / 2, b[0] / 2])
    result = []
    for x, y in zip(X, row_class_pairs, strict=True):
        others = [k for k in range(len(W)) if k != y]
        ahead = [(W[y] - W[k]) @ x + b[y] - b[k] for k in others]
        norms = [np.linalg.norm(W[y] - W[k]) for k in others]
        result.append((min(ahead), min(a / m for a, m in zip(ahead, norms, strict=True))))
    return np.array(result).T


@pytest.mark.parametrize("learner", CLASSIFIERS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_classifier(learner, classes):
    X, codes = counts(classes)
    y = np.array(["ant", "bee", "cow"])[codes]
    model = learner().fit(X, y)
    seen = X if model.model_.threshold is None else (model.model_.threshold < X).astype(float)
    expected = by_hand(model.model_, seen, codes)
    for given in (model, model.model_):
        for rows in (X, sp.csr_array(X), sp.csr_matrix(X), X.astype(np.float32)):
            result = margins(given, rows, y)
            np.testing.assert_allclose(result.margins, expected[0], rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(result.distances, expected[1], rtol=1e-9, atol=1e-9)
    right = model.predict(X) == y
    assert (result.margins[right] >= 0).all()
    assert (result.margins[~right] <= 0).all()
    assert result.smallest == pytest.approx(expected[1].min())
    assert result.wrong.tolist() == np.flatnonzero(result.margins <= 0).tolist()


def test_support_rows_of_a_support_vector_machine():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 6])
    y = np.repeat([0, 1], 30)
    model = LinearSVM(C=1e4, loss="hinge", tol=1e-9).fit(X, y)
    result = margins(model, X, y)
    assert result.support.tolist() == np.flatnonzero(model.dual_coef_[0]).tolist()
    assert result.smallest == pytest.approx(1 / np.linalg.norm(model.coef_), rel=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_distance_is_the_way_to_the_boundary(classes):
    """From rows on the right side and on the wrong one, the way ends where scores are equal."""
    X, codes = counts(classes)
    model = LogisticRegression(C=0.05).fit(X, codes).model_
    result = margins(model, X, codes)
    assert min((result.margins > 0).sum(), (result.margins < 0).sum()) > 2
    W, b = model.weights, model.intercept
    if classes == 2:
        W, b = np.vstack([0 * W, W]), np.append(0.0, b)
    for row, y in enumerate(codes):
        ways = []
        for k in np.delete(np.arange(classes), y):
            normal, offset = W[y] - W[k], b[y] - b[k]
            foot = X[row] - (normal @ X[row] + offset) / (normal @ normal) * normal
            assert normal @ foot + offset == pytest.approx(0, abs=1e-9)  # on the boundary
            side = np.sign(normal @ X[row] + offset)
            ways.append(side * np.linalg.norm(foot - X[row]))
        assert result.distances[row] == pytest.approx(min(ways))  # on a wrong side: the farthest
    assert (np.sign(result.distances) == np.sign(result.margins)).all()


def test_raw_tables_and_encoders():
    frame = pd.DataFrame({"colour": ["red", "blue"] * 10, "size": np.arange(20.0)})
    y = np.where(frame["size"] > 9, "big", "small")
    table = TableClassifier(LogisticRegression()).fit(frame, y)
    whole = margins(table, frame, y)
    rows = table.encoder_.encode(frame)
    np.testing.assert_allclose(
        whole.margins, by_hand(table.model_, rows.to_matrix(), (y == "small").astype(int))[0]
    )
    squares = PolynomialEncoder().fit(frame[["size"]])
    bent = LogisticRegression().fit(squares.transform(frame[["size"]]), y).model_
    model = LinearModel(bent.weights, bent.intercept, bent.classes, "logistic", encoder=squares)
    result = margins(model, frame[["size"]], y)
    np.testing.assert_allclose(
        result.margins, margins(bent, squares.encode(frame[["size"]]), y).margins
    )


def test_a_model_of_indicators_measures_indicators():
    X, codes = counts(2)
    model = BernoulliNB(binarize=1.0).fit(X, codes)
    expected = by_hand(model.model_, (X > 1.0).astype(float), codes)
    np.testing.assert_allclose(margins(model, X, codes).distances, expected[1])


def test_weights_that_are_equal_have_no_boundary():
    model = LinearModel([[1.0], [1.0], [0.0]], [2.0, 1.0, 0.0], ["a", "b", "c"], "score")
    result = margins(model, [[3.0], [3.0], [3.0]], ["a", "b", "c"])
    np.testing.assert_array_equal(result.margins, [1.0, -1.0, -5.0])
    np.testing.assert_array_equal(result.distances, [5.0, -np.inf, -5.0])
    flat = LinearModel([[0.0]], [1.0], [0, 1], "score")
    np.testing.assert_array_equal(
        margins(flat, [[1.0], [1.0]], [0, 1]).distances, [-np.inf, np.inf]
    )
    tie = LinearModel([[0.0]], [0.0], [0, 1], "score")
    assert margins(tie, [[1.0]], [1]).distances.tolist() == [0.0]


def test_shown():
    model = LinearModel([[3.0, 4.0]], [-5.0], [0, 1], "score")
    result = margins(model, [[3.0, 4.0], [1.0, 0.0], [1.1, 0.8]], [1, 0, 1])
    assert result.smallest == pytest.approx(0.3)
    plain = json.loads(json.dumps(result.to_dict()))
    assert plain["rows"] == 3
    assert plain["wrong"] == []
    text = result.to_text()
    assert text == repr(result)
    assert "0.3 (row 2)" in text


def test_what_cannot_be_measured():
    X, codes = counts(2)
    with pytest.raises(ValueError, match=r"predicts numbers. Use a classifier"):
        margins(Ridge().fit(X, codes), X, codes)
    with pytest.raises(ValueError, match="VotedPerceptron has none"):
        margins(VotedPerceptron().fit(X, codes), X, codes)
    with pytest.raises(ValueError, match="str has none"):
        margins("model", X, codes)
    one = Perceptron().partial_fit(X, np.zeros(len(X), int))
    with pytest.raises(ValueError, match="one class only, 0"):
        margins(one, X, codes)
    model = LogisticRegression().fit(X, codes)
    with pytest.raises(ValueError, match=r"label 2 of row 1 is no class .* There are: 0, 1"):
        margins(model, X[:2], [0, 2])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        margins(model, X, codes[:-1])
    with pytest.raises(ValueError, match="expects 5"):
        margins(model, X[:, :4], codes)
    with pytest.raises(ValueError, match="NaN in row 0"):
        margins(model, np.full((2, 5), np.nan), [0, 1])
    with pytest.raises(ValueError, match="labels changed type"):
        margins(model, X, codes.astype(str))
