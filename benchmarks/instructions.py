"""Instructions of six kernels under callgrind, compared with the committed counts.

    python benchmarks/instructions.py PROGRAM            compare; fail above `TOLERANCE`
    python benchmarks/instructions.py PROGRAM --update   write the counts of this compiler

Noise of the machine does not disturb these counts: the same compiler gives the same program, and
the same program takes the same instructions. `PROGRAM` is built from instructions.cpp, for the CPU
level avx2, by ``make instructions``. Another compiler has no counts to compare with; the table then
says so.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COUNTS = Path(__file__).with_name("instructions.json")
#: A kernel may take this fraction of instructions more than the committed count.
TOLERANCE = 0.02
#: The function of each kernel whose calls are counted.
FUNCTIONS = {
    "coordinate_path": "kernels::coordinates::descend_path",
    "dense_sums": "kernels::moments::add_dense",
    "dual_descent": "kernels::certified::run_pass",
    "gram_path": "kernels::gram::path",
    "perceptron": "kernels::online::run_perceptron",
    "scores": "kernels::scores::write_scores",
}


def instructions(program: str, kernel: str) -> int:
    """Return the number of instructions inside the calls of a kernel."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *("valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"),
            *("--collect-atstart=no", f"--toggle-collect={FUNCTIONS[kernel]}(*"),
            *(program, kernel),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    match = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or match is None or match[1] == "0":
        raise SystemExit(f"callgrind counted nothing in {FUNCTIONS[kernel]}:\n{done.stderr}")
    return int(match[1])


def compiler() -> str:
    """Return the compiler and its version."""
    line = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True).stdout
    return line.splitlines()[0]


def main(program: str, update: bool) -> int:
    """Print the counts beside the committed ones, and return 1 if one is too large."""
    if shutil.which("valgrind") is None:
        print("instructions: no valgrind, the counts are skipped (make system installs it)")
        return 0
    known: dict[str, dict[str, int]] = json.loads(COUNTS.read_text())
    counts = {kernel: instructions(program, kernel) for kernel in FUNCTIONS}
    if update:
        known[compiler()] = counts
        COUNTS.write_text(json.dumps(known, indent=2) + "\n")
    committed = known.get(compiler())
    worse = []
    print(f"{'kernel':<16} {'instructions':>13} {'committed':>13}")
    for kernel, count in counts.items():
        before = "none" if committed is None else f"{committed[kernel]:13,d}"
        print(f"{kernel:<16} {count:13,d} {before:>13}")
        if committed is not None and count > (1 + TOLERANCE) * committed[kernel]:
            worse.append(kernel)
    if committed is None:
        print(f"No counts of this compiler are committed: {compiler()}.")
    if worse:
        print(
            f"More instructions than committed: {', '.join(worse)}. Find the cause, or commit the "
            "new counts with their reason: make instructions UPDATE=--update."
        )
    return bool(worse)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--update" in sys.argv[2:]))
