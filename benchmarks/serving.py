"""``separable serve`` over the loopback address: one row, many rows, start, memory.

A server runs in a process of its own, one worker, beside MLflow's and FastAPI's with a pipeline of
scikit-learn. All run at once and are measured in turn, in rounds; each figure is the median.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import separable
from benchmarks.report import Line, Section, judge, markdown_table
from benchmarks.serving_client import Connection, paced, rate, request
from benchmarks.serving_peers import peers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.settings import Settings

__all__ = ["run_serving"]

#: Seconds of each throughput, connections, paced requests and their pace, requests of many rows.
SECONDS, CONNECTIONS, PACED, PER_SECOND, BATCHES, ROUNDS = 2.0, 4, 100, 100.0, 5, 5
#: Requests after which the memory must be that after the first ones.
GROWTH_REQUESTS, FIRST_REQUESTS = 200_000, 10_000
#: Terms of the text model, and words of a text.
TERMS, WORDS = 400_000, 60
#: Targets: seconds to be ready; milliseconds of one row (median, 99 %) and of 1000; megabytes.
READY, MEDIAN, TAIL, BATCH, MEMORY, GROWTH = 0.7, 0.7, 4.0, 10.0, 120.0, 2.0
#: Times the requests per second of a peer.
FASTER = {"MLflow": 4.0, "FastAPI": 3.0}
DATA, TEXT = "10 numbers, 10 categories", "a text"
PATHS = {"MLflow": "/invocations"}
HEADINGS = ("server", "ready", "one row", "99 %", "requests/s", "1000 rows", "memory")


@dataclass
class Server:
    """A server that runs, and what was measured of it.

    Parameters
    ----------
    name : str
    port, pid : int
    ready : float
        Seconds from the start of the process to the first answer.
    one, many : list of bytes
        Requests of one row, and of 1000.
    """

    name: str
    port: int
    pid: int
    ready: float
    one: Sequence[bytes]
    many: bytes | None = None
    times: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    batches: list[float] = field(default_factory=list)

    def measure(self, seconds: float) -> None:
        """Add a round."""
        self.times += paced(self.port, list(islice(cycle(self.one), PACED)), PER_SECOND)
        self.rates.append(rate(self.port, cycle(self.one), CONNECTIONS, seconds))
        if self.many is not None:
            self.batches += paced(self.port, [self.many] * BATCHES)

    @property
    def median(self) -> float:
        """Milliseconds of one row, at a pace of 100 requests/s."""
        return 1e3 * median(self.times)

    @property
    def tail(self) -> float:
        """Milliseconds below which 99 % of them are."""
        return 1e3 * float(np.quantile(self.times, 0.99))

    @property
    def rate(self) -> float:
        """Requests per second over several connections."""
        return median(self.rates)

    @property
    def batch(self) -> float:
        """Milliseconds of 1000 rows."""
        return 1e3 * median(self.batches) if self.batches else float("nan")

    @property
    def memory(self) -> float:
        """Resident megabytes of the process and its children."""
        return sum(_resident(pid) for pid in _group(self.pid))

    def cells(self) -> tuple[str, ...]:
        """Return a row of the table."""
        return (
            self.name, f"{self.ready:.2f} s", f"{self.median:.2f} ms", f"{self.tail:.2f} ms",
            f"{self.rate:.0f}", f"{self.batch:.1f} ms", f"{self.memory:.0f} MB",
        )  # fmt: skip


def run_serving(settings: Settings) -> Section:
    """Measure our server and the peers in turn, then a model of texts, and the memory."""
    section = Section()
    seconds, rounds = (SECONDS, ROUNDS) if settings.judged else (0.3, 1)
    table, y = _table(2000)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        commands = {"separable": _our_command(folder, table, y), **peers(folder, table, y)}
        servers = [
            stack.enter_context(_running(each, command, _rows(table)))
            for each, command in commands.items()
        ]
        texts = stack.enter_context(_running("texts", *_text_command(folder)))
        for _ in range(rounds):
            for server in (*servers, texts):
                server.measure(seconds)
        print("\n" + markdown_table(HEADINGS, [each.cells() for each in (*servers, texts)]) + "\n")
        _judge_ours(section, settings, servers[0], texts)
        _judge_peers(section, settings, servers)
        growth = _growth(servers[0], GROWTH_REQUESTS if settings.judged else 2000)
        _add(section, settings.judged, DATA, "growth of memory", growth, GROWTH, "MB")
    return section


def _judge_ours(section: Section, settings: Settings, ours: Server, texts: Server) -> None:
    for data, server in ((DATA, ours), (TEXT, texts)):
        _add(section, settings.judged, data, "one row, median", server.median, MEDIAN, "ms")
        _add(section, settings.judged, data, "one row, 99 %", server.tail, TAIL, "ms")
    _add(section, settings.judged, DATA, "ready", ours.ready, READY, "s")
    _add(section, settings.judged, DATA, "1000 rows", ours.batch, BATCH, "ms")
    _add(section, settings.judged, DATA, "memory", ours.memory, MEMORY, "MB")


def _judge_peers(section: Section, settings: Settings, servers: list[Server]) -> None:
    ours, *others = servers
    for peer in others:
        ratio = median(a / b for a, b in zip(ours.rates, peer.rates, strict=True))
        target = FASTER[peer.name]
        verdict = judge(ratio, target, at_most=False, judged=settings.judged)
        sides = (f"{ours.rate:.0f}", f"{peer.name} {peer.rate:.0f}")
        line = Line("serve", DATA, "requests/s", *sides, ratio, "x", target, False, verdict)
        section.add(line, {"ours": ours.rates, "peer": peer.rates})


def _add(
    section: Section,
    is_judged: bool,
    data: str,
    what: str,
    value: float,
    target: float,
    unit: str,
) -> None:
    verdict = judge(value, target, at_most=True, judged=is_judged)
    shown = f"{value:.3g} {unit}"
    line = Line("serve", data, what, shown, "-", value, unit, target, at_most=True, verdict=verdict)
    section.add(line, {"value": value})


def _growth(server: Server, requests: int) -> float:
    """Return the megabytes by which the memory grows from the first requests to the last."""
    rate(server.port, islice(cycle(server.one), FIRST_REQUESTS), CONNECTIONS)
    before = server.memory
    rate(server.port, islice(cycle(server.one), requests), CONNECTIONS)
    return server.memory - before


# ---------------------------------------------------------------------- models


def _table(rows: int) -> tuple[dict[str, list[Any]], list[str]]:
    """Return ten numbers and ten categories, and two classes that follow from them."""
    rng = np.random.default_rng(0)
    table: dict[str, list[Any]] = {f"n{j}": rng.normal(size=rows).tolist() for j in range(10)}
    table |= {f"c{j}": rng.choice(list("abcdef"), rows).tolist() for j in range(10)}
    score = np.array(table["n0"]) + (np.array(table["c0"]) == "a") + rng.normal(size=rows)
    return table, np.where(score > 0, "yes", "no").tolist()


def _rows(table: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def _serve(path: Path) -> list[str]:
    return [sys.executable, "-m", "separable.cli", "serve", str(path), "-q", "--port", "PORT"]


def _our_command(folder: Path, table: dict[str, list[Any]], y: list[str]) -> list[str]:
    path = folder / "model.safetensors"
    separable.train({**table, "y": y}, "y", model="logistic-regression").save(path)
    return _serve(path)


def _text_command(folder: Path) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the command of a model of words and pairs with random weights, and rows for it."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{k}" for k in range(50_000)])
    share = 1 / np.arange(1, len(words) + 1) ** 0.9
    texts = [
        " ".join(words[rng.choice(len(words), WORDS, p=share / share.sum())])
        for _ in range(TERMS * 9 // 400)
    ]
    encoder = separable.TextEncoder(ngram_range=(1, 2)).fit(texts)
    terms = len(encoder.feature_names)
    if terms < TERMS:
        raise RuntimeError(f"The text model has {terms} terms.")
    weights = rng.normal(size=(1, terms))
    model = separable.LinearModel(weights, [0.0], ["no", "yes"], "score", encoder=encoder)
    model.save(folder / "texts.safetensors")
    return _serve(folder / "texts.safetensors"), [{"text": text} for text in texts[:300]]


# ---------------------------------------------------------------------- processes


@contextmanager
def _running(name: str, command: list[str], rows: list[dict[str, Any]]) -> Iterator[Server]:
    """Start a server, and end it with all its children."""
    port, path = _free_port(), PATHS.get(name, "/predict")
    one = [request(path, _body(name, [row])) for row in rows]
    many = request(path, _body(name, rows[:1000])) if len(rows) >= 1000 else None
    started = time.perf_counter()
    with subprocess.Popen(
        [str(port) if each == "PORT" else each for each in command],
        start_new_session=True,
        env=os.environ | {"PATH": f"{Path(command[0]).parent}:{os.environ['PATH']}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            _until_ready(port, one[0], started + 60)
            yield Server(name, port, process.pid, time.perf_counter() - started, one, many)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def _body(name: str, rows: list[dict[str, Any]]) -> bytes:
    return json.dumps({"dataframe_records": rows} if name == "MLflow" else rows).encode()


def _free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _until_ready(port: int, data: bytes, deadline: float) -> None:
    while time.perf_counter() < deadline:
        try:
            with Connection(port) as connection:
                connection.ask(data)
        except OSError:
            time.sleep(0.005)
        else:
            return
    raise RuntimeError("The server did not answer within a minute.")


def _group(leader: int) -> list[int]:
    """Return the processes of a group."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == leader:
                found.append(int(entry.name))
    return found


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = [each for each in status.splitlines() if each.startswith("VmRSS")]
    return float(line.split()[1]) / 1024
