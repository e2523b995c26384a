"""Forecast of a learning curve by an inverse power law, with prediction intervals.

The law is value(n) = a - b n^-c with b >= 0 and c > 0, where more is better: the distance to the
limit a falls by the same factor with every doubling of the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.words import lined_up
from separable.select.results import shown_number, variance_factor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.typing import Floats

__all__ = [
    "Forecast",
    "Measured",
    "fit_laws",
    "forecast_of",
    "law_at",
    "miss_per_doubling",
    "noisy_means",
]

#: Candidate powers c.
POWERS = np.geomspace(0.05, 2.0, 40)
#: Minimum number of sizes: one more than the parameters of a law.
MIN_SIZES = 4
#: Smallest standard deviation, relative to the range of the curve.
MIN_DEVIATION = 1e-3
#: Weight of the extrapolation error of a law fitted to half as many rows.
HALF_ROWS_WEIGHT = 0.1


@dataclass(frozen=True, eq=False)
class Measured:
    """A learning curve; larger values are better.

    Parameters
    ----------
    sizes : ndarray, shape (S,)
        Ascending.
    values : ndarray, shape (S, R)
        By size and repetition.
    ceiling : float
        Upper bound on the limit; inf if unknown.
    test_per_train : float
        Test rows over training rows.
    """

    sizes: Floats
    values: Floats
    ceiling: float
    test_per_train: float

    @property
    def mean(self) -> Floats:
        """Mean of each size."""
        mean: Floats = self.values.mean(axis=1)
        return mean

    @property
    def weights(self) -> Floats:
        """Weights of the sizes in least squares: number of rows over variance.

        A power law fits large sizes better than small ones, so larger sizes count more. Variances
        come from few repetitions and are smoothed over neighbouring sizes.
        """
        least = (MIN_DEVIATION * float(np.ptp(self.mean))) ** 2 or 1.0
        logs = np.log(self.values.var(axis=1, ddof=1) + least)
        beside = np.concatenate([logs[:1], logs, logs[-1:]])
        weights: Floats = self.sizes * np.exp(-(beside[:-2] + beside[1:-1] + beside[2:]) / 3)
        return weights

    def falling_part(self) -> Measured:
        """Return the curve from its worst size on, where the distance to the limit falls."""
        worst = int(self.mean.argmin())
        return Measured(self.sizes[worst:], self.values[worst:], self.ceiling, self.test_per_train)


@dataclass(frozen=True, eq=False)
class Laws:
    """B power laws.

    Parameters
    ----------
    limit, scale, power : ndarray, shape (B,)
        a, b and c, for sizes in units of ``unit``.
    unit : float
    """

    limit: Floats
    scale: Floats
    power: Floats
    unit: float

    def at(self, sizes: Floats) -> Floats:
        """Return the values at some sizes, shape (m, B)."""
        fraction = (np.asarray(sizes, dtype=np.float64) / self.unit)[:, None]
        values: Floats = self.limit - self.scale * fraction**-self.power
        return values


def fit_laws(sizes: Floats, weights: Floats, means: Floats, ceiling: float) -> Laws:
    """Fit a law to each of B curves by weighted least squares: a and b exactly, c on a grid.

    Parameters
    ----------
    sizes, weights : ndarray, shape (S,)
    means : ndarray, shape (S, B)
    ceiling : float
        Upper bound on the limit a.
    """
    fraction = sizes / sizes[-1]
    w = (weights / weights.sum())[:, None]
    best = np.full(means.shape[1], math.inf)
    result = np.zeros((3, means.shape[1]))
    for power in POWERS:
        limit, scale = _line(fraction[:, None] ** -power, means, w, ceiling)
        left = means - limit + scale * fraction[:, None] ** -power
        loss = (w * left**2).sum(axis=0)
        better = loss < best * (1 - 1e-9)
        best = np.where(better, loss, best)
        result = np.where(better, [limit, scale, np.full_like(limit, power)], result)
    return Laws(result[0], result[1], result[2], float(sizes[-1]))


def _line(z: Floats, means: Floats, w: Floats, ceiling: float) -> tuple[Floats, Floats]:
    """Return a <= ceiling and b >= 0 of the best a - b z."""
    zc, mean = (w * z).sum(), (w * means).sum(axis=0)
    spread = (w * (z - zc) ** 2).sum()
    if spread == 0.0:
        return np.minimum(mean, ceiling), np.zeros_like(mean)
    scale = np.maximum(0.0, -(w * (z - zc) * means).sum(axis=0) / spread)
    limit = mean + scale * zc
    over = limit > ceiling
    if over.any():  # then the limit is the ceiling
        at_top = np.maximum(0.0, (w * z * (ceiling - means)).sum(axis=0) / (w * z * z).sum())
        limit, scale = np.where(over, ceiling, limit), np.where(over, at_top, scale)
    return limit, scale


def noisy_means(curve: Measured, draws: int, seed: int) -> Floats:
    """Return random curves with the uncertainty of the mean curve, shape (S, draws).

    The noise is a random combination of the deviations of the repetitions from their mean, with
    the variance of a mean over repetitions that share rows, estimated from few of them.
    """
    rng, repeats = np.random.default_rng(seed), curve.values.shape[1]
    apart = curve.values - curve.mean[:, None]
    spread = math.sqrt(variance_factor(repeats, curve.test_per_train) / (repeats - 1))
    known = np.sqrt(rng.chisquare(repeats - 1, draws) / (repeats - 1))
    noise = apart @ rng.standard_normal((repeats, draws)) * (spread / known)
    means: Floats = curve.mean[:, None] + noise
    return means


def miss_per_doubling(curve: Measured) -> float:
    """Return the extrapolation error of laws fitted to the smaller sizes, per doubling of the rows.

    It is a root mean square over pairs of a last fitted size and a larger size; pairs with a larger
    fitted size count more. Errors are assumed to grow with the root of the number of doublings.
    """
    sizes, mean, weights = curve.sizes, curve.mean, curve.weights
    total = count = 0.0
    for last in range(MIN_SIZES - 2, len(sizes) - 1):
        seen, later = slice(last + 1), slice(last + 1, None)
        law = fit_laws(sizes[seen], weights[seen], mean[seen, None], curve.ceiling)
        miss = law.at(sizes[later])[:, 0] - mean[later]
        doublings = np.maximum(1.0, np.log2(sizes[later] / sizes[last]))
        counts = HALF_ROWS_WEIGHT ** math.log2(sizes[-1] / sizes[last])
        total += counts * float((miss**2 / doublings).sum())
        count += counts * len(miss)
    return math.sqrt(total / count)


#: Number of random curves for intervals.
DRAWS = 2000
#: Minimum ratio of the largest to the smallest size.
MIN_RATIO = 4.0


@dataclass(frozen=True, eq=False, repr=False)
class Forecast:
    """Forecast of the performance with more rows.

    Parameters
    ----------
    sizes : ndarray of int, shape (m,)
    mean, low, high : ndarray, shape (m,)
        The expected performance, and the ends of its interval.
    gain, gain_low, gain_high : ndarray, shape (m,)
        The same for the gain over the largest measured size. Noise that both have in common, such
        as easy test rows, cancels there. A gain is negative if less of the metric is better.
    level : float
        Confidence level: the fraction of such intervals that contain the true value.
    metric : str
        Name of the score.
    verdict : str
        One sentence: whether more rows help.
    """

    sizes: NDArray[np.intp]
    mean: Floats
    low: Floats
    high: Floats
    gain: Floats
    gain_low: Floats
    gain_high: Floats
    level: float
    metric: str
    verdict: str

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists, numbers and text."""
        names = ("sizes", "mean", "low", "high", "gain", "gain_low", "gain_high")
        arrays = {name: getattr(self, name).tolist() for name in names}
        return {**arrays, "level": self.level, "metric": self.metric, "verdict": self.verdict}

    def to_text(self) -> str:
        """Return a table of the expected performance by size."""
        table = [["rows", self.metric, "low", "high", "gain", "low", "high"]]
        names = ("mean", "low", "high", "gain", "gain_low", "gain_high")
        columns = [getattr(self, name) for name in names]
        for size, *figures in zip(self.sizes, *columns, strict=True):
            table.append([str(size), *map(shown_number, figures)])
        title = f"Forecast, intervals at {100 * self.level:g} %"
        return f"{title}\n{lined_up(table)}\n{self.verdict}"

    def __repr__(self) -> str:
        return self.to_text()


def _reason_of(curve: Measured) -> str:
    """Say why a curve cannot be extrapolated; empty if it can."""
    sizes, repeats = curve.sizes, curve.values.shape[1]
    if not np.isfinite(curve.values).all():
        return "Some scores are not finite, so the curve cannot be extrapolated."
    if repeats < 2:
        return "One repetition cannot separate noise from trend: use repeats=5."
    if len(sizes) < MIN_SIZES:
        return (
            f"A forecast needs at least {MIN_SIZES} sizes from the worst score on. There "
            f"{'are' if len(sizes) > 1 else 'is'} {len(sizes)}."
        )
    if sizes[-1] < MIN_RATIO * sizes[0]:
        return (
            f"Sizes from {sizes[0]:g} to {sizes[-1]:g} rows are too close for a forecast: the "
            f"largest should be at least {MIN_RATIO:g} times the smallest."
        )
    return ""


def law_at(curve: Measured, sizes: Floats) -> Floats:
    """Return the fitted power law at the given sizes; NaN if there is none."""
    part = curve.falling_part()
    if _reason_of(part):
        return np.full(len(sizes), math.nan)
    law = fit_laws(part.sizes, part.weights, part.mean[:, None], part.ceiling)
    return law.at(sizes)[:, 0]


def forecast_of(
    curve: Measured, sizes: NDArray[np.intp], level: float, metric: str, sign: float
) -> Forecast:
    """Return the forecast of a curve whose larger values are better, multiplied by ``sign``."""
    part = curve.falling_part()
    reason = _reason_of(part)
    values, gains = _unknown(curve, sizes) if reason else _drawn(part, sizes, level)
    verdict = reason or _verdict(int(sizes[-1]), *(float(each[-1]) for each in gains))
    mean, low, high = (sign * each for each in values)
    gain, gain_low, gain_high = (sign * each for each in gains)
    if sign < 0:
        low, high, gain_low, gain_high = high, low, gain_high, gain_low
    return Forecast(sizes, mean, low, high, gain, gain_low, gain_high, level, metric, verdict)


def _drawn(
    curve: Measured, sizes: NDArray[np.intp], level: float
) -> tuple[list[Floats], list[Floats]]:
    """Return the power law and its intervals at the given sizes, for the values and the gains."""
    at, last = sizes.astype(np.float64), curve.sizes[-1:]
    law = fit_laws(curve.sizes, curve.weights, curve.mean[:, None], curve.ceiling)
    drawn = fit_laws(curve.sizes, curve.weights, noisy_means(curve, DRAWS, seed=0), curve.ceiling)
    doublings = np.log2(at / last)[:, None]
    rng = np.random.default_rng(1)
    miss = miss_per_doubling(curve) * np.sqrt(doublings) * rng.standard_normal(DRAWS)
    values = np.minimum(drawn.at(at) + miss, curve.ceiling)
    gains = values - np.minimum(drawn.at(last), curve.ceiling)
    ends = [0.5 - level / 2, 0.5 + level / 2]
    mean = law.at(at)[:, 0]
    return (
        [mean, *np.quantile(values, ends, axis=1)],
        [mean - law.at(last)[0, 0], *np.quantile(gains, ends, axis=1)],
    )


def _unknown(curve: Measured, sizes: NDArray[np.intp]) -> tuple[list[Floats], list[Floats]]:
    """Return intervals without a forecast: only the ceiling is known."""
    none, least = np.full(len(sizes), math.nan), np.full(len(sizes), -math.inf)
    most = np.full(len(sizes), curve.ceiling)
    return [none, least, most], [none, least, most - float(curve.mean[-1])]


def _verdict(rows: int, gain: float, low: float, high: float) -> str:
    between = f"with {rows} rows a gain of {gain:.2g} is expected, from {low:.2g} to {high:.2g}"
    if low > 0:
        return f"More rows will help: {between}."
    if gain <= 0:
        return f"More rows are not expected to help: {between}."
    return f"More rows may help: {between}."
