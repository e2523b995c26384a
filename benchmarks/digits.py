"""MNIST: ten classes, one-vs-rest, dense."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.linear_model import Perceptron as PeerPerceptron

from benchmarks.datasets import load_mnist
from benchmarks.harness import Contender, fastest, measure_fits
from benchmarks.report import Section, compare, details
from separable import Perceptron

if TYPE_CHECKING:
    from typing import Any

    from benchmarks.datasets import Data
    from benchmarks.settings import Settings

__all__ = ["run_mnist"]

TARGET = 8


def run_mnist(settings: Settings) -> Section:
    """Run on the handwritten digits."""
    return run_on(load_mnist(settings), settings)


def run_on(data: Data, settings: Settings) -> Section:
    """Fit ten one-vs-rest models a side, all epochs."""

    def ours(seed: int) -> Any:
        return Perceptron(max_iter=settings.epochs, random_state=seed)

    def peer(seed: int) -> Any:
        return PeerPerceptron(
            max_iter=settings.epochs, tol=None, penalty=None, random_state=seed, n_jobs=1
        )

    measures = measure_fits(
        [
            Contender("separable float32", ours, data),
            Contender("scikit-learn float32", peer, data),
            Contender("scikit-learn float64", peer, data.astype(np.float64)),
        ],
        settings.slow_repeats,
    )
    mine, *theirs = measures
    what = "Perceptron, 10 classes one-vs-rest"
    print(f"{what}, {data.name}\n\n{details(measures)}\n")
    section = Section()
    section.add(
        compare(
            "digits", what, data.name, mine, fastest(theirs),
            target=TARGET, judged=settings.judged,
        ),
        {"what": what, "data": data.name, "measures": [m.to_dict() for m in measures]},
    )  # fmt: skip
    return section
