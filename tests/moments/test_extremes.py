"""Every fit to values near the ends of float64 gives finite weights, or says what to do."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from separable.moments.naive_bayes.base_counts import NaiveBayes
from separable.moments.regression.rank_warning import RankWarning
from separable.statistics.dominant_columns import DominantValueWarning
from tests.statistics.test_subtract import LEARNERS, NAMES, MomentClassifier

pytestmark = pytest.mark.native

SIZES = [5e-324, 1e-310, 1e-200, 1e150, 1e200, 1e308, 1.7e308]
PLACES = ["X", "y", "both", "column", "cell", "two columns", "cell of y"]
#: Words of messages that say what to do.
REMEDIES = ("scale", "Scale", "Divide", "Multiply", "precisions", "Give more rows", "add rows")


def problem(learner, shape, size, place):
    rng = np.random.default_rng(0)
    n = shape[0]
    X = rng.uniform(0, 1, size=shape)
    if issubclass(learner, MomentClassifier):
        y = np.arange(n) % 2
    else:
        y = rng.uniform(-1, 1, size=n) * (size if place in ("y", "both") else 1.0)
        if place == "cell of y":
            y[1] = size
    if place in ("X", "both"):
        X *= size
    elif place == "column":
        X[:, 1] *= size
    elif place == "cell":
        X[2, 1] = size
    elif place == "two columns":
        X[:, 0] *= size
        X[:, 1] *= min(1.0 / size, 1e300) if size > 1e-300 else 1e300
    return X, y


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("shape", [(30, 4), (6, 10)], ids=["tall", "wide"])
@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_weights_are_finite_or_refused_with_a_remedy(learner, shape, place, capfd):
    for size in SIZES:
        X, y = problem(learner, shape, size, place)
        for form in (np.asarray, sp.csr_array):
            fitted = learner()
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # no RuntimeWarning of NumPy
                for kind in (RankWarning, DominantValueWarning, UserWarning):
                    warnings.simplefilter("ignore", kind)
                warnings.simplefilter("error", RuntimeWarning)
                try:
                    fitted.fit(form(X), y)
                except ValueError as error:
                    assert any(word in str(error) for word in REMEDIES), str(error)  # noqa: PT017
                    continue
            assert np.isfinite(fitted.coef_).all()
            assert np.isfinite(fitted.intercept_).all()
            if issubclass(learner, NaiveBayes):
                assert np.isfinite(fitted.feature_log_prob_).all()
    assert capfd.readouterr().err == ""
