"""Ctrl-C in the middle of a call, without a process of its own: a SIGINT while it runs."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def ctrl_c(seconds: float = 0.3) -> Iterator[None]:
    """Send SIGINT after some seconds, unless the block has ended by itself before.

    The signal comes from another thread, so it also arrives while compiled code runs that has
    released the GIL.
    """
    main, ended, lock = threading.main_thread().ident, False, threading.Lock()

    def send() -> None:
        with lock:
            if not ended:
                signal.pthread_kill(main, signal.SIGINT)

    # Where tests run in the background, SIGINT may be ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, send)
    timer.start()
    try:
        yield
    finally:
        with lock:
            ended = True
        timer.cancel()
        signal.signal(signal.SIGINT, before)
