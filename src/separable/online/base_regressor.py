"""Base class of the online regressors: targets and streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sklearn.base import RegressorMixin

from separable.data.rows import as_rows, largest_magnitude
from separable.fitting.targets import RowWeights, check_numbers, weigh_rows
from separable.online.base import OnlineEstimator
from separable.online.poor_fit import warn_of_poor_stream
from separable.online.runs import TrainingBatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from separable.model.linear_model import Link
    from separable.online.state import OnlineState

__all__ = ["OnlineRegressor"]


class OnlineRegressor(RegressorMixin, OnlineEstimator):
    """Base of regressors that process one row at a time."""

    # ------------------------------------------------------------------ hooks

    def _learn_chunk(self, state: OnlineState, batch: TrainingBatch) -> None:
        """Train on the next rows of a stream, once, in order."""
        raise NotImplementedError

    def _link(self) -> Link:
        return "identity"

    # ------------------------------------------------------------------ streams

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on the next rows of a stream, once, in the given order.

        The result is bit-identical for any chunking of the same rows, and to ``fit`` with
        ``shuffle=False, max_iter=1``.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
            The next rows.
        y : array-like of shape (n,)
            Their targets.
        sample_weight : array-like of shape (n,), optional
            As in ``fit``.

        Returns
        -------
        self
        """
        state: OnlineState | None = getattr(self, "_state", None)
        self._check_stream_parameters(state)
        rows = as_rows(X, check_values=False) if state is None else self._check_rows(X)
        largest = largest_magnitude(rows, X)
        y = check_numbers(y, rows.n_rows, type(self).__name__)
        counted = weigh_rows(sample_weight, None, y)
        rows, y, counted = self._drop_absent(rows, y, counted)
        if rows.n_rows == 0:
            return self
        if state is None:
            self._check_eta(rows.values.dtype)
            state = self._make_state(None, rows.n_features, rows.values.dtype)
        elif not self._foresee(state, rows, largest, counted.presentations(rows.n_rows))[0]:
            state = state.copy()  # a failure leaves the stream unchanged
        if rows.values.dtype != state.dtype:
            rows = state.cast(rows, largest)
        batch = TrainingBatch.of(rows, y, counted)
        self._learn_chunk(state, batch)
        self._keep_chunk(X, state, batch.n_counted)
        warn_of_poor_stream(self, state.rows_seen, batch, y)
        return self

    # ------------------------------------------------------------------ all rows at once

    def _weigh(self, y: NDArray[np.float64], sample_weight: Any) -> RowWeights:
        """Return the row weights; at least one is positive."""
        counted = weigh_rows(sample_weight, None, y)
        if counted.rows is not None and len(counted.rows) == 0:
            raise ValueError("Every sample weight is zero, so no row is left to learn from.")
        return counted

    # ------------------------------------------------------------------ predicting

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights, (d,)."""
        weights: NDArray[np.float64] = self._weights_only().weights[0]
        return weights

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return w.x + b for each row."""
        return self._weights_only().predict(self._finite_rows(X))
