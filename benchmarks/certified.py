"""Certified logistic regression and SVM: one fit, to an objective, against the fastest peers."""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from benchmarks.datasets import (
    load_a9a,
    load_breast_cancer,
    load_clinc150,
    load_covtype,
    load_farm_ads,
    load_imdb,
    load_newsgroups,
    load_w8a,
    make_zipf,
    missing_is_told,
)
from benchmarks.limit import measure_bandwidth, streamed_bytes
from benchmarks.objective_race import Entrant, ObjectiveRace, Weights, objective
from benchmarks.report import Section, show_seconds
from separable import LinearSVM, LogisticRegression

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.datasets import Data
    from benchmarks.objective_race import Intercept
    from benchmarks.settings import Settings

__all__ = [
    "LADDER",
    "OPTIMUM_GAP",
    "certified_optimum",
    "liblinear_trainer",
    "peers_of",
    "run_dense",
    "run_many_classes",
    "run_not_unit_norm",
    "run_text",
    "with_ones",
]

#: Loosest first; of steps of 10, with one between where a peer's time jumps.
LADDER = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)
#: The relative gap to which the optimum itself is certified.
OPTIMUM_GAP = 1e-7


def with_ones(X: Any) -> Any:
    """Return the rows with a column of ones: its weight is a penalised intercept."""
    ones = np.ones((X.shape[0], 1), dtype=X.dtype)
    return sp.csr_matrix(sp.hstack([X, ones])) if sp.issparse(X) else np.hstack([X, ones])


def certified_optimum(loss: str, X: Any, y: Any, C: float, intercept: Intercept) -> float:
    """Return the optimum, to 1e-7."""
    if intercept == "penalised":
        X = with_ones(X)
    settings = {"fit_intercept": intercept == "free", "tol": OPTIMUM_GAP, "max_iter": 5000}
    learner: Any = LogisticRegression(C, multi_class="ovr", **settings)
    if loss != "log_loss":
        learner = LinearSVM(C, loss=loss, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it reached is printed
        certificate = learner.fit(X, y).certificate_
    print(f"  optimum, C = {C:g}, intercept {intercept}: "
          f"{certificate.primal:.6g}, relative gap {certificate.relative_gap:.0e}")  # fmt: skip
    return float(certificate.dual)


def _ours(loss: str, X: Any, y: Any, C: float) -> Entrant:
    def fit(tol: float | None) -> Weights:
        if loss == "log_loss":
            return Weights.of(LogisticRegression(C, multi_class="ovr", tol=tol).fit(X, y))
        return Weights.of(LinearSVM(C, loss=loss, tol=tol).fit(X, y))

    return Entrant("separable", fit)


def _scikit(solver: str, X: Any, y: Any, C: float, ladder: Sequence[float]) -> Entrant:
    def fit(tol: float | None) -> Weights:
        chosen = {} if tol is None else {"tol": tol, "max_iter": 1000}
        learner: Any = PeerLogistic(C=C, solver=solver, **chosen)
        if classes > 2:
            learner = OneVsRestClassifier(learner)
        return Weights.of(learner.fit(X, y))

    classes = len(np.unique(y))
    return Entrant(
        f"scikit-learn {solver}", fit, ladder, "penalised" if solver == "liblinear" else "free"
    )


def _linear_svc(loss: str, X: Any, y: Any, C: float) -> Entrant:
    def fit(tol: float | None) -> Weights:
        chosen = {} if tol is None else {"tol": tol, "max_iter": 100_000}
        return Weights.of(LinearSVC(C=C, loss=loss, dual="auto", **chosen).fit(X, y))

    return Entrant("scikit-learn LinearSVC", fit, LADDER, "penalised")


def liblinear_trainer(X: Any, y: Any) -> Callable[[int, float, float | None], Weights] | None:
    """Return LIBLINEAR's ``train(kind, C, tol)``; copying the rows to its format is not counted."""
    try:
        from liblinear.liblinear import parameter, problem
        from liblinear.liblinearutil import train
    except ImportError:
        print("LIBLINEAR is not installed (extra `bench`): left out.\n")
        return None
    classes = np.unique(y)
    numbers = np.searchsorted(classes, y).astype(float)
    copied = sp.csr_matrix(X, dtype=np.float64, copy=True)
    copied.indices = copied.indices.copy()  # it counts from 1, in place
    rows = problem(numbers, copied, bias=1)

    def fit(kind: int, C: float, tol: float | None) -> Weights:
        epsilon = "" if tol is None else f"-e {tol}"
        model = train(rows, parameter(f"-s {kind} -c {C} -B 1 -q {epsilon}"))
        k = 1 if len(classes) == 2 else len(classes)
        d = X.shape[1] + 1
        w = np.ctypeslib.as_array(model.w, (d * k,)).reshape(d, k).T.copy()
        order = np.array(model.get_labels(), dtype=int)
        w = (w if order[0] == 1 else -w) if k == 1 else w[np.argsort(order)]
        return Weights(w[:, :-1], w[:, -1])

    return fit


def _liblinear(loss: str, X: Any, y: Any, C: float) -> list[Entrant]:
    train = liblinear_trainer(X, y)
    if train is None:
        return []
    kinds = {"log_loss": {"primal": 0, "dual": 7}, "hinge": {"dual": 3}}
    return [
        Entrant(f"LIBLINEAR {name}", partial(train, kind, C), LADDER, "penalised")
        for name, kind in kinds[loss].items()
    ]


def _snap(loss: str, X: Any, y: Any, C: float) -> list[Entrant]:
    try:
        import snapml
    except ImportError:
        print("Snap ML is not installed (extra `bench`): left out.\n")
        return []
    kind = snapml.LogisticRegression if loss == "log_loss" else snapml.SupportVectorMachine

    def fit(tol: float | None) -> Weights:
        chosen = {} if tol is None else {"tol": tol, "max_iter": 10_000}
        model = kind(regularizer=1 / C, fit_intercept=True, random_state=0, **chosen)
        return Weights.of(model.fit(X, y))

    return [Entrant("Snap ML", fit, LADDER, "penalised")]


def peers_of(loss: str, data: Data, C: float, solvers: Sequence[str]) -> list[Entrant]:
    """Return the peers of a loss: scikit-learn's solvers and, of sparse rows, all others."""
    X, y = data.X, data.y
    if loss == "log_loss":
        # on raw columns each try of lbfgs takes a minute, and none comes close
        slow = () if sp.issparse(X) else ("lbfgs",)
        scikit = [
            _scikit(solver, X, y, C, LADDER[-3::2] if solver in slow else LADDER)
            for solver in solvers
        ]
    else:
        scikit = [_linear_svc(loss, X, y, C)]
    if not sp.issparse(X):
        return scikit
    classes = len(np.unique(y))
    snap = _snap(loss, X, y, C) if classes == 2 else []
    return [*scikit, *_liblinear(loss, X, y, C), *snap]


def _race(
    row: str,
    loss: str,
    data: Data,
    C: float,
    targets: dict[str, float],
    repeats: int,
    settings: Settings,
    section: Section,
    *,
    solvers: Sequence[str] = ("lbfgs", "newton-cg", "liblinear"),
    reach: float = 1e-4,
) -> None:
    X, y = data.X, data.y
    name = "logistic" if loss == "log_loss" else f"{loss.replace('_', ' ')} SVM"
    kinds: tuple[Intercept, ...] = ("free", "penalised")
    optimum = {kind: certified_optimum(loss, X, y, C, kind) for kind in kinds}
    race = ObjectiveRace(
        row,
        data.name,
        f"{name}, C = {C:g}",
        lambda found, intercept: objective(loss, X, y, C, found, intercept),
        optimum,
        reach,
        targets,
    )
    race.run(_ours(loss, X, y, C), peers_of(loss, data, C, solvers), repeats, settings, section)
    _tell_limit(loss, data, C, settings)


def _tell_limit(loss: str, data: Data, C: float, settings: Settings) -> None:
    """Print the passes of our fit beside the time that memory alone would take for them."""
    learner = (
        LogisticRegression(C, multi_class="ovr") if loss == "log_loss" else LinearSVM(C, loss=loss)
    )
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(data.X, data.y)
    seconds = time.perf_counter() - start
    passes = int(np.sum(learner.n_iter_))
    size = streamed_bytes(data) if sp.issparse(data.X) else data.X.nbytes
    least = passes * size / (measure_bandwidth(settings.copy_bytes, settings.repeats) / 2)
    print(
        f"ours: {learner.evidence_['engine']}, {passes} passes of {size / 2**20:.0f} MiB, relative "
        f"gap {learner.certificate_.relative_gap:.0e}; reading alone takes {show_seconds(least)}, "
        f"{least / seconds:.0%} of the fit\n"
    )


def run_text(settings: Settings) -> Section:
    """One fit on film reviews and on generated text: logistic and hinge."""
    section = Section()
    sets: list[tuple[Callable[[Settings], Data], list[tuple[str, float, dict[str, float]]]]] = [
        (
            load_imdb,
            [
                ("log_loss", 1.0, {"Snap ML": 4, "best": 4}),
                ("log_loss", 10.0, {"Snap ML": 4, "best": 4}),
                ("hinge", 1.0, {"LIBLINEAR dual": 3, "scikit-learn LinearSVC, default": 40}),
            ],
        ),
        (
            make_zipf,
            [
                ("log_loss", 1.0, {"best": 2}),
                ("log_loss", 10.0, {"best": 2}),
                ("log_loss", 100.0, {"best": 1}),
                ("hinge", 1.0, {"LIBLINEAR dual": 3, "scikit-learn LinearSVC, default": 40}),
            ],
        ),
    ]
    for load, fits in sets:
        with missing_is_told():
            data = load(settings)
            for loss, C, targets in fits:
                _race("one fit", loss, data, C, targets, settings.slow_repeats, settings, section)
    return section


def run_not_unit_norm(settings: Settings) -> Section:
    """Rows that are not of unit norm, where coordinate descent alone is slow."""
    section = Section()
    for load in (load_a9a, load_w8a, load_farm_ads):
        with missing_is_told():
            data = load(settings)
            few = data.X.shape[1] < 1000
            solvers = ("lbfgs", "newton-cg", *(["newton-cholesky"] if few else []), "liblinear")
            for loss in ("log_loss", "hinge"):
                for C in (1.0, 10.0):
                    _race(
                        "not of unit norm", loss, data, C, {"best": 1}, settings.slow_repeats,
                        settings, section, solvers=solvers,
                    )  # fmt: skip
    return section


def run_many_classes(settings: Settings) -> Section:
    """One model a class: 20 and 150 classes of tf-idf."""
    section = Section()
    for load in (load_newsgroups, load_clinc150):
        with missing_is_told():
            data = load(settings)
            for loss in ("log_loss", "hinge"):
                _race(
                    "one-vs-rest", loss, data, 10.0 if loss == "log_loss" else 1.0, {"best": 8},
                    settings.slow_repeats, settings, section, solvers=("liblinear", "lbfgs"),
                )  # fmt: skip
    return section


def run_dense(settings: Settings) -> Section:
    """Raw, ill-conditioned columns, to 1e-6."""
    section = Section()
    for load in (load_breast_cancer, partial(load_covtype, binary=True)):
        with missing_is_told():
            _race(
                "dense", "log_loss", load(settings).astype(np.float64), 1.0, {"best": 1},
                settings.slow_repeats, settings, section,
                solvers=("newton-cholesky", "lbfgs"), reach=1e-6,
            )  # fmt: skip
    return section
