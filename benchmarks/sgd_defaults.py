"""SGD at the defaults of both sides: CPU time of a fit, beside the held-out loss that it reaches.

The sets are those of the everyday tables and freshly generated ones, dense and sparse. A line has
a ratio of CPU times. It counts only if our held-out loss is at most the peer's, but for 0.5 %.
"""

from __future__ import annotations

import warnings
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import linear_model
from sklearn.datasets import make_classification, make_regression

import separable
from benchmarks.datasets import Data, make_zipf
from benchmarks.everyday import RAW_SETS, SETS, scores_of, tables
from benchmarks.harness import interleave
from benchmarks.race import SLACK
from benchmarks.report import Line, Section, judge, markdown_table, show_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.settings import Settings

__all__ = ["held_out_loss", "run_sgd_defaults"]

TARGET = 1.5
#: Tasks of the everyday sets: targets of a regression may be whole numbers.
TASKS = {name: task for name, (task, _) in (SETS | RAW_SETS).items()}
HEADINGS = ("loss", "CPU", "peer", "ratio", "epochs", "its", "held-out loss", "its")


def held_out_loss(fitted: Any, X: Any, y: Any, loss: str) -> float:
    """Return the mean loss of rows, over one-vs-rest models."""
    scores = scores_of(fitted, X)
    if loss == "squared_error":
        return float(np.square(scores[:, 0] - y).mean() / 2)
    label = np.searchsorted(fitted.classes_, y)
    positive = [1] if scores.shape[1] == 1 else range(scores.shape[1])
    margins = scores * np.stack([np.where(label == k, 1.0, -1.0) for k in positive], axis=1)
    losses = np.maximum(0, 1 - margins) if loss == "hinge" else np.logaddexp(0, -margins)
    return float(losses.mean())


def run_sgd_defaults(settings: Settings) -> Section:
    """Fit both sides on every set and loss."""
    section = Section()
    for data in _sets(settings):
        is_regression = data.y.dtype.kind == "f" or TASKS.get(data.name) == "regression"
        losses = ("squared_error",) if is_regression else ("hinge", "log_loss")
        rows = [_run_loss(data, loss, settings, section) for loss in losses]
        print(markdown_table(HEADINGS, rows) + "\n", flush=True)
    return section


def _sets(settings: Settings) -> Iterator[Data]:
    """Yield the sets."""
    for sets in (SETS, RAW_SETS):
        for data, _ in tables(settings, sets):
            yield data
    if settings.only:
        return
    for rows, columns, classes in ((4_000, 10, 2), (800, 100, 2), (20_000, 30, 5)):
        made = partial(make_classification, rows, columns, n_informative=columns // 2)
        yield _halves(f"{rows} x {columns} x {classes}", *made(n_classes=classes, random_state=1))
    for rows, columns, noise in ((4_000, 20, 50.0), (20_000, 10, 10.0)):
        X, y = make_regression(rows, columns, noise=noise, random_state=1)
        yield _halves(f"{rows} x {columns}, regression", X, y / y.std())
    print("zipf\n")
    yield make_zipf(settings)


def _halves(name: str, X: Any, y: Any) -> Data:
    half = len(y) // 2
    print(f"{name}: {half} rows, {X.shape[1]} columns\n")
    return Data(name, X[:half], y[:half], X[half:], y[half:])


def _run_loss(data: Data, loss: str, settings: Settings, section: Section) -> list[str]:
    module_pair = (separable, linear_model)
    name = "SGDRegressor" if loss == "squared_error" else "SGDClassifier"
    held: tuple[list[float], list[float]] = ([], [])
    epochs = [0, 0]

    def note(which: int, fitted: Any) -> None:
        held[which].append(held_out_loss(fitted, data.X_test, data.y_test, loss))
        epochs[which] = int(fitted.n_iter_)

    def side(module: Any) -> Callable[[int], Callable[[], Any]]:
        kind = getattr(module, name)
        return lambda turn: partial(kind(loss=loss, random_state=turn).fit, data.X, data.y)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in module_pair:
            side(module)(0)()
        times = interleave([side(module) for module in module_pair], settings.repeats, note)
    cpu = [median(turn[1] for turn in each) for each in times]
    ours, peer = map(median, held)
    ratio = cpu[1] / cpu[0]
    reached = ours <= (1 + SLACK) * peer
    verdict = judge(ratio, TARGET, at_most=False, judged=settings.judged)
    section.add(
        Line("sgd-defaults", data.name, loss, f"{show_seconds(cpu[0])}, {ours:.4f}",
             f"scikit-learn {show_seconds(cpu[1])}, {peer:.4f}", ratio if reached else None, "x",
             TARGET, False, verdict if reached else "loss not reached"),
        {"times": times, "held_out": held},
    )  # fmt: skip
    return [
        loss, show_seconds(cpu[0]), show_seconds(cpu[1]), f"{ratio:.2f}", f"{epochs[0]}",
        f"{epochs[1]}", f"{ours:.4f}", f"{peer:.4f}{'' if reached else ' not reached'}",
    ]  # fmt: skip
