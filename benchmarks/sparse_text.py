"""Sparse text: both perceptrons against scikit-learn's, shuffled and in the given order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import Perceptron as PeerPerceptron
from sklearn.linear_model import SGDClassifier

from benchmarks.datasets import load_imdb, make_zipf
from benchmarks.harness import Contender, fastest, measure_fits
from benchmarks.report import Section, compare, details
from separable import AveragedPerceptron, Perceptron

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.datasets import Data
    from benchmarks.settings import Settings

__all__ = ["run_imdb", "run_zipf"]


@dataclass(frozen=True)
class Contest:
    """Ours against one peer with the same epochs, and at the peer's own defaults if given."""

    what: str
    ours: Callable[[int], Any]
    peer: Callable[[int], Any]
    target: float | None
    peer_defaults: Callable[[int], Any] | None = None


def contests(epochs: int) -> list[Contest]:
    """Return the contests; each peer runs all epochs, without penalty or early stop."""
    same: dict[str, Any] = {"max_iter": epochs, "tol": None, "penalty": None}
    averaged: dict[str, Any] = {
        "loss": "perceptron",
        "average": True,
        "learning_rate": "constant",
        "eta0": 1.0,
    }
    return [
        Contest(
            "Perceptron, shuffled",
            lambda seed: Perceptron(max_iter=epochs, random_state=seed),
            lambda seed: PeerPerceptron(**same, random_state=seed, n_jobs=1),
            2,
            lambda seed: PeerPerceptron(random_state=seed),
        ),
        Contest(
            "Perceptron, given order",
            lambda _: Perceptron(max_iter=epochs, shuffle=False),
            lambda _: PeerPerceptron(**same, shuffle=False, n_jobs=1),
            4,
        ),
        Contest(  # on sparse rows theirs moves b by a hundredth; without b both learn the same w
            "Perceptron, given order, no intercept",
            lambda _: Perceptron(max_iter=epochs, shuffle=False, fit_intercept=False),
            lambda _: PeerPerceptron(**same, shuffle=False, fit_intercept=False, n_jobs=1),
            None,
        ),
        Contest(
            "AveragedPerceptron, shuffled",
            lambda seed: AveragedPerceptron(max_iter=epochs, random_state=seed),
            lambda seed: SGDClassifier(**averaged, **same, random_state=seed, n_jobs=1),
            5,
            lambda seed: SGDClassifier(loss="perceptron", average=True, random_state=seed),
        ),
    ]


def run_imdb(settings: Settings) -> Section:
    """Run on the film reviews."""
    return run_on(load_imdb(settings), settings)


def run_zipf(settings: Settings) -> Section:
    """Run on the generated set, which needs no file."""
    return run_on(make_zipf(settings), settings)


def run_on(data: Data, settings: Settings) -> Section:
    """Run every contest on one set, float32 on our side, on theirs what is fastest."""
    rows, features = data.X.shape
    print(f"{data.name}: {rows} x {features}, {data.nonzeros / rows:.1f} non-zeros a row\n")
    section, double = Section(), data.astype(np.float64)
    for contest in contests(settings.epochs):
        _run_contest(contest, data, double, settings, section)
    return section


def _run_contest(
    contest: Contest, data: Data, double: Data, settings: Settings, section: Section
) -> None:
    contenders = [
        Contender("separable float32", contest.ours, data),
        Contender("scikit-learn float32", contest.peer, data),
        Contender("scikit-learn float64", contest.peer, double),
    ]
    if contest.peer_defaults is not None:
        contenders.append(Contender("scikit-learn's defaults", contest.peer_defaults, data))
    ours, *peers = measures = measure_fits(contenders, settings.repeats)
    print(f"{contest.what}, {data.name}\n\n{details(measures)}\n")
    peer = fastest(peers[:2])
    raw = {"what": contest.what, "data": data.name, "measures": [m.to_dict() for m in measures]}
    section.add(
        compare(
            "sparse text", contest.what, data.name, ours, peer,
            target=contest.target, judged=settings.judged,
        ),
        raw,
    )  # fmt: skip
    for defaults in peers[2:]:
        line = compare(
            "sparse text", contest.what, data.name, ours, defaults, target=None, judged=False
        )
        section.add(line, {"what": f"{contest.what}, peer's defaults", "data": data.name})
