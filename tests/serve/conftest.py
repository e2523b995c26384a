"""A served model of the penguins, and a client of the application without a socket."""

from __future__ import annotations

import asyncio
import http.client
import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

import separable
import separable.serve
from separable.datasets import PENGUINS
from separable.serve.server import bound_socket, server_config

RECORD = {
    "island": "Dream", "bill_length_mm": 40.1, "bill_depth_mm": 18.0, "flipper_length_mm": 190,
    "body_mass_g": 3700, "sex": "male", "year": 2007,
}  # fmt: skip


@pytest.fixture(scope="session")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "penguins.safetensors"
    separable.train(PENGUINS, target="species", model="logistic-regression").save(path)
    return path


@contextmanager
def serving(application):
    """A server of an application in a thread; yields its host and port."""
    uvicorn = pytest.importorskip("uvicorn")
    bound = bound_socket("127.0.0.1", 0)
    running = uvicorn.Server(server_config(application))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        while not running.started:
            time.sleep(0.01)
        yield "127.0.0.1", bound.getsockname()[1]
    finally:
        running.should_exit = True
        thread.join(10)
    assert not thread.is_alive()


@contextmanager
def running(*arguments, port=0, stderr=subprocess.DEVNULL):
    """The command in a process of its own; yields the process and its port."""
    command = [sys.executable, "-m", "separable.cli", "serve", *map(str, arguments)]
    command += ["--port", str(port), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True) as process:
        try:
            text = ""
            while not text.endswith("}\n"):
                line = process.stdout.readline()
                assert line, "the server ended"
                text += line
            yield process, int(json.loads(text)["url"].rsplit(":", 1)[1].strip("/"))
        finally:
            process.kill()


def answered(port, path="/ping", body=None, seconds=10.0):
    """The status and JSON of a request, once the server listens."""
    deadline = time.monotonic() + seconds
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            data = None if body is None else json.dumps(body).encode()
            connection.request("GET" if body is None else "POST", path, data)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        finally:
            connection.close()


class Client:
    """Calls an ASGI application, one request after the other."""

    def __init__(self, application):
        self.application = application

    def __call__(self, method, path, body=b"", headers=None, *, parts=None):
        call = self._call(method, path, body, headers or {}, parts)
        with ThreadPoolExecutor(1) as thread:  # in this one a browser's loop may be running
            return thread.submit(asyncio.run, call).result()

    async def _call(self, method, path, body, headers, parts):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        path, _, query = path.partition("?")
        pairs = {"content-length": str(len(body)), **headers}
        scope = {
            "type": "http", "method": method, "path": path, "query_string": query.encode(),
            "headers": [(k.encode(), v.encode()) for k, v in pairs.items()],
        }  # fmt: skip
        left = list(parts if parts is not None else [body])
        sent = []

        async def receive():
            part = left.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(left)}

        async def send(message):
            sent.append(message)

        await self.application(scope, receive, send)
        start, end = sent
        names = {k.decode(): v.decode() for k, v in start["headers"]}
        return Response(start["status"], names, end["body"])


class Response:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


@pytest.fixture
def client(model_file):
    return Client(separable.serve.app(model_file))
