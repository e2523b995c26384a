"""Small moment learners with which the framework is tested on its own, and fits by brute force."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
from sklearn.base import clone

from separable import LeastSquares, Moments
from separable.moments.base import Solution
from separable.moments.base_classifier import MomentClassifier


class Discriminant(MomentClassifier):
    """Discriminant analysis in its plainest form, with a little added to the diagonal."""

    _requirements: ClassVar = {}

    def _new_sums(self):
        return Moments("classes")

    def _solve(self, sums, data):
        self._check_classes(sums.classes)
        freedom = sums.weight - len(sums.classes)
        covariance = sums.within_scatter / freedom + 1e-3 * np.eye(sums.n_features)
        means, prior = sums.class_means, sums.class_weight / sums.weight
        w = np.linalg.solve(covariance, means.T).T
        b = np.log(prior) - 0.5 * np.einsum("kd,kd->k", w, means)
        if len(prior) == 2:
            w, b = w[1:] - w[:1], b[1:] - b[:1]
        return Solution(w, b)


class Hat(LeastSquares):
    """Least squares that takes rows out by the hat matrix."""

    def _left_out_scores(self, sums, data):
        if data.rows.n_features > data.n_counted:
            return None
        fitted = clone(self).fit(data.rows.to_matrix(), data.y, data.counted.weight)
        X, y = data.rows.to_matrix(), data.y.reshape(len(data.y), -1)
        X = np.asarray(X.todense()) if data.rows.is_sparse else X
        weight = np.ones(len(X)) if data.counted.weight is None else data.counted.weight
        Z = np.sqrt(weight)[:, None] * np.column_stack([np.ones(len(X)), X])
        leverage = np.einsum("ij,ji->i", Z, np.linalg.pinv(Z))[:, None]
        left = y - fitted.predict(X).reshape(y.shape)
        scores = y - left / (1 - leverage)
        scores[leverage[:, 0] > 1 - 1e-6] = np.nan
        return scores


class NeedsRows(Discriminant):
    """One whose parameters need a second pass over the rows."""

    def _needs_rows(self):
        return True

    def _solve(self, sums, data):
        assert data is not None
        return super()._solve(sums, data)


def fitted(estimator, X, y, rows, weight=None):
    more = {} if weight is None else {"sample_weight": weight[rows]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(estimator).fit(X[rows], y[rows], **more)
