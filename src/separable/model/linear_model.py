"""LinearModel: the result of every learner, with prediction, explanation, merging and saving.

It needs only NumPy. Learners build a ``LinearModel``; everything done with weights is implemented
here, once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from separable.data.rows import column_names
from separable.model.arrays import (
    check_score_count,
    check_words,
    checked_classes,
    checked_names,
    checked_numbers,
    checked_range,
    checked_threshold,
    names_of_features,
    read_only,
)
from separable.model.column_statistics import check_statistics
from separable.model.files.json_values import JSON, plain
from separable.model.predict.decision import check_decision, score_threshold
from separable.model.predict.inputs import (
    WeightColumns,
    class_of_scores,
    encoded_rows,
    model_rows,
    record_scores,
)
from separable.model.predict.probability import (
    classes_of,
    model_probabilities,
    predicted_numbers,
)
from separable.model.predict.scores import linear_scores

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.features.base import Encoder
    from separable.model.column_statistics import ColumnStatistics
    from separable.model.explain.explanation import Explanation
    from separable.model.explain.top_weights import TopWeights
    from separable.model.files.training_rows import TrainingRows
    from separable.model.metrics.evaluation import Evaluation
    from separable.model.predict.decision import Decision
    from separable.model.self_test import SelfTest

__all__ = ["Family", "LinearModel", "Link", "TrainingState"]

Link: TypeAlias = Literal["score", "logistic", "softmax", "identity", "log"]
Family: TypeAlias = Literal["online", "moments", "certified"]
LINKS, FAMILIES = get_args(Link), get_args(Family)

#: Links of regression; all others are of classes.
NUMBER_LINKS = ("identity", "log")


@dataclass(frozen=True, eq=False)
class TrainingState:
    """State that a learner needs to resume training.

    Parameters
    ----------
    tensors : mapping of str to ndarray
        Arrays, kept read-only (copied unless they already are).
    values : mapping of str to JSON
        Counts, flags and other JSON values.
    """

    tensors: Mapping[str, NDArray[Any]]
    values: Mapping[str, JSON]

    def __post_init__(self) -> None:
        tensors = {str(name): read_only(array) for name, array in self.tensors.items()}
        object.__setattr__(self, "tensors", tensors)
        object.__setattr__(self, "values", plain(self.values, "state.values"))

    def __reduce__(self) -> tuple[Any, ...]:  # through the constructor: arrays stay read-only
        return TrainingState, (self.tensors, self.values)


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A linear model, score(x) = w.x + b: one score for two classes, one per class for more.

    Two classes: a score > 0 is ``classes[1]``, unless a decision threshold says otherwise. More:
    the class with the largest score, the first in a tie. One class, possible at the start of a
    stream: always that class. No classes: the scores are the predicted numbers, or with the link
    "log" their logarithms.

    Parameters
    ----------
    weights : array-like, shape (k, d)
        k is 1 for one or two classes, the number of classes for more, the number of targets in
        regression. Stored, like every array here, read-only.
    intercept : array-like, shape (k,)
    classes : array-like or None
        Sorted labels: bool, int, float or str. None for regression.
    link : {"score", "logistic", "softmax", "identity", "log"}
        Meaning of a score: a margin, log-odds, a softmax logit, the predicted number or its
        logarithm. Regression, and only regression, has "identity" or "log".
    feature_names : sequence of str, optional
        One per feature; those of the encoder, if there is one. Stored as a tuple or, from a file or
        a vocabulary, as a lazy sequence equal to the tuple.
    encoder : Encoder, optional
        Encodes a raw table as the features of the weights.
    learner : str, default "LinearModel"
        Learner that fitted the weights, for example ``"Perceptron"``.
    parameters : mapping of str to JSON, optional
        Parameters of the learner.
    family : "online", "moments" or "certified", optional
        Family of the learner, which determines how models are merged.
    evidence : mapping of str to JSON, optional
        Facts that the learner reports about the fit.
    state : TrainingState, optional
        Allows training to be resumed.
    threshold : float, optional
        The weights apply to indicators: 1 for values above the threshold, else 0. None: to the
        values themselves.
    calibration : array-like, shape (k, 2), optional
        Slope (>= 0) and offset of each score: sigma(slope s + offset) is a probability. Only with
        classes and the link "score", whose scores are not probabilities by themselves.
    training_rows : TrainingRows, optional
        Hashes of the training rows. None: not recorded.
    decision : Decision, optional
        Threshold on the probability of one of two classes, which `predict` applies. None: 0.5.
    output_range : (float, float), optional
        Smallest and largest number that is predicted, both above 0. The link "log" needs it, since
        an exponential of a score far from the training rows may be of any size.
    column_statistics : tuple of ColumnStatistics, default ()
        Ranges and contributions of the raw columns on the training rows.
    self_test : SelfTest, optional
        Rows with their scores, to test a loaded model.

    Examples
    --------
    >>> from separable import LinearModel
    >>> spam = LinearModel([[4, 2]], [-3], ["ham", "spam"], "score", ["free", "money"])
    >>> spam.decision_function([[1, 1]])
    array([3.])
    >>> spam.predict([[1, 1], [0, 1]]).tolist()
    ['spam', 'ham']
    """

    weights: NDArray[np.float64]
    intercept: NDArray[np.float64]
    classes: NDArray[Any] | None
    link: Link
    feature_names: Sequence[str] | None = None
    encoder: Encoder | None = None
    learner: str = "LinearModel"
    parameters: Mapping[str, JSON] = field(default_factory=dict)
    family: Family | None = None
    evidence: Mapping[str, JSON] = field(default_factory=dict)
    state: TrainingState | None = None
    threshold: float | None = None
    calibration: NDArray[np.float64] | None = None
    training_rows: TrainingRows | None = None
    decision: Decision | None = None
    output_range: tuple[float, float] | None = None
    column_statistics: tuple[ColumnStatistics, ...] = ()
    self_test: SelfTest | None = None

    def __post_init__(self) -> None:
        weights = checked_numbers(self.weights, "weights", ndim=2)
        intercept = checked_numbers(self.intercept, "intercept", ndim=1)
        classes = checked_classes(self.classes)
        check_words(self, classes)
        _check_shapes(weights, intercept, classes)
        checked = {
            "weights": weights,
            "intercept": intercept,
            "classes": classes,
            "feature_names": names_of_features(self.feature_names, self.encoder, weights.shape[1]),
            "parameters": plain(self.parameters, "parameters"),
            "evidence": plain(self.evidence, "evidence"),
            "threshold": checked_threshold(self.threshold),
            "calibration": _checked_calibration(self, len(weights)),
            "output_range": checked_range(self.output_range, self.link, len(weights)),
        }
        vars(self).update(checked)  # frozen for others
        check_decision(self)
        check_statistics(self.column_statistics, len(weights))

    def __reduce__(self) -> tuple[Any, ...]:  # through the constructor: arrays stay read-only
        return LinearModel, tuple(getattr(self, each.name) for each in fields(self))

    def __repr__(self) -> str:
        k, d = self.weights.shape
        what = (
            f"{k} target{'s' * (k > 1)}" if self.classes is None else f"{len(self.classes)} classes"
        )
        return f"LinearModel({self.learner}, {d} features, {what}, link={self.link!r})"

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.weights.shape[1])

    @property
    def n_scores(self) -> int:
        """Number of scores k."""
        return len(self.weights)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores w.x + b.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Rows, shape (n, d)
            With an encoder, anything that is not a numeric matrix is encoded first.

        Returns
        -------
        ndarray of float64, shape (n,) if there is one score a row, else (n, k)
        """
        scores = self._scores(X)
        return scores[:, 0] if len(self.weights) == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row, or in regression its number.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Rows, shape (n, d)

        Returns
        -------
        ndarray, shape (n,), or (n, k) in regression with k > 1 targets
        """
        scores = self._scores(X)
        if self.classes is not None:
            return classes_of(scores, self.classes, self.score_threshold)
        numbers = predicted_numbers(self, scores)
        return numbers[:, 0] if len(self.weights) == 1 else numbers

    def predict_one(self, record: Mapping[str, Any]) -> Any:
        """Return the class of one raw record, or in regression its number.

        The result equals ``predict([record])[0]``, but is faster.

        Parameters
        ----------
        record : dict
            The raw columns; the model must have an encoder.

        Returns
        -------
        object
            A label, a number, or in regression with several targets a list of numbers.
        """
        if self.encoder is None:
            raise ValueError(
                f"This {self.learner} model has no encoder, so it cannot read a record. Pass "
                "numeric rows to predict."
            )
        columns = self._columns
        scores = record_scores(self, record, columns)
        if scores is None:
            scores = self._scores([record])[0].tolist()
        if columns.classes is not None:
            return class_of_scores(scores, columns.classes, self.score_threshold)
        numbers = predicted_numbers(self, np.array(scores)).tolist()
        return numbers[0] if len(numbers) == 1 else numbers

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, if the link or a calibration defines them.

        Logistic: the sigmoid of the score; for more than two classes the sigmoids divided by their
        sum. Softmax: the softmax of the scores. With a calibration: as logistic, of slope times
        score plus offset.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Rows, shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n, number of classes)
        """
        if self.classes is None or (self.link == "score" and self.calibration is None):
            use = (
                "predict"
                if self.classes is None
                else "decision_function (its sign or size) or predict"
            )
            raise AttributeError(
                f"This {self.learner} model has no predict_proba: its link is {self.link!r}, "
                f"whose scores are not probabilities. Use {use}, or train a logistic model."
            )
        probabilities = model_probabilities(self, self._scores(X))
        assert probabilities is not None
        return probabilities

    def evaluate(
        self, X: Any, y: Any, sample_weight: Any = None, positive: Any = None
    ) -> Evaluation:
        """Evaluate predictions on labelled rows.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Rows, shape (n, d)
        y : array-like, shape (n,), or (n, k) in regression with k > 1 targets
            True classes or values.
        sample_weight : array-like, shape (n,), optional
            Sample weights; rows of weight 0 are excluded.
        positive : object, optional
            Positive class of precision, recall and related metrics. By default the second of two;
            for three or more the mean over the classes.

        Returns
        -------
        Evaluation
            Metrics, with those of the best constant prediction.
        """
        from separable.model.metrics.evaluation import evaluation
        from separable.model.metrics.metric_registry import predictions_of

        return evaluation(predictions_of(self, X), y, sample_weight, positive)

    def explain(self, X: Any, feature_names: Sequence[str] | None = None) -> Explanation:
        """Return the contribution of each feature to each score.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Rows, shape (n, d)
        feature_names : sequence of str, optional
            Names to show instead of the model's.

        Returns
        -------
        Explanation
            Contributions are computed on demand, and sparse rows stay sparse.
        """
        from separable.model.explain.explanation import Explanation

        rows = model_rows(self, X)
        names = checked_names(feature_names, self.n_features, "feature_names") or self.feature_names
        return Explanation(self, rows, linear_scores(rows, self.weights, self.intercept), names)

    def top_weights(self, n: int = 10) -> TopWeights:
        """Return the n largest positive and negative weights of each class.

        Parameters
        ----------
        n : int, default 10

        Returns
        -------
        TopWeights
        """
        from separable.model.explain.top_weights import top_weights

        return top_weights(self, n)

    def merge(self, *others: LinearModel, weights: Sequence[float] | None = None) -> LinearModel:
        """Merge this model with others trained on other rows.

        Parameters
        ----------
        *others : LinearModel
            Models of the same learner, features and classes.
        weights : sequence of float, optional
            Weight of each model, this one first. By default the rows each has seen.

        Returns
        -------
        LinearModel
            Online learners: the weighted average, marked approximate. Others raise an error.
        """
        from separable.model.merge import merge_models

        return merge_models((self, *others), weights)

    def save(self, path: str | os.PathLike[str], *, include_state: bool = False) -> None:
        """Write the model to a safetensors file, atomically.

        Parameters
        ----------
        path : str or path
        include_state : bool, default False
            Also write the training state, so that training can be resumed.
        """
        from separable.model.files.model_file import save

        save(self, path, include_state=include_state)

    def weights_at(
        self, rows: Rows, scores: NDArray[np.float64], indices: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weight of each value of rows, and the intercept of each row.

        Parameters
        ----------
        rows : Rows
        scores : ndarray of float64, shape (n, k)
            Scores of the rows.
        indices : ndarray of int, shape (n,)
            Index of the score of each row.

        Returns
        -------
        weights : ndarray of float64
            In the shape of ``rows.values``: weight times value is the contribution.
        intercepts : ndarray of float64, shape (n,)
        """
        del scores  # the weights are the same for every row
        weights, intercepts = self.weights, self.intercept[indices]
        if len(indices) and (indices == indices[0]).all():
            one = weights[indices[0]]
            return one if rows.indices is None else one[rows.indices], intercepts
        if rows.indptr is None or rows.indices is None:
            return weights[indices], intercepts
        return weights[np.repeat(indices, np.diff(rows.indptr)), rows.indices], intercepts

    @cached_property
    def score_threshold(self) -> float:
        """Score above which the second of two classes is predicted; 0 without a decision."""
        return score_threshold(self)

    @cached_property
    def _columns(self) -> WeightColumns:
        return WeightColumns(self)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        if type(X) is list and len(X) == 1 and self.encoder is not None:
            scores = record_scores(self, X[0], self._columns)
            if scores is not None:
                return np.array([scores])
        if self.threshold is not None:
            return linear_scores(model_rows(self, X), self.weights, self.intercept)
        rows = encoded_rows(self, X, check_values=False)
        names = None if self.encoder is not None else column_names(X) or self.feature_names
        return linear_scores(rows, self.weights, self.intercept, names)


def _checked_calibration(model: LinearModel, k: int) -> NDArray[np.float64] | None:
    """Return the validated slopes and offsets."""
    if model.calibration is None:
        return None
    pairs = checked_numbers(model.calibration, "calibration", ndim=2)
    if pairs.shape != (k, 2):
        raise ValueError(
            f"calibration must have slope and offset of each of {k} scores, shape {(k, 2)}. Got "
            f"shape {pairs.shape}."
        )
    if (pairs[:, 0] < 0).any():
        raise ValueError(
            f"calibration must have slopes >= 0: a larger score is more likely. Got {pairs[:, 0]}."
        )
    if model.link != "score":
        raise ValueError(
            f"calibration is for scores, link 'score'. The link is {model.link!r}, which already "
            "defines their meaning."
        )
    return pairs


def _check_shapes(
    weights: NDArray[np.float64], intercept: NDArray[np.float64], classes: NDArray[Any] | None
) -> None:
    k, d = weights.shape
    if k == 0 or d == 0:
        raise ValueError(f"weights must have at least one row and one column. Got shape {(k, d)}.")
    if len(intercept) != k:
        raise ValueError(
            f"intercept must have one number for each of {k} rows of weights. Got {len(intercept)}."
        )
    check_score_count(k, classes, "weights")
