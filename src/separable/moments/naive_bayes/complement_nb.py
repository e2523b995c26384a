"""Complement naive Bayes, for imbalanced classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.accepted_parameters import accepts
from separable.fitting.base import Ineffective, with_parameters
from separable.model.parameters import BOOL
from separable.moments.loo.naive_bayes_loo import Doubtful, NonZeros, Without
from separable.moments.naive_bayes.base_counts import Joint, NaiveBayes

if TYPE_CHECKING:
    from separable.model.parameters import Requirement
    from separable.moments.naive_bayes.counts_of_rows import CountsOfRows
    from separable.statistics.class_counts import ClassCounts
    from separable.typing import Floats


__all__ = ["ComplementNB"]


@accepts("force_alpha")
@with_parameters
class ComplementNB(NaiveBayes):
    """Complement naive Bayes: score_k(x) = -sum_j x_j log q_kj.

    q_kj = (C_kj + alpha) / (sum_l C_kl + alpha d), where C_kj is the sum of column j over the rows
    of all classes but k: predict the class whose complement explains the row worst. The prior is
    used only if there is a single class. With ``norm`` the weights of a class are divided by their
    sum: score_k = sum_j x_j log q_kj / sum_l log q_kl (Rennie et al. 2003).

    Parameters
    ----------
    class_prior : list of float or None
        P(k), in the order of ``classes_``; used only for ``class_log_prior_``.
    norm : bool
        Divide the weights of each class by their sum.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    coef_, intercept_ : ndarray of shapes (k, d) and (k,)
        Of the ``LinearModel``; one row for two classes.
    class_count_, feature_count_, feature_all_ : ndarray of shapes (K,), (K, d) and (d,)
        Weight of each class, column sums per class, and column sums over all classes.
    class_log_prior_, feature_log_prob_ : ndarray of shapes (K,) and (K, d)
        Log-priors, and the weights: -log q, or with ``norm`` log q divided by its sum.
    evidence_ : dict
        ``rows_seen``, ``alpha`` (as used).

    Examples
    --------
    >>> from separable import ComplementNB
    >>> spam = ComplementNB().fit([[2, 1, 0], [1, 2, 0], [0, 0, 3]], ["spam", "spam", "ham"])
    >>> spam.predict([[1, 0, 0], [0, 0, 1]]).tolist()
    ['spam', 'ham']
    """

    alpha: float = 1.0
    fit_prior: bool = True
    class_prior: Any = None
    norm: bool = False

    _requirements: ClassVar[dict[str, Requirement]] = {"norm": BOOL}
    _ineffective: ClassVar[tuple[Ineffective, ...]] = tuple(
        Ineffective(
            name,
            lambda learner: True,  # noqa: ARG005
            "on predictions with two or more classes, which do not use the prior",
            "Leave it at its default; class_log_prior_ shows it.",
        )
        for name in ("fit_prior", "class_prior")
    )

    @property
    def feature_all_(self) -> Floats:
        """The sum of each column, (d,)."""
        whole: Floats = self._summed().sums.sum(axis=0)
        return whole

    def _uses_prior(self, n_classes: int) -> bool:
        return n_classes == 1  # as in scikit-learn

    def _joint(self, counts: ClassCounts, alpha: float) -> Joint:
        rest = _complement(counts.sums) + alpha
        logged = np.log(rest / rest.sum(axis=1, keepdims=True))
        weights = logged / _divisor(logged.sum(axis=1))[:, None] if self.norm else -logged
        weights.setflags(write=False)
        return Joint(weights, np.zeros(len(weights)), weights)

    def _joint_of_rows(self, few: CountsOfRows, alpha: float) -> Joint | None:
        if self.norm:
            return None
        total = _complement(few.totals[:, None]) + alpha * few.counts.n_features
        weights = -np.log((_complement(few.sums) + alpha) / total)
        return Joint(weights, np.zeros(len(weights)), weights)

    def _without(self, counts: ClassCounts, alpha: float, weights: Floats) -> Without:
        del weights
        return _Without(counts, alpha, norm=bool(self.norm))


class _Without(Without):
    """Leave-one-out scores: all classes change but the row's own."""

    def __init__(self, counts: ClassCounts, alpha: float, *, norm: bool) -> None:
        super().__init__(counts, alpha)
        self._norm, self._rest = norm, _complement(counts.sums)
        self._totals = self._rest.sum(axis=1)
        self._logs = np.log(self._rest + alpha).sum(axis=1) if norm else self._totals

    def joint(self, block: NonZeros, joint: Floats, doubtful: Doubtful) -> None:
        x, d = block.value, self.counts.n_features
        length = block.total(x)
        for k in range(len(self._totals)):
            weight = np.where(block.label == k, 0.0, block.weight)
            own = self._rest[k][block.column]
            left = doubtful.smoothed(own, weight[block.row] * x, self.alpha, block.row)
            total = doubtful.smoothed(
                np.full(len(weight), self._totals[k]), weight * length, self.alpha * d, None
            )
            score = block.total(x * np.log(left)) - length * np.log(total)
            if self._norm:
                change = block.total(np.log(left) - np.log(own + self.alpha))
                score /= _divisor(self._logs[k] + change - d * np.log(total))
                joint[:, k] = score
            else:
                joint[:, k] = -score


def _complement(sums: Floats) -> Floats:
    """Return the column sums over the other classes, for each class, (K, d)."""
    before, after = np.zeros_like(sums), np.zeros_like(sums)
    np.cumsum(sums[:-1], axis=0, out=before[1:])
    np.cumsum(sums[:0:-1], axis=0, out=after[-2::-1])
    rest: Floats = before + after  # no subtraction, so no cancellation
    return rest


def _divisor(sums: Floats) -> Floats:
    """Return sums to divide by, 1 instead of 0: for a single column log q is 0."""
    return np.where(sums == 0, 1.0, sums)
