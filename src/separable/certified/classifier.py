"""What the certified classifiers share: labels, class weights, one model a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from separable.certified.estimator import CertifiedEstimator, Lesson, present_rows, read_rows
from separable.fitting.targets import check_class_weight, check_labels, find_classes, weigh_rows
from separable.model.parameters import CLASS_WEIGHT, Requirement

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CertifiedClassifier"]


class CertifiedClassifier(ClassifierMixin, CertifiedEstimator):
    """A classifier with a certificate: one model for two classes, else one a class."""

    class_weight: Any

    _requirements: ClassVar[dict[str, Requirement]] = {
        **CertifiedEstimator._requirements,
        "class_weight": CLASS_WEIGHT,
    }

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Lesson:
        rows = read_rows(X)
        labels = check_labels(y, rows.n_rows, type(self).__name__)
        check_class_weight(self.class_weight, np.unique(labels))
        counted = weigh_rows(sample_weight, self.class_weight, labels, balance_weights=True)
        rows, labels, weight, given = present_rows(rows, labels, counted)
        classes = np.unique(labels)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes to learn a boundary, but y "
                f"holds only one class: {classes.tolist()[0]!r}."
            )
        return Lesson(rows, find_classes(labels, classes), weight, classes, given)

    # ------------------------------------------------------------------ predicting

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted."""
        classes = self._weights_only().classes
        assert classes is not None
        return classes

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores w.x + b: (n,) for two classes, else (n, K)."""
        return self._weights_only().decision_function(self._finite_rows(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row: by sign for two classes, else by the largest score."""
        return self._weights_only().predict(self._finite_rows(X))
