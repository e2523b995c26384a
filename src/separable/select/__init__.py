"""How good a learner is on rows it has not seen, and which parameters are best."""

from separable.select.comparing import compare
from separable.select.cross_validation import cross_validate
from separable.select.error_rates import error_rate
from separable.select.forecasts import Forecast
from separable.select.holding_out import HoldOut, hold_out
from separable.select.leaderboard import Leaderboard, Standing
from separable.select.learning_curve_results import LearningCurve
from separable.select.learning_curves import learning_curve
from separable.select.leaving_one_out import leave_one_out
from separable.select.nested_validation import NestedValidation, nested_cross_validate
from separable.select.paths import Path, path
from separable.select.results import CrossValidation, LeaveOneOutValidation
from separable.select.search_results import Search
from separable.select.searching import search
from separable.select.validation_curves import ValidationCurve, validation_curve

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
