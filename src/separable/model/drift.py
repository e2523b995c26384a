"""Drift of a linear score: how far new rows move it from the training rows, column by column.

The mean score is the intercept plus the mean contributions of the columns. Its change is exactly
the sum of the changes of the columns, so the table says which column moved, and what that does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separable.model.linear_model import LinearModel
from separable.model.words import lined_up, number, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.model.feature_sums import FeatureSums
    from separable.model.kinds import Model

__all__ = ["ColumnDrift", "Drift", "drift"]

#: Differences of more standard errors than this are marked.
NOTABLE = 4.0
#: Columns that the text shows.
SHOWN = 20
#: Unusual values that are counted.
KINDS = ("missing", "unseen", "out_of_range")


@dataclass(frozen=True)
class ColumnDrift:
    """The contribution of a column to a score, on training rows and on new ones.

    Parameters
    ----------
    column : str
    label : object
        The class of the score; None where there is one score.
    training, new : float
        Mean contributions.
    z : float
        Their difference in standard errors of the new mean, from the training variance.
    missing, unseen, out_of_range : int
        Values of the new rows.
    """

    column: str
    label: Any
    training: float
    new: float
    z: float
    missing: int = 0
    unseen: int = 0
    out_of_range: int = 0

    @property
    def change(self) -> float:
        """The change of the mean score that this column causes."""
        return self.new - self.training


@dataclass(frozen=True)
class Drift:
    """The changes of all columns.

    Parameters
    ----------
    n_rows : int
        The number of new rows.
    columns : tuple of ColumnDrift
        The largest changes first.
    """

    n_rows: int
    columns: tuple[ColumnDrift, ...]

    def __str__(self) -> str:
        head = ("column", "mean in training", "now", "change", "z", "missing", "unseen", "outside")
        rows = [head, *(_cells(each) for each in self.columns[:SHOWN])]
        more = len(self.columns) - SHOWN
        end = [f"and {more} more"] if more > 0 else []
        return "\n".join([self._headline(), "", lined_up(rows), *end])

    def _headline(self) -> str:
        moved = [each for each in self.columns if abs(each.z) > NOTABLE]
        if not moved:
            return f"{self.n_rows} rows: no column moves a score by more than chance does."
        first = moved[0]
        score = "the score" if first.label is None else f"the score of {shown(first.label)}"
        return (
            f"{self.n_rows} rows: {shown(first.column)} moves {score} the most, by "
            f"{number(first.change)} ({abs(first.z):.3g} standard errors)."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the drift as JSON values."""
        columns = [{**vars(each), "change": each.change} for each in self.columns]
        return {"rows": self.n_rows, "columns": columns}


def drift(
    model: Model, sums: FeatureSums, counts: Mapping[tuple[str, str], int] | None = None
) -> Drift:
    """Compare the contributions on new rows with those on the training rows.

    Parameters
    ----------
    model : LinearModel
        With `column_statistics`, as ``train`` saves them.
    sums : FeatureSums
        Of the new rows.
    counts : mapping of (column, kind) to int, optional
        Missing, unseen and out-of-range values.

    Raises
    ------
    ValueError
        The model does not know its training rows.
    """
    known = model.column_statistics if isinstance(model, LinearModel) else ()
    if not isinstance(model, LinearModel) or not known:
        raise ValueError(
            "This model has no statistics of its training rows. Train it again with separable "
            "train, and save it."
        )
    if not sums.n_rows:
        raise ValueError("There are no rows to compare with the training rows.")
    labels = [None] if model.n_scores == 1 else list(range(model.n_scores))
    if model.n_scores > 1 and model.classes is not None:
        labels = model.classes.tolist()
    means, counted = sums.mean_contributions(), counts or {}
    columns = []
    for each in known:
        met = {
            kind: counted.get((each.name, kind), 0)
            for kind in ("missing", "unseen", "out_of_range")
        }
        now = means[each.name].tolist()
        for k, label in enumerate(labels):
            error = math.sqrt(each.variance[k] / sums.n_rows)
            change = now[k] - each.mean[k]
            z = change / error if error > 0 else math.copysign(math.inf, change) if change else 0.0
            columns.append(ColumnDrift(each.name, label, each.mean[k], now[k], z, **met))
    columns.sort(key=lambda each: -abs(each.change))
    return Drift(sums.n_rows, tuple(columns))


def _cells(each: ColumnDrift) -> tuple[str, ...]:
    name = shown(each.column, 40)
    if each.label is not None:
        name += f" ({shown(each.label, 24)})"
    figures = (each.training, each.new, each.change)
    counts = (each.missing, each.unseen, each.out_of_range)
    return (name, *map(number, figures), f"{each.z:.3g}", *map(str, counts))
