"""Learning on clusters: the same answers as on one machine, and errors with their place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.clusters import MISSING

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

SMOKE = ["same_moments", "same_optimum", "errors"]
MORE = [
    "predictions",
    "uneven_partitions",
    "all_moments",
    "all_optima",
    "searches",
    "more_errors",
    "training",
]


def check(mode: str, names: list[str], seconds: float) -> None:
    """Run checks in a process of their own, since a process has one session."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.checks", mode, *names],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert sorted(found) == sorted(names)
    wrong = {name: error for name, error in found.items() if error is not None}
    assert not wrong, "\n".join(f"{name}:\n{error}" for name, error in wrong.items())


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_local_smoke() -> None:
    check("local", SMOKE, 280)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_local() -> None:
    check("local", [*MORE, "other_rows_each_time"], 880)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_connect() -> None:
    check("connect", [*SMOKE, *MORE], 880)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_standalone_cluster() -> None:
    check("standalone", [*SMOKE, "searches", "lost_executor"], 880)
