"""Single rows: a call of ``partial_fit`` beyond its row, and a prediction for one raw record."""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.linear_model import Perceptron as PeerPerceptron
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.harness import interleave
from benchmarks.report import Line, Section, judge, markdown_table
from separable import (
    LogisticRegression,
    Perceptron,
    Ridge,
    TableClassifier,
    TableEncoder,
    TableRegressor,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from benchmarks.settings import Settings

__all__ = ["run_one_row"]

TARGET_MICROSECONDS = 20
RECORD_MICROSECONDS = 50
ADDITIVE_MICROSECONDS = 30
CLASSES = np.array([0, 1])


@dataclass(frozen=True)
class Stream:
    """A set of rows to be fed one by one."""

    name: str
    X: Any
    y: NDArray[np.int64]

    def pieces(self) -> list[tuple[Any, NDArray[np.int64]]]:
        """Return the rows cut apart beforehand, so that cutting is not timed."""
        return [(self.X[i : i + 1], self.y[i : i + 1]) for i in range(len(self.y))]


def make_streams(rows: int) -> list[Stream]:
    """Return a dense stream of 20 numbers a row and a sparse one of 60 out of 47 000."""
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(rows, 20))
    columns = np.sort(rng.integers(0, 780, size=(rows, 60)) + 780 * np.arange(60), axis=1)
    values = rng.random(columns.size).astype(np.float32)
    starts = np.arange(rows + 1, dtype=np.int32) * 60
    sparse = sp.csr_matrix((values, columns.ravel().astype(np.int32), starts), shape=(rows, 47_000))
    sparse_y = (sparse @ rng.normal(size=47_000) > 0).astype(np.int64)
    return [
        Stream("dense, 1 x 20 float64", dense, (dense[:, 0] > 0).astype(np.int64)),
        Stream("CSR, 1 x 47 000 float32, 60 non-zeros", sparse, sparse_y),
    ]


def run_one_row(settings: Settings) -> Section:
    """Time streams row by row and at once, ours and scikit-learn's in turn."""
    section = Section()
    for stream in make_streams(settings.calls):
        _run_stream(stream, settings, section)
    headings = ("stream", "contender", "a call", "the row in bulk", "beyond the row")
    cells = [row for raw in section.raw for row in raw["cells"]]
    print("partial_fit of one row, microseconds\n")
    print(markdown_table(headings, cells) + "\n")
    _run_record(settings, section)
    _run_additive(settings, section)
    return section


def make_records(rows: int) -> tuple[dict[str, list[Any]], list[str]]:
    """Return a table of ten numbers and ten categories, and two classes that follow from it."""
    rng = np.random.default_rng(0)
    table: dict[str, list[Any]] = {f"n{j}": rng.normal(size=rows).tolist() for j in range(10)}
    for j in range(10):
        table[f"c{j}"] = rng.choice([f"level {k}" for k in range(3 + j)], rows).tolist()
    return table, [
        "yes" if x + (c == "level 0") > 0.3 else "no"
        for x, c in zip(table["n0"], table["c0"], strict=True)
    ]


def _run_record(settings: Settings, section: Section) -> None:
    """Time the prediction of one raw record, as a dict and, for the peer, as a frame."""
    import pandas as pd

    table, y = make_records(max(200, settings.calls))
    frame = pd.DataFrame(table)
    model = TableClassifier(LogisticRegression()).fit(table, y).model_
    encode = make_column_transformer(
        (StandardScaler(), [f"n{j}" for j in range(10)]),
        (OneHotEncoder(handle_unknown="ignore"), [f"c{j}" for j in range(10)]),
    )
    peer = make_pipeline(encode, PeerLogistic(max_iter=1000)).fit(frame, y)
    records = frame.to_dict("records")[: settings.calls]
    pieces = [frame.iloc[i : i + 1] for i in range(min(len(records), 200))]
    runs = {
        "model.predict([record])": [[record] for record in records],
        "model.predict_one(record)": records,
        "scikit-learn, a frame of one row": pieces,
    }
    calls = dict(zip(runs, (model.predict, model.predict_one, peer.predict), strict=True))
    found = {name: _each(calls[name], given) for name, given in runs.items()}
    cells = [[name, f"{p50:.1f}", f"{p99:.1f}"] for name, (p50, p99) in found.items()]
    print("one raw record of 20 columns, microseconds\n")
    print(markdown_table(("call", "p50", "p99"), cells) + "\n")
    ours, theirs = found["model.predict([record])"][0], list(found.values())[-1][0]
    line = Line(
        "one row",
        "a dict of 20 columns",
        "predict([record]), p50",
        f"{ours:.1f} us",
        f"scikit-learn {theirs:.0f} us",
        ours,
        "us",
        RECORD_MICROSECONDS,
        True,
        judge(ours, RECORD_MICROSECONDS, at_most=True, judged=settings.judged),
    )
    section.add(line, {"what": line.what, "data": line.data, "microseconds": found, "cells": []})


def _run_additive(settings: Settings, section: Section) -> None:
    """Time the prediction of one raw record by curves of ten numbers and ten of their pairs."""
    rng = np.random.default_rng(0)
    names = [f"n{j}" for j in range(10)]
    table = {name: rng.normal(size=2000).tolist() for name in names}
    pairs = [(names[j], names[(j + 1) % 10]) for j in range(10)]
    encoder = TableEncoder(curves=True, interactions=pairs)
    model = TableRegressor(Ridge(), encoder).fit(table, rng.normal(size=2000)).model_
    records = [dict(zip(names, row, strict=True)) for row in zip(*table.values(), strict=True)]
    ours, slow = _each(model.predict_one, records[: settings.calls])
    section.add(
        Line(
            "one row",
            "a dict of 10 numbers",
            "predict_one through 10 curves and 10 pairs, p50",
            f"{ours:.1f} us",
            "",
            ours,
            "us",
            ADDITIVE_MICROSECONDS,
            True,
            judge(ours, ADDITIVE_MICROSECONDS, at_most=True, judged=settings.judged),
        ),
        {"microseconds": [ours, slow], "cells": []},
    )


def _each(call: Callable[[Any], object], given: list[Any]) -> tuple[float, float]:
    """Return the median and the 99th percentile of the time of a call, in microseconds."""
    times = []
    warm = given[:20]
    for each in warm + given:
        start = time.perf_counter()
        call(each)
        times.append(time.perf_counter() - start)
    p50, p99 = np.percentile(times[len(warm) :], [50, 99]) * 1e6
    return float(p50), float(p99)


def _run_stream(stream: Stream, settings: Settings, section: Section) -> None:
    makers = {
        "separable": lambda: Perceptron(),
        "scikit-learn": lambda: PeerPerceptron(random_state=0),
    }
    pieces = stream.pieces()
    runs = [_one_by_one(make, pieces) for make in makers.values()]
    runs += [_at_once(make, stream) for make in makers.values()]
    times = interleave(runs, settings.repeats)
    each = [median(wall for wall, _ in run) / len(pieces) * 1e6 for run in times]
    beyond = {name: each[i] - each[i + 2] for i, name in enumerate(makers)}
    cells = [
        [stream.name, name, f"{each[i]:.1f}", f"{each[i + 2]:.2f}", f"{beyond[name]:.1f}"]
        for i, name in enumerate(makers)
    ]
    ours, theirs = beyond.values()
    line = Line(
        "one row",
        stream.name,
        "partial_fit, a call beyond its row",
        f"{ours:.1f} us",
        f"scikit-learn {theirs:.1f} us",
        ours,
        "us",
        TARGET_MICROSECONDS,
        True,
        judge(ours, TARGET_MICROSECONDS, at_most=True, judged=settings.judged),
    )
    raw = {"what": line.what, "data": stream.name, "cells": cells, "microseconds": beyond}
    section.add(line, raw | {"seconds": [[wall for wall, _ in run] for run in times]})


def _one_by_one(
    make: Callable[[], Any], pieces: list[tuple[Any, NDArray[np.int64]]]
) -> Callable[[int], Callable[[], object]]:
    def prepare(_: int) -> Callable[[], object]:
        estimator = make().partial_fit(*pieces[0], classes=CLASSES)

        def feed() -> None:
            for X, y in pieces:
                estimator.partial_fit(X, y)

        return feed

    return prepare


def _at_once(make: Callable[[], Any], stream: Stream) -> Callable[[int], Callable[[], object]]:
    def prepare(_: int) -> Callable[[], object]:
        estimator = make().partial_fit(stream.X[:1], stream.y[:1], classes=CLASSES)
        return lambda: estimator.partial_fit(stream.X, stream.y)

    return prepare
