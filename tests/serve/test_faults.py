"""What a network, a disk and a file do to a server: it answers right, refuses, or says 503."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import io
import json
import random
import resource
import signal
import socket
import threading
import time
import zlib

import pyarrow as pa
import pytest

from separable.serve import Limits, app
from tests.serve.conftest import RECORD, Client, answered, running, serving

pytestmark = pytest.mark.slow
BODY = json.dumps([RECORD]).encode()
ARROW = "application/vnd.apache.arrow.stream"


@pytest.fixture(scope="module")
def expected(model_file):
    return Client(app(model_file))("POST", "/predict", [RECORD]).json["predictions"]


class Load(threading.Thread):
    """A client that asks the same all the time, and keeps every answer."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.answers, self.done = port, [], threading.Event()

    def run(self):
        while not self.done.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
            with contextlib.suppress(OSError, http.client.HTTPException):
                for _ in range(50):
                    connection.request("POST", "/predict", BODY)
                    answer = connection.getresponse()
                    self.answers.append((answer.status, json.loads(answer.read())))
            connection.close()
            time.sleep(0.01)

    def stop(self):
        self.done.set()
        self.join(15)
        assert not self.is_alive()
        return self.answers


def wait_for(condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_kill_and_restart_under_load(model_file, expected):
    """Whatever is answered is right, before the kill and after the restart."""
    with running(model_file) as (process, port):
        loads = [Load(port) for _ in range(3)]
        for load in loads:
            load.start()
        wait_for(lambda: min(len(load.answers) for load in loads) > 20)
        process.send_signal(signal.SIGKILL)
        assert process.wait(10) == -signal.SIGKILL
    before = [len(load.answers) for load in loads]
    with running(model_file, port=port):
        wait_for(lambda: all(len(x.answers) > n + 20 for x, n in zip(loads, before, strict=True)))
        answers = [each for load in loads for each in load.stop()]
    assert {status for status, _ in answers} == {200}
    assert all(answer["predictions"] == expected for _, answer in answers)


def test_a_file_truncated_in_place_under_load(tmp_path, model_file, expected):
    path = tmp_path / "penguins.safetensors"
    whole = model_file.read_bytes()
    path.write_bytes(whole)
    with running(path, "--reload-seconds", "0.05") as (process, port):
        load = Load(port)
        load.start()
        for size in (0, 7, 200, len(whole) // 2, len(whole) - 1):
            with path.open("r+b") as file:
                file.truncate(size)
            seen = len(load.answers)
            wait_for(lambda seen=seen: len(load.answers) > seen + 30)
            with path.open("r+b") as file:
                file.write(whole)
        answers = load.stop()
        assert process.poll() is None
    assert {status for status, _ in answers} == {200}
    assert all(answer["predictions"] == expected for _, answer in answers)


def test_a_full_disk_below_the_log(model_file, expected):
    with (
        open("/dev/full", "w") as full,  # noqa: PTH123
        running(model_file, "--log", stderr=full) as (process, port),
    ):
        for _ in range(5):
            assert answered(port, "/predict", [RECORD])[1]["predictions"] == expected
        process.send_signal(signal.SIGTERM)
        process.wait(10)


def test_a_model_that_a_full_disk_cut_short_is_refused(tmp_path, model_file, expected):
    """A writer that copies onto the file, and fails in the middle, changes no answer."""
    path = tmp_path / "penguins.safetensors"
    path.write_bytes(model_file.read_bytes())
    application = app(path)
    client = Client(application)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        with pytest.raises(OSError, match="File too large"):
            path.write_bytes(model_file.read_bytes())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    (change,) = application.registry.refresh()
    assert change.problem
    assert client("POST", "/predict", [RECORD]).json["predictions"] == expected


def test_many_idle_connections(model_file):
    with running(model_file) as (_, port), contextlib.ExitStack() as stack:
        assert answered(port)[0] == 200
        for _ in range(500):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
        assert answered(port, "/predict", [RECORD])[0] == 200
        assert answered(port)[0] == 200


@pytest.fixture(scope="module")
def address(model_file):
    limits = Limits(idle_seconds=1.0, seconds=1.0, body_bytes=200_000)
    with serving(app(model_file, limits=limits)) as address:
        yield address


def exchanged(address, data, *, ends=False):
    """Send bytes, perhaps end the sending side, and return the statuses until the server closes."""
    with socket.create_connection(address, timeout=10) as connection:
        answer = b""
        with contextlib.suppress(ConnectionError):
            connection.sendall(data)
            if ends:
                connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65536):
                answer += part
    return [int(line[9:12]) for line in answer.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]


def request(body, *headers, kind="application/json"):
    lines = [
        "POST /predict HTTP/1.1", "host: x", "connection: close", f"content-type: {kind}",
        f"content-length: {len(body)}",
    ]  # fmt: skip
    return "\r\n".join([*lines, *headers, "", ""]).encode() + body


def test_half_requests(address):
    whole = request(BODY)
    for end in range(0, len(whole), 7):
        assert set(exchanged(address, whole[:end], ends=True)) <= {400, 408}
    assert exchanged(address, whole) == [200]


@pytest.mark.parametrize("count", [150, pytest.param(20_000, marks=pytest.mark.long)])
def test_damaged_requests(address, count):
    """Bytes changed, removed and repeated anywhere in the head and the body."""
    source = random.Random(0)
    whole = request(BODY)
    for _ in range(count):
        data = bytearray(whole)
        for _ in range(source.choice([1, 2, 10])):
            at = source.randrange(len(data))
            data[at : at + source.choice([0, 1, 1, 40])] = source.choice(
                [b"", b"\x00", b"\xff", b"\r\n", source.randbytes(3), b"9" * 30, b"[" * 500]
            )
        statuses = exchanged(address, bytes(data), ends=True)
        assert all(status < 500 for status in statuses), bytes(data)
    assert exchanged(address, whole) == [200]


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (request(b"[" * 150_000), 400),
        (request(b'{"a":' * 30_000), 400),
        (request(b'{"year": ' + b"9" * 150_000 + b"}"), 400),
        (request(b'{"year": NaN, "x": ' + b"9" * 150_000 + b"}"), 400),
        (request(b"\xff\xfe\x00"), 400),
        (request(b'{"island": "\xc3\x28"}'), 400),
        (request(BODY, kind="image/png"), 415),
        (request(BODY, kind="application/json; charset=\xff"), 200),
        (request(BODY, kind="text/csv"), 422),
        (request(BODY, kind=ARROW), 400),
        (request(BODY, kind="application/x-ndjson"), 400),
        (request(BODY, "content-encoding: gzip"), 400),
        (request(gzip.compress(b" " * 10_000_000), "content-encoding: gzip"), 413),
        (request(zlib.compress(b" " * 10_000_000), "content-encoding: deflate"), 413),
        (request(BODY, "content-length: 5"), 400),
        (request(BODY, "transfer-encoding: chunked"), 400),
        (b"GET / HTTP/9.9\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01", 400),
        (b"POST /predict HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n", 400),
    ],
)
@pytest.mark.every_case
def test_hostile_requests(address, data, status):
    assert exchanged(address, data) == [status]
    assert exchanged(address, request(BODY)) == [200]


def arrow_bodies():
    table = pa.Table.from_pylist([RECORD, RECORD, RECORD | {"sex": None}])
    table = table.set_column(0, "island", table["island"].dictionary_encode())
    for new in (pa.ipc.new_stream, pa.ipc.new_file):
        for compression in (None, "zstd"):
            sink = io.BytesIO()
            options = pa.ipc.IpcWriteOptions(compression=compression)
            with new(sink, table.schema, options=options) as writer:
                writer.write_table(table)
            yield sink.getvalue()


@pytest.mark.parametrize("count", [300, pytest.param(100_000, marks=pytest.mark.long)])
def test_damaged_arrow(model_file, count):
    client, source = Client(app(model_file)), random.Random(0)
    bodies = list(arrow_bodies())
    header = {"content-type": ARROW}
    assert [client("POST", "/predict", x, header).status for x in bodies] == [200, 415, 200, 415]
    for _ in range(count):
        data = bytearray(source.choice(bodies))
        for _ in range(source.choice([1, 2, 10])):
            data[source.randrange(len(data))] = source.choice([0, 1, 127, 128, 255])
        data = data[: source.choice([len(data), source.randrange(len(data))])]
        answer = client("POST", "/predict", bytes(data), header)
        assert answer.status in (200, 400, 415, 422), answer.body


def test_an_error_of_ours_is_not_called_one_of_the_client(model_file, monkeypatch, caplog):
    application = app(model_file)
    served = application.registry.get()

    def failing(*_):
        raise TypeError("an error of ours at /home/somebody")

    monkeypatch.setattr(type(served), "predict", failing)
    answer = Client(application)("POST", "/predict", [RECORD])
    assert answer.status == 500
    assert "somebody" not in answer.body.decode()
    assert "an error of ours" in caplog.text


def test_no_growth(model_file):
    """Paths, levels and models that nobody knows do not add up."""
    client = Client(app(model_file))
    counts = client.application.metrics._counts
    for k in range(200):
        client("POST", f"/predict?x={k}", [RECORD | {"island": f"level {k}"}])
        client("GET", f"/nowhere/{k}")
        client("POST", f"/models/{k}/predict", BODY)
    assert sum(map(len, counts.values())) <= 12
    (unseen,) = client.application.registry.get().model.encoder.unseen_.values()
    assert unseen["count"] == 200
    assert len(unseen["levels"]) == 100
