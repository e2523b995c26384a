"""Base class of the online classifiers: labels, class weights, new classes in streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from separable.data.rows import as_rows, largest_magnitude
from separable.fitting.base import LinearClassifier
from separable.fitting.targets import (
    RowWeights,
    check_class_weight,
    check_labels,
    find_classes,
    weigh_rows,
)
from separable.online.base import OnlineEstimator
from separable.online.poor_fit import warn_of_poor_stream
from separable.online.runs import TrainingBatch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.online.state import OnlineState

__all__ = ["OnlineClassifier"]


class OnlineClassifier(LinearClassifier, OnlineEstimator):
    """Base of classifiers that process one row at a time."""

    class_weight: Any

    # ------------------------------------------------------------------ hooks

    def _can_stream(self) -> bool:
        """Return True, or raise AttributeError with the reason why ``partial_fit`` is missing."""
        return True

    def _learn_chunk(self, state: OnlineState, batch: TrainingBatch) -> None:
        """Train on the next rows of a stream, once, in order."""
        raise NotImplementedError

    # ------------------------------------------------------------------ streams

    @available_if(lambda learner: learner._can_stream())
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train on the next rows of a stream, once, in the given order.

        The result is bit-identical for any chunking of the same rows, and to ``fit`` with
        ``shuffle=False, max_iter=1``.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
            The next rows.
        y : array-like of shape (n,)
            Their classes. New classes may appear at any time unless ``classes`` was given.
        classes : array-like, optional
            All classes of the stream; only at the first call. Without it a ghost model is kept,
            from which new classes start.
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
        y = check_labels(y, rows.n_rows, type(self).__name__)
        counted = weigh_rows(sample_weight, self.class_weight, y)
        rows, y, counted = self._drop_absent(rows, y, counted)
        if rows.n_rows == 0:
            return self
        announced = None if classes is None else self._check_announced(classes, state)
        first = state is None
        if state is None:
            self._check_eta(rows.values.dtype)
            state = self._make_state(
                np.unique(y) if announced is None else announced,
                rows.n_features,
                rows.values.dtype,
                announced is None,
            )
        label = find_classes(y, state.labels)
        safe, weight_bound = self._foresee(state, rows, largest, counted.presentations(rows.n_rows))
        new_classes = np.minimum.reduce(label) < 0
        if new_classes or not (first or safe):
            state = state.copy()  # a failure leaves the stream unchanged
        if new_classes:
            label = self._meet_classes(state, y, label < 0)
        if rows.values.dtype != state.dtype:
            rows = state.cast(rows, largest)
        batch = TrainingBatch.of(rows, label, counted)
        self._learn_chunk(state, batch)
        state.weight_bound = weight_bound
        self._keep_chunk(X, state, batch.n_counted)
        warn_of_poor_stream(self, state.rows_seen, batch, y)
        return self

    def _check_stream_parameters(self, state: OnlineState | None) -> None:
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all rows at once and cannot be used with "
                "partial_fit. Give a dict from class to weight instead."
            )
        super()._check_stream_parameters(state)

    def _check_announced(self, classes: Any, state: OnlineState | None) -> NDArray[Any]:
        announced = np.unique(check_labels(classes, len(classes), type(self).__name__))
        if len(announced) < 2:
            raise ValueError(f"classes must name at least two classes, got {classes!r}.")
        if state is not None and not np.array_equal(announced, state.labels):
            raise ValueError(
                f"classes={announced.tolist()} is not the same as on the first call to "
                f"partial_fit: {state.labels.tolist()}. Give it only there."
            )
        check_class_weight(self.class_weight, announced)
        return announced

    def _meet_classes(
        self, state: OnlineState, y: NDArray[Any], new: NDArray[np.bool_]
    ) -> NDArray[np.int32]:
        """Add new classes to the state and return the class index of each label."""
        if not state.open_classes:
            row = int(np.flatnonzero(new)[0])
            raise ValueError(
                f"Row {row} has class {y.tolist()[row]!r}, which is not among the classes that "
                f"fit met or that were announced: {state.labels.tolist()}. Start the stream with "
                "partial_fit and without `classes` to let new classes in."
            )
        state.add_classes(np.unique(y[new]))
        return find_classes(y, state.labels)

    # ------------------------------------------------------------------ all rows at once

    def _weigh(
        self, y: NDArray[Any], sample_weight: Any
    ) -> tuple[NDArray[Any], NDArray[np.int32], RowWeights]:
        """Return the classes, each row's class index (0 for ignored rows) and the weights."""
        counted = weigh_rows(sample_weight, self.class_weight, y)
        if counted.rows is not None and len(counted.rows) == 0:
            raise ValueError("Every sample weight is zero, so no row is left to learn from.")
        check_class_weight(self.class_weight, np.unique(y))
        classes = np.unique(y if counted.rows is None else y[counted.rows])
        self._refuse_one_class(classes)
        label = np.maximum(find_classes(y, classes), 0).astype(np.int32)
        return classes, label, counted

    # ------------------------------------------------------------------ predicting

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted."""
        check_is_fitted(self)
        return self._state.labels
