"""Everyday tables: fits at the defaults of both sides, small and middle sets, all learners.

Each pair of a learner and its counterpart in scikit-learn is fitted in turn on the same rows.
The line says how many times longer the peer takes, by CPU and by wall time. Beside the times
stands the excess: how far each side's objective is above the optimum of its own problem, found by
a tight fit of the same class. Learners without an objective show the accuracy on held-out rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from math import exp, log
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn import datasets, linear_model, svm
from sklearn import discriminant_analysis as discriminant
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import separable
from benchmarks.datasets import Data, MissingDataError, data_file, load_covtype
from benchmarks.harness import interleave
from benchmarks.report import Line, Section, judge, markdown_table, show_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from benchmarks.settings import Settings

    Floats = NDArray[np.float64]
    Objective = Callable[[Any, Any, Any], float]
    Loader = Callable[[Settings], tuple[Any, Any]]

__all__ = [
    "PAIRS",
    "RAW_SETS",
    "SETS",
    "accepted",
    "excess",
    "optima",
    "run_everyday",
    "run_raw",
    "run_tables",
    "tables",
]

#: The target of every row but the perceptron's, and of the geometric mean.
EVERY, MEAN = 1.0, 2.0
#: Repeats shrink so that one side of a row takes about this many seconds.
SECONDS = 3.0
#: Parameters of the tight fits whose objective counts as the optimum.
TIGHT_OURS = {"tol": 1e-10}
TIGHT_PEER = {"tol": 1e-10, "max_iter": 10_000}


@dataclass(frozen=True)
class Pair:
    """A learner and its counterpart, both at their defaults.

    Parameters
    ----------
    name : str
        Of our learner.
    ours, peer : callable
        Return unfitted estimators; they take the parameters of a tight fit.
    objective_ours, objective_peer : callable, optional
        The objective of a fitted estimator on rows and targets. None: held-out accuracy.
    target : float or None
        How many times faster is asked of every row.
    """

    name: str
    ours: Callable[..., Any]
    peer: Callable[..., Any]
    objective_ours: Objective | None = None
    objective_peer: Objective | None = None
    target: float | None = EVERY


# ---------------------------------------------------------------------- objectives


def scores_of(estimator: Any, X: Any) -> Floats:
    """Return X w + b, one column a class or one column."""
    scores = X @ np.atleast_2d(estimator.coef_).T + estimator.intercept_
    return np.asarray(scores, dtype=np.float64)


def square_norm(estimator: Any) -> float:
    """Return the squared norm of the weights."""
    return float(np.sum(np.square(estimator.coef_)))


def logistic(estimator: Any, X: Any, y: Any) -> float:
    """Return |w|^2 / 2 + C sum of log losses, binary or softmax."""
    scores = scores_of(estimator, X)
    label = np.searchsorted(estimator.classes_, y)
    if scores.shape[1] == 1:
        loss = np.logaddexp(0.0, np.where(label == 1, -1.0, 1.0) * scores[:, 0])
    else:
        loss = np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(label)), label]
    return square_norm(estimator) / 2 + estimator.C * float(loss.sum())


def hinge(estimator: Any, X: Any, y: Any) -> float:
    """Return |w|^2 / 2 + C sum of hinge losses, over one-vs-rest models."""
    return square_norm(estimator) / 2 + estimator.C * float(_margins_short(estimator, X, y).sum())


def squared_hinge_with_intercept(estimator: Any, X: Any, y: Any) -> float:
    """Return the objective of LinearSVC: squared hinge, and the intercept is penalized too."""
    penalty = square_norm(estimator) + float(np.sum(np.square(estimator.intercept_)))
    return penalty / 2 + estimator.C * float(np.square(_margins_short(estimator, X, y)).sum())


def _margins_short(estimator: Any, X: Any, y: Any) -> Floats:
    scores = scores_of(estimator, X)
    label = np.searchsorted(estimator.classes_, y)
    positive = [1] if scores.shape[1] == 1 else range(scores.shape[1])
    signs = np.stack([np.where(label == k, 1.0, -1.0) for k in positive], axis=1)
    return np.maximum(0.0, 1.0 - signs * scores)


def insensitive(estimator: Any, X: Any, y: Any) -> float:
    """Return |w|^2 / 2 + C sum of max(0, |error| - epsilon)."""
    error = np.abs(y - scores_of(estimator, X)[:, 0])
    return square_norm(estimator) / 2 + estimator.C * float(
        np.maximum(0.0, error - estimator.epsilon).sum()
    )


def insensitive_with_intercept(estimator: Any, X: Any, y: Any) -> float:
    """Return the same with the intercept penalized, as LinearSVR of scikit-learn does."""
    return insensitive(estimator, X, y) + float(np.sum(np.square(estimator.intercept_))) / 2


def squares(estimator: Any, X: Any, y: Any) -> float:
    """Return the sum of squared errors."""
    return float(np.square(y - scores_of(estimator, X)[:, 0]).sum())


def ridge(estimator: Any, X: Any, y: Any) -> float:
    """Return the sum of squared errors + alpha |w|^2."""
    return squares(estimator, X, y) + estimator.alpha * square_norm(estimator)


def lasso(estimator: Any, X: Any, y: Any) -> float:
    """Return the mean squared error / 2 + alpha |w|_1."""
    weights = float(np.abs(estimator.coef_).sum())
    return squares(estimator, X, y) / (2 * len(y)) + estimator.alpha * weights


def elastic_net(estimator: Any, X: Any, y: Any) -> float:
    """Return the mean squared error / 2 + alpha (l1_ratio |w|_1 + (1 - l1_ratio) |w|^2 / 2)."""
    ratio, weights = estimator.l1_ratio, float(np.abs(estimator.coef_).sum())
    penalty = ratio * weights + (1.0 - ratio) / 2 * square_norm(estimator)
    return squares(estimator, X, y) / (2 * len(y)) + estimator.alpha * penalty


CLASSIFIERS = [
    Pair("LogisticRegression", separable.LogisticRegression, linear_model.LogisticRegression,
         logistic, logistic),
    Pair("LogisticRegressionCV", separable.LogisticRegressionCV,
         linear_model.LogisticRegressionCV),
    Pair("LinearSVM", separable.LinearSVM, svm.LinearSVC, hinge, squared_hinge_with_intercept),
    Pair("Perceptron", separable.Perceptron, linear_model.Perceptron, target=None),
    Pair("SGDClassifier", separable.SGDClassifier, linear_model.SGDClassifier),
    Pair("LDA", separable.LDA, discriminant.LinearDiscriminantAnalysis),
]  # fmt: skip
REGRESSORS = [
    Pair("LeastSquares", separable.LeastSquares, linear_model.LinearRegression, squares, squares),
    Pair("Ridge", separable.Ridge, linear_model.Ridge, ridge, ridge),
    Pair("RidgeCV", separable.RidgeCV, linear_model.RidgeCV),
    Pair("Lasso", separable.Lasso, linear_model.Lasso, lasso, lasso),
    Pair("ElasticNet", separable.ElasticNet, linear_model.ElasticNet, elastic_net, elastic_net),
    Pair("LassoCV", separable.LassoCV, linear_model.LassoCV),
    Pair("BayesianRegression", separable.BayesianRegression, linear_model.BayesianRidge),
    Pair("LinearSVR", separable.LinearSVR, svm.LinearSVR, insensitive, insensitive_with_intercept),
    Pair("SGDRegressor", separable.SGDRegressor, linear_model.SGDRegressor),
]
PAIRS = {"classification": CLASSIFIERS, "regression": REGRESSORS}
#: Learners that take dense rows only, here or there.
DENSE_ONLY = {"LDA", "BayesianRegression"}


# ---------------------------------------------------------------------- sets


def _standardized(X: Any, y: Any) -> tuple[Any, Any]:
    return StandardScaler().fit_transform(np.asarray(X, dtype=np.float64)), np.asarray(y)


def _generated(rows: int, columns: int, informative: int, classes: int = 2) -> tuple[Any, Any]:
    return _standardized(
        *datasets.make_classification(
            rows,
            columns,
            n_informative=informative,
            n_redundant=2,
            n_classes=classes,
            n_clusters_per_class=2 if classes == 2 else 1,
            random_state=0,
        )
    )


def _california() -> tuple[Any, Any]:
    import gzip

    with gzip.open(data_file("california-housing", "cal_housing.data.gz"), "rt") as file:
        table = np.loadtxt(file, delimiter=",")
    return _standardized(table[:, :-1], table[:, -1] / 1e5)


def _adult() -> tuple[Any, Any]:
    from pyarrow import csv

    table = csv.read_csv(
        data_file("adult", "adult.data.gz"),
        csv.ReadOptions(autogenerate_column_names=True),
        convert_options=csv.ConvertOptions(strings_can_be_null=False),
    ).to_pandas()
    table = table[table.iloc[:, -1].notna()]
    y = table.iloc[:, -1].str.strip().eq(">50K").to_numpy().astype(int)
    X = OneHotEncoder(min_frequency=5).fit_transform(table.iloc[:, :-1].astype(str))
    return sp.csr_array(X), y


def _covtype(settings: Settings) -> tuple[Any, Any]:
    data = load_covtype(settings, binary=False)
    return _standardized(data.X[:50_000], data.y[:50_000])


#: The sets: task and loader. Loaders that read files take the settings.
SETS: dict[str, tuple[str, Loader]] = {
    "iris": ("classification", lambda _: _standardized(*datasets.load_iris(return_X_y=True))),
    "wine": ("classification", lambda _: _standardized(*datasets.load_wine(return_X_y=True))),
    "breast cancer": (
        "classification",
        lambda _: _standardized(*datasets.load_breast_cancer(return_X_y=True)),
    ),
    "digits": ("classification", lambda _: _standardized(*datasets.load_digits(return_X_y=True))),
    "1k x 20": ("classification", lambda _: _generated(1000, 20, 2)),
    "10k x 50": ("classification", lambda _: _generated(10_000, 50, 20)),
    "100k x 20": ("classification", lambda _: _generated(100_000, 20, 10)),
    "680 x 69 x 19 classes": ("classification", lambda _: _generated(680, 69, 20, 19)),
    "15k x 16 x 26 classes": ("classification", lambda _: _generated(15_000, 16, 14, 26)),
    "adult, one-hot": ("classification", lambda _: _adult()),
    "covtype 50k x 54 x 7 classes": ("classification", _covtype),
    "diabetes": ("regression", lambda _: _standardized(*datasets.load_diabetes(return_X_y=True))),
    "california-housing": ("regression", lambda _: _california()),
}


def _file(folder: str, name: str, *, header: int = 0, first: int = 0, target: int = -1) -> Loader:
    """Return the loader of a numeric file: columns from ``first`` on, in their own units."""

    def load(_: Settings) -> tuple[Any, Any]:
        from pyarrow import csv

        separator = "\t" if folder == "higgs-7500" else ","
        table = csv.read_csv(
            data_file(folder, name),
            csv.ReadOptions(skip_rows=header, autogenerate_column_names=True),
            csv.ParseOptions(delimiter=separator),
        )
        columns = [column.to_numpy() for column in table.columns][first:]
        y = columns.pop(target)
        if y.dtype == object:
            y = np.unique(y, return_inverse=True)[1]
        return np.column_stack(columns).astype(np.float64), y

    return load


#: Sets in their own units, by which no limit of ours was chosen.
RAW_SETS: dict[str, tuple[str, Loader]] = {
    "pima-diabetes": ("classification", _file("pima-diabetes", "pima-indians-diabetes.data")),
    "sonar": ("classification", _file("sonar", "sonar.all-data")),
    "spambase": ("classification", _file("spambase", "spambase.data.gz")),
    "satimage": ("classification", _file("satimage", "satimage.csv.gz", header=1)),
    "vowel": (
        "classification",
        _file("esl-vowel", "vowel.train", header=1, first=1, target=0),
    ),
    "dna-splice": ("classification", _file("dna-splice", "dna.csv.gz", header=1)),
    "higgs-7500": ("classification", _file("higgs-7500", "binary.train.gz", target=0)),
    "wine-quality": ("regression", _file("wine-quality", "winequality-white.csv.gz")),
    "abalone": ("regression", _file("abalone", "abalone.data.gz", first=1)),
}


@cache
def _split(name: str, task: str, load: Loader, settings: Settings) -> Data:
    X, y = load(settings)
    if settings.most_rows is not None:
        X, y = X[: settings.most_rows], y[: settings.most_rows]
    is_split_by_class = task == "classification" and np.unique(y, return_counts=True)[1].min() > 1
    stratify = y if is_split_by_class else None
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=stratify)
    return Data(name, X, y, X_test, y_test)


# ---------------------------------------------------------------------- running


def tables(
    settings: Settings, sets: Mapping[str, tuple[str, Loader]] = SETS
) -> Iterator[tuple[Data, list[Pair]]]:
    """Yield each set with the pairs of its task, and print the name of the set."""
    for name, (task, load) in sets.items():
        whole_set = settings.only in name
        pairs = [pair for pair in PAIRS[task] if whole_set or settings.only in pair.name]
        if not pairs:
            continue
        try:
            data = _split(name, task, load, settings)
        except MissingDataError as missing:
            print(f"Without {name}: {missing}\n")
            continue
        print(f"{name}: {data.X.shape[0]} rows, {data.X.shape[1]} columns\n")
        is_sparse = sp.issparse(data.X)
        yield data, [pair for pair in pairs if not (is_sparse and pair.name in DENSE_ONLY)]


def run_everyday(settings: Settings) -> Section:
    """Fit every pair on every standardized set of its task, at defaults."""
    return run_tables("everyday", SETS, settings)


def run_raw(settings: Settings) -> Section:
    """Fit every pair on sets in their own units, at defaults."""
    return run_tables("everyday-raw", RAW_SETS, settings)


def run_tables(row: str, sets: Mapping[str, tuple[str, Loader]], settings: Settings) -> Section:
    """Fit every pair on every one of some sets, and print a table for each set."""
    section = Section()
    ratios: list[float] = []
    for data, pairs in tables(settings, sets):
        rows = [_run_pair(row, pair, data, settings, section, ratios) for pair in pairs]
        print(markdown_table(HEADINGS, rows) + "\n", flush=True)
    mean = exp(sum(map(log, ratios)) / len(ratios)) if ratios else 0.0
    verdict = judge(mean, MEAN, at_most=False, judged=settings.judged)
    section.add(
        Line(row, "all sets", "geometric mean of CPU ratios, without the perceptron",
             "-", "scikit-learn", mean, "x", MEAN, False, verdict),
        {"ratios": ratios},
    )  # fmt: skip
    return section


HEADINGS = ("learner", "CPU", "peer", "CPU ratio", "wall ratio", "excess or score", "peer's")


def _run_pair(
    row: str, pair: Pair, data: Data, settings: Settings, section: Section, ratios: list[float]
) -> list[str]:
    sides = (pair.ours, pair.peer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted, repeats = _first_fits(sides, data, settings)
        times = interleave([_fit(side, data) for side in sides], repeats)
        quality = _quality(pair, fitted, data)
    wall, cpu = ([median(turn[k] for turn in side) for side in times] for k in (0, 1))
    ratio, wall_ratio = cpu[1] / cpu[0], wall[1] / wall[0]
    if pair.target is not None:
        ratios.append(ratio)
    verdict = judge(ratio, pair.target, at_most=False, judged=settings.judged)
    section.add(
        Line(row, data.name, pair.name, show_seconds(cpu[0]),
             f"scikit-learn {show_seconds(cpu[1])}", ratio, "x", pair.target, False, verdict),
        {"times": times, "quality": quality, "wall_ratio": wall_ratio},
    )  # fmt: skip
    return [
        pair.name, show_seconds(cpu[0]), show_seconds(cpu[1]), f"{ratio:.2f}", f"{wall_ratio:.2f}",
        quality[0], quality[1],
    ]  # fmt: skip


def _first_fits(
    sides: tuple[Callable[..., Any], ...], data: Data, settings: Settings
) -> tuple[list[Any], int]:
    """Fit both sides once, untimed, and settle how often they are timed."""
    fits = [_fit(side, data)(0) for side in sides]
    fitted: list[Any] = []
    times = interleave([lambda _, fit=fit: fit for fit in fits], 1, lambda _, e: fitted.append(e))
    longest = max(turn[0][0] for turn in times)
    return fitted, int(np.clip(SECONDS / longest, 1, settings.repeats))


def _fit(make: Callable[..., Any], data: Data) -> Callable[[int], Callable[[], Any]]:
    def prepare(turn: int) -> Callable[[], Any]:
        del turn
        return lambda: make().fit(data.X, data.y)

    return prepare


def _quality(pair: Pair, fitted: list[Any], data: Data) -> list[str]:
    """Return the relative excess of each side's objective, or its score on held-out rows."""
    if pair.objective_ours is None or pair.objective_peer is None:
        return [f"{estimator.score(data.X_test, data.y_test):.4f}" for estimator in fitted]
    sides = zip(fitted, (pair.objective_ours, pair.objective_peer), optima(pair, data), strict=True)
    return [
        f"{excess(objective(estimator, data.X, data.y), best):.0e}"
        for estimator, objective, best in sides
    ]


def optima(pair: Pair, data: Data) -> tuple[float, float]:
    """Return the optimum of each side's problem, or the smaller of both for the same problem."""
    assert pair.objective_ours is not None
    assert pair.objective_peer is not None
    ours = _tight_objective(pair.ours, pair.objective_ours, TIGHT_OURS, data)
    theirs = _tight_objective(pair.peer, pair.objective_peer, TIGHT_PEER, data)
    if pair.objective_ours is pair.objective_peer:
        ours = theirs = min(ours, theirs)
    return ours, theirs


def _tight_objective(
    make: Callable[..., Any], objective: Objective, tight: Mapping[str, Any], data: Data
) -> float:
    """Return the objective of a fit at a small tolerance, where there is one."""
    return objective(make(**accepted(make, tight)).fit(data.X, data.y), data.X, data.y)


def accepted(make: Callable[..., Any], setting: Mapping[str, Any]) -> dict[str, Any]:
    """Return those parameters of a setting that a learner has."""
    names = make().get_params()
    return {name: value for name, value in setting.items() if name in names}


def excess(value: float, best: float) -> float:
    """Return how far an objective is above the optimum, relative to the optimum."""
    return (value - min(best, value)) / abs(best)
