"""Pieces of lines, planes and regions within a box, against sampling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separable.plot.style.plane import (
    borders,
    box_around,
    line_in_box,
    plane_in_box,
    regions,
)


def inside(points, box):
    wide = box[1] - box[0]
    return (points >= box[0] - 1e-9 * wide).all() and (points <= box[1] + 1e-9 * wide).all()


@given(st.integers(0, 10_000))
def test_a_line_ends_on_the_box_and_is_missing_only_where_no_point_of_it_is_inside(seed):
    rng = np.random.default_rng(seed)
    box = np.sort(rng.normal(size=(2, 2)) * 10 ** rng.uniform(-3, 3, 2), axis=0)
    w, b = rng.normal(size=2), rng.normal()
    found = line_in_box(w, b, box)
    grid = np.stack(np.meshgrid(*(np.linspace(*side, 30) for side in box.T)), -1).reshape(-1, 2)
    signs = np.sign(grid @ w + b)
    if found is None:
        assert len(set(signs)) == 1
    else:
        assert inside(found, box)
        scale = np.abs(box).max() * np.abs(w).sum() + abs(b)
        assert np.abs(found @ w + b).max() <= 1e-12 * scale


@given(st.integers(0, 10_000), st.integers(2, 7))
def test_regions_hold_the_points_of_their_class_and_borders_are_ties(seed, classes):
    rng = np.random.default_rng(seed)
    W, b = rng.normal(size=(classes, 2)), rng.normal(size=classes)
    box = np.array([[-2.0, -1.0], [1.0, 3.0]])
    areas = [polygon_area(part) for part in regions(W, b, box)]
    assert sum(areas) == pytest.approx(12.0)
    points = rng.uniform(*box, size=(2000, 2))
    share = np.bincount((points @ W.T + b).argmax(axis=1), minlength=classes) / 2000
    assert np.abs(share - np.array(areas) / 12).max() < 0.06
    for (i, j), ends in borders(W, b, box):
        middle = ends.mean(axis=0)
        scores = np.vstack([ends, middle]) @ W.T + b
        assert np.allclose(scores[:, i], scores[:, j])
        assert (scores.max(axis=1) <= scores[:, i] + 1e-9).all()


def polygon_area(corners):
    if len(corners) < 3:
        return 0.0
    x, y = corners.T
    return abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2


@given(st.integers(0, 10_000))
def test_a_plane_has_its_corners_on_edges_and_in_order(seed):
    rng = np.random.default_rng(seed)
    box = np.array([[-1.0, -10.0, 0.0], [1.0, 5.0, 0.01]])
    w = rng.normal(size=3) / (box[1] - box[0])
    b = -float(w @ rng.uniform(*box))
    corners = plane_in_box(w, b, box)
    assert corners is not None
    assert 3 <= len(corners) <= 6
    assert inside(corners, box)
    assert np.abs(corners @ w + b).max() < 1e-12 * (np.abs(w) @ np.abs(box).max(axis=0) + 1)
    scaled = (corners - box[0]) / (box[1] - box[0])
    steps = np.roll(scaled, -1, axis=0) - scaled
    turns = np.cross(steps, np.roll(steps, -1, axis=0))
    assert (turns @ turns[0] > -1e-9).all()  # convex: all turns go the same way


def test_a_plane_that_misses_the_box():
    assert plane_in_box(np.ones(3), 10.0, np.array([[0.0] * 3, [1.0] * 3])) is None


def test_a_box_around_one_point_has_room():
    box = box_around(np.array([[5.0, 0.0]]))
    assert (box[1] > box[0]).all()
