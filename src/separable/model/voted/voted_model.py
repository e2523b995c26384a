"""Model of the voted perceptron: many weight vectors with vote counts.

It is not linear, so it is not a ``LinearModel``. The vectors are not stored: each is the previous
one plus a multiple of a training row, and those rows are stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from separable.data.rows import Rows
from separable.model.arrays import (
    check_score_count,
    check_words,
    checked_classes,
    checked_names,
    names_of_features,
)
from separable.model.files.json_values import JSON, plain
from separable.model.linear_model import Family, LinearModel, Link, TrainingState
from separable.model.predict.inputs import model_rows
from separable.model.predict.probability import classes_of
from separable.model.predict.scores import linear_scores, refuse_overflow
from separable.model.voted.voters import (
    Voters,
    check_steps,
    checked_mistaken,
    mean_weights,
    shared_votes,
)
from separable.model.words import feature_name

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from separable._core import native
    from separable.features.base import Encoder
    from separable.model.explain.explanation import Explanation
    from separable.model.explain.top_weights import TopWeights
    from separable.model.files.training_rows import TrainingRows
    from separable.model.metrics.evaluation import Evaluation

__all__ = ["VotedModel"]


@dataclass(frozen=True, eq=False)
class VotedModel:
    """Votes of many weight vectors: score(x) = sum of c_k sign(w_k.x + b_k), with sign(0) = 0.

    Two classes: a score > 0 is ``classes[1]``. More: one vote per class, the largest wins, the
    first in a tie. The score is the plain sum of votes, at most the sum of the counts c_k.

    The vectors are prefix sums along ``mistaken``, rows of the training data, which the model and
    its file contain. Prediction multiplies each row with all of them.

    Parameters
    ----------
    mistaken : Rows
        Rows that changed the weights, dense or CSR, float32 or float64.
    voters : Voters
        Steps along them and counts: one model for up to two classes, else one per class.
    classes : array-like
        Sorted labels: bool, int, float or str.
    feature_names, encoder, learner, parameters, family, evidence, state, training_rows
        As in ``LinearModel``.

    Examples
    --------
    >>> from separable import VotedPerceptron
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> votes = VotedPerceptron(shuffle=False).fit(X, [0, 0, 0, 1]).model_
    >>> votes.predict(X).tolist()
    [0, 0, 0, 1]
    >>> votes
    VotedModel(VotedPerceptron, 2 features, 2 classes, 4 mistaken rows, 18 voters)
    """

    mistaken: Rows
    voters: Voters
    classes: NDArray[Any]
    feature_names: Sequence[str] | None = None
    encoder: Encoder | None = None
    learner: str = "VotedModel"
    parameters: Mapping[str, JSON] = field(default_factory=dict)
    family: Family | None = "online"
    evidence: Mapping[str, JSON] = field(default_factory=dict)
    state: TrainingState | None = None
    training_rows: TrainingRows | None = None

    #: A vote is a score, not a probability.
    link: ClassVar[Link] = "score"
    threshold: ClassVar[None] = None
    decision: ClassVar[None] = None
    output_range: ClassVar[None] = None
    score_threshold: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        classes = checked_classes(self.classes)
        check_words(self, classes)
        check_score_count(len(self.voters), classes, "base_counts")
        mistaken = checked_mistaken(self.mistaken)
        check_steps(self.voters, mistaken)
        checked = {
            "mistaken": mistaken,
            "classes": classes,
            "feature_names": names_of_features(
                self.feature_names, self.encoder, mistaken.n_features
            ),
            "parameters": plain(self.parameters, "parameters"),
            "evidence": plain(self.evidence, "evidence"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:  # through the constructor: arrays stay read-only
        return VotedModel, tuple(getattr(self, each.name) for each in fields(self))

    def __repr__(self) -> str:
        return (
            f"VotedModel({self.learner}, {self.n_features} features, {len(self.classes)} classes, "
            f"{self.mistaken.n_rows} mistaken rows, {sum(self.voters.number())} voters)"
        )

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return self.mistaken.n_features

    @property
    def n_scores(self) -> int:
        """Number of scores k."""
        return len(self.voters)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the votes.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Rows, shape (n, d)
            With an encoder, anything that is not a numeric matrix is encoded first.

        Returns
        -------
        ndarray of float64, shape (n,) up to two classes, else (n, k)
        """
        votes = self._votes(model_rows(self, X))
        return votes[:, 0] if self.n_scores == 1 else votes

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Rows, shape (n, d)

        Returns
        -------
        ndarray, shape (n,)
        """
        return classes_of(self._votes(model_rows(self, X)), self.classes)

    def evaluate(
        self, X: Any, y: Any, sample_weight: Any = None, positive: Any = None
    ) -> Evaluation:
        """Evaluate predictions; see ``LinearModel.evaluate``."""
        from separable.model.metrics.evaluation import evaluation
        from separable.model.metrics.metric_registry import predictions_of

        return evaluation(predictions_of(self, X), y, sample_weight, positive)

    def explain(self, X: Any, feature_names: Sequence[str] | None = None) -> Explanation:
        """Return the contribution of each feature to each vote.

        The votes of each voter are split among the features in proportion to their terms of its
        score: c sign(s) = (c / |s|) s. So the votes at x are those of one weight vector for x, the
        sum of (c_k / |s_k|) w_k. A voter within 1e-9 of its boundary, relative to its terms, has no
        meaningful contributions: its votes are in the intercept.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Rows, shape (n, d)
        feature_names : sequence of str, optional
            Names to show instead of the model's.

        Returns
        -------
        Explanation
            Weights are computed on demand; each row costs one pass over the mistaken rows.
        """
        from separable.model.explain.explanation import Explanation

        rows = model_rows(self, X)
        names = checked_names(feature_names, self.n_features, "feature_names") or self.feature_names
        return Explanation(self, rows, self._votes(rows), names)

    def weights_at(
        self, rows: Rows, scores: NDArray[np.float64], which: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weight of each value of rows, and the intercept of each row.

        See ``LinearModel.weights_at``; here the weights depend on the row.
        """
        fractions = [
            shared_votes(self.mistaken, self.voters, rows.slice(i, i + 1), int(k), scores[i, k])
            for i, k in enumerate(which)  # each is a product with all mistaken rows
        ]
        weights = np.concatenate([np.empty(0), *(each for each, _ in fractions)])
        return weights.reshape(rows.values.shape), np.array([b for _, b in fractions])

    def mean_model(self) -> LinearModel:
        """Return the mean of all voting weight vectors: the averaged perceptron of the same run.

        Returns
        -------
        LinearModel
            A linear model with interpretable weights. Its predictions are close to the votes, not
            equal.
        """
        weights, intercept = mean_weights(self.mistaken, self.voters)
        return LinearModel(
            weights=weights,
            intercept=intercept,
            classes=self.classes,
            link="score",
            feature_names=self.feature_names,
            encoder=self.encoder,
            learner=f"mean of {self.learner}",
            parameters=self.parameters,
            family=self.family,
            evidence=self.evidence,
        )

    def top_weights(self, n: int = 10) -> TopWeights:
        """Return the n largest positive and negative weights of ``mean_model()``, for each class.

        Parameters
        ----------
        n : int, default 10

        Returns
        -------
        TopWeights
        """
        return self._of_columns_in_use().mean_model().top_weights(n)

    def _of_columns_in_use(self) -> VotedModel:
        """Return the model without the columns that no mistaken row has, whose weights are 0."""
        rows, names = self.mistaken, self.feature_names
        if rows.indices is None or rows.indptr is None or self.voters.base_weights is not None:
            return self
        used, inverse = np.unique(rows.indices, return_inverse=True)
        if not len(used):
            used = np.zeros(1, np.intp)
        kept = Rows(rows.values, len(used), inverse.astype(rows.indptr.dtype), rows.indptr)
        names = tuple(feature_name(names, int(column)) for column in used)
        return replace(self, mistaken=kept, feature_names=names, encoder=None)

    def merge(self, *others: object, weights: object = None) -> NoReturn:
        """Raise: the votes of two runs cannot be merged into those of one."""
        del others, weights
        raise ValueError(
            f"This {self.learner} model cannot be merged: votes are counted along one run of "
            "mistakes, and two runs have no common one. Merge the means instead, for example "
            "a.mean_model().merge(b.mean_model()), or add the scores of both models."
        )

    def save(self, path: str | os.PathLike[str], *, include_state: bool = False) -> None:
        """Write the model, including the mistaken training rows, to a file.

        Parameters
        ----------
        path : str or path
        include_state : bool, default False
            Also write the training state, so that training can be resumed.
        """
        from separable.model.files.model_file import save

        save(self, path, include_state=include_state)

    @cached_property
    def _native_voters(self) -> native.Voters:
        from separable._core import native, portable

        mistaken, voters = self.mistaken, self.voters
        return native.Voters(
            portable.Rows(mistaken.values, self.n_features, mistaken.indices, mistaken.indptr),
            row=voters.rows,
            step=voters.steps,
            count=voters.counts,
            start=voters.starts,
            base_count=voters.base_counts,
            fit_intercept=voters.fit_intercept,
        )

    def _votes(self, rows: Rows) -> NDArray[np.float64]:
        from separable._core import portable

        rows = rows.canonical()  # products with mistaken rows are summed in column order
        base = self.voters.base_weights
        if base is None:
            votes = np.tile(self.voters.base_intercept, (rows.n_rows, 1))
        else:
            votes = linear_scores(rows, base, self.voters.base_intercept)
        core = portable.Rows(rows.values, rows.n_features, rows.indices, rows.indptr)
        row = self._native_voters.vote(core, votes)
        if row >= 0:
            refuse_overflow(row)
        return votes
