"""Widrow-Hoff rule: least mean squares (LMS), one row at a time."""

from __future__ import annotations

import math
import warnings
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from separable._core import native
from separable.data.rows import column_names
from separable.estimator import convergence_warning
from separable.fitting.base import with_parameters
from separable.model.parameters import (
    BOOL,
    COUNT,
    POSITIVE,
    POSITIVE_OR_INF,
    RANDOM_STATE,
    TOLERANCE,
    Requirement,
)
from separable.model.predict.scores import linear_scores
from separable.online.base import OnlineEstimator, partial_fit_numbers
from separable.online.runs import Rule, TrainingBatch, draw_seed
from separable.online.state import WEIGHTS, OnlineState

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.online.base import Targets


__all__ = ["WidrowHoff"]

#: With too large a step, an error above this multiple of the initial error is divergence.
DIVERGENCE_FACTOR = 10.0
#: eta0="auto" is this fraction of 1 / max |x|^2, which is half the largest safe step.
STEP_FRACTION = 0.25
#: Without an intercept, a largest squared row norm below this would make the step overflow.
MIN_SQUARED_NORM = 1e-300
#: A step, or a rule for it.
STEP = Requirement(
    "'auto' or a finite float > 0",
    lambda v: v == "auto" if isinstance(v, str) else POSITIVE.holds(v),
)


@with_parameters
class WidrowHoff(OnlineEstimator):
    """Linear regression by the Widrow-Hoff rule (LMS, delta rule).

    For each row in turn, r = w.x + b - y, then w -= eta0 r x and b -= eta0 r. A step multiplies
    the error on its row by 1 - eta0 |x|^2 (|x|^2 + 1 with an intercept). Up to
    eta0 = 2 / max |x|^2, ``evidence_["largest_safe_eta"]``, no step overshoots and the weights
    stay bounded. If an interpolating solution exists, the weights converge to one; from a zero
    start, to the one of smallest norm. Otherwise they stay near the least-squares solution; the
    smaller eta0, the nearer.

    eta0 = "auto" is 1 / (4 max |x|^2) over the rows seen so far (|x|^2 + 1 with an intercept). It
    is safe for rows of any size, also in a stream.

    Above the safe value the rule may still converge or may diverge. Divergence raises an error
    that says what to do: the weights overflowed, or the mean squared error of the last epoch is
    more than ten times both the initial one and that of always predicting 0.

    Parameters
    ----------
    eta0 : float or "auto"
        Learning rate; "auto": 1 / (4 max |x|^2) over the rows seen so far.
    fit_intercept : bool
        Whether to learn b.
    tol : float or None
        Stop when five epochs in a row fail to reduce the mean squared error below 1 - tol times
        the smallest so far. None: run ``max_iter`` epochs.
    max_work : float
        Limit on the numbers read: non-zeros x epochs.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        Those of ``model_``.
    evidence_ : dict
        ``mean_squared_error`` (per epoch, each error taken before its step; a stream is one
        epoch), ``largest_safe_eta`` (None: any), ``eta`` (last step size), ``rows_seen``; after
        ``fit`` also ``epochs``, ``stopped_by`` ("tol", "max_iter" or "max_work") and
        ``converged`` (stopped by "tol").

    Examples
    --------
    >>> from separable import WidrowHoff
    >>> line = WidrowHoff(eta0=0.1, tol=None, max_iter=500).fit([[0], [1], [2]], [1, 3, 5])
    >>> line.predict([[3]]).round(6), line.coef_.round(6)
    (array([7.]), array([2.]))
    """

    _estimator_type = "regressor"

    _: KW_ONLY
    eta0: float | str = "auto"
    fit_intercept: bool = True
    max_iter: int = 1000
    tol: float | None = 1e-4
    max_work: float = 1e10
    shuffle: bool = True
    random_state: Any = 0
    warm_start: bool = False

    _requirements: ClassVar[dict[str, Requirement]] = {
        "eta0": STEP,
        "fit_intercept": BOOL,
        "max_iter": COUNT,
        "tol": TOLERANCE,
        "max_work": POSITIVE_OR_INF,
        "shuffle": BOOL,
        "random_state": RANDOM_STATE,
        "warm_start": BOOL,
    }

    partial_fit = partial_fit_numbers

    def _fit_rows(self, X: Any, rows: Rows, targets: Targets, state: OnlineState) -> Self:
        batch = TrainingBatch.of(rows, targets.target, targets.counted)
        run = self._run_epochs(state, batch)
        state.rows_seen += batch.n_counted
        evidence = {
            "epochs": len(run.mean_squared_error),
            "converged": run.converged,
            "stopped_by": "tol" if run.converged else self._limit(run),
            **self._describe_stream(state),
            "mean_squared_error": run.mean_squared_error,
        }
        model = self._build_model(state, column_names(X), evidence)
        if self.tol is not None and not run.converged and self.max_iter > 1:
            warnings.warn(self._unconverged_message(run), convergence_warning(), stacklevel=3)
        self._keep(X, state, model, len(run.mean_squared_error))
        self._warn_of_poor_fit(model, batch, targets.y)
        return self

    # ------------------------------------------------------------------ hooks

    def _make_state(
        self,
        classes: NDArray[Any] | None,
        n_features: int,
        dtype: np.dtype[Any],
        open_classes: bool = False,
    ) -> OnlineState:
        state = OnlineState(classes, n_features, dtype, "ovr", WEIGHTS, open_classes)
        state.clock = {"squared_error": 0.0, "zero_error": 0.0, "largest_norm": 0.0}
        return state

    def _check_eta(self, dtype: np.dtype[Any]) -> None:
        if self.eta0 != "auto":
            super()._check_eta(dtype)

    def _learn_chunk(self, state: OnlineState, batch: TrainingBatch) -> None:
        clock = state.clock
        before = native.SquaredErrors(
            clock["squared_error"], clock["zero_error"], weight=state.presented
        )
        rule = Rule(self._fixed_eta(), bool(self.fit_intercept))
        met = clock["largest_norm"]
        self._meet_rows(state, batch)
        run = self._run(state, batch, rule, math.inf, before, met)
        self._refuse_growth(run, state, run.last.zero_sum / run.last.weight)

    def _describe_stream(self, state: OnlineState) -> dict[str, Any]:
        safe = self._safe_eta(state)
        error = state.clock["squared_error"] / (state.presented or 1.0)
        return {
            "mean_squared_error": [error],
            "largest_safe_eta": safe if math.isfinite(safe) else None,
            "eta": (self._fixed_eta() or STEP_FRACTION * safe / 2) if math.isfinite(safe) else None,
            "rows_seen": state.rows_seen,
        }

    # ------------------------------------------------------------------ steps

    def _fixed_eta(self) -> float:
        """Return eta0, or 0 for "auto"."""
        eta = self._as_learned("eta0")
        return 0.0 if eta == "auto" else float(eta)

    def _meet_rows(self, state: OnlineState, batch: TrainingBatch) -> None:
        """Update the largest |x|^2, in the space (1, x) with an intercept."""
        largest = batch.core.largest_squared_norm(batch.present) + bool(self.fit_intercept)
        if not math.isfinite(largest) or (self.eta0 == "auto" and largest < MIN_SQUARED_NORM):
            size = np.abs(batch.rows.values).max(initial=0)
            if size > 0:
                raise ValueError(
                    f"The largest |x| is {size:.3g}, and its square, by which the step is chosen, "
                    "is not a number that float64 holds. Scale the columns, for example with "
                    "sklearn.preprocessing.StandardScaler or separable.TableEncoder."
                )
        state.clock["largest_norm"] = max(state.clock["largest_norm"], largest)

    def _safe_eta(self, state: OnlineState) -> float:
        """Return the largest eta with which no step overshoots on the rows seen."""
        largest = state.clock["largest_norm"]
        return 2.0 / largest if largest > 0 else math.inf

    def _run_epochs(self, state: OnlineState, batch: TrainingBatch) -> native.WidrowHoffRun:
        """Run the epochs of ``fit``; an unsafe step size stops early only at a small error."""
        start = most = math.inf
        met = state.clock["largest_norm"]
        self._meet_rows(state, batch)
        if self._fixed_eta() > self._safe_eta(state):
            start = most = _start_error(state, batch)
        epochs = max(1, int(min(self.max_iter, self.max_work / max(1, batch.rows.values.size))))
        seed = draw_seed(self.random_state)
        rule = Rule(self._fixed_eta(), bool(self.fit_intercept), epochs, bool(self.shuffle), seed)
        learned = batch.shuffled(seed, epochs) if rule.shuffle else batch
        run = self._run(state, learned, rule, most, native.SquaredErrors(), met)
        self._refuse_growth(run, state, start)
        return run

    def _run(
        self,
        state: OnlineState,
        batch: TrainingBatch,
        rule: Rule,
        most_error: float,
        before: native.SquaredErrors,
        largest_norm: float,
    ) -> native.WidrowHoffRun:
        """Train the state in place; ``largest_norm`` is that of the earlier rows."""
        run = native.widrow_hoff(
            batch.core,
            state.native_weights(),
            batch.target,
            batch.counted.weight,
            batch.counted.rows,
            eta=rule.eta,
            fit_intercept=rule.fit_intercept,
            shuffle=rule.shuffle,
            seed=rule.seed,
            max_epochs=rule.max_epochs,
            tol=-1.0 if self.tol is None else float(self.tol),
            most_error=most_error,
            before=before,
            safety=0.0 if rule.eta else STEP_FRACTION,
            largest_norm=largest_norm,
        )
        if run.overflow_row >= 0 or not all(np.isfinite(a).all() for a in state.lanes.values()):
            self._refuse_overflow(state, batch)
        state.presented = run.last.weight
        state.clock["squared_error"] = run.last.sum
        state.clock["zero_error"] = run.last.zero_sum
        return run

    # ------------------------------------------------------------------ messages

    def _refuse_growth(
        self, run: native.WidrowHoffRun, state: OnlineState, start_error: float
    ) -> None:
        """Raise if an unsafe step size made the error much larger than that of no training."""
        error = run.mean_squared_error[-1]
        if self._fixed_eta() > self._safe_eta(state) and error > DIVERGENCE_FACTOR * start_error:
            self._refuse_eta(state, f"grew from {start_error:.3g} to {error:.3g}")

    def _refuse_overflow(self, state: OnlineState, batch: TrainingBatch) -> None:
        if self._fixed_eta() > self._safe_eta(state) > 0:
            self._refuse_eta(state, "grew until it overflowed")
        raise ValueError(
            f"Weights or errors overflowed to infinity while training in {state.dtype}: the "
            f"largest |x| is {np.abs(batch.rows.values).max():.3g}, the largest |y| "
            f"{np.abs(batch.target).max():.3g}. Scale the columns and y first."
        )

    def _refuse_eta(self, state: OnlineState, growth: str) -> None:
        space = " + 1" if self.fit_intercept else ""
        raise ValueError(
            f"The 'eta0' parameter of {type(self).__name__} is too large for these rows: with "
            f"eta0={self.eta0:g} the mean squared error {growth}. The largest safe value is "
            f"2 / max(|x|^2{space}) = {_rounded_down(self._safe_eta(state))}, below which no step "
            "overshoots. Lower eta0 below it, take eta0='auto', or scale the columns, for example "
            "with sklearn.preprocessing.StandardScaler or separable.TableEncoder."
        )

    def _limit(self, run: native.WidrowHoffRun) -> str:
        return "max_iter" if len(run.mean_squared_error) >= self.max_iter else "max_work"

    def _unconverged_message(self, run: native.WidrowHoffRun) -> str:
        before, last = run.mean_squared_error[-2:][0], run.mean_squared_error[-1]
        epochs = len(run.mean_squared_error)
        limits = {"max_iter": f"{self.max_iter}", "max_work": f"{self.max_work:.3g}"}
        limit = f"{self._limit(run)}={limits[self._limit(run)]}"
        return (
            f"{type(self).__name__} stopped after {epochs} epochs ({limit}) while its mean squared "
            f"error still moved, from {before:.6g} to {last:.6g} in the last one; tol={self.tol:g} "
            "requires five epochs without progress. Raise the limit, change eta0, scale the "
            "columns, or set tol=None to run exactly max_iter epochs."
        )


def _start_error(state: OnlineState, batch: TrainingBatch) -> float:
    """Return the larger mean squared error: of the initial weights, or of predicting 0."""
    w, b = state.weights()
    present = slice(None) if batch.present is None else batch.present
    weight = None if batch.counted.weight is None else batch.counted.weight[present]
    errors = [batch.target[present]]
    if w.any() or b.any():
        errors.append(linear_scores(batch.rows, w, b)[present, 0] - batch.target[present])
    with np.errstate(over="ignore"):
        return max(float(np.average(np.square(r), weights=weight)) for r in errors)


def _rounded_down(value: float) -> str:
    """Format a positive number with three digits, rounded down."""
    digit = 10.0 ** (math.floor(math.log10(value)) - 2)
    down = math.floor(value / digit) * digit
    return f"{down if down <= value else down - digit:.3g}"
