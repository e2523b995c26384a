"""Base class of SGDClassifier and SGDRegressor: parameters, epochs, stopping, evidence."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from separable._core import native
from separable.data.rows import column_names
from separable.data.split import random_split, stratified_split
from separable.fitting.targets import RowWeights
from separable.fitting.unused_options import Ineffective
from separable.model.parameters import (
    AVERAGE,
    BOOL,
    COUNT,
    FINITE,
    NOT_NEGATIVE,
    POSITIVE_OR_NONE,
    RANDOM_STATE,
    SHARE,
    TOLERANCE,
    UNIT_INTERVAL,
    ParameterError,
    Requirement,
    one_of,
    one_of_or_none,
)
from separable.online.adaptive_state import AdaptiveState
from separable.online.base import UNSHUFFLED, OnlineEstimator
from separable.online.descent import DescentState, Order, SgdState, Steps, run_descent
from separable.online.poor_fit import warn_of_poor_fit
from separable.online.runs import TrainingBatch, refuse_overflow
from separable.online.sgd_epochs import Epochs, HeldOut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.online.state import OnlineState

__all__ = ["LOSSES", "SGDBase", "Targets"]


class LossTraits(NamedTuple):
    """Properties of a loss."""

    classes_only: bool
    convex: bool


#: Losses by name.
LOSSES = {name: LossTraits(*traits) for name, *traits in native.losses()}
#: Default step size, by schedule.
DEFAULT_ETA = {"adaptive": 0.15, "constant": 0.01, "invscaling": 0.01, "optimal": 1.0}
#: Default regularization parameter; also used by the schedule "optimal".
DEFAULT_ALPHA = 1e-4
#: Losses with the parameter epsilon.
WITH_EPSILON = ("huber", "epsilon_insensitive")
#: Parameters without an effect in streams; the second tuple: in ``fit``.
INEFFECTIVE_IN_STREAMS = (
    Ineffective(
        "alpha",
        lambda learner: (
            learner.penalty is None
            and learner.alpha not in (0, DEFAULT_ALPHA)
            and learner.learning_rate != "optimal"
        ),
        "with penalty=None",
        "Leave penalty at 'auto', which is 'l2' where alpha is given, or name a penalty.",
    ),
    Ineffective(
        "l1_ratio",
        lambda learner: learner.penalty != "elasticnet",
        "without penalty='elasticnet'",
        "Use penalty='elasticnet'.",
    ),
    Ineffective(
        "epsilon",
        lambda learner: learner.loss not in WITH_EPSILON,
        "but with loss='huber' and loss='epsilon_insensitive'",
        "Choose one of these losses, or leave epsilon at its default.",
    ),
    Ineffective(
        "power_t",
        lambda learner: learner.learning_rate != "invscaling",
        "without learning_rate='invscaling'",
        "Use learning_rate='invscaling'.",
    ),
)
INEFFECTIVE_IN_EPOCHS = (
    Ineffective(
        "validation_fraction",
        lambda learner: not learner.early_stopping,
        "with early_stopping=False",
        "Use early_stopping=True.",
    ),
    Ineffective(
        "n_iter_no_change",
        lambda learner: learner.tol is None and not learner.early_stopping,
        "with tol=None: all epochs of max_iter are made",
        "Give a tol, or use early_stopping=True.",
    ),
)
#: Values below this keep float32 far from overflow.
MAX_SAFE_VALUE = 1e12
#: Largest sum of sample weights: each unit of weight is one presentation.
MAX_PRESENTATIONS = 1e9


class SGDBase(OnlineEstimator):
    """Base of ``SGDClassifier`` and ``SGDRegressor``."""

    _requirements: ClassVar[dict[str, Requirement]] = {
        "penalty": one_of_or_none("auto", "l2", "l1", "elasticnet"),
        "alpha": TOLERANCE,
        "l1_ratio": UNIT_INTERVAL,
        "fit_intercept": BOOL,
        "max_iter": COUNT,
        "tol": TOLERANCE,
        "shuffle": BOOL,
        "epsilon": NOT_NEGATIVE,
        "random_state": RANDOM_STATE,
        "learning_rate": one_of("adaptive", "constant", "invscaling", "optimal"),
        "eta0": POSITIVE_OR_NONE,
        "power_t": FINITE,
        "early_stopping": BOOL,
        "validation_fraction": SHARE,
        "n_iter_no_change": COUNT,
        "warm_start": BOOL,
        "average": AVERAGE,
    }
    _ineffective: ClassVar[tuple[Ineffective, ...]] = (
        *INEFFECTIVE_IN_STREAMS,
        *INEFFECTIVE_IN_EPOCHS,
        UNSHUFFLED,
    )
    _ineffective_in_streams: ClassVar[tuple[Ineffective, ...]] = INEFFECTIVE_IN_STREAMS

    loss: str
    penalty: str | None
    alpha: float | None
    l1_ratio: float
    max_iter: int
    tol: float | None
    shuffle: bool
    epsilon: float
    learning_rate: str
    eta0: float | None
    power_t: float
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    warm_start: bool
    average: bool | int

    # ------------------------------------------------------------------ learning

    def _fit_rows(
        self, X: Any, rows: Rows, targets: Targets, coef_init: Any, intercept_init: Any
    ) -> Self:
        """Run epochs over all rows until the stopping rule holds."""
        steps, seed = self._steps(), check_random_state(self.random_state).randint(0, 2**31 - 1)
        self._check_eta(rows.values.dtype)
        _refuse_heavy(targets.counted.weight)
        state = self._start(rows, targets.classes, coef_init, intercept_init)
        counted, held = targets.counted, None
        if self.early_stopping:
            counted, held = self._hold_out(rows, targets, seed)
        original = batch = TrainingBatch.of(rows, targets.target, counted)
        if self.shuffle:
            batch = batch.shuffled(seed, self.max_iter)
        run = Epochs(self, state, batch, steps, seed, held)
        state = run.run()
        state.rows_seen += batch.n_counted
        if run.warning():
            warnings.warn(run.warning(), ConvergenceWarning, stacklevel=3)
        self._remember_columns(X)
        self._state = state
        self._model = self._build_model(
            state, column_names(X), run.evidence() | self._describe_stream(state)
        )
        self.n_iter_ = len(run.losses)
        if not run.warning():
            y = targets.target if targets.classes is None else targets.classes[targets.target]
            warn_of_poor_fit(self, self._model, original, y, stacklevel=4)
        return self

    def _ignores_scale(self) -> bool:
        return self.learning_rate == "adaptive" and self._penalty() is None

    def _ignores_shift(self) -> bool:
        return self._ignores_scale() and self.fit_intercept

    def _foresee(
        self, state: OnlineState, rows: Rows, largest: float, steps: float
    ) -> tuple[bool, float | None]:
        # Adaptive steps follow the scale of the columns, so scores of such values do not overflow.
        # Otherwise a single presentation is refused before its update.
        single = steps == 1 and state.n_blocks == 1 and self._penalty() in (None, "l2")
        common = largest < MAX_SAFE_VALUE and (single or self.learning_rate == "adaptive")
        return common and state.is_short(rows.values.size * steps), None

    def _learn_chunk(self, state: OnlineState, batch: TrainingBatch) -> None:
        assert isinstance(state, DescentState)
        _refuse_heavy(batch.counted.weight)
        steps = self._steps()
        run_descent(state, batch, steps, Order(), progressive=True, measure=False)
        if not np.abs(batch.rows.values).max(initial=0) < MAX_SAFE_VALUE:  # a step may overflow too
            lanes = state.lanes.values()
            if not all(np.isfinite(each).all() for each in lanes):
                refuse_overflow(batch, batch.rows.n_rows - 1, steps.eta0)

    # ------------------------------------------------------------------ steps

    def _make_state(
        self,
        classes: NDArray[Any] | None,
        n_features: int,
        dtype: np.dtype[Any],
        open_classes: bool = False,
    ) -> DescentState:
        kind = AdaptiveState if self.learning_rate == "adaptive" else SgdState
        return kind.before(classes, n_features, dtype, self._steps(), open_classes)

    def _start(
        self, rows: Rows, classes: NDArray[Any] | None, coef_init: Any, intercept_init: Any
    ) -> DescentState:
        """Return the initial state: zeros, ``coef_init``, or the previous fit."""
        state = self._make_state(classes, rows.n_features, rows.values.dtype)
        previous: OnlineState | None = getattr(self, "_state", None)
        starts = coef_init is not None or intercept_init is not None
        if self.warm_start and previous is not None:
            if starts:
                raise ValueError(
                    "coef_init and intercept_init set the initial weights, warm_start=True "
                    "continues from the previous fit: use one of them."
                )
            state.continue_from(previous)
        k = 1 if classes is None or len(classes) == 2 else len(classes)
        state.take_start("w", "coef_init", coef_init, (k, rows.n_features))
        state.take_start("b", "intercept_init", intercept_init, (k,))
        state.start_given = starts
        return state

    def _steps(self) -> Steps:
        """Return loss, penalty and schedule from the parameters."""
        kind = self._penalty()
        l1_fraction = {"l1": 1.0, "elasticnet": float(self.l1_ratio)}.get(kind or "", 0.0)
        level = 0.0 if kind is None else self._level()
        averages = bool(self.average)
        if averages and l1_fraction * level > 0:
            raise ParameterError(
                f"The 'average' parameter of {type(self).__name__} must be False with an l1 "
                "penalty: a mean of sparse weights is not sparse. Got "
                f"{self.average!r} instead. Use penalty='l2', or no average."
            )
        schedule = self.learning_rate
        if schedule == "optimal" and self.eta0 is not None:
            raise ParameterError(
                f"The 'eta0' parameter of {type(self).__name__} must be None with "
                f"learning_rate='optimal', whose steps follow from alpha. Got {self.eta0!r} "
                "instead. Use learning_rate='invscaling' to choose the first step."
            )
        return Steps(
            loss=self.loss,
            epsilon=float(self.epsilon),
            l1=l1_fraction * level,
            l2=(1 - l1_fraction) * level,
            schedule=schedule,
            eta0=DEFAULT_ETA[schedule] if self.eta0 is None else float(self.eta0),
            power=float(self.power_t),
            alpha=self._level(),
            t0=self._optimal_start() if schedule == "optimal" else 1.0,
            fit_intercept=bool(self.fit_intercept),
            mean_from=max(0.0, float(self.average) - 1) if averages else None,
        )

    def _penalty(self) -> str | None:
        """Return the penalty; "auto" is l2 if alpha is set, else None."""
        if self.penalty == "auto":
            return None if self.alpha is None else "l2"
        return self.penalty

    def _level(self) -> float:
        """Return alpha, or its default."""
        return DEFAULT_ALPHA if self.alpha is None else float(self.alpha)

    def _optimal_start(self) -> float:
        """Return t_0 of the schedule "optimal": the first step has the size of a typical weight."""
        alpha = self._level()
        if alpha == 0:
            raise ParameterError(
                f"The 'alpha' parameter of {type(self).__name__} must be > 0 with "
                "learning_rate='optimal', whose steps are 1 / (alpha (t0 + t)). Got 0 instead. Use "
                "learning_rate='adaptive'."
            )
        typical = alpha**-0.25
        slope = np.empty(1)
        native.write_loss(
            self.loss, self.epsilon, np.array([-typical]), np.ones(1), gradient=True, out=slope
        )
        return float(max(1.0, abs(slope[0])) / (typical * alpha))

    def _check_eta(self, dtype: np.dtype[Any]) -> None:
        if self.eta0 is not None:
            super()._check_eta(dtype)

    def _check_continuation(self, state: OnlineState) -> None:
        assert isinstance(state, DescentState)
        assert state.steps is not None
        expected = self._make_state(None, 1, state.dtype)
        same = expected.layout.keys() == state.layout.keys()
        same &= expected.shared.keys() == state.shared.keys()
        if not same or state.steps.fit_intercept != self.fit_intercept:
            raise ValueError(
                "learning_rate, average, fit_intercept, and whether there is an l1 or l2 penalty, "
                "cannot change while a stream goes on. Start a new estimator."
            )

    def _hold_out(self, rows: Rows, targets: Targets, seed: int) -> tuple[RowWeights, HeldOut]:
        """Hold out validation rows for early stopping."""
        counted = targets.counted
        present = np.arange(rows.n_rows) if counted.rows is None else counted.rows
        fraction = float(self.validation_fraction)
        target = targets.target[present]
        if targets.classes is None:
            train, test = random_split(len(present), fraction, seed)
        else:
            train, test = stratified_split(target, fraction, seed)
        if len(train) == 0 or len(test) == 0:
            raise ValueError(
                f"early_stopping=True holds out validation_fraction={fraction:g} of {len(present)} "
                "rows, which leaves one part empty. Change the fraction, or use "
                "early_stopping=False."
            )
        held = present[test]
        weight = None if counted.weight is None else counted.weight[held]
        scored = HeldOut(rows.take(held), targets.target[held], weight, self._steps())
        return RowWeights(present[train], counted.weight), scored

    def _describe_stream(self, state: OnlineState) -> dict[str, Any]:
        assert isinstance(state, DescentState)
        return {
            "rows_seen": state.rows_seen,
            "convex": LOSSES[self._as_learned("loss")].convex,
            "progressive": state.progressive_losses(),
        }


class Targets(NamedTuple):
    """Targets and weights of all rows, and the classes in classification."""

    target: NDArray[Any]
    counted: RowWeights
    classes: NDArray[Any] | None


def _refuse_heavy(weight: NDArray[np.float64] | None) -> None:
    """Refuse sample weights whose sum exceeds ``MAX_PRESENTATIONS``."""
    if weight is not None and weight.sum() > MAX_PRESENTATIONS:
        raise ValueError(
            f"The sample weights sum to {weight.sum():.3g}, and a row of weight k is presented k "
            f"times: more than {MAX_PRESENTATIONS:.0e} presentations an epoch are refused. Divide "
            "the weights by a constant."
        )
