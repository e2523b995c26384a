"""Linear discriminant analysis without one row, for every row, from one fit.

Without row i of class c and weight w, with u = x - mu_c, v_k = x - mu_k and r = n_c / (n_c - w):

  x - mu_c becomes r u, the scatter S - f u u' with f = w r, and by the formula of Sherman and
  Morrison  a'(S - f u u')^-1 b = a'S^-1 b + f (a'S^-1 u)(u'S^-1 b) / (1 - f u'S^-1 u).

With shrinkage g the same holds in the eigenvectors of S, where what is inverted is
diag((1 - g) l_j + g t_i) - (1 - g) f u u' with t_i = (tr S - f |u|^2) / d.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh

from separable.data.rows import largest_magnitude
from separable.model.scores import linear_scores
from separable.moments.discriminants import centres_of
from separable.moments.least_squares import RankWarning
from separable.moments.priors import class_priors
from separable.moments.rows_within import blocks_about

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.moments.classifier import MomentClassifier
    from separable.moments.data import Data
    from separable.moments.discriminants import Centres
    from separable.moments.moments import Moments
    from separable.moments.within import Within

    Floats = NDArray[np.float64]

__all__ = ["LeftOut", "left_out_scores", "refit_scores"]

#: Rows whose absence leaves less than this of the variance in their direction are fitted anew.
REFIT = 1e-6
#: How far, relative to itself, the means may differ in directions without variance.
OUTSIDE = 1e-8


@dataclass(frozen=True)
class LeftOut:
    """What is known of a block of rows before products with the covariance.

    Parameters
    ----------
    label : ndarray of int, shape (n,)
        The class c of each row.
    weight : ndarray, shape (n,)
        Its weight w.
    classes : ndarray, shape (K,)
        The weights n_k of the classes.
    priors : ndarray, shape (K,), or None
        As given; None: estimated.
    freedom : bool
        Whether K is taken from N.
    """

    label: NDArray[np.intp]
    weight: Floats
    classes: Floats
    given: Floats | None
    unbiased: bool

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Whether the row is the only one of its class."""
        return self._rest <= 1e-12 * self.classes[self.label]

    @property
    def _rest(self) -> Floats:
        return self.classes[self.label] - self.weight

    @property
    def ratio(self) -> Floats:
        """n_c / (n_c - w), 1 for a row that is alone, for which u is 0."""
        own = self.classes[self.label]
        return np.divide(own, self._rest, out=np.ones(len(own)), where=~self.alone)

    @property
    def factor(self) -> Floats:
        """f, 0 for a row that is alone."""
        return np.where(self.alone, 0.0, self.weight * self.ratio)

    @property
    def freedom(self) -> Floats:
        """What the scatter without the row is divided by."""
        left = self.classes.sum() - self.weight
        return left - len(self.classes) + self.alone if self.unbiased else left

    @property
    def middle(self) -> tuple[Floats, Floats]:
        """How x - m' is made up without the row: a (x - m) + b u."""
        none = np.zeros(len(self.label))
        if self.given is None:
            total = self.classes.sum()
            return total / (total - self.weight), none
        prior = self.given[self.label]
        away = 1.0 / np.where(self.alone, 1.0 - prior, 1.0)
        return away, np.where(self.alone, 0.0, prior * (self.ratio - 1.0))

    def log_priors(self) -> Floats:
        """Return log pi_k without the row, (n, K); -inf for a class that is gone."""
        every = np.arange(len(self.label))
        if self.given is None:
            left = np.repeat(self.classes[None], len(every), axis=0)
            left[every, self.label] -= self.weight
        else:
            left = np.repeat(self.given[None], len(every), axis=0)
        left[every[self.alone], self.label[self.alone]] = 0.0
        with np.errstate(divide="ignore"):
            return np.log(left / left.sum(axis=1, keepdims=True))

    def scores(
        self, h: Floats, uv: Floats, vv: Floats, up: Floats, pp: Floats, g: Floats | float = 0.0
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the scores (n, K), and which rows are to be fitted anew.

        Parameters
        ----------
        h, up, pp : ndarray, shape (n,)
            u'Au, u'Ap and p'Ap with p = x - m', where A is the inverse before u is taken out.
        uv, vv : ndarray, shape (n, K)
            u'Av_k and v_k'Av_k.
        g : float or ndarray
            Shrinkage.
        """
        factor = (1.0 - g) * self.factor
        left = 1.0 - factor * h
        anew = left < REFIT
        gain = factor / np.where(anew, 1.0, left)
        distance = vv + gain[:, None] * uv**2
        every = np.arange(len(h))
        own = self.ratio**2 * h * (1.0 + gain * h)
        distance[every, self.label] = own
        base = pp + gain * up**2
        scores = 0.5 * self.freedom[:, None] * (base[:, None] - distance) + self.log_priors()
        return scores, anew


def left_out_scores(learner: Any, sums: Moments, data: Data) -> Floats | None:
    """Return the scores of each row from the fit to all other rows, (n, k), or None."""
    data = data.present()
    largest_magnitude(data.rows, data.X)
    if data.rows.n_rows - 1 < data.rows.n_features:  # then a fit would work on products of rows
        return None
    within, values, g = learner._within(sums, None)
    centres = centres_of(values, class_priors(learner.priors, values.weight))
    plain = learner.shrinkage is None or learner.shrinkage == 0
    if plain and _sticks_out(centres, within):
        return None
    classes, label = np.unique(data.y, return_inverse=True)
    weight = data.counted.weight
    weight = np.ones(len(label)) if weight is None else weight
    given = None if learner.priors is None else centres.priors
    unbiased = learner.covariance == "unbiased"
    products = _plain(centres, within, values.weight, unbiased) if plain else None
    basis = None if plain else _eigenbasis(learner, values, centres)
    scores = np.empty((len(label), len(classes)))
    anew = np.zeros(len(label), bool)
    scale = None if (centres.scale == 1).all() else centres.scale
    for part, block in blocks_about(data.rows, centres.middle, scale):
        row = LeftOut(label[part], weight[part], values.weight, given, unbiased)
        if products is not None:
            scores[part], anew[part] = products(block, row)
        else:
            assert basis is not None
            scores[part], anew[part] = basis(block, row)
    refit_scores(learner, data, classes, scores, np.flatnonzero(anew))
    return _of_two(scores, label) if len(classes) == 2 else scores


def _sticks_out(centres: Centres, within: Within) -> bool:
    """Return whether means differ where rows do not vary within classes.

    Then it depends on deviations, which change with every row, which part is left out.
    """
    if not within.dependent:
        return False
    gap = centres.gap[:, within.kept] / within.length
    orthogonal, _ = np.linalg.qr(within.root)
    outside = gap - (gap @ orthogonal) @ orthogonal.T
    return bool(np.abs(outside).max() > OUTSIDE * np.abs(gap).max(initial=0.0))


def _plain(centres: Centres, within: Within, weight: Floats, unbiased: bool) -> Any:
    """Return what makes scores of a block without shrinkage.

    Only x'Ax and x'A mu_k are taken of each row; the other products are made up of them.
    """
    freedom = weight.sum() - (len(weight) if unbiased else 0)
    whitener = within.whitener() / np.sqrt(freedom)
    white = centres.gap @ whitener
    means, gram = whitener @ white.T, white @ white.T
    square = np.diagonal(gram)

    def scores(block: Floats, row: LeftOut) -> tuple[Floats, NDArray[np.bool_]]:
        pushed = block @ whitener
        xx = np.einsum("ij,ij->i", pushed, pushed)
        xm = block @ means
        own = xm[np.arange(len(xx)), row.label]
        h = np.maximum(xx - 2.0 * own + square[row.label], 0.0)
        uv = (xx - own)[:, None] - xm + gram[row.label]
        vv = xx[:, None] - 2.0 * xm + square
        a, b = row.middle
        xu = xx - own
        return row.scores(h, uv, vv, a * xu + b * h, a * a * xx + 2.0 * a * b * xu + b * b * h)

    return scores


def _eigenbasis(learner: Any, values: Any, centres: Centres) -> Any:
    """Return what makes scores of a block with shrinkage: in the eigenvectors of the scatter."""
    sizes, vectors = eigh(values.scatter)
    sizes = np.maximum(sizes, 0.0)
    unit = float(sizes.sum()) or 1.0
    sizes = sizes / unit  # tr S = 1
    vectors = vectors / np.sqrt(unit)
    means = centres.gap @ vectors
    squares, d = float(sizes @ sizes), len(sizes)

    def scores(block: Floats, row: LeftOut) -> tuple[Floats, NDArray[np.bool_]]:
        x = block @ vectors
        u = x - means[row.label]
        f = row.factor
        uu = np.einsum("ij,ij->i", u, u)
        trace = 1.0 - f * uu
        g: Floats = np.full(len(f), learner.shrinkage, dtype=float) if _is_number(learner) else (
            _oas(trace, squares, f, u, uu, sizes, values.weight.sum() - row.weight)
        )
        inverse = 1.0 / ((1.0 - g)[:, None] * sizes + (g * trace / d)[:, None])
        xi, ui = x * inverse, u * inverse
        xx, xu, h = (np.einsum("ij,ij->i", *pair) for pair in ((x, xi), (x, ui), (u, ui)))
        uv = xu[:, None] - ui @ means.T
        vv = xx[:, None] - 2.0 * (xi @ means.T) + inverse @ (means**2).T
        a, b = row.middle
        return row.scores(h, uv, vv, a * xu + b * h, a * a * xx + 2.0 * a * b * xu + b * b * h, g)

    return scores


def _is_number(learner: Any) -> bool:
    return not isinstance(learner.shrinkage, str)


def _oas(
    trace: Floats, squares: float, f: Floats, u: Floats, uu: Floats, sizes: Floats, n: Floats
) -> Floats:
    """Return the shrinkage "oas" without each row."""
    d = len(sizes)
    left = squares - 2.0 * f * ((u * u) @ sizes) + (f * uu) ** 2
    mean = left / trace**2 / d**2
    bottom = (n + 1.0) * (mean - 1.0 / d**3)
    share = np.divide(mean + 1.0 / d**2, bottom, out=np.ones(len(mean)), where=bottom > 0)
    return np.minimum(1.0, share)


def _of_two(scores: Floats, label: NDArray[np.intp]) -> Floats:
    """Return delta_1 - delta_0; infinite where one of the classes is gone."""
    del label
    with np.errstate(invalid="ignore"):
        return scores[:, 1:] - scores[:, :1]


def refit_scores(
    learner: MomentClassifier,
    data: Data,
    classes: NDArray[Any],
    scores: Floats,
    which: NDArray[np.intp],
) -> None:
    """Put the scores of some rows, (n, K), from fits to all rows but one."""
    every = np.arange(data.rows.n_rows)
    for row in which.tolist():
        rest = every[every != row]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            sums = learner._new_sums().add_data(data, rest)
            solution = learner._solve(sums, None)
        own = linear_scores(
            data.rows.slice(row, row + 1), solution.weights, solution.intercept
        )[0]
        known = sums.classes
        assert known is not None
        found = np.full(len(classes), -np.inf)
        place = np.searchsorted(classes, known)
        found[place] = own if len(own) == len(known) else [0.0, own[0]]
        scores[row] = found
