"""HTTP connections of uvicorn with limits on their number, their headers and their silence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from asyncio import TimerHandle, Transport

    from separable.serve.limits import Limits

__all__ = ["limited_protocol"]


def limited_protocol(limits: Limits) -> type[HttpToolsProtocol]:
    """Return the protocol of connections with these limits."""

    class LimitedProtocol(HttpToolsProtocol):
        """A connection that is closed when it exceeds a limit."""

        _timer: TimerHandle | None = None
        _header_size = 0

        def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > limits.connections:
                self._end(b"503 Service Unavailable", b"retry-after: 1\r\n")
                return
            self._start_timer()

        def on_message_begin(self) -> None:
            self._header_size = 0
            self._start_timer()
            super().on_message_begin()

        def on_url(self, url: bytes) -> None:
            self._count_header(len(url))
            super().on_url(url)

        def on_header(self, name: bytes, value: bytes) -> None:
            self._count_header(len(name) + len(value))
            super().on_header(name, value)

        def on_headers_complete(self) -> None:
            self._stop_timer()
            if not self.transport.is_closing():
                super().on_headers_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def _count_header(self, size: int) -> None:
            self._header_size += size
            if self._header_size > limits.header_bytes and not self.transport.is_closing():
                self._end(b"431 Request Header Fields Too Large")

        def _start_timer(self) -> None:
            self._stop_timer()
            self._timer = self.loop.call_later(limits.idle_seconds, self._close_silent)

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _close_silent(self) -> None:
            """Close a connection that has not completed the headers of a request in time."""
            if not self.transport.is_closing():
                self.transport.close()

        def _end(self, status: bytes, headers: bytes = b"") -> None:
            self._stop_timer()
            start = b"HTTP/1.1 " + status + b"\r\n" + headers
            self.transport.write(start + b"content-length: 0\r\nconnection: close\r\n\r\n")
            self.transport.close()

        def data_received(self, data: bytes) -> Any:
            if not self.transport.is_closing():
                super().data_received(data)

    return LimitedProtocol
