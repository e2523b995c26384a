"""L20: the error rate has no slope, so descend on something smooth; and wide margins are better."""

from __future__ import annotations

import numpy as np
import pytest

from separable import LinearSVM, LogisticRegression, Perceptron, SGDClassifier
from separable._core import native

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def sigmoid(s):
    return 1 / (1 + np.exp(-s))


def smooth_error(s, y, slope=False):
    """(t - sigma(s))^2 with t = 1 for y = 1 and 0 for y = -1, or its slope, of the library."""
    out = np.empty(len(s))
    native.write_loss("sigmoid_mse", 0.0, s, y, gradient=slope, out=out)
    return out


def test_far_from_the_boundary_it_is_the_error():
    s = np.array([-20.0, -8.0, 8.0, 20.0])
    wrong = (s < 0).astype(float)  # all rows are positive
    np.testing.assert_allclose(smooth_error(s, np.ones(4)), wrong, atol=1e-3)


def test_on_the_boundary_it_is_a_quarter_with_a_slope():
    zero, one = np.zeros(1), np.ones(1)
    assert smooth_error(zero, one) == 0.25
    # d/ds (1 - sigma)^2 = -2 (1 - sigma) sigma (1 - sigma) = -2 / 8
    assert smooth_error(zero, one, slope=True) == -0.25


def test_one_step_by_hand():
    # w = 0, x = (1, 2), y = 1, eta = 0.8: w -= 0.8 x (-0.25) x = (0.2, 0.4), b = 0.2
    learner = SGDClassifier(
        "sigmoid_mse", learning_rate="constant", eta0=0.8, shuffle=False, max_iter=1, tol=None
    )
    learner.fit([[1.0, 2.0], [0.0, 0.0]], [1, 0], intercept_init=[0.0], sample_weight=[1, 1e-12])
    np.testing.assert_allclose(learner.coef_, [[0.2, 0.4]], rtol=1e-9)
    np.testing.assert_allclose(learner.intercept_, [0.2], rtol=1e-9)


def test_descent_lowers_the_squared_error_and_with_it_the_error_rate():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=300) > 0).astype(int)
    learner = SGDClassifier("sigmoid_mse", max_iter=30, tol=None).fit(X, y)
    errors = learner.evidence_["losses"]
    assert errors[-1] < 0.4 * errors[0]
    mean_squared = np.mean((y - sigmoid(learner.decision_function(X))) ** 2)
    assert mean_squared < 0.05
    assert np.mean(learner.predict(X) != y) < 0.08


def test_it_is_not_convex_and_says_so():
    s = np.linspace(-8, 8, 801)
    curvature = np.diff(smooth_error(s, np.ones_like(s), slope=True))
    assert curvature.min() < 0 < curvature.max()
    assert SGDClassifier("sigmoid_mse").fit([[0.0], [1.0]], [0, 1]).evidence_["convex"] is False


def margin(learner, X, y):
    """Return the distance of the nearest row from the boundary."""
    return np.min((2 * y - 1) * learner.decision_function(X)) / np.linalg.norm(learner.coef_)


@pytest.mark.parametrize("loss", ["log_loss", "sigmoid_mse", "squared_hinge"])
def test_a_smooth_loss_widens_the_margin(loss):
    # Two clouds with a gap of at least 2 between them. The perceptron stops at the first line that
    # fits; a smooth loss goes on, because rows that are right by little still cost something.
    wider = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = np.arange(60) % 2
        X = rng.normal(size=(60, 2))
        X[:, 0] = np.abs(X[:, 0]) + 1
        X[y == 0, 0] *= -1
        first = Perceptron(random_state=seed).fit(X, y)
        smooth = SGDClassifier(loss, max_iter=200, tol=None).fit(X, y)
        assert first.score(X, y) == smooth.score(X, y) == 1
        assert 0 < margin(first, X, y) <= 1.2 * margin(smooth, X, y)
        wider += margin(smooth, X, y) > margin(first, X, y)
    assert wider >= 9


def test_the_svm_has_the_widest_margin_of_all():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = np.arange(60) % 2
        X = rng.normal(size=(60, 2))
        X[:, 0] = np.abs(X[:, 0]) + 1
        X[y == 0, 0] *= -1
        widest = LinearSVM(1e6).fit(X, y)
        assert widest.certificate_.converged
        # |w| = 1 / margin at the optimum, so a gap in |w|^2 / 2 is one in the margin
        assert margin(widest, X, y) == pytest.approx(1 / np.linalg.norm(widest.coef_), rel=1e-5)
        others = [Perceptron(), SGDClassifier("log_loss", max_iter=200, tol=None)]
        for other in (*others, LogisticRegression(), LogisticRegression(1e4)):
            assert margin(other.fit(X, y), X, y) <= margin(widest, X, y) * (1 + 1e-6)
