"""Contents of the report of a training run or of a model file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.cli.io.model_rows import load_model, note_reports
from separable.cli.io.output import data_name
from separable.cli.io.role_columns import (
    all_targets,
    constant_of,
    positive_of,
    refuse_several_targets,
    rows_with_targets,
    true_targets_of,
    weights_of_part,
)
from separable.cli.options.options import load_trusted
from separable.cli.render.messages import step
from separable.cli.training.training import data_of, raw_values, tried_of
from separable.data.row_operations import stack_rows
from separable.model.metrics.evaluation import evaluation
from separable.model.metrics.metric_registry import predictions_of
from separable.report.bounded_sections import NUMBERS_PREDICTED, learning_curve_of, separability_of
from separable.report.contents import Absent, Measured
from separable.report.reporting import growth_of, separability_part
from separable.report.scored_rows import ScoredRows, hard_rows, seen_in_training
from separable.report.training_record import NOT_TESTED, recalled

if TYPE_CHECKING:
    from separable.cli.options.options import ReadingOptions
    from separable.cli.training.training import Training
    from separable.model.kinds import Model
    from separable.report.contents import Contents


__all__ = [
    "MeasuredOn",
    "model_contents",
    "training_contents",
]


def training_contents(training: Training, model_file: str) -> Contents:
    """Return the contents of the report of a training run.

    Parameters
    ----------
    training : Training
        A run that kept its rows.
    model_file : str
        The path of the model.

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
        return replace(contents, **_learning_curve(training))


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


def _learning_curve(training: Training) -> dict[str, Any]:
    problem, comparison, kept = training.problem, training.comparison, training.kept
    assert kept is not None
    candidate, chosen = comparison.candidate, kept.compared.chosen
    encoder, rows = kept.compared(counts=candidate.counts)
    held = " for training" if len(chosen) < len(problem) else ""
    in_time = "; the report's held-out rows are later in time, those of the curve are not"
    curve, about = learning_curve_of(
        candidate.for_comparing(encoder, **comparison.params),
        rows.to_matrix(),
        problem.target.values[chosen],
        is_classifier=problem.task == "classification",
        weight=problem.weight_of(chosen),
        groups=None if problem.groups is None else problem.groups[chosen],
        seed=problem.options.seed,
        how=f"{held}, encoded once{in_time if problem.times is not None else ''}",
    )
    return {"learning_curve": curve, "learning_curve_rows": about}


def _sha256(data: str) -> str | None:
    """Return the SHA-256 of the data, if it is one file."""
    if data == "-" or not Path(data).is_file():
        return None
    with Path(data).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class MeasuredOn:
    """The test rows of a model, as given on the command line."""

    data: str
    target: str | None
    weight: str | None
    positive: str | None
    column: str | None
    reading: ReadingOptions


def model_contents(path: str, given: MeasuredOn | None, title: str | None) -> Contents:
    """Return the contents of the report of a model file.

    Parameters
    ----------
    path : str
        The model file.
    given : MeasuredOn or None
        None: only the training record of the file.
    title : str or None

    Returns
    -------
    Contents
    """
    if given is None:
        return recalled(load_trusted(path), model_file=data_name(path), title=title)
    model = load_model(path)
    refuse_several_targets(model, path)
    positive = positive_of(model, given.positive)
    contents = recalled(model, model_file=data_name(path), title=title)
    scored = _scored_rows(model, given)
    figures = evaluation(
        scored.predictions, scored.y_true, scored.weight, positive, constant_of(model)
    )
    rows, about = hard_rows(scored)
    contents = replace(
        contents,
        measured=Measured(
            f"{len(scored.y_true)} rows of {data_name(given.data)}",
            figures,
            scored.y_true,
            scored.predictions,
            scored.weight,
            **seen_in_training(scored, model.training_rows),
        ),
        hard_rows=rows,
        hard_rows_about=about,
    )
    of_what = f" of {data_name(given.data)}"
    with step("Testing for separability"):
        contents = replace(contents, **separability_part(scored, of_what))
    with step("Measuring the learning curve"):
        return replace(contents, **growth_of(scored, f"{of_what}, encoded as in training"))


def _scored_rows(model: Model, given: MeasuredOn) -> ScoredRows:
    """Return the labelled rows of a file, with the predictions of the model."""
    import pyarrow as pa

    result, target = rows_with_targets(
        model, given.data, given.target, given.weight, given.column, given.reading
    )
    rows, targets, weights, indices, tables, reports = [], [], [], [], [], []
    for part in result:
        reports.append(part.report)
        y_true, mask = true_targets_of(model, part, target)
        chosen = np.flatnonzero(mask)
        weight = weights_of_part(part, mask, given.weight, given.data)
        chosen, y_true, weight = chosen[weight > 0], y_true[weight > 0], weight[weight > 0]
        rows.append(part.rows.take(chosen))
        targets.append(y_true)
        weights.append(weight)
        indices.append(part.first_row + chosen)
        if part.table is not None:
            tables.append(part.table.take(chosen))
    note_reports(model, reports)
    y_true = all_targets(targets, given.data, target)
    whole = stack_rows(rows, model.n_features)
    raw = None
    if tables and model.encoder is not None:
        raw = raw_values(pa.concat_tables(tables), result.raw_columns, _renamed(model, result))
    weight = np.concatenate(weights)
    return ScoredRows(
        model,
        whole,
        y_true,
        predictions_of(model, whole),
        np.concatenate(indices),
        None if (weight == 1).all() else weight,
        raw,
    )


def _renamed(model: Model, feed: Any) -> dict[str, str]:
    """Return the name of a column in the encoder, by its name in the file, if they differ."""
    if getattr(model.encoder, "kind", None) != "text":
        return {}
    (name,) = feed.raw_columns
    return {name: "text"}
