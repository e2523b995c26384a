"""The power law through a learning curve, beside one found by brute force, and its intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import least_squares

from separable.select import LearningCurve
from separable.select.curves.forecast import Measured, fit_laws, miss_per_doubling, noisy_means

SIZES = np.array([25, 50, 100, 200, 400, 800, 1600, 3200])


def curve_of(scores, sizes=SIZES, ceiling=1.0, greater_is_better=True, n_test=1371):
    return LearningCurve(
        "Learner", "score", np.asarray(sizes), np.asarray(scores), ("refit",) * len(sizes), n_test,
        greater_is_better, None, None, ceiling,
    )  # fmt: skip


def law(sizes, a=0.9, b=1.0, c=0.5):
    return a - b * np.asarray(sizes, dtype=float) ** -c


def noisy(rng, level=0.004, repeats=5, **numbers):
    shared = level * rng.standard_normal(repeats)
    own = 0.3 * level * rng.standard_normal((len(SIZES), repeats))
    return law(SIZES, **numbers)[:, None] + shared + own


@pytest.mark.parametrize("c", [0.2, 0.5, 1.0])
def test_a_law_without_noise_is_found(c):
    curve = curve_of(np.repeat(law(SIZES, c=c)[:, None], 3, axis=1))
    found = curve.forecast
    assert found.sizes.tolist() == [6400, 12800]
    np.testing.assert_allclose(found.mean, law(found.sizes, c=c), atol=2e-3)
    np.testing.assert_allclose(curve.curve_at(SIZES), law(SIZES, c=c), atol=5e-3)
    assert (found.high - found.low).max() < 0.02
    assert found.verdict.startswith("More rows will help")


def test_least_squares_as_by_brute_force():
    rng = np.random.default_rng(0)
    share, weights = SIZES / SIZES[-1], rng.random(len(SIZES)) + 0.1
    for _ in range(5):
        means = noisy(rng, 0.02)[:, 0]
        ours = fit_laws(SIZES.astype(float), weights, means[:, None], 1.0)
        left = lambda p: np.sqrt(weights) * (p[0] - p[1] * share ** -p[2] - means)  # noqa: B023, E731
        bounds = ([-np.inf, 0, 0.05], [1.0, np.inf, 2.0])
        theirs = min(
            (least_squares(left, [0.8, 0.1, c], bounds=bounds) for c in (0.1, 0.5, 1.5)),
            key=lambda found: found.cost,
        )
        mine = left([ours.limit[0], ours.scale[0], ours.power[0]])
        assert 0.5 * mine @ mine <= theirs.cost * 1.1 + 1e-12  # powers c are from a list
        assert ours.limit[0] <= 1.0
        assert ours.scale[0] >= 0.0


def test_several_curves_at_once_are_those_one_by_one():
    rng = np.random.default_rng(1)
    means, weights, sizes = noisy(rng, 0.02), np.ones(len(SIZES)), SIZES.astype(float)
    together = fit_laws(sizes, weights, means, 1.0)
    for k in range(means.shape[1]):
        alone = fit_laws(sizes, weights, means[:, k : k + 1], 1.0)
        np.testing.assert_allclose(alone.at(sizes)[:, 0], together.at(sizes)[:, k], rtol=1e-12)


def test_the_ceiling_holds():
    falling = 1 - 2.0 * SIZES.astype(float) ** -0.1
    found = curve_of(np.repeat(falling[:, None], 3, axis=1)).forecast
    assert (found.high <= 1.0).all()
    loose = curve_of(np.repeat(falling[:, None] + 5, 3, axis=1), ceiling=math.inf).forecast
    np.testing.assert_allclose(loose.mean, 6 - 2.0 * loose.sizes.astype(float) ** -0.1, atol=0.02)


def test_the_noise_of_means_is_as_wide_as_the_corrected_error():
    values = noisy(np.random.default_rng(2), repeats=30)
    curve = Measured(SIZES.astype(float), values, 1.0, 0.4)
    drawn = noisy_means(curve, 40_000, seed=0)
    expected = values.std(axis=1, ddof=1) * math.sqrt(1 / 30 + 0.4)
    t_is_wider = math.sqrt(29 / 27)
    np.testing.assert_allclose(drawn.std(axis=1), expected * t_is_wider, rtol=0.03)
    np.testing.assert_allclose(drawn.mean(axis=1), curve.mean, atol=1e-3)


def test_misses_by_brute_force():
    values = noisy(np.random.default_rng(3), 0.02)
    curve = Measured(SIZES.astype(float), values, 1.0, 0.4)
    total = count = 0.0
    for last in range(2, 7):
        for later in range(last + 1, 8):
            seen = slice(0, last + 1)
            found = fit_laws(curve.sizes[seen], curve.weights[seen], curve.mean[seen, None], 1.0)
            miss = found.at(curve.sizes[later : later + 1])[0, 0] - curve.mean[later]
            counts = 0.1 ** (7 - last)
            total += counts * miss**2 / (later - last)
            count += counts
    assert miss_per_doubling(curve) == pytest.approx(math.sqrt(total / count))


@pytest.mark.slow
def test_intervals_hold_the_truth_where_the_law_is_right():
    rng = np.random.default_rng(4)
    ahead, inside = law(2 * SIZES[-1:]).tolist() + law(4 * SIZES[-1:]).tolist(), []
    for _ in range(40):
        found = curve_of(noisy(rng)).forecast
        inside.append((found.low <= ahead) & (ahead <= found.high))
    assert np.mean(inside, axis=0).min() >= 0.8  # 0.9 is claimed, of 40


def test_a_level_closer_to_one_is_wider():
    curve = curve_of(noisy(np.random.default_rng(5)))
    widths = [
        float(np.ptp([one.low[0], one.high[0]]))
        for one in (curve.forecast_at(6400, level=level) for level in (0.5, 0.9, 0.99))
    ]
    assert widths == sorted(widths)
    assert curve.forecast_at(6400).mean[0] == curve.forecast.mean[0]


def test_a_flat_curve_gains_nothing():
    flat = 0.8 + 0.001 * np.random.default_rng(6).standard_normal((len(SIZES), 5))
    found = curve_of(flat).forecast
    assert abs(found.gain[-1]) < 0.002
    assert found.gain_low[-1] < 0.001
    assert not found.verdict.startswith("More rows will help")


def test_only_what_comes_after_the_worst_size_counts():
    peak = law(SIZES)
    peak[:2] += 1.0  # an interpolating learner is worst where rows are as many as columns
    curve, plain = (curve_of(np.repeat(each[:, None], 3, axis=1)) for each in (peak, law(SIZES)))
    np.testing.assert_allclose(curve.forecast.mean, plain.forecast.mean, atol=2e-3)


def test_less_is_better():
    scores = noisy(np.random.default_rng(7))
    more, less = curve_of(scores), curve_of(-scores, ceiling=-1.0, greater_is_better=False)
    np.testing.assert_allclose(less.forecast.mean, -more.forecast.mean)
    np.testing.assert_allclose(less.forecast.low, -more.forecast.high)
    np.testing.assert_allclose(less.forecast.gain_high, -more.forecast.gain_low)
    np.testing.assert_allclose(less.curve_at([100]), -more.curve_at([100]))
    assert less.forecast.verdict == more.forecast.verdict


@pytest.mark.parametrize(
    ("scores", "sizes", "reason"),
    [
        (np.ones((8, 1)), SIZES, "One repetition cannot separate noise from trend"),
        (
            law([10, 20, 40])[:, None] * [1, 1],
            [10, 20, 40],
            "There are 3",
        ),
        (np.full((1, 2), 0.5), [10], "There is 1"),
        (law([10, 12, 14, 16])[:, None] * [1, 1], [10, 12, 14, 16], "too close"),
    ],
)
def test_curves_without_a_forecast_say_why(scores, sizes, reason):
    curve = curve_of(scores, sizes)
    found = curve.forecast
    assert reason in found.verdict
    assert np.isnan(found.mean).all()
    assert np.isneginf(found.low).all()
    assert (found.high == 1.0).all()
    assert np.isnan(curve.curve_at([100])).all()
    assert reason in repr(curve)


def test_errors():
    curve = curve_of(noisy(np.random.default_rng(8)))
    with pytest.raises(ValueError, match=r"A forecast starts at 3200 rows.*Got 100"):
        curve.forecast_at(100)
    with pytest.raises(ValueError, match=r"level must be above 0.*Got 90"):
        curve.forecast_at(6400, level=90)
    with pytest.raises(ValueError, match=r"numbers of rows above 0"):
        curve.curve_at([0])


def test_scores_that_are_not_finite_give_no_forecast():
    found = curve_of(np.full((8, 3), np.nan)).forecast
    assert "not finite" in found.verdict
    assert np.isnan(found.mean).all()


@pytest.mark.parametrize("sizes", [np.nan, np.inf, "many", 1e30, [[6400]], None])
def test_sizes_that_are_no_numbers_of_rows(sizes):
    curve = curve_of(noisy(np.random.default_rng(8)))
    with pytest.raises(ValueError, match="sizes must be numbers of rows"):
        curve.forecast_at(sizes)
    with pytest.raises(ValueError, match="sizes must be numbers of rows"):
        curve.curve_at(sizes)
