"""GroupLassoClassifier: conditions of optimality, certificates, scikit-learn's l1 penalty."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs

from separable import GroupLassoClassifier, TableClassifier
from tests.certified.block_oracles import (
    group_logistic_bound,
    group_logistic_minimum,
    group_logistic_objective,
)
from tests.long_cases import first
from tests.versions import NEWER_SKLEARN

pytestmark = pytest.mark.native

THREE = np.repeat([0, 1, 2], 10)


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def norms(group, w):
    return np.sqrt(np.bincount(group, weights=w**2))


@pytest.mark.parametrize("alpha", [1e-3, 1e-2, 0.08])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_conditions_and_certificate_in_numpy(alpha, form):
    X, y = cancer()
    model = GroupLassoClassifier(alpha, groups=THREE).fit(form(X), y)
    w, sign, n = model.coef_[0], 2.0 * y - 1, len(y)
    s = X @ w + model.intercept_[0]
    strength = alpha * np.sqrt([10, 10, 10])
    correlation = X.T @ (sign * expit(-sign * s)) / n
    size = norms(THREE, w)
    for g in range(3):
        mine = g == THREE
        if size[g] == 0:
            assert np.linalg.norm(correlation[mine]) <= strength[g] * (1 + 1e-9)
        else:
            np.testing.assert_allclose(
                correlation[mine], strength[g] * w[mine] / size[g], atol=1e-8
            )
    one, z = model.certificate_, model.dual_coef_[0]
    assert one.converged
    assert one.primal == pytest.approx(np.logaddexp(0, -sign * s).mean() + strength @ size)
    u = n * z * sign
    assert (u >= 0).all()
    assert (u <= 1 + 1e-12).all()
    assert abs(z.sum()) < 1e-12
    assert (norms(THREE, X.T @ z) <= strength * (1 + 1e-9)).all()
    entropy = -np.where(u > 0, u * np.log(np.maximum(u, 1e-300)), 0) - np.where(
        u < 1, (1 - u) * np.log1p(-np.minimum(u, 1 - 1e-16)), 0
    )
    assert one.dual == pytest.approx(entropy.mean(), rel=1e-8)
    assert one.primal - one.dual == pytest.approx(one.gap, abs=1e-9)


# --------------------------------------------------------------------- every alpha converges

SETS = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "iris": lambda: load_iris(return_X_y=True),
    "digits 3, 8": lambda: three_and_eight(),
}
GROUPS = {
    "one": lambda d: np.zeros(d, int),
    "pairs": lambda d: np.arange(d) // 2,
    "single": np.arange,
}


def three_and_eight():
    X, y = load_digits(return_X_y=True)
    some = (y == 3) | (y == 8)
    return X[some], y[some]


def check_converged(model, X, y, group, times=1.0):
    """Bound the optimum from below by the weights alone, with nothing of ours."""
    assert model.certificate_.converged
    signs = [2.0 * (y == k) - 1 for k in np.unique(y)][-len(model.coef_) :]
    for w, b, sign, one in zip(
        model.coef_, model.intercept_, signs, model.certificates_, strict=True
    ):
        Z, w = X / times, w * times
        primal = group_logistic_objective(model.alpha, Z, sign, group, w, b)
        assert one.primal == pytest.approx(primal, rel=1e-6, abs=1e-12)
        assert primal - group_logistic_bound(model.alpha, Z, sign, group, w, b) <= 3e-6 * primal


@pytest.mark.parametrize("alpha", first(1, [1e-5, 1e-1, 1e-3]))
@pytest.mark.parametrize("groups", list(GROUPS))
@pytest.mark.parametrize("of", list(SETS))
def test_ordinary_sets_converge_at_every_alpha(of, groups, alpha):
    X, y = SETS[of]()
    group = GROUPS[groups](X.shape[1])
    scale = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    plain = GroupLassoClassifier(alpha, groups=group).fit(X, y)
    check_converged(plain, X, y, group)
    standard = GroupLassoClassifier(alpha, groups=group, standardize=True).fit(X, y)
    check_converged(standard, X, y, group, scale)


@pytest.mark.parametrize("groups", list(GROUPS))
def test_columns_in_other_units_converge(groups):
    X, y = cancer()
    X = X * 10.0 ** np.tile([-3, 0, 3], 10)
    group = GROUPS[groups](30)
    for alpha in (1e-1, 1e-3, 1e-5):
        check_converged(GroupLassoClassifier(alpha, groups=group).fit(X, y), X, y, group)


def test_two_columns_in_one_group_end_at_the_optimum():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 2))
        y = X[:, 0] + 0.3 * rng.normal(size=100) > 0
        model = GroupLassoClassifier(3e-3, groups=[0, 0]).fit(X, y)
        check_converged(model, X, y, np.zeros(2, int))


@pytest.mark.parametrize("seed", range(4))
def test_accelerated_steps_end_there_too(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 12))
    X = rng.normal(size=(60, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    group = rng.permutation(np.arange(d) % max(1, d // 3))
    for alpha in (0.1, 0.005):
        model = GroupLassoClassifier(alpha, groups=group).fit(X, y)
        assert model.certificate_.relative_gap < 1e-9
        least = group_logistic_minimum(alpha, X, y, group)
        assert model.certificate_.primal == pytest.approx(least, rel=1e-8)


@pytest.mark.parametrize(
    "shape", [(6, 19), (16, 35), pytest.param((40, 120), marks=pytest.mark.long)]
)
def test_more_columns_than_rows_and_a_weak_penalty(shape):
    rng = np.random.default_rng(3)
    d = shape[1]
    X = rng.normal(size=shape) @ rng.normal(size=(d, d)) / np.sqrt(d)
    y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    group = np.arange(d) // 2
    for alpha in (1e-3, 1e-5, 1e-7):
        model = GroupLassoClassifier(alpha, groups=group).fit(X, y)
        check_converged(model, X, y, group)


@NEWER_SKLEARN
def test_groups_of_one_are_the_l1_penalty_of_scikit_learn():
    X, y = cancer()
    X, y = X[::4, :12], y[::4]
    ours = GroupLassoClassifier(0.02).fit(X, y)
    theirs = Theirs(l1_ratio=1.0, C=1 / (0.02 * len(y)), solver="saga", tol=1e-10, max_iter=10**5)
    np.testing.assert_allclose(ours.coef_, theirs.fit(X, y).coef_, atol=1e-4)


def test_many_classes_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    group = [0, 0, 1, 1]
    model = GroupLassoClassifier(0.02, groups=group, standardize=True).fit(X, y)
    assert model.certificate_.converged
    assert len(model.certificates_) == 3
    for k in range(3):
        one = GroupLassoClassifier(0.02, groups=group, standardize=True).fit(X, y == k)
        np.testing.assert_allclose(model.coef_[k], one.coef_[0], atol=1e-7)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), shares)
    assert model.score(X, y) > 0.8


def test_weights_are_repetitions_and_classes_have_weights():
    X, y = cancer()
    X, y = X[:150], y[:150]
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    one = GroupLassoClassifier(0.01, groups=THREE).fit(X, y, weight)
    other = GroupLassoClassifier(0.01, groups=THREE).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-7)
    by_class = GroupLassoClassifier(0.01, groups=THREE, class_weight={0: 2, 1: 1}).fit(X, y)
    by_row = GroupLassoClassifier(0.01, groups=THREE).fit(X, y, np.where(y == 0, 2.0, 1.0))
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, atol=1e-10)


def test_a_feature_of_a_table_leaves_whole():
    rng = np.random.default_rng(0)
    town = rng.choice(["Rome", "Oslo", "Lima"], 300)
    noise = rng.choice(list("abcd"), 300)
    y = np.where((town == "Rome") ^ (rng.random(300) < 0.1), "yes", "no")
    model = TableClassifier(GroupLassoClassifier(0.03, groups="columns"))
    model.fit({"town": town.tolist(), "noise": noise.tolist()}, y)
    assert model.learner_.dropped_groups_ == ["noise"]
    assert model.learner_.kept_groups_ == ["town"]


def test_many_columns():
    rng = np.random.default_rng(0)
    X = sp.random_array((200, 3000), density=0.02, rng=rng, format="csr")
    y = X[:, :6].sum(axis=1) > np.median(X[:, :6].sum(axis=1))
    model = GroupLassoClassifier(0.002, groups=np.arange(3000) // 3).fit(X, y)
    assert model.certificate_.converged
    assert {0, 1} <= set(model.kept_groups_)


def test_separable_classes_and_a_tiny_penalty():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]])
    model = GroupLassoClassifier(1e-6, groups=[0, 0]).fit(X, [0, 0, 1, 1])
    assert model.certificate_.converged
    np.testing.assert_array_equal(model.predict(X), [0, 0, 1, 1])


def test_warm_and_interrupted():
    X, y = cancer()
    model = GroupLassoClassifier(0.05, groups=THREE, warm_start=True).fit(X, y)
    cold = GroupLassoClassifier(0.01, groups=THREE).fit(X, y)
    np.testing.assert_allclose(model.set_params(alpha=0.01).fit(X, y).coef_, cold.coef_, atol=1e-7)
    with pytest.warns(ConvergenceWarning, match="GroupLassoClassifier stopped after .* passes"):
        GroupLassoClassifier(1e-4, groups=THREE, callback=lambda number, gap: number == 2).fit(X, y)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="needs at least two classes"):
        GroupLassoClassifier().fit([[1.0], [2.0]], [1, 1])
