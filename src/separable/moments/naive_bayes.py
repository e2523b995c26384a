"""What the naive Bayes learners of counts share: smoothing, priors, and scores without a row."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from separable.data.indicators import distinct_rows, indicator_rows
from separable.data.rows import as_rows
from separable.fitting.targets import check_labels, find_classes, weigh_rows
from separable.model.parameters import BOOL, NOT_NEGATIVE, Requirement
from separable.model.scores import linear_scores, row_blocks, segment_sums
from separable.moments.class_counts import ClassCounts
from separable.moments.classifier import MomentClassifier
from separable.moments.data import Data
from separable.moments.estimator import Solution

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.model.linear_model import LinearModel

    Floats = NDArray[np.float64]

__all__ = ["PRIOR", "Block", "Doubtful", "Joint", "NaiveBayes", "Without", "joint_differences"]

#: Smoothing below this is taken as this, so that no probability is 0.
LEAST_ALPHA = 1e-10
#: What taking a row out must leave of a sum for its digits to be trusted.
TRUSTED = 1e-6
#: Rows that are learned without one by one, where digits ask for it, before that costs too much.
MOST_REFITS = 64


def _is_prior(value: Any) -> bool:
    if value is None:
        return True
    try:
        prior = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return prior.ndim == 1 and len(prior) > 0 and bool((np.isfinite(prior) & (prior > 0)).all())


#: None, or the probability of each class.
PRIOR = Requirement("None or a list of finite numbers > 0, one a class", _is_prior)


@dataclass(frozen=True)
class Joint:
    """Scores of every class, up to the prior: score_k(x) = w_k.x + b_k.

    Parameters
    ----------
    weights, intercept : ndarray, shapes (K, d) and (K,)
    log_prob : ndarray, shape (K, d)
        What ``feature_log_prob_`` shows.
    """

    weights: Floats
    intercept: Floats
    log_prob: Floats


@dataclass(frozen=True)
class Block:
    """The non-zeros of some rows, each column at most once in a row.

    Parameters
    ----------
    label : ndarray of int, shape (n,)
        The class of each row.
    weight : ndarray, shape (n,)
        Its weight.
    row, column, value : ndarray, shape (nnz,)
        The non-zeros.
    indptr : ndarray, shape (n + 1,)
        Where those of each row start.
    """

    label: NDArray[np.intp]
    weight: Floats
    row: NDArray[np.intp]
    column: NDArray[np.integer[Any]]
    value: Floats
    indptr: NDArray[np.integer[Any]]

    def total(self, terms: Floats) -> Floats:
        """Return the sum over the non-zeros of each row, (n,)."""
        return segment_sums(terms, self.indptr)


class Doubtful:
    """Takes rows out of sums, and notes those that leave too few digits."""

    def __init__(self, n_rows: int, *, exact: bool) -> None:
        self.rows = np.zeros(n_rows, np.bool_)
        self._exact = exact

    def smoothed(
        self, whole: Floats, taken: Floats, alpha: float | Floats, row: NDArray[np.intp] | None
    ) -> Floats:
        """Return whole - taken + alpha; ``row`` says to which row each belongs, None: in order."""
        left = np.maximum(whole - taken, 0.0) + alpha
        if not self._exact:
            lost = (left < TRUSTED * whole) & (taken != 0)
            self.rows[np.flatnonzero(lost) if row is None else row[lost]] = True
        return left


class Without:
    """The scores of rows, each from the counts without it."""

    def __init__(self, counts: ClassCounts, alpha: float) -> None:
        self.counts, self.alpha = counts, alpha

    def joint(self, block: Block, joint: Floats, doubtful: Doubtful) -> None:
        """Replace in ``joint``, (n, K), the scores that change."""
        raise NotImplementedError


class NaiveBayes(MomentClassifier):
    """Naive Bayes on counts: per class the weight of its rows and the sums of columns."""

    _base_requirements: ClassVar[dict[str, Requirement]] = {
        "alpha": NOT_NEGATIVE,
        "fit_prior": BOOL,
        "class_prior": PRIOR,
    }
    _instead: ClassVar[str] = ""  # d numbers a class always fit

    alpha: float
    fit_prior: bool
    class_prior: Any

    # ------------------------------------------------------------------ what a learner says

    def _joint(self, counts: ClassCounts, alpha: float) -> Joint:
        """Return the scores of every class."""
        raise NotImplementedError

    def _uses_prior(self, n_classes: int) -> bool:
        """Return whether the prior is part of the score."""
        del n_classes
        return True

    def _without(self, counts: ClassCounts, alpha: float, weights: Floats) -> Without | None:
        """Return what scores rows of the given weights without them, None: it costs too much."""
        raise NotImplementedError

    def _threshold(self) -> float | None:
        """Return the threshold above which values count, None: values are added up."""
        return None

    # ------------------------------------------------------------------ rows

    def _new_sums(self) -> ClassCounts:
        return ClassCounts(self._threshold())

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Data:
        rows = as_rows(X, check_values=False)  # values and columns are checked where they are added
        labels = check_labels(y, rows.n_rows, type(self).__name__)
        return Data(rows, labels, weigh_rows(sample_weight, None, labels), X)

    @classmethod
    def from_model(cls, model: LinearModel) -> Self:
        """Return an estimator that goes on learning where a saved model stopped.

        Parameters
        ----------
        model : LinearModel
            Of this learner, with its sums (``model.save(path, include_state=True)``).

        Returns
        -------
        estimator
        """
        estimator = super().from_model(model)
        counts, classes = estimator._counts(), model.classes
        assert counts.classes is not None
        same = classes is not None and counts.classes.tolist() == classes.tolist()
        if (
            counts.n_features != model.n_features
            or counts.threshold != estimator._threshold()
            or not same
        ):
            raise ValueError("The file's sums are not those its weights were made from.")
        return estimator

    # ------------------------------------------------------------------ solving

    def _smoothing(self) -> float:
        alpha = float(self.alpha)
        if alpha < LEAST_ALPHA:
            warnings.warn(
                f"alpha={alpha:g} would give events that were not met the probability 0, of which "
                f"there is no logarithm. {LEAST_ALPHA:g} is taken instead.",
                UserWarning,
                stacklevel=5,
            )
        return max(alpha, LEAST_ALPHA)

    def _solve(self, sums: ClassCounts, data: Data | None) -> Solution:  # type: ignore[override]
        if data is not None:
            self._check_classes(sums.classes)
        alpha = self._smoothing()
        joint = self._joint(sums, alpha)
        prior = self._log_prior(sums)
        intercept = joint.intercept
        if self._uses_prior(len(prior)):
            intercept = intercept + prior
        weights, intercept = joint_differences(joint.weights, intercept)
        return Solution(
            weights,
            intercept,
            {"rows_seen": sums.n_rows, "alpha": alpha},
            {"class_log_prior": prior, "feature_log_prob": joint.log_prob},
        )

    def _log_prior(self, counts: ClassCounts) -> Floats:
        """Return the logarithm of the probability of each class."""
        k = len(counts.weight)
        if self.class_prior is not None:
            prior = np.asarray(self.class_prior, dtype=np.float64)
            told = getattr(self, "_told", None)
            if told is not None and len(prior) == len(told):  # some may not have been met yet
                assert counts.classes is not None
                prior = prior[find_classes(counts.classes, told)]
            if len(prior) != k:
                raise ValueError(
                    f"The 'class_prior' parameter of {type(self).__name__} has {len(prior)} "
                    f"numbers, and there are {k} classes. Give one a class, in sorted order."
                )
            given: Floats = np.log(prior)
            return given
        if self.fit_prior:
            shares: Floats = np.log(counts.weight) - np.log(counts.weight.sum())
            return shares
        return np.full(k, -np.log(k))

    def _build_model(
        self,
        solution: Solution,
        classes: NDArray[Any] | None,
        threshold: float | None = None,
    ) -> LinearModel:
        del threshold
        return super()._build_model(solution, classes, self._threshold())

    def _plain_parameters(self) -> dict[str, Any]:
        parameters = super()._plain_parameters()
        if parameters["class_prior"] is not None:
            prior = np.asarray(parameters["class_prior"], dtype=np.float64)
            parameters["class_prior"] = prior.tolist()
        return parameters

    # ------------------------------------------------------------------ what was learned

    @property
    def class_count_(self) -> Floats:
        """The weight of each class, (K,)."""
        return self._counts().weight

    @property
    def feature_count_(self) -> Floats:
        """The sum of each column in each class, (K, d)."""
        return self._counts().sums

    @property
    def class_log_prior_(self) -> Floats:
        """Logarithm of the probability of each class, (K,)."""
        prior: Floats = self._learned("class_log_prior")
        return prior

    @property
    def feature_log_prob_(self) -> Floats:
        """Logarithm of the smoothed probability of each column in each class, (K, d)."""
        log_prob: Floats = self._learned("feature_log_prob")
        return log_prob

    def _counts(self) -> ClassCounts:
        counts = self._summed()
        assert isinstance(counts, ClassCounts)
        return counts

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, (n, K)."""
        return self._weights_only().predict_proba(self._finite_rows(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of each class, (n, K)."""
        scores = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.zeros((len(scores), 1))
        if len(self.classes_) == 2:  # log sigma(-s) and log sigma(s)
            return -np.logaddexp(0.0, np.multiply.outer(scores, (1.0, -1.0)))
        scores = scores - scores.max(axis=1, keepdims=True)
        log_proba: Floats = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return log_proba

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self._threshold() is None
        tags.classifier_tags.poor_score = True  # on rows that are no counts
        return tags

    # ------------------------------------------------------------------ leaving out one row

    def _left_out_scores(self, sums: ClassCounts, data: Data) -> Floats | None:  # type: ignore[override]
        assert sums.classes is not None
        n, k = data.rows.n_rows, len(sums.classes)
        weight = np.ones(n) if data.counted.weight is None else data.counted.weight
        place = find_classes(data.y, sums.classes)
        weight = np.where(place < 0, 0.0, weight)  # of an absent class: absent too
        label = np.maximum(place, 0).astype(np.intp)
        alpha = max(float(self.alpha), LEAST_ALPHA)
        without = self._without(sums, alpha, weight)
        if without is None:
            return None
        rows = data.rows if sums.threshold is None else indicator_rows(data.rows, sums.threshold)
        full = self._joint(sums, alpha)
        joint = linear_scores(rows, full.weights, full.intercept)
        doubtful = Doubtful(n, exact=sums.is_whole)
        for start, block in _blocks(distinct_rows(rows), label, weight):
            part = slice(start, start + len(block.label))
            own = Doubtful(len(block.label), exact=sums.is_whole)
            without.joint(block, joint[part], own)
            doubtful.rows[part] = own.rows
        alone = (sums.rows[label] == 1) & (weight > 0)
        if self._uses_prior(k):
            joint += self._left_out_prior(sums, label, weight, alone, doubtful)
        return self._finish_left_out(joint, data, label, alone, doubtful.rows & ~alone)

    def _left_out_prior(
        self,
        counts: ClassCounts,
        label: NDArray[np.intp],
        weight: Floats,
        alone: NDArray[np.bool_],
        doubtful: Doubtful,
    ) -> Floats:
        """Return the logarithm of each class's probability without each row."""
        n, k = len(label), len(counts.weight)
        if self.class_prior is not None or not self.fit_prior:
            return np.broadcast_to(self._log_prior(counts), (n, k))
        prior = np.tile(np.log(counts.weight), (n, 1))
        left = doubtful.smoothed(counts.weight[label], weight, 0.0, None)
        doubtful.rows |= (left <= 0) & ~alone
        prior[np.arange(n), label] = np.log(np.where(left > 0, left, 1.0))
        rest = counts.weight.sum() - weight
        return prior - np.log(np.where(rest > 0, rest, 1.0))[:, None]

    def _finish_left_out(
        self,
        joint: Floats,
        data: Data,
        label: NDArray[np.intp],
        alone: NDArray[np.bool_],
        doubtful: NDArray[np.bool_],
    ) -> Floats | None:
        if doubtful.sum() > MOST_REFITS:
            return None
        k = joint.shape[1]
        scores = joint[:, 1:] - joint[:, :1] if k == 2 else joint
        for row in np.flatnonzero(doubtful).tolist():
            scores[row] = self._refitted(data, row)
        if k == 2:
            scores[alone, 0] = np.where(label[alone] == 0, np.inf, -np.inf)
        else:
            scores[alone, label[alone]] = -np.inf
        return scores

    def _refitted(self, data: Data, row: int) -> Floats:
        """Return the scores of a row from all others, added up anew."""
        others = np.delete(np.arange(data.rows.n_rows), row)
        counts = self._new_sums().add_data(data, others)
        solution = self._solve(counts, None)
        one = data.rows.take(np.array([row]))
        if counts.threshold is not None:
            one = indicator_rows(one, counts.threshold)
        scores: Floats = linear_scores(one, solution.weights, solution.intercept)[0]
        return scores


def joint_differences(weights: Floats, intercept: Floats) -> tuple[Floats, Floats]:
    """Return weights and intercepts of a model: of two classes the second minus the first."""
    if len(intercept) == 2:
        weights, intercept = weights[1:] - weights[:1], intercept[1:] - intercept[:1]
    weights.setflags(write=False)  # the model need not copy them
    return weights, intercept


def _blocks(rows: Rows, label: NDArray[np.intp], weight: Floats) -> Iterator[tuple[int, Block]]:
    """Yield the non-zeros of rows in pieces that stay in the cache."""
    for start, stop in row_blocks(rows):
        part = rows.slice(start, stop)
        if part.indptr is None or part.indices is None:
            row, column = np.nonzero(part.values)
            value = part.values[row, column]
            indptr = np.searchsorted(row, np.arange(part.n_rows + 1))
        else:
            row = np.repeat(np.arange(part.n_rows), np.diff(part.indptr))
            column, value, indptr = part.indices, part.values, part.indptr
        yield (
            start,
            Block(
                label[start:stop],
                weight[start:stop],
                row,
                column,
                value.astype(np.float64, copy=False),
                indptr,
            ),
        )
