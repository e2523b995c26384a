"""Runs contenders in turn in one process: medians of times, epochs, accuracy, peak memory."""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import sys
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline

from benchmarks.losses import log_loss

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.datasets import Data

__all__ = ["Contender", "Measure", "fastest", "interleave", "measure_fits", "peak_growth"]


@dataclass(frozen=True)
class Contender:
    """One side of a contest.

    Parameters
    ----------
    name : str
        As printed.
    make : callable
        Returns a new, unfitted estimator with the given seed.
    data : Data
        What it is fitted on, in the float type that suits it.
    probable : bool, default False
        Whether its scores are log-odds, so that the held-out log loss says something.
    """

    name: str
    make: Callable[[int], Any]
    data: Data
    probable: bool = False


@dataclass
class Measure:
    """What was measured of one contender; lists hold one entry a timed fit, each its own seed.

    Parameters
    ----------
    name : str
        The contender's.
    rows, nonzeros : int
        What one epoch reads.
    seconds, cpu_seconds : list of float
        Wall and processor time.
    epochs : list of int
        Epochs made.
    train_accuracy, test_accuracy : list of float
        Shares of rows predicted correctly.
    peak_bytes : int or None
        How far the peak of resident memory rose above the start during one fit.
    test_loss : list of float
        Mean log loss of the test rows; empty where scores are not log-odds.
    """

    name: str
    rows: int
    nonzeros: int
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)
    train_accuracy: list[float] = field(default_factory=list)
    test_accuracy: list[float] = field(default_factory=list)
    peak_bytes: int | None = None
    test_loss: list[float] = field(default_factory=list)

    @property
    def time(self) -> float:
        """The median time of a fit, in seconds."""
        return median(self.seconds)

    @property
    def epoch_time(self) -> float:
        """The median, over fits, of the time an epoch took."""
        return median(s / e for s, e in zip(self.seconds, self.epochs, strict=True))

    @property
    def accuracy(self) -> float:
        """The median test accuracy."""
        return median(self.test_accuracy)

    @property
    def loss(self) -> float | None:
        """The median held-out log loss, where there is one."""
        return median(self.test_loss) if self.test_loss else None

    def same_epochs(self, other: Measure) -> bool:
        """Return whether both made the same number of epochs in every fit."""
        return len({*self.epochs, *other.epochs}) == 1

    def ratio_to(self, peer: Measure) -> float:
        """Return how many times longer the peer takes: a fit, or an epoch where epochs differ."""
        if self.same_epochs(peer):
            return peer.time / self.time
        return peer.epoch_time / self.epoch_time

    def to_dict(self) -> dict[str, object]:
        """Return everything, raw and derived."""
        return vars(self) | {
            "median_seconds": self.time,
            "median_cpu_seconds": median(self.cpu_seconds),
            "rows_per_second": self.rows / self.epoch_time,
            "nonzeros_per_second": self.nonzeros / self.epoch_time,
        }


def fastest(measures: Sequence[Measure]) -> Measure:
    """Return the one with the shortest epoch: a peer is compared at its best."""
    return min(measures, key=lambda measure: measure.epoch_time)


def measure_fits(contenders: Sequence[Contender], repeats: int) -> list[Measure]:
    """Fit all contenders in turn, ``repeats`` times, after one fit each in a child for memory.

    Parameters
    ----------
    contenders : sequence of Contender
        Every one runs in every turn with the seed of that turn, the first place going round.
    repeats : int
        Timed turns; one untimed turn goes before.

    Returns
    -------
    list of Measure
        In the order of the contenders.
    """
    measures = [Measure(c.name, c.data.X.shape[0], c.data.nonzeros) for c in contenders]

    def note(which: int, fitted: Any) -> None:
        contender, measure = contenders[which], measures[which]
        data = contender.data
        learner = fitted[-1] if isinstance(fitted, Pipeline) else fitted
        measure.epochs.append(int(getattr(learner, "n_iter_", 1)))  # one pass of sums
        if contender.probable:
            label = np.searchsorted(fitted.classes_, data.y_test)
            measure.test_loss.append(log_loss(fitted.decision_function(data.X_test), label))
        measure.train_accuracy.append(float(fitted.score(data.X, data.y)))
        measure.test_accuracy.append(float(fitted.score(data.X_test, data.y_test)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit of a fixed number of epochs may warn each time
        fits = [_fit(contender) for contender in contenders]
        for measure, fit in zip(measures, fits, strict=True):
            measure.peak_bytes = peak_growth(fit(0))
        for fit in fits:
            fit(0)()
        for measure, times in zip(measures, interleave(fits, repeats, note), strict=True):
            measure.seconds = [wall for wall, _ in times]
            measure.cpu_seconds = [cpu for _, cpu in times]
    return measures


def interleave(
    runs: Sequence[Callable[[int], Callable[[], Any]]],
    repeats: int,
    note: Callable[[int, Any], None] | None = None,
) -> list[list[tuple[float, float]]]:
    """Time runs in turn.

    Parameters
    ----------
    runs : sequence of callable
        ``run(turn)`` prepares, untimed, and returns the function to time.
    repeats : int
        Turns.
    note : callable, optional
        Given which run it was and what it returned, after its time was taken.

    Returns
    -------
    list of list of (float, float)
        Wall and processor seconds, for each run.
    """
    times: list[list[tuple[float, float]]] = [[] for _ in runs]
    for turn in range(repeats):
        for place in range(len(runs)):
            which = (turn + place) % len(runs)
            work = runs[which](turn)
            gc.collect()
            wall, cpu = time.perf_counter(), time.process_time()
            answer = work()
            took = time.perf_counter() - wall, time.process_time() - cpu
            told = getattr(answer, "seconds", None)  # by another process, of the work alone
            times[which].append(told or took)
            if note is not None:
                note(which, answer)
    return times


def _fit(contender: Contender) -> Callable[[int], Callable[[], Any]]:
    def prepare(turn: int) -> Callable[[], Any]:
        estimator, X = contender.make(turn), _fresh(contender.data.X)
        return lambda: estimator.fit(X, contender.data.y)

    return prepare


def _fresh(X: Any) -> Any:
    """Return the matrix without what SciPy noted about it in an earlier fit."""
    if not sp.issparse(X):
        return X
    return sp.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape, copy=False)


# ---------------------------------------------------------------------- memory


def peak_growth(work: Callable[[], object]) -> int | None:
    """Return by how many bytes the peak of resident memory exceeds the start while work runs.

    It runs in a forked child, whose peak starts at its present size. None where the system does
    not tell.
    """
    if not Path("/proc/self/status").exists() or not hasattr(os, "fork"):
        return None
    _return_free_memory()
    read_end, write_end = os.pipe()
    with warnings.catch_warnings():
        # Python warns of threads in the parent; the child only computes and leaves.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _report_growth(work, write_end)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    if not answer:
        raise RuntimeError("The process that measures memory ended without an answer.")
    growth, error = pickle.loads(answer)
    if error:
        raise RuntimeError(f"The fit failed in the process that measures memory: {error}")
    return int(growth)


def _report_growth(work: Callable[[], object], write_end: int) -> None:
    """Run in the child: never returns."""
    status = 1
    try:
        answer: tuple[int, str] = (0, "")
        try:
            start = _status_bytes("VmRSS")
            work()
            answer = (max(0, _status_bytes("VmHWM") - start), "")
        except Exception as error:
            answer = (0, f"{type(error).__name__}: {error}")
        os.write(write_end, pickle.dumps(answer))
        status = 0
    finally:
        os._exit(status)


def _return_free_memory() -> None:
    """Give freed memory back to the system, so that its reuse counts as growth."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _status_bytes(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {key}.")
