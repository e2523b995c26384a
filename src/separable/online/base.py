"""Base classes of the online learners and regressors: columns, fitted model, streams."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from separable.data.rows import as_rows, largest_magnitude
from separable.fitting.base import LinearEstimator
from separable.fitting.targets import RowWeights, check_numbers, weigh_rows
from separable.fitting.unused_options import Ineffective, warn_of_ineffective
from separable.model.linear_model import LinearModel
from separable.model.parameters import ParameterError, check_parameters
from separable.online.poor_fit import warn_of_poor_stream
from separable.online.runs import TrainingBatch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.features.base import Encoder
    from separable.model.linear_model import Link
    from separable.online.state import OnlineState

__all__ = ["OnlineEstimator", "OnlineRegressor"]

UNSHUFFLED = Ineffective(
    "random_state",
    lambda learner: not learner.shuffle and not getattr(learner, "early_stopping", False),
    "with shuffle=False: rows are taken in the given order",
    "Use shuffle=True, or leave random_state at its default.",
)


class OnlineEstimator(LinearEstimator):
    """Base of learners that process one row at a time and can be continued."""

    eta0: Any
    fit_intercept: bool
    random_state: Any

    n_iter_: int
    _state: OnlineState

    _ineffective: ClassVar[tuple[Ineffective, ...]] = (UNSHUFFLED,)
    #: Ineffective parameters to report in streams, which have no epochs.
    _ineffective_in_streams: ClassVar[tuple[Ineffective, ...]] = ()

    # ------------------------------------------------------------------ hooks

    def _make_state(
        self,
        classes: NDArray[Any] | None,
        n_features: int,
        dtype: np.dtype[Any],
        open_classes: bool = False,
    ) -> OnlineState:
        """Return the initial state."""
        raise NotImplementedError

    def _ignores_scale(self) -> bool:
        """Return whether training is invariant to the scale of the columns."""
        return False

    def _ignores_shift(self) -> bool:
        """Return whether training is invariant to the means of the columns."""
        return False

    def _describe_stream(self, state: OnlineState) -> dict[str, Any]:
        """Return the evidence of a stream."""
        return {"updates": state.updates, "rows_seen": state.rows_seen}

    def _check_continuation(self, state: OnlineState) -> None:
        """Refuse parameters that cannot change during a stream."""

    # ------------------------------------------------------------------ the model

    @property
    def model_(self) -> LinearModel:
        """The model trained so far, with its training state."""
        model = self._weights_only()
        if model.state is None:
            model = self._model = replace(model, state=self._state.to_training_state())
        return model

    def _weights_only(self) -> LinearModel:
        """Return the model for prediction; its training state may not be copied yet."""
        check_is_fitted(self)
        if self._model is None:
            self._model = self._build_model(
                self._state, self._column_names, self._describe_stream(self._state), self._encoder
            )
        return self._model

    @classmethod
    def from_model(cls, model: LinearModel) -> Self:
        """Return an estimator that continues training from a saved model.

        Parameters
        ----------
        model : LinearModel
            A model of this learner with training state (``model.save(path, include_state=True)``).

        Returns
        -------
        estimator
            ``partial_fit`` on it continues the stream with the same bits.
        """
        if model.learner != cls.__name__:
            raise ValueError(f"The model was learned by {model.learner}, not by {cls.__name__}.")
        if model.state is None:
            raise ValueError(
                "The model has no training state to continue from. Save it with include_state=True."
            )
        estimator = cls._with_parameters_of(model)
        estimator.n_features_in_ = model.n_features
        estimator._column_names, estimator._encoder = model.feature_names, model.encoder
        if model.feature_names is not None and model.encoder is None:
            estimator.feature_names_in_ = np.array(model.feature_names, dtype=object)
        state = estimator._make_state(
            None if model.classes is None else np.array(model.classes),
            model.n_features,
            _weights_dtype(model.state.tensors),
            model.state.values.get("open_classes") is True,
        )
        state.restore(model.state)
        estimator._state, estimator._model = state, model
        estimator.n_iter_ = 1
        return estimator

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_state", None) is not None

    # ------------------------------------------------------------------ steps

    def _keep_chunk(self, X: Any, state: OnlineState, n_rows: int) -> None:
        """Store a state that was trained on the next rows of a stream."""
        state.rows_seen += n_rows
        if not self.__sklearn_is_fitted__():
            self._remember_columns(X)
        self._state, self._model = state, None
        self.n_iter_ = 1

    def _check_stream_parameters(self, state: OnlineState | None) -> None:
        """Check the parameters at the first call and after every change."""
        values = self.__dict__
        now = [values[name] for name in self._requirements]
        if now == getattr(self, "_checked", None):
            return
        check_parameters(self, self._requirements)
        warn_of_ineffective(self, self._ineffective_in_streams)
        if state is not None:
            self._check_continuation(state)
            self._check_eta(state.dtype)
        self._checked = now

    def _check_eta(self, dtype: np.dtype[Any]) -> None:
        held = np.finfo(dtype)
        if not float(held.tiny) <= self.eta0 <= float(held.max):
            raise ParameterError(
                f"The 'eta0' parameter of {type(self).__name__} must be a number that {dtype}, "
                f"the type of the data, can hold. Got {self.eta0!r} instead."
            )

    def _foresee(
        self, state: OnlineState, rows: Rows, largest: float, steps: float
    ) -> tuple[bool, float | None]:
        """Return whether a chunk cannot fail, and a bound on |weight| after it, or None.

        A chunk that may fail, by overflow or because it can be interrupted, is trained on a copy
        of the state.
        """
        del state, rows, largest, steps
        return False, None

    def _build_model(
        self,
        state: OnlineState,
        names: Sequence[str] | None,
        evidence: dict[str, Any],
        encoder: Encoder | None = None,
    ) -> LinearModel:
        weights, intercept = state.weights()
        return LinearModel(
            weights=weights,
            intercept=intercept,
            classes=state.classes,
            link=self._link(),
            feature_names=names,
            encoder=encoder,
            learner=type(self).__name__,
            parameters=self._plain_parameters(),
            family="online",
            evidence=evidence,
        )

    def _plain_parameters(self) -> dict[str, Any]:
        parameters = super()._plain_parameters()
        for name in {"eta0", "max_work"} & parameters.keys():
            if not isinstance(parameters[name], str | None):
                parameters[name] = float(parameters[name])
        return parameters


class OnlineRegressor(RegressorMixin, OnlineEstimator):
    """Base of regressors that process one row at a time."""

    # ------------------------------------------------------------------ hooks

    def _learn_chunk(self, state: OnlineState, batch: TrainingBatch) -> None:
        """Train on the next rows of a stream, once, in order."""
        raise NotImplementedError

    def _link(self) -> Link:
        return "identity"

    # ------------------------------------------------------------------ streams

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on the next rows of a stream, once, in the given order.

        The result is bit-identical for any chunking of the same rows, and to ``fit`` with
        ``shuffle=False, max_iter=1``.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
            The next rows.
        y : array-like of shape (n,)
            Their targets.
        sample_weight : array-like of shape (n,), optional
            As in ``fit``.

        Returns
        -------
        self
        """
        state: OnlineState | None = getattr(self, "_state", None)
        self._check_stream_parameters(state)
        rows = as_rows(X, check_values=False) if state is None else self._check_rows(X)
        largest = largest_magnitude(rows, X)
        y = check_numbers(y, rows.n_rows, type(self).__name__)
        counted = weigh_rows(sample_weight, None, y)
        rows, y, counted = self._drop_absent(rows, y, counted)
        if rows.n_rows == 0:
            return self
        if state is None:
            self._check_eta(rows.values.dtype)
            state = self._make_state(None, rows.n_features, rows.values.dtype)
        elif not self._foresee(state, rows, largest, counted.presentations(rows.n_rows))[0]:
            state = state.copy()  # a failure leaves the stream unchanged
        if rows.values.dtype != state.dtype:
            rows = state.cast(rows, largest)
        batch = TrainingBatch.of(rows, y, counted)
        self._learn_chunk(state, batch)
        self._keep_chunk(X, state, batch.n_counted)
        warn_of_poor_stream(self, state.rows_seen, batch, y)
        return self

    # ------------------------------------------------------------------ all rows at once

    def _weigh(self, y: NDArray[np.float64], sample_weight: Any) -> RowWeights:
        """Return the row weights; at least one is positive."""
        counted = weigh_rows(sample_weight, None, y)
        if counted.rows is not None and len(counted.rows) == 0:
            raise ValueError("Every sample weight is zero, so no row is left to learn from.")
        return counted

    # ------------------------------------------------------------------ predicting

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights, (d,)."""
        weights: NDArray[np.float64] = self._weights_only().weights[0]
        return weights

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return w.x + b for each row."""
        return self._weights_only().predict(self._finite_rows(X))


def _weights_dtype(tensors: Mapping[str, NDArray[Any]]) -> np.dtype[Any]:
    """Return the dtype of the weights of a saved state."""
    for name in ("w", "wa"):
        if name in tensors and tensors[name].dtype in (np.float32, np.float64):
            return tensors[name].dtype
    return np.dtype(np.float64)
