"""The standard streams: in colour or not, closed by whoever reads them, full, or not there."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from separable.cli.render.messages import warn

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["close_output", "colour", "flush_output", "warnings_in_one_line"]


def colour() -> bool | None:
    """Return whether to write in colour; None: where it is a terminal.

    ``NO_COLOR`` and ``FORCE_COLOR`` count where they are set to anything but nothing; the first
    wins.
    """
    if os.environ.get("NO_COLOR"):
        return False
    return True if os.environ.get("FORCE_COLOR") else None


def flush_output() -> None:
    """Write what is still held back, so that an error comes now and not when Python ends."""
    for stream in (sys.stdout, sys.stderr):
        if stream is None:  # closed before the program began
            continue
        try:
            stream.flush()
        except OSError:
            close_output()
            raise


def close_output() -> None:
    """Let nothing more go to streams that cannot be written, not even when Python ends."""
    for stream in (sys.stdout, sys.stderr):
        if stream is None:
            continue
        try:
            stream.flush()
        except OSError:
            _send_nowhere(stream)
        except ValueError:  # it is closed
            continue


def _send_nowhere(stream: Any) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
        stream.flush()
    except (OSError, ValueError):  # it is no file
        return
    finally:
        os.close(nowhere)


@contextmanager
def warnings_in_one_line() -> Iterator[None]:
    """Tell the warnings of Python as the commands tell theirs."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        warn(" ".join(str(message).split()))

    before = warnings.showwarning
    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before
