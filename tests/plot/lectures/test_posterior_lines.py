"""Lines of the posterior, and the band of predictions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from separable import BayesianRegression, PolynomialEncoder, Ridge
from separable.plot import PosteriorLinesDisplay


def data(n=12):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, n)[:, None]
    return x, 1.5 * x[:, 0] + rng.normal(0, 0.3, n)


def test_band_is_the_predictive_distribution():
    x, y = data()
    line = BayesianRegression(2.0, 10.0, fit_intercept=False).fit(x, y)
    display = PosteriorLinesDisplay.from_estimator(line, x, y)
    precision = 10.0 * float(x[:, 0] @ x[:, 0]) + 2.0
    np.testing.assert_allclose(display.mean, display.grid * 10.0 * float(x[:, 0] @ y) / precision)
    np.testing.assert_allclose(display.std, np.sqrt(1 / 10.0 + display.grid**2 / precision))
    (band,) = display.ax_.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx((display.mean + 2 * display.std).max())


def test_lines_are_draws_of_the_posterior():
    x, y = data()
    line = BayesianRegression(2.0, 10.0, fit_intercept=False).fit(x, y)
    display = PosteriorLinesDisplay.from_estimator(line, x, y, n_lines=1000, deviations=1.0)
    precision = 10.0 * float(x[:, 0] @ x[:, 0]) + 2.0
    slopes = display.lines[:, -1] / display.grid[-1]
    assert slopes.std() == pytest.approx(1 / np.sqrt(precision), rel=0.08)
    assert slopes.mean() == pytest.approx(display.mean[-1] / display.grid[-1], abs=0.03)
    # lines are straight, and through 0 without an intercept
    np.testing.assert_allclose(display.lines, slopes[:, None] * display.grid, atol=1e-12)


def test_curves_by_an_encoder():
    x, y = data()
    encoder = PolynomialEncoder(3).fit(x)
    curve = BayesianRegression().fit(encoder.transform(x), y)
    display = PosteriorLinesDisplay.from_estimator(curve, x, y, encoder=encoder, n_lines=5)
    assert display.lines.shape == (5, 400)
    powers = display.grid[:, None] ** np.arange(1, 4)
    np.testing.assert_allclose(display.mean, curve.predict(powers))


def test_reach():
    x, y = data()
    line = BayesianRegression().fit(x, y)
    display = PosteriorLinesDisplay.from_estimator(line, x, y, extension=1.0)
    assert display.grid[-1] == pytest.approx(x.max() + np.ptp(x))


@pytest.mark.parametrize("name", ["n_lines", "deviations", "extension"])
def test_refusals(name):
    x, y = data()
    line = BayesianRegression().fit(x, y)
    with pytest.raises(ValueError, match=rf"{name} must be .* > ?=? ?.* Got 0 instead"):
        PosteriorLinesDisplay.from_estimator(line, x, y, **{name: 0})


def test_data_frames_keep_their_names():
    x, y = data()
    frame = pd.DataFrame({"speed": x[:, 0]})
    line = BayesianRegression().fit(frame, y)
    display = PosteriorLinesDisplay.from_estimator(line, frame, y)  # a warning would be an error
    plain = PosteriorLinesDisplay.from_estimator(BayesianRegression().fit(x, y), x, y)
    np.testing.assert_array_equal(display.mean, plain.mean)
    assert display.ax_.get_xlabel() == "speed"
    encoder = PolynomialEncoder(2).fit(frame)
    curve = BayesianRegression().fit(encoder.transform(frame), y)
    bent = PosteriorLinesDisplay.from_estimator(curve, frame, y, encoder=encoder)
    assert bent.mean.shape == plain.mean.shape


def test_a_learner_without_a_posterior_is_refused():
    x, y = data()
    with pytest.raises(TypeError, match=r"of a BayesianRegression\. Got Ridge"):
        PosteriorLinesDisplay.from_estimator(Ridge().fit(x, y), x, y)
