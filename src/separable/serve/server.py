"""The server: uvicorn with limits on connections and headers."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from separable.errors import require_packages

if TYPE_CHECKING:
    from pathlib import Path

    import uvicorn

    from separable.serve.application import Application

__all__ = ["bound_socket", "run", "server_config"]

#: Seconds that requests have to finish after SIGTERM.
GRACE_SECONDS = 10


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket that is bound to an address; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise OSError(
            f"Cannot listen on {host}:{port}: {error.strerror}. Choose another port or host."
        ) from None
    return bound


def run(
    application: Application,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    bound: socket.socket | None = None,
    certificate: str | Path | None = None,
    key: str | Path | None = None,
) -> None:
    """Serve until SIGTERM or Ctrl-C; requests under way are finished first.

    Parameters
    ----------
    application : Application
        Made by `separable.serve.app`.
    host : str, default "127.0.0.1"
    port : int, default 8000
        0: any free port.
    bound : socket, optional
        Of `bound_socket`, instead of host and port.
    certificate, key : path, optional
        Files for TLS.
    """
    require_packages("The server", uvicorn="uvicorn", httptools="httptools")
    import uvicorn

    config = server_config(application, certificate, key)
    uvicorn.Server(config).run(sockets=[bound or bound_socket(host, port)])


def server_config(
    application: Application,
    certificate: str | Path | None = None,
    key: str | Path | None = None,
) -> uvicorn.Config:
    """Return the configuration of uvicorn; the parameters are those of `run`."""
    import uvicorn

    from separable.serve.protocol import limited_protocol

    return uvicorn.Config(
        application,
        http=limited_protocol(application.limits),
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=max(1, int(application.limits.idle_seconds)),
        timeout_graceful_shutdown=GRACE_SECONDS,
        ssl_certfile=None if certificate is None else str(certificate),
        ssl_keyfile=None if key is None else str(key),
    )
