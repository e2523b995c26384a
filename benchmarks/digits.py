"""MNIST: ten classes, one-vs-rest, dense."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.datasets import load_mnist
from benchmarks.harness import Contender, fastest, measure_fits
from benchmarks.perceptrons import perceptrons
from benchmarks.report import Section, compare, details

if TYPE_CHECKING:
    from benchmarks.datasets import Data
    from benchmarks.settings import Settings

__all__ = ["run_mnist"]

TARGET = 8


def run_mnist(settings: Settings) -> Section:
    """Run on the handwritten digits."""
    return run_on(load_mnist(settings), settings)


def run_on(data: Data, settings: Settings) -> Section:
    """Fit ten one-vs-rest models a side, all epochs; in the given order both learn the same."""
    section, double = Section(), data.astype(np.float64)
    for shuffle in (True, False):
        _run_order(data, double, settings, section, shuffle=shuffle)
    return section


def _run_order(
    data: Data, double: Data, settings: Settings, section: Section, *, shuffle: bool
) -> None:
    ours, peer = perceptrons(settings.epochs, shuffle=shuffle)
    contenders = [
        Contender("separable float32", ours, data),
        Contender("scikit-learn float32", peer, data),
        Contender("scikit-learn float64", peer, double),
    ]
    # without shuffling every turn learns the same, and the line carries no target
    mine, *theirs = measures = measure_fits(contenders, settings.slow_repeats if shuffle else 1)
    what = f"Perceptron, 10 classes one-vs-rest, {'shuffled' if shuffle else 'given order'}"
    print(f"{what}, {data.name}\n\n{details(measures)}\n")
    target = TARGET if shuffle else None
    line = compare(
        "digits", what, data.name, mine, fastest(theirs), target=target, judged=settings.judged
    )
    raw = {"what": what, "data": data.name, "measures": [m.to_dict() for m in measures]}
    section.add(line, raw)
