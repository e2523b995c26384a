"""Input of a model: raw or encoded data to rows."""

from __future__ import annotations

import math
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.row_operations import indicator_rows
from separable.data.rows import Rows, as_rows, check_indices, column_names, is_scipy_sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.features.base import Encoder
    from separable.model.kinds import Model
    from separable.model.linear_model import LinearModel


__all__ = [
    "WeightColumns",
    "class_of_scores",
    "encoded_rows",
    "model_rows",
    "pair_scores",
    "record_scores",
]

MAX_SHOWN = 8

#: Up to this many weights are also kept as Python floats.
KEPT_WEIGHTS = 1 << 18
#: Columns whose products are summed contiguously, as in ``linear_scores``.
BLOCK = 4096


def model_rows(model: Model, X: Any) -> Rows:
    """Return X as rows with the model's features; raise if they differ.

    A raw table is encoded by the model's encoder, if it has one. Arrays and sparse matrices are
    considered encoded, unless the encoder takes them as raw data; Rows always are. A model of
    indicators gets binarized values.
    """
    rows = encoded_rows(model, X)
    return rows if model.threshold is None else indicator_rows(rows, model.threshold)


def encoded_rows(model: Model, X: Any, *, check_values: bool = True) -> Rows:
    """Return the rows before binarization; their values may be left to ``linear_scores``."""
    if model.encoder is not None and not _is_encoded(model.encoder, X):
        rows = as_rows(model.encoder.encode(X), check_values=check_values)
    else:
        _check_names(model, column_names(X))
        rows = as_rows(X, check_values=check_values)
    if not check_values:
        check_indices(rows)
    expected = model.n_features
    if rows.n_features != expected:
        raise ValueError(
            f"X has {rows.n_features} features, but this {model.learner} model expects {expected}"
            f"{_listed(model.feature_names)}. Pass the columns it was trained on, in that order."
        )
    return rows


def _is_encoded(encoder: Encoder, X: Any) -> bool:
    if isinstance(X, Rows):
        return True
    if getattr(encoder, "takes_matrices", False):
        return False
    if isinstance(X, np.ndarray):
        return X.ndim != 1 or X.dtype.kind not in "OUST"  # a list of texts is raw
    return is_scipy_sparse(X)


def _check_names(model: Model, received: tuple[str, ...] | None) -> None:
    expected = model.feature_names
    if received is None or expected is None or received == expected:
        return
    here, wanted = set(received), set(expected)
    missing = [name for name in expected if name not in here]
    extra = [name for name in received if name not in wanted]
    if len(received) != len(expected):
        start = (
            f"X has {len(received)} features, but this {model.learner} model expects "
            f"{len(expected)}"
        )
    elif missing or extra:
        start = f"The columns of X are not those this {model.learner} model was trained on"
    else:
        index = next(
            i for i, pair in enumerate(zip(received, expected, strict=True)) if len({*pair}) > 1
        )
        raise ValueError(
            f"The columns of X are in another order than this {model.learner} model was trained "
            f"on: column {index} is {received[index]!r}, expected {expected[index]!r}. Reorder "
            "them, for example X[list(model.feature_names)]."
        )
    differences = [
        f"{word}: {_first_names(names)}"
        for word, names in (("missing", missing), ("extra", extra))
        if names
    ]
    raise ValueError(f"{start}. {'; '.join(differences) or 'Some columns are repeated'}.")


def _first_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else ""
    return ", ".join(repr(name) for name in names[:MAX_SHOWN]) + more


def _listed(names: Sequence[str] | None) -> str:
    return "" if names is None else f" ({_first_names(names)})"


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
    return None if pairs is None else pair_scores(model, pairs, columns)


def pair_scores(
    model: LinearModel, pairs: list[tuple[int, float]], columns: WeightColumns
) -> list[float] | None:
    """Return the scores of a row, given as its non-zeros; None if one is not finite."""
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


def class_of_scores(scores: list[float], classes: list[Any], threshold: float = 0.0) -> Any:
    """Return the class of scores: of two, the second above the threshold; else the largest."""
    if len(classes) <= 2:
        return classes[scores[0] > threshold] if len(classes) == 2 else classes[0]
    return classes[scores.index(max(scores))]
