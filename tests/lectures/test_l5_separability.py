"""L5: separable data converges; AND does, XOR and "not bad" do not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from separable import Perceptron

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def count_learned(inputs):
    """Boolean functions of some inputs that the perceptron learns without a mistake."""
    X = np.array(list(itertools.product([0.0, 1.0], repeat=inputs)))
    learned = 0
    for expected in itertools.product([0, 1], repeat=len(X)):
        if len(set(expected)) == 1:
            learned += 1  # a constant needs no boundary
        else:
            learned += Perceptron(max_iter=1000).fit(X, expected).evidence_["converged"]
    return learned


def test_boolean_functions_of_two_inputs():
    assert count_learned(2) == 14  # of 16: all but XOR and its negation


@pytest.mark.long
def test_boolean_functions_of_three_inputs():
    assert count_learned(3) == 104  # of 256


def test_negation_is_not_linear_in_words():
    # columns: very, not, good, bad
    phrases = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1.0]])
    assert not Perceptron(max_iter=1000).fit(phrases, [1, 0, 0, 1]).evidence_["converged"]


def test_mistake_bound_of_and():
    evidence = Perceptron().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]).evidence_
    assert evidence["converged"]
    assert evidence["updates"] <= evidence["bound"]
