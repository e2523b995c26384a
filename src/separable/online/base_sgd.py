"""Base class of SGDClassifier and SGDRegressor: parameters, epochs, stopping, evidence."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from separable._core import native
from separable.data.rows import column_names
from separable.data.split import random_split, stratified_split
from separable.estimator import convergence_warning
from separable.fitting.base import Ineffective
from separable.fitting.targets import RowWeights
from separable.model.parameters import (
    AVERAGE,
    BOOL,
    COUNT,
    COUNT_OR_NONE,
    FINITE,
    FRACTION,
    NOT_NEGATIVE,
    POSITIVE_OR_NONE,
    RANDOM_STATE,
    TOLERANCE,
    UNIT_INTERVAL,
    ParameterError,
    Requirement,
    one_of,
    one_of_or_none,
)
from separable.online.adaptive_state import AdaptiveState
from separable.online.base import UNSHUFFLED, OnlineEstimator, Targets
from separable.online.descent import DescentState, Order, SgdState, Steps, run_descent
from separable.online.runs import TrainingBatch, draw_seed, refuse_overflow
from separable.online.sgd_epochs import Epochs, HeldOut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.online.state import OnlineState

__all__ = ["LOSSES", "SGDBase"]


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
WITH_EPSILON = ("huber", "epsilon_insensitive", "squared_epsilon_insensitive")
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
        "but with loss='huber', 'epsilon_insensitive' or 'squared_epsilon_insensitive'",
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


@dataclass(eq=False, repr=False, kw_only=True)
class SGDBase(OnlineEstimator):
    """Base of ``SGDClassifier`` and ``SGDRegressor``.

    Parameters
    ----------
    penalty : {"auto", "l2", "l1", "elasticnet"} or None
        "auto" is "l2" if ``alpha`` is set, else no penalty, unlike scikit-learn's default: a
        penalty depends on the units of the columns, so it needs scaled columns.
    alpha : float or None
        Regularization parameter; 1e-4 if a penalty is set without it. ``learning_rate="optimal"``
        uses it too.
    l1_ratio : float
        Weight of the l1 term in "elasticnet".
    tol : float or None
        Stop when the loss has not fallen by more than ``tol`` times the loss of the first epoch
        for ``n_iter_no_change`` epochs. None: run ``max_iter`` epochs.
    random_state : int, RandomState or None
        Seed for shuffling and for the held-out rows.
    learning_rate : {"adaptive", "constant", "invscaling", "optimal"}
        "adaptive": a per-weight step size from the column values and gradients so far, see
        docs/learners/sgd_classifier.md; it needs no tuning. "constant": eta0. "invscaling":
        eta0 / t^power_t. "optimal": 1 / (alpha (t0 + t - 1)), as in scikit-learn. (Its "adaptive"
        is a different schedule.)
    eta0 : float or None
        Step size; None: 0.15 for "adaptive", else 0.01. Must be None with "optimal".
    power_t : float
        Exponent of "invscaling".
    early_stopping : bool
        Hold out some rows, stop by the loss on them instead of the training loss, and return the
        weights with the smallest held-out loss.
    n_iter_no_change : int or None
        See ``tol``. None: the epochs that present 5000 dense rows of classes, from 3 to 40, or
        2000 sparse rows or rows with numbers to predict, from 1 to 40.
    average : bool or int
        Average the weights over the steps; an int: from that step on. With an l1 penalty only of
        another learning_rate than "adaptive": the mean of sparse weights is not sparse.
    """

    penalty: str | None = "auto"
    alpha: float | None = None
    l1_ratio: float = 0.15
    fit_intercept: bool = True
    max_iter: int = 1000
    tol: float | None = 2e-2
    shuffle: bool = True
    epsilon: float = 0.1
    random_state: Any = 0
    learning_rate: str = "adaptive"
    eta0: float | None = None
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int | None = None
    warm_start: bool = False

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
        "validation_fraction": FRACTION,
        "n_iter_no_change": COUNT_OR_NONE,
        "warm_start": BOOL,
        "average": AVERAGE,
    }
    _ineffective: ClassVar[tuple[Ineffective, ...]] = (
        *INEFFECTIVE_IN_STREAMS,
        *INEFFECTIVE_IN_EPOCHS,
        UNSHUFFLED,
    )
    _ineffective_in_streams: ClassVar[tuple[Ineffective, ...]] = INEFFECTIVE_IN_STREAMS

    loss: str = field(init=False)
    power_t: float = field(init=False)
    average: bool | int | str = field(init=False)

    # ------------------------------------------------------------------ learning

    def _fit_rows(self, X: Any, rows: Rows, targets: Targets, state: DescentState) -> Self:
        steps, seed = self._steps(), draw_seed(self.random_state)
        _refuse_heavy(targets.counted.weight)
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
            warnings.warn(run.warning(), convergence_warning(), stacklevel=3)
        model = self._build_model(
            state, column_names(X), run.evidence() | self._describe_stream(state)
        )
        self._keep(X, state, model, len(run.losses))
        if not run.warning():
            self._warn_of_poor_fit(model, original, targets.y)
        return self

    def smallest_fall(self, first_loss: float) -> float:
        """Return by how much the loss must fall in an epoch, given that of the first."""
        return 0.0 if self.tol is None else self.tol * first_loss

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
        starts = coef_init is not None or intercept_init is not None
        if starts and self.warm_start and getattr(self, "_state", None) is not None:
            raise ValueError(
                "coef_init and intercept_init set the initial weights, warm_start=True continues "
                "from the previous fit: use one of them."
            )
        state: DescentState = super()._start(rows, classes, coef_init, intercept_init)
        state.start_given = starts
        return state

    def _steps(self) -> Steps:
        """Return loss, penalty and schedule from the parameters."""
        kind = self._penalty()
        l1_fraction = {"l1": 1.0, "elasticnet": float(self.l1_ratio)}.get(kind or "", 0.0)
        level = 0.0 if kind is None else self._level()
        averages = self.average != "auto" and bool(self.average)
        schedule = self.learning_rate
        if averages and l1_fraction * level > 0 and schedule == "adaptive":
            raise ParameterError(
                f"The 'average' parameter of {type(self).__name__} must be False with an l1 "
                "penalty and learning_rate='adaptive': a mean of sparse weights is not sparse. Got "
                f"{self.average!r} instead. Use learning_rate='optimal' or 'invscaling', the "
                "schedules of scikit-learn, on scaled columns, or penalty='l2', or no average."
            )
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
            mean_of_epochs=self.average == "auto"
            and schedule == "adaptive"
            and l1_fraction * level == 0,
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
        gradient = np.empty(1)
        native.write_loss(
            self.loss, self.epsilon, np.array([-typical]), np.ones(1), gradient=True, out=gradient
        )
        return float(max(1.0, abs(gradient[0])) / (typical * alpha))

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
                "cannot change during a stream. Start a new estimator."
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


def _refuse_heavy(weight: NDArray[np.float64] | None) -> None:
    """Refuse sample weights whose sum exceeds ``MAX_PRESENTATIONS``."""
    if weight is not None and weight.sum() > MAX_PRESENTATIONS:
        raise ValueError(
            f"The sample weights sum to {weight.sum():.3g}, and a row of weight k is presented k "
            f"times: more than {MAX_PRESENTATIONS:.0e} presentations an epoch are refused. Divide "
            "the weights by a constant."
        )
