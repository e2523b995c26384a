"""Contents of the report of a model file, with metrics on labelled rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.cli.io.labelled_rows import (
    all_targets,
    constant_of,
    positive_of,
    refuse_several_targets,
    rows_with_targets,
    true_targets_of,
    weights_of_part,
)
from separable.cli.io.model_rows import load_model, note_reports
from separable.cli.options.options import load_trusted
from separable.cli.render.messages import step
from separable.data.row_operations import stack_rows
from separable.model.metrics.evaluation import evaluation
from separable.model.metrics.metric_registry import predictions_of
from separable.report.contents import Measured
from separable.report.hard_rows import hard_rows, seen_in_training
from separable.report.record_contents import recalled
from separable.report.reporting import growth_of, separability_part
from separable.workflow.options import data_name
from separable.workflow.scored_rows import ScoredRows, raw_values

if TYPE_CHECKING:
    from separable.model.kinds import Model
    from separable.report.contents import Contents
    from separable.workflow.options import ReadingOptions


__all__ = [
    "MeasuredOn",
    "model_contents",
]


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
