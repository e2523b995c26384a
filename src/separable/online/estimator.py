"""What every online learner shares: columns, the model it ends in, going on from a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import (  # type: ignore[attr-defined]  # newer than the stubs
    check_is_fitted,
    validate_data,
)

from separable.data.rows import (
    Rows,
    as_rows,
    column_names,
    is_scipy_sparse,
    largest_magnitude,
)
from separable.model.linear_model import LinearModel, Link
from separable.model.parameters import ParameterError, Requirement, check_parameters
from separable.online.targets import RowWeights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from separable.features.encoder import Encoder
    from separable.online.state import OnlineState

__all__ = ["OnlineEstimator"]


class OnlineEstimator(BaseEstimator):
    """A learner that sees one row at a time and can go on from where it stopped."""

    _requirements: ClassVar[dict[str, Requirement]]

    eta0: float
    fit_intercept: bool
    random_state: Any

    n_features_in_: int
    feature_names_in_: NDArray[Any]
    n_iter_: int
    _state: OnlineState
    _model: LinearModel | None
    _column_names: tuple[str, ...] | None
    _encoder: Encoder | None

    # ------------------------------------------------------------------ what a learner says

    def _make_state(
        self,
        classes: NDArray[Any] | None,
        n_features: int,
        dtype: np.dtype[Any],
        open_classes: bool = False,
    ) -> OnlineState:
        """Return the state before the first row."""
        raise NotImplementedError

    def _link(self) -> Link:
        """Return what a score means."""
        return "score"

    def _describe_stream(self, state: OnlineState) -> dict[str, Any]:
        """Return the evidence of a stream."""
        return {"updates": state.updates, "rows_seen": state.rows_seen}

    def _check_continuation(self, state: OnlineState) -> None:
        """Refuse parameters that cannot change while a stream goes on."""

    # ------------------------------------------------------------------ the model

    @property
    def model_(self) -> LinearModel:
        """The model learned so far, with the state that lets it be continued."""
        model = self._weights_only()
        if model.state is None:
            model = self._model = replace(model, state=self._state.to_training_state())
        return model

    def _weights_only(self) -> LinearModel:
        """Return the model as predicting needs it; its training state may not be copied yet."""
        check_is_fitted(self)
        if self._model is None:
            self._model = self._build_model(
                self._state, self._column_names, self._describe_stream(self._state), self._encoder
            )
        return self._model

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights, (k, d): one row for two classes, else one a class."""
        return self._weights_only().weights

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercepts, (k,)."""
        return self._weights_only().intercept

    @property
    def evidence_(self) -> dict[str, Any]:
        """What the run did and what it proves; see the class."""
        return dict(self._weights_only().evidence)

    @classmethod
    def from_model(cls, model: LinearModel) -> Self:
        """Return an estimator that goes on learning where a saved model stopped.

        Parameters
        ----------
        model : LinearModel
            Of this learner, with its training state (``model.save(path, include_state=True)``).

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
        parameters: dict[str, Any] = dict(model.parameters)
        if isinstance(parameters.get("class_weight"), list):
            parameters["class_weight"] = dict(parameters["class_weight"])
        estimator = cls(**parameters)
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # newer than the stubs
        tags.input_tags.sparse = True
        return tags

    # ------------------------------------------------------------------ steps

    def _check_rows(self, X: Any) -> Rows:
        """Turn X into rows, not yet known to be finite, with the columns learned from."""
        rows = as_rows(X, check_values=False)
        if rows.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {rows.n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        nameless = type(X) is np.ndarray or type(X) is Rows or is_scipy_sparse(X)
        if not nameless or "feature_names_in_" in self.__dict__:
            validate_data(self, X, reset=False, skip_check_array=True)
        return rows

    def _finite_rows(self, X: Any) -> Rows:
        rows = self._check_rows(X)
        largest_magnitude(rows, X)
        return rows

    def _drop_absent(
        self, rows: Rows, y: NDArray[Any], counted: RowWeights
    ) -> tuple[Rows, NDArray[Any], RowWeights]:
        """Return the rows of a chunk that count; absent ones bring no classes either."""
        if counted.rows is None or counted.weight is None:
            return rows, y, counted
        weight = counted.weight[counted.rows]
        return rows.take(counted.rows), y[counted.rows], RowWeights(None, weight)

    def _keep_chunk(self, X: Any, state: OnlineState, n_rows: int) -> None:
        """Take over a state that has learned the next rows of a stream."""
        state.rows_seen += n_rows
        if not self.__sklearn_is_fitted__():
            self._remember_columns(X)
        self._state, self._model = state, None
        self.n_iter_ = 1

    def _remember_columns(self, X: Any) -> None:
        validate_data(self, X, reset=True, skip_check_array=True)
        self._column_names = column_names(X)
        self._encoder = None

    def _check_parameters(self) -> None:
        """Check the parameters of a fit, which are then those learned with."""
        self._checked: list[Any] | None = None
        check_parameters(self, self._requirements)

    def _as_learned(self, name: str) -> Any:
        """Return a parameter as it was at the last learning; it may have been set since."""
        checked = getattr(self, "_checked", None)
        if checked is None:
            return getattr(self, name)
        return checked[list(self._requirements).index(name)]

    def _check_stream_parameters(self, state: OnlineState | None) -> None:
        """Check the parameters at the first call and whenever they changed."""
        values = self.__dict__
        now = [values[name] for name in self._requirements]
        if now == getattr(self, "_checked", None):
            return
        check_parameters(self, self._requirements)
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
        """Say whether a chunk cannot fail half way, and bound every |weight| after it, or None.

        A chunk that may fail, by overflow or because it is long enough to be interrupted, is
        learned on a copy of the state.
        """
        del state, rows, largest, steps
        return False, None

    def _build_model(
        self,
        state: OnlineState,
        names: tuple[str, ...] | None,
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
        """Return the parameters as a model file can keep them."""
        parameters = {name: self._as_learned(name) for name in self.get_params(deep=False)}
        if not isinstance(parameters.get("random_state"), int | np.integer | None):
            parameters["random_state"] = None
        for name, value in parameters.items():
            if isinstance(value, np.generic):
                parameters[name] = value.item()
        for name in {"eta0", "max_work"} & parameters.keys():
            if parameters[name] is not None:
                parameters[name] = float(parameters[name])
        if isinstance(parameters.get("class_weight"), dict):
            parameters["class_weight"] = [[c, w] for c, w in parameters["class_weight"].items()]
        return parameters


def _weights_dtype(tensors: Mapping[str, NDArray[Any]]) -> np.dtype[Any]:
    """Return the type that a saved state was trained in."""
    for name in ("w", "wa"):
        if name in tensors and tensors[name].dtype in (np.float32, np.float64):
            return tensors[name].dtype
    return np.dtype(np.float64)
