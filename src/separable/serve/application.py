"""The ASGI application: routes, limits, authorization and logs around the models of a registry."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import msgspec

from separable.serve.answers import Answer, Refusal, Request, error_body, json_answer
from separable.serve.bodies import (
    ARROW_TYPES,
    CSV_TYPE,
    INPUTS_OF_MLFLOW,
    LINES_TYPES,
    body_of,
    rows_of,
    too_large,
)
from separable.serve.limits import Limits
from separable.serve.metrics import Metrics
from separable.serve.open_inference import infer, model_metadata, server_metadata
from separable.serve.pages import LANDING_HEADERS, landing_page, openapi_document
from separable.serve.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from separable.serve.served_model import Predicted, ServedModel

    Scope = dict[str, Any]
    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]

__all__ = ["Application", "app"]

LOG = logging.getLogger("separable.serve")

#: Headers of every answer.
SECURITY = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "x-frame-options": "DENY",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}
#: Bodies of at least this many bytes, and tables, are predicted in a thread: others are answered.
THREADED_BYTES = 20_000
#: Paths that need no token: probes of an orchestrator.
OPEN_PATHS = ("/ping", "/health", "/v2/health/live", "/v2/health/ready")
#: Seconds after which a client may try again when the server is busy.
RETRY_SECONDS = "1"


def app(
    files: str | Path | Sequence[str | Path] = (),
    *,
    folder: str | Path | None = None,
    limits: Limits | None = None,
    tokens: Sequence[str] = (),
    strict: bool = False,
    reload_seconds: float = 1.0,
    allow_patterns: bool = False,
) -> Application:
    """Return the ASGI application that serves model files.

    Parameters
    ----------
    files : path or sequence of paths
        Model files; a model has the name of its file.
    folder : path, optional
        Also all ``NAME/VERSION.safetensors`` below this folder, those that come later, too.
    limits : Limits, optional
    tokens : sequence of str
        Bearer tokens, one of which a request must have. Default: none is needed.
    strict : bool, default False
        Refuse rows with unseen levels, missing values that training did not have, or numbers out
        of range, instead of answering with a warning.
    reload_seconds : float, default 1
        Time between looks at the files; 0: they are never loaded again.
    allow_patterns : bool, default False
        As in ``separable.load``.

    Returns
    -------
    Application
        For any ASGI server: ``uvicorn module:application``.

    Examples
    --------
    >>> from separable.datasets import PENGUINS
    >>> import separable, separable.serve
    >>> separable.train(PENGUINS, target="species").save("penguins.safetensors")
    >>> application = separable.serve.app("penguins.safetensors")
    >>> [model.name for model in application.registry]
    ['penguins']
    """
    paths = [files] if isinstance(files, str | PathLike) else list(files)
    registry = Registry(paths, folder, allow_patterns)
    return Application(registry, limits or Limits(), tuple(tokens), strict, reload_seconds)


@dataclass
class Application:
    """The ASGI application.

    Parameters
    ----------
    registry : Registry
    limits : Limits
    tokens : tuple of str
    strict : bool
    reload_seconds : float
    """

    registry: Registry
    limits: Limits = field(default_factory=Limits)
    tokens: tuple[str, ...] = ()
    strict: bool = False
    reload_seconds: float = 1.0
    metrics: Metrics = field(default_factory=Metrics)
    ready: bool = True
    _active: int = 0
    _threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(2))
    _watcher: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or start and end with the server."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)

    # ------------------------------------------------------------------ life

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                if self.reload_seconds > 0:
                    self._watcher = asyncio.create_task(self._watch())
                await send({"type": "lifespan.startup.complete"})
            else:
                self.ready = False
                if self._watcher is not None:
                    self._watcher.cancel()
                    with suppress(asyncio.CancelledError):
                        await self._watcher
                self._threads.shutdown(wait=False)
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _watch(self) -> None:
        """Load changed files, in a thread, until the server ends."""
        while True:
            await asyncio.sleep(self.reload_seconds)
            for change in await asyncio.to_thread(self.registry.refresh):
                result = "loaded" if change.problem is None else "refused"
                self.metrics.count("reloads_total", model=change.name, result=result)
                log("reload", model=change.name, version=change.version, problem=change.problem)

    # ------------------------------------------------------------------ requests

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, route = time.perf_counter(), "other"
        try:
            if self._active >= self.limits.concurrent:
                raise Refusal(503, "The server is busy. Try again in a second.")
            self._active += 1
            try:
                request = await self._request(scope, receive)
                if request is None:
                    return
                started = time.perf_counter()
                route, answer = await self._answer(request)
            finally:
                self._active -= 1
        except Refusal as refusal:
            answer = _refused(refusal)
        except Exception:  # the client learns nothing of the inside
            LOG.exception("An error inside the server")
            answer = json_answer({"error": "An error inside the server."}, 500)
        seconds = time.perf_counter() - started
        self.metrics.request(route, answer.status, seconds)
        log("request", path=route, status=answer.status, seconds=round(seconds, 6))
        await _send(answer, scope["method"], send)

    async def _request(self, scope: Scope, receive: Receive) -> Request | None:
        """Return the request with its whole body; None if the client went away."""
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        self._authorize(scope["path"], headers.get("authorization", ""))
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self.limits.body_bytes:
            raise too_large(self.limits.body_bytes)
        try:
            body = await asyncio.wait_for(self._body(receive), self.limits.seconds)
        except TimeoutError:
            raise Refusal(
                408, f"The request did not arrive in {self.limits.seconds:g} s. Send it again."
            ) from None
        if body is None:
            return None
        body = body_of(body, headers.get("content-encoding", ""), self.limits.body_bytes)
        text = scope["query_string"].decode("latin-1")
        query = dict(parse_qsl(text, keep_blank_values=True))
        return Request(scope["method"], scope["path"], headers, query, body)

    def _authorize(self, path: str, header: str) -> None:
        if not self.tokens or path in OPEN_PATHS:
            return
        kind, _, given = header.partition(" ")
        own = hashlib.sha256(given.strip().encode()).digest()
        matches = [
            hmac.compare_digest(own, hashlib.sha256(each.encode()).digest()) for each in self.tokens
        ]
        if kind.lower() != "bearer" or not any(matches):
            raise Refusal(401, "This server needs a token: send Authorization: Bearer TOKEN.")

    async def _body(self, receive: Receive) -> bytes | None:
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            part = message.get("body", b"")
            size += len(part)
            if size > self.limits.body_bytes:
                raise too_large(self.limits.body_bytes)
            parts.append(part)
            if not message.get("more_body", False):
                return b"".join(parts)

    async def _answer(self, request: Request) -> tuple[str, Answer]:
        """Return the route, for metrics and logs, and the answer."""
        route, handler, methods = self._route(request)
        method = "GET" if request.method == "HEAD" else request.method
        if method not in methods:
            allowed = ", ".join(methods)
            refusal = Refusal(405, f"{request.method[:20]} is not possible here. Use {allowed}.")
            return route, _refused(refusal, {"allow": allowed})
        is_table = request.media_type in (CSV_TYPE, *ARROW_TYPES)  # the first imports their readers
        if method == "POST" and (is_table or len(request.body) >= THREADED_BYTES):
            loop = asyncio.get_running_loop()
            return route, await loop.run_in_executor(self._threads, self._handled, handler, request)
        return route, self._handled(handler, request)

    def _handled(self, handler: Callable[[Request], Answer], request: Request) -> Answer:
        """Call a handler; an error about the rows is the client's, with place and remedy."""
        try:
            return handler(request)
        except Refusal as refusal:
            return _refused(refusal)
        except ValueError as error:
            details = {name: getattr(error, name, None) for name in ("column", "row", "value")}
            return _refused(Refusal(422, str(error), **details))
        except RecursionError:
            return _refused(Refusal(400, "The rows are nested too deeply."))

    # ------------------------------------------------------------------ routes

    def _route(self, request: Request) -> tuple[str, Callable[[Request], Answer], tuple[str, ...]]:
        """Return the pattern of a path, its handler and its methods."""
        fixed = self._fixed_routes().get(request.path)
        if fixed is not None:
            return request.path, *fixed
        parts = request.path.strip("/").split("/")
        match parts:
            case ["models", name, "predict"]:
                return "/models/{name}/predict", partial(self._predict, name=name), ("POST",)
            case ["models", name, "openapi.json"]:
                return "/models/{name}/openapi.json", partial(self._openapi, name=name), ("GET",)
            case ["v2", "models", name, *rest]:
                return self._inference_route(name, rest)
        raise Refusal(404, "There is nothing at this path. / and /openapi.json say what there is.")

    def _fixed_routes(self) -> dict[str, tuple[Callable[[Request], Answer], tuple[str, ...]]]:
        get, post = ("GET",), ("POST",)
        return {
            "/": (self._landing, get),
            "/predict": (self._predict, post),
            "/invocations": (self._invocations, post),
            "/ping": (self._health, get),
            "/health": (self._health, get),
            "/version": (self._version, get),
            "/metrics": (self._metrics, get),
            "/openapi.json": (self._openapi, get),
            "/v2": (lambda _: json_answer(server_metadata(_own_version())), get),
            "/v2/health/live": (lambda _: json_answer({"live": True}), get),
            "/v2/health/ready": (self._ready, get),
            "/v2/models": (self._models, get),
        }

    def _inference_route(
        self, name: str, rest: list[str]
    ) -> tuple[str, Callable[[Request], Answer], tuple[str, ...]]:
        version = None
        pattern = "/v2/models/{name}"
        if len(rest) >= 2 and rest[0] == "versions":
            version, rest, pattern = rest[1], rest[2:], pattern + "/versions/{version}"
        if not rest:
            return pattern, partial(self._metadata, name=name, version=version), ("GET",)
        if rest == ["ready"]:
            return pattern + "/ready", partial(self._model_ready, name, version), ("GET",)
        if rest == ["infer"]:
            return pattern + "/infer", partial(self._infer, name=name, version=version), ("POST",)
        raise Refusal(404, "There is nothing at this path. GET /v2/models lists the models.")

    # ------------------------------------------------------------------ handlers

    def _predict(self, request: Request, name: str | None = None) -> Answer:
        served = self.registry.get(name or request.query.get("model"), request.query.get("version"))
        explain = _count(request.query.get("explain", "0"))
        predicted = self._predicted(served, rows_of(request, served), explain)
        return _in_kind(request, served, predicted)

    def _predicted(self, served: ServedModel, data: Any, explain: int = 0) -> Predicted:
        count = _row_count(data)
        if count > self.limits.rows:
            raise Refusal(
                413, f"The request has {count} rows; the limit is {self.limits.rows}. Split it."
            )
        predicted = served.predict(data, explain)
        self._count(served, predicted)
        return predicted

    def _count(self, served: ServedModel, predicted: Predicted) -> None:
        self.metrics.predicted(served.name, len(predicted.scores), predicted.warnings)
        if self.strict and predicted.warnings:
            first = predicted.warnings[0]
            values = "".join(f" {value!r:.40}" for value in first.values[:1])
            raise Refusal(
                422,
                f"Column {first.column!r:.80}: {first.kind.replace('_', ' ')}{values} in "
                f"{first.count} row(s), and this server is strict.",
                column=first.column,
                row=first.rows[0] if first.rows else None,
            )

    def _invocations(self, request: Request) -> Answer:
        """Answer as MLflow's scoring server does: predictions alone."""
        if request.media_type not in INPUTS_OF_MLFLOW:
            raise Refusal(
                415, f"/invocations takes {' or '.join(INPUTS_OF_MLFLOW)}, as MLflow does."
            )
        served = self.registry.get()
        predicted = self._predicted(served, rows_of(request, served))
        records, key = predicted.records(), "prediction"
        values = [list(record.values()) for record in records]  # several targets
        if records and key in records[0]:
            values = [record[key] for record in records]
        warnings = msgspec.to_builtins(predicted.warnings)
        return json_answer({"predictions": values}, headers=_warning_header(warnings))

    def _infer(self, request: Request, name: str, version: str | None) -> Answer:
        served = self.registry.get(name, version)
        answer, predicted = infer(request, served, self.limits.rows)
        self._count(served, predicted)
        return answer

    def _metadata(self, request: Request, name: str, version: str | None) -> Answer:  # noqa: ARG002
        served = self.registry.get(name, version)
        return json_answer(model_metadata(served, self.registry.versions(name)))

    def _models(self, request: Request) -> Answer:  # noqa: ARG002
        return json_answer(
            {
                "models": [
                    {"name": each.name, "version": each.version, "sha256": each.digest}
                    for each in self.registry
                ]
            }
        )

    def _health(self, request: Request) -> Answer:  # noqa: ARG002
        return json_answer({"status": "ok" if self.ready else "ending"})

    def _ready(self, request: Request) -> Answer:  # noqa: ARG002
        if not self.ready:
            raise Refusal(503, "The server is ending.")
        return json_answer({"ready": True})

    def _model_ready(self, name: str, version: str | None, request: Request) -> Answer:
        served = self.registry.get(name, version)
        self._ready(request)
        return json_answer({"name": served.name, "version": served.version, "ready": True})

    def _version(self, request: Request) -> Answer:  # noqa: ARG002
        return json_answer({"separable": _own_version()})

    def _metrics(self, request: Request) -> Answer:  # noqa: ARG002
        text = self.metrics.text(self.registry)
        return Answer(text.encode(), media_type="text/plain; version=0.0.4; charset=utf-8")

    def _openapi(self, request: Request, name: str | None = None) -> Answer:
        served = self.registry.get(name or request.query.get("model"))
        return json_answer(openapi_document(served))

    def _landing(self, request: Request) -> Answer:
        served = self.registry.get(request.query.get("model") or self._first_name())
        page, policy = landing_page(served)
        headers = LANDING_HEADERS | {"content-security-policy": policy}
        return Answer(page.encode(), media_type="text/html; charset=utf-8", headers=headers)

    def _first_name(self) -> str:
        return next(iter(self.registry)).name


# ---------------------------------------------------------------------- helpers


def _in_kind(request: Request, served: ServedModel, predicted: Predicted) -> Answer:
    """Return predictions in the format of the request; binary formats have warnings in headers."""
    warnings = msgspec.to_builtins(predicted.warnings)
    kind = request.media_type
    headers = {"x-model": served.name, "x-model-version": served.version}
    headers |= {"x-model-sha256": served.digest}
    if kind in LINES_TYPES:
        lines = msgspec.json.Encoder().encode_lines(predicted.records())
        return Answer(lines, 200, kind, headers | _warning_header(warnings))
    if kind == CSV_TYPE:
        from separable.model.predict.prediction_table import written

        data = b"".join(written([predicted.table()], "csv"))
        return Answer(data, 200, CSV_TYPE, headers | _warning_header(warnings))
    if kind in ARROW_TYPES:
        return Answer(_arrow(predicted.table()), 200, ARROW_TYPES[0], headers)
    return json_answer(
        {
            "model": {"name": served.name, "version": served.version, "sha256": served.digest},
            "predictions": predicted.records(),
            "warnings": warnings,
        }
    )


def _warning_header(warnings: list[Any]) -> dict[str, str]:
    """Return the number of unusual values by column: names in ASCII, within a header's size."""
    if not warnings:
        return {}
    text = msgspec.json.encode([[each["column"], each["kind"], each["count"]] for each in warnings])
    return {"x-warnings": text.decode().encode("ascii", "backslashreplace").decode()[:4000]}


def _arrow(table: Any) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _row_count(data: Any) -> int:
    if isinstance(data, dict):
        return len(next(iter(data.values())))
    return len(data) if isinstance(data, list) else int(data.num_rows)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 4:
        raise Refusal(400, f"explain must be a number of contributions. Got {text!r:.40}.")
    return int(text)


def _refused(refusal: Refusal, headers: dict[str, str] | None = None) -> Answer:
    extra = dict(headers or {})
    if refusal.status in (429, 503):
        extra["retry-after"] = RETRY_SECONDS
    if refusal.status == 401:
        extra["www-authenticate"] = "Bearer"
    if refusal.status in (408, 413):
        extra["connection"] = "close"
    return json_answer(error_body(refusal), refusal.status, extra)


async def _send(answer: Answer, method: str, send: Send) -> None:
    headers = SECURITY | {
        "content-type": answer.media_type,
        "content-length": str(len(answer.body)),
        **answer.headers,
    }
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": pairs})
    body = b"" if method == "HEAD" else answer.body
    await send({"type": "http.response.body", "body": body})


def log(event: str, **fields: Any) -> None:
    """Write one JSON line; the data of rows are never in it."""
    if LOG.isEnabledFor(logging.INFO):
        LOG.info(msgspec.json.encode({"event": event, "time": time.time(), **fields}).decode())


def _own_version() -> str:
    return str(sys.modules["separable"].__version__)
