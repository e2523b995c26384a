"""Verdicts on two classes of several, and on one class against the rest, that take all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separable.data.rows import as_rows
from separable.fitting.targets import check_labels
from separable.geometry.verdict import Verdict

__all__ = ["PairVerdict", "RestVerdict"]


@dataclass(frozen=True, eq=False, repr=False)
class PairVerdict(Verdict):
    """The verdict on two of several classes; places of rows in its proof are among theirs."""

    def verify(self, X: Any, y: Any, *, exact: bool = False) -> bool:
        """Check the proof against the rows of both classes, also among others; see `Verdict`."""
        rows = as_rows(X)
        labels = check_labels(y, rows.n_rows, "verify")
        mine = np.flatnonzero(np.isin(labels, self.classes))
        if len(mine) == 0:
            return False
        return super().verify(rows.take(mine), labels[mine], exact=exact)


@dataclass(frozen=True, eq=False, repr=False)
class RestVerdict(Verdict):
    """The verdict on one of several classes against the rest.

    Parameters
    ----------
    label : object
        The class.
    """

    label: Any = None

    def verify(self, X: Any, y: Any, *, exact: bool = False) -> bool:
        """Check the proof against rows of all classes; see `Verdict`."""
        rows = as_rows(X)
        labels = check_labels(y, rows.n_rows, "verify")
        return super().verify(rows, labels == self.label, exact=exact)
