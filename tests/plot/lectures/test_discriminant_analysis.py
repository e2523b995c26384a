"""LDA of two columns: ellipses and borders."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from separable import LDA, LogisticRegression
from separable.plot import LdaDisplay

S = np.array([[1.0, 0.6], [0.6, 2.0]])


def rows(means, n=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(means)), n)
    return rng.multivariate_normal([0, 0], S, len(y)) + np.array(means, dtype=float)[y], y


def discriminants(points, X, y):
    """delta_k by its formula, in plain NumPy."""
    classes = np.unique(y)
    means = np.array([X[y == k].mean(axis=0) for k in classes])
    away = X - means[np.searchsorted(classes, y)]
    inverse = np.linalg.inv(away.T @ away / (len(X) - len(classes)))
    priors = np.array([(y == k).mean() for k in classes])
    quadratic = np.einsum("ki,ij,kj->k", means, inverse, means) / 2
    return points @ inverse @ means.T - quadratic + np.log(priors)


def test_ellipses_are_those_of_the_common_covariance():
    X, y = rows([[0, 0], [4, 0], [0, 5]])
    lda = LDA().fit(X, y)
    display = LdaDisplay.from_estimator(lda, X, y, sigmas=2.0)
    inverse = np.linalg.inv(lda.covariance_)
    for mean, ring in zip(lda.means_, display.ellipses, strict=True):
        away = ring - mean
        np.testing.assert_allclose(np.einsum("ni,ij,nj->n", away, inverse, away), 4.0)


@pytest.mark.parametrize(
    "means", [[[0, 0], [4, 1]], [[0, 0], [4, 0], [0, 5]], [[0, 0], [3, 0], [6, 0], [3, 5]]]
)
def test_borders_are_where_two_classes_are_best(means):
    X, y = rows(means)
    display = LdaDisplay.from_estimator(LDA().fit(X, y), X, y)
    assert len(display.borders) >= len(means) - 1
    for (k, other), ends in display.borders.items():
        along = ends[0] + np.linspace(0, 1, 21)[:, None] * (ends[1] - ends[0])
        delta = discriminants(along, X, y)
        scale = np.abs(delta).max()
        np.testing.assert_allclose(delta[:, k], delta[:, other], atol=1e-10 * scale)
        assert (delta[:, k] >= delta.max(axis=1) - 1e-10 * scale).all()


def test_every_border_in_sight_is_drawn():
    X, y = rows([[0, 0], [4, 0], [0, 5]])
    display = LdaDisplay.from_estimator(LDA().fit(X, y), X, y)
    low, high = display.ax_.get_xlim(), display.ax_.get_ylim()
    grid = np.stack(np.meshgrid(np.linspace(*low, 150), np.linspace(*high, 150)), axis=-1)
    best = discriminants(grid.reshape(-1, 2), X, y).argmax(axis=1).reshape(150, 150)
    pairs = {
        tuple(sorted(pair))
        for here, there in ((best[1:], best[:-1]), (best[:, 1:], best[:, :-1]))
        for pair in zip(here[here != there].tolist(), there[here != there].tolist(), strict=True)
    }
    assert set(display.borders) == pairs


def test_sparse_rows_and_text_labels():
    X, y = rows([[0, 0], [4, 1]])
    names = np.array(["no", "yes"])[y]
    dense = LdaDisplay.from_estimator(LDA().fit(X, names), X, names)
    thin = LdaDisplay.from_estimator(LDA().fit(X, names), sparse.csr_array(X), names)
    np.testing.assert_array_equal(dense.X, thin.X)
    words = [text.get_text() for text in dense.ax_.get_legend().get_texts()]
    assert words[:2] == ["class no", "class yes"]


def test_refusals():
    X, y = rows([[0, 0], [4, 1]])
    with pytest.raises(ValueError, match=r"sigmas must be a finite float > 0. Got 0"):
        LdaDisplay.from_estimator(LDA().fit(X, y), X, y, sigmas=0)
    with pytest.raises(ValueError, match=r"2 columns. Got 1"):
        LdaDisplay.from_estimator(LDA().fit(X, y), X[:, :1], y)
    with pytest.raises(ValueError, match=r"estimator of 2 columns. Got one that was fitted to 1"):
        LdaDisplay.from_estimator(LDA().fit(X[:, :1], y), X, y)
    with pytest.raises(ValueError, match="X has 80 rows, y has 79"):
        LdaDisplay.from_estimator(LDA().fit(X, y), X, y[1:])


def test_other_learners_are_refused():
    X, y = rows([[0, 0], [3, 3]])
    with pytest.raises(TypeError, match=r"LdaDisplay draws discriminant.*Regression has no means_"):
        LdaDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)


def test_of_many_classes_the_legend_names_some():
    X, y = rows([[k, k % 5] for k in range(20)])
    names = np.array([f"newsgroup.topic.{k:02d}.something" for k in range(20)])[y]
    display = LdaDisplay.from_estimator(LDA().fit(X, names), X, names)
    told = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "and 8 more classes" in told
    assert len(set(told)) == len(told) == 15
