"""Forecasts of learning curves from a quarter of the rows, beside what more rows reach."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier

from benchmarks.datasets import (
    load_a9a,
    load_covtype,
    load_imdb,
    load_mnist,
    missing_is_told,
)
from benchmarks.report import Line, Section, judge, markdown_table
from separable import (
    LDA,
    AveragedPerceptron,
    BernoulliNB,
    Lasso,
    LeastSquares,
    LinearGaussianNB,
    LogisticRegression,
    MultinomialNB,
    Ridge,
)
from separable.select import learning_curve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from benchmarks.datasets import Data
    from benchmarks.settings import Settings

    Made = Callable[[int], tuple[Any, NDArray[Any]]]

__all__ = ["run_forecasts"]

LEVEL, TEST_SIZE = 0.9, 0.3
#: Fits that the truth is a mean of.
TRUTHS = 3
#: Trials by what the settings call slow repeats.
TRIALS = 2


@dataclass(frozen=True)
class Problem:
    """Rows, by the number of the trial, a learner, and the rows that are the truth's."""

    name: str
    make: Made
    learner: Any
    n_rows: int
    is_drawn_anew: bool = True


def run_forecasts(settings: Settings) -> Section:
    """Count how often the truth lies within the intervals."""
    section, cells = Section(), []
    trials = TRIALS * settings.slow_repeats
    inside: list[NDArray[np.bool_]] = []
    for problem in _problems(settings):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the smallest sizes leave columns undetermined
            found = _try(problem, trials)
        inside.append(found["inside"])
        cells.append(_cells(problem, found))
        print(f"{problem.name}: {', '.join(cells[-1][1:])}")
        raw = {name: each.tolist() for name, each in found.items()}
        section.raw.append({"problem": problem.name, **raw})
    headings = (
        "problem", "rows seen", "within at 2n", "at 4n", "width at 2n", "at 4n", "error at 2n",
        "at 4n", "no change: 2n", "4n",
    )  # fmt: skip
    print("\n" + markdown_table(headings, cells) + "\n")
    shares = np.concatenate(inside).mean(axis=0)
    data = f"{len(inside)} problems, {trials} trials each"
    for share, times in zip(shares.tolist(), (2, 4), strict=True):
        verdict = judge(share, LEVEL, at_most=False, judged=settings.judged)
        line = Line(
            "learning-curve", data, f"truth within the interval at {times}n", f"{share:.3f}",
            "claimed 0.9", share, "", LEVEL, False, verdict,
        )  # fmt: skip
        section.add(line, {"share": share, "times": times})
    return section


def _cells(problem: Problem, found: dict[str, NDArray[Any]]) -> list[str]:
    inside = found["inside"].mean(axis=0)
    width = np.median(found["width"], axis=0)
    error, naive = (np.sqrt((found[key] ** 2).mean(axis=0)) for key in ("error", "naive"))
    figures = [f"{each:.3g}" for each in (*width, *error, *naive)]
    return [problem.name, str(problem.n_rows // 4), *(f"{each:.2f}" for each in inside), *figures]


def _try(problem: Problem, trials: int) -> dict[str, NDArray[Any]]:
    """Forecast from a quarter of the rows, again and again."""
    found: dict[str, list[Any]] = {"inside": [], "width": [], "error": [], "naive": []}
    X, y = problem.make(0)
    truth = _truth(problem, X, y)
    for trial in range(trials):
        if problem.is_drawn_anew and trial:
            X, y = problem.make(trial)
            truth = _truth(problem, X, y)
        rng = np.random.default_rng([trial, 1])
        seen = rng.permutation(len(y))[: round(problem.n_rows / 4 / (1 - TEST_SIZE))]
        curve = learning_curve(
            problem.learner, X[seen], y[seen], test_size=TEST_SIZE, random_state=trial
        )
        ahead = curve.forecast_at([problem.n_rows // 2, problem.n_rows], level=LEVEL)
        real = truth if curve.constant_errors is None else _in_units(truth, curve)
        found["inside"].append((ahead.low <= real) & (real <= ahead.high))
        found["width"].append(ahead.high - ahead.low)
        found["error"].append(ahead.mean - real)
        found["naive"].append(curve.mean[-1] - real)
    return {name: np.array(each) for name, each in found.items()}


def _in_units(errors: NDArray[np.float64], curve: Any) -> NDArray[np.float64]:
    """Return errors as the curve shows them: 1 - error rate, or MSE0 - MSE with its MSE0."""
    start = 1.0 if curve.metric == "1 - error rate" else float(curve.constant_errors.mean())
    units: NDArray[np.float64] = start - errors
    return units


def _truth(problem: Problem, X: Any, y: NDArray[Any]) -> NDArray[np.float64]:
    """Return the error with half of the rows and with all of them, on all other rows."""
    errors = []
    for size in (problem.n_rows // 2, problem.n_rows):
        some = []
        for seed in range(TRUTHS):
            order = np.random.default_rng(seed).permutation(len(y))
            fitted = clone(problem.learner).fit(X[order[:size]], y[order[:size]])
            answers, right = fitted.predict(X[order[size:]]), y[order[size:]]
            wrong = answers != right if is_classifier(fitted) else (answers - right) ** 2
            some.append(float(np.mean(wrong)))
        errors.append(float(np.mean(some)))
    return np.array(errors)


# ---------------------------------------------------------------------- the problems


def _problems(settings: Settings) -> Iterator[Problem]:
    full = settings.judged
    n = 2_000 if full else 400
    yield Problem("2 Gaussians, LDA", _gaussians(6 * n, 20, 2, 2.0), LDA(), n)
    yield Problem(
        "10 Gaussians, naive Bayes", _gaussians(6 * n, 30, 10, 4.0), LinearGaussianNB(), n
    )
    yield Problem("log-odds, logistic", _log_odds(6 * n, 50), LogisticRegression(), n)
    yield Problem("log-odds, averaged perceptron", _log_odds(6 * n, 50), AveragedPerceptron(), n)
    yield Problem("plane, least squares", _plane(6 * n, 50, 50), LeastSquares(), n)
    yield Problem("plane, ridge", _plane(6 * n, 100, 100), Ridge(alpha=10.0), n)
    yield Problem("plane, lasso", _plane(6 * n, 100, 10), Lasso(alpha=0.2), n)
    n = 4_000 if full else 400
    with missing_is_told():
        census = _given(load_a9a(settings), 5 * n)
        yield Problem("a9a, logistic", census, LogisticRegression(C=0.1), n, False)
        yield Problem("a9a, naive Bayes", census, BernoulliNB(), n, False)
    with missing_is_told():
        forest = _given(load_covtype(settings, binary=False), 5 * n)
        yield Problem("covtype, LDA", forest, LDA(), n, False)
        forest = _given(load_covtype(settings, binary=True), 5 * n)
        yield Problem("covtype, logistic", forest, LogisticRegression(standardize=True), n, False)
    with missing_is_told():
        films = _given(load_imdb(settings), 5 * n)
        yield Problem("imdb, naive Bayes", films, MultinomialNB(), n, False)
        yield Problem("imdb, averaged perceptron", films, AveragedPerceptron(max_iter=5), n, False)
    with missing_is_told():
        digits = _given(load_mnist(settings), 5 * n)
        yield Problem(
            "mnist, averaged perceptron", digits, AveragedPerceptron(max_iter=5), n, False
        )


def _given(data: Data, most: int) -> Made:
    """Return all rows of a set, in a random order, or so many of them."""
    stack = sp.vstack if sp.issparse(data.X) else np.concatenate
    X, y = stack([data.X, data.X_test]), np.concatenate([data.y, data.y_test])
    some = np.random.default_rng(0).permutation(len(y))[:most]
    X = X.tocsr()[some] if sp.issparse(X) else X[some].astype(np.float64)
    return lambda _: (X, y[some])


def _gaussians(rows: int, columns: int, classes: int, apart: float) -> Made:
    def make(trial: int) -> tuple[Any, NDArray[Any]]:
        rng = np.random.default_rng([trial, 2])
        means = rng.normal(size=(classes, columns)) * apart / np.sqrt(columns)
        y = rng.integers(0, classes, rows)
        return means[y] + rng.normal(size=(rows, columns)), y

    return make


def _log_odds(rows: int, columns: int) -> Made:
    def make(trial: int) -> tuple[Any, NDArray[Any]]:
        rng = np.random.default_rng([trial, 3])
        X, w = rng.normal(size=(rows, columns)), np.zeros(columns)
        w[:10] = rng.normal(size=10)
        return X, (rng.random(rows) < 1 / (1 + np.exp(-X @ w))).astype(int)

    return make


def _plane(rows: int, columns: int, used: int) -> Made:
    def make(trial: int) -> tuple[Any, NDArray[Any]]:
        rng = np.random.default_rng([trial, 4])
        X, w = rng.normal(size=(rows, columns)), np.zeros(columns)
        w[:used] = rng.normal(size=used)
        return X, X @ w + 5 * rng.normal(size=rows)

    return make
