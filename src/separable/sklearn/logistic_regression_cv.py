"""scikit-learn's ``LogisticRegressionCV`` over our regularization paths, one a fold."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.estimators.logistic_regression import LogisticRegression as Learner
from separable.select.regularization_path import path
from separable.sklearn.base import (
    Face,
    class_weights,
    gap_tolerance,
    weights_of,
    with_constant,
    with_every_class,
)
from separable.sklearn.logistic_regression import MAX_ITER, LogisticRegression, fit_learner
from separable.sklearn.theirs import (
    check_classification_targets,
    check_cv,
    check_logistic_solver,
    linear_model,
    routed_to_scorer,
    scorer_of_classes,
    split_parameters,
    validate_data,
)

if TYPE_CHECKING:
    from typing import Self

    from separable.typing import Floats

__all__ = ["LogisticRegressionCV"]

WARNINGS = {
    "l1_ratios": "The default value for l1_ratios will change from None to (0.0,) in version 1.10. "
    "From version 1.10 onwards, only array-like with values in [0, 1] will be allowed, None will "
    "be forbidden. To avoid this warning, explicitly set a value, e.g. l1_ratios=(0,).",
    "scoring": "The default value of the parameter 'scoring' will change from None, i.e. accuracy, "
    "to 'neg_log_loss' in version 1.11. To silence this warning, explicitly set the scoring "
    "parameter: scoring='neg_log_loss' for the new, scoring='accuracy' or scoring=None for the old "
    "default.",
    "use_legacy_attributes": "The fitted attributes of LogisticRegressionCV will be simplified in "
    "scikit-learn 1.10 to remove redundancy. Set `use_legacy_attributes=False` to enable the new "
    "behavior now, or set it to `True` to silence this warning. The default value of "
    "use_legacy_attributes will change from True to False in scikit-learn 1.10.",
    "no l1_ratios": "'l1_ratios=None' was deprecated in version 1.8 and will trigger an error in "
    "1.10. Use an array-like with values in [0, 1] instead.",
    "penalty": "'penalty' was deprecated in version 1.8 and will be removed in 1.10. To avoid this "
    "warning, leave 'penalty' set to its default value and use 'l1_ratios' and 'Cs' instead. Use "
    "l1_ratios=(0,) instead of penalty='l2', l1_ratios=(1,) instead of penalty='l1', l1_ratios set "
    "to floats between 0 and 1 instead of penalty='elasticnet', and Cs=(np.inf,) instead of "
    "penalty=None.",
}


class LogisticRegressionCV(Face, linear_model.LogisticRegressionCV):
    """Logistic regression that chooses C and l1_ratio, with scikit-learn's parameters."""

    _solver_parameters = ("solver", "dual", "random_state", "verbose", "n_jobs")

    C_: Any
    l1_ratio_: Any
    coefs_paths_: Any
    scores_: Any
    n_iter_: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose C and l1_ratio by cross-validation, then fit all rows."""
        self._start()
        penalty, ratios = self._resolve_ratios()
        scoring = None if self.scoring == "warn" else self.scoring
        solver = check_logistic_solver(self.solver, penalty, self.dual)
        splits = split_parameters(self, params)
        scored = routed_to_scorer(self, sample_weight, params)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        self._check_classes(solver)
        weight = weights_of(sample_weight, X)
        weight = class_weights(self._known_class_weight(), self.classes_, y, weight)
        folds = list(check_cv(self.cv, y, classifier=True).split(X, y, **splits))
        self.Cs_ = self._grid()
        scorer = scorer_of_classes(scoring or "accuracy", self.classes_)
        parts = [
            [self._fold(X, y, weight, train, test, ratio, scorer, scored) for ratio in ratios]
            for train, test in folds
        ]
        # (fold, l1_ratio, C, class, column), (fold, l1_ratio, C) and the same
        coefs, scores, n_iter = (
            np.array([[one[i] for one in row] for row in parts]) for i in range(3)
        )
        self._choose(X, y, weight, coefs, scores, ratios)
        self._publish_paths(coefs, scores, n_iter.astype(np.int32), ratios)
        return self

    def _resolve_ratios(self) -> tuple[str | None, list[float]]:
        """Return the penalty and the values of l1_ratio, with scikit-learn's warnings."""
        for name in ("l1_ratios", "scoring", "use_legacy_attributes"):
            if isinstance(getattr(self, name, None), str) and getattr(self, name) == "warn":
                warnings.warn(WARNINGS[name], FutureWarning, stacklevel=3)
        ratios = None if isinstance(self.l1_ratios, str) else self.l1_ratios
        given = self.penalty
        if given == "deprecated":
            if self.l1_ratios is None:
                warnings.warn(WARNINGS["no l1_ratios"], FutureWarning, stacklevel=3)
            levels = [0.0] if ratios is None else [float(each) for each in ratios]
            penalty = {0.0: "l2", 1.0: "l1"}.get(levels[0] if len(set(levels)) == 1 else 0.5)
            penalty = "elasticnet" if penalty is None else penalty
        else:
            warnings.warn(WARNINGS["penalty"], FutureWarning, stacklevel=3)
            penalty = given
            if penalty != "elasticnet" and ratios is not None:
                warnings.warn(
                    f"l1_ratios parameter is only used when penalty is 'elasticnet'. Got "
                    f"(penalty={penalty})",
                    stacklevel=3,
                )
            levels = list(ratios or []) if penalty == "elasticnet" else [float(penalty == "l1")]
        numeric = all(isinstance(each, (int, float, np.number)) for each in levels)
        if not levels or not numeric or not all(0 <= each <= 1 for each in levels):
            raise ValueError(
                f"l1_ratios must be an array-like of numbers between 0 and 1; got "
                f"(l1_ratios={ratios!r})"
            )
        return penalty, [float(each) for each in levels]

    def _check_classes(self, solver: str) -> None:
        LogisticRegression._check_classes(self, solver)

    def _known_class_weight(self) -> Any:
        unknown = isinstance(self.class_weight, dict) and set(self.class_weight) - set(
            self.classes_.tolist()
        )
        if unknown:
            raise ValueError(
                "The given class_weight dict must have the class labels as keys; "
                f"classes={self.classes_} but key={self.class_weight.keys()}"
            )
        return self.class_weight

    def _grid(self) -> Floats:
        if np.ndim(self.Cs):
            return np.asarray(self.Cs, dtype=np.float64)
        return np.logspace(-4, 4, int(self.Cs))

    # --- fits ---

    @property
    def _penalizes_intercept(self) -> bool:
        return bool(self.solver == "liblinear" and self.fit_intercept)

    def _learner(self, X: Any, C: float, ratio: float) -> Learner:
        return Learner(
            C,
            l1_ratio=0.0 if np.isinf(C) else ratio,
            fit_intercept=self.fit_intercept and not self._penalizes_intercept,
            tol=gap_tolerance(self.tol, X),
            max_iter=max(MAX_ITER, self.max_iter),
        )

    def _rows(self, X: Any) -> Any:
        return with_constant(X, self.intercept_scaling) if self._penalizes_intercept else X

    def _split(self, coef: Floats, intercept: Floats) -> tuple[Floats, Floats]:
        """Return weights and intercept, where the intercept may be the weight of a constant."""
        if self._penalizes_intercept:
            return coef[..., :-1], coef[..., -1] * self.intercept_scaling
        return coef, intercept

    def _training_rows(self, y: Any, weight: Any, train: Any) -> tuple[Any, Any]:
        """Return the training rows of a fold, with one almost weightless row of a class it lacks.

        As in scikit-learn, the model of each fold has all classes.
        """
        chosen = None if weight is None else weight[train]
        lacking = np.setdiff1d(self.classes_, y[train])
        if len(lacking):
            chosen = np.ones(len(train)) if chosen is None else chosen
            chosen = np.append(chosen, np.zeros(len(lacking)))
            train = np.append(train, [np.flatnonzero(y == label)[0] for label in lacking])
        return train, with_every_class(y[train], chosen)

    def _fold(
        self,
        X: Any,
        y: Any,
        weight: Any,
        train: Any,
        test: Any,
        ratio: float,
        scorer: Any,
        params: Any,
    ) -> tuple[Floats, list[float], Any]:
        """Return the weights of each C (with the intercept last), their scores, and passes."""
        train, chosen = self._training_rows(y, weight, np.arange(len(y))[train])
        finite = np.isfinite(self.Cs_)
        k = 1 if len(self.classes_) == 2 else len(self.classes_)
        coef = np.empty((len(self.Cs_), k, X.shape[1]))
        intercept, passes = np.empty((len(self.Cs_), k)), np.zeros(len(self.Cs_), dtype=np.int32)
        rows = self._rows(X[train])
        if finite.any():
            made = path(
                self._learner(X, 1.0, ratio),
                rows,
                y[train],
                Cs=self.Cs_[finite],
                sample_weight=chosen,
            )
            coef[finite], intercept[finite] = self._split(made.coefs, made.intercepts)
            passes[finite] = 0 if made.n_iter is None else made.n_iter
        for at in np.flatnonzero(~finite):
            free = fit_learner(self._learner(X, np.inf, ratio), rows, y[train], chosen)
            coef[at], intercept[at] = self._split(free.coef_, free.intercept_)
            passes[at] = np.max(free.n_iter_)
        size = X.shape[0]
        params = {
            name: np.asarray(value)[test] if np.ndim(value) and len(value) == size else value
            for name, value in params.items()
        }
        scores = []
        for w, b in zip(coef, intercept, strict=True):
            model = LogisticRegression()
            model.classes_, model.coef_, model.intercept_ = self.classes_, w, b
            scores.append(scorer(model, X[test], y[test], **params))
        with_bias = np.dstack([coef, intercept]) if self.fit_intercept else coef
        return with_bias, scores, passes

    def _choose(
        self, X: Any, y: Any, weight: Any, coefs: Floats, scores: Floats, ratios: list[float]
    ) -> None:
        """Set C_, l1_ratio_ and the weights: of all rows, or the means of the best of each fold."""
        n_features = X.shape[1]
        by_C = np.swapaxes(scores, 1, 2)  # (fold, C, l1_ratio), the order of ties
        if self.refit:
            total = by_C.sum(axis=0)
            at_C, at_ratio = np.unravel_index(np.argmax(total), total.shape)
            C, ratio = self.Cs_[at_C], ratios[at_ratio]
            weight = with_every_class(y, weight)
            learner = fit_learner(self._learner(X, float(C), ratio), self._rows(X), y, weight)
            coef, intercept = self._split(learner.coef_, learner.intercept_)
            self._publish(learner, coef, intercept, np.float64)
        else:
            best = by_C.reshape(len(by_C), -1).argmax(axis=1)
            at = np.array(np.unravel_index(best, by_C.shape[1:]))
            chosen = np.array([coefs[i, r, c] for i, (c, r) in enumerate(at.T)])
            mean = chosen.mean(axis=0)
            C, ratio = self.Cs_[at[0]].mean(), np.asarray(ratios)[at[1]].mean()
            self.coef_ = mean[:, :n_features]
            self.intercept_ = mean[:, -1] if self.fit_intercept else np.zeros(len(mean))
        if not self.fit_intercept:
            self.intercept_ = np.zeros(len(self.coef_))
        self.C_, self.l1_ratio_ = float(C), float(ratio)

    def _publish_paths(
        self, coefs: Floats, scores: Floats, n_iter: Any, ratios: list[float]
    ) -> None:
        """Set the attributes of the search: by class, or as arrays from scikit-learn 1.10 on."""
        self.coefs_paths_, self.scores_, self.n_iter_ = coefs, scores, n_iter
        given = None if isinstance(self.l1_ratios, str) else self.l1_ratios
        self.l1_ratios_ = np.asarray([None] if given is None else given)
        if getattr(self, "use_legacy_attributes", "warn") is False:
            return
        classes = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        single = given is None
        paths = np.moveaxis(coefs, (3, 0, 2, 1), (0, 1, 2, 3))  # (class, fold, C, l1_ratio, column)
        by_C, passes = np.swapaxes(scores, 1, 2), np.swapaxes(n_iter, 1, 2)[None]
        self.coefs_paths_ = {
            label: paths[k][:, :, 0] if single else paths[k] for k, label in enumerate(classes)
        }
        self.scores_ = dict.fromkeys(classes, by_C[:, :, 0] if single else by_C)
        self.n_iter_ = passes[:, :, :, 0] if single else passes
        ratio: Any = self.l1_ratio_ if not single else None if self.refit else 0.0
        if not single and self.refit:  # of the type that was given
            ratio = self.l1_ratios_[ratios.index(ratio)]
        self.C_ = np.full(len(classes), self.C_)
        self.l1_ratio_ = np.array([ratio] * len(classes))
