"""Pictures of models, data and validation, and of the lectures, by matplotlib."""

from separable.plot.boundary import BoundaryDisplay
from separable.plot.calibration import CalibrationDisplay
from separable.plot.confusion_matrix import ConfusionMatrixDisplay
from separable.plot.cross_validation import CrossValidationDisplay
from separable.plot.learning_curve import LearningCurveDisplay
from separable.plot.margins import MarginsDisplay
from separable.plot.path import PathDisplay
from separable.plot.planes3d import Planes3dDisplay
from separable.plot.precision_recall import PrecisionRecallDisplay
from separable.plot.roc import RocDisplay
from separable.plot.weights import WeightsDisplay

__all__ = [
    "BoundaryDisplay",
    "CalibrationDisplay",
    "ConfusionMatrixDisplay",
    "CrossValidationDisplay",
    "LearningCurveDisplay",
    "MarginsDisplay",
    "PathDisplay",
    "Planes3dDisplay",
    "PrecisionRecallDisplay",
    "RocDisplay",
    "WeightsDisplay",
]
