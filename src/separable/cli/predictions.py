"""Predictions as columns, and these as CSV and as JSON lines."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, TypeAlias

from separable.cli.output import json_bytes
from separable.model.probability import model_probabilities

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.model.kinds import Model

    Columns: TypeAlias = dict[str, list[Any]]

__all__ = ["as_csv", "as_json_lines", "prediction_columns"]


def prediction_columns(model: Model, rows: Rows) -> Columns:
    """Return the predictions of some rows and what belongs to them, by name.

    Classes: ``prediction``; ``score``, or with three or more classes ``score_<class>`` for each;
    and ``probability_<class>`` for each where the model gives probabilities. Numbers:
    ``prediction`` alone, or with several targets ``prediction_0`` and so on.

    Parameters
    ----------
    model : LinearModel or VotedModel
    rows : Rows

    Returns
    -------
    dict of str to list
    """
    explanation = model.explain(rows)
    scores = explanation.all_scores  # computed once, for all that follows
    if model.classes is None:
        return _named("prediction", range(scores.shape[1]), scores)
    labels = model.classes.tolist()
    columns = {"prediction": explanation.predicted.tolist(), **_named("score", labels, scores)}
    chances = model_probabilities(model, scores)
    if chances is not None:
        for label, chance in zip(labels, chances.T, strict=True):
            columns[f"probability_{label}"] = chance.tolist()
    return columns


def as_csv(columns: Columns, *, header: bool) -> bytes:
    """Return columns as lines of CSV, perhaps with a header line."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if header:
        writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue().encode()


def as_json_lines(columns: Columns, *, header: bool) -> bytes:  # noqa: ARG001 # as `as_csv`
    """Return columns as one JSON object a row; each names its values, so there is no header."""
    lines = zip(*columns.values(), strict=True)
    return b"".join(json_bytes(dict(zip(columns, line, strict=True))) for line in lines)


def _named(what: str, labels: Iterable[Any], values: NDArray[np.float64]) -> Columns:
    """Name the columns of an array, by label where there are several."""
    if values.shape[1] == 1:
        return {what: values[:, 0].tolist()}
    return {f"{what}_{label}": values[:, k].tolist() for k, label in enumerate(labels)}
