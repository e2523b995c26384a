"""Everyday tables at equal objective, and prediction.

In the first block both sides have come equally near to the optimum of their own problem: the peer
runs with each of its solvers at the loosest tolerance that leaves an excess no larger than ours,
and the fastest of these counts. In the second block both sides predict one row and all held-out
rows with models of the same classes.
"""

from __future__ import annotations

import warnings
from functools import partial
from math import exp, log
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmarks.everyday import accepted, excess, optima, tables
from benchmarks.harness import interleave
from benchmarks.report import Line, Section, judge, markdown_table, show_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.datasets import Data
    from benchmarks.everyday import Pair
    from benchmarks.settings import Settings

__all__ = ["run_equal", "run_predict"]

#: Excesses below this are rounding, and count as equal.
ROUNDING = 1e-9
#: Tolerances of the peer, from loose to tight, and the most iterations it may take.
TOLERANCES = [10.0**-k for k in range(1, 11)]
MOST_ITERATIONS = 10_000
#: Solvers of the peer beside its default, dense and sparse rows.
SOLVERS = {"LogisticRegression": (["lbfgs", "newton-cholesky"], ["lbfgs", "newton-cg", "sag"])}
#: Every row is asked to be as fast as the peer, as in the first block of everyday tables.
EQUAL = 1.0
#: Predictions are repeated until a turn takes about this many seconds.
TURN = 0.02


def run_equal(settings: Settings) -> Section:
    """Fit every pair that has an objective; the peer at its best setting that reaches ours."""
    section, ratios = Section(), []
    for data, pairs in tables(settings):
        rows = []
        for pair in pairs:
            if pair.objective_ours is None:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                row, ratio = _run_pair(pair, data, settings, section)
            rows.append(row)
            ratios += [] if ratio is None else [ratio]
        headings = ("learner", "CPU", "peer", "ratio", "excess", "peer's", "peer's setting")
        print(markdown_table(headings, rows) + "\n", flush=True)
    mean = exp(sum(map(log, ratios)) / len(ratios)) if ratios else 0.0
    print(f"Geometric mean of the ratios at equal objective: {mean:.2f}\n")
    return section


def _run_pair(
    pair: Pair, data: Data, settings: Settings, section: Section
) -> tuple[list[str], float | None]:
    assert pair.objective_ours is not None
    ours = pair.ours().fit(data.X, data.y)
    best, best_peer = optima(pair, data)
    reached = excess(pair.objective_ours(ours, data.X, data.y), best)
    settled = list(_reaching(pair, data, best_peer, max(reached, ROUNDING)))
    sides = [pair.ours, *(partial(pair.peer, **setting) for setting, _ in settled)]
    times = interleave([partial(_prepare, side, data) for side in sides], settings.repeats)
    cpu = [median(turn[1] for turn in side) for side in times]
    if not settled:
        line = [pair.name, show_seconds(cpu[0]), "-", "-", f"{reached:.0e}", "-", "not reached"]
        return line, None
    at = int(np.argmin(cpu[1:]))
    ratio, (setting, theirs) = cpu[1 + at] / cpu[0], settled[at]
    verdict = judge(ratio, EQUAL, at_most=False, judged=settings.judged)
    section.add(
        Line("everyday-equal", data.name, pair.name, show_seconds(cpu[0]),
             f"scikit-learn {show_seconds(cpu[1 + at])}", ratio, "x", EQUAL, False, verdict),
        {"times": times, "settings": [str(setting) for setting, _ in settled]},
    )  # fmt: skip
    shown = ", ".join(
        f"{k}={v:g}" if k == "tol" else f"{v}" for k, v in setting.items() if k != "max_iter"
    )
    return [
        pair.name, show_seconds(cpu[0]), show_seconds(cpu[1 + at]), f"{ratio:.2f}",
        f"{reached:.0e}", f"{theirs:.0e}", shown or "solved directly",
    ], ratio  # fmt: skip


def _prepare(make: Callable[..., Any], data: Data, turn: int) -> Callable[[], Any]:
    del turn
    return lambda: make().fit(data.X, data.y)


def _reaching(
    pair: Pair, data: Data, best: float, limit: float
) -> Iterator[tuple[dict[str, Any], float]]:
    """Yield for each solver of the peer its loosest setting that reaches an excess."""
    objective = pair.objective_peer
    assert objective is not None
    solvers = SOLVERS.get(pair.name, ([None], [None]))[sp.issparse(data.X)]
    for solver in solvers:
        chosen = {} if solver is None else {"solver": solver}
        for tol in TOLERANCES:
            setting = accepted(pair.peer, {**chosen, "tol": tol, "max_iter": MOST_ITERATIONS})
            fitted = pair.peer(**setting).fit(data.X, data.y)
            theirs = excess(objective(fitted, data.X, data.y), best)
            if theirs <= limit:
                yield setting, theirs
                break


# ---------------------------------------------------------------------- prediction


def run_predict(settings: Settings) -> Section:
    """Predict one row and all held-out rows, by models of both sides."""
    section = Section()
    for data, pairs in tables(settings):
        rows = []
        for pair in pairs:
            if pair.name.endswith("CV"):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = [side().fit(data.X, data.y) for side in (pair.ours, pair.peer)]
            for method in ("predict", "predict_proba"):
                if all(hasattr(each, method) for each in fitted):
                    rows += [
                        _time_prediction(pair.name, method, X, fitted, data.name, settings, section)
                        for X in (data.X_test[:1], data.X_test)
                    ]
        headings = ("learner", "method", "rows", "CPU", "peer", "ratio")
        print(markdown_table(headings, rows) + "\n", flush=True)
    return section


def _time_prediction(
    name: str,
    method: str,
    X: Any,
    fitted: list[Any],
    data: str,
    settings: Settings,
    section: Section,
) -> list[str]:
    calls = [getattr(each, method) for each in fitted]
    first = interleave([lambda _, call=call: partial(call, X) for call in calls], 2)
    times = max(1, int(TURN / max(turn[-1][0] for turn in first)))

    def prepare(call: Callable[[Any], Any], turn: int) -> Callable[[], Any]:
        del turn

        def work() -> None:
            for _ in range(times):
                call(X)

        return work

    measured = interleave([partial(prepare, call) for call in calls], settings.repeats)
    cpu = [median(turn[1] for turn in side) / times for side in measured]
    ratio = cpu[1] / cpu[0]
    what = f"{name}.{method}, {X.shape[0]} rows"
    verdict = judge(ratio, EQUAL, at_most=False, judged=settings.judged)
    section.add(
        Line("everyday-predict", data, what, show_seconds(cpu[0]),
             f"scikit-learn {show_seconds(cpu[1])}", ratio, "x", EQUAL, False, verdict),
        {"times": measured},
    )  # fmt: skip
    shown = [show_seconds(each) for each in cpu]
    return [name, method, str(X.shape[0]), *shown, f"{ratio:.2f}"]
