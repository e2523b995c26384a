"""A whole cross-validated search, 5 folds x 12 strengths, against a peer's and against one fit."""

from __future__ import annotations

import warnings
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
    from collections.abc import Callable

    from benchmarks.datasets import Data
    from benchmarks.objective_race import Entrant
    from benchmarks.settings import Settings

__all__ = ["run_logistic_search", "run_svm_search"]

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
    """Time our search with one and two threads, the peer's on both cores, and single fits."""
    cv = StratifiedKFold(FOLDS)
    kind = LogisticRegressionCV if loss == "log_loss" else LinearSVMCV
    reach = 1e-4 if loss == "log_loss" else 1e-3

    def ours(n_jobs: int) -> Callable[[], Any]:
        return lambda: kind(Cs=strengths, cv=cv, n_jobs=n_jobs).fit(data.X, data.y)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        searched = ours(1)()
        worst = max(one.relative_gap for one in np.ravel(searched.certificates_path_))
        final = searched.certificate_.relative_gap
        print(f"C = {searched.C_:g}; relative gap: worst of {len(strengths) * FOLDS} lanes "
              f"{worst:.0e}, final fit {final:.0e}\n")  # fmt: skip
        singles = _single_fits(loss, data, float(searched.C_), reach)
        peer = _peer_search(loss, data, strengths, cv, reach)
        names = ["separable, one thread", "separable, two threads", *singles, peer[0]]
        works = [ours(1), ours(2), *singles.values(), peer[1]]
        memory = [peak_growth(work) for work in works[:1]]
        times = interleave(
            [lambda _, work=work: work for work in works[:-1]], settings.slow_repeats
        )
        times += interleave([lambda _: works[-1]], 1)  # minutes
    seconds = [median(wall for wall, _ in each) for each in times]
    print(markdown_table(("contender", "median"), [
        [name, show_seconds(s)] for name, s in zip(names, seconds, strict=True)
    ]) + "\n")  # fmt: skip
    name = "logistic" if loss == "log_loss" else "hinge SVM"
    what = f"{name} search, {FOLDS} folds x {len(strengths)} C"
    counts = worst <= reach * 1.01
    lines: list[tuple[str, str, float, float | None, bool]] = [
        (f"{what}, both cores", names[-1], seconds[-1] / seconds[1], ahead, False),
        (f"{what}, two threads over one", names[0], seconds[0] / seconds[1], 1.6, False),
    ]
    for k, single in enumerate(singles, start=2):
        asked = next((most for key, most in fits.items() if single.startswith(key)), None)
        lines.append((f"whole {what} over ONE fit", single, seconds[0] / seconds[k], asked, True))
    for label, other, value, target, at_most in lines:
        verdict = judge(value, target, at_most=at_most, judged=settings.judged)
        if not counts:
            verdict = f"does not count: a lane is {worst:.0e} from its optimum"
        line = Line(
            "search", data.name, label,
            f"{show_seconds(seconds[0])} / {show_seconds(seconds[1])}", other, value, "x",
            target, at_most, verdict,
        )  # fmt: skip
        section.add(line, {"times": times, "names": names, "peak_bytes": memory, "gap": worst})


def _single_fits(loss: str, data: Data, C: float, reach: float) -> dict[str, Callable[[], Any]]:
    """Return one fit of each peer at its loosest tolerance that reaches its optimum."""
    solvers = ("lbfgs", "newton-cg", "liblinear")
    optimum = {
        penalised: certified_optimum(loss, data.X, data.y, C, penalised_intercept=penalised)
        for penalised in (False, True)
    }
    found: dict[str, Callable[[], Any]] = {}
    for peer in peers_of(loss, data, C, solvers):
        tol = _loosest(peer, loss, data, C, optimum[peer.penalised_intercept], reach)
        if tol is not None:
            found[f"{peer.name}, tol {tol:g}"] = lambda peer=peer, tol=tol: peer.fit(tol)
    return found


def _loosest(
    peer: Entrant, loss: str, data: Data, C: float, optimum: float, reach: float
) -> float | None:
    for tol in peer.tolerances:
        value = objective(
            loss, data.X, data.y, C, peer.fit(tol), penalised_intercept=peer.penalised_intercept
        )
        if value / optimum - 1 <= reach:
            return tol
    return None


def _peer_search(
    loss: str, data: Data, strengths: Any, cv: Any, reach: float
) -> tuple[str, Callable[[], Any]]:
    """Return scikit-learn's search on both cores, at the tolerance its single fits need."""
    C = float(np.median(strengths))
    if loss == "log_loss":
        optimum = certified_optimum(loss, data.X, data.y, C, penalised_intercept=False)
        solver = peers_of(loss, data, C, ("lbfgs",))[0]
        tol = _loosest(solver, loss, data, C, optimum, reach) or 1e-4
        search: Any = PeerCV(
            Cs=strengths, cv=cv, solver="lbfgs", tol=tol, max_iter=10_000, n_jobs=2,
            scoring="neg_log_loss", use_legacy_attributes=False, l1_ratios=(0.0,),
        )  # fmt: skip
        return f"scikit-learn LogisticRegressionCV, lbfgs, tol {tol:g}", (
            lambda: search.fit(data.X, data.y)
        )
    optimum = certified_optimum(loss, data.X, data.y, C, penalised_intercept=True)
    tol = _loosest(peers_of(loss, data, C, ())[0], loss, data, C, optimum, reach) or 1e-4
    grid = GridSearchCV(
        LinearSVC(loss="hinge", tol=tol, max_iter=100_000), {"C": strengths}, cv=cv, n_jobs=2
    )
    return f"scikit-learn GridSearchCV(LinearSVC), tol {tol:g}", (lambda: grid.fit(data.X, data.y))
