"""Ctrl-C stops a long fit and leaves the estimator as it was."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.native

# Inseparable data and no limit: left alone, the fit would go on for hours.
SCRIPT = """
import sys
import numpy as np
from separable import BatchPerceptron, Perceptron, SGDClassifier, SGDRegressor, WidrowHoff
rng = np.random.default_rng(0)
X, y = rng.normal(size=(2000, 20)), rng.integers(0, {classes}, 2000)
limits = dict(max_iter=10**9, max_work=float("inf"))
epochs = dict(max_iter=10**9, tol=None)
learner = {learner}
print("started", flush=True)
try:
    learner.fit(X, y, sample_weight={weight})
except KeyboardInterrupt:
    print("stopped", hasattr(learner, "coef_"))
"""


VOTE = """
import numpy as np
import scipy.sparse as sp
from separable import VotedPerceptron
rng = np.random.default_rng(0)
X, y = rng.normal(size=(2000, 200)), rng.integers(0, 2, 2000)
form = {form}
learner = VotedPerceptron(max_iter=2).fit(form(X), y)
more = form(np.tile(X, (200, 1)))
print("started", flush=True)
try:
    learner.decision_function(more)
except KeyboardInterrupt:
    print("stopped", False)
"""


@pytest.mark.parametrize("form", ["np.asarray", "sp.csr_array"])
def test_interrupt_votes(form):
    stop_in_half_a_second(VOTE.format(form=form))


@pytest.mark.parametrize(
    ("classes", "learner"),
    [
        (2, "Perceptron(**limits)"),
        (20, "Perceptron(**limits, pocket=True)"),
        (3, "Perceptron(**limits, pocket=True, multi_class='argmax')"),
        (20, "BatchPerceptron(**limits)"),
        (9, "WidrowHoff(**limits, tol=None)"),
        (2, "SGDClassifier('log_loss', **epochs)"),
        (20, "SGDClassifier('hinge', learning_rate='constant', **epochs)"),
        (9, "SGDRegressor(**epochs)"),
    ],
)
def test_interrupt(classes, learner):
    stop_in_half_a_second(SCRIPT.format(classes=classes, learner=learner, weight=None))


@pytest.mark.parametrize("schedule", ["adaptive", "constant"])
@pytest.mark.parametrize("classes", [2, 20])
def test_interrupt_within_an_epoch(classes, schedule):
    learner = f"SGDClassifier('log_loss', learning_rate={schedule!r}, max_iter=1, tol=None)"
    weight = "np.full(2000, 4e5)"  # as many presentations of each row
    stop_in_half_a_second(SCRIPT.format(classes=classes, learner=learner, weight=weight))


def stop_in_half_a_second(script):
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "started\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)  # it is still at it
        process.send_signal(signal.SIGINT)
        answer, _ = process.communicate(timeout=60)
    assert answer == "stopped False\n"
