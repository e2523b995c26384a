"""Evidence of an online run, computed from the data and the final weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.fitting.base import one_or_list
from separable.model.words import label_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.model.linear_model import LinearModel
    from separable.online.base_perceptron import PerceptronBase
    from separable.online.runs import Run, TrainingBatch
    from separable.online.state import OnlineState

__all__ = [
    "describe_margins",
    "describe_run",
    "largest_norm",
    "measure_margins",
    "unconverged_message",
]

#: Epochs whose mistakes are listed.
MAX_LISTED = 10_000


def measure_margins(state: OnlineState, batch: TrainingBatch, tie_target: int) -> native.Margins:
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


def describe_run(run: Run, rows_seen: int) -> dict[str, Any]:
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


def describe_margins(
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


def unconverged_message(
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
        "rounding": "an epoch without a mistake; what is left is within rounding of the boundary",
        "bound": f"max_work={learner.max_work:.3g} is far below the mistake bound (R / gamma)^2",
        "max_iter": f"max_iter={learner.max_iter}",
        "max_work": f"max_work={learner.max_work:.3g}",
    }[evidence["stopped_by"]]
    stopped = f"{name} stopped after {epochs} epochs ({limit}) with {left}{sides}: "
    margin = _smallest_margin(evidence)
    if margin is not None:
        return (
            f"{stopped}the classes are linearly separable, by a margin of at least {margin:.3g}, "
            "so more epochs would end without a mistake. Standardise the columns, which usually "
            "takes far fewer epochs, or raise the limit."
        )
    pocket = " or pocket=True" if hasattr(learner, "pocket") and not learner.pocket else ""
    return (
        f"{stopped}the data may not be linearly separable, or its columns are so far from 0 or of "
        f"such different sizes that more steps are needed. Use AveragedPerceptron{pocket} to make "
        "the best of it, scale the columns, or raise the limit."
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


def largest_norm(batch: TrainingBatch, *, fit_intercept: bool) -> float:
    """Return R = max |x| over all rows, in the space (1, x) with an intercept."""
    largest = batch.core.largest_squared_norm()
    return float(np.sqrt(largest + (1.0 if fit_intercept else 0.0)))
