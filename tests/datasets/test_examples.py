from __future__ import annotations

import numpy as np
import pytest

from separable.datasets import EXAMPLES, load
from separable.geometry import separability

SEPARABLE = {"and": True, "or": True, "xor": False, "clouds": True, "ring": False, "words": False}


@pytest.mark.parametrize(("name", "expected"), SEPARABLE.items())
def test_separable_or_not(name, expected):
    X, y, columns = load(name)
    assert X.shape == (len(y), len(columns))
    verdict = separability(X, y)
    assert verdict.verify(X, y)
    assert (verdict.kind == "separable") == expected


def test_a_circle_separates_the_ring():
    X, y, _ = load("ring")
    assert separability((X**2).sum(axis=1)[:, None], y).kind == "separable"


def test_the_penguins():
    X, y, columns = load("penguins")
    assert X.shape == (274, 2)
    assert np.isfinite(X).all()
    assert np.unique(y).tolist() == ["Adelie", "Gentoo"]
    assert columns == ("bill_length_mm", "bill_depth_mm")


def test_copies_and_names():
    load("and").X[0] = 9
    assert load("and").X[0].tolist() == [0, 0]
    with pytest.raises(ValueError, match="Choose one of and, or, xor"):
        load("nand")
    assert list(EXAMPLES)[:3] == ["and", "or", "xor"]


def test_the_weights_of_the_lecture_separate_the_mails():
    X, y, columns = load("spam")
    assert columns == ("free", "money", "meeting", "report")
    assert ((X @ [4, 2, 0, 0] - 3 > 0) == (y == "spam")).all()
    assert X[0, :2] @ [4, 2] - 3 == 3


def test_digits_are_images_of_ten_classes():
    X, y, columns = load("digits")
    assert X.shape == (len(y), 64) == (1797, len(columns))
    assert sorted(set(y)) == list(range(10))
