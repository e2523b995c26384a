"""Fast scores of a single raw record, without building a table.

Sums are in the order of ``linear_scores``, so the result is bit-identical to that of a table row.
"""

from __future__ import annotations

import math
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separable.model.linear_model import LinearModel

__all__ = ["WeightColumns", "class_of_scores", "record_scores"]

#: Up to this many weights are also kept as Python floats.
KEPT_WEIGHTS = 1 << 18
#: Columns whose products are summed contiguously, as in ``linear_scores``.
BLOCK = 4096


class WeightColumns:
    """Weights of a model by column.

    Parameters
    ----------
    model : LinearModel
    """

    def __init__(self, model: LinearModel) -> None:
        keeps_all = model.weights.size <= KEPT_WEIGHTS
        self.weights: Any = model.weights.tolist() if keeps_all else list(model.weights)
        self.intercept: list[float] = model.intercept.tolist()
        self.classes: list[Any] | None = None if model.classes is None else model.classes.tolist()


def record_scores(model: LinearModel, record: Any, columns: WeightColumns) -> list[float] | None:
    """Return the scores of a dict, or None if the encoder needs a table.

    Parameters
    ----------
    model : LinearModel
        With an encoder.
    record : object
    columns : WeightColumns
        Of the model.
    """
    encode_one = getattr(model.encoder, "encode_one", None)
    if encode_one is None or model.threshold is not None or not isinstance(record, dict):
        return None
    pairs = encode_one(record)
    if pairs is None:
        return None
    pairs.sort(key=itemgetter(0))
    blocks = [pairs]
    if model.n_features > BLOCK:
        blocks = [list(block) for _, block in groupby(pairs, lambda pair: pair[0] // BLOCK)]
    scores = []
    for weights, intercept in zip(columns.weights, columns.intercept, strict=True):
        total = 0.0
        for block in blocks:
            part = 0.0
            for column, value in block:
                part += weights[column] * value
            total += part
        scores.append(float(total + intercept))
    return scores if all(map(math.isfinite, scores)) else None


def class_of_scores(scores: list[float], classes: list[Any]) -> Any:
    """Return the class of scores: of two, > 0 is the second; else the first largest."""
    if len(classes) <= 2:
        return classes[scores[0] > 0] if len(classes) == 2 else classes[0]
    return classes[scores.index(max(scores))]
