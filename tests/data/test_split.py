from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from separable.data.split import random_split, stratified_split


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=60),
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 5),
)
def test_every_row_once_and_each_class_in_proportion(labels, test_size, seed):
    labels = np.array(labels)
    train, test = stratified_split(labels, test_size, seed)
    assert sorted([*train, *test]) == list(range(len(labels)))
    assert (np.diff(train) > 0).all()
    assert (np.diff(test) > 0).all()
    for label in np.unique(labels):
        count, held = (labels == label).sum(), (labels[test] == label).sum()
        assert held < count
        assert abs(held - count * test_size) <= 1


@given(st.integers(0, 60), st.floats(0, 1, exclude_max=True), st.integers(0, 5))
def test_every_row_once_at_random(n, test_size, seed):
    train, test = random_split(n, test_size, seed)
    assert sorted([*train, *test]) == list(range(n))
    assert (np.diff(train) > 0).all()
    assert (np.diff(test) > 0).all()
    assert len(train) >= min(n, 2)
    assert len(test) == 0 or abs(len(test) - n * test_size) <= 2
    assert random_split(n, test_size, seed)[1].tolist() == test.tolist()


def test_another_seed_holds_out_other_rows():
    assert random_split(100, 0.25, 0)[1].tolist() != random_split(100, 0.25, 1)[1].tolist()


def test_the_seed_decides():
    labels = np.arange(100) % 3
    _, first = stratified_split(labels, 0.25, 0)
    assert stratified_split(labels, 0.25, 0)[1].tolist() == first.tolist()
    assert stratified_split(labels, 0.25, 1)[1].tolist() != first.tolist()
    assert len(stratified_split(labels, 0, 0)[1]) == 0
