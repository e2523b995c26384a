"""Training from a file or a table: the steps of ``separable train`` as one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.workflow.table_separability import separability
    from separable.workflow.training import train
    from separable.workflow.training_run import TrainingRun

__all__ = ["TrainingRun", "separability", "train"]

#: The module of each public name.
_HOMES = {
    "TrainingRun": "separable.workflow.training_run",
    "separability": "separable.workflow.table_separability",
    "train": "separable.workflow.training",
}

if not TYPE_CHECKING:  # type checkers know the names above and should miss all others
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
