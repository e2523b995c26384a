"""Bayesian linear regression by its joint Gaussian, n x n, nothing in closed form."""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space
from scipy.stats import multivariate_normal


def log_evidence(X, y, alpha, beta, fit_intercept=True):
    """Return log p(y): y is Gaussian with covariance I / beta + XX' / alpha.

    A flat prior on b leaves the n - 1 contrasts in which b does not take part; the n-th, the mean
    times sqrt(n), has the flat density 1 / sqrt(n).
    """
    covariance = np.eye(len(y)) / beta + X @ X.T / alpha
    if not fit_intercept:
        return multivariate_normal(np.zeros(len(y)), covariance).logpdf(y)
    contrasts = null_space(np.ones((1, len(y))))
    inner = multivariate_normal(np.zeros(len(y) - 1), contrasts.T @ covariance @ contrasts)
    return inner.logpdf(contrasts.T @ y) - 0.5 * np.log(len(y))


def posterior(X, y, alpha, beta, wide=1e8):
    """Return mean and covariance of (w, b) with a prior of b so wide that it is flat."""
    Z = np.column_stack([X, np.ones(len(y))])
    prior = np.diag([alpha] * X.shape[1] + [wide**-2])
    covariance = np.linalg.inv(beta * Z.T @ Z + prior)
    return beta * covariance @ Z.T @ y, covariance
