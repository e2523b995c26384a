"""What the perceptrons share: checking, lanes, streams, evidence, the model they end in."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
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
from separable.model.linear_model import LinearModel
from separable.model.parameters import (
    BOOL,
    CLASS_WEIGHT,
    COUNT,
    POSITIVE,
    POSITIVE_OR_INF,
    RANDOM_STATE,
    ParameterError,
    Requirement,
    check_parameters,
    one_of,
)
from separable.online.evidence import (
    describe_margins,
    describe_run,
    largest_norm,
    measure_margins,
    unconverged_message,
)
from separable.online.runs import Lesson, Rule, Run, core_rows, run_epochs
from separable.online.state import OnlineState
from separable.online.targets import (
    RowWeights,
    check_class_weight,
    check_labels,
    find_classes,
    weigh_rows,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.features.encoder import Encoder

__all__ = ["PerceptronBase"]

DOUBLE = np.dtype(np.float64)


def _can_stream(learner: PerceptronBase) -> bool:
    if getattr(learner, "pocket", False):
        raise AttributeError(
            "pocket=True compares weights on all rows, which a stream does not have: "
            "partial_fit needs pocket=False. AveragedPerceptron serves streams that are not "
            "separable."
        )
    return True


class PerceptronBase(ClassifierMixin, BaseEstimator):
    """The perceptron family. See ``Perceptron`` and ``AveragedPerceptron``."""

    _averaged: ClassVar[bool] = False
    _requirements: ClassVar[dict[str, Requirement]] = {
        "eta0": POSITIVE,
        "fit_intercept": BOOL,
        "max_iter": COUNT,
        "max_work": POSITIVE_OR_INF,
        "shuffle": BOOL,
        "random_state": RANDOM_STATE,
        "multi_class": one_of("ovr", "argmax"),
        "class_weight": CLASS_WEIGHT,
        "warm_start": BOOL,
    }

    eta0: float
    fit_intercept: bool
    max_iter: int
    max_work: float
    shuffle: bool
    random_state: Any
    multi_class: str
    class_weight: Any
    warm_start: bool

    n_features_in_: int
    feature_names_in_: NDArray[Any]
    n_iter_: int
    _state: OnlineState
    _model: LinearModel | None
    _column_names: tuple[str, ...] | None
    _encoder: Encoder | None

    # ------------------------------------------------------------------ learning

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn from all rows, epoch after epoch.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
            float32 and float64 are learned from as they are.
        y : array-like of shape (n,)
            The class of each row; at least two classes.
        coef_init : array-like of shape (k, d), optional
            The starting point w; default zeros.
        intercept_init : array-like of shape (k,), optional
            The starting point b; default zeros.
        sample_weight : array-like of shape (n,), optional
            A row of weight k + f (k whole, 0 <= f < 1) is presented k times in place and once
            more with its step scaled by f; a row of weight 0 is absent.

        Returns
        -------
        self
        """
        check_parameters(self, self._requirements)
        rows = as_rows(X)
        y = check_labels(y, rows.n_rows, type(self).__name__)
        classes, label, counted = self._weigh(y, sample_weight)
        self._check_eta(rows.values.dtype)
        lesson = Lesson.of(rows, label, counted)
        state = self._start(rows, classes, coef_init, intercept_init)
        zero_start = not state.w.any() and not state.b.any()
        state.reach = None
        rule = self._fit_rule(state, rows)
        if rule.shuffle:
            lesson = lesson.shuffled(rule.seed, rule.max_epochs)
        run = Run(run_epochs(state, lesson, rule))
        if run.converged and state.dtype == np.float32 and not self._averaged:
            state, run = self._confirm_in_double(state, run, lesson, rule)
        state.rows_seen += lesson.n_counted
        state.updates += int(run.mistakes.sum())
        names = column_names(X)
        evidence = describe_run(run, state.rows_seen)
        model = self._build_model(state, names, evidence)
        if not self._averaged:
            bounded = zero_start and counted.weight is None and state.rule == "ovr"
            evidence |= describe_margins(
                model,
                # what is claimed to separate is looked at in float64
                measure_margins(state.astype(DOUBLE) if run.converged else state, lesson),
                run,
                (lambda: largest_norm(lesson, fit_intercept=self.fit_intercept))
                if bounded
                else None,
            )
            model = replace(model, evidence=evidence)
            if not evidence["converged"]:
                warnings.warn(
                    unconverged_message(self, evidence, lesson.n_counted),
                    ConvergenceWarning,
                    stacklevel=2,
                )
        self._remember_columns(X)
        self._encoder = None
        self._state, self._model = state, model
        self.n_iter_ = len(run.mistakes)
        return self

    @available_if(_can_stream)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the next rows of a stream, once, in the given order.

        Any chunking of the same rows, and ``fit`` with ``shuffle=False, max_iter=1``, give the
        same bits. Not with ``pocket=True``.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
            The next rows.
        y : array-like of shape (n,)
            Their classes. New classes may appear at any time unless ``classes`` was given.
        classes : array-like, optional
            All classes there will be; only at the first call. Saves the upkeep of the spare
            model that new classes start from.
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
        y = check_labels(y, rows.n_rows, type(self).__name__)
        counted = weigh_rows(sample_weight, self.class_weight, y)
        if counted.rows is not None:  # absent rows bring no classes either
            rows, y = rows.take(counted.rows), y[counted.rows]
            counted = RowWeights(None, counted.weight[counted.rows])  # type: ignore[index]
        if rows.n_rows == 0:
            return self
        told = None if classes is None else self._check_announced(classes, state)
        first = state is None
        if state is None:
            state = self._open_stream(rows, y, told)
        label, eta = find_classes(y, state.classes), float(self.eta0)
        steps = rows.n_rows if counted.weight is None else float(np.ceil(counted.weight).sum())
        reach = state.reach_after(largest, steps, eta)
        new_classes = np.minimum.reduce(label) < 0
        if new_classes or not state.is_safe(reach, largest, rows.values.size):
            state = state.copy()  # what fails half way leaves the stream as it was
        if new_classes:
            label = self._meet_classes(state, y, label < 0)
        if rows.values.dtype != state.dtype:
            rows = state.cast(rows, largest)
        lesson = Lesson.of(rows, label, counted)
        runs = run_epochs(state, lesson, Rule(eta, bool(self.fit_intercept)))
        made = [mistakes for run in runs for mistakes in run.mistakes[0]]
        state.updates += sum(made[: state.n_models - state.n_ghosts])
        state.rows_seen += lesson.n_counted
        state.reach = reach
        if first:
            self._remember_columns(X)
            self._encoder = None
        self._state, self._model = state, None
        self.n_iter_ = 1
        return self

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
            evidence = {"updates": self._state.updates, "rows_seen": self._state.rows_seen}
            self._model = self._build_model(
                self._state, self._column_names, evidence, self._encoder
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
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted."""
        check_is_fitted(self)
        return self._state.classes

    @property
    def evidence_(self) -> dict[str, Any]:
        """What the run did and what it proves; see the class."""
        return dict(self._weights_only().evidence)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores w.x + b: (n,) for two classes, else (n, K)."""
        return self._weights_only().decision_function(self._finite_rows(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row: by sign for two classes, else by the largest score."""
        return self._weights_only().predict(self._finite_rows(X))

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
        if model.state is None or model.classes is None:
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
        estimator._state = OnlineState.from_training_state(
            model.state, model.classes, model.n_features
        )
        estimator._model = model
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

    def _remember_columns(self, X: Any) -> None:
        validate_data(self, X, reset=True, skip_check_array=True)
        self._column_names = column_names(X)

    def _weigh(
        self, y: NDArray[Any], sample_weight: Any
    ) -> tuple[NDArray[Any], NDArray[np.int32], RowWeights]:
        """Return the classes present, each row's class and the weights; absent rows get class 0."""
        counted = weigh_rows(sample_weight, self.class_weight, y)
        if counted.rows is not None and len(counted.rows) == 0:
            raise ValueError("Every sample weight is zero, so no row is left to learn from.")
        check_class_weight(self.class_weight, np.unique(y))
        classes = np.unique(y if counted.rows is None else y[counted.rows])
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes to learn a boundary, but y "
                f"holds only one class: {classes.tolist()[0]!r}."
            )
        label = np.maximum(find_classes(y, classes), 0).astype(np.int32)
        return classes, label, counted

    def _start(
        self, rows: Rows, classes: NDArray[Any], coef_init: Any, intercept_init: Any
    ) -> OnlineState:
        """Return the state an epoch starts from: zeros, a given start, or the previous fit."""
        state = OnlineState(
            classes, rows.n_features, rows.values.dtype, self.multi_class, self._averaged, False
        )
        previous: OnlineState | None = getattr(self, "_state", None)
        if self.warm_start and previous is not None:
            state.continue_from(previous)
        k = 1 if len(classes) == 2 else len(classes)
        state.take_start("w", "coef_init", coef_init, (k, rows.n_features))
        state.take_start("b", "intercept_init", intercept_init, (k,))
        return state

    def _check_stream_parameters(self, state: OnlineState | None) -> None:
        """Check the parameters at the first call and whenever they changed."""
        values = self.__dict__
        now = [values[name] for name in self._requirements]
        if now == getattr(self, "_checked", None):
            return
        check_parameters(self, self._requirements)
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all rows at once and cannot be used with "
                "partial_fit. Give a dict from class to weight instead."
            )
        if state is not None and state.rule != self.multi_class:
            raise ValueError(
                f"multi_class was {state.rule!r} when the learning began and cannot become "
                f"{self.multi_class!r}. Start a new estimator."
            )
        if state is not None:
            self._check_eta(state.dtype)
        self._checked = now

    def _check_eta(self, dtype: np.dtype[Any]) -> None:
        held = np.finfo(dtype)
        if not float(held.tiny) <= self.eta0 <= float(held.max):
            raise ParameterError(
                f"The 'eta0' parameter of {type(self).__name__} must be a number that {dtype}, "
                f"the type of the data, can hold. Got {self.eta0!r} instead."
            )

    def _check_announced(self, classes: Any, state: OnlineState | None) -> NDArray[Any]:
        told = np.unique(check_labels(classes, len(classes), type(self).__name__))
        if len(told) < 2:
            raise ValueError(f"classes must name at least two classes, got {classes!r}.")
        if state is not None and not np.array_equal(told, state.classes):
            raise ValueError(
                f"classes={told.tolist()} is not the same as on the first call to partial_fit: "
                f"{state.classes.tolist()}. Give it only there."
            )
        check_class_weight(self.class_weight, told)
        return told

    def _open_stream(self, rows: Rows, y: NDArray[Any], told: NDArray[Any] | None) -> OnlineState:
        self._check_eta(rows.values.dtype)
        return OnlineState(
            np.unique(y) if told is None else told,
            rows.n_features,
            rows.values.dtype,
            self.multi_class,
            self._averaged,
            open_classes=told is None,
        )

    def _meet_classes(
        self, state: OnlineState, y: NDArray[Any], new: NDArray[np.bool_]
    ) -> NDArray[np.int32]:
        """Make room for new classes and return the class index of each label."""
        if not state.open_classes:
            row = int(np.flatnonzero(new)[0])
            raise ValueError(
                f"Row {row} has class {y.tolist()[row]!r}, which is not among the classes that "
                f"fit met or that were announced: {state.classes.tolist()}. Start the stream with "
                "partial_fit and without `classes` to let new classes in."
            )
        state.add_classes(np.unique(y[new]))
        return find_classes(y, state.classes)

    def _fit_rule(self, state: OnlineState, rows: Rows) -> Rule:
        """Return how ``fit`` learns; ``max_work`` may allow fewer epochs, but at least one."""
        work = max(1, rows.values.size) * state.w.shape[0]
        return Rule(
            eta=float(self.eta0),
            fit_intercept=bool(self.fit_intercept),
            max_epochs=max(1, int(min(self.max_iter, self.max_work / work))),
            shuffle=bool(self.shuffle),
            seed=int(check_random_state(self.random_state).randint(0, 2**31 - 1)),
            pocket=bool(getattr(self, "pocket", False)),
        )

    def _confirm_in_double(
        self, state: OnlineState, run: Run, lesson: Lesson, rule: Rule
    ) -> tuple[OnlineState, Run]:
        """Go on in float64 if rows that float32 puts on their side are not there in truth."""
        double = state.astype(DOUBLE)
        if measure_margins(double, lesson).wrong_rows == 0:
            return state, run
        rows = lesson.rows.astype(DOUBLE)
        lesson = lesson._replace(rows=rows, core=core_rows(rows))
        done = len(run.mistakes)
        later = rule._replace(first_epoch=done, max_epochs=max(1, rule.max_epochs - done))
        return double, run.followed_by(Run(run_epochs(double, lesson, later)))

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
            link="score",
            feature_names=names,
            encoder=encoder,
            learner=type(self).__name__,
            parameters=self._plain_parameters(),
            family="online",
            evidence=evidence,
        )

    def _plain_parameters(self) -> dict[str, Any]:
        """Return the parameters as a model file can keep them."""
        parameters = dict(self.get_params(deep=False))
        if not isinstance(self.random_state, int | np.integer | None):
            parameters["random_state"] = None
        parameters["eta0"], parameters["max_work"] = float(self.eta0), float(self.max_work)
        if isinstance(self.class_weight, dict):
            parameters["class_weight"] = [[c, w] for c, w in self.class_weight.items()]
        return parameters
