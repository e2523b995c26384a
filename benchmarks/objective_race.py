"""Convex learners to an objective: a time counts when its own optimum is reached to 1e-4.

Peers may have another objective, for some penalise the intercept or have none. So each is judged
against the certified optimum of its own, at the loosest of its tolerances that gets there, and once
more at its defaults, whatever these reach. Of a path every model must get there.
"""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from benchmarks.harness import interleave, peak_growth
from benchmarks.report import Line, judge, markdown_table, show_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.report import Section
    from benchmarks.settings import Settings

__all__ = ["Entrant", "Intercept", "ObjectiveRace", "Weights", "objective"]

#: So many times slower than the quickest peer, before it is close enough, a peer is left out.
HOPELESS = 10.0
#: What an objective does with b: learns it freely, penalises it as a weight, has none.
Intercept = Literal["free", "penalised", "none"]


@dataclass(frozen=True)
class Weights:
    """What a contender found: weights (k, d) and intercepts (k,), of classes or of a path.

    ``seconds`` are its wall and processor time where another process tells them.
    """

    coef: Any
    intercept: Any
    seconds: tuple[float, float] | None = None

    @classmethod
    def of(cls, fitted: Any) -> Weights:
        """Return those of a fitted estimator."""
        if hasattr(fitted, "estimators_"):  # scikit-learn's OneVsRestClassifier
            parts = [cls.of(one) for one in fitted.estimators_]
            return cls(
                np.concatenate([part.coef for part in parts]),
                np.concatenate([part.intercept for part in parts]),
            )
        coef = np.atleast_2d(np.asarray(fitted.coef_, dtype=np.float64))
        return cls(coef, np.broadcast_to(np.ravel(fitted.intercept_), len(coef)).astype(float))


def objective(
    loss: str, X: Any, y: Any, C: float, found: Weights, intercept: Intercept = "free"
) -> float:
    """Return 1/2 |w|^2 + C sum of losses, over all models; softmax: of classes together."""
    scores = np.asarray(X @ found.coef.T, dtype=np.float64) + found.intercept
    classes = np.unique(y)
    if loss == "softmax":
        own = np.take_along_axis(scores, np.searchsorted(classes, y)[:, None], axis=1)[:, 0]
        losses = np.logaddexp.reduce(scores, axis=1) - own
        return 0.5 * float((found.coef**2).sum()) + C * float(losses.sum())
    if len(classes) == 2:
        sign = np.where(y == classes[1], 1.0, -1.0)[:, None]
    else:
        sign = np.where(np.asarray(y)[:, None] == classes, 1.0, -1.0)
    margin = sign * scores
    if loss == "log_loss":
        losses = np.logaddexp(0.0, -margin)
    else:
        losses = np.maximum(0.0, 1.0 - margin) ** (2 if loss == "squared_hinge" else 1)
    penalty = 0.5 * float((found.coef**2).sum())
    if intercept == "penalised":
        penalty += 0.5 * float((found.intercept**2).sum())
    return penalty + C * float(losses.sum())


@dataclass(frozen=True)
class Entrant:
    """One side of a race.

    Parameters
    ----------
    name : str
        As printed.
    fit : callable
        ``fit(tol)`` does what is timed and returns ``Weights``; None is its default tolerance.
    tolerances : sequence of float
        Loosest first; the first that reaches the objective is timed. Empty: defaults only.
    intercept : {"free", "penalised", "none"}
        Which objective it has.
    once : bool
        A run takes minutes, or another process: it is timed once, its memory is not measured.
    """

    name: str
    fit: Callable[[float | None], Weights]
    tolerances: Sequence[float] = ()
    intercept: Intercept = "free"
    once: bool = False


@dataclass
class ObjectiveRace:
    """What is raced for.

    Parameters
    ----------
    row, data, what : str
        Which benchmark, on what, doing what.
    value : callable
        The objective of weights, ``value(weights, intercept)``; of a path, of each model.
    optimum : dict of str to float or ndarray
        The certified optimum of each objective, by its intercept.
    reach : float
        The relative distance to the optimum within which a time counts.
    targets : dict of str to float
        How many times slower an entrant is asked to be, "best" for the fastest that counts.
    """

    row: str
    data: str
    what: str
    value: Callable[[Weights, Intercept], Any]
    optimum: dict[Intercept, Any]
    reach: float = 1e-4
    targets: dict[str, float] = field(default_factory=dict)

    def run(
        self,
        ours: Entrant,
        peers: Sequence[Entrant],
        repeats: int,
        settings: Settings,
        section: Section,
    ) -> None:
        """Find the tolerances, run all in turn, and add a line for each peer and for the best."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runs = [(ours, None), *self._calibrated(peers)]
            memory = [None if e.once else peak_growth(lambda e=e, t=t: e.fit(t)) for e, t in runs]
            times, excess = self._timed(runs, repeats)
        seconds = [median(wall for wall, _ in each) for each in times]
        cpu = [median(used for _, used in each) for each in times]
        cells = [
            [
                _label(e, t),
                show_seconds(seconds[k]),
                show_seconds(cpu[k]),
                "-" if memory[k] is None else f"{memory[k] / 2**20:.0f} MiB",  # type: ignore[operator]
                f"{excess[k]:.1e}",
            ]
            for k, (e, t) in enumerate(runs)
        ]
        print(f"{self.what}, {self.data}\n")
        headings = ("contender", "median", "CPU", "peak memory", "above its optimum")
        print(markdown_table(headings, cells) + "\n")
        counts = [k for k in range(1, len(runs)) if excess[k] <= self.reach]
        best = min(counts, key=lambda k: seconds[k], default=None)
        for k in range(1, len(runs)):
            entrant, tol = runs[k]
            target = self.targets.get(
                entrant.name if tol is not None else f"{entrant.name}, default"
            )
            if k == best and "best" in self.targets:
                target = max(target or 0.0, self.targets["best"])
            ratio = seconds[k] / seconds[0]
            verdict = judge(ratio, target, at_most=False, judged=settings.judged)
            if excess[0] > self.reach:
                verdict = f"does not count: ours is {excess[0]:.1e} above the optimum"
            elif target is not None and excess[k] > self.reach and tol is not None:
                verdict = f"peer is {excess[k]:.1e} above its optimum"
            line = Line(
                self.row, self.data, self.what + (" (best peer)" if k == best else ""),
                f"{show_seconds(seconds[0])}, {excess[0]:.0e}",
                f"{_label(entrant, tol)} {show_seconds(seconds[k])}, {excess[k]:.0e}",
                ratio, "x", target, False, verdict,
            )  # fmt: skip
            raw = {"times": times[k], "ours": times[0], "peak_bytes": [memory[0], memory[k]]}
            section.add(line, raw | {"excess": [excess[0], excess[k]]})

    def _timed(
        self, runs: Sequence[tuple[Entrant, float | None]], repeats: int
    ) -> tuple[list[list[tuple[float, float]]], list[float]]:
        """Return the times of all runs and how far each ended above its optimum."""
        times: list[list[tuple[float, float]]] = [[] for _ in runs]
        excess = [math.inf] * len(runs)
        for once, turns in ((False, repeats), (True, 1)):
            places = [k for k, (e, _) in enumerate(runs) if e.once is once]

            def note(which: int, found: Weights, places: list[int] = places) -> None:
                excess[places[which]] = self._excess(runs[places[which]][0], found)

            works = [lambda _, run=runs[k]: lambda: run[0].fit(run[1]) for k in places]
            for k, each in zip(places, interleave(works, turns, note), strict=True):
                times[k] = each
        return times, excess

    def _calibrated(self, peers: Sequence[Entrant]) -> list[tuple[Entrant, float | None]]:
        """Return each peer with its loosest tolerance that counts, and with its default.

        A peer that is far too slow at a tolerance that is too loose is left out: it cannot be best.
        """
        runs: list[tuple[Entrant, float | None]] = []
        quickest = math.inf
        for peer in peers:
            if peer.tolerances and not peer.once:
                peer.fit(peer.tolerances[0])  # some compile themselves
            for tol in peer.tolerances:
                start = time.process_time()
                found = peer.fit(tol)
                took = found.seconds[1] if found.seconds else time.process_time() - start
                excess = self._excess(peer, found)
                if excess <= self.reach:
                    quickest = min(quickest, took)
                    runs += [(peer, tol), (peer, None)]
                    break
                if took > HOPELESS * quickest:
                    print(f"{_label(peer, tol)} takes {show_seconds(took)} and ends {excess:.0e} "
                          "above its optimum: left out.\n")  # fmt: skip
                    break
            else:
                if peer.tolerances:
                    print(f"{peer.name} comes within {self.reach:g} at none of its tolerances.\n")
                runs.append((peer, None))
        return runs

    def _excess(self, entrant: Entrant, found: Weights) -> float:
        optimum = np.asarray(self.optimum[entrant.intercept])
        value = np.asarray(self.value(found, entrant.intercept))
        worst = float((value / optimum - 1.0).max())
        return worst if np.isfinite(worst) else math.inf


def _label(entrant: Entrant, tol: float | None) -> str:
    return f"{entrant.name}, default" if tol is None else f"{entrant.name}, tol {tol:g}"
