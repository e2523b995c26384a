"""Exact leave-one-out scores of linear discriminant analysis from one fit.

Without row i of class c and weight w, with u = x - mu_c, v_k = x - mu_k and r = n_c / (n_c - w):

  x - mu_c becomes r u, the scatter S - f u u' with f = w r, and by the Sherman-Morrison formula
  a'(S - f u u')^-1 b = a'S^-1 b + f (a'S^-1 u)(u'S^-1 b) / (1 - f u'S^-1 u).

With shrinkage g the same holds in the eigenbasis of S, for the inverse of
diag((1 - g) l_j + g t_i) - (1 - g) f u u' with t_i = (tr S - f |u|^2) / d.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh

from separable.moments.discriminant.covariance import degrees_of_freedom, oas
from separable.moments.discriminant.discriminants import centres_of
from separable.moments.loo.class_means import MIN_VARIANCE_LEFT, kinds_of, of_two, refit_scores
from separable.moments.priors import class_priors
from separable.statistics.centered_rows import blocks_about

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.moments.discriminant.covariance import Within
    from separable.moments.discriminant.discriminants import Centres
    from separable.moments.loo.class_means import LeftOut
    from separable.statistics.moments import Moments
    from separable.statistics.sums import Sums
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["left_out_scores"]

#: Largest relative difference of the class means in directions without within-class variance.
NULL_SPACE_TOLERANCE = 1e-8


def left_out_scores(learner: Any, sums: Moments, data: Data) -> Floats | None:
    """Return the leave-one-out scores, (n, k), or None."""
    data = data.present()
    if data.rows.n_rows - 1 < data.rows.n_features:  # a fit would solve the dual
        return None
    within, values, _ = learner._within(sums, None)
    centres = centres_of(values, class_priors(learner.priors, values.weight))
    plain = learner.shrinkage is None or learner.shrinkage == 0
    if plain and _sticks_out(centres, within):
        return None
    result = kinds_of(learner, sums, data, centres)
    if result is None:
        return None
    kinds, kind = result
    step = _plain if plain else _eigenbasis
    score = step(learner, values, centres, within)
    scores, refit = np.empty((len(kind), values.n_groups)), np.zeros(len(kind), bool)
    for part, block in blocks_about(data.rows, centres.middle, centres.scale):
        scores[part], refit[part] = score(block, kinds.take(kind[part]))
    refit_scores(learner, data, scores, np.flatnonzero(refit))
    return of_two(scores)


def _sticks_out(centres: Centres, within: Within) -> bool:
    """Return whether class means differ in directions without within-class variance.

    Then the dropped part depends on the standard deviations, which change with every row.
    """
    if not within.dependent:
        return False
    gap = centres.gap[:, within.kept] / within.length
    orthogonal, _ = np.linalg.qr(within.root)
    outside = gap - (gap @ orthogonal) @ orthogonal.T
    return bool(np.abs(outside).max() > NULL_SPACE_TOLERANCE * np.abs(gap).max(initial=0.0))


def _plain(learner: Any, values: Sums, centres: Centres, within: Within) -> Any:
    """Return the scorer of blocks without shrinkage.

    Only x'Ax and x'A mu_k are computed for each row; the other products follow from them.
    """
    freedom = degrees_of_freedom(values, learner.covariance)
    whitener = within.whitener() / np.sqrt(freedom)
    white = centres.gap @ whitener
    means, gram = whitener @ white.T, white @ white.T
    square = np.diagonal(gram).copy()

    def scores(block: Floats, row: LeftOut) -> tuple[Floats, NDArray[np.bool_]]:
        pushed = block @ whitener
        xx = np.einsum("ij,ij->i", pushed, pushed)
        xm = block @ means
        own = xm[np.arange(len(xx)), row.label]
        xu = xx - own
        h = np.maximum(xu - own + square[row.label], 0.0)
        uv = gram.take(row.label, axis=0)
        uv -= xm
        uv += xu[:, None]
        xm *= -2.0
        xm += square
        xm += xx[:, None]
        return row.scores(h, uv, xm, *row.about_middle(xx, xu, h))

    return scores


def _eigenbasis(learner: Any, values: Sums, centres: Centres, within: Within) -> Any:
    """Return the scorer of blocks with shrinkage, in the eigenbasis of the scatter."""
    del within
    sizes, vectors = eigh(values.scatter)
    sizes = np.maximum(sizes, 0.0)
    unit = float(sizes.sum()) or 1.0
    sizes, vectors = sizes / unit, vectors / np.sqrt(unit)  # tr S = 1
    means = centres.gap @ vectors
    squares, d, total = float(sizes @ sizes), len(sizes), values.weight.sum()

    def scores(block: Floats, row: LeftOut) -> tuple[Floats, NDArray[np.bool_]]:
        x = block @ vectors
        u = x - means[row.label]
        uu = np.einsum("ij,ij->i", u, u)
        trace = 1.0 - row.factor * uu
        flat = trace < MIN_VARIANCE_LEFT
        trace[flat] = 1.0
        if isinstance(learner.shrinkage, str):
            left = squares - 2.0 * row.factor * ((u * u) @ sizes) + (row.factor * uu) ** 2
            g = oas(trace, left, total - row.weight, d)
        else:
            g = np.full(len(uu), float(learner.shrinkage))
        inverse = (1.0 - g)[:, None] * sizes
        inverse += (g * trace / d)[:, None]
        np.divide(1.0, inverse, out=inverse)
        xi, ui = x * inverse, u * inverse
        xx, xu, h = (np.einsum("ij,ij->i", *pair) for pair in ((x, xi), (x, ui), (u, ui)))
        uv = xu[:, None] - ui @ means.T
        vv = xx[:, None] - 2.0 * (xi @ means.T) + inverse @ (means**2).T
        result, refit = row.scores(h, uv, vv, *row.about_middle(xx, xu, h), g)
        return result, refit | flat

    return scores
