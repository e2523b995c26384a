"""Linear discriminant analysis without one row, for every row, from one fit.

Without row i of class c and weight w, with u = x - mu_c, v_k = x - mu_k and r = n_c / (n_c - w):

  x - mu_c becomes r u, the scatter S - f u u' with f = w r, and by the formula of Sherman and
  Morrison  a'(S - f u u')^-1 b = a'S^-1 b + f (a'S^-1 u)(u'S^-1 b) / (1 - f u'S^-1 u).

With shrinkage g the same holds in the eigenvectors of S, where what is inverted is
diag((1 - g) l_j + g t_i) - (1 - g) f u u' with t_i = (tr S - f |u|^2) / d.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh

from separable.fitting.targets import RowWeights, find_classes
from separable.model.scores import linear_scores
from separable.moments.data import Data
from separable.moments.discriminants import centres_of
from separable.moments.priors import class_priors
from separable.moments.rank_warning import RankWarning
from separable.moments.rows_within import blocks_about
from separable.moments.shrinkage import oas
from separable.moments.within import degrees_of_freedom

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.moments.classifier import MomentClassifier
    from separable.moments.discriminants import Centres
    from separable.moments.moments import Moments
    from separable.moments.sums import Sums
    from separable.moments.within import Within

    Floats = NDArray[np.float64]

__all__ = ["REFIT", "LeftOut", "kinds_of", "left_out_scores", "of_two", "refit_scores", "too_few"]

#: Rows whose absence leaves less than this of the variance in their direction are fitted anew.
REFIT = 1e-6
#: What weights of rows may add up to, relative, where nothing should be left.
ALONE = 1e-12
#: How far, relative to itself, the means may differ in directions without variance.
OUTSIDE = 1e-8


@dataclass(frozen=True)
class LeftOut:
    """What changes without a row, before products with the covariance; one entry a row.

    Parameters
    ----------
    label : ndarray of int, shape (n,)
        The class c of the row.
    ratio : ndarray, shape (n,)
        r; 1 for a row that is the only one of its class, for which u is 0.
    factor : ndarray, shape (n,)
        f; 0 for such a row.
    freedom : ndarray, shape (n,)
        What the scatter without the row is divided by.
    along_x, along_u : ndarray, shape (n,)
        x - m' = a (x - m) + b u, m' being the mean of the means without the row.
    log_priors : ndarray, shape (n, K)
        log pi_k without the row; -inf for a class that is gone.
    weight : ndarray, shape (n,)
        Its weight w.
    """

    label: NDArray[np.intp]
    ratio: Floats
    factor: Floats
    freedom: Floats
    along_x: Floats
    along_u: Floats
    log_priors: Floats
    weight: Floats

    @classmethod
    def of(
        cls,
        label: NDArray[Any],
        weight: Floats,
        classes: Floats,
        given: Floats | None,
        unbiased: bool,
    ) -> LeftOut:
        """Return it for rows of given classes and weights.

        Parameters
        ----------
        label, weight : ndarray, shape (n,)
        classes : ndarray, shape (K,)
            The weights n_k of the classes, all rows included.
        given : ndarray, shape (K,), or None
            Priors; None: they are estimated.
        unbiased : bool
            Whether K is taken from N.
        """
        own, total, n_classes = classes[label], classes.sum(), len(classes)
        rest = own - weight
        alone = rest <= ALONE * own
        ratio = np.divide(own, rest, out=np.ones(len(own)), where=~alone)
        left = np.repeat((classes if given is None else given)[None], len(own), axis=0)
        every = np.arange(len(own))
        left[every, label] -= weight if given is None else 0.0
        left[every[alone], label[alone]] = 0.0
        with np.errstate(divide="ignore"):
            log_priors = np.log(left / left.sum(axis=1, keepdims=True))
        along_x, along_u = total / (total - weight), np.zeros(len(own))
        if given is not None:
            prior = given[label]
            along_x = 1.0 / np.where(alone, 1.0 - prior, 1.0)
            along_u = np.where(alone, 0.0, prior * (ratio - 1.0))
        return cls(
            label,
            ratio,
            np.where(alone, 0.0, weight * ratio),
            total - weight - ((n_classes - alone) if unbiased else 0),
            along_x,
            along_u,
            log_priors,
            weight,
        )

    def take(self, rows: Any) -> LeftOut:
        """Return it for some rows."""
        parts = (getattr(self, each.name) for each in fields(self))
        if isinstance(rows, slice):
            return LeftOut(*(part[rows] for part in parts))
        return LeftOut(*(part.take(rows, axis=0) for part in parts))  # faster than indexing

    def about_middle(self, xx: Floats, xu: Floats, h: Floats) -> tuple[Floats, Floats]:
        """Return u'Ap and p'Ap with p = x - m', from x'Ax, x'Au and u'Au."""
        a, b = self.along_x, self.along_u
        return a * xu + b * h, a * (a * xx + 2.0 * b * xu) + b * b * h

    def scores(
        self, h: Floats, uv: Floats, vv: Floats, up: Floats, pp: Floats, g: Floats | float = 0.0
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the scores (n, K), and which rows are to be fitted anew.

        Parameters
        ----------
        h, up, pp : ndarray, shape (n,)
            u'Au, u'Ap and p'Ap with p = x - m', where A is the inverse before u is taken out.
        uv, vv : ndarray, shape (n, K)
            u'Av_k and v_k'Av_k; they are overwritten.
        g : float or ndarray
            Shrinkage.
        """
        factor = (1.0 - g) * self.factor
        left = 1.0 - factor * h
        anew = left < REFIT
        gain = factor / np.where(anew, 1.0, left)
        uv *= uv  # step by step, in place: this is most of the time
        uv *= gain[:, None]
        uv += vv
        uv[np.arange(len(h)), self.label] = self.ratio**2 * h * (1.0 + gain * h)
        np.subtract((pp + gain * up**2)[:, None], uv, out=uv)
        uv *= 0.5 * self.freedom[:, None]
        uv += self.log_priors
        return uv, anew


def too_few(kinds: LeftOut, n_rows: int, n_classes: int) -> bool:
    """Return whether without some row nothing is known of the variance, so that no fit works."""
    return n_rows - 1 <= n_classes or bool((kinds.freedom <= 0).any())


def kinds_of(
    label: NDArray[Any], weight: Floats | None
) -> tuple[NDArray[Any], Floats, NDArray[Any]]:
    """Return the pairs of class and weight there are, and which one each row has."""
    if weight is None:
        n_classes = int(label.max()) + 1
        return np.arange(n_classes), np.ones(n_classes), label.astype(np.intp)
    pairs, kind = np.unique(np.stack([label, weight]), axis=1, return_inverse=True)
    return pairs[0].astype(np.intp), pairs[1], kind.ravel()


def left_out_scores(learner: Any, sums: Moments, data: Data) -> Floats | None:
    """Return the scores of each row from the fit to all other rows, (n, k), or None."""
    data = data.present()
    if data.rows.n_rows - 1 < data.rows.n_features:  # then a fit would work on products of rows
        return None
    within, values, _ = learner._within(sums, None)
    centres = centres_of(values, class_priors(learner.priors, values.weight))
    plain = learner.shrinkage is None or learner.shrinkage == 0
    if plain and _sticks_out(centres, within):
        return None
    classes = sums.classes
    assert classes is not None
    label, weight = find_classes(data.y, classes), data.counted.weight
    given = None if learner.priors is None else centres.priors
    unbiased = learner.covariance == "unbiased"
    of_class, of_weight, kind = kinds_of(label, weight)
    kinds = LeftOut.of(of_class, of_weight, values.weight, given, unbiased)
    if too_few(kinds, len(label), len(classes)):
        return None
    step = _plain if plain else _eigenbasis
    score = step(learner, values, centres, within)
    scores, anew = np.empty((len(label), len(classes))), np.zeros(len(label), bool)
    scale = None if (centres.scale == 1).all() else centres.scale
    for part, block in blocks_about(data.rows, centres.middle, scale):
        scores[part], anew[part] = score(block, kinds.take(kind[part]))
    refit_scores(learner, data, classes, scores, np.flatnonzero(anew))
    return of_two(scores) if len(classes) == 2 else scores


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


def _plain(learner: Any, values: Sums, centres: Centres, within: Within) -> Any:
    """Return what makes scores of a block without shrinkage.

    Only x'Ax and x'A mu_k are taken of each row; the other products are made up of them.
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
    """Return what makes scores of a block with shrinkage: in the eigenvectors of the scatter."""
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
        flat = trace < REFIT
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
        found, anew = row.scores(h, uv, vv, *row.about_middle(xx, xu, h), g)
        return found, anew | flat

    return scores


def of_two(scores: Floats) -> Floats:
    """Return delta_1 - delta_0; infinite where one of the classes is gone."""
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
            weight = data.counted.weight
            counted = RowWeights(None, None if weight is None else weight[rest])
            others = Data(data.rows.take(rest), data.y[rest], counted, data.X)
            sums = learner._new_sums().add_data(others)
            solution = learner._solve(sums, others)
        own = linear_scores(data.rows.slice(row, row + 1), solution.weights, solution.intercept)[0]
        known = sums.classes
        assert known is not None
        found = np.full(len(classes), -np.inf)
        place = np.searchsorted(classes, known)
        found[place] = own if len(own) == len(known) else [0.0, own[0]]
        scores[row] = found
