"""The command line: ``separable train``, ``predict``, ``explain`` and more."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
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
    _leave(code)


def _leave(code: int) -> None:
    """End the process without taking the interpreter down piece by piece.

    A thread of Arrow may still be about to let go of a Python object, and would abort the process
    if it finds the interpreter gone. It is quicker, too.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, full, or not there
            stream.flush()
    os._exit(code)
