"""Base class of the perceptrons: epochs and convergence, and the evidence of a run.

Evidence is computed from the data and the final weights.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from separable._core import native
from separable.data.rows import column_names, core_rows
from separable.estimator import convergence_warning
from separable.fitting.base import one_or_list
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
from separable.model.words import label_value
from separable.online.base import OnlineEstimator, partial_fit_classes
from separable.online.runs import Rule, Run, TrainingBatch, draw_seed, run_epochs
from separable.online.state import AVERAGED, WEIGHTS, OnlineState

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.model.linear_model import LinearModel
    from separable.online.base import Targets

__all__ = ["DOUBLE", "TIE_TARGETS", "PerceptronBase"]

DOUBLE = np.dtype(np.float64)
#: Values that the pocket may read in any case to evaluate weights.
POCKET_VALUES = 50_000_000
#: The target for which a score of exactly 0 counts as correct, by tie rule.
TIE_TARGETS = {"mistake": 0, "negative": -1, "positive": 1}


@dataclass(eq=False, repr=False, kw_only=True)
class PerceptronBase(OnlineEstimator):
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

    _estimator_type = "classifier"

    eta0: float = 1.0
    fit_intercept: bool = True
    max_work: float = 1e10
    ties: str = "mistake"
    class_weight: Any = None
    warm_start: bool = False

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

    max_iter: int | None = field(init=False)
    shuffle: bool = field(init=False)
    multi_class: str = field(init=False)

    partial_fit = partial_fit_classes

    def _fit_rows(self, X: Any, rows: Rows, targets: Targets, state: OnlineState) -> Self:
        self._check_ties()
        batch, zero_start = self._prepare(rows, targets, state)
        rule, original = self._fit_rule(state, batch.rows), batch
        if rule.shuffle:
            batch = batch.shuffled(rule.seed, rule.max_epochs)
        run = self._run(state, batch, rule)
        if run.converged and state.dtype == np.float32 and not self._averaged:
            state, run = self._confirm_in_double(state, run, batch, rule)
        state.rows_seen += batch.n_counted
        state.updates += int(run.mistakes.sum())
        evidence = _describe_run(run, state.rows_seen)
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
        self, rows: Rows, targets: Targets, state: OnlineState
    ) -> tuple[TrainingBatch, bool]:
        """Return the batch of ``fit``, and whether the state starts at zero."""
        zero_start = not state.lanes["w"].any() and not state.lanes["b"].any()
        state.weight_bound = None
        return TrainingBatch.of(rows, targets.target, targets.counted), zero_start

    def _stopped_by(self, run: Run) -> str:
        """Return why the epochs of a fit ended."""
        return "no mistakes" if run.converged else self._limit(run)

    def _limit(self, run: Run) -> str:
        """Return the limit that ended a fit with mistakes left, "overlap" or "bound"."""
        if run.overlaps.any():
            return "overlap"
        if run.is_far:
            return "bound"
        return "max_iter" if len(run.mistakes) >= self._max_epochs() else "max_work"

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
        evidence = _describe_margins(
            model,
            _measure_margins(state, batch, self._tie_target),
            run,
            (lambda: _largest_norm(batch, fit_intercept=self.fit_intercept)) if bounded else None,
            factor,
        )
        if run.converged and not evidence["converged"]:
            evidence["stopped_by"] = "rounding"
        return replace(model, evidence={**model.evidence, **evidence})

    def _warn_of_mistakes(self, model: LinearModel, labels: NDArray[Any], n_rows: int) -> None:
        """Warn of training rows that ``predict`` misclassifies."""
        evidence: dict[str, Any] = dict(model.evidence)
        if not evidence["converged"] and evidence["stopped_by"] != "eps":
            message = _unconverged_message(self, evidence, labels, n_rows)
            warnings.warn(message, convergence_warning(), stacklevel=4)
        elif self.ties == "positive" and evidence["tied_rows"] > 0:
            warnings.warn(
                f"{type(self).__name__} with ties='positive' counts a score of exactly 0 as the "
                f"positive class, and {evidence['tied_rows']} of {n_rows} training rows have that "
                "score. predict gives them the negative class, as every linear model does here. "
                "Use ties='mistake' for weights that put every row strictly on its side.",
                convergence_warning(),
                stacklevel=4,
            )

    @property
    def _tie_target(self) -> int:
        return TIE_TARGETS[self.ties]

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
        if _measure_margins(double, batch, self._tie_target).wrong_rows == 0:
            return state, run
        rows = batch.rows.astype(DOUBLE)
        batch = batch._replace(rows=rows, core=core_rows(rows))
        done = len(run.mistakes)
        later = rule._replace(first_epoch=done, max_epochs=max(1, rule.max_epochs - done))
        return double, run.followed_by(self._run(double, batch, later))


#: Epochs whose mistakes are listed.
MAX_LISTED = 10_000


def _measure_margins(state: OnlineState, batch: TrainingBatch, tie_target: int) -> native.Margins:
    """Return the margins and mistakes of all rows of positive weight.

    Parameters
    ----------
    state, batch
        Weights and rows.
    tie_target : int
        The target, -1 or +1, for which a score of exactly 0 is correct; 0: for neither.

    Returns
    -------
    native.Margins
        ``smallest``: min over rows of y (w.x + b) of each one-vs-rest model, or, under the argmax
        rule, the smallest margin of the true class; ``wrong_rows``: rows with a mistake in some
        model; ``tied_rows``: rows on the boundary of some model.
    """
    return native.margins(
        batch.core,
        state.native_weights(),
        batch.target,
        batch.present,
        first_class=state.first_class,
        n_models=state.n_models,
        argmax=state.rule == "argmax",
        tie_target=tie_target,
    )


def _describe_run(run: Run, rows_seen: int) -> dict[str, Any]:
    """Return the evidence of the run."""
    evidence: dict[str, Any] = {
        "epochs": len(run.mistakes),
        "converged": run.converged,
        "converged_models": run.converged_models.tolist(),
        "mistakes": run.mistakes[:MAX_LISTED].sum(axis=1).tolist(),
        "updates": int(run.mistakes.sum()),
        "updates_per_model": run.mistakes.sum(axis=0).tolist(),
        "rows_seen": rows_seen,
    }
    if run.verdicts:
        evidence["separability"] = [
            None if verdict is None else verdict._asdict() for verdict in run.verdicts
        ]
    return evidence


def _describe_margins(
    model: LinearModel,
    margins: native.Margins,
    run: Run,
    radius: Callable[[], float] | None,
    factor: int = 1,
) -> dict[str, Any]:
    """Return margin, radius and mistake bound of weights that separate the training rows.

    Parameters
    ----------
    model, margins, run
        The final weights, their margins on the training rows, and the run.
    radius : callable, optional
        Returns R, the largest row norm in the space of the bound; None if the bound does not
        apply.
    factor : int, default 1
        The bound is this multiple of (R / gamma)^2.
    """
    converged = run.converged and margins.wrong_rows == 0
    evidence: dict[str, Any] = {
        "converged": converged,
        "training_mistakes": margins.wrong_rows,
        "tied_rows": margins.tied_rows,
    }
    if run.pocket_mistakes:
        evidence["pocket_mistakes"] = run.pocket_mistakes
    evidence |= {"margin": None, "radius": None, "gamma": None, "bound": None}
    smallest = np.array(margins.smallest) + 0.0  # never -0.0
    if not converged or len(smallest) != len(model.weights):
        return evidence
    norm = np.linalg.norm(model.weights, axis=1)
    with np.errstate(divide="ignore"):
        evidence["margin"] = one_or_list(smallest / norm)
    if radius is not None:
        gamma = smallest / np.hypot(norm, model.intercept)
        evidence["radius"], evidence["gamma"] = radius(), one_or_list(gamma)
        if (gamma > 0).all():  # rows on the boundary, by the tie rule, prove nothing
            evidence["bound"] = one_or_list(factor * (evidence["radius"] / gamma) ** 2)
    return evidence


def _unconverged_message(
    learner: PerceptronBase, evidence: dict[str, Any], labels: NDArray[Any], n_rows: int
) -> str:
    """Return the warning of a fit that stopped with mistakes left."""
    name, epochs = type(learner).__name__, evidence["epochs"]
    sides = " of one of its one-vs-rest models" if len(evidence["converged_models"]) > 1 else ""
    left = f"{evidence['training_mistakes']} of {n_rows} training rows still on the wrong side"
    if evidence["stopped_by"] == "overlap":
        return (
            f"{name} stopped after {epochs} epochs: {_overlap_proof(evidence, labels)} The best "
            f"weights met are kept, with {left}{sides}. Use LogisticRegression, LinearSVM or "
            "AveragedPerceptron, which do not need separable classes, or add features."
        )
    limit = {
        "stalled": "a step no longer changes the weights, so more epochs cannot either",
        "rounding": "an epoch without a mistake; the rest is within rounding of the boundary",
        "bound": f"max_work={learner.max_work:.3g} is far below the mistake bound (R / gamma)^2",
        "max_iter": f"max_iter={learner._max_epochs():.0f}",
        "max_work": f"max_work={learner.max_work:.3g}",
    }[evidence["stopped_by"]]
    stopped = f"{name} stopped after {epochs} epochs ({limit}) with {left}{sides}: "
    margin = _smallest_margin(evidence)
    if margin is not None:
        return (
            f"{stopped}the classes are linearly separable, by a margin of at least {margin:.3g}, "
            "so more epochs would end without a mistake. Standardize the columns, which usually "
            "takes far fewer epochs, or raise the limit."
        )
    pocket = " or pocket=True" if hasattr(learner, "pocket") and not learner.pocket else ""
    return (
        f"{stopped}the data may not be linearly separable, or its columns are so far from 0 or of "
        f"such different sizes that more steps are needed. Use AveragedPerceptron{pocket}, scale "
        "the columns, or raise the limit."
    )


def _overlap_proof(evidence: dict[str, Any], labels: NDArray[Any]) -> str:
    """Return the sentences that name the first class that overlaps the rest, and prove it."""
    verdicts = evidence["separability"]
    models = [
        model
        for model, verdict in enumerate(verdicts)
        if verdict is not None and verdict["kind"] == "overlap"
    ]
    proof = verdicts[models[0]]
    names = [repr(label_value(label)) for label in labels]
    classes = f"the classes {names[0]} and {names[1]}"
    if len(verdicts) > 1:
        classes = f"class {names[models[0]]} from the rest"
        classes += f" (nor do {len(models) - 1} more)" if len(models) > 1 else ""
    return (
        f"no hyperplane separates {classes}. Proof: on {proof['n_rows']} rows, weighted means of "
        f"the two sides coincide, so a margin is at most {proof['margin']:.2g}."
    )


def _smallest_margin(evidence: dict[str, Any]) -> float | None:
    """Return the smallest margin of the unconverged models, None unless all are separable."""
    verdicts = [
        verdict
        for verdict, converged in zip(
            evidence.get("separability", []), evidence["converged_models"], strict=False
        )
        if not converged
    ]
    if not verdicts or any(v is None or v["kind"] != "separable" for v in verdicts):
        return None
    return min(float(verdict["margin"]) for verdict in verdicts)


def _largest_norm(batch: TrainingBatch, *, fit_intercept: bool) -> float:
    """Return R = max |x| over all rows, in the space (1, x) with an intercept."""
    largest = batch.core.largest_squared_norm()
    return float(np.sqrt(largest + (1.0 if fit_intercept else 0.0)))
