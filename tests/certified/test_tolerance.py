"""The requested relative gap is reached, and claimed, on both sides of every size of the policy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from separable import LinearSVM, LinearSVR, LogisticRegression

pytestmark = [pytest.mark.native, pytest.mark.slow]

MAKERS = {
    "logistic": LogisticRegression,
    "hinge": LinearSVM,
    "squared hinge": lambda **given: LinearSVM(loss="squared_hinge", **given),
    "insensitive": lambda **given: LinearSVR(epsilon=0.1, **given),
}
#: Rows, columns and classes around 512 columns, 1e6 numbers and 1500 weights.
SHAPES = [
    (700, 511, 2),
    (700, 513, 2),
    (1999, 500, 2),
    (2001, 500, 2),
    (400, 499, 3),
    (400, 501, 3),
]


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("tol", [None, 1e-3, 1e-9])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", MAKERS)
def test_tol_is_honoured_around_the_limits_of_the_policy(name, shape, tol, is_sparse):
    n, d, K = shape
    rng = np.random.default_rng(d)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.1)
    scores = X[:, :20] @ rng.normal(size=(20, K)) + rng.normal(size=(n, K))
    y = scores[:, 0] if name == "insensitive" else scores.argmax(axis=1)
    given = {} if tol is None else {"tol": tol}
    learner = MAKERS[name](C=0.1, **given).fit(sp.csr_array(X) if is_sparse else X, y)
    for one in learner.certificates_:
        assert one.tol == (1e-6 if tol is None else tol)
        assert one.relative_gap <= one.tol
