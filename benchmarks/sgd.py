"""SGD on the log loss against scikit-learn's: the same schedule, penalty, epochs and float type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import SGDClassifier as PeerSGD

from benchmarks.datasets import load_imdb, load_mnist, make_zipf, missing_is_told
from benchmarks.harness import Contender, fastest, measure_fits
from benchmarks.report import Section, compare, details
from separable import SGDClassifier

if TYPE_CHECKING:
    from benchmarks.datasets import Data
    from benchmarks.settings import Settings

__all__ = ["run_same_schedule", "schedules"]

TARGET = 2


@dataclass(frozen=True)
class Schedule:
    """Parameters that mean the same on both sides, and how they are printed."""

    what: str
    parameters: dict[str, Any]


def schedules(eta0: float, alpha: float) -> list[Schedule]:
    """Return the schedules for data on which the step ``eta0`` and the penalty ``alpha`` suit."""
    constant: dict[str, Any] = {"learning_rate": "constant", "eta0": eta0}
    l2: dict[str, Any] = {"penalty": "l2", "alpha": alpha}
    return [
        Schedule(f"constant step {eta0:g}", constant | {"penalty": None}),
        Schedule(f"constant step {eta0:g}, l2 {alpha:g}", constant | l2),
        Schedule(f"optimal, l2 {alpha:g}", {"learning_rate": "optimal"} | l2),
    ]


def run_same_schedule(settings: Settings) -> Section:
    """Run on the generated set, and on the reviews and the digits where their files are there."""
    section = Section()
    run_on(make_zipf(settings), schedules(1.0, 1e-6), settings.repeats, settings, section)
    for load, eta0, alpha, repeats in (
        (load_imdb, 1.0, 1e-6, settings.repeats),
        (load_mnist, 0.01, 1e-4, settings.slow_repeats),
    ):
        with missing_is_told():
            run_on(load(settings), schedules(eta0, alpha), repeats, settings, section)
    return section


def run_on(
    data: Data, choices: list[Schedule], repeats: int, settings: Settings, section: Section
) -> None:
    """Run every schedule on one set, float32 on our side, on theirs what is fastest."""
    double = data.astype(np.float64)
    for schedule in choices:
        _run_schedule(schedule, data, double, repeats, settings, section)


def _run_schedule(
    schedule: Schedule, data: Data, double: Data, repeats: int, settings: Settings, section: Section
) -> None:
    same = {"loss": "log_loss", "max_iter": settings.epochs, "tol": None} | schedule.parameters

    def ours(seed: int) -> Any:
        return SGDClassifier(**same, random_state=seed)

    def peer(seed: int) -> Any:
        return PeerSGD(**same, random_state=seed, n_jobs=1)

    mine, *theirs = measures = measure_fits(
        [
            Contender("separable float32", ours, data, probable=True),
            Contender("scikit-learn float32", peer, data, probable=True),
            Contender("scikit-learn float64", peer, double, probable=True),
        ],
        repeats,
    )
    print(f"{schedule.what}, {data.name}\n\n{details(measures)}\n")
    line = compare(
        "SGD", schedule.what, data.name, mine, fastest(theirs),
        target=TARGET, judged=settings.judged,
    )  # fmt: skip
    raw = {"what": schedule.what, "data": data.name, "measures": [m.to_dict() for m in measures]}
    section.add(line, raw)
