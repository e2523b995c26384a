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
from separable import BatchPerceptron, Perceptron, WidrowHoff
rng = np.random.default_rng(0)
X, y = rng.normal(size=(2000, 20)), rng.integers(0, {classes}, 2000)
limits = dict(max_iter=10**9, max_work=float("inf"))
learner = {learner}
print("started", flush=True)
try:
    learner.fit(X, y)
except KeyboardInterrupt:
    print("stopped", hasattr(learner, "coef_"))
"""


@pytest.mark.parametrize(
    ("classes", "learner"),
    [
        (2, "Perceptron(**limits)"),
        (20, "Perceptron(**limits, pocket=True)"),
        (3, "Perceptron(**limits, pocket=True, multi_class='argmax')"),
        (20, "BatchPerceptron(**limits)"),
        (9, "WidrowHoff(**limits, tol=None)"),
    ],
)
def test_interrupt(classes, learner):
    script = SCRIPT.format(classes=classes, learner=learner)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "started\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)  # it is still learning
        process.send_signal(signal.SIGINT)
        answer, _ = process.communicate(timeout=60)
    assert answer == "stopped False\n"
