"""Options that have no effect in some mode of a learner, and the warning that says so."""

from __future__ import annotations

import inspect
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Ineffective", "warn_of_ineffective"]


class Ineffective(NamedTuple):
    """A parameter, when it has no effect, and what to do instead.

    Parameters
    ----------
    name : str
        The parameter.
    applies : callable
        Takes the learner and returns whether the parameter has no effect.
    mode : str
        The mode in words, behind "has no effect".
    remedy : str
        A sentence.
    """

    name: str
    applies: Callable[[Any], bool]
    mode: str
    remedy: str


def warn_of_ineffective(learner: object, rules: tuple[Ineffective, ...]) -> None:
    """Warn of parameters that were given a value other than the default and have no effect."""
    if not rules:
        return
    kind: Any = type(learner)
    defaults = _defaults(kind)
    for rule in rules:
        value, default = getattr(learner, rule.name), defaults[rule.name]
        is_default = isinstance(value, str | float | int | None) and value == default
        if is_default or not rule.applies(learner):
            continue
        warnings.warn(
            f"{rule.name}={value!r} of {type(learner).__name__} has no effect {rule.mode}. "
            f"{rule.remedy}",
            UserWarning,
            stacklevel=4,
        )


@cache
def _defaults(kind: Any) -> dict[str, Any]:
    """Return the defaults of the constructor's parameters."""
    return {name: each.default for name, each in inspect.signature(kind).parameters.items()}
