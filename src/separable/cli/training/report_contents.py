"""What a report says of a training, with what takes time to find."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separable.cli.io.output import data_name
from separable.cli.render.messages import step
from separable.cli.training.report_facts import data_of, tried_of
from separable.report.contents import Absent, Measured
from separable.report.hardest_rows import hard_rows
from separable.report.learning_curve_part import learning_curve_of
from separable.report.separability_part import NUMBERS_PREDICTED, separability_of
from separable.report.training_record import NOT_TESTED, recalled

if TYPE_CHECKING:
    from separable.cli.training.training import Training
    from separable.report.contents import Contents

__all__ = ["training_contents"]

#: Time for a learning curve: seconds, or a fraction of the training time if that is longer.
LEAST_SECONDS, TIME_FRACTION = 5.0, 0.4


def training_contents(training: Training, model_file: str, seconds: float) -> Contents:
    """Return what a report of a training says.

    Parameters
    ----------
    training : Training
        With its rows kept.
    model_file : str
        Where the model was saved.
    seconds : float
        How long the training took: the learning curve takes less.

    Returns
    -------
    Contents
    """
    problem, held_out = training.problem, training.held_out
    contents = recalled(training.model, model_file=data_name(model_file))
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
                held_out.caution,
                is_new=held_out.is_new,
            ),
            hard_rows=result,
            hard_rows_about=about,
        )
    with step("Testing for separability"):
        contents = replace(contents, **_separability(training))
    with step("Measuring the learning curve"):
        return replace(contents, **_learning_curve(training, seconds))


def _separability(training: Training) -> dict[str, Any]:
    problem, kept = training.problem, training.kept
    if problem.task == "regression":
        return {"separability": Absent(NUMBERS_PREDICTED)}
    assert kept is not None
    encoder, rows = kept.trained(counts=training.comparison.candidate.counts)
    verdict, about = separability_of(
        rows,
        problem.target.values[kept.trained.chosen],
        of_what=f" of {data_name(problem.data)}",
        feature_names=encoder.feature_names,
        seed=problem.options.seed,
    )
    return {"separability": verdict, "separability_rows": about}


def _learning_curve(training: Training, seconds: float) -> dict[str, Any]:
    problem, comparison, kept = training.problem, training.comparison, training.kept
    assert kept is not None
    candidate, chosen = comparison.candidate, kept.compared.chosen
    encoder, rows = kept.compared(counts=candidate.counts)
    held = " of the training rows" if len(chosen) < len(problem) else ""
    in_time = "; the report's held-out rows are later in time, those of the curve are not"
    curve, about = learning_curve_of(
        candidate.for_comparing(encoder, **comparison.params),
        rows.to_matrix(),
        problem.target.values[chosen],
        seconds=max(LEAST_SECONDS, TIME_FRACTION * seconds),
        is_classifier=problem.task == "classification",
        weight=problem.weight_of(chosen),
        groups=None if problem.groups is None else problem.groups[chosen],
        seed=problem.options.seed,
        how=f"{held}, encoded once{in_time if problem.times is not None else ''}",
    )
    return {"learning_curve": curve, "learning_curve_rows": about}


def _sha256(data: str) -> str | None:
    """Return the SHA-256 of a file, where the data is one file."""
    if data == "-" or not Path(data).is_file():
        return None
    with Path(data).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
