"""Linear discriminant analysis: a fit, and the scores of every row left out."""

from __future__ import annotations

import warnings
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from benchmarks.datasets import Data, load_covtype, load_mnist, make_gauss, missing_is_told
from benchmarks.harness import Contender, interleave, measure_fits
from benchmarks.report import Line, Section, compare, details, judge, show_seconds
from separable import LDA

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.settings import Settings

__all__ = ["run_lda"]

CLASSES = 10
OVER_SVD, OVER_LSQR, OVER_SVD_DIGITS, LEFT_OUT = 20, 2.5, 10, 3
#: Probabilities of both sides may differ by so much.
SAME = 1e-6


def run_lda(settings: Settings) -> Section:
    """Run on Gaussian classes, the digits and the forest rows."""
    section = Section()
    run_gauss(make_gauss(settings, CLASSES), settings, section)
    with missing_is_told():
        run_digits(load_mnist(settings), settings, section)
    with missing_is_told():
        run_left_out(load_covtype(settings, binary=False), settings, section)
    return section


def ours(seed: int) -> Any:
    """Return LDA with scikit-learn's divisor."""
    del seed
    return LDA(covariance="mle")


def peer(solver: str) -> Callable[[int], Any]:
    """Return what makes scikit-learn's with a solver."""
    return lambda _: LinearDiscriminantAnalysis(solver=solver)


def run_gauss(data: Data, settings: Settings, section: Section) -> None:
    """Fit both solvers that suit many rows and few columns."""
    contenders = [
        Contender("separable", ours, data),
        Contender("scikit-learn svd", peer("svd"), data),
        Contender("scikit-learn lsqr", peer("lsqr"), data),
    ]
    _contest(contenders, [(0, 1, OVER_SVD), (0, 2, OVER_LSQR)], settings, section)


def run_digits(data: Data, settings: Settings, section: Section) -> None:
    """Fit the digits, some of whose columns are constant, in both float types."""
    double = replace(data.astype(np.float64), name=f"{data.name} float64")
    single = replace(data.astype(np.float32), name=f"{data.name} float32")
    contenders = [
        Contender("separable float64", ours, double),
        Contender("scikit-learn svd float64", peer("svd"), double),
        Contender("separable float32", ours, single),
        Contender("scikit-learn svd float32", peer("svd"), single),
    ]
    _contest(contenders, [(0, 1, OVER_SVD_DIGITS), (2, 3, None)], settings, section)


def _contest(
    contenders: list[Contender],
    pairs: list[tuple[int, int, float | None]],
    settings: Settings,
    section: Section,
) -> None:
    measures = measure_fits(contenders, settings.slow_repeats)
    data = contenders[0].data
    print(f"LDA, {data.name}, {data.X.shape[0]} x {data.X.shape[1]}\n\n{details(measures)}\n")
    for mine, theirs, target in pairs:
        what = f"LDA, over {measures[theirs].name}"
        name, judged = contenders[mine].data.name, settings.judged
        line = compare(
            "lda", what, name, measures[mine], measures[theirs], target=target, judged=judged
        )
        difference = _difference(contenders[mine], contenders[theirs])
        print(f"{what}: probabilities differ by at most {difference:.1e}\n")
        line = replace(line, verdict=verdict_of(line.verdict, difference))
        sides = [measures[mine].to_dict(), measures[theirs].to_dict()]
        raw = {"what": what, "data": name, "difference": difference, "measures": sides}
        section.add(line, raw)


def verdict_of(verdict: str, difference: float) -> str:
    """Return the verdict, or that it does not count."""
    if verdict in ("met", "missed") and difference > SAME:
        return "does not count: other answers"
    return verdict


def _difference(one: Contender, other: Contender) -> float:
    """Return how far the probabilities of both sides differ on the test rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the covariance of the digits is singular
        first, second = (
            c.make(0).fit(c.data.X, c.data.y).predict_proba(c.data.X_test) for c in (one, other)
        )
    return float(np.abs(first - second).max())


def run_left_out(data: Data, settings: Settings, section: Section) -> None:
    """Fit all rows, and fit them and score each without itself."""
    X = np.vstack([data.X, data.X_test]).astype(np.float64)
    y = np.concatenate([data.y, data.y_test])

    def fit(turn: int) -> Callable[[], Any]:
        del turn
        return lambda: LDA().fit(X, y)

    def both(turn: int) -> Callable[[], Any]:
        del turn
        return lambda: left_out_scores(X, y)

    for run in (fit, both):
        run(0)()
    times = interleave([fit, both], settings.repeats)
    alone, together = (median(wall for wall, _ in each) for each in times)
    cpu = [median(seconds for _, seconds in each) for each in times]
    scores = left_out_scores(X, y)
    classes = np.unique(y)
    wrong = float((classes[scores.argmax(axis=1)] != y).mean())
    fitted = float(1 - LDA().fit(X, y).score(X, y))
    print(
        f"Leaving out each of {X.shape[0]} rows x {X.shape[1]} of {data.name}: error {wrong:.4%}, "
        f"of the fit {fitted:.4%}; processor {show_seconds(cpu[1])} and {show_seconds(cpu[0])}\n"
    )
    ratio = together / alone
    verdict = judge(ratio, LEFT_OUT, at_most=True, judged=settings.judged)
    line = Line(
        "lda",
        data.name,
        "a fit and leaving out each row, over a fit",
        show_seconds(together),
        f"fit {show_seconds(alone)}",
        ratio,
        "x",
        LEFT_OUT,
        True,
        verdict,
    )
    raw = {"what": line.what, "data": data.name, "fit": alone, "both": together, "cpu": cpu}
    section.add(line, raw | {"error": wrong, "fitted_error": fitted})


def left_out_scores(X: Any, y: Any) -> Any:
    """Return the scores of each row from the fit to all others."""
    fitted = LDA().fit(X, y)
    return fitted._left_out_scores(fitted._sums, fitted._read(X, y, None))
