"""Clusters of Spark that tests start, and always end."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Why tests of Spark are skipped; empty: they can run.
MISSING = ""
if importlib.util.find_spec("pyspark") is None:
    MISSING = "pyspark is not installed: make smoke-spark installs it"
elif shutil.which("java") is None:
    MISSING = "there is no Java: make system installs it"

#: Small and quiet; speculation runs slow tasks twice.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
    "spark.speculation": "true",
    "spark.log.level": "OFF",
}


def prepare_environment() -> None:
    """Let executors run this interpreter, with the code and the tests of this repository."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYTHONWARNINGS"] = "ignore"


@contextmanager
def session(mode: str, folder: Path) -> Iterator[Any]:
    """Yield a session: "local", "connect" or "standalone"."""
    from pyspark.sql import SparkSession

    prepare_environment()
    builder: Any = SparkSession.builder
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    with standalone_cluster(folder) if mode == "standalone" else _nothing() as master:
        made = builder.remote("local[2]") if mode == "connect" else builder.master(master)
        spark = made.getOrCreate()
        try:
            yield spark
        finally:
            spark.stop()


@contextmanager
def _nothing() -> Iterator[str]:
    yield "local[2]"


@contextmanager
def standalone_cluster(folder: Path) -> Iterator[str]:
    """Start a master and two workers on the loopback interface; yield the address."""
    import pyspark

    home = Path(pyspark.__file__).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    master, processes = f"spark://127.0.0.1:{port}", []
    deploy, host = "org.apache.spark.deploy", ["--host", "127.0.0.1", "--webui-port", "0"]
    commands = [[f"{deploy}.master.Master", *host, "--port", str(port)]]
    for number in range(2):
        place = ["-c", "1", "-m", "700m", "-d", str(folder / f"worker{number}")]
        commands.append([f"{deploy}.worker.Worker", *host, *place, master])
    try:
        for number, command in enumerate(commands):
            with (folder / f"log{number}.txt").open("w") as log:
                processes.append(
                    subprocess.Popen(
                        [home / "bin" / "spark-class", *command],
                        stdout=log,
                        stderr=subprocess.STDOUT,
                        start_new_session=True,
                        preexec_fn=_end_with_parent,
                        env={**os.environ, "SPARK_HOME": str(home)},
                    )
                )
            ready = "Registered worker|Registering worker|Successfully registered|New state: ALIVE"
            _wait_for(folder / f"log{number}.txt", ready if number else "New state: ALIVE")
        yield master
    finally:
        for process in reversed(processes):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _end_with_parent() -> None:
    """Ask Linux to kill this process when its parent ends, however it ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _wait_for(log: Path, text: str, seconds: float = 90.0) -> None:
    deadline = time.monotonic() + seconds
    while not re.search(text, log.read_text()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"no {text!r} in {log}: {log.read_text()[-2000:]}")
        time.sleep(0.2)


def executors() -> list[int]:
    """Return the processes of executors of standalone clusters that descend from this process."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            stat = (path / "stat").read_text()
            command = (path / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(path.name)] = (int(stat.rpartition(")")[2].split()[1]), command)

    def is_mine(process: int) -> bool:
        while process in parents:
            if process == os.getpid():
                return True
            process = parents[process][0]
        return False

    name = b"CoarseGrainedExecutorBackend"
    return [one for one, (_, command) in parents.items() if name in command and is_mine(one)]
