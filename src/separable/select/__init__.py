"""How good a learner is on rows it has not seen: hold-out, k-fold, leave-one-out."""

from separable.select.cross_validation import cross_validate
from separable.select.holding_out import HoldOut, hold_out
from separable.select.leaving_one_out import leave_one_out
from separable.select.results import CrossValidation, LeaveOneOutValidation

__all__ = [
    "CrossValidation",
    "HoldOut",
    "LeaveOneOutValidation",
    "cross_validate",
    "hold_out",
    "leave_one_out",
]
