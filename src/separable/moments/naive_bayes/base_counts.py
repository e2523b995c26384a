"""Base class of naive Bayes on counts: smoothing and priors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.data.row_operations import indicator_rows
from separable.data.rows import as_rows
from separable.fitting.base import Ineffective
from separable.fitting.targets import check_labels, find_classes, weigh_rows
from separable.model.parameters import BOOL, NOT_NEGATIVE
from separable.model.predict.scores import linear_scores
from separable.moments.base import Solution
from separable.moments.base_classifier import PRIORS, MomentClassifier
from separable.moments.loo.naive_bayes_loo import left_out_scores
from separable.moments.naive_bayes.counts_of_rows import CountsOfRows
from separable.statistics.class_counts import ClassCounts
from separable.statistics.precision import WEIGHTS_TOLERANCE
from separable.statistics.weighted_rows import Data

if TYPE_CHECKING:
    from separable.data.rows import Rows
    from separable.model.linear_model import LinearModel
    from separable.model.parameters import Requirement
    from separable.moments.loo.naive_bayes_loo import Without
    from separable.typing import Floats


__all__ = ["Joint", "NaiveBayes"]

#: Smallest smoothing parameter, so that no probability is 0.
MIN_ALPHA = 1e-10


@dataclass(frozen=True)
class Joint:
    """Joint log-likelihoods without the prior: score_k(x) = w_k.x + b_k.

    Parameters
    ----------
    weights, intercept : ndarray, shapes (K, d) and (K,)
    log_prob : ndarray, shape (K, d)
        ``feature_log_prob_``.
    """

    weights: Floats
    intercept: Floats
    log_prob: Floats


class NaiveBayes(MomentClassifier[ClassCounts]):
    """Base of naive Bayes on counts: row weight and column sums per class.

    Parameters
    ----------
    alpha : float
        Smoothing parameter, added to every count. Values below 1e-10 are replaced by 1e-10, with a
        warning.
    fit_prior : bool
        Estimate P(k) by the class frequencies; otherwise use a uniform prior.
    class_prior : list of float or None
        P(k), in the order of ``classes_``.
    """

    _requirements: ClassVar[dict[str, Requirement]] = {
        "alpha": NOT_NEGATIVE,
        "fit_prior": BOOL,
        "class_prior": PRIORS,
    }

    _lost_beside: ClassVar[float | None] = float(np.finfo(np.float64).eps)

    alpha: float
    _ineffective: ClassVar[tuple[Ineffective, ...]] = (
        Ineffective(
            "fit_prior",
            lambda learner: learner.class_prior is not None,
            "where class_prior is given",
            "Give one of the two.",
        ),
    )

    fit_prior: bool
    class_prior: Any

    # ------------------------------------------------------------------ hooks

    def _joint(self, counts: ClassCounts, alpha: float) -> Joint:
        """Return the scores of every class."""
        raise NotImplementedError

    def _joint_of_rows(self, few: CountsOfRows, alpha: float) -> Joint | None:
        """Return the scores in the columns of a few rows; None: not without the other columns."""
        raise NotImplementedError

    def _uses_prior(self, n_classes: int) -> bool:
        """Return whether the prior is part of the score."""
        del n_classes
        return True

    def _without(self, counts: ClassCounts, alpha: float, weights: Floats) -> Without | None:
        """Return the leave-one-out scorer for the given row weights; None: too expensive."""
        raise NotImplementedError

    # ------------------------------------------------------------------ rows

    def _new_sums(self) -> ClassCounts:
        return ClassCounts(self._threshold())

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Data:
        rows = as_rows(X, check_values=False)  # values and columns are checked when added
        labels = check_labels(y, rows.n_rows, type(self).__name__)
        return Data(rows, labels, weigh_rows(sample_weight, None, labels), X)

    def _resume(self, model: LinearModel) -> None:
        counts, classes = self._summed(), model.classes
        assert counts.classes is not None
        same = classes is not None and counts.classes.tolist() == classes.tolist()
        if (
            counts.n_features != model.n_features
            or counts.threshold != self._threshold()
            or not same
        ):
            raise ValueError("The file's sums are not those its weights were made from.")

    def _subtract_sums(self, whole: ClassCounts, part: ClassCounts) -> ClassCounts:
        left = whole.subtract(part, smoothing=self._alpha(), tolerance=WEIGHTS_TOLERANCE)
        self._check_classes(left.classes)
        return left

    # ------------------------------------------------------------------ solving

    def _smoothing(self) -> float:
        """Return alpha, at least ``MIN_ALPHA``, with a warning if it is raised."""
        if self.alpha < MIN_ALPHA:
            warnings.warn(
                f"alpha={self.alpha:g} would give unseen events the probability 0, which has no "
                f"logarithm. {MIN_ALPHA:g} is used instead.",
                UserWarning,
                stacklevel=5,
            )
        return self._alpha()

    def _alpha(self) -> float:
        return max(float(self.alpha), MIN_ALPHA)

    def _solve(self, sums: ClassCounts, data: Data | None) -> Solution:
        if data is not None:
            self._check_classes(sums.classes)
        alpha, prior = self._smoothing(), self._log_prior(sums)
        joint = self._joint(sums, alpha)
        weights, intercept = self._model_parts(joint, prior)
        return Solution(
            weights,
            intercept,
            {"rows_seen": sums.n_rows, "alpha": alpha},
            {"class_log_prior": prior, "feature_log_prob": joint.log_prob},
        )

    def _model_parts(self, joint: Joint, prior: Floats) -> tuple[Floats, Floats]:
        """Return the weights and intercepts of the model."""
        intercept = joint.intercept
        if self._uses_prior(len(prior)):
            intercept = intercept + prior
        return _differences(joint.weights, intercept)

    def _few_rows(self, sums: ClassCounts, rows: Rows) -> CountsOfRows | None:
        threshold = self._threshold()
        known = rows if threshold is None or not rows.is_sparse else indicator_rows(rows, threshold)
        return CountsOfRows.of(known, sums)

    def _scores_of(self, few: CountsOfRows) -> Floats | None:
        joint = self._joint_of_rows(few, self._alpha())
        if joint is None:
            return None
        self._smoothing()
        return linear_scores(few.rows, *self._model_parts(joint, self._log_prior(few.counts)))

    def _log_prior(self, counts: ClassCounts) -> Floats:
        """Return the log-prior of each class."""
        k = len(counts.weight)
        if self.class_prior is not None:
            prior = np.asarray(self.class_prior, dtype=np.float64)
            announced = getattr(self, "_announced", None)
            if announced is not None and len(prior) == len(
                announced
            ):  # some classes may not have been seen yet
                assert counts.classes is not None
                prior = prior[find_classes(counts.classes, announced)]
            if len(prior) != k:
                raise ValueError(
                    f"The 'class_prior' parameter of {type(self).__name__} has {len(prior)} "
                    f"numbers, and there are {k} classes. Give one a class, in sorted order."
                )
            log_prior: Floats = np.log(prior)
            return log_prior
        if self.fit_prior:
            frequencies: Floats = np.log(counts.weight) - np.log(counts.weight.sum())
            return frequencies
        return np.full(k, -np.log(k))

    def _plain_parameters(self) -> dict[str, Any]:
        parameters = super()._plain_parameters()
        if parameters["class_prior"] is not None:
            prior = np.asarray(parameters["class_prior"], dtype=np.float64)
            parameters["class_prior"] = prior.tolist()
        return parameters

    # ------------------------------------------------------------------ fitted attributes

    @property
    def class_count_(self) -> Floats:
        """The weight of each class, (K,)."""
        return self._summed().weight

    @property
    def feature_count_(self) -> Floats:
        """The sum of each column in each class, (K, d)."""
        return self._summed().sums

    @property
    def class_log_prior_(self) -> Floats:
        """Log-prior of each class, (K,)."""
        prior: Floats = self._learned("class_log_prior")
        return prior

    @property
    def feature_log_prob_(self) -> Floats:
        """Log of the smoothed probability of each column given the class, (K, d)."""
        log_prob: Floats = self._learned("feature_log_prob")
        return log_prob

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return the joint log-probabilities log P(k) P(x | k) of rows and classes.

        As in scikit-learn, factors that depend on the row alone are left out.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)

        Returns
        -------
        ndarray of shape (n, K)
        """
        prior, threshold = self.class_log_prior_, self._threshold()
        rows = self._finite_rows(X)
        rows = rows if threshold is None else indicator_rows(rows, threshold)
        joint = self._joint(self._summed(), self._alpha())
        intercept = joint.intercept + prior if self._uses_prior(len(prior)) else joint.intercept
        return linear_scores(rows, joint.weights, intercept)

    @property
    def positive_only(self) -> bool:
        """Whether X must hold counts; a threshold makes them from any numbers."""
        return self._threshold() is None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on data that are not counts
        return tags

    def _left_out_scores(self, sums: ClassCounts, data: Data) -> Floats | None:
        return left_out_scores(self, sums, data)


def _differences(weights: Floats, intercept: Floats) -> tuple[Floats, Floats]:
    """Return weights and intercepts of the model: the second class minus the first for two.

    For more classes, the mean over the classes is subtracted, which changes no probability.
    Log-probabilities are all negative; the difference shows for which classes a column speaks.
    """
    if len(intercept) == 2:
        weights, intercept = weights[1:] - weights[:1], intercept[1:] - intercept[:1]
    elif len(intercept) > 2:
        weights, intercept = weights - weights.mean(axis=0), intercept - intercept.mean()
    weights.setflags(write=False)  # so that the model need not copy
    return weights, intercept
