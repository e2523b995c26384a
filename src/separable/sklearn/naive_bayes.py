"""scikit-learn's naive Bayes classifiers over our counts and moments."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.moments.naive_bayes.bernoulli_nb import BernoulliNB as BernoulliLearner
from separable.moments.naive_bayes.complement_nb import ComplementNB as ComplementLearner
from separable.moments.naive_bayes.multinomial_nb import MultinomialNB as MultinomialLearner
from separable.sklearn.base import Face, quiet, weights_of
from separable.sklearn.theirs import (
    check_non_negative,
    check_partial_fit_first_call,
    naive_bayes,
    validate_data,
)
from separable.statistics.moments import Moments

if TYPE_CHECKING:
    from typing import Self

    from separable.typing import Floats

__all__ = ["BernoulliNB", "ComplementNB", "GaussianNB", "MultinomialNB"]

MIN_ALPHA = 1e-10


class _CountsFace(Face):
    """What the three classifiers of counts share."""

    _counts_only = True

    def fit(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Count the rows."""
        self._start()
        X, y, weight = self._read(X, y, sample_weight, reset=True)
        self.classes_ = np.unique(y)
        self._check_classes()
        learner = self._learner()
        with quiet(UserWarning):
            learner.fit(X, y, weight)
        self._publish_counts(learner)
        return self

    def partial_fit(
        self: Any, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Any:
        """Count more rows."""
        self._start()
        first = not hasattr(self, "classes_")
        X, y, weight = self._read(X, y, sample_weight, reset=first)
        if check_partial_fit_first_call(self, classes):
            self._check_classes()
            self.learner_ = None
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"The target label(s) {unknown} in y do not exist in the initial classes "
                f"{self.classes_}"
            )
        learner = self._learner() if self.learner_ is None else self.learner_
        with quiet(UserWarning):
            learner.partial_fit(X, y, classes=self.classes_, sample_weight=weight)
        self._publish_counts(learner)
        return self

    def _read(self: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Any, ...]:
        X, y = validate_data(self, X, y, accept_sparse="csr", reset=reset)
        if self._counts_only:
            check_non_negative(X, f"{type(self).__name__} (input X)")
        return X, y, weights_of(sample_weight, X)

    def _check_classes(self: Any) -> None:
        prior = self.class_prior
        if prior is not None and len(prior) != len(self.classes_):
            raise ValueError("Number of priors must match number of classes.")

    def _smoothing(self: Any) -> float:
        """Return alpha as one number, raised to a smallest value as scikit-learn does."""
        if np.ndim(self.alpha):
            alpha = np.asarray(self.alpha, dtype=np.float64)
            if len(alpha) != self.n_features_in_:
                raise ValueError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {len(alpha)} elements instead of {self.n_features_in_}."
                )
            if alpha.min() < 0:
                raise ValueError("All values in alpha must be greater than 0.")
            if np.ptp(alpha):
                self._refuse("an alpha for each column", "Give one number.")
            return float(alpha[0])
        if self.alpha < MIN_ALPHA and not self.force_alpha:
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {MIN_ALPHA:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                stacklevel=4,
            )
        return float(self.alpha)

    def _publish_counts(self: Any, learner: Any) -> None:
        """Set counts and logarithms of probabilities, also of classes without rows yet."""
        self.learner_ = learner
        seen = np.searchsorted(self.classes_, learner.classes_)
        shape = len(self.classes_), self.n_features_in_
        self.class_count_, self.feature_count_ = np.zeros(shape[0]), np.zeros(shape)
        self.class_count_[seen] = learner.class_count_
        self.feature_count_[seen] = learner.feature_count_
        self.feature_log_prob_ = np.broadcast_to(self._unseen(shape[1]), shape).copy()
        self.feature_log_prob_[seen] = learner.feature_log_prob_
        self.class_log_prior_ = self._log_prior()

    def _log_prior(self: Any) -> Floats:
        if self.class_prior is not None:
            prior: Floats = np.log(np.asarray(self.class_prior, dtype=np.float64))
        elif self.fit_prior:
            with np.errstate(divide="ignore"):
                prior = np.log(self.class_count_) - np.log(self.class_count_.sum())
        else:
            prior = np.full(len(self.classes_), -np.log(len(self.classes_)))
        return prior

    def _unseen(self: Any, n_features: int) -> Any:
        """Return the logarithms of probabilities of a class without rows."""
        return -np.log(n_features)


class MultinomialNB(_CountsFace, naive_bayes.MultinomialNB):
    """Multinomial naive Bayes with scikit-learn's parameters and attributes."""

    def _learner(self) -> Any:
        return MultinomialLearner(self._smoothing(), self.fit_prior)


class BernoulliNB(_CountsFace, naive_bayes.BernoulliNB):
    """Bernoulli naive Bayes with scikit-learn's parameters and attributes."""

    _counts_only = False

    def _learner(self) -> Any:
        return BernoulliLearner(self._smoothing(), self.binarize, self.fit_prior)

    def _unseen(self, n_features: int) -> Any:
        del n_features
        return -np.log(2.0)


class ComplementNB(_CountsFace, naive_bayes.ComplementNB):
    """Complement naive Bayes with scikit-learn's parameters and attributes."""

    def _learner(self) -> Any:
        return ComplementLearner(self._smoothing(), self.fit_prior, norm=self.norm)

    def _publish_counts(self, learner: Any) -> None:
        super()._publish_counts(learner)
        self.feature_all_ = self.feature_count_.sum(axis=0)

    def _unseen(self, n_features: int) -> Any:
        smoothed = self.feature_count_.sum(axis=0) + max(self._smoothing(), MIN_ALPHA)
        logged = np.log(smoothed / smoothed.sum())
        del n_features
        return logged / logged.sum() if self.norm else -logged


class GaussianNB(Face, naive_bayes.GaussianNB):
    """Gaussian naive Bayes with scikit-learn's parameters and attributes, from moments a class."""

    classes_: Any
    _moments: list[Moments]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Sum the rows of each class."""
        self._start()
        self.classes_ = None
        return self._add(X, y, np.unique(y), sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add more rows."""
        self._start()
        return self._add(X, y, classes, sample_weight)

    def _add(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        first = check_partial_fit_first_call(self, classes)
        X, y = validate_data(self, X, y, reset=first)
        weight = weights_of(sample_weight, X)
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        if first:
            self._moments = [Moments(products=False) for _ in self.classes_]
            self._check_priors(len(self.classes_))
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"The target label(s) {unknown} in y do not exist in the initial classes "
                f"{self.classes_}"
            )
        for moments, label in zip(self._moments, self.classes_, strict=True):
            chosen = np.flatnonzero(y == label)
            if len(chosen):
                moments.add(X[chosen], None, None if weight is None else weight[chosen])
        spread = Moments(products=False).add(X).scatter.max() / len(X)
        self.epsilon_ = dtype.type(self.var_smoothing * spread)
        self._publish_moments(dtype)
        return self

    def _publish_moments(self, dtype: Any) -> None:
        shape = len(self.classes_), self.n_features_in_
        self.theta_, self.var_ = np.zeros(shape, dtype), np.zeros(shape, dtype)
        self.class_count_ = np.array([each.weight for each in self._moments], dtype)
        for k in np.flatnonzero(self.class_count_).tolist():
            moments = self._moments[k]
            self.theta_[k], self.var_[k] = moments.mean, moments.scatter / moments.weight
        self.var_ += dtype.type(self.epsilon_)
        if self.priors is None:
            self.class_prior_ = self.class_count_ / self.class_count_.sum()
        else:
            self.class_prior_ = np.asarray(self.priors, dtype)

    def _check_priors(self, n_classes: int) -> None:
        if self.priors is None:
            return
        priors = np.asarray(self.priors, dtype=np.float64)
        if len(priors) != n_classes:
            raise ValueError("Number of priors must match number of classes.")
        if not np.isclose(priors.sum(), 1.0):
            raise ValueError("The sum of the priors should be 1.")
        if (priors < 0).any():
            raise ValueError("Priors must be non-negative.")
