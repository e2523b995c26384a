"""Bernoulli naive Bayes: binary features, such as the presence of a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.accepted_parameters import accepts
from separable.data.rows import largest_magnitude
from separable.fitting.base import with_parameters
from separable.model.parameters import FINITE, Requirement
from separable.moments.loo.naive_bayes_loo import Doubtful, NonZeros, Without
from separable.moments.naive_bayes.base_counts import Joint, NaiveBayes
from separable.statistics.weighted_rows import refuse_outside

if TYPE_CHECKING:
    from separable.moments.naive_bayes.counts_of_rows import CountsOfRows
    from separable.statistics.class_counts import ClassCounts
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["BernoulliNB"]

#: None, or a finite float.
THRESHOLD = Requirement("None or a finite float", lambda v: v is None or FINITE.holds(v))
#: Maximum number of logarithms for leave-one-out scores; beyond this there is no short cut.
MAX_LOGARITHMS = 1 << 28
EPS = float(np.finfo(np.float64).eps)


@accepts("force_alpha")
@with_parameters
class BernoulliNB(NaiveBayes):
    """Bernoulli naive Bayes: log P(k) + sum_j x_j log p_kj + (1 - x_j) log(1 - p_kj).

    Features are binary: 1 if the value is above ``binarize``, else 0. The probability of 1 is
    p_kj = (F_kj + alpha) / (n_k + 2 alpha), with n_k the weight of the rows of class k and F_kj of
    those with x_j = 1. The model is linear in these indicators, and the ``LinearModel`` binarizes
    its input: w_kj = log p_kj - log(1 - p_kj), b_k = log P(k) + sum_j log(1 - p_kj).

    Parameters
    ----------
    alpha : float
        Smoothing parameter, added to the counts of 1 and of 0. Values below 1e-10 are replaced by
        1e-10, with a warning.
    binarize : float or None
        Threshold: values above it are 1, others 0; it must be >= 0 for sparse rows. None: the
        values are used unchanged and must be from 0 to 1.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    coef_, intercept_ : ndarray of shapes (k, d) and (k,)
        Of the ``LinearModel``, for the indicators; one row for two classes.
    class_count_, feature_count_ : ndarray of shapes (K,) and (K, d)
        n and F.
    class_log_prior_, feature_log_prob_ : ndarray of shapes (K,) and (K, d)
        log P(k) and log p.
    evidence_ : dict
        ``rows_seen``, ``alpha`` (as used).

    Examples
    --------
    >>> from separable import BernoulliNB
    >>> spam = BernoulliNB().fit([[2, 1, 0], [1, 2, 0], [0, 0, 3]], ["spam", "spam", "ham"])
    >>> spam.predict([[7, 0, 0], [0, 0, 1]]).tolist()
    ['spam', 'ham']
    >>> spam.model_.threshold
    0.0
    """

    alpha: float = 1.0
    binarize: float | None = 0.0
    fit_prior: bool = True
    class_prior: Any = None

    _requirements: ClassVar[dict[str, Requirement]] = {"binarize": THRESHOLD}

    _lost_beside: ClassVar[float | None] = None  # values of any size count once

    def _threshold(self) -> float | None:
        return None if self.binarize is None else float(self.binarize)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Data:
        data = super()._read(X, y, sample_weight)
        if self.binarize is None:
            rows = data.present().rows
            largest_magnitude(rows, X)
            refuse_outside(data, rows, 1.0)
        return data

    def _joint(self, counts: ClassCounts, alpha: float) -> Joint:
        n = counts.weight[:, None]
        total = np.log(n + 2 * alpha)
        log_prob = np.log(counts.sums + alpha) - total
        log_not = np.log(np.maximum(n - counts.sums, 0.0) + alpha) - total
        log_prob.setflags(write=False)
        return Joint(log_prob - log_not, log_not.sum(axis=1), log_prob)

    def _joint_of_rows(self, few: CountsOfRows, alpha: float) -> Joint | None:
        numbers = few.numbers_of_sums
        if numbers is None:
            return None
        n = few.counts.weight
        total = np.log(n + 2 * alpha)
        absent = [
            times @ np.log(np.maximum(of_class - sums, 0.0) + alpha)
            for of_class, (sums, times) in zip(n, numbers, strict=True)
        ]
        weights = np.log(few.sums + alpha)
        weights -= np.log(np.maximum(n[:, None] - few.sums, 0.0) + alpha)
        return Joint(weights, np.array(absent) - few.counts.n_features * total, weights)

    def _without(self, counts: ClassCounts, alpha: float, weights: Floats) -> Without | None:
        return _Without.of(counts, alpha, np.unique(weights))


class _Without(Without):
    """Leave-one-out scores: only the row's own class changes, but in every column.

    A column with x_j = 0 has log(n - w - F_j + alpha) instead of log(n - F_j + alpha), the same for
    all rows of weight w. Their sum is computed once for each weight; the terms of the columns with
    x_j = 1 are then subtracted. Columns that are 1 in nearly all rows of the class cannot be 0 in a
    row of that weight and are not part of the sum (``_lacked``).
    """

    def __init__(self, counts: ClassCounts, alpha: float, weights: Floats) -> None:
        super().__init__(counts, alpha)
        self._weights = weights
        self._base = np.empty((len(weights), len(counts.weight)))
        for k, n in enumerate(counts.weight):
            values, times = np.unique(counts.sums[k], return_counts=True)
            for index, w in enumerate(weights):
                term = np.log(np.maximum(n - values - w, 0.0) + alpha)
                self._base[index, k] = times @ np.where(_lacked(n, values, w), term, 0.0)

    @classmethod
    def of(cls, counts: ClassCounts, alpha: float, weights: Floats) -> _Without | None:
        """Return the scorer; None if there are too many weights, or n - F_j lacks precision."""
        doubtful = EPS * counts.weight.max() > 1e-9 * alpha and not counts.is_whole
        if len(weights) * counts.sums.size > MAX_LOGARITHMS or doubtful:
            return None
        return cls(counts, alpha, weights)

    def joint(self, block: NonZeros, joint: Floats, doubtful: Doubtful) -> None:
        c, w, x = block.label, block.weight, block.value
        n, weight = self.counts.weight[c][block.row], w[block.row]
        yes = self.counts.sums[c[block.row], block.column]
        with_yes = doubtful.smoothed(yes, weight * x, self.alpha, block.row)
        no = doubtful.smoothed(n - yes, weight * (1 - x), self.alpha, block.row)
        lacking = np.log(np.maximum(n - yes - weight, 0.0) + self.alpha)
        terms = x * np.log(with_yes) + (1 - x) * np.log(no)
        terms -= np.where(_lacked(n, yes, weight), lacking, 0.0)
        base = self._base[np.searchsorted(self._weights, w), c]
        total = doubtful.smoothed(self.counts.weight[c], w, 2 * self.alpha, None)
        joint[np.arange(len(c)), c] = (
            base + block.total(terms) - self.counts.n_features * np.log(total)
        )


def _lacked(n: Any, yes: Any, weight: Any) -> Any:
    """Return whether a row of that weight may have x_j = 0: enough weight has no x_j = 1."""
    return n - yes >= weight * (1 - 1e-9)
