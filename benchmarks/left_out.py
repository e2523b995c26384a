"""Leave-one-out of certified learners from one fit, beside n fits, of which a share is made."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import ElasticNet as TheirNet
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.svm import LinearSVC

from benchmarks.report import Line, Section, markdown_table, show_seconds
from separable import ElasticNet, LinearSVM, LogisticRegression
from separable.select import leave_one_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.settings import Settings

    Floats = NDArray[np.float64]

__all__ = ["run_left_out"]

COLUMNS = 20
#: Of the rows of a table of numbers, one in so many is left out.
SHARE = 20
#: Rows without which models are fitted; the time of n fits is n times their median.
FITS = 15


def run_left_out(settings: Settings) -> Section:
    """Time all rows from one fit, and some fits without a row by us and by scikit-learn."""
    n = max(FITS, settings.table_rows // SHARE)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, COLUMNS))
    truth = X @ (rng.normal(size=COLUMNS) * (np.arange(COLUMNS) < 10)) + 2 * rng.normal(size=n)
    section = Section()
    for ours, theirs in (
        (LogisticRegression(), TheirLogistic()),
        (LinearSVM(loss="squared_hinge"), LinearSVC(dual=False)),
        (LinearSVM(), LinearSVC(loss="hinge", max_iter=100_000)),
        (ElasticNet(0.1), TheirNet(0.1)),
    ):
        y = truth if isinstance(ours, ElasticNet) else (truth > 0).astype(np.int64)
        _run_learner(ours, theirs, X, y, section)
    return section


def _run_learner(ours: Any, theirs: Any, X: Floats, y: NDArray[Any], section: Section) -> None:
    start = perf_counter()
    found = leave_one_out(ours, X, y, approximate=True)
    seconds = perf_counter() - start
    predictions = found.predictions if found.decision_scores is None else found.decision_scores
    rows = np.random.default_rng(1).permutation(len(y))[:FITS]
    exact, each = _fits(ours, X, y, rows)
    _, each_of_theirs = _fits(theirs, X, y, rows)
    off = np.abs(predictions[rows] - exact)
    n, many = len(y), [len(y) * each, len(y) * each_of_theirs]
    data = f"{n} x {COLUMNS}"
    cells = [
        ["one fit", show_seconds(seconds), "1", f"{np.median(off):.1e}", f"{off.max():.1e}"],
        [f"n fits, {FITS} made", show_seconds(many[0]), f"{many[0] / seconds:.0f}", "", ""],
        [f"scikit-learn, {FITS} made", show_seconds(many[1]), f"{many[1] / seconds:.0f}", "", ""],
    ]
    print(f"{ours}, {data}, {found.n_refits} rows refitted, {len(found.doubtful)} in doubt\n")
    print(
        markdown_table(("how", "seconds", "times ours", "typical error", "largest"), cells) + "\n"
    )
    for name, total in zip(("n fits", f"scikit-learn {type(theirs).__name__}"), many, strict=True):
        line = Line(
            "leave-one-out", data, repr(ours), show_seconds(seconds),
            f"{name} {show_seconds(total)}", total / seconds, "x", None, False, "-",
        )  # fmt: skip
        raw = {"seconds": seconds, "fits": many, "errors": off.tolist(), "rows": rows.tolist()}
        section.add(line, raw | {"data": data, "refits": found.n_refits})


def _fits(learner: Any, X: Floats, y: NDArray[Any], rows: NDArray[Any]) -> tuple[Floats, float]:
    """Return the predictions for some rows, each by a fit to all others, and the median time."""
    predictions, times = [], []
    for row in rows:
        others = np.arange(len(y)) != row
        X_train, y_train = X[others], y[others]
        start = perf_counter()
        model = clone(learner).fit(X_train, y_train)
        times.append(perf_counter() - start)
        ask = getattr(model, "decision_function", model.predict)
        predictions.append(float(ask(X[row : row + 1])[0]))
    return np.array(predictions), median(times)
