"""Training out of core: time and memory of a certified search over files of a given size.

    python -m benchmarks.out_of_core [--gigabytes 1] [--format csv|parquet] [--threads 2]

Writes a table of that size (numbers, categories, holes), trains logistic regression out of core
with 5 folds x 10 C in a process of its own, and prints its CPU and wall time beside one pass of
reading, the largest anonymous memory (RssAnon), the size of the blocks and the certificate. A part
of the rows is also learned in memory: weights have to agree within both certificates.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

ROWS = 200_000
NUMBERS = 20
LEVELS = (12, 30)
#: Rows that are learned both ways.
SMALL = 100_000

TRAIN = """
import json, sys, time, separable
start = time.process_time()
run = separable.train(sys.argv[1], "y", model="logistic-regression", out_of_core=True,
                      threads=int(sys.argv[2]))
json.dump({"cpu": time.process_time() - start, **run.to_dict()}, sys.stdout)
"""
READ = """
import sys
from separable.workflow.options import ReadingOptions
from separable.workflow.stream.stream_rows import Source
print(sum(len(chunk) for chunk in Source(sys.argv[1], ReadingOptions()).chunks()))
"""


def table(rng: np.random.Generator, n: int) -> pa.Table:
    """Return rows with a logistic target."""
    X = rng.standard_normal((n, NUMBERS)).round(4)
    codes = [rng.integers(0, k, n) for k in LEVELS]
    score = X @ np.linspace(-0.5, 0.5, NUMBERS) + rng.logistic(size=n)
    for code, k in zip(codes, LEVELS, strict=True):
        score += (code - k / 2) / k
    columns: dict[str, Any] = {f"x{j}": X[:, j] for j in range(NUMBERS)}
    holes = rng.random(n) < 0.02
    columns["x0"] = pa.array(X[:, 0], mask=holes)
    for j, code in enumerate(codes):
        columns[f"c{j}"] = np.char.add("level", code.astype(str))
    columns["y"] = np.where(score > 0, "yes", "no")
    return pa.table(columns)


def write(folder: Path, size: float, kind: str) -> tuple[str, int, int]:
    """Write files of that many bytes; return their glob, bytes and rows."""
    rng, total, number = np.random.default_rng(0), 0, 0
    while total < size:
        path = folder / f"part{number:04d}.{kind}"
        (csv.write_csv if kind == "csv" else parquet.write_table)(table(rng, ROWS), path)
        total, number = total + path.stat().st_size, number + 1
    return f"{folder}/part*.{kind}", total, number * ROWS


def watched(code: str, *words: str) -> tuple[str, float, float, float]:
    """Run a program; return its output, CPU and wall seconds, and largest RssAnon in MB."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, text=True
    ) as process:
        largest, done = [0.0], threading.Event()

        def look() -> None:
            while not done.wait(0.05):
                largest[0] = max(largest[0], anonymous(process.pid))

        thread = threading.Thread(target=look)
        thread.start()
        output, _ = process.communicate()
        done.set()
        thread.join()
    if process.returncode:
        raise SystemExit(f"the process failed with exit code {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return output, cpu, time.perf_counter() - start, largest[0]


def anonymous(pid: int) -> float:
    """Return the anonymous memory of a process in MB."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(x.split()[1]) / 1024 for x in lines if x.startswith("RssAnon")), 0.0)


def agreement() -> str:
    """Return how far weights of both ways are from each other, and their certificates' bound."""
    import separable
    from separable import LogisticRegression

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.parquet"
        rows = table(np.random.default_rng(1), SMALL)
        parquet.write_table(rows, path)
        run: Any = separable.train(
            str(path), "y", model="logistic-regression", set={"C": 1.0}, out_of_core=True
        )
        encoded = run.model.encoder.encode(rows.drop_columns(["y"]))
        other = LogisticRegression(C=1.0).fit(encoded, np.array(rows["y"].to_pylist()))
    away = float(np.linalg.norm(run.model.weights - other.coef_))
    bound = run.certificate.distance + other.certificate_.distance
    return f"{SMALL} rows both ways: weights differ by {away:.1e}, certificates allow {bound:.1e}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--format", choices=("csv", "parquet"), default="csv")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data, size, rows = write(Path(folder), given.gigabytes * 1e9, given.format)
        print(f"{size / 1e9:.2f} GB of {given.format}, {rows} rows")
        _, cpu, wall, memory = watched(READ, data)
        print(f"one pass of reading      {cpu:8.1f} s CPU {wall:8.1f} s wall {memory:7.0f} MB")
        output, cpu, wall, memory = watched(TRAIN, data, str(given.threads))
        print(f"certified search, fits   {cpu:8.1f} s CPU {wall:8.1f} s wall {memory:7.0f} MB")
        result = json.loads(output)
    proof = result["certificate"]
    print(
        f"blocks {result['block_bytes'] / 1e9:.2f} GB, {result['n_features']} features, relative "
        f"gap {proof['relative_gap']:.1e}, test accuracy {result['test']['accuracy']:.4f}"
    )
    print(agreement())


if __name__ == "__main__":
    main()
