"""Leave-one-out for classifiers from class means and scatter: rank-one downdates."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.fitting.targets import find_classes
from separable.model.predict.scores import linear_scores
from separable.moments.regression.rank_warning import RankWarning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.moments.base_classifier import MomentClassifier
    from separable.moments.discriminant.discriminants import Centres
    from separable.statistics.moments import Moments
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["MIN_VARIANCE_LEFT", "LeftOut", "kinds_of", "of_two", "refit_scores"]

#: Rows whose removal leaves a smaller fraction of the variance in their direction are refitted.
MIN_VARIANCE_LEFT = 1e-6
#: Relative weight below which a class counts as empty.
WEIGHT_TOLERANCE = 1e-12


@dataclass(frozen=True)
class LeftOut:
    """Changes of class statistics without a row; one entry per row.

    Parameters
    ----------
    label : ndarray of int, shape (n,)
        The class c of the row.
    ratio : ndarray, shape (n,)
        r; 1 for the only row of a class, for which u is 0.
    factor : ndarray, shape (n,)
        f; 0 for such a row.
    freedom : ndarray, shape (n,)
        Divisor of the scatter without the row.
    along_x, along_u : ndarray, shape (n,)
        a and b in x - m' = a (x - m) + b u, m' the mean of the means without the row.
    log_priors : ndarray, shape (n, K)
        log pi_k without the row; -inf for a class that becomes empty.
    weight : ndarray, shape (n,)
        The weight w of the row.
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
        priors: Floats | None,
        unbiased: bool,
    ) -> LeftOut:
        """Return the changes for rows of the given classes and weights.

        Parameters
        ----------
        label, weight : ndarray, shape (n,)
        classes : ndarray, shape (K,)
            The weights n_k of the classes, with all rows.
        priors : ndarray, shape (K,), or None
            None: class frequencies.
        unbiased : bool
            Whether the divisor is N - K.
        """
        own, total, n_classes = classes[label], classes.sum(), len(classes)
        rest = own - weight
        alone = rest <= WEIGHT_TOLERANCE * own
        ratio = np.divide(own, rest, out=np.ones(len(own)), where=~alone)
        left = np.repeat((classes if priors is None else priors)[None], len(own), axis=0)
        every = np.arange(len(own))
        left[every, label] -= weight if priors is None else 0.0
        left[every[alone], label[alone]] = 0.0
        with np.errstate(divide="ignore"):
            log_priors = np.log(left / left.sum(axis=1, keepdims=True))
        along_x, along_u = total / (total - weight), np.zeros(len(own))
        if priors is not None:
            prior = priors[label]
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
        """Return the changes for some rows."""
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
        """Return the scores (n, K), and a mask of the rows to refit.

        Parameters
        ----------
        h, up, pp : ndarray, shape (n,)
            u'Au, u'Ap and p'Ap with p = x - m', where A is the inverse before the downdate.
        uv, vv : ndarray, shape (n, K)
            u'Av_k and v_k'Av_k; they are overwritten.
        g : float or ndarray
            Shrinkage.
        """
        factor = (1.0 - g) * self.factor
        left = 1.0 - factor * h
        refit = left < MIN_VARIANCE_LEFT
        gain = factor / np.where(refit, 1.0, left)
        uv *= uv  # in place, because this dominates the run time
        uv *= gain[:, None]
        uv += vv
        uv[np.arange(len(h)), self.label] = self.ratio**2 * h * (1.0 + gain * h)
        np.subtract((pp + gain * up**2)[:, None], uv, out=uv)
        uv *= 0.5 * self.freedom[:, None]
        uv += self.log_priors
        return uv, refit


def kinds_of(
    learner: Any, sums: Moments, data: Data, centres: Centres
) -> tuple[LeftOut, NDArray[np.intp]] | None:
    """Return the changes for each distinct class and weight, and the index of each row's kind.

    None if without some row the variance cannot be estimated.

    Parameters
    ----------
    learner : LDA or LinearGaussianNB
        For its priors and its divisor.
    sums, data
        All rows, of positive weight.
    centres : Centres
        Priors and means of the classes.
    """
    assert sums.classes is not None
    label, n_classes = find_classes(data.y, sums.classes), len(sums.classes)
    weight = data.counted.weight
    if weight is None:
        of_class, of_weight, kind = np.arange(n_classes), np.ones(n_classes), label.astype(np.intp)
    else:
        pairs, kind = np.unique(np.stack([label, weight]), axis=1, return_inverse=True)
        of_class, of_weight, kind = pairs[0].astype(np.intp), pairs[1], kind.ravel()
    priors = None if learner.priors is None else centres.priors
    unbiased = learner.covariance == "unbiased"
    kinds = LeftOut.of(of_class, of_weight, sums.class_weight, priors, unbiased)
    if len(label) - 1 <= n_classes or (kinds.freedom <= 0).any():
        return None
    return kinds, kind


def of_two(scores: Floats) -> Floats:
    """Return scores (n, K), or the difference for two classes, infinite if one becomes empty."""
    return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores


def refit_scores(
    learner: MomentClassifier[Moments],
    data: Data,
    scores: Floats,
    which: NDArray[np.intp],
) -> None:
    """Write the scores of some rows, (n, K), from refits without them."""
    classes = np.unique(data.y) if len(which) else which
    for row in which.tolist():
        others = data.without(row)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            sums = learner._new_sums().add_data(others)
            solution = learner._solve(sums, others)
        own = linear_scores(data.rows.slice(row, row + 1), solution.weights, solution.intercept)[0]
        present = sums.classes
        assert present is not None
        row_scores = np.full(len(classes), -np.inf)
        index = np.searchsorted(classes, present)
        row_scores[index] = own if len(own) == len(present) else [0.0, own[0]]
        scores[row] = row_scores
