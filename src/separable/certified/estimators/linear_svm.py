"""The linear support vector machine, with a certificate."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np

from separable.accepted_parameters import accepts
from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.estimators.base import CertifiedEstimator
from separable.certified.estimators.fitted import Fitted
from separable.certified.estimators.sign_constraints import check_constrained, ridge_of
from separable.certified.estimators.training_data import TrainingData
from separable.certified.inference.platt_scaling import FOLDS, folds_of_rows, sigmoid_of_scores
from separable.certified.solvers.driver import Driver
from separable.certified.solvers.policy import solver_of
from separable.fitting.base import with_parameters
from separable.fitting.fold_fits import FoldData
from separable.losses.loss import HINGE, SQUARED_HINGE, Loss
from separable.model.parameters import BOOL, CLASS_WEIGHT, POSITIVE, Requirement, one_of
from separable.penalties.elastic_net import ElasticNetPenalty

__all__ = ["PENALISED", "LinearSVM", "check_penalty"]

LOSSES: dict[str, Loss] = {"hinge": HINGE, "squared_hinge": SQUARED_HINGE}
PENALTIES = {"l2": ElasticNetPenalty(), "l1": ElasticNetPenalty(1.0)}

#: C of learners whose objective needs its penalty.
PENALISED = Requirement(
    "a finite float > 0 (no penalty, C=inf, has an optimum for LogisticRegression only)",
    POSITIVE.holds,
)


def check_penalty(learner: Any, penalty: str, loss: str) -> None:
    """Refuse the l1 penalty with a loss that is not smooth."""
    if penalty == "l1" and loss != "squared_hinge":
        raise ValueError(
            f"The 'penalty' parameter of {type(learner).__name__} must be 'l2' where "
            f"loss={loss!r}. Got 'l1' instead. Use penalty='l1' with loss='squared_hinge', the "
            "loss of scikit-learn's LinearSVC by default."
        )


@accepts("dual", "multi_class", "intercept_scaling", "verbose")
@with_parameters
class LinearSVM(CertifiedEstimator):
    """Linear support vector machine with a certificate of suboptimality.

    Minimises 1/2 |w|^2 + C sum_i c_i max(0, 1 - y_i (w.x_i + b)), or with
    ``loss="squared_hinge"`` the squares of these terms, with y_i = -1, +1 and c_i the weight of a
    row, 1 by default. b is never penalised, so the first is scikit-learn's
    ``SVC(kernel="linear")``, and both are its ``LinearSVC`` without intercept. With
    ``penalty="l1"`` the first term is |w|_1, and many weights are 0. Three or more classes: one
    model a class, one-vs-rest.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge"}
        What a row costs that is not on its side of the margin.
    penalty : {"l2", "l1"}
        What weights cost; "l1" goes with ``loss="squared_hinge"``.
    probability : bool
        Calibrate the scores, so that there is ``predict_proba``: five more models learn without
        a fifth of the rows each, and a sigmoid is fitted to their scores of these. With three or
        more classes the sigmoids are divided by their sum. With two, a probability above 1/2 is
        not always the class of a score above 0.
    monotonic_cst : array-like of int, or mapping of column to int, optional
        The sign of the weight of each column: 1, the score increases with the column, -1, it
        decreases, 0, either. With the l2 penalty, and for two classes: the score is that of the
        second one.
    tol : float or None
        The requested relative gap. None: 1e-6, and up to 20 000 numbers times classes to rounding.
    random_state : int, RandomState or None
        The order of rows in passes, and the folds. The weights depend on it only within the
        certificate.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LinearSVM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearSVM(standardize=True, probability=True).fit(X, y)
    >>> model.certificate_.relative_gap < 1e-6
    True
    >>> model.predict_proba(X[:1]).round(2).tolist()
    [[1.0, 0.0]]
    """

    _estimator_type = "classifier"

    C: float = 1.0
    _: KW_ONLY
    loss: str = "hinge"
    penalty: str = "l2"
    class_weight: Any = None
    monotonic_cst: Any = None
    probability: bool = False
    random_state: Any = 0
    n_jobs: int | None = None

    _requirements: ClassVar[dict[str, Requirement]] = {
        "C": PENALISED,
        "loss": one_of(*LOSSES),
        "penalty": one_of(*PENALTIES),
        "class_weight": CLASS_WEIGHT,
        "probability": BOOL,
    }

    def check_parameters(self) -> None:
        """Check the parameters; penalty and loss must fit together."""
        super().check_parameters()
        check_penalty(self, self.penalty, self.loss)
        check_constrained(self, is_ridge=self.penalty == "l2", remedy="penalty='l2'")

    def _loss(self) -> Loss:
        return LOSSES[self.loss]

    def _penalty(self) -> ElasticNetPenalty:
        return ridge_of(self, PENALTIES[self.penalty])

    def _shares_folds(self) -> bool:
        return not self.probability

    def _has_left_out(self, data: FoldData) -> bool:
        del data
        is_balanced = isinstance(self.class_weight, str)
        balanced_hinge = self.loss == "hinge" and is_balanced
        return not (self.probability or balanced_hinge or self.monotonic_cst is not None)

    # ------------------------------------------------------------------ probabilities

    def _has_probabilities(self) -> bool:
        if not self.probability:
            raise AttributeError(
                "probability estimates are not available: the scores of an SVM are no log-odds. "
                "Use LinearSVM(probability=True), which calibrates them on held-out folds, "
                "LogisticRegression, or decision_function."
            )
        return True

    def _fit_lanes(self, solver: Driver, training: TrainingData, regularization: float) -> Fitted:
        """Learn all models, and beside them those that calibrate."""
        if not self.probability:
            return super()._fit_lanes(solver, training, regularization)
        fold = folds_of_rows(training.rows, training.label, solver.solver_options.seed)
        solver = solver_of(replace(solver.problem, fold=fold), solver.solver_options)
        lanes = self._lanes(training, regularization)
        k = len(lanes)
        every = lanes + [replace(lane, fold=fold) for fold in range(FOLDS) for lane in lanes]
        fitted = self._solve(solver, training, every)
        scores = fitted.solution.scores
        pairs = np.empty((k, 2))
        for place, lane in enumerate(lanes):
            held_out = scores[np.arange(len(fold)), place + k * (1 + fold)]
            is_positive = solver.problem.targets(lane) > 0
            pairs[place] = sigmoid_of_scores(held_out, is_positive, solver.problem.weight)
        models = [fitted.solution.lane(place) for place in range(k)]
        return replace(
            fitted,
            solution=CertifiedSolution.side_by_side(models),
            passes=fitted.passes[:k],
            solvers=fitted.solvers[:k],
            calibration=pairs,
        )
