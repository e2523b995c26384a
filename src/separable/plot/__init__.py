"""Pictures of models, data and validation, and of the lectures, by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.plot.displays.boundary import BoundaryDisplay
    from separable.plot.displays.calibration import CalibrationDisplay
    from separable.plot.displays.coefficient_paths import PathDisplay
    from separable.plot.displays.confusion_matrix import ConfusionMatrixDisplay
    from separable.plot.displays.curve_shapes import CurvesDisplay
    from separable.plot.displays.interactions import InteractionsDisplay
    from separable.plot.displays.learning_curve import LearningCurveDisplay
    from separable.plot.displays.margin_histogram import MarginsDisplay
    from separable.plot.displays.planes3d import Planes3dDisplay
    from separable.plot.displays.ranking_curves import PrecisionRecallDisplay, RocDisplay
    from separable.plot.displays.validation_scores import CrossValidationDisplay
    from separable.plot.displays.weights import WeightImagesDisplay, WeightsDisplay
    from separable.plot.lectures.discriminant_analysis import Lda1dDisplay, LdaDisplay
    from separable.plot.lectures.losses import LossesDisplay
    from separable.plot.lectures.lp_balls import LpBallsDisplay
    from separable.plot.lectures.normal import NormalDisplay
    from separable.plot.lectures.regression_as_classifier import (
        MaskedClassDisplay,
        RegressionAsClassifierDisplay,
    )
    from separable.plot.lectures.regression_fits import PolynomialFitsDisplay, PosteriorLinesDisplay
    from separable.plot.lectures.separable_fraction import SeparableShareDisplay
    from separable.plot.lectures.start_and_order import StartAndOrderDisplay
    from separable.plot.lectures.training_frames import TrainingFramesDisplay

__all__ = [
    "BoundaryDisplay",
    "CalibrationDisplay",
    "ConfusionMatrixDisplay",
    "CrossValidationDisplay",
    "CurvesDisplay",
    "InteractionsDisplay",
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

#: The module of each public name.
_HOMES = {
    "BoundaryDisplay": "separable.plot.displays.boundary",
    "CalibrationDisplay": "separable.plot.displays.calibration",
    "ConfusionMatrixDisplay": "separable.plot.displays.confusion_matrix",
    "CrossValidationDisplay": "separable.plot.displays.validation_scores",
    "CurvesDisplay": "separable.plot.displays.curve_shapes",
    "InteractionsDisplay": "separable.plot.displays.interactions",
    "Lda1dDisplay": "separable.plot.lectures.discriminant_analysis",
    "LdaDisplay": "separable.plot.lectures.discriminant_analysis",
    "LearningCurveDisplay": "separable.plot.displays.learning_curve",
    "LossesDisplay": "separable.plot.lectures.losses",
    "LpBallsDisplay": "separable.plot.lectures.lp_balls",
    "MarginsDisplay": "separable.plot.displays.margin_histogram",
    "MaskedClassDisplay": "separable.plot.lectures.regression_as_classifier",
    "NormalDisplay": "separable.plot.lectures.normal",
    "PathDisplay": "separable.plot.displays.coefficient_paths",
    "Planes3dDisplay": "separable.plot.displays.planes3d",
    "PolynomialFitsDisplay": "separable.plot.lectures.regression_fits",
    "PosteriorLinesDisplay": "separable.plot.lectures.regression_fits",
    "PrecisionRecallDisplay": "separable.plot.displays.ranking_curves",
    "RegressionAsClassifierDisplay": "separable.plot.lectures.regression_as_classifier",
    "RocDisplay": "separable.plot.displays.ranking_curves",
    "SeparableShareDisplay": "separable.plot.lectures.separable_fraction",
    "StartAndOrderDisplay": "separable.plot.lectures.start_and_order",
    "TrainingFramesDisplay": "separable.plot.lectures.training_frames",
    "WeightImagesDisplay": "separable.plot.displays.weights",
    "WeightsDisplay": "separable.plot.displays.weights",
}

if not TYPE_CHECKING:  # type checkers know the names above and should miss all others
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
