"""An inverse power law through a learning curve, and the noise and the misses about it.

The law is value(n) = a - b n^-c with b >= 0 and c > 0, where more is better: what is missing to the
limit a falls by the same factor with every doubling of the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.select.corrected_variance import shared_rows

if TYPE_CHECKING:
    from separable.typing import Floats


__all__ = ["FEWEST_SIZES", "Laws", "Measured", "fit_laws", "miss_per_doubling", "noisy_means"]

#: Powers c that are tried.
POWERS = np.geomspace(0.05, 2.0, 40)
#: A law has three numbers; one size more is left over to see whether it holds.
FEWEST_SIZES = 4
#: Deviations below this fraction of the range of the curve are taken for this.
LEAST_ERROR = 1e-3
#: A law that saw half as many rows counts so much for how far laws miss.
HALF = 0.1


@dataclass(frozen=True, eq=False)
class Measured:
    """A learning curve of which more is better.

    Parameters
    ----------
    sizes : ndarray, shape (S,)
        Ascending.
    values : ndarray, shape (S, R)
        By size and repetition.
    ceiling : float
        What no limit exceeds; inf: not known.
    test_per_train : float
        Rows held out over rows learned from.
    """

    sizes: Floats
    values: Floats
    ceiling: float
    test_per_train: float

    @property
    def mean(self) -> Floats:
        """By size."""
        mean: Floats = self.values.mean(axis=1)
        return mean

    @property
    def weights(self) -> Floats:
        """Of each size in least squares: its rows over its variance, which is known from few.

        A law holds at the end sooner than at the beginning, so larger sizes count more. Variances
        are averaged with those of the sizes beside them.
        """
        least = (LEAST_ERROR * float(np.ptp(self.mean))) ** 2 or 1.0
        logs = np.log(self.values.var(axis=1, ddof=1) + least)
        beside = np.concatenate([logs[:1], logs, logs[-1:]])
        weights: Floats = self.sizes * np.exp(-(beside[:-2] + beside[1:-1] + beside[2:]) / 3)
        return weights

    def falling_part(self) -> Measured:
        """Return the curve from its worst size on, where what is missing falls."""
        worst = int(self.mean.argmin())
        return Measured(self.sizes[worst:], self.values[worst:], self.ceiling, self.test_per_train)


@dataclass(frozen=True, eq=False)
class Laws:
    """B laws.

    Parameters
    ----------
    limit, scale, power : ndarray, shape (B,)
        a, b and c, sizes being in units of ``unit``.
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
    """Fit a law to each of B curves by weighted least squares: a and b exactly, c from a list.

    Parameters
    ----------
    sizes, weights : ndarray, shape (S,)
    means : ndarray, shape (S, B)
    ceiling : float
        The limit a is at most this.
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
    """Return curves as likely as the mean one, shape (S, draws).

    Random sums of how the repetitions deviate from their mean, all sizes of one together, as wide
    as the mean is uncertain: repetitions share rows, and their spread is itself known from few.
    """
    rng, repeats = np.random.default_rng(seed), curve.values.shape[1]
    apart = curve.values - curve.mean[:, None]
    spread = math.sqrt(shared_rows(repeats, curve.test_per_train) / (repeats - 1))
    known = np.sqrt(rng.chisquare(repeats - 1, draws) / (repeats - 1))
    noise = apart @ rng.standard_normal((repeats, draws)) * (spread / known)
    means: Floats = curve.mean[:, None] + noise
    return means


def miss_per_doubling(curve: Measured) -> float:
    """Return how far laws through the smaller sizes miss the larger ones, at twice the rows.

    The root mean square over all pairs of a last size that the law has seen and one that it has
    not; the nearer the end the former, the more a pair counts. Misses are taken to grow with the
    root of the number of doublings.
    """
    sizes, mean, weights = curve.sizes, curve.mean, curve.weights
    total = count = 0.0
    for last in range(FEWEST_SIZES - 2, len(sizes) - 1):
        seen, later = slice(last + 1), slice(last + 1, None)
        law = fit_laws(sizes[seen], weights[seen], mean[seen, None], curve.ceiling)
        miss = law.at(sizes[later])[:, 0] - mean[later]
        doublings = np.maximum(1.0, np.log2(sizes[later] / sizes[last]))
        counts = HALF ** math.log2(sizes[-1] / sizes[last])
        total += counts * float((miss**2 / doublings).sum())
        count += counts * len(miss)
    return math.sqrt(total / count)
