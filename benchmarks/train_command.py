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
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.cold_start import find_program
from benchmarks.datasets import imdb_files
from benchmarks.report import ACCURACY_SLACK, Line, Section, judge, markdown_table, show_seconds
from separable import LogisticRegression, TableEncoder
from separable.data import read

if TYPE_CHECKING:
    from benchmarks.settings import Settings

__all__ = ["run_train"]

TARGET = 20.0

#: The strengths that ``separable train`` searches, written out: the peer gets the same.
STRENGTHS = (0.001, 0.00464, 0.0215, 0.1, 0.464, 2.15, 10.0, 46.4, 215.0, 1000.0)
FOLDS = 5

#: The peer's solvers. At their own tolerance some stop far from the optimum where C is large: only
#: those whose objective ends within this share above it, as ours does, have done the same work.
SOLVERS = ("lbfgs", "newton-cg", "liblinear")
EXCESS = 0.01


@dataclass(frozen=True)
class Run:
    """One way from the file to the model.

    Parameters
    ----------
    name : str
    seconds : list of float
    accuracy : float
        The share of test rows that are right.
    C : float
        The strength that was chosen.
    excess : float
        By which share the objective of the final weights lies above the optimum for this C.
    """

    name: str
    seconds: list[float]
    accuracy: float
    C: float
    excess: float

    @property
    def time(self) -> float:
        """The median of its times."""
        return median(self.seconds)

    def cells(self) -> list[str]:
        """Return the cells of the printed table."""
        figures = [f"{self.accuracy:.2%}", f"{self.C:g}", f"{self.excess:.1e}"]
        return [self.name, show_seconds(self.time), *figures]

    HEADINGS = ("what", "median", "right in test", "C", "above the optimum")


def run_train(settings: Settings) -> Section:
    """Time both ways from the file to the model, and compare what they end in."""
    section = Section()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train, test = imdb_files(settings, folder)
        judge_of = _Judge(train, test)
        peers = [_peer_run(solver, train, folder, judge_of) for solver in SOLVERS]
        ours = [_our_run(more, train, folder, judge_of, settings.slow_repeats)
                for more in (["--test-size", "0"], [])]  # fmt: skip
    rows = settings.most_rows or len(judge_of.y)
    data = f"imdb, {rows} texts"
    print(f"From a Parquet file to a model, {FOLDS} folds x {len(STRENGTHS)} strengths, {data}\n")
    print(markdown_table(Run.HEADINGS, [each.cells() for each in (*ours, *peers)]), end="\n\n")
    same = min((p for p in peers if p.excess <= EXCESS), key=lambda p: p.time, default=None)
    for peer in peers:
        target = TARGET if peer is same else None
        section.add(_line(data, ours[0], peer, target, settings), _raw(ours[0], peer))
    section.add(_line(data, ours[1], same or peers[0], None, settings), _raw(*ours))
    return section


def _line(data: str, ours: Run, peer: Run, target: float | None, settings: Settings) -> Line:
    ratio = peer.time / ours.time
    verdict = judge(ratio, target, at_most=False, judged=settings.judged)
    if peer.excess > EXCESS:
        verdict = f"stops {peer.excess:.0%} above the optimum"
    elif settings.judged and ours.accuracy < peer.accuracy - ACCURACY_SLACK:
        verdict = "does not count: less accurate"
    sides = [f"{show_seconds(each.time)}, {each.accuracy:.2%}" for each in (ours, peer)]
    what = f"{ours.name}, {FOLDS} folds x {len(STRENGTHS)} C"
    return Line(
        "train", data, what, sides[0], f"{peer.name} {sides[1]}", ratio, "x", target, False, verdict
    )


def _raw(*runs: Run) -> dict[str, Any]:
    return {each.name: vars(each) for each in runs}


def _our_run(more: list[str], train: Path, folder: Path, judge_of: _Judge, repeats: int) -> Run:
    import separable

    path = folder / "ours.safetensors"
    command = [*find_program(), "train", train, "--target", "label", "--model",
               "logistic-regression", "-q", "-o", path, *more]  # fmt: skip
    seconds = [_seconds(command) for _ in range(repeats)]
    model = separable.load(path)
    C = model.parameters["C"]
    found = judge_of(model.encoder.feature_names, model.weights[0], float(model.intercept[0]), C)
    return Run(" ".join(["separable train", *more]), seconds, *found)


def _peer_run(solver: str, train: Path, folder: Path, judge_of: _Judge) -> Run:
    import joblib

    path = folder / "peer.joblib"
    seconds = [_seconds([sys.executable, "-m", "benchmarks.train_command", solver, train, path])]
    vectorizer, model = joblib.load(path)
    names = [f"text:{word}" for word in vectorizer.get_feature_names_out()]
    C = float(np.ravel(model.C_)[0])
    found = judge_of(names, model.coef_[0], float(model.intercept_[0]), C)
    return Run(f"TfidfVectorizer, LogisticRegressionCV ({solver})", seconds, *found)


class _Judge:
    """Measures weights of either side on the same matrices.

    Parameters
    ----------
    train, test : Path
    """

    def __init__(self, train: Path, test: Path) -> None:
        encoder = TableEncoder(text={"text": {"min_df": 2, "ngram_range": (1, 2)}})
        table, labels = read(train, target="label")
        self.X = encoder.fit(table).encode(table).to_matrix()
        self.y = np.where(labels == "pos", 1.0, -1.0)
        table, labels = read(test, target="label")
        self.X_test = encoder.encode(table).to_matrix()
        self.y_test = np.where(labels == "pos", 1.0, -1.0)
        self.places = {name: place for place, name in enumerate(encoder.feature_names)}
        self._optima: dict[float, float] = {}

    def __call__(self, names: Any, weights: Any, b: float, C: float) -> tuple[float, float, float]:
        """Return accuracy, C and the excess of the objective of some weights."""
        w = np.zeros(len(self.places))
        w[[self.places[name] for name in names]] = weights
        right = float(np.mean(np.sign(self.X_test @ w + b) == self.y_test))
        if C not in self._optima:
            best = LogisticRegression(C=C, tol=1e-7).fit(self.X, self.y).model_
            self._optima[C] = self._objective(best.weights[0], float(best.intercept[0]), C)
        return right, C, self._objective(w, b, C) / self._optima[C] - 1

    def _objective(self, w: Any, b: float, C: float) -> float:
        losses = np.logaddexp(0, -self.y * (self.X @ w + b))
        return float(C * losses.sum() + w @ w / 2)


def _seconds(command: list[Any]) -> float:
    begin = time.perf_counter()
    subprocess.run(list(map(str, command)), stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def _peer(solver: str, train: str, path: str) -> None:
    """Do the same in scikit-learn."""
    import warnings

    import joblib
    import pandas as pd
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegressionCV

    warnings.simplefilter("ignore")  # about defaults to come, and solvers that stop early
    frame = pd.read_parquet(train)
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    X = vectorizer.fit_transform(frame["text"])
    learner = LogisticRegressionCV(Cs=STRENGTHS, cv=FOLDS, solver=solver, n_jobs=2)
    learner.fit(X, frame["label"])
    joblib.dump((vectorizer, learner), path)


if __name__ == "__main__":
    _peer(*sys.argv[1:])
