"""``separable train`` as a shell starts it: from a Parquet file of texts to the file of a model.

The peer is a script that does the same in scikit-learn: it reads the file, makes the same tf-idf
matrix of words and pairs, searches the same ten strengths by five folds, fits the best to all
rows and writes it. Both are processes of their own, timed from start to end.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.cold_start import find_program
from benchmarks.datasets import imdb_files
from benchmarks.report import ACCURACY_SLACK, Line, Section, judge, markdown_table, show_seconds

if TYPE_CHECKING:
    from benchmarks.settings import Settings

__all__ = ["run_train"]

TARGET = 20.0

#: The strengths that ``separable train`` searches, written out: the peer gets the same.
STRENGTHS = (0.001, 0.00464, 0.0215, 0.1, 0.464, 2.15, 10.0, 46.4, 215.0, 1000.0)
FOLDS = 5

#: Of lbfgs, newton-cg and liblinear the fastest for this search.
SOLVER = "newton-cg"


def run_train(settings: Settings) -> Section:
    """Time both ways from the file to the model, and compare what they predict."""
    section = Section()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train, test = imdb_files(settings, folder)
        ours, peer = folder / "ours.safetensors", folder / "peer.joblib"
        command = [*find_program(), "train", str(train), "--target", "label", "--model",
                   "logistic-regression", "-q", "-o", str(ours)]  # fmt: skip
        commands = {
            "separable train --test-size 0": [*command, "--test-size", "0"],
            "separable train": command,
            "scikit-learn": [sys.executable, "-m", "benchmarks.train_command", train, peer],
        }
        times: dict[str, list[float]] = {}
        shares: dict[str, float] = {}
        for what, one in commands.items():
            repeats = 1 if what == "scikit-learn" else settings.slow_repeats
            times[what] = [_seconds(one) for _ in range(repeats)]
            right = _peer_right if what == "scikit-learn" else _our_right
            shares[what] = right(peer if what == "scikit-learn" else ours, test)
    rows = "25 000" if settings.most_rows is None else str(settings.most_rows)
    data = f"imdb, {rows} texts"
    for what in list(commands)[:2]:
        line = _line(data, what, times, shares, settings)
        section.add(line, {"seconds": times, "accuracy": shares})
    cells = [[what, show_seconds(median(times[what])), f"{shares[what]:.2%}"] for what in commands]
    print(f"From a Parquet file to a model, {FOLDS} folds x {len(STRENGTHS)} strengths, {data}\n")
    print(markdown_table(("what", "median", "right in test"), cells), end="\n\n")
    return section


def _line(
    data: str,
    what: str,
    times: dict[str, list[float]],
    shares: dict[str, float],
    settings: Settings,
) -> Line:
    """Return the line of one of our commands; the first is the same work as the peer's."""
    ours, peer = median(times[what]), median(times["scikit-learn"])
    target = TARGET if "--test-size 0" in what else None
    verdict = judge(peer / ours, target, at_most=False, judged=settings.judged)
    if settings.judged and shares[what] < shares["scikit-learn"] - ACCURACY_SLACK:
        verdict = "does not count: less accurate"
    sides = [
        f"{show_seconds(seconds)}, {share:.2%}"
        for seconds, share in ((ours, shares[what]), (peer, shares["scikit-learn"]))
    ]
    theirs = f"TfidfVectorizer, LogisticRegressionCV ({SOLVER}), joblib {sides[1]}"
    return Line(
        "train", data, what, sides[0], theirs, peer / ours, "x", target, False, verdict
    )  # fmt: skip


def _seconds(command: list[Any]) -> float:
    begin = time.perf_counter()
    subprocess.run(list(map(str, command)), stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def _our_right(model: Path, test: Path) -> float:
    """Return the share of test rows that our model has right."""
    import separable
    from separable.data import read

    X, y = read(test, target="label")
    return float(np.mean(separable.load(model).predict(X) == y))


def _peer_right(model: Path, test: Path) -> float:
    """Return the same for the peer's."""
    import joblib
    import pandas as pd

    vectorizer, learner = joblib.load(model)
    frame = pd.read_parquet(test)
    return float(learner.score(vectorizer.transform(frame["text"]), frame["label"]))


def _peer(train: str, model: str) -> None:
    """Do the same in scikit-learn."""
    import warnings

    import joblib
    import pandas as pd
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegressionCV

    warnings.simplefilter("ignore")  # about defaults to come
    frame = pd.read_parquet(train)
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    X = vectorizer.fit_transform(frame["text"])
    learner = LogisticRegressionCV(Cs=STRENGTHS, cv=FOLDS, solver=SOLVER, n_jobs=2)
    learner.fit(X, frame["label"])
    joblib.dump((vectorizer, learner), model)


if __name__ == "__main__":
    _peer(*sys.argv[1:])
