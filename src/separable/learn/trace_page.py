"""A trace as a page: the lab with its rows, its learner and its last step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np

from separable.datasets.examples import Example
from separable.lab.data import MAX_COLUMNS, MAX_ROWS
from separable.lab.lab_page import lab_of_example
from separable.online.batch_perceptron import BatchPerceptron

if TYPE_CHECKING:
    from separable.learn.trace_table import Trace

__all__ = ["lab_page"]

#: Names of the learners on the page.
NAMES = {
    "Perceptron": "perceptron",
    "AveragedPerceptron": "averaged",
    "VotedPerceptron": "voted",
    "BatchPerceptron": "batch",
    "SGDClassifier": "sgd",
}
#: Losses of SGD that the page has.
LOSSES = (*("sigmoid_mse", "log_loss", "hinge", "squared_hinge", "squared_error", "perceptron"),)


def lab_page(trace: Trace) -> str:
    """Return the lab at the last step of a trace; it steps back and forth from there."""
    reason = _obstacle(trace)
    if reason:
        raise ValueError(f"The lab cannot show this trace: {reason}. print(trace) has its steps.")
    n = len(trace.X)
    order = np.arange(n) if isinstance(trace.learner, BatchPerceptron) else trace.row[:n]
    example = Example(trace.X[order], trace.y[order], tuple(map(str, trace.columns)))
    return lab_of_example(example, "your rows", urlencode(_settings(trace)))


def _settings(trace: Trace) -> dict[str, Any]:
    learner = trace.learner
    settings = {
        "example": "file",
        "learner": NAMES[type(learner).__name__],
        "eta": float(learner.eta0),
        "epochs": int(trace.epoch[-1]),
        "start": ", ".join(map(repr, trace.weights[0, 0].tolist())),
        "order": "given",
        "at": len(trace),
    }
    if hasattr(learner, "loss"):
        return settings | {"loss": learner.loss}
    return settings | {"ties": learner.ties}


def _obstacle(trace: Trace) -> str:
    """Return why the page cannot show a trace, "" if it can."""
    learner, (n, d) = trace.learner, trace.X.shape
    if type(learner).__name__ not in NAMES or trace.classes is None:
        return "it shows classifiers"
    if len(trace.classes) != 2 or d > MAX_COLUMNS or n > MAX_ROWS:
        return f"it shows two classes, at most {MAX_COLUMNS} columns and at most {MAX_ROWS} rows"
    if getattr(learner, "shuffle", False):
        return "the order of the rows differs between epochs. Trace with order='given'"
    if not learner.fit_intercept or getattr(learner, "multi_class", "ovr") == "argmax":
        return "it has an intercept, and one model for two classes"
    if getattr(learner, "eps", None) or getattr(learner, "loss", "hinge") not in LOSSES:
        return "it has no eps, and not this loss"
    if hasattr(learner, "loss") and (learner.learning_rate != "constant" or learner.alpha):
        return "its steps are constant, without a penalty"
    return ""
