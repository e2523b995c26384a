"""Reading svmlight and Vowpal Wabbit text: megabytes a second beside the peers' own readers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.datasets import (
    MissingDataError,
    cached_file,
    imdb_texts,
    load_a9a,
    load_imdb,
    missing_is_told,
)
from benchmarks.harness import interleave
from benchmarks.limit import measure_bandwidth
from benchmarks.report import Line, Section, judge, markdown_table, show_seconds
from separable.data.io.svmlight import SvmlightReader
from separable.data.io.vw import VwReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.datasets import Data
    from benchmarks.settings import Settings

__all__ = ["run_svmlight", "run_vw_text"]

SVMLIGHT_TARGET = 15
VW_TARGET = 5
#: Files are repeated until they have so many bytes.
LEAST_BYTES = 100_000_000
#: Columns of hashed features; lines whose features are compared with Vowpal Wabbit's own.
BITS = 18
COMPARED_LINES = 300
CHUNK = 1 << 22


@dataclass(frozen=True)
class Text:
    """A file of text and what it holds.

    Parameters
    ----------
    name : str
        As printed.
    path : Path
        The file.
    columns : int
        Of its matrix.
    """

    name: str
    path: Path
    columns: int

    @property
    def megabytes(self) -> float:
        """The size of the file."""
        return self.path.stat().st_size / 1e6


# ---------------------------------------------------------------------- svmlight


def run_svmlight(settings: Settings) -> Section:
    """Read whole files into a CSR matrix, ours with one thread and with all."""
    section = Section()
    bandwidth = measure_bandwidth(settings.copy_bytes, settings.repeats)
    for load in (load_a9a, load_imdb):
        with missing_is_told():
            _race_svmlight(_svmlight_text(load(settings), settings), bandwidth, settings, section)
    return section


def _svmlight_text(data: Data, settings: Settings) -> Text:
    from sklearn.datasets import dump_svmlight_file

    def write(path: Path) -> None:
        dump_svmlight_file(data.X, 2 * data.y - 1, str(path), zero_based=False)
        _repeat(path, settings)

    name = f"{data.name}-{data.X.shape[0]}-{settings.judged:d}.svm"
    return Text(data.name, cached_file(name, write), data.X.shape[1])


def _repeat(path: Path, settings: Settings) -> None:
    content = path.read_bytes()
    times = -(-LEAST_BYTES // len(content)) if settings.judged else 1
    path.write_bytes(content * times)


def _chunks(path: Path) -> Iterator[memoryview]:
    """Give the bytes of a file, always in the same memory."""
    buffer = bytearray(CHUNK)
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(buffer):
            yield memoryview(buffer)[:size]


def _race_svmlight(text: Text, bandwidth: float, settings: Settings, section: Section) -> None:
    from sklearn.datasets import load_svmlight_file

    def ours(n_jobs: int) -> Any:
        reader = SvmlightReader(1, text.columns, n_jobs=n_jobs)
        for chunk in _chunks(text.path):
            reader.feed(chunk)
        reader.finish()
        return reader.take()

    def peer() -> Any:
        return load_svmlight_file(str(text.path), n_features=text.columns, zero_based=False)

    runs = {
        "separable, all threads": lambda: ours(-1),
        "separable, one thread": lambda: ours(1),
        "scikit-learn": peer,
    }
    batch, (theirs, labels) = ours(-1), peer()
    rows = batch.rows
    same = (
        np.array_equal(rows.values, theirs.data)
        and np.array_equal(rows.indices, theirs.indices)
        and np.array_equal(rows.indptr, theirs.indptr)
        and np.array_equal(batch.labels, labels)
    )
    moved = text.megabytes * 1e6 + sum(array.nbytes for array in rows.arrays())
    del batch, rows, theirs, labels
    _certify("svmlight", text, runs, SVMLIGHT_TARGET, same, settings, section, moved / bandwidth)


# ---------------------------------------------------------------------- Vowpal Wabbit text


def run_vw_text(settings: Settings) -> Section:
    """Parse files and drop the rows, chunk after chunk; columns are hashes on both sides."""
    if find_spec("vowpalwabbit") is None:
        raise MissingDataError("vowpalwabbit is not installed; `make .venv/extra-bench` does it.")
    section = Section()
    bandwidth = measure_bandwidth(settings.copy_bytes, settings.repeats)
    with missing_is_told():
        for text in (_words(settings), _numbers(settings)):
            _race_vw(text, bandwidth, settings, section)
    return section


def _words(settings: Settings) -> Text:
    def write(path: Path) -> None:
        texts, labels = imdb_texts(settings)
        word = re.compile(r"\w\w+")
        lines = [
            f"{1 if label == 'pos' else -1} |t {' '.join(word.findall(text.lower()))}\n"
            for text, label in zip(texts, labels, strict=True)
        ]
        path.write_text("".join(lines))
        _repeat(path, settings)

    return Text("imdb, words", cached_file(f"words-{settings.most_rows}.vw", write), 1 << BITS)


def _numbers(settings: Settings) -> Text:
    source = _svmlight_text(load_imdb(settings), settings)

    def write(path: Path) -> None:
        path.write_bytes(re.sub(rb"(?m)^(\S+)", rb"\1 |", source.path.read_bytes()))

    path = cached_file(f"numbers-{settings.most_rows}.vw", write)
    return Text("imdb, numbered tf-idf", path, 1 << BITS)


def _race_vw(text: Text, bandwidth: float, settings: Settings, section: Section) -> None:
    from vowpalwabbit import Workspace

    def ours(n_jobs: int, n_features: int | None) -> int:
        reader, moved = VwReader(n_features, n_jobs=n_jobs), 0
        for chunk in _chunks(text.path):
            reader.feed(chunk)
            batch = reader.take()
            moved += 0 if batch is None else sum(a.nbytes for a in batch.rows.arrays())
        reader.finish()
        return moved

    def peer() -> None:
        options = ["-d", str(text.path), "--noop", "--quiet", "--no_stdin", "-b", str(BITS)]
        Workspace(arg_list=options).finish()

    runs = {
        "separable, all threads": lambda: ours(-1, text.columns),
        "separable, one thread": lambda: ours(1, text.columns),
        "Vowpal Wabbit --noop": peer,
        "separable, one thread, names kept": lambda: ours(1, None),
    }
    moved = text.megabytes * 1e6 + ours(1, text.columns)
    same = same_as_vowpal(text.path)
    _certify("vw-text", text, runs, VW_TARGET, same, settings, section, moved / bandwidth)


def same_as_vowpal(path: Path) -> bool:
    """Return whether columns and values (float32) of the first lines are Vowpal Wabbit's."""
    from vowpalwabbit import Workspace

    with path.open("rb") as file:
        lines = [line for line, _ in zip(file, range(COMPARED_LINES), strict=False)]
    reader = VwReader(1 << BITS)
    reader.feed(b"".join(lines))
    reader.finish()
    batch = reader.take()
    if batch is None:
        return False
    workspace = Workspace(arg_list=["--noop", "--quiet", "--noconstant", "-b", str(BITS)])
    same = True
    for i, line in enumerate(lines):
        example = workspace.parse(line.decode())
        theirs: dict[int, float] = {}
        for space in range(example.num_namespaces()):
            for k in range(example.num_features_in(space)):
                column = example.feature(space, k) & ((1 << BITS) - 1)
                theirs[column] = theirs.get(column, 0) + example.feature_weight(space, k)
        workspace.finish_example(example)
        row = batch.rows.slice(i, i + 1)
        mine = dict(zip(row.arrays()[1].tolist(), row.values.tolist(), strict=True))
        same &= mine.keys() == theirs.keys()
        same &= all(abs(mine[j] - theirs[j]) <= 1e-6 * abs(mine[j]) for j in theirs)
    workspace.finish()
    return same


# ---------------------------------------------------------------------- both


def _certify(
    row: str,
    text: Text,
    runs: dict[str, Callable[[], Any]],
    target: float,
    same: bool,
    settings: Settings,
    section: Section,
    least: float,
) -> None:
    """Time the runs, all our threads first and the peer third; add a line for each of ours."""
    for work in runs.values():
        work()
    prepared = [lambda _, work=work: work for work in runs.values()]
    times = interleave(prepared, settings.slow_repeats)
    seconds = {
        name: median(wall for wall, _ in each) for name, each in zip(runs, times, strict=True)
    }
    speed = {name: text.megabytes / each for name, each in seconds.items()}
    table = [
        [
            name,
            show_seconds(seconds[name]),
            f"{speed[name]:.0f} MB/s",
            f"{least / seconds[name]:.0%}",
        ]
        for name in runs
    ]
    print(f"{row}, {text.name}, {text.megabytes:.0f} MB\n")
    print(markdown_table(["reader", "median", "speed", "of the bandwidth of a copy"], table))
    print(f"\nThe same matrix: {'yes' if same else 'NO'}. A copy of text and arrays alone would ")
    print(f"take {show_seconds(least)}.\n")
    peer = list(runs)[2]
    for name in [name for name in runs if name.startswith("separable")]:
        asked = target if name == "separable, all threads" else None
        ratio = seconds[peer] / seconds[name]
        verdict = judge(ratio, asked, at_most=False, judged=settings.judged)
        if not same:
            verdict = "does not count: another matrix"
        what = f"reading text{name.removeprefix('separable')}"
        sides = [f"{speed[each]:.0f} MB/s" for each in (name, peer)]
        line = Line(
            row, text.name, what, sides[0], f"{peer} {sides[1]}", ratio, "x", asked, False, verdict
        )
        raw = {
            "megabytes": text.megabytes,
            "seconds": [w for w, _ in times[list(runs).index(name)]],
        }
        section.add(line, raw | {"same": same, "seconds_of_a_copy": least})
