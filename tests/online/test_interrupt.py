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
from separable import Perceptron
rng = np.random.default_rng(0)
X, y = rng.normal(size=(2000, 20)), rng.integers(0, {classes}, 2000)
learner = Perceptron(max_iter=10**9, max_work=float("inf"), pocket={pocket}, multi_class={rule!r})
print("started", flush=True)
try:
    learner.fit(X, y)
except KeyboardInterrupt:
    print("stopped", hasattr(learner, "coef_"))
"""


@pytest.mark.parametrize(
    ("classes", "rule", "pocket"), [(2, "ovr", False), (20, "ovr", True), (3, "argmax", True)]
)
def test_interrupt(classes, rule, pocket):
    script = SCRIPT.format(classes=classes, rule=rule, pocket=pocket)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "started\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)  # it is still learning
        process.send_signal(signal.SIGINT)
        answer, _ = process.communicate(timeout=60)
    assert answer == "stopped False\n"
