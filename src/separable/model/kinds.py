"""Union of the model types."""

from __future__ import annotations

from typing import TypeAlias

from separable.model.linear_model import LinearModel
from separable.model.voted.voted_model import VotedModel

__all__ = ["Model"]

#: A linear or a voted model: it predicts, explains and can be saved.
Model: TypeAlias = LinearModel | VotedModel
