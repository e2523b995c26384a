"""Ctrl-C stops a validation."""

from __future__ import annotations

import signal
import subprocess
import sys

CALLS = [
    "leave_one_out(LinearRegression(), X, y, max_refits=10**9)",
    "cross_validate(LeastSquares(), X, y, [(np.arange(10000), [19999])] * 100_000)",
    "learning_curve(LeastSquares(), X, y, repeats=10**5)",
    "nested_cross_validate(LinearRegression(), {}, X, y, cv=[(range(10000), [19999])] * 10**4)",
]
#: One process for all calls, as to start it takes longer than to stop them. Where tests run in the
#: background, it would inherit that SIGINT is ignored.
SCRIPT = f"""
import signal
import numpy as np
from sklearn.linear_model import LinearRegression
from separable import LeastSquares
from separable.select import cross_validate, learning_curve, leave_one_out, nested_cross_validate
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X, y = rng.normal(size=(20000, 50)), rng.normal(size=20000)
for call in [{", ".join(f"lambda: {call}" for call in CALLS)}]:
    try:
        print("started", flush=True)
        call()
        print("finished", flush=True)
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""


def test_ctrl_c_stops_each():
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            for call in CALLS:
                assert process.stdout.readline() == "started\n", call
                process.send_signal(signal.SIGINT)
                assert process.stdout.readline() == "stopped\n", call
            assert process.wait(60) == 0
        finally:
            process.kill()
