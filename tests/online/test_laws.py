"""Laws that hold whatever the data: formats, feature order, scale of eta."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from separable import AveragedPerceptron, Perceptron
from tests.online.problems import integer_problems

pytestmark = [
    pytest.mark.native,
    pytest.mark.kernel,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
each_learner = pytest.mark.parametrize("cls", [Perceptron, AveragedPerceptron])


@each_learner
@given(integer_problems(classes=3), st.randoms(use_true_random=False))
def test_feature_order_is_irrelevant(cls, problem, random):
    X, y = problem
    order = list(range(X.shape[1]))
    random.shuffle(order)
    a = cls(max_iter=4).fit(X, y)
    b = cls(max_iter=4).fit(X[:, order], y)
    np.testing.assert_allclose(a.coef_[:, order], b.coef_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(a.intercept_, b.intercept_, rtol=0, atol=1e-12)


@each_learner
@given(st.integers(0, 2**31), st.sampled_from([2, 3, 20]))
def test_dense_equals_sparse_on_real_numbers(cls, seed, classes):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 30)) * (rng.random((60, 30)) < 0.4)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, 60 - classes)])
    dense, sparse = cls(max_iter=3).fit(X, y), cls(max_iter=3).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-9, atol=1e-9)


@given(integer_problems())
def test_one_model_alone_has_the_bits_of_its_lane(problem):
    X, y = problem
    X = X * np.pi  # sums now round, and must round alike
    third = np.where(np.arange(len(y)) == 0, 2, y)
    if len(set(third.tolist())) < 3:
        return
    lanes = Perceptron(shuffle=False, max_iter=3).fit(X, third)
    alone = Perceptron(shuffle=False, max_iter=3).fit(X, (third == 1).astype(int))
    np.testing.assert_array_equal(lanes.coef_[1], alone.coef_[0])


@given(integer_problems(), st.integers(-8, 8))
def test_eta_only_scales_from_a_zero_start(problem, power):
    X, y = problem
    one = Perceptron(shuffle=False, max_iter=4).fit(X, y)
    other = Perceptron(shuffle=False, max_iter=4, eta0=2.0**power).fit(X, y)
    np.testing.assert_array_equal(other.coef_, 2.0**power * one.coef_)
    assert other.evidence_["mistakes"] == one.evidence_["mistakes"]


def test_eta_and_start_and_order_change_the_answer():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X @ [1, 2] > 0).astype(int)
    base = Perceptron(shuffle=False).fit(X, y)
    moved = Perceptron(shuffle=False).fit(X, y, coef_init=[[5.0, -5.0]])
    turned = Perceptron(shuffle=False).fit(X[::-1], y[::-1])
    directions = [m.coef_[0] / np.linalg.norm(m.coef_[0]) for m in (base, moved, turned)]
    assert np.abs(directions[0] - directions[1]).max() > 1e-3
    assert np.abs(directions[0] - directions[2]).max() > 1e-3
