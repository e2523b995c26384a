"""Contents of the report of a training run."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separable.errors import Absent
from separable.report.bounded_sections import NUMBERS_PREDICTED, learning_curve_of, separability_of
from separable.report.contents import Measured
from separable.report.hard_rows import hard_rows
from separable.report.record_contents import NOT_TESTED, recalled
from separable.workflow.options import data_name
from separable.workflow.progress import step
from separable.workflow.training_run import data_of, tried_of

if TYPE_CHECKING:
    from separable.errors import Spelling
    from separable.report.contents import Contents
    from separable.workflow.training_run import TrainingRun


__all__ = ["run_contents"]


def run_contents(training: TrainingRun, model_file: str | None, title: str | None) -> Contents:
    """Return the contents of the report of a training run.

    Parameters
    ----------
    training : TrainingRun
    model_file : str or None
        The path of the model, if it was saved.
    title : str or None

    Returns
    -------
    Contents
    """
    problem, held_out = training.problem, training.held_out
    file = None if model_file is None else data_name(model_file)
    contents = recalled(training.model, model_file=file, title=title)
    contents = replace(
        contents,
        data=replace(data_of(problem, training.model), sha256=_sha256(problem.data)),
        tried=tried_of(training.comparison),
        hard_rows=Absent(NOT_TESTED),
    )
    if held_out is not None and held_out.scored is not None:
        scored = held_out.scored
        result, about = hard_rows(scored)
        contents = replace(
            contents,
            measured=Measured(
                held_out.how,
                held_out.figures,
                scored.y_true,
                scored.predictions,
                scored.weight,
                None if held_out.caution is None else held_out.caution.spelled(_spelling(training)),
                is_new=held_out.is_new,
            ),
            hard_rows=result,
            hard_rows_about=about,
        )
    with step("Testing for separability"):
        contents = replace(contents, **_separability(training))
    with step("Measuring the learning curve"):
        return replace(contents, **_learning_curve(training))


def _separability(training: TrainingRun) -> dict[str, Any]:
    problem, kept = training.problem, training.kept
    if problem.task == "regression":
        return {"separability": Absent(NUMBERS_PREDICTED)}
    encoder, rows = kept.trained(counts=training.comparison.candidate.counts)
    verdict, about = separability_of(
        rows,
        problem.target.values[kept.trained.chosen],
        of_what=f" of {data_name(problem.data)}",
        encoder=encoder,
        feature_names=encoder.feature_names,
        seed=problem.options.seed,
    )
    return {"separability": verdict, "separability_rows": about}


def _learning_curve(training: TrainingRun) -> dict[str, Any]:
    problem, comparison, kept = training.problem, training.comparison, training.kept
    candidate, chosen = comparison.candidate, kept.compared.chosen
    encoder, rows = kept.compared(counts=candidate.counts)
    held = " for training" if len(chosen) < len(problem) else ""
    in_time = "; the report's held-out rows are later in time, those of the curve are not"
    logs = " The target is the logarithm of the column." * problem.target_log
    curve, about = learning_curve_of(
        candidate.for_comparing(encoder, **comparison.params),
        rows.to_matrix(),
        problem.fit_values(chosen),
        is_classifier=problem.task == "classification",
        weight=problem.weight_of(chosen),
        groups=None if problem.groups is None else problem.groups[chosen],
        seed=problem.options.seed,
        how=f"{held}, encoded once{in_time if problem.times is not None else ''}",
    )
    return {"learning_curve": curve, "learning_curve_rows": f"{about}{logs}"}


def _spelling(training: TrainingRun) -> Spelling:
    return "command" if isinstance(training.problem.data, str) else "train"


def _sha256(data: Any) -> str | None:
    """Return the SHA-256 of the data, if it is one file."""
    if not isinstance(data, str) or data == "-" or not Path(data).is_file():
        return None
    with Path(data).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
