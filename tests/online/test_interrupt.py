"""Ctrl-C stops a long fit and leaves the estimator as it was."""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.native

#: Runs the scripts that it is sent, one JSON text a line.
SERVER = """
import json
import sys
import numpy as np
import scipy.sparse as sp
from separable import (
    BatchPerceptron, Perceptron, SGDClassifier, SGDRegressor, VotedPerceptron, WidrowHoff
)
print("ready", flush=True)
for line in sys.stdin:
    exec(json.loads(line))
"""

# Inseparable data and no limit: left alone, the fit would go on for hours.
SCRIPT = """
rng = np.random.default_rng(0)
X, y = rng.normal(size=(2000, 20)), rng.integers(0, {classes}, 2000)
limits = dict(max_iter=10**9, max_work=float("inf"))
epochs = dict(max_iter=10**9, tol=None)
learner = {learner}
print("started", flush=True)
try:
    learner.fit(X, y, sample_weight={weight})
    print("ended", flush=True)
except KeyboardInterrupt:
    print("stopped", hasattr(learner, "coef_"), flush=True)
"""


VOTE = """
rng = np.random.default_rng(0)
X, y = rng.normal(size=(4000, 50)), rng.integers(0, 2, 4000)
form = {form}
learner = VotedPerceptron(max_iter=2).fit(form(X), y)
more = sp.vstack([form(X)] * 50, format="csr") if sp.issparse(form(X)) else np.tile(X, (50, 1))
print("started", flush=True)
try:
    learner.decision_function(more)
    print("ended", flush=True)
except KeyboardInterrupt:
    print("stopped", False, flush=True)
"""


@pytest.fixture(scope="module")
def servers():
    """The process that runs the scripts; another one after a test that failed."""
    started = []
    yield started
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def stop_soon(servers):
    """Return a function that runs a script and interrupts it."""
    if not servers or servers[-1].poll() is not None:
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", SERVER]
        servers.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True))
        assert servers[-1].stdout.readline() == "ready\n"
    process = servers[-1]

    def stop(script: str) -> None:
        process.stdin.write(json.dumps(script) + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == "started\n"
        for wait in (0.2, *[2] * 30):  # pressed again if Python dropped it
            if select.select([process.stdout], [], [], wait)[0]:
                break
            process.send_signal(signal.SIGINT)
        answer = process.stdout.readline() if select.select([process.stdout], [], [], 0)[0] else ""
        if answer != "stopped False\n":
            process.kill()
            process.wait()
        assert answer == "stopped False\n"

    return stop


@pytest.mark.slow
@pytest.mark.parametrize("form", ["np.asarray", "sp.csr_array"])
def test_interrupt_votes(stop_soon, form):
    stop_soon(VOTE.format(form=form))


@pytest.mark.slow
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
def test_interrupt(stop_soon, classes, learner):
    stop_soon(SCRIPT.format(classes=classes, learner=learner, weight=None))


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["adaptive", "constant"])
@pytest.mark.parametrize("classes", [2, 20])
def test_interrupt_within_an_epoch(stop_soon, classes, schedule):
    learner = f"SGDClassifier('log_loss', learning_rate={schedule!r}, max_iter=1, tol=None)"
    weight = "np.full(2000, 4e5)"  # as many presentations of each row
    stop_soon(SCRIPT.format(classes=classes, learner=learner, weight=weight))
