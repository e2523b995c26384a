"""Ctrl-C stops passes and certificates."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.native

# A tolerance that is never reached and no limit: left alone, the passes would go on for hours.
SCRIPT = """
import numpy as np
from scipy.sparse import csr_array
from separable.certified.dual_lanes import PassedRows, descend
from separable.certified.judge import judge
from separable.certified.losses import Logistic
from separable.certified.problem import Lane, Problem
from separable.data.rows import as_rows
rng = np.random.default_rng(0)
X, y = rng.normal(size=(2000, 200)), rng.integers(0, 2, 2000).astype(np.int32)
problem = Problem(as_rows({form}(X)), Logistic(), y)
lanes = [Lane(1e6)] * {lanes}
print("started", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("stopped")
"""
PASSES = """rows = PassedRows.of(problem, np.dtype(np.float32))
    descend(problem, rows, lanes, tol=0.0, max_iter=10**9, seed=0)"""
CERTIFICATES = "while True: judge(problem, lanes, np.zeros((2000, len(lanes))), 1e-3)"


@pytest.mark.parametrize("work", [PASSES, CERTIFICATES])
@pytest.mark.parametrize("form", ["np.asarray", "csr_array"])
@pytest.mark.parametrize("lanes", [1, 16])
def test_interrupt(work, form, lanes):
    script = SCRIPT.format(form=form, lanes=lanes, work=work)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "started\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)  # it is still at it
        process.send_signal(signal.SIGINT)
        answer, _ = process.communicate(timeout=60)
    assert answer == "stopped\n"
