"""L22: linear discriminant analysis, in one dimension and in many."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from separable import LDA

pytestmark = pytest.mark.native


def test_one_dimension_by_hand():
    # class 0: 1, 3 (mean 2), class 1: 6, 8, 10 (mean 8); squares 1 + 1 + 4 + 0 + 4 = 10 over
    # N - K = 3
    X, y = np.array([[1.0], [3.0], [6.0], [8.0], [10.0]]), [0, 0, 1, 1, 1]
    fitted = LDA().fit(X, y)
    np.testing.assert_allclose(fitted.means_, [[2], [8]])
    np.testing.assert_allclose(fitted.covariance_, [[10 / 3]])
    np.testing.assert_allclose(fitted.priors_, [2 / 5, 3 / 5])
    x, s2 = np.linspace(-5, 15, 9), 10 / 3
    delta = [x * m / s2 - m**2 / (2 * s2) + np.log(p) for m, p in ((2, 0.4), (8, 0.6))]
    np.testing.assert_allclose(fitted.decision_function(x[:, None]), delta[1] - delta[0])


@pytest.mark.parametrize("spread", [0.5, 1.0, 4.0])
def test_with_equal_priors_the_boundary_is_half_way(spread):
    # the slide divides by 2 sigma; it is (mu_1 + mu_2) / 2 whatever sigma is
    X = np.array([2 - spread, 2 + spread, 7 - spread, 7 + spread])[:, None]
    fitted = LDA().fit(X, [0, 0, 1, 1])
    assert -fitted.intercept_[0] / fitted.coef_[0, 0] == pytest.approx(4.5)
    np.testing.assert_allclose(fitted.predict_proba([[4.5]]), [[0.5, 0.5]])


def test_a_larger_prior_moves_the_boundary_away():
    X, y = np.array([[1.0], [3.0], [6.0], [8.0]]), [0, 0, 1, 1]
    fitted = LDA(priors=[0.9, 0.1]).fit(X, y)
    boundary = -fitted.intercept_[0] / fitted.coef_[0, 0]
    assert boundary == pytest.approx(4.5 + 2 * np.log(9) / 5)  # s2 log(pi_0 / pi_1) / (mu_1 - mu_0)


def test_many_dimensions_by_hand():
    # two classes with the same star of four rows about (0, 0) and (3, 1)
    star = np.array([[2.0, 0], [-2, 0], [0, 1], [0, -1]])
    X, y = np.vstack([star, star + np.array([3, 1])]), np.repeat([0, 1], 4)
    fitted = LDA().fit(X, y)
    S = np.diag([16.0, 4.0]) / 6  # N - K = 6
    np.testing.assert_allclose(fitted.covariance_, S, atol=1e-15)
    # S^-1 (mu_1 - mu_0) = (3 * 6/16, 6/4), through the middle (1.5, 0.5)
    np.testing.assert_allclose(fitted.coef_, [[18 / 16, 6 / 4]])
    np.testing.assert_allclose(fitted.intercept_, [-(1.5 * 18 / 16 + 0.5 * 6 / 4)])


def test_three_classes_with_the_lectures_covariance():
    rng = np.random.default_rng(0)
    S = np.array([[1.0, 0.6], [0.6, 2.0]])
    means = np.array([[0.0, 0], [3, 0], [0, 4]])
    y = np.repeat([0, 1, 2], 20_000)
    X = rng.multivariate_normal([0, 0], S, len(y)) + means[y]
    fitted = LDA().fit(X, y)
    np.testing.assert_allclose(fitted.covariance_, S, atol=0.03)
    np.testing.assert_allclose(fitted.means_, means, atol=0.03)
    inverse = np.linalg.inv(S)
    delta = X @ inverse @ means.T - np.einsum("ki,ij,kj->k", means, inverse, means) / 2
    assert (fitted.predict(X) == delta.argmax(axis=1)).mean() > 0.995  # Bayes' own rule
    # boundaries are straight: the score of one class against another is linear in x
    line = np.linspace(0, 1, 5)[:, None] * [3.0, 4.0]
    s = fitted.decision_function(line)
    np.testing.assert_allclose(np.diff(s[:, 1] - s[:, 2], 2), 0, atol=1e-9)


def test_independent_variables_have_a_diagonal_covariance():
    # heights N(67, 20), waking times N(9, 1): diag(20, 1); the slide has the mean 9 for the 1
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(67, np.sqrt(20), 40_000), rng.normal(9, 1, 40_000)])
    fitted = LDA().fit(X, np.arange(40_000) % 2)
    np.testing.assert_allclose(fitted.covariance_, np.diag([20.0, 1.0]), atol=0.3)


def slide(X, y, x, priors=None, divisor=None, shrinkage=0.0):
    """Return delta_k(x) as the slides write it, one row and one class at a time."""
    classes = np.unique(y)
    N, K, d = len(y), len(classes), X.shape[1]
    mu = [X[y == k].mean(axis=0) for k in classes]
    pi = [(y == k).sum() / N for k in classes] if priors is None else priors
    Sigma = np.zeros((d, d))
    for row, label in zip(X, y, strict=True):
        gap = row - mu[list(classes).index(label)]
        Sigma += np.outer(gap, gap)
    Sigma /= N - K if divisor is None else divisor
    Sigma = (1 - shrinkage) * Sigma + shrinkage * np.trace(Sigma) / d * np.eye(d)
    inverse = np.linalg.inv(Sigma)
    return np.array(
        [
            [
                row @ inverse @ m - m @ inverse @ m / 2 + np.log(p)
                for m, p in zip(mu, pi, strict=True)
            ]
            for row in x
        ]
    )


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("n_columns", [1, 4])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_discriminants_are_those_of_the_slides(n_classes, n_columns, form):
    rng = np.random.default_rng(n_classes)
    y = np.array(["k", "l", "m", "n", "o"])[np.arange(60) % n_classes]
    X = rng.normal(size=(60, n_columns)) + (np.arange(60) % n_classes)[:, None] + [3.0]
    x = rng.normal(size=(7, n_columns))
    delta = slide(X, y, x)
    fitted = LDA().fit(form(X), y)
    result = fitted.discriminants(form(x))
    assert result.shape == (7, n_classes)
    np.testing.assert_allclose(result, delta, rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(fitted.classes_[result.argmax(axis=1)], fitted.predict(x))
    for k, label in enumerate(fitted.classes_):
        for l, other in enumerate(fitted.classes_):  # noqa: E741
            ratio = fitted.log_ratio(form(x), label, other)
            np.testing.assert_allclose(ratio, delta[:, k] - delta[:, l], rtol=1e-9, atol=1e-10)
            probabilities = fitted.predict_proba(x)
            np.testing.assert_allclose(
                ratio, np.log(probabilities[:, k] / probabilities[:, l]), atol=1e-8
            )
    if n_classes == 2:
        np.testing.assert_allclose(
            fitted.decision_function(x), fitted.log_ratio(x, "l", "k"), rtol=1e-9, atol=1e-12
        )
    given = [0.5, *np.full(n_classes - 1, 0.5 / (n_classes - 1))]
    options = LDA(priors=given, covariance="mle", shrinkage=0.25).fit(X, y)
    expected = slide(X, y, x, given, divisor=60, shrinkage=0.25)
    np.testing.assert_allclose(options.discriminants(x), expected, rtol=1e-9, atol=1e-10)


def test_discriminants_of_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X, y, x = rng.normal(size=(12, 30)) + 1.0, np.arange(12) % 3, rng.normal(size=(4, 30))
    for form in (np.asarray, csr_array):
        fitted = LDA(shrinkage=0.4).fit(form(X), y)
        expected = slide(X, y, x, shrinkage=0.4)
        np.testing.assert_allclose(fitted.discriminants(x), expected, rtol=1e-8)
        np.testing.assert_allclose(
            fitted.log_ratio(x, 2, 0), expected[:, 2] - expected[:, 0], rtol=1e-7, atol=1e-8
        )


def test_log_ratios_far_from_0_keep_digits():
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(90, 2)) * 2**10) / 2**10
    y = np.arange(90) % 3
    X[:, 0] += y
    plain, far = LDA().fit(X, y), LDA().fit(X + 2.0**30, y)
    np.testing.assert_allclose(
        far.log_ratio(X[:9] + 2.0**30, 2, 1), plain.log_ratio(X[:9], 2, 1), atol=1e-6
    )


def test_log_ratio_of_no_class():
    fitted = LDA().fit([[1.0], [3.0], [6.0], [8.0]], ["a", "a", "b", "b"])
    with pytest.raises(ValueError, match=r"'z' is not among the classes: \['a', 'b'\]"):
        fitted.log_ratio([[1.0]], "a", "z")
    with pytest.raises(ValueError, match="expecting 1 features"):
        fitted.discriminants([[1.0, 2.0]])
