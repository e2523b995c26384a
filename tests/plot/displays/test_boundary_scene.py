"""Directions in which a hyperplane is a line."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from separable.plot.displays.boundary_scene import differences_view, normal_view


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    return rng.normal(size=(80, 7)) @ rng.normal(size=(7, 7)) + rng.normal(size=7) * 5


def test_the_second_direction_has_the_largest_remaining_variance(rows):
    w, b = np.arange(1.0, 8.0), 2.0
    view = normal_view(rows, w, b, None, 3)
    unit = w / np.linalg.norm(w)
    left = rows - rows.mean(axis=0)
    left = left - np.outer(left @ unit, unit)
    _, _, axes = np.linalg.svd(left)
    assert abs(view.basis[1] @ axes[0]) == pytest.approx(1.0, abs=1e-6)
    assert abs(view.basis[2] @ axes[1]) == pytest.approx(1.0, abs=1e-6)
    assert np.allclose(view.basis @ view.basis.T, np.eye(3), atol=1e-12)
    assert np.allclose(view.coordinates(rows)[:, 0], (rows @ w + b) / np.linalg.norm(w))


def test_sparse_rows_give_the_same_view(rows):
    w = np.linspace(-1, 1, 7)
    dense, thin = normal_view(rows, w, 0.5, None), normal_view(sparse.csr_array(rows), w, 0.5, None)
    assert np.allclose(dense.basis, thin.basis, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_points_go_to_the_space_and_back(rows, scale):
    view = normal_view(rows, scale * np.ones(7), -3.0 * scale, None)
    points = np.array([[0.0, -5.0], [2.0, 7.0]])
    assert np.allclose(view.coordinates(view.in_space(points)), points, atol=1e-12)


@pytest.mark.parametrize("X", [np.ones((1, 4)), np.ones((5, 4)), np.zeros((3, 4))])
def test_rows_without_spread_have_some_direction(X):
    view = normal_view(X, np.array([1.0, 0, 0, 0]), 0.0, None)
    assert np.allclose(view.basis @ view.basis.T, np.eye(2))


def test_a_direction_along_one_column_is_named_after_it():
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1, 1, 100]
    view = normal_view(X, np.array([1.0, 1.0, 0.0]), 0.0, ["a", "b", "weight"])
    assert "along the boundary, mostly weight" in view.labels[1]


def test_differences_of_three_classes_span_the_plane(rows):
    W = np.random.default_rng(1).normal(size=(3, 7))
    view = differences_view(rows, W)
    steps = W[1:] - W[0]
    assert np.allclose(steps @ view.basis.T @ view.basis, steps)


def test_parallel_differences_are_completed(rows):
    w = np.arange(7.0)
    view = differences_view(rows, np.array([w, 2 * w, 4 * w]))
    assert np.allclose(view.basis @ view.basis.T, np.eye(2))
