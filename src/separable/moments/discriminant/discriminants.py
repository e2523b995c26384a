"""Linear discriminants: log-posterior scores of Gaussian classes with a shared covariance.

delta_k(x) = (x - m)'Sigma^-1 g_k - g_k'Sigma^-1 g_k / 2 + log pi_k,  g_k = mu_k - m

with m = sum of pi_k mu_k. This is x'Sigma^-1 mu_k - mu_k'Sigma^-1 mu_k / 2 + log pi_k with the
origin moved to m, which subtracts the same number from all scores. Predictions and probabilities
are unchanged, and columns far from 0 keep their precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from separable.statistics.sums import Sums
    from separable.typing import Floats


__all__ = ["Axes", "Centres", "axes_of", "centres_of", "discriminants"]

#: Axes are dropped if the class means differ by less than this along them, relative to the first.
AXIS_TOLERANCE = 1e-7


@dataclass(frozen=True)
class Centres:
    """Priors and means of the classes.

    Parameters
    ----------
    priors : ndarray, shape (K,)
        pi_k.
    middle : ndarray, shape (d,)
        m, in units of x.
    gap : ndarray, shape (K, d)
        mu_k - m, in units of z = x scale.
    scale : ndarray, shape (d,)
        Powers of two.
    """

    priors: Floats
    middle: Floats
    gap: Floats
    scale: Floats

    @property
    def scaled_middle(self) -> Floats:
        """M in units of z, from x = 0."""
        return self.middle * self.scale


def centres_of(sums: Sums, priors: Floats) -> Centres:
    """Return the classes of sums by class."""
    middle = priors @ sums.offset
    return Centres(priors, sums.origin + middle / sums.scale, sums.offset - middle, sums.scale)


def discriminants(centres: Centres, solved: Floats) -> tuple[Floats, Floats]:
    """Return weights and intercepts; for two classes delta_1 - delta_0.

    Parameters
    ----------
    centres : Centres
    solved : ndarray, shape (K, d)
        Sigma^-1 (mu_k - m), in units of z.
    """
    half = 0.5 * np.einsum("kj,kj->k", centres.gap, solved)
    constant = np.log(centres.priors) - half
    if len(solved) == 2:
        solved, constant = solved[1:] - solved[:1], constant[1:] - constant[:1]
    with np.errstate(over="ignore"):
        weights = solved * centres.scale
    bad = np.flatnonzero(~np.isfinite(weights).all(axis=0))
    if len(bad):
        raise ValueError(
            f"The weight of column {bad[0]} overflows float64: its values vary by less than 1e-308 "
            "within classes. Multiply the column by a large number."
        )
    return weights, constant - (weights * centres.middle).sum(axis=1)


@dataclass(frozen=True)
class Axes:
    """Discriminant axes (canonical variates).

    Parameters
    ----------
    scalings : ndarray, shape (d, r)
        One axis per column, with within-class variance 1, for x.
    ratio : ndarray, shape (r,)
        Fraction of the between-class variance explained by each axis.
    """

    scalings: Floats
    ratio: Floats


def axes_of(centres: Centres, solved: Floats) -> Axes:
    """Return the axes, at most K - 1."""
    root = np.sqrt(centres.priors)[:, None]
    values, vectors = np.linalg.eigh(root * (centres.gap @ solved.T) * root.T)
    values, vectors = values[::-1], vectors[:, ::-1]
    good = values > AXIS_TOLERANCE**2 * values[0] if values[0] > 0 else np.zeros(len(values), bool)
    good[-1] = False  # K means lie in K - 1 dimensions about their own
    values, vectors = values[good], vectors[:, good]
    with np.errstate(over="ignore"):  # infinite weights are refused elsewhere
        scalings = (root * solved).T @ (vectors / np.sqrt(values)) * centres.scale[:, None]
    return Axes(scalings, values / values.sum())
