"""Voted perceptron (Freund and Schapire, 1999)."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import numpy as np

from separable.fitting.base import with_parameters
from separable.model.parameters import COUNT_OR_NONE, Requirement
from separable.model.voted.voted_model import VotedModel
from separable.online.base_perceptron import PerceptronBase
from separable.online.voted_state import VOTED, VotedState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.features.base import Encoder
    from separable.fitting.targets import RowWeights
    from separable.online.base import Targets
    from separable.online.runs import TrainingBatch
    from separable.online.state import OnlineState

__all__ = ["VotedPerceptron"]

#: Largest sample weight: each step of a row stores a voter.
MAX_WEIGHT = 1e6


@with_parameters
class VotedPerceptron(PerceptronBase):
    """Voted perceptron classifier.

    The update is that of ``Perceptron``. The score is the sum of c_k sign(w_k.x + b_k) over all
    intermediate weights w_k, with sign(0) = 0 and c_k the number of presentations after which w_k
    was current (w_0 does not count before the first). Three or more classes are one-vs-rest.

    No weight vector is stored. Each is the previous one plus a multiple of a training row, so the
    model keeps every misclassified row once, and 24 bytes per mistake. The model and its file
    therefore contain training rows. Prediction multiplies a row with all of them. ``max_voters``
    bounds both.

    Parameters
    ----------
    eta0 : float
        The learning rate. From a zero start it changes no prediction.
    ties : {"mistake", "negative", "positive"}
        How training treats a score of exactly 0; see ``Perceptron``. A voter with a score of 0
        always votes 0.
    max_voters : int or None
        Number of weight vectors of each model that vote, counted from the last. None: all.
    warm_start : bool
        ``fit`` continues from the previous fit, including its voters.

    Attributes
    ----------
    model_ : VotedModel
        The fitted model; ``model_.mean_model()`` is the mean of all voters as one
        ``LinearModel``.
    classes_ : ndarray
        The classes, sorted.
    evidence_ : dict
        As for ``AveragedPerceptron``; also ``voters`` of each model, ``stored_rows`` and
        ``stored_bytes``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separable import VotedPerceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> VotedPerceptron().fit(X, y).score(X, y) > 0.9
    True
    """

    _: KW_ONLY
    max_iter: int = 10
    shuffle: bool = True
    random_state: Any = 0
    max_voters: int | None = None

    _averaged: ClassVar[bool] = True  # as for a mean, the data need not be separable
    _requirements: ClassVar[dict[str, Requirement]] = {"max_voters": COUNT_OR_NONE}

    # ------------------------------------------------------------------ overrides

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the votes: (n,) for two classes, else (n, K)."""
        votes: NDArray[np.float64] = super().decision_function(X)
        return votes

    @classmethod
    def from_model(cls, model: Any) -> Self:
        """Return an estimator that continues training from a saved model.

        Parameters
        ----------
        model : VotedModel
            With its training state (``model.save(path, include_state=True)``).

        Returns
        -------
        estimator
            ``partial_fit`` on it continues the stream with the same bits.
        """
        estimator = super().from_model(model)
        if not isinstance(model, VotedModel):
            raise ValueError("The model must be a VotedModel. Got one linear function instead.")
        assert isinstance(estimator._state, VotedState)
        try:
            estimator._state.recall(model)
        except ValueError as error:
            raise ValueError(
                f"The model's training state does not fit the model: {error}. Save it again from "
                "an estimator with include_state=True."
            ) from error
        return estimator

    def _no_weights(self) -> NoReturn:
        raise AttributeError(
            f"{type(self).__name__} has no single weights: all the weights of its run vote. "
            "model_.mean_model() is their mean, with weights and intercept; model_.explain(X) "
            "says what each feature adds to a vote."
        )

    def _set_part(self, name: str, value: NDArray[Any]) -> None:
        del name, value
        self._no_weights()

    coef_ = property(_no_weights, doc="Not available; see ``model_.mean_model()``.")
    intercept_ = property(_no_weights, doc="Not available; see ``model_.mean_model()``.")

    # ------------------------------------------------------------------ steps

    def _make_state(
        self,
        classes: NDArray[Any] | None,
        n_features: int,
        dtype: np.dtype[Any],
        open_classes: bool = False,
    ) -> OnlineState:
        del dtype  # weights are float64, so that they equal the sums of the stored rows
        double = np.dtype(np.float64)
        clock = {"fit_intercept": float(self.fit_intercept)}
        return VotedState(classes, n_features, double, "ovr", VOTED, open_classes, clock=clock)

    def _start(
        self, rows: Rows, classes: NDArray[Any] | None, coef_init: Any, intercept_init: Any
    ) -> OnlineState:
        has_start = coef_init is not None or intercept_init is not None
        if has_start and self.warm_start and getattr(self, "_state", None) is not None:
            raise ValueError(
                "coef_init and intercept_init set the initial weights, warm_start=True continues "
                "from the previous fit: use one of them."
            )
        state = super()._start(rows, classes, coef_init, intercept_init)
        self._check_continuation(state)
        assert isinstance(state, VotedState)
        if has_start:
            state.start_here()
        elif self.eta0 != 1 and not state.lanes["w"].any():
            warnings.warn(
                f"eta0={self.eta0!r} of {type(self).__name__} has no effect from a zero start: it "
                "scales all voters alike. Give coef_init, or leave eta0 at its default.",
                UserWarning,
                stacklevel=3,
            )
        return state

    def _targets(self, y: Any, n_rows: int, sample_weight: Any) -> Targets:
        targets = super()._targets(y, n_rows, sample_weight)
        self._check_weights(targets.counted)
        return targets

    def _check_weights(self, counted: RowWeights) -> None:
        if counted.weight is not None and counted.weight.max() > MAX_WEIGHT:
            raise ValueError(
                f"The largest weight of a row is {counted.weight.max():g}, and "
                f"{type(self).__name__} keeps every step of a row: at most {MAX_WEIGHT:.0f} is "
                "possible. Divide all weights by the same number."
            )

    def _check_continuation(self, state: OnlineState) -> None:
        assert isinstance(state, VotedState)
        if state.fit_intercept != bool(self.fit_intercept):
            raise ValueError(
                f"fit_intercept was {state.fit_intercept} when the learning began and cannot "
                f"become {bool(self.fit_intercept)}. Start a new estimator."
            )

    def _learn_chunk(self, state: OnlineState, batch: TrainingBatch) -> None:
        self._check_weights(batch.counted)
        super()._learn_chunk(state, batch)
        assert isinstance(state, VotedState)
        state.settle_now_and_then(self.max_voters)

    def _build_model(  # type: ignore[override]  # votes are not one linear function
        self,
        state: OnlineState,
        names: Sequence[str] | None,
        evidence: dict[str, Any],
        encoder: Encoder | None = None,
    ) -> VotedModel:
        assert isinstance(state, VotedState)
        state.settle(self._as_learned("max_voters"))
        mistaken, voters = state.voters()
        stored = {
            "voters": voters.number(),
            "stored_rows": mistaken.n_rows,
            "stored_bytes": sum(array.nbytes for array in mistaken.arrays()),
        }
        return VotedModel(
            mistaken=mistaken,
            voters=voters,
            classes=state.labels,
            feature_names=names,
            encoder=encoder,
            learner=type(self).__name__,
            parameters=self._plain_parameters(),
            family="online",
            evidence=evidence | stored,
        )
