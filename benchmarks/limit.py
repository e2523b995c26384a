"""The limit: an epoch streams the rows once, and the memory gives so many bytes a second."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.datasets import MissingDataError, load_imdb, make_zipf
from benchmarks.harness import Contender, interleave, measure_fits
from benchmarks.report import Line, Section, markdown_table, show_seconds
from separable import Perceptron

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.datasets import Data
    from benchmarks.settings import Settings

__all__ = ["run_limit"]


def run_limit(settings: Settings) -> Section:
    """Compare an epoch on each sparse set with a copy of memory, in one thread."""
    sets = [make_zipf(settings)]
    try:
        sets.insert(0, load_imdb(settings))
    except MissingDataError as missing:
        print(f"The limit is shown for the generated set only. {missing}\n")
    bandwidth = measure_bandwidth(settings.copy_bytes, settings.repeats)
    print(f"Memory bandwidth of a copy, read and written bytes: {bandwidth / 1e9:.1f} GB/s\n")
    section = Section()
    for data in sets:
        for shuffle in (True, False):
            _add_line(section, data, bandwidth, settings, shuffle=shuffle)
    print(markdown_table(_HEADINGS, [raw["cells"] for raw in section.raw]) + "\n")
    return section


_HEADINGS = (
    "data", "order", "bytes an epoch", "at bandwidth", "an epoch of a fit",
    "one more epoch", "fraction, whole fit", "fraction, one more epoch",
)  # fmt: skip


def measure_bandwidth(size: int, repeats: int) -> float:
    """Return the bytes a second that a copy of ``size`` bytes reads and writes."""
    source = np.ones(size // 8)
    target = np.zeros_like(source)

    def prepare(_: int) -> Callable[[], object]:
        return lambda: np.copyto(target, source)

    (times,) = interleave([prepare], repeats + 1)
    return 2 * source.nbytes / median(wall for wall, _ in times[1:])


def streamed_bytes(data: Data) -> int:
    """Return the bytes of values, column indices and row starts: what an epoch must read."""
    X = data.X
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


def _add_line(
    section: Section, data: Data, bandwidth: float, settings: Settings, *, shuffle: bool
) -> None:
    def fit_of(epochs: int) -> Callable[[int], Any]:
        return lambda seed: Perceptron(max_iter=epochs, shuffle=shuffle, random_state=seed)

    contenders = [
        Contender(f"separable, {epochs} epochs", fit_of(epochs), data)
        for epochs in (1, settings.epochs)
    ]
    short, long = measure_fits(contenders, settings.repeats)
    size = streamed_bytes(data)
    least = size / bandwidth
    turns = zip(long.seconds, short.seconds, long.epochs, strict=True)
    more = median((all_ - first) / max(1, epochs - 1) for all_, first, epochs in turns)
    order = "shuffled" if shuffle else "given order"
    fraction = least / long.epoch_time
    marginal = f"{least / more:.0%}" if more > 0 else "-"
    cells = [
        data.name, order, f"{size / 1e6:.1f} MB", show_seconds(least),
        show_seconds(long.epoch_time), show_seconds(max(more, 0.0)),
        f"{fraction:.0%}", marginal,
    ]  # fmt: skip
    line = Line(
        "limit", data.name, f"fraction of memory bandwidth, {order}",
        f"{show_seconds(long.epoch_time)} an epoch", f"copy {show_seconds(least)}",
        fraction, "", None, False, "-",
    )  # fmt: skip
    raw = {
        "what": line.what,
        "data": data.name,
        "bandwidth_bytes_per_second": bandwidth,
        "bytes_per_epoch": size,
        "seconds_per_further_epoch": more,
        "measures": [short.to_dict(), long.to_dict()],
        "cells": cells,
    }
    section.add(line, raw)
