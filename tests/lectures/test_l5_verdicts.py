"""L5: is it separable? Known sets, each answered with a proof that verifies."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from separable import OneHotEncoder
from separable.geometry import separability
from tests.data_files import data_file
from tests.reference.separability import lp_verdict, signed_rows


def proved(X, y, **options):
    """Return the verdict, after its proof was checked again."""
    verdict = separability(X, y, **options)
    assert verdict.verify(X, y)
    return verdict


def test_and_has_the_margin_of_its_diagonal():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), [0, 0, 0, 1]
    verdict = proved(X, y)
    assert verdict.kind == "separable"
    # from (1, 1) to the line through (0, 1) and (1, 0) it is sqrt(1/2), half of it on each side
    assert verdict.margin == pytest.approx(np.sqrt(1 / 8), rel=1e-3)
    assert verdict.margin <= np.sqrt(1 / 8) * (1 + 1e-12)
    assert verdict.margin_bound >= np.sqrt(1 / 8) * (1 - 1e-12)
    assert verdict.verify(X, y, exact=True)


def test_words_that_negate():
    # columns: very, not, good, bad
    phrases = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1.0]])
    happy = ["good", "bad", "bad", "good"]
    verdict = proved(phrases, happy)
    assert verdict.kind == "overlap"
    assert verdict.verify(phrases, happy, exact=True)
    # a column for "not" and "bad" together
    wider = np.column_stack([phrases, phrases[:, 1] * phrases[:, 3]])
    assert proved(wider, happy).separable


def test_breast_cancer_is_separable():
    X, y = load_breast_cancer(return_X_y=True)
    verdict = proved(X, y)
    assert verdict.kind == "separable"
    w, b = verdict.proof.weights, verdict.proof.intercept
    scores = (X @ np.ravel(w) + b) * np.where(y == 1, 1, -1)
    assert scores.min() > 0
    assert verdict.margin == pytest.approx(scores.min() / np.linalg.norm(w), rel=1e-6)
    assert verdict.margin <= verdict.margin_bound


def test_setosa_is_separable_and_the_other_two_are_not():
    X, y = load_iris(return_X_y=True)
    assert proved(X, y == 0).kind == "separable"
    assert proved(X[y > 0], y[y > 0]).kind == "overlap"


def test_iris_by_pairs_and_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    pairs = separability(X, y, multi_class="pairs")
    assert {pair: verdict.separable for pair, verdict in pairs.items()} == {
        (0, 1): True,
        (0, 2): True,
        (1, 2): False,
    }
    rest = separability(X, y, multi_class="ovr")
    assert {kind: verdict.separable for kind, verdict in rest.items()} == {
        0: True,
        1: False,
        2: False,
    }
    assert not pairs.separable
    assert not rest.separable


def test_iris_together_is_what_the_linear_program_says():
    X, y = load_iris(return_X_y=True)
    expected, _ = lp_verdict(signed_rows(X, y))
    assert proved(X, y, multi_class="joint").kind == expected


def test_a_rare_word_makes_data_quasi_separable():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(200, 3)), np.zeros(200)])
    y = rng.integers(0, 2, 200)
    X[np.flatnonzero(y)[:4], 3] = 1  # a word of four rows, all of one class
    verdict = proved(X, y)
    assert verdict.kind == "quasi-separable"
    assert verdict.separable is False
    assert list(verdict.proof.columns) == [3]
    np.testing.assert_array_equal(np.sort(verdict.proof.boundary), np.flatnonzero(X[:, 3] == 0))


def test_mushrooms_are_separable():
    path = data_file("mushroom", "agaricus-lepiota.data.gz")
    with gzip.open(path, "rt") as lines:
        table = np.array([line.strip().split(",") for line in lines if line.strip()])
    X = OneHotEncoder().fit_transform(table[:, 1:])
    verdict = proved(X, table[:, 0])
    assert verdict.kind == "separable"
    assert 0 < verdict.margin <= verdict.margin_bound <= verdict.margin * (1 + 2e-3)
