"""``separable serve`` over the loopback address: one row, many rows, start, memory.

A server runs in a process of its own, one worker. A bounded client in this process keeps one
connection (latency) or several (requests per second). The peer is a FastAPI-like application: the
same uvicorn, a Starlette route, a scikit-learn pipeline on a pandas frame.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import separable
from benchmarks.report import Line, Section, judge, markdown_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.settings import Settings

__all__ = ["run_serving"]

#: Requests of each measurement, and connections of the throughput.
REQUESTS, CONNECTIONS = 2000, 4
#: Targets: seconds to be ready; milliseconds of one row (median, 99 %) and of 1000; times the peer.
READY, MEDIAN, TAIL, BATCH, FASTER = 0.7, 0.7, 4.0, 10.0, 3.0
DATA = "10 numbers, 10 categories"
HEADERS = {"Content-Type": "application/json"}

PEER = """
    import pickle, sys
    import pandas as pd
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    pipeline = pickle.load(open(sys.argv[1], "rb"))

    async def predict(request):
        frame = pd.DataFrame(await request.json())
        names = pipeline.predict(frame).tolist()
        return JSONResponse({"predictions": names, "p": pipeline.predict_proba(frame).tolist()})

    app = Starlette(routes=[Route("/predict", predict, methods=["POST"])])
    uvicorn.run(app, port=int(sys.argv[2]), log_level="error", access_log=False)
"""


@dataclass(frozen=True)
class Served:
    """What was measured of a server.

    Parameters
    ----------
    ready : float
        Seconds from the start of the process to the first answer.
    median, tail : float
        Seconds of one row: the median and 99 %.
    rate : float
        Requests per second over several connections.
    batch : float
        Seconds of 1000 rows.
    memory : float
        Resident megabytes at the end.
    """

    ready: float
    median: float
    tail: float
    rate: float
    batch: float
    memory: float


def run_serving(settings: Settings) -> Section:
    """Measure our server and the peer's, one after the other, with the same rows."""
    section, requests = Section(), REQUESTS if settings.judged else 200
    table, y = _table(2000)
    with tempfile.TemporaryDirectory() as folder:
        ours = _measured(_our_command(Path(folder), table, y), table, requests)
        theirs = _measured(_peer_command(Path(folder), table, y), table, requests)
    rows = [_cells("separable", ours), _cells("Starlette + scikit-learn", theirs)]
    print(markdown_table(HEADINGS, rows) + "\n")
    figures = (
        ("ready", ours.ready, theirs.ready, READY, "s"),
        ("one row, median", 1e3 * ours.median, 1e3 * theirs.median, MEDIAN, "ms"),
        ("one row, 99 %", 1e3 * ours.tail, 1e3 * theirs.tail, TAIL, "ms"),
        ("1000 rows", 1e3 * ours.batch, 1e3 * theirs.batch, BATCH, "ms"),
    )
    for what, value, peer, asked, unit in figures:
        verdict = judge(value, asked, at_most=True, judged=settings.judged)
        sides = (f"{value:.3g} {unit}", f"{peer:.3g} {unit}")
        section.lines.append(
            Line("serve", DATA, what, *sides, value, unit, asked, at_most=True, verdict=verdict)
        )
    faster = ours.rate / theirs.rate
    verdict = judge(faster, FASTER, at_most=False, judged=settings.judged)
    sides = (f"{ours.rate:.0f}", f"{theirs.rate:.0f}")
    section.lines.append(
        Line("serve", DATA, "requests/s", *sides, faster, "x", FASTER, False, verdict)
    )
    section.raw.append({"ours": vars(ours), "peer": vars(theirs)})
    return section


HEADINGS = ("server", "ready", "one row", "99 %", "requests/s", "1000 rows", "memory")


def _cells(name: str, served: Served) -> tuple[str, ...]:
    times = [f"{1e3 * each:.2f} ms" for each in (served.median, served.tail)]
    return (
        name, f"{served.ready:.2f} s", *times, f"{served.rate:.0f}",
        f"{1e3 * served.batch:.1f} ms", f"{served.memory:.0f} MB",
    )  # fmt: skip


def _table(rows: int) -> tuple[dict[str, list[Any]], list[str]]:
    """Return ten numbers and ten categories, and two classes that follow from them."""
    rng = np.random.default_rng(0)
    table: dict[str, list[Any]] = {f"n{j}": rng.normal(size=rows).tolist() for j in range(10)}
    table |= {f"c{j}": rng.choice(list("abcdef"), rows).tolist() for j in range(10)}
    score = np.array(table["n0"]) + (np.array(table["c0"]) == "a") + rng.normal(size=rows)
    return table, np.where(score > 0, "yes", "no").tolist()


def _our_command(folder: Path, table: dict[str, list[Any]], y: list[str]) -> list[str]:
    path = folder / "model.safetensors"
    separable.train({**table, "y": y}, "y", model="logistic-regression").save(path)
    return [sys.executable, "-m", "separable.cli", "serve", str(path), "-q", "--port", "PORT"]


def _peer_command(folder: Path, table: dict[str, list[Any]], y: list[str]) -> list[str]:
    import pickle

    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    names = list(table)
    columns = make_column_transformer(
        (StandardScaler(), names[:10]), (OneHotEncoder(handle_unknown="ignore"), names[10:])
    )
    pipeline = make_pipeline(columns, LogisticRegression()).fit(pd.DataFrame(table), y)
    (folder / "model.pickle").write_bytes(pickle.dumps(pipeline))
    (folder / "peer.py").write_text(textwrap.dedent(PEER))
    return [sys.executable, str(folder / "peer.py"), str(folder / "model.pickle"), "PORT"]


def _measured(command: list[str], table: dict[str, list[Any]], requests: int) -> Served:
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    bodies = [json.dumps([row]).encode() for row in rows]
    many = json.dumps(rows[:1000]).encode()
    with _running(command, bodies[0]) as (port, pid, ready):
        times = np.array(_times(port, [bodies[i % len(bodies)] for i in range(requests)]))
        rate = _rate(port, bodies, requests)
        batch = float(np.median(_times(port, [many] * 20)))
        memory = _memory(pid)
    return Served(
        ready, float(np.median(times)), float(np.quantile(times, 0.99)), rate, batch, memory
    )


@contextmanager
def _running(command: list[str], body: bytes) -> Iterator[tuple[int, int, float]]:
    """Start a server; yield its port, its process and the seconds until it answered."""
    port = _free_port()
    started = time.perf_counter()
    with subprocess.Popen(
        [port_of if port_of != "PORT" else str(port) for port_of in command]
    ) as process:
        try:
            _until_ready(port, body, started + 60)
            yield port, process.pid, time.perf_counter() - started
        finally:
            process.terminate()
            process.wait(20)


def _free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _until_ready(port: int, body: bytes, deadline: float) -> None:
    while time.perf_counter() < deadline:
        try:
            _times(port, [body])
        except OSError:
            time.sleep(0.005)
        else:
            return
    raise RuntimeError("The server did not answer within a minute.")


def _times(port: int, bodies: list[bytes]) -> list[float]:
    """Return the seconds of requests over one connection."""
    connection, times = http.client.HTTPConnection("127.0.0.1", port, timeout=30), []
    try:
        for body in bodies:
            start = time.perf_counter()
            connection.request("POST", "/predict", body, HEADERS)
            answer = connection.getresponse()
            answer.read()
            times.append(time.perf_counter() - start)
            if answer.status != 200:
                raise RuntimeError(f"The server answered {answer.status}.")
    finally:
        connection.close()
    return times


def _rate(port: int, bodies: list[bytes], requests: int) -> float:
    """Return the requests per second over several connections."""
    part = [bodies[i % len(bodies)] for i in range(requests // CONNECTIONS)]
    threads = [threading.Thread(target=_times, args=(port, part)) for _ in range(CONNECTIONS)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(part) * CONNECTIONS / (time.perf_counter() - start)


def _memory(pid: int) -> float:
    """Return the resident memory of a process in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = [each for each in status.splitlines() if each.startswith("VmRSS")]
    return float(line.split()[1]) / 1024
