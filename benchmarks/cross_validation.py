"""Cross-validation of least squares from sums, beside k fits."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.model_selection import cross_validate as peer_cross_validate

from benchmarks.harness import interleave, peak_growth
from benchmarks.report import Line, Section, markdown_table, show_seconds
from separable import LeastSquares
from separable.select import cross_validate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from benchmarks.settings import Settings

__all__ = ["run_cross_validation"]

COLUMNS, FOLDS = 100, 5
#: Scores further apart are not those of the same models.
AGREE = 1e-8


@dataclass(frozen=True)
class Side:
    """One way to the scores of all folds."""

    name: str
    scores: Callable[[], NDArray[np.float64]]


def run_cross_validation(settings: Settings) -> Section:
    """Time five folds, shuffled and in the order of the rows, in all ways in turn."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(settings.table_rows, COLUMNS))
    y = X @ rng.normal(size=COLUMNS) + 5 * rng.normal(size=len(X))
    section = Section()
    for shuffle in (False, True):
        cv = KFold(FOLDS, shuffle=shuffle, random_state=0 if shuffle else None)
        _run_order(X, y, cv, settings, section, "shuffled" if shuffle else "given order")
    return section


def _run_order(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    cv: KFold,
    settings: Settings,
    section: Section,
    order: str,
) -> None:
    def peer(estimator: Any) -> Callable[[], NDArray[np.float64]]:
        return lambda: peer_cross_validate(estimator, X, y, cv=cv, scoring="r2")["test_score"]

    sides = [
        Side("separable", lambda: cross_validate(LeastSquares(), X, y, cv, "r2").scores["r2"]),
        # as good as no penalty, and the fastest of scikit-learn's exact solvers
        Side("scikit-learn Ridge(1e-8, cholesky)", peer(Ridge(alpha=1e-8, solver="cholesky"))),
        Side("scikit-learn LinearRegression", peer(LinearRegression())),
        Side("one fit of ours", lambda: np.array([LeastSquares().fit(X, y).evidence_["r2"]])),
    ]
    scores: dict[int, NDArray[np.float64]] = {}
    peaks = [peak_growth(side.scores) for side in sides]
    times = interleave(
        [lambda _, side=side: side.scores for side in sides],
        settings.slow_repeats,
        lambda which, answer: scores.update({which: answer}),
    )
    seconds = [median(wall for wall, _ in run) for run in times]
    apart = max(float(np.abs(scores[k] - scores[0]).max()) for k in (1, 2))
    data = f"{len(X)} x {COLUMNS}, {FOLDS} folds, {order}"
    cells = [
        [
            side.name,
            show_seconds(seconds[k]),
            f"{seconds[k] / seconds[0]:.2f}",
            "-" if peaks[k] is None else f"{peaks[k] / 2**20:.0f} MiB",
            f"{scores[k].mean():.6f}",
        ]
        for k, side in enumerate(sides)
    ]
    print(data + "\n")
    print(markdown_table(("contender", "median", "times ours", "peak memory", "mean R2"), cells))
    print(f"\nScores of folds differ by at most {apart:.1e}.\n")
    verdict = "-" if apart <= AGREE else "does not count: other scores"
    for k in (1, 2):
        line = Line(
            "cross-validation", data, "all folds, scored", show_seconds(seconds[0]),
            f"{sides[k].name} {show_seconds(seconds[k])}", seconds[k] / seconds[0], "x",
            None, False, verdict,
        )  # fmt: skip
        raw = {"seconds": [[wall for wall, _ in run] for run in times], "peaks": peaks}
        section.add(line, raw | {"data": data, "apart": apart, "names": [s.name for s in sides]})
