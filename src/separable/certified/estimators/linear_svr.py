"""Linear support vector regression, with a certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from separable.certified.estimators.base_regressor import CertifiedRegressor
from separable.certified.estimators.linear_svm import PENALISED
from separable.certified.loo.certified_loo import left_out
from separable.losses.epsilon_insensitive import EpsilonInsensitive
from separable.model.parameters import NOT_NEGATIVE, Requirement

if TYPE_CHECKING:
    from collections.abc import Callable

    from separable.certified.estimators.base import FoldData
    from separable.certified.loo.certified_loo import LeftOut
    from separable.losses.base import Loss

__all__ = ["LinearSVR"]


class LinearSVR(CertifiedRegressor):
    """Linear support vector regression with a certificate of suboptimality.

    Minimises 1/2 |w|^2 + C sum_i c_i max(0, |y_i - w.x_i - b| - epsilon) with c_i the weight of a
    row, 1 by default: errors up to epsilon cost nothing, larger ones in proportion. This is the
    objective of scikit-learn's ``SVR(kernel="linear")``; its ``LinearSVR`` penalises b too.

    Parameters
    ----------
    C : float, default 1.0
        Inverse regularization strength: smaller values penalise more.
    epsilon : float, default 0.0
        Errors up to it cost nothing, in the units of y.
    fit_intercept : bool, default True
        Fit the intercept b.
    standardize : bool, default False
        Penalise the weights of standardised columns. ``coef_`` is for the raw columns.
    tol : float or None, default None
        The requested relative gap. None: 1e-6, and up to 20 000 numbers to rounding.
    max_iter : int, default 1000
        Maximum number of passes over the rows; with few columns, maximum number of steps, each of a
        few passes.
    warm_start : bool, default False
        ``fit`` starts from the previous solution.
    random_state : int, RandomState or None, default 0
        The order of rows in passes. The result depends on it only within the certificate.
    n_jobs : int or None, default None
        Number of threads when many models are fitted, as in ``separable.select.search``.
    callback : callable, optional
        Called with the number of a pass and the relative gap so far; returning ``True`` stops the
        fit.

    Attributes
    ----------
    model_ : LinearModel
        The fitted model, for prediction, explanation and saving.
    certificate_ : Certificate
        ``primal``, ``dual``, ``gap``, ``relative_gap``, ``converged``: no weights have an
        objective below ``dual``.
    coef_, intercept_ : ndarray
        Attributes of the model, (d,) and (1,).
    dual_coef_ : ndarray, shape (1, n)
        The dual point that proves the certificate, with the sign of the error.
    n_iter_ : int
        Passes over the rows.
    mean_, scale_ : ndarray
        With ``standardize=True``: of the columns (``mean_`` of dense ones).
    evidence_ : dict
        The certificate's numbers, ``passes`` and ``engine``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from separable import LinearSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LinearSVR(C=100).fit(X, y)
    >>> model.certificate_.relative_gap < 1e-6
    True
    >>> round(model.score(X, y), 2)
    0.48
    """

    _requirements: ClassVar[dict[str, Requirement]] = {
        "C": PENALISED,
        "epsilon": NOT_NEGATIVE,
        **CertifiedRegressor._requirements,
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.0,
        fit_intercept: bool = True,
        standardize: bool = False,
        tol: float | None = None,
        max_iter: int = 1000,
        warm_start: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        callback: Callable[[int, float], Any] | None = None,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    @property
    def n_iter_(self) -> int:
        """Passes over the rows."""
        check_is_fitted(self)
        return int(self._passes.max())

    def _loss(self) -> Loss:
        return EpsilonInsensitive(float(self.epsilon))

    def _left_out(self, fold_data: FoldData) -> LeftOut | None:
        return left_out(self, fold_data)
