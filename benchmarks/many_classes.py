"""Sixteen one-vs-rest models in the lanes of one pass against one model on the same rows."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.datasets import load_imdb, make_zipf, with_classes
from benchmarks.harness import Contender, measure_fits
from benchmarks.perceptrons import perceptrons
from benchmarks.report import Line, Section, compare, details, judge, show_seconds

if TYPE_CHECKING:
    from benchmarks.datasets import Data
    from benchmarks.harness import Measure
    from benchmarks.settings import Settings

__all__ = ["run_imdb", "run_zipf"]

CLASSES = 16


def run_imdb(settings: Settings) -> Section:
    """Run on the film reviews with planted classes."""
    return run_on(load_imdb(settings), 3.5, settings)


def run_zipf(settings: Settings) -> Section:
    """Run on the generated set with planted classes."""
    return run_on(make_zipf(settings), 2.8, settings)


def run_on(data: Data, target: float, settings: Settings) -> Section:
    """Compare 16 classes with the first of them against the rest, in both orders of rows."""
    many = with_classes(data, CLASSES)
    one = replace(many, y=(many.y == 0).astype(int), y_test=(many.y_test == 0).astype(int))
    section = Section()
    for shuffle in (True, False):
        _run_order(many, one, target, settings, section, shuffle=shuffle)
    return section


def _run_order(
    many: Data, one: Data, target: float, settings: Settings, section: Section, *, shuffle: bool
) -> None:
    ours, peer = perceptrons(settings.epochs, shuffle=shuffle)
    order = "shuffled" if shuffle else "given order"
    contenders = [
        Contender(f"separable, {CLASSES} classes", ours, many),
        Contender("separable, one class against the rest", ours, one),
        Contender(f"scikit-learn float32, {CLASSES} classes", peer, many),
    ]
    sixteen, single, theirs = measures = measure_fits(contenders, settings.repeats)
    print(f"{CLASSES} classes, {order}, {many.name}\n\n{details(measures)}")
    mistakes = [_mistakes(contender) for contender in contenders[:2]]
    print(f"\nMistakes by epoch, all models: {mistakes[0]}; the one model: {mistakes[1]}\n")
    raw = {
        "what": f"{CLASSES} classes, {order}",
        "data": many.name,
        "measures": [m.to_dict() for m in measures],
        "mistakes": mistakes,
    }
    section.add(_cost_line(sixteen, single, many, order, target, settings), raw)
    section.add(
        compare(
            "many classes", f"{CLASSES} classes, {order}", many.name, sixteen, theirs,
            target=None, judged=False,
        ),
        {},
    )  # fmt: skip


def _mistakes(contender: Contender) -> list[int]:
    """Return the mistakes of each epoch, which say how alike the two problems are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = contender.make(0).fit(contender.data.X, contender.data.y)
    return [int(count) for count in fitted.evidence_["mistakes"]]


def _cost_line(
    sixteen: Measure, single: Measure, data: Data, order: str, target: float, settings: Settings
) -> Line:
    cost = single.ratio_to(sixteen)
    return Line(
        "many classes",
        data.name,
        f"cost of {CLASSES} classes over one, {order}",
        f"{show_seconds(sixteen.time)}, {sixteen.accuracy:.1%}",
        f"one class, ours {show_seconds(single.time)}",
        cost,
        "x",
        target,
        True,
        judge(cost, target, at_most=True, judged=settings.judged),
    )
