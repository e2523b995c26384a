"""A bounded HTTP client on loopback: few microseconds per request, so that servers are compared."""

from __future__ import annotations

import selectors
import socket
import time
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Connection", "paced", "rate", "request"]

END = b"\r\n\r\n"


def request(path: str, body: bytes) -> bytes:
    """Return the bytes of a POST of JSON."""
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


@dataclass
class Connection:
    """A connection that is kept; answers must say their length.

    Parameters
    ----------
    port : int
    """

    port: int
    _data: bytearray = field(default_factory=bytearray)
    _needed: int = 0

    def __post_init__(self) -> None:
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, data: bytes) -> bytes:
        """Send a request, and return the body of the answer."""
        self.socket.sendall(data)
        while True:
            body = self.receive()
            if body is not None:
                return body

    def receive(self) -> bytes | None:
        """Read what is there; return the body of the answer if it is complete."""
        part = self.socket.recv(1 << 18)
        if not part:
            raise ConnectionError("The server closed the connection.")
        self._data += part
        if not self._needed:
            at = self._data.find(END)
            if at < 0:
                return None
            head = bytes(self._data[:at]).lower()
            if not head.startswith(b"http/1.1 200"):
                raise RuntimeError(f"The server answered {head[9:40]!r}: {self._data[at:][:200]!r}")
            length = head.partition(b"content-length:")[2].split(b"\r\n")[0]
            self._start, self._needed = at + len(END), at + len(END) + int(length)
        if len(self._data) < self._needed:
            return None
        body = bytes(self._data[self._start : self._needed])
        self._data.clear()
        self._needed = 0
        return body


def paced(port: int, requests: Sequence[bytes], per_second: float | None = None) -> list[float]:
    """Return the seconds of requests over one connection, at a steady pace if one is given."""
    times = []
    with Connection(port) as connection:
        due = time.perf_counter()
        for data in requests:
            if per_second is not None:
                due += 1 / per_second
                time.sleep(max(0.0, due - time.perf_counter()))
            start = time.perf_counter()
            connection.ask(data)
            times.append(time.perf_counter() - start)
    return times


def rate(port: int, requests: Iterable[bytes], connections: int, seconds: float = inf) -> float:
    """Return the requests per second over several connections, each with one at a time.

    Parameters
    ----------
    port : int
    requests : iterable of bytes
        At least one for each connection.
    connections : int
    seconds : float
        No request is sent after these.
    """
    ready, left, answered = selectors.DefaultSelector(), iter(requests), 0
    opened = [Connection(port) for _ in range(connections)]
    start = time.perf_counter()
    for each in opened:
        ready.register(each.socket, selectors.EVENT_READ, each)
        each.socket.sendall(next(left))
    under_way = connections
    while under_way:
        for key, _ in ready.select(60):
            if key.data.receive() is None:
                continue
            answered += 1
            data = next(left, None) if time.perf_counter() < start + seconds else None
            if data is None:
                under_way -= 1
            else:
                key.data.socket.sendall(data)
    taken = time.perf_counter() - start
    for each in opened:
        each.socket.close()
    ready.close()
    return answered / taken
