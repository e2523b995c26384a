"""Base class of the online learners: fitted model, streams, new classes."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from separable.data.rows import as_rows, largest_magnitude
from separable.estimator import available_if, check_is_fitted, convergence_warning, is_classifier
from separable.fitting.base import Ineffective, LinearEstimator, warn_of_ineffective
from separable.fitting.targets import (
    RowWeights,
    check_class_weight,
    check_labels,
    check_numbers,
    find_classes,
    sorted_classes,
    weigh_rows,
)
from separable.model.linear_model import LinearModel
from separable.model.parameters import ParameterError, check_parameters
from separable.online.poor_fit import is_check_due, poor_fit_message
from separable.online.runs import TrainingBatch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.features.base import Encoder
    from separable.online.state import OnlineState

__all__ = [
    "UNSHUFFLED",
    "OnlineEstimator",
    "Targets",
    "partial_fit_classes",
    "partial_fit_numbers",
]

UNSHUFFLED = Ineffective(
    "random_state",
    lambda learner: not learner.shuffle and not getattr(learner, "early_stopping", False),
    "with shuffle=False: rows are taken in the given order",
    "Use shuffle=True, or leave random_state at its default.",
)


class Targets(NamedTuple):
    """Targets (class index or number) and weights of all rows, and the classes if there are any."""

    target: NDArray[Any]
    counted: RowWeights
    classes: NDArray[Any] | None

    @property
    def y(self) -> NDArray[Any]:
        """The targets as the caller gave them."""
        return self.target if self.classes is None else self.classes[self.target]


class OnlineEstimator(LinearEstimator):
    """Base of learners that process one row at a time and can be continued.

    Parameters
    ----------
    shuffle : bool
        Shuffle the rows before each epoch; otherwise take them in the given order.
    random_state : int, RandomState or None
        Seed for shuffling.
    max_iter : int
        Maximum number of epochs.
    warm_start : bool
        ``fit`` starts from the weights of the previous fit.

    Attributes
    ----------
    model_ : LinearModel
        The fitted model; it predicts, explains, saves and merges.
    coef_, intercept_, classes_ : ndarray
        Those of ``model_``.
    n_iter_ : int
        Number of epochs.
    t_ : float
        1 + the number of steps, one a row and epoch, as scikit-learn counts them.
    """

    eta0: Any
    fit_intercept: bool
    random_state: Any
    warm_start: bool
    class_weight: Any = None  # regressors have none

    n_iter_: int
    t_: float
    _state: OnlineState

    _family = "online"
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

    def _fit_rows(self, X: Any, rows: Rows, targets: Targets, state: Any) -> Self:
        """Run the epochs of ``fit`` from the initial state, and keep the model."""
        raise NotImplementedError

    def _learn_chunk(self, state: OnlineState, batch: TrainingBatch) -> None:
        """Train on the next rows of a stream, once, in order."""
        raise NotImplementedError

    def _can_stream(self) -> bool:
        """Return True, or raise AttributeError with the reason why ``partial_fit`` is missing."""
        return True

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

    def _take_model(self, model: LinearModel) -> None:
        """Keep a model that was set; a stream goes on from its weights."""
        classes, k = model.classes, model.n_scores
        dtype = self._state.dtype if self.__sklearn_is_fitted__() else np.dtype(np.float64)
        self._state = self._make_state(classes, model.n_features, dtype)
        self._state.take_start("w", "coef_", model.weights, (k, model.n_features))
        self._state.take_start("b", "intercept_", model.intercept, (k,))
        self._model = model

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
        estimator.n_iter_, estimator.t_ = 1, 1.0 + state.rows_seen
        return estimator

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_state", None) is not None

    # ------------------------------------------------------------------ fit

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Fit the model to all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
            float32 and float64 are used without conversion.
        y : array-like of shape (n,)
            The class of each row, at least two, or the number to predict.
        coef_init : array-like of shape (k, d) or (d,), optional
            Initial weights; default zeros.
        intercept_init : float or array-like of shape (k,), optional
            Initial intercepts; default zeros.
        sample_weight : array-like of shape (n,), optional
            A row of weight k + f (k an integer, 0 <= f < 1) is presented k times in a row and once
            more with its step scaled by f; ``BatchPerceptron`` counts it as k + f rows. Rows of
            weight 0 are ignored.

        Returns
        -------
        self
        """
        self.check_parameters()
        rows = as_rows(X)
        targets = self._targets(y, rows.n_rows, sample_weight)
        self._check_eta(rows.values.dtype)
        state = self._start(rows, targets.classes, coef_init, intercept_init)
        return self._fit_rows(X, rows, targets, state)

    def _keep(self, X: Any, state: OnlineState, model: LinearModel, epochs: int) -> Self:
        """Store the result of a fit."""
        self._remember_columns(X)
        self._state, self._model = state, model
        self.n_iter_, self.t_ = epochs, 1.0 + epochs * state.rows_seen
        return self

    # ------------------------------------------------------------------ targets

    def _check_targets(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Return the classes or numbers of the rows as an array."""
        check = check_labels if is_classifier(self) else check_numbers
        return check(y, n_rows, type(self).__name__)

    def _targets(self, y: Any, n_rows: int, sample_weight: Any) -> Targets:
        """Return the targets and weights of all rows of ``fit``; at least one weight is positive.

        The class index of rows without weight is 0.
        """
        y = self._check_targets(y, n_rows)
        counted = weigh_rows(sample_weight, self.class_weight, y)
        if counted.rows is not None and len(counted.rows) == 0:
            raise ValueError("Every sample weight is zero, so no row is left to learn from.")
        if not is_classifier(self):
            return Targets(y, counted, None)
        every = sorted_classes(y)
        check_class_weight(self.class_weight, every)
        classes = every if counted.rows is None else sorted_classes(y[counted.rows])
        self._refuse_one_class(classes)
        label = np.maximum(find_classes(y, classes), 0).astype(np.int32)
        return Targets(label, counted, classes)

    def _start(
        self, rows: Rows, classes: NDArray[Any] | None, coef_init: Any, intercept_init: Any
    ) -> Any:
        """Return the initial state of ``fit``: zeros, ``coef_init``, or the previous fit."""
        state = self._make_state(classes, rows.n_features, rows.values.dtype)
        previous: OnlineState | None = getattr(self, "_state", None)
        if self.warm_start and previous is not None:
            state.continue_from(previous)
        k = 1 if classes is None or len(classes) == 2 else len(classes)
        state.take_start("w", "coef_init", coef_init, (k, rows.n_features))
        state.take_start("b", "intercept_init", intercept_init, (k,))
        return state

    # ------------------------------------------------------------------ streams

    def _stream(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        """Train on the next rows of a stream, as ``partial_fit`` of both kinds does."""
        state: OnlineState | None = getattr(self, "_state", None)
        labels = is_classifier(self)
        rows = as_rows(X, check_values=False) if state is None else self._check_rows(X)
        largest = largest_magnitude(rows, X)
        y = self._check_targets(y, rows.n_rows)
        counted = weigh_rows(sample_weight, self.class_weight, y)
        rows, y, counted = self._drop_absent(rows, y, counted)
        if rows.n_rows == 0:
            return self
        announced = None if classes is None else self._check_announced(classes, state)
        first = state is None
        if state is None:
            self._check_eta(rows.values.dtype)
            known = np.unique(y) if labels and announced is None else announced
            is_open = labels and announced is None
            state = self._make_state(known, rows.n_features, rows.values.dtype, is_open)
        target = find_classes(y, state.labels) if labels else y
        safe, weight_bound = self._foresee(state, rows, largest, counted.presentations(rows.n_rows))
        new_classes = labels and np.minimum.reduce(target) < 0
        if new_classes or not (first or safe):
            state = state.copy()  # a failure leaves the stream unchanged
        if new_classes:
            target = self._meet_classes(state, y, target < 0)
        if rows.values.dtype != state.dtype:
            rows = state.cast(rows, largest)
        batch = TrainingBatch.of(rows, target, counted)
        self._learn_chunk(state, batch)
        state.weight_bound = weight_bound
        state.rows_seen += batch.n_counted
        if first:
            self._remember_columns(X)
        self._state, self._model = state, None
        self.n_iter_, self.t_ = 1, getattr(self, "t_", 1.0) + batch.n_counted
        if is_check_due(state.rows_seen, batch.n_counted):
            self._warn_of_poor_fit(self.model_, batch, y)
        return self

    def _check_announced(self, classes: Any, state: OnlineState | None) -> NDArray[Any]:
        announced = np.unique(check_labels(classes, len(classes), type(self).__name__))
        if len(announced) < 2:
            raise ValueError(f"classes must name at least two classes, got {classes!r}.")
        if state is not None and not np.array_equal(announced, state.labels):
            raise ValueError(
                f"classes={announced.tolist()} is not the same as on the first call to "
                f"partial_fit: {state.labels.tolist()}. Give it only there."
            )
        check_class_weight(self.class_weight, announced)
        return announced

    def _meet_classes(
        self, state: OnlineState, y: NDArray[Any], new: NDArray[np.bool_]
    ) -> NDArray[np.int32]:
        """Add new classes to the state and return the class index of each label."""
        if not state.open_classes:
            row = int(np.flatnonzero(new)[0])
            raise ValueError(
                f"Row {row} has class {y.tolist()[row]!r}, which is not among the classes that "
                f"fit met or that were announced: {state.labels.tolist()}. Start the stream with "
                "partial_fit and without `classes` to let new classes in."
            )
        state.add_classes(np.unique(y[new]))
        return find_classes(y, state.labels)

    def _check_stream_parameters(self, state: OnlineState | None) -> None:
        """Check the parameters at the first call and after every change."""
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all rows at once and cannot be used with "
                "partial_fit. Give a dict from class to weight instead."
            )
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

    def _warn_of_poor_fit(self, model: Any, batch: TrainingBatch, y: NDArray[Any]) -> None:
        """Warn if the data slows convergence and the model is hardly better than a constant."""
        message = poor_fit_message(
            model,
            batch,
            y,
            name=self._name,
            ignores_scale=self._ignores_scale(),
            ignores_shift=self._ignores_shift(),
        )
        if message is not None:
            warnings.warn(
                f"{type(self).__name__} may have learned little: {message}",
                convergence_warning(),
                stacklevel=4,
            )

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
            family=self._family,
            evidence=evidence,
        )

    def _plain_parameters(self) -> dict[str, Any]:
        parameters = super()._plain_parameters()
        for name in {"eta0", "max_work"} & parameters.keys():
            if not isinstance(parameters[name], str | None):
                parameters[name] = float(parameters[name])
        return parameters


@available_if(lambda learner: learner._can_stream())
def partial_fit_classes(
    self: Any, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
) -> Any:
    """Train on the next rows of a stream, once, in the given order.

    The result is bit-identical for any chunking of the same rows, and to ``fit`` with
    ``shuffle=False, max_iter=1``.

    Parameters
    ----------
    X : array-like, sparse matrix or numeric data frame of shape (n, d)
        The next rows.
    y : array-like of shape (n,)
        Their classes. New classes may appear at any time unless ``classes`` was given.
    classes : array-like, optional
        All classes of the stream; only at the first call. Without it a ghost model is kept,
        from which new classes start.
    sample_weight : array-like of shape (n,), optional
        As in ``fit``.

    Returns
    -------
    self
    """
    self._check_stream_parameters(getattr(self, "_state", None))
    return self._stream(X, y, sample_weight, classes)


def partial_fit_numbers(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
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
    self._check_stream_parameters(getattr(self, "_state", None))
    return self._stream(X, y, sample_weight)


def _weights_dtype(tensors: Mapping[str, NDArray[Any]]) -> np.dtype[Any]:
    """Return the dtype of the weights of a saved state."""
    for name in ("w", "wa"):
        if name in tensors and tensors[name].dtype in (np.float32, np.float64):
            return tensors[name].dtype
    return np.dtype(np.float64)
