"""Ctrl-C stops a validation."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

SCRIPT = """
import numpy as np
from sklearn.linear_model import LinearRegression
from separable import LeastSquares
from separable.select import cross_validate, learning_curve, leave_one_out, nested_cross_validate
rng = np.random.default_rng(0)
X, y = rng.normal(size=(20000, 50)), rng.normal(size=20000)
try:
    print("started", flush=True)
    {call}
except KeyboardInterrupt:
    print("stopped")
"""
CALLS = [
    "leave_one_out(LinearRegression(), X, y, max_refits=10**9)",
    "cross_validate(LeastSquares(), X, y, [(np.arange(10000), [19999])] * 100_000)",
    "learning_curve(LeastSquares(), X, y, repeats=10**5)",
    "nested_cross_validate(LinearRegression(), {}, X, y, cv=[(range(10000), [19999])] * 10**4)",
]


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_stops_it(call):
    script = SCRIPT.format(call=call)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out) == (0, "stopped\n")
