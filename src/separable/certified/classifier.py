"""What the certified classifiers share: labels, class weights, one model a class."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from separable.certified.estimator import CertifiedEstimator, Lesson, present_rows, read_rows
from separable.fitting.estimator import LinearClassifier
from separable.fitting.targets import check_class_weight, check_labels, find_classes, weigh_rows
from separable.model.parameters import CLASS_WEIGHT, Requirement

__all__ = ["CertifiedClassifier"]


class CertifiedClassifier(LinearClassifier, CertifiedEstimator):
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
        self._refuse_one_class(classes)
        return Lesson(rows, find_classes(labels, classes), weight, classes, given)
