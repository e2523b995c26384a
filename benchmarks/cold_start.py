"""Cold start of the commands: a new process each time, as a shell starts it."""

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
#: Packages that commands which use a model must not import.
HEAVY = ("sklearn", "scipy", "pandas", "polars", "matplotlib")
#: What they are compared with.
BARE = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
}


def run_cold_start(settings: Settings) -> Section:
    """Time help and the commands that use a model, on one row, beside a bare Python."""
    program = find_program()
    with tempfile.TemporaryDirectory() as folder:
        commands = _commands(program, *make_model(program, Path(folder)))
        for command, _ in commands.values():  # once untimed: byte code and file cache
            _start(command)
        imported = {name: heavy_imports(command) for name, (command, _) in commands.items()}
        runs = [_prepare(command) for command, _ in commands.values()]
        commands |= {name: (command, None) for name, command in BARE.items()}
        runs += [_prepare(command) for command in BARE.values()]
        times = interleave(runs, settings.starts)
        processor = {name: processor_seconds(command) for name, (command, _) in commands.items()}
    section = Section()
    walls = {n: [wall for wall, _ in run] for n, run in zip(commands, times, strict=True)}
    bare = median(walls["python -c pass"])
    for name, (_, target) in commands.items():
        line = _line(name, walls[name], bare, target, imported.get(name, []), settings)
        section.add(line, {"seconds": walls[name], "processor_seconds": processor[name]})
    cells = [
        [line.what, line.ours, show_seconds(processor[line.what]), str(line.target or "-")]
        for line in section.lines
    ]
    print("Cold start, medians of new processes\n")
    headings = ("command", "median", "processor, one run", "target in s")
    print(markdown_table(headings, cells))
    found = sorted({name for names in imported.values() for name in names})
    print(f"\nThey import, of {', '.join(HEAVY)}: {', '.join(found) or 'none'}\n")
    return section


def _commands(
    program: list[str], model: str, one_row: str, labelled: str
) -> dict[str, tuple[list[str], float | None]]:
    """Return what is timed, each with its target."""
    return {
        "separable --help": ([*program, "--help"], HELP_SECONDS),
        "separable train --help": ([*program, "train", "--help"], HELP_SECONDS),
        "separable predict, one row": ([*program, "predict", model, one_row], PREDICT_SECONDS),
        "separable explain, one row": ([*program, "explain", model, one_row], None),
        "separable evaluate, 200 rows": ([*program, "evaluate", model, labelled], None),
        "separable inspect": ([*program, "inspect", model], None),
    }


def find_program() -> list[str]:
    """Return how the command is started: the installed script, else the module."""
    script = Path(sysconfig.get_path("scripts")) / "separable"
    return [str(script)] if script.exists() else [sys.executable, "-m", "separable.cli"]


def make_model(program: list[str], folder: Path) -> tuple[str, str, str]:
    """Train a small model with the command; return its file, one of one row, and its table."""
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
    return str(model), str(one_row), str(table)


def processor_seconds(command: list[str]) -> float:
    """Return the processor time of one run, which other work on the machine hardly changes."""
    before = os.times()
    _start(command)
    after = os.times()
    spent = after.children_user + after.children_system
    return spent - before.children_user - before.children_system


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
