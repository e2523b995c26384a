"""Metrics of a server in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from separable.serve.served_model import ServedModel, Warned

__all__ = ["Metrics"]

#: Upper bounds of the histogram of seconds.
BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
#: Name and help of each counter.
COUNTERS = {
    "requests_total": "Requests by path and status.",
    "rows_total": "Rows predicted.",
    "refused_total": "Requests refused, by status.",
    "reloads_total": "Model files loaded again, by result.",
    "column_values_total": (
        "Values that a policy answered: missing, unseen, out of range, unconvertible."
    ),
}

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counters and the histogram of the time of requests."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[str, Counter[Labels]] = {name: Counter() for name in COUNTERS}
        self._times = [0] * (len(BOUNDS) + 1)
        self._seconds = 0.0

    def count(self, name: str, by: int = 1, **labels: str) -> None:
        """Add to a counter of `COUNTERS`."""
        with self._lock:
            self._counts[name][tuple(labels.items())] += by

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self.count("requests_total", path=route, status=str(status))
        if status >= 400:
            self.count("refused_total", status=str(status))
        with self._lock:
            self._times[bisect_left(BOUNDS, seconds)] += 1
            self._seconds += seconds

    def predicted(self, model: str, rows: int, warnings: Iterable[Warned]) -> None:
        """Count the rows of a request, and what was unusual in them."""
        self.count("rows_total", rows, model=model)
        for each in warnings:
            self.count(
                "column_values_total", each.count, model=model, column=each.column, kind=each.kind
            )

    def text(self, models: Iterable[ServedModel]) -> str:
        """Return all metrics, with the mean contribution of each column of each model."""
        with self._lock:
            lines = [line for name in COUNTERS for line in self._counter_lines(name)]
            lines += self._histogram_lines()
        lines += _model_lines(list(models))
        return "\n".join(lines) + "\n"

    def _counter_lines(self, name: str) -> Iterator[str]:
        yield f"# HELP separable_{name} {COUNTERS[name]}"
        yield f"# TYPE separable_{name} counter"
        for labels, value in self._counts[name].items():
            yield f"separable_{name}{_labelled(labels)} {value}"

    def _histogram_lines(self) -> Iterator[str]:
        name, total = "separable_request_seconds", 0
        yield f"# HELP {name} Time of requests, from the complete request to the answer."
        yield f"# TYPE {name} histogram"
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self._times, strict=True):
            total += count
            yield f'{name}_bucket{{le="{bound}"}} {total}'
        yield f"{name}_sum {self._seconds:.9g}"
        yield f"{name}_count {total}"


def _model_lines(models: list[ServedModel]) -> Iterator[str]:
    yield "# HELP separable_model_info Models that are served, with the hash of their file."
    yield "# TYPE separable_model_info gauge"
    for served in models:
        labels = (("model", served.name), ("version", served.version), ("sha256", served.digest))
        yield f"separable_model_info{_labelled(labels)} 1"
    name = "separable_column_mean_contribution"
    yield f"# HELP {name} Mean contribution of a column to a score, in training and since then."
    yield f"# TYPE {name} gauge"
    for served in models:
        yield from _contribution_lines(name, served)


def _contribution_lines(name: str, served: ServedModel) -> Iterator[str]:
    """Yield the mean contributions of one model, of training rows and of the rows answered."""
    classes = served.model.classes
    labels = [""] if classes is None or len(classes) <= 2 else map(str, classes.tolist())
    scores = list(labels)
    training = {each.name: each.mean for each in served.statistics.values()}
    for when, means in (("training", training), ("served", served.sums.mean_contributions())):
        for column, values in means.items():
            for label, value in zip(scores, values, strict=False):
                own = (("model", served.name), ("version", served.version), ("column", column))
                score = (("score", label),) if label else ()
                yield f"{name}{_labelled((*own, *score, ('rows', when)))} {float(value):.9g}"


def _labelled(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
