"""Multinomial naive Bayes: counts, such as a bag of words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.accepted_parameters import accepts
from separable.fitting.base import with_parameters
from separable.moments.loo.naive_bayes_loo import Doubtful, NonZeros, Without
from separable.moments.naive_bayes.base_counts import Joint, NaiveBayes

if TYPE_CHECKING:
    from separable.moments.naive_bayes.counts_of_rows import CountsOfRows
    from separable.statistics.class_counts import ClassCounts
    from separable.typing import Floats


__all__ = ["MultinomialNB"]


@accepts("force_alpha")
@with_parameters
class MultinomialNB(NaiveBayes):
    """Multinomial naive Bayes: score_k(x) = log P(k) + sum_j x_j log p_kj.

    A row is a draw from a multinomial distribution with the probabilities
    p_kj = (F_kj + alpha) / (sum_l F_kl + alpha d) of its class, where F_kj is the sum of column j
    over the rows of class k. The model is linear: w_k = log p_k, b_k = log P(k), and the difference
    for two classes. It needs one pass over the rows: ``partial_fit`` and ``merge`` give the result
    of one ``fit`` on all rows.

    Parameters
    ----------
    alpha : float
        Smoothing parameter, added to every count. Values below 1e-10, which would give unseen
        words the probability 0, are replaced by 1e-10, with a warning.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    coef_, intercept_ : ndarray of shapes (k, d) and (k,)
        Of the ``LinearModel``; one row for two classes.
    class_count_, feature_count_ : ndarray of shapes (K,) and (K, d)
        Weight of each class, and F.
    class_log_prior_, feature_log_prob_ : ndarray of shapes (K,) and (K, d)
        log P(k) and log p.
    evidence_ : dict
        ``rows_seen``, ``alpha`` (as used).

    Examples
    --------
    >>> from separable import MultinomialNB
    >>> words = ["free", "money", "meeting"]
    >>> spam = MultinomialNB().fit([[2, 1, 0], [1, 2, 0], [0, 0, 3]], ["spam", "spam", "ham"])
    >>> spam.predict([[1, 0, 0], [0, 0, 1]]).tolist()
    ['spam', 'ham']
    >>> spam.coef_.round(2)
    array([[ 0.98,  0.98, -1.79]])
    """

    alpha: float = 1.0
    fit_prior: bool = True
    class_prior: Any = None

    def _joint(self, counts: ClassCounts, alpha: float) -> Joint:
        smoothed = counts.sums + alpha
        total = smoothed.sum(axis=1)
        log_prob = np.log(smoothed, out=smoothed)
        log_prob -= np.log(total)[:, None]
        log_prob.setflags(write=False)
        return Joint(log_prob, np.zeros(len(total)), log_prob)

    def _joint_of_rows(self, few: CountsOfRows, alpha: float) -> Joint:
        log_prob = np.log(few.sums + alpha)
        log_prob -= np.log(few.totals + alpha * few.counts.n_features)[:, None]
        return Joint(log_prob, np.zeros(len(log_prob)), log_prob)

    def _without(self, counts: ClassCounts, alpha: float, weights: Floats) -> Without:
        del weights
        return _Without(counts, alpha)


class _Without(Without):
    """Leave-one-out scores: only the row's own class changes, in its non-zero columns and total."""

    def __init__(self, counts: ClassCounts, alpha: float) -> None:
        super().__init__(counts, alpha)
        self._totals = counts.sums.sum(axis=1)

    def joint(self, block: NonZeros, joint: Floats, doubtful: Doubtful) -> None:
        c, w, x = block.label, block.weight, block.value
        own = self.counts.sums[c[block.row], block.column]
        left = doubtful.smoothed(own, w[block.row] * x, self.alpha, block.row)
        length = block.total(x)
        total = doubtful.smoothed(
            self._totals[c], w * length, self.alpha * self.counts.n_features, None
        )
        joint[np.arange(len(c)), c] = block.total(x * np.log(left)) - length * np.log(total)
