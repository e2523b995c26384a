"""Pictures of models, data and validation, and of the lectures, by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.plot.boundary import BoundaryDisplay
    from separable.plot.calibration import CalibrationDisplay
    from separable.plot.confusion_matrix import ConfusionMatrixDisplay
    from separable.plot.cross_validation import CrossValidationDisplay
    from separable.plot.lda import LdaDisplay
    from separable.plot.lda1d import Lda1dDisplay
    from separable.plot.learning_curve import LearningCurveDisplay
    from separable.plot.losses import LossesDisplay
    from separable.plot.lp_balls import LpBallsDisplay
    from separable.plot.margins import MarginsDisplay
    from separable.plot.masked_class import MaskedClassDisplay
    from separable.plot.normal import NormalDisplay
    from separable.plot.path import PathDisplay
    from separable.plot.planes3d import Planes3dDisplay
    from separable.plot.polynomial_fits import PolynomialFitsDisplay
    from separable.plot.posterior_lines import PosteriorLinesDisplay
    from separable.plot.precision_recall import PrecisionRecallDisplay
    from separable.plot.regression_as_classifier import RegressionAsClassifierDisplay
    from separable.plot.roc import RocDisplay
    from separable.plot.separable_share import SeparableShareDisplay
    from separable.plot.start_and_order import StartAndOrderDisplay
    from separable.plot.training_frames import TrainingFramesDisplay
    from separable.plot.weight_images import WeightImagesDisplay
    from separable.plot.weights import WeightsDisplay

__all__ = [
    "BoundaryDisplay",
    "CalibrationDisplay",
    "ConfusionMatrixDisplay",
    "CrossValidationDisplay",
    "Lda1dDisplay",
    "LdaDisplay",
    "LearningCurveDisplay",
    "LossesDisplay",
    "LpBallsDisplay",
    "MarginsDisplay",
    "MaskedClassDisplay",
    "NormalDisplay",
    "PathDisplay",
    "Planes3dDisplay",
    "PolynomialFitsDisplay",
    "PosteriorLinesDisplay",
    "PrecisionRecallDisplay",
    "RegressionAsClassifierDisplay",
    "RocDisplay",
    "SeparableShareDisplay",
    "StartAndOrderDisplay",
    "TrainingFramesDisplay",
    "WeightImagesDisplay",
    "WeightsDisplay",
]

#: Where each public name lives.
_HOMES = {
    "BoundaryDisplay": "separable.plot.boundary",
    "CalibrationDisplay": "separable.plot.calibration",
    "ConfusionMatrixDisplay": "separable.plot.confusion_matrix",
    "CrossValidationDisplay": "separable.plot.cross_validation",
    "Lda1dDisplay": "separable.plot.lda1d",
    "LdaDisplay": "separable.plot.lda",
    "LearningCurveDisplay": "separable.plot.learning_curve",
    "LossesDisplay": "separable.plot.losses",
    "LpBallsDisplay": "separable.plot.lp_balls",
    "MarginsDisplay": "separable.plot.margins",
    "MaskedClassDisplay": "separable.plot.masked_class",
    "NormalDisplay": "separable.plot.normal",
    "PathDisplay": "separable.plot.path",
    "Planes3dDisplay": "separable.plot.planes3d",
    "PolynomialFitsDisplay": "separable.plot.polynomial_fits",
    "PosteriorLinesDisplay": "separable.plot.posterior_lines",
    "PrecisionRecallDisplay": "separable.plot.precision_recall",
    "RegressionAsClassifierDisplay": "separable.plot.regression_as_classifier",
    "RocDisplay": "separable.plot.roc",
    "SeparableShareDisplay": "separable.plot.separable_share",
    "StartAndOrderDisplay": "separable.plot.start_and_order",
    "TrainingFramesDisplay": "separable.plot.training_frames",
    "WeightImagesDisplay": "separable.plot.weight_images",
    "WeightsDisplay": "separable.plot.weights",
}

if not TYPE_CHECKING:  # type checkers know the names above and should miss all others
    __getattr__ = lazy_names(__name__, _HOMES)
