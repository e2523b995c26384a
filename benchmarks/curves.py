"""Curves against boosted trees: held-out error and CPU time on ten tables.

Four contenders see the same rows of each table, three quarters of it: `separable.train` with lines
for numbers, with curves, and with its default, which may add interactions, each with ridge or
logistic regression on a target that is not transformed; and scikit-learn's `HistGradientBoosting`
with its defaults and native categories. The error is the root mean squared error or the log loss of
the last quarter. CPU seconds include the choices of `train`, and reading the frame.

Of positive numbers a second line has the logarithm of the target on both sides. Trees have the
smaller error of two: with and without a factor that gives the training rows their mean.
"""

from __future__ import annotations

import time
import warnings
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import train_test_split

from benchmarks.datasets import MissingDataError, data_file
from benchmarks.report import Line, Section, judge, markdown_table
from separable import train

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.settings import Settings

    Loader = Callable[[], tuple[pd.DataFrame, Any]]

__all__ = ["TABLES", "run_curves"]

#: Largest ratio of our error to that of boosted trees.
ASKED = 1.03
#: Name of the target.
TARGET = "the target"
HEADINGS = ("table", "rows", "lines", "curves", "default", "boosted trees", "ratio", "CPU of each")


@dataclass(frozen=True)
class Table:
    """A table, divided into training and test rows."""

    train: pd.DataFrame
    test: pd.DataFrame
    y_train: Any
    y_test: Any

    @property
    def is_regression(self) -> bool:
        """Whether the target is a number."""
        return np.asarray(self.y_train).dtype.kind == "f"

    def error(self, model: Any, X: Any) -> float:
        """Return the error of fitted trees on test rows."""
        if self.is_regression:
            return float(root_mean_squared_error(self.y_test, model.predict(X)))
        return float(log_loss(self.y_test, model.predict_proba(X), labels=model.classes_))


def run_curves(settings: Settings) -> Section:
    """Fit and score the contenders on every table."""
    section, cells = Section(), []
    for name, load in TABLES.items():
        if settings.only not in name:
            continue
        try:
            table = _split(load, settings)
        except MissingDataError as missing:
            print(f"Without one table: {missing}\n")
            continue
        figures = [_timed(fit, table) for fit in (_lines, _curves, _default, _trees)]
        *_, ours, trees = (error for error, _ in figures)
        ratio = ours / trees
        verdict = judge(ratio, ASKED, at_most=True, judged=settings.judged)
        section.add(
            Line("curves", name, "error over that of boosted trees", f"{ours:.4g}",
                 f"{trees:.4g}", ratio, "x", ASKED, True, verdict),
            {"errors": [error for error, _ in figures], "cpu": [cpu for _, cpu in figures]},
        )  # fmt: skip
        times = " / ".join(f"{cpu:.1f} s" for _, cpu in figures)
        cells.append([name, str(len(table.train)), *(f"{error:.4g}" for error, _ in figures),
                      f"{ratio:.3f}", times])  # fmt: skip
        print(" ".join(cells[-1]))
        if table.is_regression and float(np.min(table.y_train)) > 0:
            cells.append(_with_logarithms(name, table, section, settings))
            print(" ".join(cells[-1]))
    print()
    print(markdown_table(HEADINGS, cells), end="\n\n")
    return section


def _with_logarithms(name: str, table: Table, section: Section, settings: Settings) -> list[str]:
    """Compare default and trees on the logarithm of the target; return the cells of the line."""
    (ours, first), (trees, second) = (_timed(fit, table) for fit in (_log_default, _log_trees))
    ratio = ours / trees
    line = Line(
        "curves", f"{name}, log target", "error over that of boosted trees", f"{ours:.4g}",
        f"{trees:.4g}", ratio, "x", ASKED, True,
        judge(ratio, ASKED, at_most=True, judged=settings.judged),
    )  # fmt: skip
    section.add(line, {"errors": [ours, trees], "cpu": [first, second]})
    times = f"{first:.1f} s / {second:.1f} s"
    figures = [f"{ours:.4g}", f"{trees:.4g}", f"{ratio:.3f}"]
    return [f"{name}, log", str(len(table.train)), "", "", *figures, times]


def _split(load: Loader, settings: Settings) -> Table:
    X, y = load()
    if settings.most_rows is not None:
        X, y = X[: settings.most_rows], y[: settings.most_rows]
    stratify = None if np.asarray(y).dtype.kind == "f" else y
    return Table(*train_test_split(X, y, test_size=0.25, random_state=0, stratify=stratify))


def _timed(fit: Callable[[Table], float], table: Table) -> tuple[float, float]:
    """Return the error and the CPU seconds of fitting and scoring."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        error = fit(table)
    return error, time.process_time() - begin


# ---------------------------------------------------------------------- contenders


def _lines(table: Table) -> float:
    return _trained(table, curves="no")


def _curves(table: Table) -> float:
    return _trained(table, curves="yes", interactions="no")


def _default(table: Table) -> float:
    return _trained(table)


def _log_default(table: Table) -> float:
    return _trained(table, target_log="yes")


def _trained(table: Table, **options: Any) -> float:
    name = "ridge" if table.is_regression else "logistic-regression"
    frame = table.train.assign(**{TARGET: table.y_train})
    options = {"target_log": "no", **options, "model": name, "test_size": 0, "threads": 1}
    run = train(frame, TARGET, **options)
    if table.is_regression:
        return float(root_mean_squared_error(table.y_test, run.model.predict(table.test)))
    probabilities = run.model.predict_proba(table.test)
    labels = [str(label) for label in run.model.classes]
    return float(log_loss(table.y_test, probabilities, labels=labels))


def _trees(table: Table) -> float:
    train, test = _with_categories(table)
    made = HistGradientBoostingRegressor if table.is_regression else HistGradientBoostingClassifier
    return table.error(made(random_state=0).fit(train, table.y_train), test)


def _log_trees(table: Table) -> float:
    train, test = _with_categories(table)
    trees = HistGradientBoostingRegressor(random_state=0).fit(train, np.log(table.y_train))
    plain = np.exp(trees.predict(test))
    factor = float(np.mean(table.y_train) / np.mean(np.exp(trees.predict(train))))
    return min(float(root_mean_squared_error(table.y_test, each * plain)) for each in (1.0, factor))


def _with_categories(table: Table) -> tuple[pd.DataFrame, pd.DataFrame]:
    texts = [name for name in table.train if table.train[name].dtype.kind not in "iufb"]
    levels = {name: pd.CategoricalDtype(sorted(table.train[name].unique())) for name in texts}
    return table.train.astype(levels), table.test.astype(levels)


# ---------------------------------------------------------------------- tables


def _file(
    folder: str, name: str, *, target: int | str = -1, regression: bool = False, **options: Any
) -> Loader:
    def load() -> tuple[pd.DataFrame, Any]:
        table = pd.read_csv(data_file(folder, name), **options)
        table.columns = [str(column) for column in table.columns]
        column = table.columns[target] if isinstance(target, int) else target
        y = table.pop(column).to_numpy()
        return table, y.astype(np.float64) if regression else y.astype(str)

    return load


def _bikes() -> tuple[pd.DataFrame, Any]:
    with (
        zipfile.ZipFile(data_file("bike-sharing", "Bike-Sharing-Dataset.zip")) as archive,
        archive.open("hour.csv") as file,
    ):
        table = pd.read_csv(file).drop(columns=["instant", "dteday", "casual", "registered"])
    return table, table.pop("cnt").to_numpy(np.float64)


_BARE: dict[str, Any] = {"header": None}

#: Loaders of the tables.
TABLES: dict[str, Loader] = {
    "california-housing": _file(
        "california-housing", "cal_housing.data.gz", regression=True, **_BARE
    ),
    "bike-sharing": _bikes,
    "adult": _file("adult", "adult.data.gz", skipinitialspace=True, **_BARE),
    "bank-marketing": _file(
        "bank-marketing", "bank-additional-full.csv.gz", sep=None, engine="python"
    ),
    "wine-quality": _file("wine-quality", "winequality-white.csv.gz", regression=True, **_BARE),
    "abalone": _file("abalone", "abalone.data.gz", regression=True, **_BARE),
    "diamonds": _file("diamonds", "diamonds.csv.gz", target="price", regression=True),
    "higgs-7500": _file("higgs-7500", "binary.train.gz", target=0, sep="\t", **_BARE),
    "satimage": _file("satimage", "satimage.csv.gz"),
    "covtype": _file("covtype", "covtype.data.xz", nrows=50_000, **_BARE),
}
