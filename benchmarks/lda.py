"""Linear discriminant analysis: a fit, and the scores of every row left out."""

from __future__ import annotations

import warnings
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from benchmarks.contest import Contest, Side, run_contest
from benchmarks.datasets import load_covtype, load_mnist, make_gauss, missing_is_told
from benchmarks.harness import interleave
from benchmarks.report import Line, Section, judge, show_seconds
from separable import LDA

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.datasets import Data
    from benchmarks.settings import Settings

__all__ = ["run_digits", "run_lda", "run_left_out"]

CLASSES = 10
OVER_SVD, OVER_LSQR, OVER_SVD_DIGITS, LEFT_OUT = 20, 2.5, 10, 3
#: Probabilities of both sides may differ by so much.
SAME = 1e-6


def run_lda(settings: Settings) -> Section:
    """Run on Gaussian classes, the digits and the forest rows."""
    section = Section()
    data = make_gauss(settings, CLASSES)
    _contest(data, "svd", OVER_SVD, settings, section)
    _contest(data, "lsqr", OVER_LSQR, settings, section)
    with missing_is_told():
        run_digits(load_mnist(settings), settings, section)
    with missing_is_told():
        run_left_out(load_covtype(settings, binary=False), settings, section)
    return section


def run_digits(data: Data, settings: Settings, section: Section) -> None:
    """Fit the digits, some of whose columns are constant, in both float types."""
    _contest(data.astype(np.float64), "svd", OVER_SVD_DIGITS, settings, section)
    _contest(data.astype(np.float32), "svd", None, settings, section)


def _contest(
    data: Data, solver: Any, target: float | None, settings: Settings, section: Section
) -> None:
    """Fit with scikit-learn's divisor beside one of its solvers, and compare probabilities."""

    def difference(ours: Any, peer: Any) -> float:
        shares = (fitted.predict_proba(data.X_test) for fitted in (ours, peer))
        return float(np.abs(np.subtract(*shares)).max())

    contest = Contest(
        "lda",
        f"{data.name}, {data.X.shape[0]} x {data.X.shape[1]} {data.X.dtype}",
        "LDA fit",
        Side("separable", lambda: LDA(covariance="mle").fit(data.X, data.y)),
        [
            Side(
                f"scikit-learn {solver}",
                lambda: LinearDiscriminantAnalysis(solver=solver).fit(data.X, data.y),
            )
        ],
        difference,
        SAME,
        target,
    )
    run_contest(contest, settings.slow_repeats, settings, section)


def run_left_out(data: Data, settings: Settings, section: Section) -> None:
    """Fit all rows, and fit them and score each without itself."""
    X = np.vstack([data.X, data.X_test]).astype(np.float64)
    y = np.concatenate([data.y, data.y_test])
    runs = {"fit": lambda: LDA().fit(X, y), "both": lambda: left_out_scores(X, y)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one column of each kind is what the others leave
        fitted, scores = (run() for run in runs.values())
        times = interleave([_prepared(run) for run in runs.values()], settings.repeats)
    seconds, cpu = (
        {name: median(one[k] for one in each) for name, each in zip(runs, times, strict=True)}
        for k in (0, 1)
    )
    error = {
        "fit": float((fitted.predict(X) != y).mean()),
        "both": float((fitted.classes_[scores.argmax(axis=1)] != y).mean()),
    }
    print(
        f"Leaving out each of {X.shape[0]} rows x {X.shape[1]} of {data.name}: error "
        f"{error['both']:.4%}, of the fit {error['fit']:.4%}; processor "
        f"{show_seconds(cpu['both'])} and {show_seconds(cpu['fit'])}\n"
    )
    ratio = seconds["both"] / seconds["fit"]
    verdict = judge(ratio, LEFT_OUT, at_most=True, judged=settings.judged)
    line = Line(
        "lda", data.name, "a fit and leaving out each row, over a fit",
        show_seconds(seconds["both"]), f"fit {show_seconds(seconds['fit'])}",
        ratio, "x", LEFT_OUT, True, verdict,
    )  # fmt: skip
    raw = {"what": line.what, "data": data.name, "seconds": seconds, "cpu": cpu, "error": error}
    section.add(line, raw)


def left_out_scores(X: Any, y: Any) -> Any:
    """Return the scores of each row from the fit to all others."""
    fitted = LDA().fit(X, y)
    return fitted._left_out_scores(fitted._sums, fitted._read(X, y, None))


def _prepared(run: Callable[[], Any]) -> Callable[[int], Callable[[], Any]]:
    def prepare(turn: int) -> Callable[[], Any]:
        del turn
        return run

    return prepare
