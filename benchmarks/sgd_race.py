"""SGD to the same held-out log loss: ours as it comes against scikit-learn's best settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sklearn.linear_model import SGDClassifier as PeerSGD
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.datasets import load_a9a, load_covtype, load_imdb, missing_is_told
from benchmarks.harness import Contender
from benchmarks.race import Race
from benchmarks.report import Section
from separable import SGDClassifier

if TYPE_CHECKING:
    from benchmarks.datasets import Data
    from benchmarks.settings import Settings

__all__ = ["ours_by_epochs", "run_time_to_loss"]

TARGET = 3
#: The most epochs of ours.
MOST_EPOCHS = 10


@dataclass(frozen=True)
class Grid:
    """Scikit-learn's settings on one set: around the best that a wide search found there.

    Parameters
    ----------
    settings : tuple of (float, bool, tuple of int)
        Constant step, whether weights are averaged, the epochs tried.
    scaled : bool
        Whether the columns are standardised first, in its time.
    """

    settings: tuple[tuple[float, bool, tuple[int, ...]], ...]
    scaled: bool = False


# The wide search, plain and averaged: constant steps a factor 3 to 10 apart, without penalty and on
# the sparse sets with l2 1e-6; "optimal" with l2 1e-6 and 1e-5; up to 20 epochs on the sparse sets,
# 5 on covtype with two classes and 2 with seven. The settings here are its best and those beside.
A9A = Grid(
    (
        (0.003, False, (3, 5)),
        (0.01, False, (1, 2, 3)),
        (0.01, True, (1, 2, 5)),
        (0.03, True, (1, 2, 3)),
        (0.1, True, (1, 2)),
    )
)
IMDB = Grid(
    (
        (1.0, False, (5, 10)),
        (2.0, False, (3, 5)),
        (3.0, False, (2, 3, 5)),
        (5.0, False, (1, 2, 3)),
        (3.0, True, (5, 10)),
    )
)
COVTYPE_BINARY = Grid(
    (
        (1e-4, False, (1, 2, 3)),
        (3e-4, True, (1, 2)),
        (1e-3, True, (1, 2, 5)),
        (3e-3, True, (1, 2)),
    ),
    scaled=True,
)
COVTYPE = Grid(
    (
        (1e-3, False, (1, 2)),
        (3e-3, True, (2,)),
        (0.01, True, (1, 2, 3)),
        (0.03, True, (1, 2)),
    ),
    scaled=True,
)


def run_time_to_loss(settings: Settings) -> Section:
    """Race on every set; the larger ones with fewer repeats."""
    section = Section()
    often, seldom = settings.repeats, settings.slow_repeats
    for load, grid, repeats in (
        (load_a9a, A9A, often),
        (load_imdb, IMDB, often),
        (partial(load_covtype, binary=True), COVTYPE_BINARY, seldom),
        (partial(load_covtype, binary=False), COVTYPE, seldom),
    ):
        with missing_is_told():
            race_on(load(settings), grid, repeats, settings, section)
    return section


def race_on(data: Data, grid: Grid, repeats: int, settings: Settings, section: Section) -> None:
    """Race on one set, in float32: ours on raw columns, scikit-learn's as the grid says."""
    tuned = [
        _peer(
            f"scikit-learn, step {eta0:g}{', averaged' if average else ''}",
            data,
            scaled=grid.scaled,
            learning_rate="constant",
            eta0=eta0,
            average=average,
            penalty=None,
            tol=None,
            max_iter=epochs,
        )
        for eta0, average, choices in grid.settings
        for epochs in choices
    ]
    defaults = [_peer("scikit-learn's defaults", data, scaled=grid.scaled)]
    Race("SGD to a loss", ours_by_epochs(data), tuned, defaults, TARGET).run(
        repeats, settings, section
    )


def ours_by_epochs(data: Data) -> list[Contender]:
    """Return ours with its defaults but for the loss, for 1, 2, 3, ... epochs."""

    def after(epochs: int) -> Contender:
        return Contender(
            "separable's defaults",
            lambda seed: SGDClassifier("log_loss", max_iter=epochs, tol=None, random_state=seed),
            data,
            probable=True,
        )

    return [after(epochs) for epochs in range(1, MOST_EPOCHS + 1)]


def _peer(name: str, data: Data, *, scaled: bool, **parameters: Any) -> Contender:
    def make(seed: int) -> Any:
        learner = PeerSGD(loss="log_loss", random_state=seed, n_jobs=1, **parameters)
        return make_pipeline(StandardScaler(), learner) if scaled else learner

    return Contender(f"{name}{', scaled' if scaled else ''}", make, data, probable=True)
