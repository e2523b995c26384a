"""Model selection: cross-validation, leave-one-out, searches, paths, learning curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
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
    from separable.select.pair_screen import ScreenedPair, screen_pairs
    from separable.select.regularization_path import Path, path
    from separable.select.results import CrossValidation, LeaveOneOutValidation
    from separable.select.search_results import Search

#: The module of each public name, imported when it is first used.
_HOMES = {
    "CrossValidation": "separable.select.results",
    "Forecast": "separable.select.curves.forecast",
    "HoldOut": "separable.select.holdout",
    "Leaderboard": "separable.select.leaderboard",
    "LearningCurve": "separable.select.curves.learning_results",
    "LeaveOneOutValidation": "separable.select.results",
    "NestedValidation": "separable.select.nested_cross_validation",
    "Path": "separable.select.regularization_path",
    "ScreenedPair": "separable.select.pair_screen",
    "Search": "separable.select.search_results",
    "Standing": "separable.select.leaderboard",
    "ValidationCurve": "separable.select.curves.validation",
    "compare": "separable.select.comparison",
    "cross_validate": "separable.select.cross_validation",
    "error_rate": "separable.select.holdout",
    "hold_out": "separable.select.holdout",
    "learning_curve": "separable.select.curves.learning",
    "leave_one_out": "separable.select.loo",
    "nested_cross_validate": "separable.select.nested_cross_validation",
    "path": "separable.select.regularization_path",
    "screen_pairs": "separable.select.pair_screen",
    "search": "separable.select.grid_search",
    "validation_curve": "separable.select.curves.validation",
}

__all__ = [
    "CrossValidation",
    "Forecast",
    "HoldOut",
    "Leaderboard",
    "LearningCurve",
    "LeaveOneOutValidation",
    "NestedValidation",
    "Path",
    "ScreenedPair",
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
    "screen_pairs",
    "search",
    "validation_curve",
]

if not TYPE_CHECKING:  # type checkers know the names above and should miss all others
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
