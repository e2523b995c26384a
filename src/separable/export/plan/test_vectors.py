"""Rows with what a model says to them, for exported code to test itself with."""

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

#: A score may differ by this share of the sum of absolute contributions.
PRECISION = 1e-9


@dataclass(frozen=True)
class Vector:
    """One row and its answers.

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
    """Return test rows.

    Parameters
    ----------
    model : LinearModel
    plan : Plan
        Of the model.
    rows : object, optional
        The raw rows to take, as the model's ``predict`` takes them; None: some are made up.
    """
    taken = made_rows(plan) if rows is None else given_rows(plan, rows)
    apart = _apart(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of levels that are unseen on purpose
        return tuple(_vector(apart, plan, row) for row in taken)


def _apart(model: LinearModel) -> LinearModel:
    """Return the model with an encoder whose ledger of unseen levels is its own."""
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
    shares = model_probabilities(model, scores)
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
        None if shares is None else tuple(shares[0].tolist()),
    )


def _as_predict_takes_it(model: LinearModel, plan: Plan, row: Any) -> Any:
    """Return a single row as data for the model; each goes alone, so that none changes a type."""
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
