"""What the perceptrons share: checking, lanes, streams, evidence, the model they end in."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from separable._core import native
from separable.data.rows import Rows, as_rows, column_names
from separable.model.linear_model import LinearModel
from separable.model.parameters import (
    BOOL,
    CLASS_WEIGHT,
    COUNT,
    POSITIVE,
    POSITIVE_OR_INF,
    RANDOM_STATE,
    Rule,
    check_parameters,
    one_of,
)
from separable.online.evidence import Margins, measure_margins
from separable.online.state import OnlineState
from separable.online.targets import RowWeights, check_labels, find_classes, weigh_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PerceptronBase"]


class PerceptronBase(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The perceptron family. See ``Perceptron`` and ``AveragedPerceptron``."""

    _averaged: ClassVar[bool] = False
    _rules: ClassVar[dict[str, Rule]] = {
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
        check_parameters(self, self._rules)
        rows = self._check_rows(X, reset=True)
        y = check_labels(y, rows.n_rows, type(self).__name__)
        classes, label, counted = self._weigh(y, sample_weight)
        state = self._start(rows, classes, coef_init, intercept_init)
        zero_start = not state.w.any() and not state.b.any()
        seed = self._draw_seed()
        run = self._run(state, rows, label, counted, seed=seed, stream=False)
        if run.converged and rows.values.dtype == np.float32 and not self._averaged:
            state, run = self._confirm_in_double(state, run, rows, label, counted, seed)
        state.rows_seen = rows.n_rows if counted.rows is None else len(counted.rows)
        self._finish_fit(state, run, rows, label, counted, zero_start)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the next rows of a stream, once, in the given order.

        Any chunking of the same rows, and ``fit`` with ``shuffle=False, max_iter=1``, give the
        same bits.

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
        if state is None or classes is not None:
            check_parameters(self, self._rules)
            if self.class_weight == "balanced":
                raise ValueError(
                    "class_weight='balanced' needs all rows at once and cannot be used with "
                    "partial_fit. Give a dict from class to weight instead."
                )
        rows = self._check_rows(X, reset=state is None)
        y = check_labels(y, rows.n_rows, type(self).__name__)
        if state is None:
            state = self._open_stream(rows, y, classes)
        elif classes is not None and not np.array_equal(np.unique(classes), state.classes):
            raise ValueError(
                f"classes={np.unique(classes).tolist()} is not the same as on the first call to "
                f"partial_fit: {state.classes.tolist()}. Give it only there."
            )
        label = self._meet_classes(state, y)
        counted = weigh_rows(sample_weight, self.class_weight, label, state.classes)
        run = self._run(state, rows.astype(state.dtype), label, counted, seed=0, stream=True)
        state.rows_seen += rows.n_rows if counted.rows is None else len(counted.rows)
        self._state, self._model = state, None
        self._stream_updates = getattr(self, "_stream_updates", 0) + int(run.mistakes.sum())
        self.n_iter_ = 1
        return self

    # ------------------------------------------------------------------ the model

    @property
    def model_(self) -> LinearModel:
        """The model learned so far."""
        check_is_fitted(self)
        if self._model is None:
            evidence = {"updates": self._stream_updates, "rows_seen": self._state.rows_seen}
            self._model = self._build_model(self._state, evidence)
        return self._model

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights, (k, d): one row for two classes, else one a class."""
        return self.model_.weights

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercepts, (k,)."""
        return self.model_.intercept

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted."""
        check_is_fitted(self)
        return self._state.classes

    @property
    def evidence_(self) -> dict[str, Any]:
        """What the run did and what it proves; see the class."""
        return dict(self.model_.evidence)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores w.x + b: (n,) for two classes, else (n, K)."""
        check_is_fitted(self)
        return self.model_.decision_function(self._check_rows(X, reset=False))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row: by sign for two classes, else by the largest score."""
        check_is_fitted(self)
        return self.model_.predict(self._check_rows(X, reset=False))

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
                "The model has no training state to continue from. Save it with "
                "include_state=True."
            )
        parameters = dict(model.parameters)
        if isinstance(parameters.get("class_weight"), list):
            parameters["class_weight"] = dict(parameters["class_weight"])  # type: ignore[arg-type]
        estimator = cls(**parameters)
        estimator.n_features_in_ = model.weights.shape[1]
        if model.feature_names is not None and model.encoder is None:
            estimator.feature_names_in_ = np.array(model.feature_names, dtype=object)
        estimator._state = OnlineState.from_training_state(
            model.state, model.classes, model.weights.shape[1]
        )
        estimator._model = model
        estimator._stream_updates = int(model.evidence.get("updates", 0))  # type: ignore[arg-type]
        estimator.n_iter_ = int(model.evidence.get("epochs", 1))  # type: ignore[arg-type]
        return estimator

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_state", None) is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ------------------------------------------------------------------ steps

    def _check_rows(self, X: Any, *, reset: bool) -> Rows:
        """Turn X into rows and compare its columns with those of the first call."""
        rows = as_rows(X)
        plain = type(X) is np.ndarray or isinstance(X, Rows)
        if plain and not reset and rows.n_features == self.n_features_in_:
            if not hasattr(self, "feature_names_in_"):
                return rows
        elif isinstance(X, Rows) and reset:
            self.n_features_in_ = rows.n_features
            return rows
        validate_data(self, X, reset=reset, skip_check_array=True)
        if rows.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {rows.n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        if reset:
            self._column_names = column_names(X)
        return rows

    def _weigh(
        self, y: NDArray[Any], sample_weight: Any
    ) -> tuple[NDArray[Any], NDArray[np.int32], RowWeights]:
        """Return the classes present, each row's class and the weights; absent rows get class 0."""
        classes, inverse = np.unique(y, return_inverse=True)
        counted = weigh_rows(
            sample_weight, self.class_weight, inverse.astype(np.int32), classes
        )
        if counted.rows is not None:
            classes = np.unique(y[counted.rows])
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes to learn a boundary, but y "
                f"holds only one class: {classes.tolist()[0]!r}."
            )
        label = np.maximum(find_classes(y, classes), 0).astype(np.int32)
        return classes, label, counted

    def _draw_seed(self) -> int:
        from sklearn.utils import check_random_state

        return int(check_random_state(self.random_state).randint(0, 2**31 - 1))

    def _start(
        self, rows: Rows, classes: NDArray[Any], coef_init: Any, intercept_init: Any
    ) -> OnlineState:
        """Return the state an epoch starts from: zeros, a given start, or the previous fit."""
        state = OnlineState(
            classes, rows.n_features, rows.values.dtype, self.multi_class, self._averaged, False
        )
        previous: OnlineState | None = getattr(self, "_state", None)
        if self.warm_start and previous is not None and coef_init is None:
            if not np.array_equal(previous.classes, classes) or previous.w.shape != state.w.shape:
                raise ValueError(
                    "warm_start=True continues the previous fit, but classes, features or "
                    f"multi_class differ: {previous.classes.tolist()} then, {classes.tolist()} "
                    "now. Fit a new estimator."
                )
            state.set_arrays(previous.arrays())
            state.presented = previous.presented
            return state
        k = 1 if len(classes) == 2 else len(classes)
        start = {
            "w": self._check_init("coef_init", coef_init, (k, rows.n_features)),
            "b": self._check_init("intercept_init", intercept_init, (k,)),
        }
        if self.multi_class == "argmax" and k == 1:  # two classes share the start half and half
            start = {name: np.concatenate([-a / 2, a / 2]) for name, a in start.items()}
        state.set_arrays(start)
        return state

    def _check_init(self, name: str, value: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
        if value is None:
            return np.zeros(shape)
        array = np.asarray(value, dtype=np.float64)
        if array.size != int(np.prod(shape)) or not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite and of shape {shape}, got {array.shape}.")
        return array.reshape(shape)

    def _open_stream(self, rows: Rows, y: NDArray[Any], classes: Any) -> OnlineState:
        if classes is not None:
            announced = np.unique(check_labels(classes, len(classes), type(self).__name__))
            if len(announced) < 2:
                raise ValueError(f"classes must name at least two classes, got {classes!r}.")
        return OnlineState(
            np.unique(y) if classes is None else announced,
            rows.n_features,
            rows.values.dtype,
            self.multi_class,
            self._averaged,
            open_classes=classes is None,
        )

    def _meet_classes(self, state: OnlineState, y: NDArray[Any]) -> NDArray[np.int32]:
        """Return the class index of each label, making room for new classes."""
        label = find_classes(y, state.classes)
        new = label < 0
        if not new.any():
            return label
        if not state.open_classes:
            row = int(np.flatnonzero(new)[0])
            raise ValueError(
                f"Row {row} has class {y[row]!r}, which is not among the classes this "
                f"{type(self).__name__} was told: {state.classes.tolist()}. Start the stream with "
                "partial_fit and without `classes` to let new classes in."
            )
        state.add_classes(np.unique(y[new]))
        return find_classes(y, state.classes)

    def _epochs(self, state: OnlineState, rows: Rows) -> int:
        """Return how many epochs the work budget and ``max_iter`` allow; at least one."""
        work = max(1, rows.values.size) * state.w.shape[0]
        return max(1, int(min(self.max_iter, self.max_work / work)))

    def _run(
        self,
        state: OnlineState,
        rows: Rows,
        label: NDArray[np.int32],
        counted: RowWeights,
        *,
        seed: int,
        stream: bool,
        first_epoch: int = 0,
    ) -> _Run:
        """Run the epochs of a fit, or the one of a stream, in the compiled core."""
        plan = native.OnlinePlan(
            label=label,
            weight=counted.weight,
            rows=counted.rows,
            eta=float(self.eta0),
            fit_intercept=bool(self.fit_intercept),
            shuffle=bool(self.shuffle) and not stream,
            seed=seed,
            first_epoch=first_epoch,
            max_epochs=1 if stream else self._epochs(state, rows),
            presented=state.presented,
            pocket=bool(getattr(self, "pocket", False)) and not stream,
        )
        core_rows = native.Rows(rows.values, rows.n_features, rows.indices, rows.indptr)
        weights = state.native_weights()
        if state.rule == "argmax":
            runs = [native.argmax_perceptron(core_rows, weights, plan, state.met)]
        else:
            runs = [
                native.perceptron(
                    core_rows,
                    weights,
                    plan,
                    block,
                    state.first_class + block * state.width,
                    min(state.width, state.n_models - block * state.width),
                )
                for block in range(state.w.shape[0])
            ]
        for run in runs:
            if run.overflow_row >= 0:
                self._refuse_overflow(rows, run.overflow_row)
        state.presented = max(run.presented for run in runs)
        return _Run(runs)

    def _confirm_in_double(
        self,
        state: OnlineState,
        run: _Run,
        rows: Rows,
        label: NDArray[np.int32],
        counted: RowWeights,
        seed: int,
    ) -> tuple[OnlineState, _Run]:
        """Go on in float64 if rows that float32 puts on their side are not there in truth."""
        model = self._build_model(state, {})
        if measure_margins(model, rows, label, counted.rows, state.rule).wrong_rows == 0:
            return state, run
        double = state.astype(np.dtype(np.float64))
        more = self._run(
            double,
            rows.astype(double.dtype),
            label,
            counted,
            seed=seed,
            stream=False,
            first_epoch=len(run.mistakes),
        )
        return double, run.followed_by(more)

    def _refuse_overflow(self, rows: Rows, row: int) -> None:
        largest = float(np.abs(rows.values).max())
        raise ValueError(
            f"The score of row {row} overflowed to infinity while training: the largest |x| is "
            f"{largest:.3g} in {rows.values.dtype}. Scale the columns first, for example with "
            "sklearn.preprocessing.StandardScaler or separable.TableEncoder, or lower eta0 "
            f"({self.eta0})."
        )

    def _finish_fit(
        self,
        state: OnlineState,
        run: _Run,
        rows: Rows,
        label: NDArray[np.int32],
        counted: RowWeights,
        zero_start: bool,
    ) -> None:
        """Check what the run claims against the data, in float64, and publish the model."""
        evidence = self._describe_run(state, run)
        model = self._build_model(state, evidence)
        if not self._averaged:
            margins = measure_margins(model, rows, label, counted.rows, state.rule)
            evidence |= self._describe_margins(
                model, margins, run, zero_start and counted.weight is None
            )
            model = self._build_model(state, evidence)
            if not evidence["converged"]:
                self._warn_unconverged(evidence)
        self._state, self._model = state, model
        self._stream_updates = int(evidence["updates"])
        self.n_iter_ = int(evidence["epochs"])

    def _describe_run(self, state: OnlineState, run: _Run) -> dict[str, Any]:
        return {
            "epochs": len(run.mistakes),
            "converged": run.converged,
            "converged_models": (run.mistakes[-1] == 0).tolist(),
            "mistakes": run.mistakes.sum(axis=1).tolist(),
            "updates": int(run.mistakes.sum()),
            "updates_per_model": run.mistakes.sum(axis=0).tolist(),
            "rows_seen": state.rows_seen,
        }

    def _describe_margins(
        self, model: LinearModel, margins: Margins, run: _Run, bounded: bool
    ) -> dict[str, Any]:
        """Return margin, radius and mistake bound of a fit that separates the training rows."""
        converged = run.converged and margins.wrong_rows == 0
        told: dict[str, Any] = {"converged": converged, "training_mistakes": margins.wrong_rows}
        if run.pocket_mistakes:
            told["pocket_mistakes"] = run.pocket_mistakes
        told |= {"margin": None, "radius": None, "gamma": None, "bound": None}
        if not converged or self.multi_class == "argmax":
            return told
        norm = np.linalg.norm(model.weights, axis=1)
        with np.errstate(divide="ignore"):
            told["margin"] = _plain(margins.smallest / norm)
        if bounded:
            constant = 1.0 if self.fit_intercept else 0.0
            gamma = margins.smallest / np.hypot(norm, model.intercept)
            radius = float(np.hypot(margins.radius, constant))
            told |= {
                "radius": radius,
                "gamma": _plain(gamma),
                "bound": _plain((radius / gamma) ** 2),
            }
        return told

    def _warn_unconverged(self, evidence: dict[str, Any]) -> None:
        if evidence["mistakes"][-1] == 0:
            limit = "an epoch without a mistake; what is left is within rounding of the boundary"
        elif evidence["epochs"] >= self.max_iter:
            limit = f"max_iter={self.max_iter}"
        else:
            limit = f"max_work={self.max_work:.3g}"
        warnings.warn(
            f"{type(self).__name__} stopped after {evidence['epochs']} epochs ({limit}) with "
            f"{evidence['training_mistakes']} of {evidence['rows_seen']} training rows still on "
            "the wrong side: the data may not be linearly separable. Use AveragedPerceptron, or "
            "pocket=True to keep the best weights met, or raise the limit.",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _build_model(self, state: OnlineState, evidence: dict[str, Any]) -> LinearModel:
        weights, intercept = state.weights()
        return LinearModel(
            weights=weights,
            intercept=intercept,
            classes=state.classes,
            link="score",
            feature_names=getattr(self, "_column_names", None),
            learner=type(self).__name__,
            parameters=self._plain_parameters(),
            family="online",
            evidence=evidence,
            state=state.to_training_state(),
        )

    def _plain_parameters(self) -> dict[str, Any]:
        """Return the parameters as a model file can keep them."""
        parameters = dict(self.get_params(deep=False))
        if not isinstance(self.random_state, int | np.integer | None):
            parameters["random_state"] = None
        if isinstance(self.class_weight, dict):
            parameters["class_weight"] = [[c, w] for c, w in self.class_weight.items()]
        return parameters


class _Run:
    """The runs of all blocks of lanes as one; a block that stops early makes no more mistakes."""

    def __init__(self, runs: list[Any]) -> None:
        by_block = [np.array(run.mistakes, dtype=np.int64) for run in runs]
        epochs = max(len(mistakes) for mistakes in by_block)
        self.mistakes: NDArray[np.int64] = np.concatenate(
            [np.pad(m, ((0, epochs - len(m)), (0, 0))) for m in by_block], axis=1
        )
        self.converged = all(run.converged for run in runs)
        self.pocket_mistakes = [m for run in runs for m in run.pocket_mistakes]

    def followed_by(self, later: _Run) -> _Run:
        """Return both runs as one."""
        later.mistakes = np.concatenate([self.mistakes, later.mistakes])
        return later


def _plain(values: NDArray[np.float64]) -> float | list[float]:
    """Return one number for one model, a list for several."""
    numbers: list[float] = values.tolist()
    return numbers[0] if len(numbers) == 1 else numbers
