"""Every fit of every learner ends, whatever the size of its numbers: a finite model or an error."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_regressor

import separable

pytestmark = [pytest.mark.native, pytest.mark.timeout(60)]

SIZES = [1e200, 1e300, 1.7e308, 1e-200, 1e-300, 5e-324]
#: What a learner needs beyond its defaults, and other problems that it solves.
PARAMETERS = {
    "ElasticNet": [{"alpha": 0.1}, {"alpha": 0.1, "fit_intercept": False, "positive": True}],
    "ElasticNetCV": [{"alphas": 5, "cv": 3}],
    "GroupLasso": [{"alpha": 0.1, "groups": [0, 0, 1]}, {"alpha": 0.1, "standardize": True}],
    "GroupLassoClassifier": [{"groups": [0, 0, 1]}, {"standardize": True}],
    "Lasso": [{"alpha": 0.1}, {"alpha": 0.1, "standardize": True}],
    "LassoCV": [{"alphas": 5, "cv": 3}],
    "LinearSVM": [{}, {"loss": "squared_hinge", "penalty": "l1"}],
    "LinearSVMCV": [{"Cs": 2, "cv": 3}],
    "LinearSVR": [{}, {"standardize": True}],
    "LogisticRegression": [{}, {"standardize": True}, {"l1_ratio": 1.0}],
    "LogisticRegressionCV": [{"Cs": 2, "cv": 3}],
    "LpRegression": [{"p": p, "alpha": 0.1} for p in ("0", "1/2", "1", "3/2", "2", "inf")],
}
#: Learners of tables take no arrays; their learners are among the others.
LEARNERS = [
    name
    for name in separable.__all__
    if inspect.isclass(getattr(separable, name))
    and hasattr(getattr(separable, name), "fit")
    and hasattr(getattr(separable, name), "predict")
    and not name.startswith("Table")
]
#: What no message to a user says.
INTERNAL = ("infs or NaNs", "zero-size array", "not finite", "must be finite", "NaN, inf")


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    X /= np.abs(X).max()
    t = X @ [1.0, -2.0, 0.0] + 0.3 * rng.normal(size=30)
    return X, t / np.abs(t).max()


def cases(size, regression):
    """X, y and weights of that size, each alone, in one column and in one cell."""
    X, t = rows()
    y = t if regression else (t > 0).astype(int)
    weight = np.linspace(0.5, 1.0, 30)
    cell, column = X.copy(), X * [size, 1.0, 1.0]
    cell[7, 2] = size
    yield "X", X * size, y, None
    yield "column", column, y, None
    yield "cell", cell, y, None
    yield "sparse", sp.csr_array(np.where(X > 0.2, X, 0.0) * size), y, None
    yield "weights", X, y, weight * size
    yield "mixed", X * [size, 1.0 / max(size, 1e-300), 1.0], y, None
    if regression:
        other = t.copy()
        other[7] = size
        yield "y", X, t * size, None
        yield "one y", X, other, None
        yield "X and y", X * size, t * size, None
        yield "X against y", X * size, t / max(size, 1e-300), None


def check_ends(make, name, X, y, weight):
    """Fit, and look at the model or at the error; other exceptions and NumPy's warnings fail."""
    model = make()
    if name in ("MultinomialNB", "ComplementNB"):
        X = abs(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # learners may say what is poor, NumPy may not
        warnings.simplefilter("error", RuntimeWarning)
        message = ""
        try:
            model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)
        except ValueError as error:
            message = str(error)
    assert not any(words in message for words in INTERNAL), message
    if message:
        assert len(message) > 30
        return
    if hasattr(model, "coef_"):
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.intercept_).all()
    proof = getattr(model, "certificate_", None)
    if proof is not None and not getattr(proof, "is_local", False):
        assert np.isfinite([proof.primal, proof.dual, proof.gap]).all()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", LEARNERS)
def test_every_fit_ends(name, size):
    learner = getattr(separable, name)
    for parameters in PARAMETERS.get(name, [{}]):
        for _, X, y, weight in cases(size, is_regressor(learner())):
            check_ends(lambda: learner(**parameters), name, X, y, weight)  # noqa: B023
