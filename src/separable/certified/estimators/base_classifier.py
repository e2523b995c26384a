"""Base class of the certified classifiers: labels, class weights, one-vs-rest."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from separable.certified.estimators.base import (
    CertifiedEstimator,
    FoldData,
    TrainingData,
    read_rows,
)
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

    def _fold_data(self, X: Any, y: Any, sample_weight: Any) -> FoldData:
        rows = read_rows(X)
        labels = check_labels(y, rows.n_rows, type(self).__name__)
        classes = np.unique(labels)
        check_class_weight(self.class_weight, classes)
        weight = None if sample_weight is None else check_sample_weight(sample_weight, labels)
        return FoldData(rows, find_classes(labels, classes), classes, weight)

    def _training_data(self, fold_data: FoldData) -> TrainingData:
        training = super()._training_data(fold_data)
        assert training.classes is not None
        self._refuse_one_class(training.classes)
        return training
