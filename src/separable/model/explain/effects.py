"""Effects of an additive model: contributions along curves, and over pairs of columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from separable.model.linear_model import LinearModel
    from separable.typing import Floats

__all__ = ["ERRORS", "CurveEffect", "PairEffect", "curve_effects", "pair_effects"]

#: Key of the evidence of a model: standard errors at the knots of each curve.
ERRORS = "curve_errors"


@dataclass(frozen=True)
class CurveEffect:
    """Contributions of a numeric column at its knots, with mean 0 over the training rows.

    Parameters
    ----------
    name : str
        Raw column.
    knots : ndarray, shape (n,)
    values : ndarray, shape (k, n)
        One row for each score.
    rows : ndarray, shape (n,)
        Training rows at each knot.
    errors : ndarray, shape (n,), or None
        Standard errors of the contributions to a single score; None: not known.
    """

    name: str
    knots: Floats
    values: Floats
    rows: Floats
    errors: Floats | None = None

    @property
    def size(self) -> float:
        """Mean absolute contribution over the training rows, of the largest score."""
        return float(np.average(np.abs(self.values), axis=1, weights=self.rows).max())


@dataclass(frozen=True)
class PairEffect:
    """Contributions of a pair of columns to each score, beyond those of each column.

    Parameters
    ----------
    columns : (str, str)
    positions : (ndarray or list of str, ndarray or list of str)
        Knots or levels of each column.
    values : ndarray, shape (k, n, m)
    """

    columns: tuple[str, str]
    positions: tuple[Any, Any]
    values: Floats


def curve_effects(model: LinearModel) -> dict[str, CurveEffect]:
    """Return the effect of each curve of a model, by column."""
    effects, first = {}, 0
    known: Any = model.evidence.get(ERRORS)
    known = known if isinstance(known, dict) else {}
    for column in getattr(model.encoder, "column_encoders", ()):
        if hasattr(column, "knots"):
            values = model.weights[:, first : first + len(column.knots)]
            centre = np.average(values, axis=1, weights=column.rows)
            errors = known.get(column.name, ())
            effects[column.name] = CurveEffect(
                column.name,
                column.knots,
                values - centre[:, None],
                column.rows,
                np.array(errors) if len(errors) == len(column.knots) else None,
            )
        first += column.width
    return effects


def pair_effects(model: LinearModel) -> dict[tuple[str, str], PairEffect]:
    """Return the effect of each pair of a model, by columns."""
    encoder = model.encoder
    start = sum(column.width for column in getattr(encoder, "column_encoders", ()))
    effects = {}
    for pair in getattr(encoder, "pair_encoders", ()):
        weights = model.weights[:, start : start + pair.width]
        cells = weights.reshape(-1, pair.first.width, pair.second.width)
        (first, rows), (second, columns) = _axis(pair.first), _axis(pair.second)
        effects[pair.columns] = PairEffect(pair.columns, (first, second), rows @ cells @ columns.T)
        start += pair.width
    return effects


def _axis(column: Any) -> tuple[Any, Floats]:
    """Return knots or levels, and the features of each."""
    if hasattr(column, "knots"):
        return column.knots, np.eye(len(column.knots), column.width)
    names = [name.removeprefix(f"{column.name}=") for name in column.feature_names]
    if names[:1] == ["True"]:  # false has no feature
        return ["False", *names], np.vstack([np.zeros(column.width), np.eye(column.width)])
    order = sorted(range(len(names)), key=lambda k: _number_or_last(names[k]))
    return [names[k] for k in order], np.eye(column.width)[order]


def _number_or_last(name: str) -> float:
    """Return the number that a level is; inf: none."""
    try:
        number = float(name)
    except ValueError:
        return math.inf
    return number if math.isfinite(number) else math.inf
