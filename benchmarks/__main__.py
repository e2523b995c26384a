"""Entry point: one thread each is settled before NumPy is imported."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Limit every thread pool to one thread, then run the command."""
    for pool in ("OMP", "OPENBLAS", "MKL", "BLIS"):
        os.environ[f"{pool}_NUM_THREADS"] = "1"
    sys.stdout.reconfigure(line_buffering=True)  # a long run tells how far it is, in a file too
    from benchmarks.command import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
