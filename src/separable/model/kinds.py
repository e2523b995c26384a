"""The kinds of model there are."""

from __future__ import annotations

from typing import TypeAlias

from separable.model.linear_model import LinearModel
from separable.model.voted.voted_model import VotedModel

__all__ = ["Model"]

#: A model of either kind: it predicts, explains and is saved.
Model: TypeAlias = LinearModel | VotedModel
