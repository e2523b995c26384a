"""``separable serve``: model files as a web service."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

import click

from separable.cli.io.output import json_bytes, write_data
from separable.cli.options.command import RUNNING, command, heading
from separable.cli.options.options import (
    are_patterns_trusted,
    json_option,
    patterns_option,
    talk_options,
)
from separable.cli.render.messages import say, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["serve"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@command(
    short_help="Serve model files over HTTP.",
    examples=(
        "separable serve penguins.safetensors  # then: curl 127.0.0.1:8000",
        "separable serve spam.safetensors churn.safetensors --port 9000 --token-file tokens.txt",
        "separable serve --watch models  # models/NAME/VERSION.safetensors",
    ),
)
@click.argument("models", metavar="[MODEL]...", nargs=-1)
@heading(
    RUNNING,
    click.option("--watch", metavar="DIR", help="Also serve all NAME/VERSION.safetensors in DIR."),
    click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True,
                 help="Port; 0 is any free one."),
    click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on."),
    click.option("--token-file", metavar="FILE",
                 help="Requests need one of the tokens in FILE, one per line."),
    click.option("--certificate", metavar="FILE", help="TLS certificate (PEM)."),
    click.option("--key", metavar="FILE", help="Private key of the certificate (PEM)."),
    click.option("--strict", is_flag=True,
                 help="Refuse unseen levels, missing values and numbers out of range."),
    click.option("--reload-seconds", type=click.FloatRange(min=0), default=1.0, show_default=True,
                 help="Time between looks at the files; 0: never load them again."),
    click.option("--most-rows", type=click.IntRange(min=1), default=100_000, show_default=True,
                 help="Rows of a request."),
    click.option("--most-bytes", type=click.IntRange(min=1), default=16 << 20, show_default=True,
                 help="Bytes of a request."),
    click.option("--log/--no-log", default=False, help="Write a JSON line per request."),
    click.option("--check", is_flag=True, help="Load and test the models, and end."),
)  # fmt: skip
@json_option("Print a JSON object with the models and the address.")
@patterns_option
@talk_options
def serve(
    models: tuple[str, ...],
    watch: str | None,
    port: int,
    host: str,
    token_file: str | None,
    certificate: str | None,
    key: str | None,
    strict: bool,
    reload_seconds: float,
    most_rows: int,
    most_bytes: int,
    log: bool,
    check: bool,
    as_json: bool,
) -> None:
    """Serve each MODEL under the name of its file, until SIGTERM or Ctrl-C.

    POST rows to /predict as JSON, JSON lines, CSV or Arrow; the answer has the predictions of
    `separable predict`, bit for bit. /invocations answers as MLflow does, /v2 speaks the Open
    Inference Protocol, /openapi.json describes the columns, /metrics is for Prometheus, and / is a
    page to try values. A replaced file is loaded, tested and swapped while the server runs.
    """
    from separable.serve.application import app
    from separable.serve.limits import Limits
    from separable.serve.server import bound_socket, run

    if not models and watch is None:
        raise click.UsageError("Name a model file, or a folder of models with --watch.")
    if (certificate is None) != (key is None):
        raise click.UsageError("--certificate and --key belong together: give both.")
    tokens = _tokens(token_file)
    if host not in LOOPBACK and not tokens:
        warn(f"{host} can be reached by others, and no token is needed. Give --token-file.")
    application = app(
        models,
        folder=watch,
        limits=Limits(rows=most_rows, body_bytes=most_bytes),
        tokens=tokens,
        strict=strict,
        reload_seconds=reload_seconds,
        allow_patterns=are_patterns_trusted(),
    )
    _log_to_standard_error(verbose=log)
    names = ", ".join(f"{each.name} {each.version}" for each in application.registry)
    models_facts = [
        {"name": each.name, "version": each.version, "sha256": each.digest}
        for each in application.registry
    ]
    if check:
        if as_json:
            write_data(json_bytes({"models": models_facts}))
        say(f"Can serve {names}")
        return
    bound = bound_socket(host, port)
    scheme = "http" if certificate is None else "https"
    url = f"{scheme}://{host}:{bound.getsockname()[1]}/"
    if as_json:
        write_data(json_bytes({"models": models_facts, "url": url}))
    with suppress(OSError):  # a full disk below standard error does not end a server
        say(f"Serving {names} on {url} (Ctrl-C ends it)")
    run(application, bound=bound, certificate=certificate, key=key)


def _tokens(path: str | None) -> Sequence[str]:
    """Return the lines of a file of tokens."""
    from pathlib import Path

    if path is None:
        return ()
    lines = [line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines()]
    tokens = [line for line in lines if line]
    if not tokens or min(map(len, tokens)) < 16:
        raise ValueError(
            f"{path}: a token is a line of at least 16 characters, for example of: openssl rand "
            "-hex 32."
        )
    return tokens


def _log_to_standard_error(*, verbose: bool) -> None:
    import logging

    class Handler(logging.StreamHandler[TextIO]):
        def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
            """Lose the line: the disk may be full, and requests are answered."""

    handler = Handler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger = logging.getLogger("separable.serve")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
