"""The command line: ``separable train``, ``predict``, ``explain`` and more."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> None:
    """Run a command line and end the process with its exit code.

    Parameters
    ----------
    args : sequence of str, optional
        The arguments after the program's name; by default those of the process.
    """
    try:
        from separable.cli.app import run

        code = run(args)
    except KeyboardInterrupt:  # while it starts
        code = 130
    sys.exit(code)
