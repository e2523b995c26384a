"""Limits of a server: sizes, times and the number of requests at once."""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """Limits of a server. A request beyond one gets an answer that names it.

    Parameters
    ----------
    body_bytes : int, default 16 MiB
        Size of a body, after decompression.
    rows : int, default 100 000
        Rows of a request.
    seconds : float, default 30
        Time to receive a request.
    concurrent : int, default 64
        Requests at once; more get 503 with Retry-After.
    connections : int, default 1000
        Open connections; more are closed at once.
    header_bytes : int, default 32 KiB
        Size of the headers of a request.
    idle_seconds : float, default 20
        Time until a connection without a request is closed.
    """

    body_bytes: int = 16 << 20
    rows: int = 100_000
    seconds: float = 30.0
    concurrent: int = 64
    connections: int = 1000
    header_bytes: int = 32 << 10
    idle_seconds: float = 20.0

    def __post_init__(self) -> None:
        for each in fields(self):
            if not getattr(self, each.name) > 0:
                raise ValueError(f"{each.name} must be more than 0.")
