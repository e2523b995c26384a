"""The server itself, over a socket of the loopback address."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time

import httpx
import pytest

from separable.serve import Limits, app
from tests.serve.conftest import RECORD, serving

pytest.importorskip("uvicorn")


@pytest.fixture
def server(model_file):
    """The address of a server with small limits."""
    limits = Limits(idle_seconds=0.5, connections=20, header_bytes=2000, seconds=1.0)
    with serving(app(model_file, limits=limits)) as address:
        yield address


def raw(address, data, wait=5.0):
    """Send bytes, and return all that comes back until the server closes or time is up."""
    with socket.create_connection(address) as connection:
        connection.settimeout(wait)
        connection.sendall(data)
        answer = b""
        try:
            while part := connection.recv(65536):
                answer += part
        except TimeoutError:
            return answer, False
        return answer, True


def test_a_client_over_http(server):
    host, port = server
    url = f"http://{host}:{port}"
    assert httpx.get(f"{url}/ping").json() == {"status": "ok"}
    answer = httpx.post(f"{url}/predict", json=RECORD)
    assert answer.status_code == 200
    assert "server" not in answer.headers
    assert httpx.get(url).headers["content-type"].startswith("text/html")


def test_silent_and_slow_connections_are_closed(server):
    answer, closed = raw(server, b"")
    assert closed
    assert answer == b""
    answer, closed = raw(server, b"POST /predict HTTP/1.1\r\nhost: x\r\n")
    assert closed
    slow = b"POST /predict HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"
    answer, closed = raw(server, slow)
    assert closed
    assert b"408" in answer


def test_large_headers_and_garbage(server):
    head = b"GET /ping HTTP/1.1\r\nhost: x\r\nx: " + b"a" * 5000 + b"\r\n\r\n"
    assert b" 431 " in raw(server, head)[0]
    assert b" 400 " in raw(server, b"\x00\x01garbage\r\n\r\n")[0]
    assert httpx.get(f"http://{server[0]}:{server[1]}/ping").status_code == 200


def test_idle_connections_do_not_stop_others(server):
    idle = [socket.create_connection(server) for _ in range(15)]
    assert httpx.get(f"http://{server[0]}:{server[1]}/ping").status_code == 200
    for each in idle:
        each.close()


@pytest.mark.slow
def test_the_command_ends_on_a_signal(model_file):
    command = [
        sys.executable,
        "-m",
        "separable.cli",
        "serve",
        str(model_file),
        "--port",
        "0",
        "--log",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "Serving penguins 1 on http://127.0.0.1:" in line
        url = line.split(" on ")[1].split("/ (")[0]
        for _ in range(100):
            try:
                answer = httpx.post(f"{url}/predict", json=RECORD)
                break
            except httpx.ConnectError:
                time.sleep(0.05)
        assert answer.status_code == 200
        process.send_signal(signal.SIGTERM)
        text = process.stderr.read()
        process.wait(20)
    events = [json.loads(each) for each in text.splitlines() if each.startswith("{")]
    assert [each["path"] for each in events if each["event"] == "request"] == ["/predict"]
    assert "male" not in text  # no data of rows
