"""Importance of raw columns: mean absolute contribution to the score, as explanations add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.features.table.curve_column import CurveColumn
from separable.model.linear_model import LinearModel

if TYPE_CHECKING:
    from separable.data.rows import Rows
    from separable.features.table.table_encoder import TableEncoder
    from separable.model.kinds import Model
    from separable.typing import Floats

__all__ = ["Importance", "importance_of"]

#: Rows on which contributions are averaged: every k-th if there are more.
MOST_ROWS = 10_000

#: Types of which at most one feature of a row is not 0, so that absolute contributions add up.
EXCLUSIVE = ("number", "category", "boolean")

#: Contributions below this fraction of the largest, and below this fraction of the intercept, are
#: rounding errors, not features.
NEGLIGIBLE, OF_INTERCEPT = 1e-9, 1e-11


@dataclass(frozen=True, eq=False)
class Importance:
    """Mean absolute contributions of columns and of features on the training rows.

    Parameters
    ----------
    columns : tuple of (str, float)
        Raw columns and their mean absolute contribution, averaged over the scores; largest first.
    features : ndarray, shape (n_scores, n_features)
        Mean absolute contribution of each feature to each score.
    indices : dict of str to ndarray
        The features of each column.
    """

    columns: tuple[tuple[str, float], ...]
    features: Floats
    indices: dict[str, Any]

    def top_features(self, score: int, n: int, among: Any = None) -> list[int]:
        """Return the features with the largest contributions to a score, largest first."""
        values = self.features[score]
        chosen = np.arange(len(values)) if among is None else np.asarray(among)
        kept = chosen[values[chosen] > NEGLIGIBLE * max(float(values.max(initial=0.0)), 1e-300)]
        most = kept[np.argsort(-values[kept], kind="stable")[:n]]
        return [int(feature) for feature in most]


def importance_of(model: Model, encoder: TableEncoder, rows: Rows) -> Importance | None:
    """Return the importance of the columns; None for models that are not linear in the features.

    Parameters
    ----------
    model : LinearModel or VotedModel
    encoder : TableEncoder
        It made the rows.
    rows : Rows
        The training rows.
    """
    if not isinstance(model, LinearModel) or model.threshold is not None:
        return None
    if rows.n_rows > MOST_ROWS:
        rows = rows.take(np.arange(0, rows.n_rows, -(-rows.n_rows // MOST_ROWS)))
    X = rows.to_matrix()
    weights = np.asarray(model.weights)
    features = np.abs(weights) * np.asarray(abs(X).mean(axis=0)).reshape(1, -1)
    indices = _indices_by_column(encoder)
    types = {each.name: each.kind for each in encoder.terms if not isinstance(each, CurveColumn)}
    columns = {}
    for name, chosen in indices.items():
        if types.get(name) in EXCLUSIVE or len(chosen) == 1:
            columns[name] = float(features[:, chosen].sum(axis=1).mean())
        else:
            start, stop = int(chosen[0]), int(chosen[-1]) + 1  # the features of a column adjoin
            columns[name] = float(np.abs(X[:, start:stop] @ weights[:, start:stop].T).mean())
    least = max(
        NEGLIGIBLE * max(columns.values(), default=0.0),
        OF_INTERCEPT * float(np.abs(model.intercept).max(initial=0.0)),
    )
    kept = [(name, value) for name, value in columns.items() if value > least]
    return Importance(tuple(sorted(kept, key=lambda each: -each[1])), features, indices)


def _indices_by_column(encoder: TableEncoder) -> dict[str, Any]:
    """Return the features of each raw column, in the order of the encoder."""
    indices, start = {}, 0
    for each in encoder.terms:
        if each.width:
            indices[each.name] = np.arange(start, start + each.width)
            start += each.width
    return indices
