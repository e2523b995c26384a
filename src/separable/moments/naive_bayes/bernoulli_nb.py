"""Naive Bayes on yes and no: whether a text has a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.data.rows import largest_magnitude
from separable.model.parameters import FINITE, Requirement
from separable.moments.loo.naive_bayes_loo import Doubtful, NonZeros, Without
from separable.moments.naive_bayes.base_counts import Joint, NaiveBayes
from separable.statistics.negative_values import refuse_outside

if TYPE_CHECKING:
    from separable.statistics.class_counts import ClassCounts
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["BernoulliNB"]

#: None, or a finite float.
THRESHOLD = Requirement("None or a finite float", lambda v: v is None or FINITE.holds(v))
#: Logarithms taken to leave out every row: beyond this there is no short cut.
MAX_LOGARITHMS = 1 << 28
EPS = float(np.finfo(np.float64).eps)


class BernoulliNB(NaiveBayes):
    """Bernoulli naive Bayes: log P(k) + sum_j x_j log p_kj + (1 - x_j) log(1 - p_kj).

    Every column is yes (1) or no (0): yes where its value is above ``binarize``. The probability
    of yes is p_kj = (F_kj + alpha) / (n_k + 2 alpha), with n_k the weight of the rows of class k
    and F_kj of those with a yes. It is a linear model of these indicators, and the ``LinearModel``
    makes them itself: w_kj = log p_kj - log(1 - p_kj), b_k = log P(k) + sum_j log(1 - p_kj).

    Parameters
    ----------
    alpha : float, default 1.0
        Added to the counts of yes and of no. Below 1e-10 it is taken as 1e-10, with a warning.
    binarize : float or None, default 0.0
        Values above it are 1, others 0; sparse rows need one >= 0. None: the values are taken as
        they are and must be from 0 to 1.
    fit_prior : bool, default True
        Estimate P(k) by the class frequencies; otherwise use a uniform prior.
    class_prior : list of float, optional
        P(k), in the order of ``classes_``.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    coef_, intercept_ : ndarray of shapes (k, d) and (k,)
        Of the ``LinearModel``, for indicators: one row for two classes.
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

    _requirements: ClassVar[dict[str, Requirement]] = {
        **NaiveBayes._base_requirements,
        "binarize": THRESHOLD,
    }

    _lost_beside: ClassVar[float | None] = None  # a value counts once, however large

    def __init__(
        self,
        alpha: float = 1.0,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

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

    def _without(self, counts: ClassCounts, alpha: float, weights: Floats) -> Without | None:
        return _Without.of(counts, alpha, np.unique(weights))


class _Without(Without):
    """Only the row's own class changes, but of that every column: n_k is smaller.

    A column that the row lacks has log(n - w - F_j + alpha) in place of log(n - F_j + alpha), the
    same for all rows of weight w. So their sum is made once for every weight; of the columns that
    the row has it is then taken out again. Columns that nearly all rows of the class have are never
    lacking in a row of that weight, and not part of the sum: ``_lacked`` tells which are.
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
        """Return None where there are too many weights, or n - F_j keeps too few digits."""
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
    """Return whether a row of that weight may lack a column: the rows without it weigh enough."""
    return n - yes >= weight * (1 - 1e-9)
