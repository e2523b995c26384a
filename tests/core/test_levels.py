"""CPU levels: the best is picked, one can be forced, and all give the same bits.

Products and sums are made in one order at every level and are never fused, so the tolerance
between levels is zero.
"""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from separable import _core

pytestmark = pytest.mark.native

BATTERY = Path(__file__).with_name("battery.py")
KNOWN = ("baseline", "avx2", "avx512", "generic")

#: Imports the core on a machine that pretends to have other levels, and prints the one picked.
PRETEND = """
import sys, types
sys.modules["separable._core.portable"] = types.SimpleNamespace(usable_levels=lambda: {levels!r})
from separable._core import LEVEL
print(LEVEL)
"""


def run_python(
    *arguments: str, level: str | None = None, before: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "SEPARABLE_CPU"}
    if level is not None:
        environment["SEPARABLE_CPU"] = level
    return subprocess.run(
        [*before, sys.executable, *arguments], capture_output=True, text=True, env=environment
    )


@pytest.fixture(scope="module")
def trained() -> dict[str, np.ndarray]:
    """The battery, trained in this process."""
    with pytest.warns(UserWarning, match="may not be linearly separable"):
        return runpy.run_path(str(BATTERY))["train_all"]()


def test_levels_are_known_and_the_one_in_use_is_among_them():
    assert set(_core.LEVELS) <= set(KNOWN)
    assert _core.LEVEL in _core.LEVELS
    assert _core.native.__name__ == f"separable._core.{_core.LEVEL}"


def test_the_best_level_is_picked():
    done = run_python("-c", "from separable._core import LEVEL, LEVELS; print(LEVEL == LEVELS[-1])")
    assert done.stdout == "True\n", done.stderr


@pytest.mark.parametrize("level", _core.LEVELS)
def test_a_level_can_be_forced(level):
    done = run_python(
        "-c",
        "from separable._core import LEVEL, native; print(LEVEL, native.__name__)",
        level=level,
    )
    assert done.stdout == f"{level} separable._core.{level}\n", done.stderr


def test_an_unknown_level_is_refused():
    levels = run_python("-c", "from separable._core import LEVELS; print(', '.join(LEVELS))")
    done = run_python("-c", "import separable._core", level="avx9000")
    assert done.returncode == 1
    assert "ImportError: SEPARABLE_CPU='avx9000' asks for a CPU level" in done.stderr
    assert f"It has: {levels.stdout.strip()}. Unset SEPARABLE_CPU" in done.stderr


@pytest.mark.parametrize("levels", [("baseline",), ("baseline", "avx2")])
def test_a_level_the_machine_lacks_is_refused(levels):
    done = run_python("-c", PRETEND.format(levels=levels), level="avx512")
    assert done.returncode == 1
    assert "ImportError: SEPARABLE_CPU='avx512'" in done.stderr
    assert f"It has: {', '.join(levels)}." in done.stderr


def test_a_machine_with_one_level_uses_it():
    done = run_python("-c", PRETEND.format(levels=_core.LEVELS[:1]))
    assert done.stdout == f"{_core.LEVELS[0]}\n", done.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="needs qemu-x86_64 (make system)")
@pytest.mark.skipif("baseline" not in _core.LEVELS, reason="emulates an x86-64")
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="the sanitizers do not run emulated")
def test_an_old_cpu_gets_the_baseline_and_refuses_the_rest():
    old = ("qemu-x86_64", "-cpu", "Nehalem")
    done = run_python("-c", "from separable._core import LEVELS; print(*LEVELS)", before=old)
    assert done.stdout == "baseline\n", done.stderr
    done = run_python("-c", "import separable._core", level="avx2", before=old)
    assert done.returncode == 1, "not a signal"
    assert "It has: baseline." in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "level",
    [
        pytest.param(level, marks=pytest.mark.long) if level == _core.LEVEL else level
        for level in _core.LEVELS
    ],
)
def test_every_level_learns_the_same_bits(level, trained, tmp_path):
    path = tmp_path / "found.npz"
    done = run_python(str(BATTERY), str(path), level=level)
    assert done.returncode == 0, done.stderr
    with np.load(path) as result:
        assert sorted(result) == sorted(trained)
        different = [name for name in result if not np.array_equal(result[name], trained[name])]
        for name in different:  # tiles fuse products where the CPU can: equal within certificates
            assert name.startswith("logistic, ")
            np.testing.assert_allclose(result[name], trained[name], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_battery_would_show_another_order_of_sums(dtype):
    battery = runpy.run_path(str(BATTERY))
    products = battery["make_dense"](dtype, sparse=False) * battery["make_start"](dtype, 1)
    forward = np.cumsum(products, axis=1)[:, -1]
    backward = np.cumsum(products[:, ::-1], axis=1)[:, -1]
    assert ((forward > 0) != (backward > 0)).sum() > 10
