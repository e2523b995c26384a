"""Cold start of the command: a new process each time, as a shell starts it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.datasets import MissingDataError
from benchmarks.harness import interleave
from benchmarks.report import Line, Section, judge, markdown_table, show_seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.settings import Settings

__all__ = ["run_cold_start"]

HELP_SECONDS = 0.2
PREDICT_SECONDS = 0.6
#: Packages that predicting must not import.
HEAVY = ("sklearn", "scipy", "pandas", "polars", "matplotlib")


def run_cold_start(settings: Settings) -> Section:
    """Time ``separable --help`` and ``separable predict`` of one row beside a bare Python."""
    program = find_program()
    with tempfile.TemporaryDirectory() as folder:
        model, one_row = make_model(program, Path(folder))
        commands = {
            "separable --help": ([*program, "--help"], HELP_SECONDS),
            "separable predict, one row": ([*program, "predict", model, one_row], PREDICT_SECONDS),
            "python -c pass": ([sys.executable, "-c", "pass"], None),
            "python -c 'import numpy'": ([sys.executable, "-c", "import numpy"], None),
        }
        for command, _ in commands.values():  # once untimed: byte code and file cache
            _start(command)
        runs = [_prepare(command) for command, _ in commands.values()]
        times = interleave(runs, settings.starts)
        imported = heavy_imports(commands["separable predict, one row"][0])
    section = Section()
    bare = median(wall for wall, _ in times[2])
    for (name, (_, target)), run in zip(commands.items(), times, strict=True):
        walls = [wall for wall, _ in run]
        heavy = imported if "predict" in name else []
        section.add(_line(name, walls, bare, target, heavy, settings), {"seconds": walls})
    cells = [[line.what, line.ours, line.target or "-"] for line in section.lines]
    print("Cold start, medians of new processes\n")
    print(markdown_table(("command", "median", "target in s"), [list(map(str, c)) for c in cells]))
    print(f"\npredict imports, of {', '.join(HEAVY)}: {', '.join(imported) or 'none'}\n")
    return section


def find_program() -> list[str]:
    """Return how the command is started: the installed script, else the module."""
    script = Path(sysconfig.get_path("scripts")) / "separable"
    return [str(script)] if script.exists() else [sys.executable, "-m", "separable.cli"]


def make_model(program: list[str], folder: Path) -> tuple[str, str]:
    """Train a small model with the command and return its file and that of one row."""
    rng = np.random.default_rng(0)
    rows = [
        f"{a:.3f},{b:.3f},{'red' if a > 0 else 'blue'},{'yes' if a + b > 0 else 'no'}"
        for a, b in rng.normal(size=(200, 2))
    ]
    table, one_row = folder / "table.csv", folder / "one.csv"
    table.write_text("\n".join(["a,b,colour,y", *rows]) + "\n")
    one_row.write_text("a,b,colour\n0.5,-0.25,red\n")
    model = folder / "model.safetensors"
    command = [*program, "train", str(table), "--target", "y", "-o", str(model)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MissingDataError(f"`separable train` failed: {done.stderr.strip()[-300:]}")
    return str(model), str(one_row)


def heavy_imports(command: list[str]) -> list[str]:
    """Return which of the heavy packages the command imports."""
    environment = os.environ | {"PYTHONPROFILEIMPORTTIME": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    names = re.findall(r"^import time:.*\|\s*([\w.]+)\s*$", done.stderr, flags=re.MULTILINE)
    found = {name.partition(".")[0] for name in names}
    if "separable" not in found:
        raise RuntimeError("The list of imported modules could not be read.")
    return [name for name in HEAVY if name in found]


def _start(command: list[str]) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)


def _prepare(command: list[str]) -> Callable[[int], Callable[[], object]]:
    return lambda _: lambda: _start(command)


def _line(
    name: str,
    walls: list[float],
    bare: float,
    target: float | None,
    heavy: list[str],
    settings: Settings,
) -> Line:
    value = median(walls)
    verdict = judge(value, target, at_most=True, judged=settings.judged)
    if heavy and settings.judged:
        verdict = f"missed: imports {', '.join(heavy)}"
    peer = f"python -c pass {show_seconds(bare)}"
    ours = show_seconds(value)
    return Line("cold start", "-", name, ours, peer, value, "s", target, True, verdict)
