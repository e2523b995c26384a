"""How good a learner is on rows it has not seen, and which parameters are best."""

from separable.select.comparing import compare
from separable.select.cross_validation import cross_validate
from separable.select.holding_out import HoldOut, hold_out
from separable.select.leaderboard import Leaderboard, Standing
from separable.select.leaving_one_out import leave_one_out
from separable.select.paths import Path, path
from separable.select.results import CrossValidation, LeaveOneOutValidation
from separable.select.search_results import Search
from separable.select.searching import search

__all__ = [
    "CrossValidation",
    "HoldOut",
    "Leaderboard",
    "LeaveOneOutValidation",
    "Path",
    "Search",
    "Standing",
    "compare",
    "cross_validate",
    "hold_out",
    "leave_one_out",
    "path",
    "search",
]
