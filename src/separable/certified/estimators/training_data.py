"""Training data of the certified learners: rows of positive weight, targets and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separable.certified.number_range import LARGEST_CELL, check_cells, check_target, check_weights
from separable.certified.preparation import without_duplicates
from separable.certified.problem import TOGETHER
from separable.data.rows import Rows, as_rows, largest_magnitude
from separable.estimator import is_classifier
from separable.fitting.fold_fits import FoldData
from separable.fitting.targets import (
    check_class_weight,
    check_labels,
    check_numbers,
    check_sample_weight,
    find_classes,
    sorted_classes,
    weigh_rows,
)
from separable.losses.loss import Loss
from separable.typing import Floats


@dataclass(frozen=True)
class RowMask:
    """The rows of positive weight among all rows.

    Parameters
    ----------
    n_rows : int
        Of all rows given.
    counted : ndarray of int or None
        The rows of a weight above 0; None: all.
    """

    n_rows: int
    counted: NDArray[np.int64] | None = None

    def spread(self, values: Floats) -> Floats:
        """Return values of the rows that count, shape (m, k), as values of all, 0 elsewhere."""
        if self.counted is None:
            return values
        every = np.zeros((self.n_rows, values.shape[1]))
        every[self.counted] = values
        return every

    def take(self, values: Floats) -> Floats:
        """Return of values of all rows, shape (n, k), those of the rows that count."""
        return values if self.counted is None else values[self.counted]


@dataclass(frozen=True)
class TrainingData(FoldData):
    """The training rows, all of positive weight, with targets and weights.

    Parameters
    ----------
    given : RowMask
        Which rows of those given these are.
    is_joint : bool, default False
        Whether all classes are learned jointly, where they are more than two.
    """

    given: RowMask
    is_joint: bool = False

    @property
    def label(self) -> NDArray[np.int32]:
        """The number of each row's class."""
        return self.target.astype(np.int32, copy=False)

    @property
    def models(self) -> list[int]:
        """The class that is +1, of each model, or `TOGETHER`."""
        if self.classes is None or len(self.classes) == 2:
            return [1]
        return [TOGETHER] if self.is_joint else [*range(len(self.classes))]

    @property
    def n_joint(self) -> int:
        """How many classes are learned jointly; 2: none."""
        joint = self.classes is not None and self.is_joint
        return len(self.classes) if joint and self.classes is not None else 2


def read_data(X: Any, y: Any, sample_weight: Any, class_weight: Any, learner: Any) -> FoldData:
    """Check the rows, classes or numbers, and weights of a learner."""
    rows, name, classes = _read_rows(X), type(learner).__name__, None
    if is_classifier(learner):
        y = check_labels(y, rows.n_rows, name)
        classes = sorted_classes(y)
        check_class_weight(class_weight, classes)
    else:
        y = check_numbers(y, rows.n_rows, name)
    weight = None if sample_weight is None else check_sample_weight(sample_weight, y)
    return FoldData(rows, y if classes is None else find_classes(y, classes), classes, weight)


def training_rows(data: FoldData, class_weight: Any, loss: Loss, *, is_joint: bool) -> TrainingData:
    """Return what can be learned from: rows of positive weight, and the classes among them."""
    counted = weigh_rows(data.weight, class_weight, data.labels, balance_weights=True)
    rows, target, classes = data.rows, data.target, data.classes
    if classes is None and len(target):
        check_target(np.asarray(target, dtype=np.float64), is_squared=loss.is_quadratic)
    weight, given = counted.weight, RowMask(rows.n_rows, counted.rows)
    if weight is not None:
        check_weights(weight)
    if counted.rows is not None and weight is not None:
        if len(counted.rows) == 0:
            raise ValueError("Every sample weight is zero, so no row is left to learn from.")
        rows, target = rows.take(counted.rows), target[counted.rows]
        weight = weight[counted.rows]
        if classes is not None:
            present, codes = np.unique(target, return_inverse=True)
            classes, target = classes[present], codes.astype(np.int32)
    return TrainingData(rows, target, classes, weight, given, is_joint)


def _read_rows(X: Any) -> Rows:
    """Return X as finite rows without duplicates."""
    rows = as_rows(X, check_values=False)
    if largest_magnitude(rows, X) > LARGEST_CELL:
        check_cells(rows)
    return without_duplicates(rows)
