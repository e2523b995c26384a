"""Reading CSV: to an encoded matrix beside pyarrow's own reading, and in chunks within a memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from pyarrow import csv

from benchmarks.harness import interleave
from benchmarks.report import Line, Section, judge, markdown_table, show_seconds
from separable import TableEncoder
from separable.data import read

if TYPE_CHECKING:
    from benchmarks.settings import Settings

__all__ = ["run_csv", "run_stream"]

#: Ours may take so many times as long, and so much memory.
TIME_TARGET = 1.5
MEGABYTES = 500

#: With BENCH=full in the environment the file that is streamed is so many times larger.
FULL_FACTOR = 5

COLORS = ("red", "green", "blue", "yellow", "magenta", "cyan")


def run_csv(settings: Settings) -> Section:
    """Time a file to an encoded matrix, beside pyarrow reading it and no more."""
    section = Section()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write_table(path, rows=settings.csv_rows)
        size = path.stat().st_size
        runs = [lambda _: lambda: _encoded(path), lambda _: lambda: csv.read_csv(path)]
        for run in runs:  # once untimed: byte code and file cache
            run(0)()
        ours, peer = ([wall for wall, _ in times] for times in interleave(runs, settings.repeats))
        apart = _difference(path)
    ratio = median(ours) / median(peer)
    verdict = judge(ratio, TIME_TARGET, at_most=True, judged=settings.judged)
    if apart and settings.judged:
        verdict = "does not count: other numbers"
    data = f"{settings.csv_rows} x 12, {size / 1e6:.0f} MB"
    told = [
        f"{show_seconds(median(side))}, {size / median(side) / 1e6:.0f} MB/s"
        for side in (ours, peer)
    ]
    print(f"CSV to an encoded matrix, {data}\n")
    print(
        markdown_table(("what", "median"), [["separable", told[0]], ["pyarrow, reading", told[1]]])
    )
    print(f"\nThe numbers read differ by at most {apart:g}.\n")
    line = Line(
        "reading", data, "CSV to encoded matrix", told[0], f"pyarrow, reading {told[1]}", ratio,
        "x", TIME_TARGET, True, verdict,
    )  # fmt: skip
    section.add(line, {"ours": ours, "pyarrow": peer, "bytes": size, "apart": apart})
    return section


def run_stream(settings: Settings) -> Section:
    """Stream a large file through encoder and learner in a process of its own."""
    section = Section()
    factor = FULL_FACTOR if os.environ.get("BENCH") == "full" and settings.judged else 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.csv"
        write_table(path, n_bytes=settings.stream_bytes * factor)
        size = path.stat().st_size
        command = [sys.executable, "-m", "benchmarks.reading", str(path)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    megabytes, seconds = found["peak_bytes"] / 1e6, found["seconds"]
    verdict = judge(megabytes, MEGABYTES, at_most=True, judged=settings.judged)
    ours = f"{megabytes:.0f} MB resident, {show_seconds(seconds)}, {size / seconds / 1e6:.0f} MB/s"
    data = f"{size / 1e9:.2g} GB, {found['rows']} rows"
    print(f"A CSV of {data}, scanned, encoded and learned from: {ours}, ")
    print(f"progressive accuracy {found['accuracy']:.4f}\n")
    line = Line(
        "reading", data, "scan, encode, partial_fit", ours, "-", megabytes, "MB", MEGABYTES, True,
        verdict,
    )  # fmt: skip
    section.add(line, found | {"bytes": size})
    return section


def write_table(path: Path, rows: int | None = None, n_bytes: int | None = None) -> None:
    """Write a table of 8 columns of numbers, 3 of categories and a target of two classes."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=6)
    cities = np.array([f"city{place}" for place in range(300)])
    written = 0
    with path.open("wb") as file:
        while (rows is None or written < rows) and (n_bytes is None or file.tell() < n_bytes):
            count = min(50_000, rows - written if rows else 50_000)
            x, n = rng.normal(size=(count, 6)).round(4), rng.integers(0, 100_000, size=(count, 2))
            color = rng.integers(0, len(COLORS), count)
            columns = {f"x{place}": x[:, place] for place in range(6)}
            columns |= {f"n{place}": n[:, place] for place in range(2)}
            columns["color"] = np.array(COLORS)[color]
            columns["city"] = cities[rng.integers(0, len(cities), count)]
            columns["member"] = np.array(["yes", "no"])[rng.integers(0, 2, count)]
            score = x @ weights + (color - 2.5) + rng.logistic(size=count)
            columns["y"] = (score > 0).astype(np.int64)
            _write(file, columns, header=not written)
            written += count


def _write(file: Any, columns: dict[str, Any], *, header: bool) -> None:
    import pyarrow as pa

    options = csv.WriteOptions(include_header=header, quoting_style="none")
    csv.write_csv(pa.table(columns), file, options)


def _encoded(path: Path) -> Any:
    return TableEncoder(n_jobs=-1).fit_transform(read(path, target="y").table)


def _difference(path: Path) -> float:
    """Return by how much the numbers that both read differ."""
    ours, theirs = read(path).table, csv.read_csv(path)
    names = [name for name in theirs.column_names if name[0] in "xny"]
    apart = (
        np.abs(ours[name].to_numpy() - theirs[name].to_numpy().astype(float)).max()
        for name in names
    )
    return float(max(apart))


def _stream(path: str) -> dict[str, Any]:
    """Learn from a file in chunks; what is returned goes to the benchmark as JSON."""
    import time

    from separable import SGDClassifier
    from separable.cli.render.messages import step
    from separable.data import scan

    begin, rows, right, seen = time.perf_counter(), 0, 0, 0
    encoder, learner = None, SGDClassifier()
    with step("Learning") as progress:
        for X, y in scan(path, target="y", progress=progress.reading):
            if encoder is None:
                encoder = TableEncoder().fit(X)
                encoded = encoder.encode(X)
            else:
                encoded = encoder.encode(X)
                right += int((learner.predict(encoded) == y).sum())
                seen += len(y)
            learner.partial_fit(encoded, y, classes=[0, 1])
            rows += len(y)
    return {
        "rows": rows,
        "seconds": time.perf_counter() - begin,
        "peak_bytes": _peak_bytes(),
        "accuracy": right / seen if seen else float("nan"),
    }


def _peak_bytes() -> int:
    """Return the most memory that was resident; what the parent used does not count."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("The system does not say how much memory was resident.")


if __name__ == "__main__":
    print(json.dumps(_stream(sys.argv[1])))
