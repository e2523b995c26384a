"""Bayesian linear regression with a Gaussian prior; empirical Bayes for the precisions."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.accepted_parameters import accepts
from separable.estimator import check_random_state
from separable.fitting.base import with_parameters
from separable.fitting.targets import check_numbers, weigh_rows
from separable.model.parameters import BOOL, COUNT, POSITIVE_OR_NONE, ParameterError, Requirement
from separable.moments.regression.base_squares import SquaresRegressor
from separable.moments.regression.column_side import column_side
from separable.moments.regression.posterior import (
    ColumnPosterior,
    Marginal,
    Precisions,
    RowPosterior,
)
from separable.moments.regression.row_side import RowSide
from separable.statistics.weighted_rows import Data, checked_rows

if TYPE_CHECKING:
    from separable.moments.base import Solution
    from separable.statistics.moments import Moments
    from separable.typing import Floats


__all__ = ["BayesianRegression", "EvidenceWarning"]


#: Replaces squares that underflow, so that they are refused.
SMALLEST_SUBNORMAL = 5e-324
#: Largest ratio of the precisions.
MAX_RATIO = 1e300


class EvidenceWarning(UserWarning):
    """The evidence has no maximum: a precision grows without bound."""


@accepts(
    *("max_iter", "tol", "alpha_init", "lambda_init", "compute_score", "copy_X", "verbose"),
    *("alpha_1", "alpha_2", "lambda_1", "lambda_2"),
)
@with_parameters
class BayesianRegression(SquaresRegressor):
    """Linear regression with a Gaussian prior: y = w.x + b + noise, w ~ N(0, alpha^-1 I).

    The noise is N(0, 1 / beta), beta the ``noise_precision``; the prior of b is flat. For centered
    columns and targets the posterior of the weights is

        N(m, Sigma),  Sigma = (beta X'X + alpha I)^-1,  m = beta Sigma X'y,

    so m is ridge regression with penalty alpha / beta, solved as in ``Ridge``. A row of weight k
    counts as k rows. Precisions that are None maximize the evidence p(y | alpha, beta) (empirical
    Bayes, type II maximum likelihood), computed from eigenvalues.

    ``alpha_`` and ``lambda_`` mean what they mean in scikit-learn's ``BayesianRidge``: the
    precisions of the noise and of the weights, beta and alpha here. With an intercept, the evidence
    here has n - 1 degrees of freedom, there n; without an intercept both agree.

    Parameters
    ----------
    weight_precision : float or None
        alpha, the precision of the prior of the weights, above 0. None: maximize the evidence.
    noise_precision : float or None
        beta, the reciprocal of the noise variance, above 0. None: maximize the evidence.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        The posterior mean m.
    intercept_ : float
    covariance_, sigma_ : ndarray of shape (d, d)
        Sigma, computed on access.
    weight_precision_, lambda_ : float
        alpha, given or estimated.
    noise_precision_, alpha_ : float
        beta, given or estimated.
    log_evidence_ : float
        log p(y | alpha, beta).
    scores_ : ndarray of shape (1,)
        ``log_evidence_``, as scikit-learn has it.
    n_iter_ : int
        1: the evidence is maximized directly.
    evidence_ : dict
        As for ``Ridge``, and ``weight_precision``, ``noise_precision``, ``log_evidence``,
        ``effective_weights`` (gamma = sum_k s_k / (s_k + alpha / beta), the effective number of
        parameters), ``set_by_evidence`` and ``at_edge``: a precision that grows without bound,
        which also raises an ``EvidenceWarning``.

    Examples
    --------
    >>> from separable import BayesianRegression
    >>> X, y = [[0], [1], [2], [3]], [0.1, 0.9, 2.1, 2.9]
    >>> line = BayesianRegression(weight_precision=1.0, noise_precision=100.0).fit(X, y)
    >>> line.coef_.round(3), line.covariance_.round(6)
    (array([0.958]), array([[0.001996]]))
    >>> mean, std = line.predict([[1.5], [10]], return_std=True)
    >>> mean.round(3), std.round(3)
    (array([1.5  , 9.644]), array([0.112, 0.396]))
    """

    weight_precision: float | None = None
    noise_precision: float | None = None
    fit_intercept: bool = True

    _requirements: ClassVar[dict[str, Requirement]] = {
        "weight_precision": POSITIVE_OR_NONE,
        "noise_precision": POSITIVE_OR_NONE,
        "fit_intercept": BOOL,
    }

    @property
    def weight_precision_(self) -> float:
        """Precision of the prior of the weights, alpha."""
        return float(self._learned("precisions").alpha)

    @property
    def noise_precision_(self) -> float:
        """Precision of the noise, beta."""
        return float(self._learned("precisions").beta)

    @property
    def alpha_(self) -> float:
        """Precision of the noise, in scikit-learn's words."""
        return self.noise_precision_

    @property
    def lambda_(self) -> float:
        """Precision of the weights, in scikit-learn's words."""
        return self.weight_precision_

    @property
    def sigma_(self) -> Floats:
        """Posterior covariance of the weights, in scikit-learn's words."""
        return self.covariance_

    @property
    def scores_(self) -> Floats:
        """The log of the evidence, (1,)."""
        return np.array([self.log_evidence_])

    @property
    def n_iter_(self) -> int:
        """Number of iterations; the evidence is maximized directly."""
        self._solved()
        return 1

    @property
    def log_evidence_(self) -> float:
        """The log of the evidence, p(y | alpha, beta)."""
        return float(self._learned("log_evidence"))

    @property
    def covariance_(self) -> Floats:
        """Posterior covariance of the weights, (d, d)."""
        covariance: Floats = self._learned("posterior").covariance()
        return covariance

    # ------------------------------------------------------------------ learning

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Data:
        target = y if hasattr(y, "ndim") else np.asarray(y)
        if target.ndim == 2 and target.shape[1] > 1:
            raise ValueError(
                "BayesianRegression learns one target with its noise, and y has "
                f"{target.shape[1]} columns. Fit one for each."
            )
        rows = checked_rows(X)
        numbers = check_numbers(y, rows.n_rows, type(self).__name__)
        return Data(rows, numbers, weigh_rows(sample_weight, None, numbers), X)

    def _penalty(self) -> float | None:
        if self.weight_precision is None or self.noise_precision is None:
            return None  # the evidence changes without a row
        return float(self.weight_precision) / float(self.noise_precision)

    def _solve(self, sums: Moments, data: Data | None) -> Solution:
        side = column_side(sums, fit_intercept=bool(self.fit_intercept))
        unit, target_unit = side.unit, float(side.target_unit[0])
        with np.errstate(over="ignore", under="ignore"):
            values = side.values / unit / unit
            squares = float(side.target_squares[0] * target_unit * target_unit)
            marginal = Marginal.of(
                np.where(side.values > 0, np.maximum(values, SMALLEST_SUBNORMAL), 0.0),
                side.projection[:, 0] * target_unit / unit,
                max(squares, SMALLEST_SUBNORMAL) if side.target_squares[0] > 0 else 0.0,
                float(side.target_mean[0]),
                float(side.sums.weight[0]),
                fit_intercept=bool(self.fit_intercept),
            )
        precisions = self._maximise(marginal)
        solution = self._solve_squares(sums, data, precisions.alpha / precisions.beta)
        posterior = ColumnPosterior(side, precisions.alpha, precisions.beta)
        return self._with_evidence(solution, marginal, precisions, posterior)

    def _solve_rows(self, data: Data) -> Solution | None:
        if not data.is_wide:
            return None
        data = data.present()
        side = RowSide(data, fit_intercept=bool(self.fit_intercept))
        spectrum = side.spectrum(apart=False)
        marginal = Marginal.of(
            spectrum.values,
            np.sqrt(spectrum.values) * spectrum.projection[:, 0],
            max(
                float(side.targets[:, 0] @ side.targets[:, 0]),
                SMALLEST_SUBNORMAL * side.targets.any(),
            ),
            float(side.target_mean[0]),
            float((side.root**2).sum()),
            fit_intercept=bool(self.fit_intercept),
        )
        precisions = self._maximise(marginal)
        solution = self._solve_wide(data, precisions.alpha / precisions.beta, side)
        assert solution is not None
        posterior = RowPosterior(side, spectrum, precisions.alpha, precisions.beta)
        return self._with_evidence(solution, marginal, precisions, posterior)

    def _maximise(self, marginal: Marginal) -> Precisions:
        if self.noise_precision is None and marginal.n <= 0:
            raise ValueError(
                "BayesianRegression cannot learn the noise from one row (n_samples = 1). Give "
                "noise_precision, or more rows."
            )
        precisions = marginal.maximise(
            None if self.weight_precision is None else float(self.weight_precision),
            None if self.noise_precision is None else float(self.noise_precision),
        )
        if not 1.0 / MAX_RATIO < precisions.alpha / precisions.beta < MAX_RATIO:
            raise ValueError(
                "The precisions are too far apart for float64: "
                f"weight_precision={precisions.alpha:g}, "
                f"noise_precision={precisions.beta:g}. Scale X or y, or give others."
            )
        return precisions

    def _with_evidence(
        self,
        solution: Solution,
        marginal: Marginal,
        precisions: Precisions,
        posterior: ColumnPosterior | RowPosterior,
    ) -> Solution:
        if precisions.edge is not None:
            of_weights = precisions.edge == "weight_precision"
            why = "the columns do not predict y" if of_weights else "no noise is left"
            last = precisions.alpha if of_weights else precisions.beta
            warnings.warn(
                f"The evidence has no maximum: {precisions.edge} grows without bound because "
                f"{why}. It was stopped at {last:.3g}. Set {precisions.edge}.",
                EvidenceWarning,
                stacklevel=4,
            )
        log_evidence = marginal.log_evidence(precisions.alpha, precisions.beta)
        names = ("weight_precision", "noise_precision")
        set_here = [name for name in names if getattr(self, name) is None]
        evidence = solution.evidence | {
            "weight_precision": precisions.alpha,
            "noise_precision": precisions.beta,
            "log_evidence": log_evidence,
            "effective_weights": marginal.effective(precisions.alpha / precisions.beta),
            "set_by_evidence": set_here,
            "at_edge": precisions.edge,
        }
        learned = solution.learned | {
            "precisions": precisions,
            "log_evidence": log_evidence,
            "posterior": posterior,
            "weight": marginal.weight,
        }
        return replace(solution, evidence=evidence, learned=learned)

    # ------------------------------------------------------------------ predicting

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the mean and standard deviation of the predictive distribution of each row.

        Its variance is 1 / beta + 1 / (beta W) + (x - mean)'Sigma (x - mean): noise, intercept and
        weights. W is the sum of the sample weights; without an intercept its term and the mean are
        0.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        return_std : bool, default False

        Returns
        -------
        mean : ndarray of shape (n,)
        std : ndarray of shape (n,)
            Only with ``return_std``.
        """
        mean = super().predict(X)
        if not return_std:
            return mean
        solution = self._solved()
        noise = 1.0 / solution.learned["precisions"].beta
        if self.fit_intercept:
            noise += noise / solution.learned["weight"]
        return mean, np.sqrt(noise + solution.learned["posterior"].variances(self._finite_rows(X)))

    def sample_posterior(self, n: int = 1, random_state: Any = 0) -> tuple[Floats, Floats]:
        """Return draws of weights and intercept from their posterior.

        Parameters
        ----------
        n : int, default 1
            Number of draws.
        random_state : int, RandomState or None, default 0

        Returns
        -------
        weights : ndarray of shape (n, d)
        intercepts : ndarray of shape (n,)
        """
        if not COUNT.holds(n):
            raise ParameterError(f"n must be {COUNT.words}. Got {n!r} instead.")
        solution, model = self._solved(), self._weights_only()
        random = check_random_state(random_state)
        away = solution.learned["posterior"].draw(int(n), random)
        intercepts = np.full(int(n), model.intercept[0])
        if self.fit_intercept:
            noise = 1.0 / solution.learned["precisions"].beta / solution.learned["weight"]
            intercepts -= away @ solution.learned["posterior"].side.mean
            intercepts += math.sqrt(noise) * random.normal(size=int(n))
        return model.weights[0] + away, intercepts

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags
