"""``separable train FILE --target y`` with no other option, on files of every ordinary shape.

Each file is trained in a new process, as a shell starts it. The line has the wall time beside the
time asked, the CPU time, the peak memory of the process and the held-out score of the model.
Files that the shared data lack are generated at the shape of the file that the target was written
for: many classes, an identifier of 3 400 levels, comments with three plain columns.
"""

from __future__ import annotations

import gzip
import json
import lzma
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.cold_start import find_program
from benchmarks.datasets import MissingDataError, data_file, imdb_files
from benchmarks.report import Line, Section, judge, markdown_table, show_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.settings import Settings

    Maker = Callable[[Path, Settings], tuple[Path, str]]

__all__ = ["FILES", "run_main_job"]

ADULT_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week", "country",
    "income",
)  # fmt: skip
#: Distinct words of the generated comments, and the ones that carry the label.
VOCABULARY, LABEL_WORDS = 60_000, 400
#: Held-out metrics that are printed, where the task has them.
METRICS = ("log_loss", "accuracy", "rmse", "r2")
HEADINGS = ("file", "wall", "asked", "CPU", "peak memory", "learner", "held out")


@dataclass(frozen=True)
class Run:
    """One run of the command.

    Parameters
    ----------
    wall, cpu : float
        Seconds.
    memory : int
        Peak resident bytes.
    learner, score : str
        The learner chosen, and the first held-out metric.
    """

    wall: float
    cpu: float
    memory: int
    learner: str
    score: str


def run_main_job(settings: Settings) -> Section:
    """Time the command on every file, one new process a run."""
    section, cells = Section(), []
    for name, (make, asked) in FILES.items():
        if settings.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                path, target = make(Path(folder), settings)
            except MissingDataError as missing:
                print(f"Without one file: {missing}\n")
                continue
            repeats = 1 if asked > 5 else settings.slow_repeats
            runs = [_train(path, target) for _ in range(repeats)]
        wall = median(each.wall for each in runs)
        last = runs[-1]
        verdict = judge(wall, asked, at_most=True, judged=settings.judged)
        section.add(
            Line("main-job", name, "separable train", show_seconds(wall),
                 f"{last.learner} {last.score}", wall, "s", asked, True, verdict),
            {"runs": [vars(each) for each in runs]},
        )  # fmt: skip
        cells.append([name, show_seconds(wall), f"{asked:g} s", show_seconds(last.cpu),
                      f"{last.memory / 1e6:.0f} MB", last.learner, last.score])  # fmt: skip
        print(" ".join(cells[-1]))
    print()
    print(markdown_table(HEADINGS, cells), end="\n\n")
    return section


def _train(path: Path, target: str) -> Run:
    """Run the command once; its threads and those of BLAS are left at their defaults."""
    command = [*find_program(), "train", str(path), "--target", target, "--json",
               "-o", str(path.with_suffix(".safetensors"))]  # fmt: skip
    limits = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
    environment = {key: value for key, value in os.environ.items() if key not in limits}
    begin = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - begin
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    learner, score = _result(json.loads(printed))
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, learner, score)


def _result(result: dict[str, Any]) -> tuple[str, str]:
    """Return the learner chosen and its held-out scores, as printed."""
    held_out = result["held_out"]
    scores = [f"{name} {held_out[name]:.4g}" for name in METRICS if name in held_out]
    return str(result["learner"]), ", ".join(scores)


# ---------------------------------------------------------------------- the files


def _penguins(folder: Path, settings: Settings) -> tuple[Path, str]:
    from separable.datasets import PENGUINS

    path = folder / "penguins.csv"
    lines = Path(PENGUINS).read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: settings.most_rows]))
    return path, "species"


def _few_rows_many_classes(folder: Path, settings: Settings) -> tuple[Path, str]:
    """Return 683 rows of 35 categorical columns and 19 classes, as the soybean table has."""
    rng = np.random.default_rng(0)
    rows = min(683, settings.most_rows or 683)
    label = np.sort(rng.integers(0, 19, rows))
    centers = rng.integers(0, 4, (19, 35))
    noise = rng.random((rows, 35)) < 0.2
    values = np.where(noise, rng.integers(0, 4, (rows, 35)), centers[label])
    letters = np.array(list("abcd"))[values]
    return _write(folder, "classes.csv", [*letters.T, _names("class", label)]), "y"


def _letters(folder: Path, settings: Settings) -> tuple[Path, str]:
    """Return 20 000 rows of 16 small integers and 26 classes, as the letters have."""
    rng = np.random.default_rng(0)
    rows = settings.most_rows or 20_000
    label = rng.integers(0, 26, rows)
    centers = rng.normal(7.5, 2.2, (26, 16))
    values = np.clip(np.rint(centers[label] + rng.normal(0, 1.8, (rows, 16))), 0, 15).astype(int)
    return _write(folder, "letters.csv", [*values.T, _names("L", label)]), "y"


def _adult(folder: Path, settings: Settings) -> tuple[Path, str]:
    text = gzip.decompress(data_file("adult", "adult.data.gz").read_bytes()).decode()
    lines = [line for line in text.splitlines() if line.strip()][: settings.most_rows]
    path = folder / "adult.csv"
    path.write_text("\n".join([",".join(ADULT_COLUMNS), *lines]) + "\n")
    return path, "income"


def _flights(folder: Path, settings: Settings) -> tuple[Path, str]:
    """Return 327 000 flights: numbers, month, carrier, and a tail number of 3 400 levels."""
    rng = np.random.default_rng(0)
    rows = settings.most_rows or 327_000
    tail = rng.zipf(1.3, rows) % 3400
    carrier, month = tail % 16, rng.integers(1, 13, rows)
    delay = rng.exponential(12, rows).round() - 5
    distance = rng.integers(90, 2600, rows)
    slow = rng.normal(0, 4, 3400)[tail] + rng.normal(0, 3, 16)[carrier]
    arrival = (
        0.95 * delay + slow - distance / 400 + 2 * np.sin(month) + rng.normal(0, 9, rows)
    ).round()
    columns = [month, rng.integers(1, 29, rows), delay.astype(int), distance,
               _names("UA", carrier), _names("N", tail), arrival.astype(int)]  # fmt: skip
    return _write(folder, "flights.csv", columns), "y"


def _comments(folder: Path, settings: Settings) -> tuple[Path, str]:
    """Return 96 000 comments of about 90 words, 55 MB, with three plain columns."""
    rng = np.random.default_rng(0)
    rows = min(96_000, settings.most_rows or 96_000)
    lengths = rng.integers(20, 160, rows)
    words = rng.zipf(1.2, int(lengths.sum())) % VOCABULARY
    sentiment = np.zeros(VOCABULARY)
    sentiment[50 : 50 + LABEL_WORDS] = rng.normal(0, 1, LABEL_WORDS)
    ends = np.cumsum(lengths)
    total = np.concatenate([[0.0], np.cumsum(sentiment[words])])
    mean = (total[ends] - total[ends - lengths]) / np.sqrt(lengths)
    votes, year = rng.poisson(3, rows), rng.integers(2005, 2025, rows)
    label = mean + 0.1 * (votes - 3) + rng.normal(0, 0.3, rows) > 0
    spelled = [_spell(number) for number in range(VOCABULARY)]
    texts = [" ".join(map(spelled.__getitem__, part)) for part in np.split(words, ends[:-1])]
    columns = [texts, votes, year, _names("site", rng.integers(0, 8, rows)),
               np.where(label, "keep", "remove")]  # fmt: skip
    return _write(folder, "comments.csv", columns), "y"


def _covtype(folder: Path, settings: Settings) -> tuple[Path, str]:
    path = folder / "covtype.csv"
    with lzma.open(data_file("covtype", "covtype.data.xz"), "rt") as file:
        path.write_text("".join(islice(file, settings.most_rows)))
    return path, "c55"


def _newsgroups(folder: Path, settings: Settings) -> tuple[Path, str]:
    import pyarrow.parquet as pq

    table = pq.read_table(data_file("20newsgroups", "20news_bydate.parquet"))
    path = folder / "20newsgroups.parquet"
    pq.write_table(table.select(["text", "group"]).slice(0, settings.most_rows), path)
    return path, "group"


def _imdb(folder: Path, settings: Settings) -> tuple[Path, str]:
    return imdb_files(settings, folder)[0], "label"


def _names(prefix: str, numbers: Any) -> list[str]:
    return [f"{prefix}{number}" for number in numbers]


def _spell(number: int) -> str:
    """Return a word of letters, another one for each number."""
    letters = ""
    number += 26
    while number:
        number, letter = divmod(number, 26)
        letters += chr(97 + letter)
    return letters


def _write(folder: Path, name: str, columns: Sequence[Any]) -> Path:
    """Write a CSV whose columns are x1, x2, ..., and y, the last."""
    import pyarrow as pa
    from pyarrow import csv

    names = [*(f"x{j}" for j in range(1, len(columns))), "y"]
    csv.write_csv(pa.table(dict(zip(names, columns, strict=True))), folder / name)
    return folder / name


#: Every file: how it is made, and the seconds asked on two free cores.
FILES: dict[str, tuple[Maker, float]] = {
    "penguins, 344 rows": (_penguins, 1.5),
    "683 rows, 35 columns, 19 classes": (_few_rows_many_classes, 2.5),
    "20 000 x 16, 26 classes": (_letters, 6.0),
    "adult": (_adult, 2.0),
    "327 000 flights, 3 400 tail numbers": (_flights, 15.0),
    "96 000 comments": (_comments, 40.0),
    "covtype": (_covtype, 25.0),
    "20 newsgroups": (_newsgroups, 20.0),
    "imdb": (_imdb, 4.0),
}
