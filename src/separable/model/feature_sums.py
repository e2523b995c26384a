"""Mean contributions of raw columns to the scores of rows that come in parts.

A contribution is linear in the features, so the sums of the features give its mean exactly.
"""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from separable.model.linear_model import LinearModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.model.kinds import Model
    from separable.typing import Floats

__all__ = ["FeatureSums"]

#: Rows with a larger feature are left out of the means, which would otherwise overflow and stay so.
LARGEST = 1e200


class FeatureSums:
    """Sums of the features over rows.

    Parameters
    ----------
    model : LinearModel or VotedModel
        Only linear models of values have sums; of others nothing is kept.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._is_linear = isinstance(model, LinearModel) and model.threshold is None
        self._sums = np.zeros(model.n_features if self._is_linear else 0)
        self._count = 0
        self._lock = Lock()

    @property
    def n_rows(self) -> int:
        """The number of rows added."""
        return self._count

    def add_pairs(self, pairs: list[tuple[int, float]]) -> None:
        """Add a row, given as its non-zeros."""
        if any(abs(value) > LARGEST for _, value in pairs):
            return
        with self._lock:
            self._count += 1
            sums = self._sums
            for index, value in pairs:
                sums[index] += value

    def add_rows(self, rows: Rows) -> None:
        """Add encoded rows, without those whose values would hide all others."""
        if not self._is_linear:
            return
        huge = np.flatnonzero(np.abs(rows.values.reshape(-1)) > LARGEST)
        if len(huge):
            starts = np.arange(0, rows.n_rows + 1) * rows.n_features
            starts = starts if rows.indptr is None else rows.indptr
            rows = rows.take(np.setdiff1d(np.arange(rows.n_rows), _rows_of(huge, starts)))
        with self._lock:
            self._count += rows.n_rows
            if rows.indices is None:
                self._sums += rows.values.sum(axis=0, dtype=np.float64)
            else:  # not by np.bincount, which would touch every feature of a large vocabulary
                np.add.at(self._sums, rows.indices, rows.values)

    def mean_contributions(self) -> dict[str, Floats]:
        """Return the mean contribution of each raw column to each score; {} without rows."""
        model = self._model
        if not self._is_linear or not self._count or model.encoder is None:
            return {}
        assert isinstance(model, LinearModel)
        with self._lock:
            parts = model.weights * (self._sums / self._count)
        names, index = self._columns
        totals = np.zeros((len(names), model.n_scores))
        np.add.at(totals, index, parts.T)
        return dict(zip(names, totals, strict=True))

    @cached_property
    def _columns(self) -> tuple[list[str], NDArray[np.intp]]:
        """Raw columns, and the index of that of each feature."""
        sources = () if self._model.encoder is None else self._model.encoder.sources
        names, index = np.unique(np.array(list(sources)), return_inverse=True)
        return names.tolist(), index


def _rows_of(places: NDArray[np.intp], starts: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the rows of places in the values, from the place where each row starts."""
    return np.searchsorted(starts, places, side="right") - 1
