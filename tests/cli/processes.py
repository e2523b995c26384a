"""The command line in processes of its own, started as seldom as can be."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from multiprocessing.connection import Connection
    from pathlib import Path

#: Imported once, in the server that the children are forked from.
PRELOADED = ["pytest", "sklearn.base", "separable.cli.app", "separable.online.sgd_classifier",
             "separable.workflow.stream.stream_learning"]  # fmt: skip

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(PRELOADED)


def modules_after(lines: Iterable[Iterable[object]]) -> list[set[str]]:
    """Run command lines, one after the other, in a new process.

    Returns
    -------
    list of set of str
        The packages that were imported after each. A package that one line imports is there after
        all that follow: the first to have it is the one to blame.
    """
    script = (
        "import json, sys\n"
        "from separable.cli.app import run\n"
        "for line in json.loads(sys.argv[1]):\n"
        "    assert run(line) == 0, line\n"
        "    print('MODULES', *{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)\n"
    )
    given = [[str(arg) for arg in line] for line in lines]
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(given)],
        check=True,
        capture_output=True,
        text=True,
    )
    told = [line for line in done.stderr.splitlines() if line.startswith("MODULES ")]
    assert len(told) == len(given)
    return [{*line.split()[1:]} for line in told]


class Child:
    """`separable` in a process of its own, which starts with everything imported.

    Parameters
    ----------
    folder : Path
        The folder it runs in.
    *args : object
        Its arguments.
    """

    def __init__(self, folder: Path, *args: object) -> None:
        ours, theirs = _context.Pipe(duplex=False)
        given = (str(folder), [str(arg) for arg in args], theirs)
        self._process = _context.Process(target=_run, args=given)
        self._process.start()
        theirs.close()
        self.stderr = os.fdopen(os.dup(ours.fileno()), "rb")
        ours.close()

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal."""
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def wait(self, timeout: float = 100) -> tuple[int | None, bytes]:
        """Wait for its end; return the exit code and what else it wrote to standard error."""
        with self.stderr:
            told = self.stderr.read()
        self._process.join(timeout)
        return self._process.exitcode, told


def _run(folder: str, args: list[str], errors: Connection) -> Any:
    from separable.cli import main

    os.chdir(folder)
    os.dup2(errors.fileno(), 2)
    errors.close()
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 1)
    main(args)
