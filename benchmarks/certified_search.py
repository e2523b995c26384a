"""A whole cross-validated search, 5 folds x 12 strengths, against a peer's and against one fit."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegressionCV as PeerCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

from benchmarks.certified import certified_optimum, peers_of
from benchmarks.datasets import load_imdb, make_zipf, missing_is_told
from benchmarks.harness import interleave, peak_growth
from benchmarks.objective_race import objective
from benchmarks.report import Line, Section, judge, markdown_table, show_seconds
from separable import LinearSVMCV, LogisticRegressionCV

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.datasets import Data
    from benchmarks.objective_race import Entrant, Intercept
    from benchmarks.settings import Settings

__all__ = ["FOLDS", "Search", "run_logistic_search", "run_svm_search"]

FOLDS = 5
LOGISTIC_STRENGTHS = np.logspace(-2, 2, 12)
SVM_STRENGTHS = np.logspace(-2, 1, 12)


def run_logistic_search(settings: Settings) -> Section:
    """Search C of logistic regression on both sets."""
    section = Section()
    for load, ahead, fits in (
        (load_imdb, 25, {"scikit-learn": 1.0, "Snap ML": 2.0}),
        (make_zipf, 5, {"scikit-learn": 4.0}),
    ):
        with missing_is_told():
            data = load(settings)  # type: ignore[operator]
            _search("log_loss", data, LOGISTIC_STRENGTHS, ahead, fits, settings, section)
    return section


def run_svm_search(settings: Settings) -> Section:
    """Search C of the hinge SVM on both sets."""
    section = Section()
    for load in (load_imdb, make_zipf):
        with missing_is_told():
            fits = {"scikit-learn LinearSVC": 3.0, "LIBLINEAR dual": 3.0}
            _search("hinge", load(settings), SVM_STRENGTHS, 10, fits, settings, section)
    return section


def _search(
    loss: str,
    data: Data,
    strengths: Any,
    ahead: float,
    fits: dict[str, float],
    settings: Settings,
    section: Section,
) -> None:
    """Search the strength of an l2 penalty, beside single fits and the peer's search."""
    cv = StratifiedKFold(FOLDS)
    kind = LogisticRegressionCV if loss == "log_loss" else LinearSVMCV
    reach = 1e-4 if loss == "log_loss" else 1e-3
    name = "logistic" if loss == "log_loss" else "hinge SVM"
    search = Search(
        f"{name} search, {FOLDS} folds x {len(strengths)} C",
        data,
        lambda n_jobs: kind(Cs=strengths, cv=cv, n_jobs=n_jobs),
        reach,
        ahead,
        fits,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        singles = _single_fits(loss, data, search.strength, reach)
        peer = _peer_search(loss, data, strengths, cv, reach)
        search.run(singles, peer, settings, section)


@dataclass
class Search:
    """One of our searches with one and with two threads, a peer's on both cores, single fits.

    Parameters
    ----------
    what : str
        As printed.
    data : Data
    make : callable
        Returns our search, not fitted, with a number of threads.
    reach : float
        The relative gap that every lane must reach.
    ahead : float
        How many times slower the peer's search is asked to be.
    fits : dict of str to float
        How many single fits of a peer, by the start of its name, a whole search of ours may take.
    """

    what: str
    data: Data
    make: Callable[[int], Any]
    reach: float
    ahead: float
    fits: dict[str, float] = field(default_factory=dict)

    def _fit(self, n_jobs: int) -> Any:
        return self.make(n_jobs).fit(self.data.X, self.data.y)

    @cached_property
    def _searched(self) -> Any:
        return self._fit(1)

    @property
    def strength(self) -> float:
        """The C that it chooses."""
        return float(self._searched.C_)

    def run(
        self,
        singles: dict[str, Callable[[], Any]],
        peer: tuple[str, Callable[[], Any]],
        settings: Settings,
        section: Section,
    ) -> None:
        """Time all, print them, and add a line for each comparison."""
        lanes = np.ravel(self._searched.certificates_path_)
        worst = max(one.relative_gap for one in lanes)
        final = self._searched.certificate_.relative_gap
        print(f"C = {self.strength:g}; relative gap: worst of {len(lanes)} lanes {worst:.0e}, "
              f"final fit {final:.0e}\n")  # fmt: skip
        names = ["separable, one thread", "separable, two threads", *singles, peer[0]]
        works = [lambda: self._fit(1), lambda: self._fit(2), *singles.values(), peer[1]]
        memory = [peak_growth(work) for work in works[:1]]
        times = interleave(
            [lambda _, work=work: work for work in works[:-1]], settings.slow_repeats
        )
        times += interleave([lambda _: works[-1]], 1)  # minutes
        seconds = [median(wall for wall, _ in each) for each in times]
        print(markdown_table(("contender", "median"), [
            [name, show_seconds(s)] for name, s in zip(names, seconds, strict=True)
        ]) + "\n")  # fmt: skip
        for label, other, value, target, at_most in self._figures(names, seconds):
            verdict = judge(value, target, at_most=at_most, judged=settings.judged)
            if worst > self.reach * 1.01:
                verdict = f"does not count: a lane is {worst:.0e} from its optimum"
            line = Line(
                "search", self.data.name, label,
                f"{show_seconds(seconds[0])} / {show_seconds(seconds[1])}", other, value, "x",
                target, at_most, verdict,
            )  # fmt: skip
            section.add(line, {"times": times, "names": names, "peak_bytes": memory, "gap": worst})

    def _figures(
        self, names: list[str], seconds: list[float]
    ) -> Iterator[tuple[str, str, float, float | None, bool]]:
        """Yield what is compared with whom, the figure, its target, whether that is a limit."""
        yield f"{self.what}, both cores", names[-1], seconds[-1] / seconds[1], self.ahead, False
        two_over_one = seconds[0] / seconds[1]
        yield f"{self.what}, two threads over one", names[0], two_over_one, 1.6, False
        for k in range(2, len(names) - 1):
            asked = next(
                (most for key, most in self.fits.items() if names[k].startswith(key)), None
            )
            share = seconds[0] / seconds[k]
            yield f"whole {self.what} over ONE fit", names[k], share, asked, True


def _single_fits(loss: str, data: Data, C: float, reach: float) -> dict[str, Callable[[], Any]]:
    """Return one fit of each peer at its loosest tolerance that reaches its optimum."""
    solvers = ("lbfgs", "newton-cg", "liblinear")
    kinds: tuple[Intercept, ...] = ("free", "penalised")
    optimum = {kind: certified_optimum(loss, data.X, data.y, C, kind) for kind in kinds}
    found: dict[str, Callable[[], Any]] = {}
    for peer in peers_of(loss, data, C, solvers):
        tol = _loosest(peer, loss, data, C, optimum[peer.intercept], reach)
        if tol is not None:
            found[f"{peer.name}, tol {tol:g}"] = lambda peer=peer, tol=tol: peer.fit(tol)
    return found


def _loosest(
    peer: Entrant, loss: str, data: Data, C: float, optimum: float, reach: float
) -> float | None:
    for tol in peer.tolerances:
        value = objective(loss, data.X, data.y, C, peer.fit(tol), peer.intercept)
        if value / optimum - 1 <= reach:
            return tol
    return None


def _peer_search(
    loss: str, data: Data, strengths: Any, cv: Any, reach: float
) -> tuple[str, Callable[[], Any]]:
    """Return scikit-learn's search on both cores, at the tolerance its single fits need."""
    C = float(np.median(strengths))
    if loss == "log_loss":
        optimum = certified_optimum(loss, data.X, data.y, C, "free")
        solver = peers_of(loss, data, C, ("lbfgs",))[0]
        tol = _loosest(solver, loss, data, C, optimum, reach) or 1e-4
        search: Any = PeerCV(
            Cs=strengths, cv=cv, solver="lbfgs", tol=tol, max_iter=10_000, n_jobs=2,
            scoring="neg_log_loss", use_legacy_attributes=False, l1_ratios=(0.0,),
        )  # fmt: skip
        return f"scikit-learn LogisticRegressionCV, lbfgs, tol {tol:g}", (
            lambda: search.fit(data.X, data.y)
        )
    optimum = certified_optimum(loss, data.X, data.y, C, "penalised")
    tol = _loosest(peers_of(loss, data, C, ())[0], loss, data, C, optimum, reach) or 1e-4
    grid = GridSearchCV(
        LinearSVC(loss="hinge", tol=tol, max_iter=100_000), {"C": strengths}, cv=cv, n_jobs=2
    )
    return f"scikit-learn GridSearchCV(LinearSVC), tol {tol:g}", (lambda: grid.fit(data.X, data.y))
