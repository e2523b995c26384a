"""Model selection: cross-validation, leave-one-out, searches, paths, learning curves."""

from separable.select.comparison import compare
from separable.select.cross_validation import cross_validate
from separable.select.curves.forecast import Forecast
from separable.select.curves.learning import learning_curve
from separable.select.curves.learning_results import LearningCurve
from separable.select.curves.validation import ValidationCurve, validation_curve
from separable.select.grid_search import search
from separable.select.holdout import HoldOut, error_rate, hold_out
from separable.select.leaderboard import Leaderboard, Standing
from separable.select.loo import leave_one_out
from separable.select.nested_cross_validation import NestedValidation, nested_cross_validate
from separable.select.regularization_path import Path, path
from separable.select.results import CrossValidation, LeaveOneOutValidation
from separable.select.search_results import Search

__all__ = [
    "CrossValidation",
    "Forecast",
    "HoldOut",
    "Leaderboard",
    "LearningCurve",
    "LeaveOneOutValidation",
    "NestedValidation",
    "Path",
    "Search",
    "Standing",
    "ValidationCurve",
    "compare",
    "cross_validate",
    "error_rate",
    "hold_out",
    "learning_curve",
    "leave_one_out",
    "nested_cross_validate",
    "path",
    "search",
    "validation_curve",
]
