"""Ctrl-C in the middle of a call, without a process of its own: a SIGINT while it runs."""

from __future__ import annotations

import gc
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


#: Seconds until Ctrl-C is pressed again. Python drops an interrupt that arrives in a destructor.
AGAIN = 10.0


@contextmanager
def ctrl_c(seconds: float = 0.3) -> Iterator[None]:
    """Send SIGINT after some seconds, unless the block has ended by itself before.

    The signal comes from another thread, so it also arrives while compiled code runs that has
    released the GIL.
    """
    main, lock, ended = threading.main_thread().ident, threading.Lock(), threading.Event()

    def send() -> None:
        wait = seconds
        while not ended.wait(wait):
            with lock:
                if not ended.is_set():
                    signal.pthread_kill(main, signal.SIGINT)
            wait = AGAIN

    # Where tests run in the background, SIGINT may be ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()  # an interrupt within a callback of the collector would be dropped with a warning
    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield
    finally:
        with lock:
            ended.set()
        sender.join()
        gc.enable()
        signal.signal(signal.SIGINT, before)
