"""Base class of the perceptrons: epochs, convergence and evidence."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from separable.data.rows import as_rows, column_names, core_rows
from separable.estimator import ClassifierMixin, convergence_warning
from separable.model.parameters import (
    BOOL,
    CLASS_WEIGHT,
    COUNT,
    POSITIVE,
    POSITIVE_OR_INF,
    RANDOM_STATE,
    ParameterError,
    Requirement,
    one_of,
)
from separable.online.base import OnlineEstimator, partial_fit_classes
from separable.online.evidence import (
    describe_margins,
    describe_run,
    largest_norm,
    measure_margins,
    unconverged_message,
)
from separable.online.runs import Rule, Run, TrainingBatch, draw_seed, run_epochs
from separable.online.state import AVERAGED, WEIGHTS, OnlineState

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.model.linear_model import LinearModel

__all__ = ["DOUBLE", "TIE_TARGETS", "PerceptronBase"]

DOUBLE = np.dtype(np.float64)
#: Values that the pocket may read in any case to evaluate weights.
POCKET_VALUES = 50_000_000
#: The target for which a score of exactly 0 counts as correct, by tie rule.
TIE_TARGETS = {"mistake": 0, "negative": -1, "positive": 1}


class PerceptronBase(ClassifierMixin, OnlineEstimator):
    """Base of ``Perceptron``, ``AveragedPerceptron``, ``BatchPerceptron``, ``VotedPerceptron``.

    Parameters
    ----------
    eta0 : float
        Learning rate. From a zero start it scales the weights and changes no prediction.
    max_iter : int
        Maximum number of epochs; an epoch without a mistake ends the fit sooner.
    max_work : float
        Limit on the numbers read: rows x non-zeros x epochs for each block of models.
    multi_class : {"ovr", "argmax"}
        For three or more classes: one-vs-rest, or the multi-class rule, which adds a misclassified
        row to the weights of its class and subtracts it from those of the highest-scoring class.
    ties : {"mistake", "negative", "positive"}
        How training treats a score of exactly 0; see ``Perceptron``.
    """

    _averaged: ClassVar[bool] = False
    _requirements: ClassVar[dict[str, Requirement]] = {
        "eta0": POSITIVE,
        "fit_intercept": BOOL,
        "max_iter": COUNT,
        "max_work": POSITIVE_OR_INF,
        "shuffle": BOOL,
        "random_state": RANDOM_STATE,
        "multi_class": one_of("ovr", "argmax"),
        "ties": one_of(*TIE_TARGETS),
        "class_weight": CLASS_WEIGHT,
        "warm_start": BOOL,
    }

    max_iter: int | None
    max_work: float
    shuffle: bool
    multi_class: str
    ties: str
    warm_start: bool

    partial_fit = partial_fit_classes

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
            The class of each row; at least two classes.
        coef_init : array-like of shape (k, d), optional
            Initial weights; default zeros.
        intercept_init : array-like of shape (k,), optional
            Initial intercepts; default zeros.
        sample_weight : array-like of shape (n,), optional
            A row of weight k + f (k an integer, 0 <= f < 1) is presented k times in a row and once
            more with its step scaled by f; rows of weight 0 are ignored.

        Returns
        -------
        self
        """
        batch, state, zero_start = self._prepare(X, y, coef_init, intercept_init, sample_weight)
        rule, original = self._fit_rule(state, batch.rows), batch
        if rule.shuffle:
            batch = batch.shuffled(rule.seed, rule.max_epochs)
        run = self._run(state, batch, rule)
        if run.converged and state.dtype == np.float32 and not self._averaged:
            state, run = self._confirm_in_double(state, run, batch, rule)
        state.rows_seen += batch.n_counted
        state.updates += int(run.mistakes.sum())
        evidence = describe_run(run, state.rows_seen)
        evidence["stopped_by"] = self._stopped_by(run)
        model = self._build_model(state, column_names(X), evidence)
        if not self._averaged:
            bounded = zero_start and batch.counted.weight is None and state.rule == "ovr"
            # check claimed separation in float64
            looked_at = state.astype(DOUBLE) if run.converged else state
            model = self._with_margins(model, looked_at, batch, run, bounded=bounded)
            self._warn_of_mistakes(model, state.labels, batch.n_counted)
        self._keep(X, state, model, len(run.mistakes))
        if self._averaged:  # the others warn about remaining mistakes
            self._warn_of_poor_fit(model, original, state.labels[original.target])
        return self

    # ------------------------------------------------------------------ steps

    def _prepare(
        self, X: Any, y: Any, coef_init: Any, intercept_init: Any, sample_weight: Any
    ) -> tuple[TrainingBatch, OnlineState, bool]:
        """Check the input of ``fit``; return the batch, the state and whether it starts at zero."""
        self._check_parameters()
        self._check_ties()
        rows = as_rows(X)
        targets = self._targets(y, rows.n_rows, sample_weight)
        self._check_eta(rows.values.dtype)
        state = self._start(rows, targets.classes, coef_init, intercept_init)
        zero_start = not state.lanes["w"].any() and not state.lanes["b"].any()
        state.weight_bound = None
        return TrainingBatch.of(rows, targets.target, targets.counted), state, zero_start

    def _stopped_by(self, run: Run) -> str:
        """Return why the epochs of a fit ended."""
        return "no mistakes" if run.converged else self._limit(run)

    def _limit(self, run: Run) -> str:
        """Return the limit that ended a fit with mistakes left, "overlap" or "bound"."""
        if run.overlaps.any():
            return "overlap"
        if run.is_far:
            return "bound"
        reached = self.max_iter is not None and len(run.mistakes) >= self.max_iter
        return "max_iter" if reached else "max_work"

    def _with_margins(
        self,
        model: LinearModel,
        state: OnlineState,
        batch: TrainingBatch,
        run: Run,
        *,
        bounded: bool,
        factor: int = 1,
    ) -> LinearModel:
        """Return the model with margin, radius and mistake bound in its evidence."""
        evidence = describe_margins(
            model,
            measure_margins(state, batch, self._tie_target),
            run,
            (lambda: largest_norm(batch, fit_intercept=self.fit_intercept)) if bounded else None,
            factor,
        )
        if run.converged and not evidence["converged"]:
            evidence["stopped_by"] = "rounding"
        return replace(model, evidence={**model.evidence, **evidence})

    def _warn_of_mistakes(self, model: LinearModel, labels: NDArray[Any], n_rows: int) -> None:
        """Warn of training rows that ``predict`` misclassifies."""
        evidence: dict[str, Any] = dict(model.evidence)
        if not evidence["converged"] and evidence["stopped_by"] != "eps":
            message = unconverged_message(self, evidence, labels, n_rows)
            warnings.warn(message, convergence_warning(), stacklevel=3)
        elif self.ties == "positive" and evidence["tied_rows"] > 0:
            warnings.warn(
                f"{type(self).__name__} with ties='positive' counts a score of exactly 0 as the "
                f"positive class, and {evidence['tied_rows']} of {n_rows} training rows have that "
                "score. predict gives them the negative class, as every linear model does here. "
                "Use ties='mistake' for weights that put every row strictly on its side.",
                convergence_warning(),
                stacklevel=3,
            )

    @property
    def _tie_target(self) -> int:
        return TIE_TARGETS[self.ties]

    def _keep(self, X: Any, state: OnlineState, model: LinearModel, epochs: int) -> Self:
        """Store the result of a fit."""
        self._remember_columns(X)
        self._state, self._model = state, model
        self.n_iter_ = epochs
        return self

    def _run(self, state: OnlineState, batch: TrainingBatch, rule: Rule) -> Run:
        """Run the epochs of ``fit``, training the state in place."""
        return Run(run_epochs(state, batch, rule))

    def _make_state(
        self,
        classes: NDArray[Any] | None,
        n_features: int,
        dtype: np.dtype[Any],
        open_classes: bool = False,
    ) -> OnlineState:
        layout = AVERAGED if self._averaged else WEIGHTS
        return OnlineState(classes, n_features, dtype, self.multi_class, layout, open_classes)

    def _can_stream(self) -> bool:
        if getattr(self, "pocket", False):
            raise AttributeError(
                "pocket=True compares weights on all rows, which a stream does not have: "
                "partial_fit needs pocket=False. AveragedPerceptron serves streams that are not "
                "separable."
            )
        return True

    def _check_ties(self) -> None:
        if self.ties != "mistake" and getattr(self, "multi_class", "ovr") == "argmax":
            raise ParameterError(
                f"The 'ties' parameter of {type(self).__name__} must be 'mistake' with "
                "multi_class='argmax', where classes compete and none is the negative one. Got "
                f"{self.ties!r} instead. Use multi_class='ovr'."
            )

    def _check_stream_parameters(self, state: OnlineState | None) -> None:
        super()._check_stream_parameters(state)
        self._check_ties()

    def _check_chunk(self, state: OnlineState) -> None:
        """Refuse a tie rule that needs ``classes``.

        Without ``classes`` the model of a new class is the negative of the other model or a copy
        of the ghost. This is correct only if the tie rule treats both targets alike.
        """
        if self.ties != "mistake" and state.open_classes:
            raise ValueError(
                f"ties={self.ties!r} treats the two targets of a model differently, so the classes "
                "must be known before the first row. Give classes=[...] at the first call to "
                "partial_fit, or use ties='mistake'."
            )

    def _check_continuation(self, state: OnlineState) -> None:
        if state.rule != self.multi_class:
            raise ValueError(
                f"multi_class was {state.rule!r} when the learning began and cannot become "
                f"{self.multi_class!r}. Start a new estimator."
            )

    def _foresee(
        self, state: OnlineState, rows: Rows, largest: float, steps: float
    ) -> tuple[bool, float | None]:
        weight_bound = state.weight_bound_after(largest, steps, float(self.eta0))
        return state.is_safe(weight_bound, largest, rows.values.size), weight_bound

    def _learn_chunk(self, state: OnlineState, batch: TrainingBatch) -> None:
        self._check_chunk(state)
        rule = Rule(float(self.eta0), bool(self.fit_intercept), tie_target=self._tie_target)
        runs = run_epochs(state, batch, rule)
        made = [mistakes for run in runs for mistakes in run.mistakes[0]]
        state.updates += sum(made[: state.n_models - state.n_ghosts])

    def _fit_rule(self, state: OnlineState, rows: Rows) -> Rule:
        """Return the rule of ``fit``; ``max_work`` may allow fewer epochs, but at least one."""
        work = max(1, rows.values.size) * state.n_blocks
        return Rule(
            eta=float(self.eta0),
            fit_intercept=bool(self.fit_intercept),
            max_epochs=max(1, int(min(self._max_epochs(), self.max_work / work))),
            shuffle=bool(self.shuffle),
            seed=draw_seed(self.random_state),
            pocket_values=POCKET_VALUES if getattr(self, "pocket", False) else -1,
            tie_target=self._tie_target,
        )

    def _max_epochs(self) -> float:
        """Return the maximum number of epochs, whatever they cost."""
        assert self.max_iter is not None
        return self.max_iter

    def _confirm_in_double(
        self, state: OnlineState, run: Run, batch: TrainingBatch, rule: Rule
    ) -> tuple[OnlineState, Run]:
        """Continue in float64 if rows separated in float32 are misclassified in float64."""
        double = state.astype(DOUBLE)
        if measure_margins(double, batch, self._tie_target).wrong_rows == 0:
            return state, run
        rows = batch.rows.astype(DOUBLE)
        batch = batch._replace(rows=rows, core=core_rows(rows))
        done = len(run.mistakes)
        later = rule._replace(first_epoch=done, max_epochs=max(1, rule.max_epochs - done))
        return double, run.followed_by(self._run(double, batch, later))
