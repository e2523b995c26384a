"""How a learner wants its numbers: standardised, or as counts; and what is told of it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.cli.learners import LEARNERS
from separable.data.table import CellError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.data.rows import Rows
    from separable.features.table_encoder import TableEncoder
    from separable.model.kinds import Model

__all__ = ["adds_counts", "notes_on_numbers", "refuse_negative"]


def adds_counts(estimator: Any) -> bool:
    """Return whether a learner takes only values >= 0, so that numbers must not be centred."""
    tags = getattr(estimator, "__sklearn_tags__", None)
    return tags is not None and bool(tags().input_tags.positive_only)


def refuse_negative(rows: Rows, encoder: TableEncoder, learner: str) -> None:
    """Refuse the first number below 0, for a learner that adds up counts."""
    negative = np.flatnonzero(rows.values.reshape(-1) < 0)
    if not len(negative):
        return
    place = int(negative[0])
    if rows.indptr is None or rows.indices is None:
        row, feature = divmod(place, rows.n_features)
    else:
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        feature = int(rows.indices[place])
    column, name = encoder.sources[feature], LEARNERS[learner].load().__name__
    quoted = shlex.quote(column)
    raise CellError(
        column,
        row,
        f"{rows.values.reshape(-1)[place]:g} is below 0, and {name} adds up counts. Leave the "
        f"column out (--drop {quoted}), use it as a category (--category {quoted}), or train with "
        "--model bernoulli-nb, which asks only whether a number is above its mean.",
    )


def notes_on_numbers(learner: str, encoder: TableEncoder, model: Model) -> Iterator[str]:
    """Tell how numbers are used where it is not as usual."""
    if "number" not in encoder.column_types.values():
        return
    name = LEARNERS[learner].load().__name__
    if not encoder.scale:
        yield f"{name} adds up counts, so numbers are taken as they are, not standardised."
    elif model.threshold is not None:
        yield f"Of each number {name} sees only whether it is above its mean in the training data."
