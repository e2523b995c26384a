"""The learners that ``separable train --model`` knows. A new one is one line here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["DEFAULT_LEARNER", "LEARNERS", "learner_class"]

LEARNERS = {
    "averaged-perceptron": "separable.online.averaged_perceptron:AveragedPerceptron",
    "perceptron": "separable.online.perceptron:Perceptron",
}

DEFAULT_LEARNER = "averaged-perceptron"


def learner_class(name: str) -> Any:
    """Return the class of a learner, a key of `LEARNERS`."""
    module, _, attribute = LEARNERS[name].partition(":")
    return getattr(import_module(module), attribute)
