"""Test vectors: rows with the scores, predictions and probabilities of the model."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import Rows
from separable.export.plan.example_rows import made_rows
from separable.export.plan.given_rows import given_rows
from separable.features.dict_encoder import DictEncoder
from separable.features.one_hot.one_hot_encoder import OneHotEncoder
from separable.features.table.table_encoder import TableEncoder
from separable.model.predict.inputs import model_rows
from separable.model.predict.probability import classes_of, model_probabilities
from separable.model.predict.scores import linear_scores

if TYPE_CHECKING:
    from separable.export.plan.plan import Plan
    from separable.model.linear_model import LinearModel

__all__ = ["PRECISION", "Vector", "vectors_of"]

#: Tolerance of a score, relative to the sum of absolute contributions.
PRECISION = 1e-9


@dataclass(frozen=True)
class Vector:
    """One row with its expected results.

    Parameters
    ----------
    row : tuple, str or dict
        The values in the order of the columns; the text; the dict.
    scores : tuple of float
    sizes : tuple of float
        The sum of the absolute contributions to each score.
    prediction : object
        The class, the number, or a list of numbers.
    probabilities : tuple of float or None
    """

    row: Any
    scores: tuple[float, ...]
    sizes: tuple[float, ...]
    prediction: Any
    probabilities: tuple[float, ...] | None


def vectors_of(model: LinearModel, plan: Plan, rows: Any = None) -> tuple[Vector, ...]:
    """Return the test vectors of a model.

    Parameters
    ----------
    model : LinearModel
    plan : Plan
        Of the model.
    rows : object, optional
        Raw rows, as ``predict`` takes them; None: rows are generated.
    """
    taken = made_rows(plan) if rows is None else given_rows(plan, rows)
    detached = _detached(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # unseen levels are intended
        return tuple(_vector(detached, plan, row) for row in taken)


def _detached(model: LinearModel) -> LinearModel:
    """Return the model with a copy of its encoder, whose counts of unseen levels stay separate."""
    encoder = model.encoder
    if isinstance(encoder, TableEncoder):
        return replace(model, encoder=encoder.without_state())
    if isinstance(encoder, DictEncoder):
        return replace(model, encoder=DictEncoder.from_parts(*encoder.to_parts()))
    return model


def _vector(model: LinearModel, plan: Plan, row: Any) -> Vector:
    encoded = model_rows(model, _as_predict_takes_it(model, plan, row))
    scores = linear_scores(encoded, model.weights, model.intercept)
    sizes = linear_scores(
        Rows(np.abs(encoded.values), encoded.n_features, encoded.indices, encoded.indptr),
        np.abs(model.weights),
        np.abs(model.intercept),
    )
    class_probabilities = model_probabilities(model, scores)
    values = scores[0].tolist()
    if model.classes is not None:
        prediction = classes_of(scores, model.classes)[0].item()
    else:
        prediction = values[0] if len(values) == 1 else values
    return Vector(
        row,
        tuple(values),
        tuple(sizes[0].tolist()),
        prediction,
        None if class_probabilities is None else tuple(class_probabilities[0].tolist()),
    )


def _as_predict_takes_it(model: LinearModel, plan: Plan, row: Any) -> Any:
    """Return a row as input of ``predict``; rows go one by one, so that types stay independent."""
    if plan.takes == "numbers":
        return np.array([row], dtype=np.float64)
    if plan.takes in ("text", "record"):
        return [row]
    if isinstance(model.encoder, OneHotEncoder):
        table = np.empty((1, len(row)), dtype=object)
        table[0] = [
            np.nan if value is None and getattr(step, "missing_is_nan", False) else value
            for step, value in zip(plan.steps, row, strict=True)
        ]
        return table
    return [dict(zip(plan.columns, row, strict=True))]
