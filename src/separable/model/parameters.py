"""Declarative requirements of constructor parameters, with uniform error messages."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

__all__ = ["ParameterError", "Requirement", "check_parameters"]


class ParameterError(ValueError, TypeError):
    """A constructor parameter has an invalid value."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """Requirement of a parameter, as text and as a predicate."""

    words: str
    holds: Callable[[Any], bool]


def check_parameters(owner: object, requirements: Mapping[str, Requirement]) -> None:
    """Raise for the first parameter of ``owner`` that violates its requirement."""
    for name, requirement in requirements.items():
        value = getattr(owner, name)
        if not requirement.holds(value):
            raise ParameterError(
                f"The {name!r} parameter of {type(owner).__name__} must be {requirement.words}. "
                f"Got {value!r} instead."
            )


def one_of(*values: str) -> Requirement:
    """Return the requirement that a parameter is one of the given values."""
    return Requirement(" or ".join(map(repr, values)), lambda v: isinstance(v, str) and v in values)


def one_of_or_none(*values: str) -> Requirement:
    """Return the requirement that a parameter is None or one of the given values."""
    word = one_of(*values)
    return Requirement(f"None or {word.words}", lambda v: v is None or word.holds(v))


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not _is_bool(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not _is_bool(value) and not math.isnan(value)


#: A bool, Python's or NumPy's.
BOOL = Requirement("a bool", _is_bool)
#: A finite float above 0.
POSITIVE = Requirement("a finite float > 0", lambda v: _is_number(v) and 0 < v < math.inf)
#: A finite float above 0, or None.
POSITIVE_OR_NONE = Requirement(
    "None or a finite float > 0", lambda v: v is None or POSITIVE.holds(v)
)
#: A finite float.
FINITE = Requirement("a finite float", lambda v: _is_number(v) and math.isfinite(v))
#: A finite float of at least 0.
NOT_NEGATIVE = Requirement("a finite float >= 0", lambda v: FINITE.holds(v) and v >= 0)
#: None, or a finite float of at least 0.
TOLERANCE = Requirement("None or a finite float >= 0", lambda v: v is None or NOT_NEGATIVE.holds(v))
#: A float from 0 to 1.
UNIT_INTERVAL = Requirement("a float from 0 to 1", lambda v: _is_number(v) and 0 <= v <= 1)
#: A float between 0 and 1.
FRACTION = Requirement("a float above 0 and below 1", lambda v: _is_number(v) and 0 < v < 1)
#: A float above 0, infinity included.
POSITIVE_OR_INF = Requirement("a float > 0", lambda v: _is_number(v) and v > 0)
#: An int of at least 1.
COUNT = Requirement("an int >= 1", lambda v: _is_whole(v) and v >= 1)
#: A bool, or the number of steps before averaging begins.
AVERAGE = Requirement("a bool or an int >= 0", lambda v: _is_bool(v) or (_is_whole(v) and v >= 0))
#: None or an int of at least 1.
COUNT_OR_NONE = Requirement("None or an int >= 1", lambda v: v is None or (_is_whole(v) and v >= 1))
#: None, "balanced" or a dict from class to weight.
CLASS_WEIGHT = Requirement(
    "None, 'balanced' or a dict from class to weight",
    lambda v: v is None or isinstance(v, Mapping) or (isinstance(v, str) and v == "balanced"),
)
#: A random state as in scikit-learn.
RANDOM_STATE = Requirement(
    "None, an int >= 0 or a numpy RandomState",
    lambda v: v is None or (_is_whole(v) and v >= 0) or hasattr(v, "randint"),
)
