"""Prior probabilities of the classes, specified or estimated."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.parameters import Requirement

if TYPE_CHECKING:
    from separable.typing import Floats


__all__ = ["PRIORS", "class_priors"]

#: Warn if the sum of the specified priors differs from 1 by more than this.
SUM_TOLERANCE = 1e-5


def _are_positive(value: Any) -> bool:
    if value is None:
        return True
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    one_a_class = numbers.ndim == 1 and len(numbers) > 0
    return one_a_class and bool((np.isfinite(numbers) & (numbers > 0)).all())


#: None, or one number above 0 a class.
PRIORS = Requirement("None or a list of finite floats > 0, one a class", _are_positive)


def class_priors(specified: Any, weight: Floats) -> Floats:
    """Return the class priors: as specified, or the class frequencies."""
    if specified is None:
        frequencies: Floats = weight / weight.sum()
        return frequencies
    priors = np.asarray(specified, dtype=np.float64)
    if len(priors) != len(weight):
        raise ValueError(
            f"priors has {len(priors)} numbers, but the rows have {len(weight)} classes. Give one "
            "prior a class, in the order of the sorted classes."
        )
    total = float(priors.sum())
    if abs(total - 1.0) > SUM_TOLERANCE:
        warnings.warn(
            f"The priors sum to {total:g}, not to 1, and are divided by that.",
            UserWarning,
            stacklevel=5,
        )
    return priors / total
