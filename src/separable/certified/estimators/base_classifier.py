"""What the certified classifiers share: labels, class weights, one model a class."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from separable.certified.estimators.base import CertifiedEstimator, Lesson, Material, read_rows
from separable.fitting.base import LinearClassifier
from separable.fitting.targets import (
    check_class_weight,
    check_labels,
    check_sample_weight,
    find_classes,
)
from separable.model.parameters import CLASS_WEIGHT, Requirement

__all__ = ["CertifiedClassifier"]


class CertifiedClassifier(LinearClassifier, CertifiedEstimator):
    """A classifier with a certificate: one model for two classes, else one a class."""

    class_weight: Any

    _requirements: ClassVar[dict[str, Requirement]] = {
        **CertifiedEstimator._requirements,
        "class_weight": CLASS_WEIGHT,
    }

    def _material(self, X: Any, y: Any, sample_weight: Any) -> Material:
        rows = read_rows(X)
        labels = check_labels(y, rows.n_rows, type(self).__name__)
        classes = np.unique(labels)
        check_class_weight(self.class_weight, classes)
        weight = None if sample_weight is None else check_sample_weight(sample_weight, labels)
        return Material(rows, find_classes(labels, classes), classes, weight)

    def _lesson(self, material: Material) -> Lesson:
        lesson = super()._lesson(material)
        assert lesson.classes is not None
        self._refuse_one_class(lesson.classes)
        return lesson
