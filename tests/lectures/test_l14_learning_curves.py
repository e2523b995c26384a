"""L14: performance, higher is better, against training size; averaged over several runs."""

from __future__ import annotations

import numpy as np
import pytest

from separable import LDA, LeastSquares
from separable.select import error_rate, learning_curve


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(0)
    y = np.arange(1200) % 2
    return rng.normal(size=(1200, 20)) + 0.4 * y[:, None], y


@pytest.fixture(scope="module")
def plane():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1200, 20))
    return X, X @ rng.normal(size=20) + 3 * rng.normal(size=1200)


@pytest.mark.parametrize("case", ["classes", "plane"])
def test_quick_at_first_saturated_at_the_end(case, request):
    X, y = request.getfixturevalue(case)
    learner = LDA() if case == "classes" else LeastSquares()
    sizes = [50, 100, 200, 400, 800]
    curve = learning_curve(learner, X, y, sizes=sizes, repeats=10)
    steps = np.diff(curve.mean)
    assert curve.mean[-1] == max(curve.mean)
    assert steps[0] > 4 * abs(steps[-1])
    assert curve.mean[-1] > curve.baseline
    assert curve.forecast.gain[-1] < steps[0]


def test_the_units_of_the_slide(classes, plane):
    X, y = classes
    curve = learning_curve(LDA(), X, y, sizes=[200], repeats=1)
    assert curve.metric == "1 - error rate"
    assert error_rate([0, 1, 1, 1], [0, 1, 0, 1]) == 0.25
    X, y = plane
    curve = learning_curve(LeastSquares(), X, y, sizes=[800], repeats=3)
    assert curve.metric == "MSE0 - MSE"
    # the best that w can do leaves the noise, of variance 9
    assert curve.mean[-1] == pytest.approx(curve.constant_errors.mean() - 9, rel=0.1)


def test_more_runs_are_less_noisy(classes):
    X, y = classes
    few, many = (
        learning_curve(LDA(), X, y, sizes=[60], repeats=repeats).standard_error[0]
        for repeats in (4, 40)
    )
    assert many < few
