"""Forecast of a learning curve, with prediction intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.words import lined_up
from separable.select.curves.power_law import (
    FEWEST_SIZES,
    Measured,
    fit_laws,
    miss_per_doubling,
    noisy_means,
)
from separable.select.results import shown_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = ["Forecast", "forecast_of", "law_at", "reason_of"]

#: Random curves that an interval is made of.
DRAWS = 2000
#: Sizes that reach less far tell nothing of twice as many rows.
LEAST_RATIO = 4.0


@dataclass(frozen=True, eq=False, repr=False)
class Forecast:
    """Forecast of the performance with more rows.

    Parameters
    ----------
    sizes : ndarray of int, shape (m,)
    mean, low, high : ndarray, shape (m,)
        The performance to expect, and the ends of its interval.
    gain, gain_low, gain_high : ndarray, shape (m,)
        The same for what is gained over the largest size measured. What these two have in common,
        such as rows that are easier than others, does not count there. Of metrics of which less is
        better a gain is below 0.
    level : float
        Confidence level: the fraction of such intervals that contain the true value.
    metric : str
        What is measured.
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
        """Return what to expect of each size."""
        table = [["rows", self.metric, "low", "high", "gain", "low", "high"]]
        names = ("mean", "low", "high", "gain", "gain_low", "gain_high")
        columns = [getattr(self, name) for name in names]
        for size, *figures in zip(self.sizes, *columns, strict=True):
            table.append([str(size), *map(shown_number, figures)])
        title = f"Forecast, intervals at {100 * self.level:g} %"
        return f"{title}\n{lined_up(table)}\n{self.verdict}"

    def __repr__(self) -> str:
        return self.to_text()


def reason_of(curve: Measured) -> str:
    """Say why a curve cannot be extrapolated; empty if it can."""
    sizes, repeats = curve.sizes, curve.values.shape[1]
    if not np.isfinite(curve.values).all():
        return "Some scores are no finite numbers, and tell nothing of more rows."
    if repeats < 2:
        return "One repetition does not tell noise from a trend: take repeats=5."
    if len(sizes) < FEWEST_SIZES:
        return (
            f"{len(sizes)} size{'s' * (len(sizes) > 1)} from the worst on "
            f"{'do' if len(sizes) > 1 else 'does'} not tell where the curve goes: take "
            f"{FEWEST_SIZES} or more."
        )
    if sizes[-1] < LEAST_RATIO * sizes[0]:
        return (
            f"Sizes from {sizes[0]:g} to {sizes[-1]:g} rows are too close to tell where the curve "
            f"goes: let the largest be {LEAST_RATIO:g} times the smallest or more."
        )
    return ""


def law_at(curve: Measured, sizes: Floats) -> Floats:
    """Return the fitted power law at the given sizes; NaN if there is none."""
    part = curve.falling_part()
    if reason_of(part):
        return np.full(len(sizes), math.nan)
    law = fit_laws(part.sizes, part.weights, part.mean[:, None], part.ceiling)
    return law.at(sizes)[:, 0]


def forecast_of(
    curve: Measured, sizes: NDArray[np.intp], level: float, metric: str, sign: float
) -> Forecast:
    """Return the forecast of a curve of which more is better, in units of ``sign`` times it."""
    part = curve.falling_part()
    reason = reason_of(part)
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
    """Return that nothing is known but what cannot be exceeded."""
    none, least = np.full(len(sizes), math.nan), np.full(len(sizes), -math.inf)
    most = np.full(len(sizes), curve.ceiling)
    return [none, least, most], [none, least, most - float(curve.mean[-1])]


def _verdict(rows: int, gain: float, low: float, high: float) -> str:
    between = f"with {rows} rows a gain of {gain:.2g} is expected, from {low:.2g} to {high:.2g}"
    if low > 0:
        return f"More rows will help: {between}."
    if gain <= 0:
        return f"More rows are not seen to help: {between}."
    return f"More rows may help: {between}."
