"""Gaussian naive Bayes with variances shared by the classes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from separable.accepted_parameters import accepts
from separable.fitting.base import with_parameters
from separable.model.parameters import Requirement, one_of
from separable.moments.base import Solution
from separable.moments.base_classifier import PRIORS, MomentClassifier, class_priors
from separable.moments.discriminant.covariance import (
    centres_of,
    constant_within,
    degrees_of_freedom,
    discriminants,
)
from separable.moments.regression.rank_warning import ConstantWithin
from separable.statistics.moments import Moments
from separable.statistics.precision import check_weights, relative_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["LinearGaussianNB"]


@accepts("var_smoothing")
@with_parameters
class LinearGaussianNB(MomentClassifier[Moments]):
    """Linear Gaussian naive Bayes: the variance of a column is the same in all classes.

    Within a class the columns are independent, column j with mean mu_kj and variance s_j^2, so
    log P(k | x) = w_k.x + b_k + a term shared by the classes, with w_kj = (mu_kj - m_j) / s_j^2 and
    m the mean of the means. It is ``LDA`` with a diagonal covariance. It stores d numbers per class
    instead of d^2, so d is not limited and sparse rows stay sparse. scikit-learn's ``GaussianNB``
    has a variance for every column and class: a different model, quadratic in x.

    A column that is constant within every class gets weight 0. If it differs between classes, a
    ``RankWarning`` names it.

    Parameters
    ----------
    priors : array-like of shape (K,) or None
        pi_k, in the order of ``classes_``; None: the class frequencies.
    covariance : {"unbiased", "mle"}
        Divide the within-class sums of squares by N - K, or by N.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shapes (k, d) and (k,)
    classes_ : ndarray of shape (K,)
    priors_ : ndarray of shape (K,)
    means_ : ndarray of shape (K, d)
        mu_kj.
    variances_ : ndarray of shape (d,)
        s_j^2.
    theta_, var_, class_prior_, class_count_ : ndarray
        Means, variances (those of a column are the same in all classes), priors and weights of the
        classes, as scikit-learn's ``GaussianNB`` has them.
    evidence_ : dict
        ``rows_seen`` and ``constant_columns``, the number of columns of weight 0.

    Examples
    --------
    >>> from separable import LinearGaussianNB
    >>> X = [[1.0, 0.0], [3.0, 2.0], [6.0, 1.0], [8.0, 3.0]]
    >>> bayes = LinearGaussianNB().fit(X, ["a", "a", "b", "b"])
    >>> bayes.variances_
    array([2., 2.])
    >>> bayes.coef_  # (mu_1 - mu_0) / s^2
    array([[2.5, 0.5]])
    """

    priors: Any = None
    covariance: Literal["unbiased", "mle"] = "unbiased"

    _requirements: ClassVar[dict[str, Requirement]] = {
        "priors": PRIORS,
        "covariance": one_of("unbiased", "mle"),
    }
    _instead: ClassVar[str] = "use SGDClassifier, or fewer columns"

    def _new_sums(self) -> Moments:
        return Moments("classes", products=False, owner=type(self).__name__, instead=self._instead)

    # ------------------------------------------------------------------ learning

    def _solve(self, sums: Moments, data: Data | None) -> Solution:
        del data
        self._check_classes(sums.classes)
        values = sums.sums
        constant = constant_within(values)
        variance = values.scatter / degrees_of_freedom(values, self.covariance)
        centres = centres_of(values, class_priors(self.priors, values.weight))
        solved = np.divide(centres.gap, variance, out=np.zeros_like(centres.gap), where=~constant)
        if values.precision is not None:
            deviation = np.sqrt(np.where(constant, 1.0, variance))
            gap = (values.precision.mean + centres.priors @ values.precision.mean) / deviation
            norm = float(np.linalg.norm(solved * deviation))
            relative = np.where(constant, 0.0, relative_error(values)).max()
            relative += (values.precision.weight / values.weight).max()
            check_weights(float(np.linalg.norm(gap[:, ~constant]) + relative * norm), norm)
        weights, intercept = discriminants(centres, solved)
        self._warn(np.flatnonzero(constant), values.means)
        learned = {"priors": centres.priors, "means": sums.class_means}
        evidence = {"rows_seen": sums.n_rows, "constant_columns": int(constant.sum())}
        return Solution(weights, intercept, evidence, learned)

    def _warn(self, constant: NDArray[np.intp], means: Floats) -> None:
        """Warn of columns that differ between classes but are constant within them."""
        means = means[:, constant]
        size = np.abs(means).max(axis=0, initial=0.0)
        columns = constant[np.ptp(means, axis=0) > 8 * np.finfo(np.float64).eps * size].tolist()
        if columns:
            warnings.warn(ConstantWithin(columns, [], self._name), stacklevel=5)

    def _left_out_scores(self, sums: Moments, data: Data) -> Floats | None:
        from separable.moments.loo.gaussian_loo import naive_bayes_left_out

        return naive_bayes_left_out(self, sums, data)

    # ------------------------------------------------------------------ fitted attributes

    @property
    def priors_(self) -> Floats:
        """Prior probability of each class, (K,)."""
        priors: Floats = self._learned("priors")
        return priors

    @property
    def means_(self) -> Floats:
        """The mean of each class, (K, d)."""
        means: Floats = self._learned("means")
        return means

    @property
    def theta_(self) -> Floats:
        """The mean of each class, (K, d)."""
        return self.means_

    @property
    def var_(self) -> Floats:
        """The variance of each column in each class, (K, d)."""
        return np.broadcast_to(self.variances_, self.means_.shape)

    @property
    def class_prior_(self) -> Floats:
        """Prior probability of each class, (K,)."""
        return self.priors_

    @property
    def class_count_(self) -> Floats:
        """The weight of each class, (K,)."""
        return self._summed().sums.weight

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log P(k) p(x | k) of rows and classes, without columns of weight 0.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)

        Returns
        -------
        ndarray of shape (n, K)
        """
        rows, means, variance = self._finite_rows(X).to_matrix(), self.means_, self.variances_
        used = ~constant_within(self._summed().sums)
        inverse = np.divide(1.0, variance, out=np.zeros_like(variance), where=used)
        constant = np.log(self.priors_) - 0.5 * np.log(2 * np.pi * variance[used]).sum()
        if not isinstance(rows, np.ndarray):  # not centered, so that it stays sparse
            squares = rows.power(2) @ inverse
            products, own = rows @ (means * inverse).T, (means**2) @ inverse
            return np.asarray(constant - 0.5 * (squares[:, None] - 2 * products + own))
        squares = [((rows - mean) ** 2) @ inverse for mean in means]
        return np.asarray(constant - 0.5 * np.stack(squares, axis=1))

    @property
    def variances_(self) -> Floats:
        """Within-class variance of each column, (d,)."""
        moments = self._summed()
        variances: Floats = moments.within_scatter
        return variances / degrees_of_freedom(moments.sums, self.covariance)
