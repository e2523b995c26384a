"""L7: the batch perceptron: the mean of all mistakes, then one step."""

from __future__ import annotations

import numpy as np
import pytest

from separable import BatchPerceptron, Perceptron

pytestmark = pytest.mark.native


def test_by_hand():
    # (1, 1) is +, (2, 0) is -, the bias as x0 = 1, theta = (b, w).
    X, y = np.array([[1.0, 1.0], [2.0, 0.0]]), np.array([1, 0])
    # epoch 1: both score 0. Delta = ((1, 1, 1) - (1, 2, 0)) / 2 = (0, -0.5, 0.5) = theta
    # epoch 2: the first scores 0, a mistake; the second -1, right.
    #          Delta = (1, 1, 1) / 2, theta = (0.5, 0, 1)
    # epoch 3: the first scores 1.5; the second 0.5, a mistake.
    #          Delta = -(1, 2, 0) / 2, theta = (0, -1, 1)
    # epoch 4: the first scores 0: theta = (0.5, -0.5, 1.5)
    # epoch 5: 1.5 and -0.5: both right
    learned = BatchPerceptron().fit(X, y)
    np.testing.assert_array_equal(learned.coef_, [[-0.5, 1.5]])
    np.testing.assert_array_equal(learned.intercept_, [0.5])
    assert learned.evidence_["mistakes"] == [2, 1, 1, 1, 0]


def test_stops_below_epsilon():
    # The same rows: |Delta| is sqrt(0.5), sqrt(0.75), sqrt(1.25), ...: the first is below 0.75.
    early = BatchPerceptron(eps=0.75).fit([[1.0, 1.0], [2.0, 0.0]], [1, 0])
    np.testing.assert_array_equal(early.coef_, [[-0.5, 0.5]])
    assert early.evidence_["delta_norm"] == np.sqrt(0.5)
    assert early.evidence_["training_mistakes"] == 1


def test_online_depends_on_the_order_of_rows_and_batch_does_not():
    rng = np.random.default_rng(0)
    X = rng.integers(-4, 5, size=(64, 3)).astype(float)
    y = (X @ [3, 1, -2] > 0.5).astype(int)
    turned = slice(None, None, -1)
    batch = [BatchPerceptron().fit(X[o], y[o]).coef_ for o in (slice(None), turned)]
    online = [Perceptron(shuffle=False).fit(X[o], y[o]).coef_ for o in (slice(None), turned)]
    np.testing.assert_array_equal(batch[0], batch[1])
    assert (online[0] != online[1]).any()
