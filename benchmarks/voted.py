"""Predicting by vote: all weights of a run, beside their mean."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.datasets import load_imdb
from benchmarks.harness import interleave
from benchmarks.report import Line, Section, judge, markdown_table, show_seconds
from separable import AveragedPerceptron, VotedPerceptron
from separable._core import native

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.datasets import Data
    from benchmarks.settings import Settings

__all__ = ["run_voted"]

TARGET = 5


def run_voted(settings: Settings) -> Section:
    """Run on the film reviews."""
    return run_on(load_imdb(settings), settings)


def run_on(data: Data, settings: Settings) -> Section:
    """Predict the test rows by vote and by the mean of the same run, in turn.

    The votes multiply each row with every mistaken row; a block is as many of these as one line
    of lanes holds. The figure is the time a block takes over that of the mean.
    """
    votes = VotedPerceptron(max_iter=settings.epochs).fit(data.X, data.y)
    mean = AveragedPerceptron(max_iter=settings.epochs).fit(data.X, data.y)
    found = {"votes": votes, "mean": mean}
    for fitted in found.values():
        fitted.decision_function(data.X_test)  # untimed: prepares what is kept between calls
    times = interleave([_predict(fitted, data) for fitted in found.values()], settings.slow_repeats)
    seconds = {
        name: median(wall for wall, _ in each) for name, each in zip(found, times, strict=True)
    }
    accuracy = {name: float(each.score(data.X_test, data.y_test)) for name, each in found.items()}
    evidence, n = votes.evidence_, data.X_test.shape[0]
    blocks = evidence["stored_rows"] / native.lane_width(double_precision=True)
    ratio = seconds["votes"] / blocks / seconds["mean"]
    print(
        f"Predicting {n} rows of {data.name}: {sum(evidence['voters'])} voters, "
        f"{evidence['stored_rows']} mistaken rows ({evidence['stored_bytes'] / 2**20:.1f} MiB), "
        f"{blocks:.0f} blocks\n"
    )
    cells = [
        [name, show_seconds(seconds[name]), f"{n / seconds[name]:.3g}", f"{accuracy[name]:.2%}"]
        for name in found
    ]
    print(markdown_table(("contender", "median", "rows/s", "test"), cells) + "\n")
    line = Line(
        "voted",
        data.name,
        "predicting by vote, a block of mistakes over the mean",
        f"{show_seconds(seconds['votes'] / blocks)} a block, {n / seconds['votes']:.3g} rows/s",
        f"mean {show_seconds(seconds['mean'])}",
        ratio,
        "x",
        TARGET,
        True,
        judge(ratio, TARGET, at_most=True, judged=settings.judged),
    )
    section = Section()
    raw = {"what": line.what, "data": data.name, "seconds": seconds, "accuracy": accuracy}
    section.add(line, raw | {"blocks": blocks, "stored_bytes": evidence["stored_bytes"]})
    return section


def _predict(fitted: Any, data: Data) -> Callable[[int], Callable[[], Any]]:
    def prepare(turn: int) -> Callable[[], Any]:
        del turn
        return lambda: fitted.decision_function(data.X_test)

    return prepare
