"""Logistic regression, with a proof of how far from the optimum it stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separable.certified.classifier import CertifiedClassifier
from separable.certified.losses import Logistic
from separable.model.parameters import POSITIVE_OR_INF, Requirement
from separable.model.probability import log_probabilities

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.certified.losses import Loss
    from separable.model.linear_model import Link

__all__ = ["LogisticRegression", "Logits"]

#: Which penalties there are.
L2_ONLY = Requirement("0, the l2 penalty (l1 and elastic net are not built)", lambda v: v == 0)


class Logits(CertifiedClassifier):
    """A classifier whose scores are logits, one model a class."""

    def _loss(self) -> Loss:
        return Logistic()

    def _link(self) -> Link:
        return "logistic"

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, (n, K)."""
        return self._weights_only().predict_proba(self._finite_rows(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities, exact where these are tiny, (n, K)."""
        scores = self.decision_function(X)
        if len(self.classes_) > 2:
            with np.errstate(divide="ignore"):
                return np.log(self.predict_proba(X))
        return log_probabilities(scores.reshape(len(scores), -1), 2)


class LogisticRegression(Logits):
    """Logistic regression whose every fit says how far from the optimum it is.

    Minimises 1/2 |w|^2 + C sum_i c_i log(1 + exp(-y_i (w.x_i + b))) with y_i = -1, +1 and c_i the
    weight of a row, 1 by default. This is scikit-learn's objective; b is never penalised. Three
    classes and more: one model a class against the rest. Columns need no scaling for the optimum
    to be reached, but the penalty is in their units unless ``standardize=True``.

    Parameters
    ----------
    C : float, default 1.0
        How much rows count against the penalty; ``inf``: no penalty.
    l1_ratio : float, default 0.0
        0: the l2 penalty, which is the only one so far.
    fit_intercept : bool, default True
        Learn b.
    standardize : bool, default False
        Penalise the weights of standardised columns. ``coef_`` is of the columns as they are.
    class_weight : dict, "balanced" or None, default None
        Weights of the classes, multiplied into ``sample_weight``.
    tol : float or None, default None
        The relative gap asked for. None: 1e-6 with few columns, where that is cheap, else 1e-4.
        Small problems are solved to rounding in any case.
    max_iter : int, default 1000
        Most passes over the rows; with few columns, most steps, each of a few passes.
    warm_start : bool, default False
        ``fit`` starts from the previous one.
    random_state : int, RandomState or None, default 0
        The order of rows in passes. The answer depends on it only within the certificate.
    n_jobs : int or None, default None
        Threads for many classes; None: 1, -1: all. The answer has the same bits with any number.
    callback : callable, optional
        Called with the number of a pass and the relative gap so far; ``True`` ends the fit.

    Attributes
    ----------
    model_ : LinearModel
        What was learned, to predict, explain and save.
    certificate_ : Certificate
        ``primal``, ``dual``, ``gap``, ``relative_gap``, ``converged``: no weights have an
        objective below ``dual``. Of all models together; ``certificates_`` has one each.
    coef_, intercept_, classes_ : ndarray
        Views of the model.
    dual_coef_ : ndarray, shape (k, n)
        The dual point that proves the certificate, with the sign of the target.
    n_iter_ : ndarray
        Passes over the rows, of each model.
    mean_, scale_ : ndarray
        With ``standardize=True``: of the columns (``mean_`` of dense ones).
    evidence_ : dict
        The certificate's numbers, ``passes`` and ``engine``.

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

    _requirements: ClassVar[dict[str, Requirement]] = {
        "C": POSITIVE_OR_INF,
        "l1_ratio": L2_ONLY,
        **CertifiedClassifier._requirements,
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        l1_ratio: float = 0.0,
        fit_intercept: bool = True,
        standardize: bool = False,
        class_weight: Any = None,
        tol: float | None = None,
        max_iter: int = 1000,
        warm_start: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        callback: Callable[[int, float], Any] | None = None,
    ) -> None:
        self.C = C
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    @property
    def n_iter_(self) -> NDArray[np.int64]:
        """Passes over the rows, of each model."""
        check_is_fitted(self)
        return self._passes
