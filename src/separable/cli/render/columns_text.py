"""Columns of a table and most important features of a model, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.cli.training.classification_target import SHOWN_CLASSES
from separable.model.explain.top_weights import TopWeights
from separable.model.linear_model import LinearModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.model.kinds import Model

__all__ = ["MEAN_WEIGHTS", "TOP_WEIGHTS", "column_lines", "saved_text", "weights_text"]

#: Weights shown per group, and groups shown: two per class.
TOP_WEIGHTS = 5
WEIGHT_GROUPS = 2 * SHOWN_CLASSES

#: Said above the weights of a model that votes.
MEAN_WEIGHTS = "The model votes; these are the mean weights of its voters."


def column_lines(columns: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return the columns of a table below each other: name, what each is, and notes."""
    width = max((len(name) for name, _, _ in columns), default=0)
    return [f"  {name.ljust(width)}  {kind:<8}  {notes}".rstrip() for name, kind, notes in columns]


def saved_text(path: str, report: str | None) -> str:
    """Return where a model was saved, and its report if there is one."""
    wrote = "" if report is None else f" The report is {report}: open it in a browser."
    return f"Saved {path}.{wrote}"


def weights_text(model: Model) -> str:
    """Return the most important features of a model."""
    groups = model.top_weights(TOP_WEIGHTS).groups
    more = "\n... and the other classes" if len(groups) > WEIGHT_GROUPS else ""
    mean = "" if isinstance(model, LinearModel) else f"\n{MEAN_WEIGHTS}"
    return f"Most important features{mean}\n{TopWeights(groups[:WEIGHT_GROUPS])}{more}"
