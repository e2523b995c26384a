"""Logistic regression, with a certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separable.accepted_parameters import accepts
from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.estimators.base import CertifiedEstimator
from separable.certified.estimators.fitted import Fitted
from separable.certified.estimators.sign_constraints import check_constrained, ridge_of
from separable.certified.estimators.training_data import TrainingData
from separable.certified.inference.existence import check_optimum
from separable.certified.inference.logistic_summary import (
    Inference,
    LogisticSummary,
    check_level,
    infer,
    summarise,
)
from separable.certified.problem import TOGETHER, Lane, Problem
from separable.estimator import check_is_fitted
from separable.fitting.base import with_parameters
from separable.fitting.fold_fits import FoldData
from separable.losses.loss import LOGISTIC, Loss
from separable.model.arrays import checked_names
from separable.model.linear_model import Link
from separable.model.parameters import (
    CLASS_WEIGHT,
    POSITIVE_OR_INF,
    UNIT_INTERVAL,
    ParameterError,
    Requirement,
    one_of,
)
from separable.model.words import feature_name
from separable.penalties.elastic_net import ElasticNetPenalty

__all__ = ["MULTI_CLASS", "LogisticRegression", "ratio_of_penalty", "refuse_no_penalty"]

MULTI_CLASS = one_of("multinomial", "ovr")
#: The l1_ratio of each value of ``penalty`` that says it.
PENALTIES = {None: 0.0, "l2": 0.0, "l1": 1.0}


def refuse_no_penalty(owner: Any, Cs: Any, l1_ratios: Any) -> None:
    """Refuse an infinite C beside a share of l1: there is no penalty for it to be a share of."""
    if np.isinf(Cs).any() and np.any(np.asarray(l1_ratios) > 0):
        raise ParameterError(
            f"{type(owner).__name__} with C=inf has no penalty, so a share of l1, {l1_ratios!r}, "
            "says nothing. Choose a finite C, such as 1e6, or 0 as that share."
        )


def ratio_of_penalty(owner: Any, penalty: Any, l1_ratio: Any) -> Any:
    """Return the l1_ratio that scikit-learn's older parameter ``penalty`` means."""
    if penalty != "elasticnet":
        try:
            return PENALTIES[penalty]
        except (KeyError, TypeError):
            raise ParameterError(
                f"The 'penalty' parameter of {type(owner).__name__} must be None or 'elasticnet' "
                f"or 'l1' or 'l2'. Got {penalty!r} instead."
            ) from None
    return l1_ratio


@accepts("penalty", "solver", "dual", "intercept_scaling", "verbose")
@with_parameters
class LogisticRegression(CertifiedEstimator):
    """Logistic regression with a certificate of suboptimality.

    Minimises 1/2 |w|^2 + C sum_i c_i log(1 + exp(-y_i (w.x_i + b))) with y_i = -1, +1 and c_i the
    weight of a row, 1 by default. Three or more classes are learned jointly: 1/2 sum_k |w_k|^2 +
    C sum_i c_i [log sum_k exp(w_k.x_i + b_k) - (w_y.x_i + b_y)], y the class of row i. These are
    scikit-learn's objectives; b is never penalised. Columns need no scaling for the optimum to be
    reached, but the penalty is in their units unless ``standardize=True``.

    Parameters
    ----------
    C : float
        Inverse regularization strength: smaller values penalise more; ``inf``: no penalty.
    l1_ratio : float
        From 0, the l2 penalty, to 1, the l1 penalty, which leaves weights at 0: the penalty is
        l1_ratio |w|_1 + (1 - l1_ratio) / 2 |w|^2, of classes learned jointly summed over these.
    multi_class : {"multinomial", "ovr"}
        Three or more classes: all together, with probabilities by the softmax; or one model a
        class against the rest. Two classes have one model in any case.
    monotonic_cst : array-like of int, or mapping of column to int, optional
        The sign of the weight of each column: 1, the score increases with the column, -1, it
        decreases, 0, either. With the l2 penalty, and for two classes: the score is that of the
        second one.
    tol : float or None
        The requested relative gap. None: 1e-6, and up to 20 000 numbers times classes to rounding.

    Attributes
    ----------
    coef_, intercept_, classes_ : ndarray
        Attributes of the model. The intercepts of classes learned jointly have the sum 0.
    dual_coef_ : ndarray, shape (k, n)
        The dual point that proves the certificate, with the sign of the target; of classes learned
        together C c_i (1 - p_i) for the class of row i, -C c_i p_i for others.
    n_iter_ : ndarray
        Passes over the rows, of each model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)  # columns as they are
    >>> model.certificate_.relative_gap < 1e-6
    True
    >>> round(model.certificate_.primal, 3)
    53.795
    """

    _estimator_type = "classifier"

    C: float = 1.0
    _: KW_ONLY
    l1_ratio: float = 0.0
    multi_class: str = "multinomial"
    class_weight: Any = None
    monotonic_cst: Any = None
    random_state: Any = 0
    n_jobs: int | None = None

    _requirements: ClassVar[dict[str, Requirement]] = {
        "C": POSITIVE_OR_INF,
        "l1_ratio": UNIT_INTERVAL,
        "multi_class": MULTI_CLASS,
        "class_weight": CLASS_WEIGHT,
    }

    def _apply_accepted(self, name: str, value: Any) -> bool:
        if name == "penalty":
            self.l1_ratio = ratio_of_penalty(self, value, self.l1_ratio)
            self.C = np.inf if value is None else self.C
        return name == "penalty"

    def _loss(self) -> Loss:
        return LOGISTIC

    def _is_joint(self) -> bool:
        return self.multi_class == "multinomial"

    def _link(self) -> Link:
        return "softmax" if self._is_joint() else "logistic"

    def _check_lane(
        self,
        problem: Problem,
        lane: Lane,
        found: CertifiedSolution,
        classes: NDArray[Any] | None,
        where: str = "",
    ) -> str:
        if np.isfinite(lane.C) or classes is None:
            return ""
        what = f"{type(self).__name__} with C=inf"
        if len(classes) > 2 and lane.target != TOGETHER:
            what += f", of class {classes.tolist()[lane.target]!r} against the rest,"
        return check_optimum(problem, lane, found, classes, what + where)

    def _link_of(self, classes: NDArray[Any] | None) -> Link:
        return "logistic" if classes is None or len(classes) == 2 else self._link()

    def _penalty(self) -> ElasticNetPenalty:
        return ridge_of(self, ElasticNetPenalty(float(self.l1_ratio)))

    def _has_left_out(self, data: FoldData) -> bool:
        together = data.classes is not None and len(data.classes) > 2 and self._is_joint()
        return not (together and self.l1_ratio > 0) and self.monotonic_cst is None

    def check_parameters(self) -> None:
        """Check the parameters; C and l1_ratio must fit together."""
        super().check_parameters()
        refuse_no_penalty(self, self.C, self.l1_ratio)
        is_ridge = self.l1_ratio == 0 and np.isfinite(self.C)
        check_constrained(self, is_ridge=bool(is_ridge), remedy="l1_ratio=0 and a finite C")

    def _keep(
        self,
        fitted: Fitted,
        training: TrainingData,
        evidence: Mapping[str, Any] | None = None,
        *,
        warn: bool = True,
    ) -> None:
        super()._keep(fitted, training, evidence, warn=warn)
        self._inference: Inference | None = None
        if not fitted.is_penalised and self.certificate_.converged:
            self._inference = infer(fitted, training)

    def summary(
        self, *, level: float = 0.95, feature_names: Sequence[str] | None = None
    ) -> LogisticSummary:
        """Return coefficients with standard errors, z, p and intervals, likelihoods, AIC, BIC.

        As text (``print``), ``to_dict()`` or ``to_html()``; for fits without penalty (``C=inf``)
        that reached their optimum. Standard errors are those of maximum likelihood, from the
        inverse of the observed information. A row of weight k counts as k rows. Coefficients of
        three or more classes are contrasts with the first class.

        Parameters
        ----------
        level : float, default 0.95
            Of the intervals.
        feature_names : sequence of str, optional
            Other names to show than those of the training data.

        Returns
        -------
        LogisticSummary

        Examples
        --------
        >>> import numpy as np
        >>> from separable import LogisticRegression
        >>> hours = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
        >>> passed = np.array([0, 0, 1, 0, 1, 1])
        >>> summary = LogisticRegression(C=np.inf).fit(hours, passed).summary()
        >>> [(line.name, round(line.value, 4), round(line.p, 4)) for line in summary.coefficients]
        [('intercept', -4.2491, 0.2098), ('x0', 1.214, 0.1834)]
        """
        model = self._weights_only()
        check_level(self, level)
        kept = getattr(self, "_inference", None)
        if kept is None:
            raise ValueError(self._why_no_summary())
        names = checked_names(feature_names, model.n_features, "feature_names")
        names = names or model.feature_names
        names = names or [feature_name(None, j) for j in range(model.n_features)]
        has_intercept = bool(self._as_learned("fit_intercept"))
        return summarise(kept, model, names, level=level, fit_intercept=has_intercept)

    def _why_no_summary(self) -> str:
        """Return why there are no standard errors, and what to do."""
        C: Any = self._weights_only().parameters["C"]
        if np.isfinite(C):
            return (
                f"There is no summary of a penalised fit (C={C:g}): the penalty pulls "
                "weights towards 0, so that their standard errors and p-values are not those of "
                "maximum likelihood. Fit LogisticRegression(C=inf) for these, or use "
                "cross_validate to see how well a penalised model predicts."
            )
        if not self.certificate_.converged:
            return (
                "There is no summary of a fit that did not reach its optimum (relative gap "
                f"{self.certificate_.relative_gap:.1e}): standard errors belong to the optimum. "
                "More steps (max_iter) may reach it, or choose a finite C."
            )
        return (
            "There is no summary of this fit: it has fewer rows than columns, which determine no "
            "weight, or its rows are not known any more, as after a search. Fit it to more rows, "
            "or fewer columns."
        )

    @property
    def n_iter_(self) -> NDArray[np.int64]:
        """Passes over the rows, of each model."""
        check_is_fitted(self)
        return self._passes
