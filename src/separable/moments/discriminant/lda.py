"""Linear discriminant analysis."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from separable.accepted_parameters import accepts
from separable.estimator import check_is_fitted
from separable.features.base import OutputMixin
from separable.fitting.base import with_parameters
from separable.model.parameters import COUNT_OR_NONE, UNIT_INTERVAL, Requirement, one_of
from separable.model.predict.scores import linear_scores
from separable.moments.base import Solution
from separable.moments.base_classifier import PRIORS, MomentClassifier, class_priors
from separable.moments.discriminant.covariance import (
    Centres,
    Within,
    axes_of,
    centres_of,
    constant_within,
    degrees_of_freedom,
    discriminants,
    factor_within,
    ledoit_wolf,
    oas,
)
from separable.moments.regression.rank_warning import RankWarning, SingularCovariance
from separable.statistics.moments import Moments
from separable.statistics.precision import Precision, check_weights
from separable.statistics.weighted_rows import fourth_powers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.statistics.sums import Sums
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["LDA", "SHRINKAGE"]

#: Allowed values of ``shrinkage``.
SHRINKAGE = Requirement(
    "None, 'auto', 'oas' or a float from 0 to 1",
    lambda v: v is None or (v in ("auto", "oas") if isinstance(v, str) else UNIT_INTERVAL.holds(v)),
)


@accepts("solver", "store_covariance", "tol", "covariance_estimator")
@with_parameters
class LDA(OutputMixin, MomentClassifier[Moments]):
    """Linear discriminant analysis: Gaussian classes with a shared covariance.

    The score of class k is its discriminant,
    delta_k(x) = x'Sigma^-1 mu_k - mu_k'Sigma^-1 mu_k / 2 + log pi_k, with x and mu_k relative to
    m = sum of pi_k mu_k, which changes no difference of scores. Two classes have one score,
    delta_1 - delta_0. Probabilities follow from Bayes' rule.

    The solution is exact, from sums per class in one pass. Columns are divided by their
    within-class standard deviation and the correlations factored by Cholesky, so without shrinkage
    scaling or shifting a column changes nothing, up to rounding. Directions without within-class
    variance are dropped, with a ``RankWarning`` that names the columns. With more columns than
    rows ``fit`` solves the dual, n x n.

    Parameters
    ----------
    priors : array-like of shape (K,) or None
        pi_k, in the order of ``classes_``; None: the class frequencies.
    covariance : {"unbiased", "mle"}
        Divide the within-class scatter by N - K, or by N as scikit-learn does.
    shrinkage : None, "auto", "oas" or float from 0 to 1
        g in Sigma = (1 - g) S + g tr(S) / d I, S the within-class covariance. "auto" is the
        Ledoit-Wolf g, which needs a second pass over the rows and so works only with ``fit``.
        "oas" needs only sums.
    n_components : int or None
        Number of axes of ``transform``; None: min(K - 1, d), or fewer if fewer exist.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shapes (k, d) and (k,)
    classes_ : ndarray of shape (K,)
    priors_ : ndarray of shape (K,)
    means_ : ndarray of shape (K, d)
        mu_k.
    xbar_ : ndarray of shape (d,)
        m.
    covariance_ : ndarray of shape (d, d)
        Sigma; not available after a fit with more columns than rows.
    shrinkage_ : float
        g.
    scalings_ : ndarray of shape (d, r)
        The discriminant axes, for x - m, with within-class variance 1.
    explained_variance_ratio_ : ndarray of shape (r,)
        Fraction of the between-class variance explained by each axis.
    evidence_ : dict
        ``rows_seen``, ``rank``, ``condition_number`` (of the within-class correlations, estimated;
        None if they are singular), ``shrinkage``, ``solved_by``.

    Examples
    --------
    >>> from separable import LDA
    >>> lda = LDA().fit([[1.0], [3.0], [6.0], [8.0]], ["a", "a", "b", "b"])
    >>> lda.means_.tolist(), lda.covariance_.tolist()
    ([[2.0], [7.0]], [[2.0]])
    >>> lda.decision_function([[4.5], [5.5]])  # (mu_1 - mu_0) / Sigma (x - 4.5)
    array([0. , 2.5])
    """

    priors: Any = None
    covariance: Literal["unbiased", "mle"] = "unbiased"
    shrinkage: float | Literal["auto", "oas"] | None = None
    n_components: int | None = None

    _requirements: ClassVar[dict[str, Requirement]] = {
        "priors": PRIORS,
        "covariance": one_of("unbiased", "mle"),
        "shrinkage": SHRINKAGE,
        "n_components": COUNT_OR_NONE,
    }
    _instead: ClassVar[str] = (
        "use LinearGaussianNB, which keeps squares only, MultinomialNB for counts of words, or "
        "SGDClassifier; or fit fewer rows than columns at once, which needs products of rows only"
    )

    # ------------------------------------------------------------------ learning

    def _new_sums(self) -> Moments:
        return Moments("classes", owner=type(self).__name__, instead=self._instead)

    def _needs_rows(self) -> bool:
        return isinstance(self.shrinkage, str) and self.shrinkage == "auto"

    def _check_sums_suffice(self) -> None:
        if self._needs_rows():
            raise ValueError(
                "LDA(shrinkage='auto') needs the rows a second time, after their means are known, "
                "so only fit can do it: not partial_fit, merge or cross-validation from sums. Use "
                "shrinkage='oas' or a number."
            )

    def _solve(self, sums: Moments, data: Data | None) -> Solution:
        self._check_classes(sums.classes)
        within, values, g = self._within(sums, data)
        centres = centres_of(values, class_priors(self.priors, values.weight))
        if g == 0:
            self._warn(values, within)
        evidence = {
            "rows_seen": sums.n_rows,
            "rank": within.rank,
            "condition_number": within.condition if np.isfinite(within.condition) else None,
            "shrinkage": g,
            "solved_by": "pseudo-inverse" if within.dependent else "cholesky",
        }
        solved = within.solve(centres.gap)
        if values.precision is not None:
            self._check_digits(values, within, centres, solved)
        middle = within.solve(centres.scaled_middle[None, :])[0]
        return self._finish(centres, solved, middle, sums.class_means, evidence)

    def _check_digits(self, values: Sums, within: Within, centres: Centres, solved: Floats) -> None:
        """Refuse weights Sigma^-1 g if a subtraction left too few digits of Sigma or g."""
        precision, kept = Precision.of(values), within.kept
        root = np.sqrt(degrees_of_freedom(values, self.covariance))
        long = np.linalg.norm(precision.length[kept] / within.length) / root
        off = np.linalg.norm(precision.noise[kept] / within.length) / root
        gap = (precision.mean + centres.priors @ precision.mean)[:, kept] / within.length
        norm = float(np.linalg.norm(solved[:, kept] * within.length))
        inverse = np.linalg.norm(within.root, 2) ** 2 if within.rank else 0.0
        error = inverse * (np.linalg.norm(gap) + 2.0 * long * off * norm)
        heavy = (precision.weight / values.weight).max()
        check_weights(float(error + heavy * norm), norm)

    def _solve_rows(self, data: Data) -> Solution | None:
        if not data.is_wide:
            return None
        from separable.moments.discriminant.lda_row_space import WideClasses

        data = data.present()
        self._check_classes(np.unique(data.y))
        wide = WideClasses(data, self.priors, self.covariance, self.shrinkage)
        evidence = {
            "rows_seen": data.n_counted,
            "rank": wide.rank,
            "condition_number": None,
            "shrinkage": wide.shrinkage,
            "solved_by": "rows",
        }
        if wide.shrinkage == 0:
            warnings.warn(
                f"The covariance within classes is singular: {data.rows.n_features} columns and "
                f"{data.n_counted} rows. Only directions in which rows vary within classes are "
                "used. Use shrinkage='oas' or a number, fewer columns, or more rows.",
                RankWarning,
                stacklevel=4,
            )
        centres = wide.centres
        solved = wide.solve(centres.gap)
        middle = wide.solve(centres.scaled_middle[None, :])[0]
        return self._finish(centres, solved, middle, wide.means, evidence)

    def _finish(
        self,
        centres: Centres,
        solved: Floats,
        middle: Floats,
        means: Floats,
        evidence: dict[str, Any],
    ) -> Solution:
        weights, intercept = discriminants(centres, solved)
        learned = {
            "priors": centres.priors,
            "means": means,
            "middle": centres.middle,
            "shrinkage": evidence["shrinkage"],
            "axes": axes_of(centres, solved),
            "centres": centres,
            "solved": solved,
            "solved_middle": middle,
        }
        self._count_axes(*means.shape)
        return Solution(weights, intercept, evidence, learned)

    def _count_axes(self, n_classes: int, n_columns: int) -> int:
        """Return the requested number of axes."""
        most = min(n_classes - 1, n_columns)
        if self.n_components is not None and self.n_components > most:
            raise ValueError(
                "n_components cannot be larger than min(n_features, n_classes - 1), which is "
                f"{most}. Got {self.n_components}."
            )
        return most if self.n_components is None else int(self.n_components)

    def _within(self, sums: Moments, data: Data | None) -> tuple[Within, Sums, float]:
        """Return the within-class covariance, its sums and its shrinkage."""
        values = sums.sums
        freedom = degrees_of_freedom(values, self.covariance)
        if self.shrinkage is None or self.shrinkage == 0:
            return factor_within(values.scatter / freedom, constant_within(values)), values, 0.0
        values = values.rescaled(np.full_like(values.scale, values.scale.min()))
        g = self._shrinkage_of(values, data)
        covariance = _shrunk(values.scatter / freedom, g)
        return factor_within(covariance, np.diagonal(covariance) == 0), values, g

    def _shrinkage_of(self, values: Sums, data: Data | None) -> float:
        if not isinstance(self.shrinkage, str):
            return float(self.shrinkage or 0.0)
        trace, n, d = float(values.diagonal.sum()), float(values.weight.sum()), values.n_columns
        if trace == 0:
            return 0.0
        squares = float(np.sum((values.scatter / trace) ** 2))
        if self.shrinkage == "oas":
            return float(oas(1.0, squares, n, d))
        if data is None:
            self._check_sums_suffice()
        assert data is not None
        return ledoit_wolf(1.0, squares, fourth_powers(values, data.present(), trace), n, d)

    def _warn(self, values: Sums, within: Within) -> None:
        """Warn if the covariance is singular, with the columns responsible."""
        missing = np.setdiff1d(np.arange(values.n_columns), within.kept)
        if not len(missing) and not within.dependent:
            return
        size = np.abs(values.scaled_means).max(axis=0)
        differ = np.ptp(values.offset, axis=0) > 8 * np.finfo(np.float64).eps * size
        shape = (int(values.rows.sum()), values.n_columns, values.n_groups)
        warnings.warn(
            SingularCovariance(
                missing.tolist(),
                within.dependent,
                self._name,
                frozenset(missing[differ[missing]].tolist()),
                shape,
            ),
            stacklevel=5,
        )

    def _left_out_scores(self, sums: Moments, data: Data) -> Floats | None:
        if self._needs_rows():
            return None
        from separable.moments.loo.gaussian_loo import lda_left_out

        return lda_left_out(self, sums, data)

    # ------------------------------------------------------------------ fitted attributes

    @property
    def priors_(self) -> Floats:
        """Prior probability of each class, (K,)."""
        return self._array("priors")

    @property
    def means_(self) -> Floats:
        """The mean of each class, (K, d)."""
        return self._array("means")

    @property
    def xbar_(self) -> Floats:
        """The mean of the means, weighted by the priors, (d,)."""
        return self._array("middle")

    @property
    def shrinkage_(self) -> float:
        """Shrinkage of the covariance, from 0 to 1."""
        return float(self._learned("shrinkage"))

    @property
    def covariance_(self) -> Floats:
        """The within-class covariance after shrinkage, (d, d)."""
        g = self.shrinkage_
        moments = self._sums
        if moments is None:
            raise AttributeError(
                "covariance_ has d^2 numbers, and with more columns than rows LDA does not compute "
                "them. Start with partial_fit to have it."
            )
        covariance = moments.within_scatter / degrees_of_freedom(moments.sums, self.covariance)
        return _shrunk(covariance, g) if g else covariance

    @property
    def scalings_(self) -> Floats:
        """The discriminant axes, (d, r), in decreasing order of explained variance."""
        scalings: Floats = self._learned("axes").scalings
        return scalings

    @property
    def explained_variance_ratio_(self) -> Floats:
        """Fraction of the between-class variance explained by each axis of ``transform``."""
        ratio: Floats = self._learned("axes").ratio
        return ratio[: self._n_features_out]

    @property
    def _n_features_out(self) -> int:
        requested = self._count_axes(*self._learned("means").shape)
        return min(requested, len(self._learned("axes").ratio))

    def _array(self, name: str) -> Floats:
        array: Floats = self._learned(name)
        return array

    # ------------------------------------------------------------------ predicting

    def discriminants(self, X: Any) -> Floats:
        """Return delta_k(x) = x'Sigma^-1 mu_k - mu_k'Sigma^-1 mu_k / 2 + log pi_k, as in textbooks.

        ``decision_function`` subtracts the same number from all delta_k of a row, so that columns
        far from 0 keep their precision. Here nothing is subtracted: far from 0, differences of
        delta_k are less accurate than ``log_ratio``. In directions without within-class variance,
        Sigma^-1 is 0.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)

        Returns
        -------
        ndarray of shape (n, K)
            One column per class, in the order of ``classes_``, also for two classes.
        """
        check_is_fitted(self)
        rows = self._finite_rows(X)
        centres: Centres = self._learned("centres")
        solved = self._array("solved") + self._array("solved_middle")
        means = centres.gap + centres.scaled_middle
        constant = np.log(centres.priors) - 0.5 * np.einsum("kj,kj->k", means, solved)
        return linear_scores(rows, solved * centres.scale, constant)

    def log_ratio(self, X: Any, k: Any, l: Any) -> Floats:  # noqa: E741  # the lecture's letter
        """Return log P(k | x) / P(l | x) = delta_k(x) - delta_l(x) of two classes.

        It is 0 on the decision boundary between them and independent of the other classes.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        k, l : label
            Two of ``classes_``.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        rows = self._finite_rows(X)
        classes = self.classes_.tolist()
        for label in (k, l):
            if label not in classes:
                raise ValueError(f"{label!r} is not among the classes: {classes}.")
        first, second = classes.index(k), classes.index(l)
        centres: Centres = self._learned("centres")
        solved = self._array("solved")
        half = 0.5 * np.einsum("kj,kj->k", centres.gap, solved)
        weights = (solved[first] - solved[second]) * centres.scale
        constant = np.log(centres.priors[first] / centres.priors[second])
        constant -= half[first] - half[second] + weights @ centres.middle
        return linear_scores(rows, weights[None, :], np.array([constant]))[:, 0]

    def transform(self, X: Any) -> Any:
        """Project rows on the discriminant axes, (n, n_components).

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)

        Returns
        -------
        ndarray of shape (n, r), or the data frame type chosen with `set_output`
            (x - m).a for each axis a. Within classes the axes have variance 1 and are uncorrelated.
        """
        check_is_fitted(self)
        rows = self._finite_rows(X)
        axes = self.scalings_[:, : self._n_features_out].T
        projected = linear_scores(rows, axes, -(axes * self.xbar_).sum(axis=1))
        return self._given_out(projected, X)

    def fit_transform(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn from all rows and project them."""
        return self.fit(X, y, sample_weight).transform(X)

    @property
    def feature_names(self) -> list[str]:
        """Names of the axes: lda0, lda1, ..."""
        return [f"{type(self).__name__.lower()}{j}" for j in range(self._n_features_out)]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the names of the axes."""
        check_is_fitted(self)
        return np.array(self.feature_names, dtype=object)


def _shrunk(covariance: Floats, g: float) -> Floats:
    """Return (1 - g) Sigma + g tr(Sigma) / d I."""
    shrunk = (1.0 - g) * covariance
    np.fill_diagonal(shrunk, np.diagonal(shrunk) + g * np.diagonal(covariance).mean())
    return shrunk
