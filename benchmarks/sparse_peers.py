"""Paths of l1-penalised models by other libraries: celer, skglm, scikit-learn, LIBLINEAR.

Each is given the rows in the form it reads fastest: columns, in float64. What some leave to the
caller, centring for the intercept, is in their time. skglm and celer's own compilation is not: the
search for the tolerance runs first.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import lasso_path

from benchmarks.certified import liblinear_trainer
from benchmarks.objective_race import Entrant, Weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "by_columns",
    "celer_lasso",
    "celer_logistic",
    "centred",
    "liblinear_logistic",
    "scikit_lasso",
    "skglm_lasso",
    "skglm_logistic",
]

#: Loosest first; finer than of one fit, for a path is as good as its worst model.
LADDER = tuple(float(f"{f}e{k}") for k in range(0, -8, -1) for f in ((1,) if k == 0 else (3, 1)))
#: LIBLINEAR's solver of l1-penalised logistic regression.
L1_LOGISTIC = 6


def by_columns(X: Any) -> Any:
    """Return the rows in float64, stored by columns."""
    if sp.issparse(X):
        return sp.csc_matrix(X, dtype=np.float64)
    return np.asfortranarray(X, dtype=np.float64)


def centred(X: Any, y: Floats) -> tuple[Any, Floats, Floats, float]:
    """Return rows and targets without their means, and the means; sparse rows stay as they are."""
    mean, level = np.asarray(X.mean(axis=0)).ravel(), float(y.mean())
    return X if sp.issparse(X) else np.asfortranarray(X - mean), y - level, mean, level


def _missing(name: str) -> bool:
    missing = find_spec(name) is None
    if missing:
        print(f"{name} is not installed (extra `bench`): left out.\n")
    return missing


def _uncentred(coefs: Floats, mean: Floats, level: float) -> Weights:
    """Return weights (d, S) of centred columns with the intercepts that belong to them."""
    return Weights(coefs.T, level - mean @ coefs)


# ---------------------------------------------------------------------- squared error


def scikit_lasso(X: Any, y: Floats, alphas: Floats) -> list[Entrant]:
    """Return scikit-learn's ``lasso_path``, which computes the Gram matrix of tall data."""

    def fit(tol: float | None) -> Weights:
        Z, t, mean, level = centred(X, y)
        chosen = {} if tol is None else {"tol": tol, "max_iter": 100_000}
        _, coefs, _ = lasso_path(Z, t, alphas=alphas, **chosen)
        return _uncentred(coefs, mean, level)

    return [Entrant("scikit-learn lasso_path", fit, LADDER)]


def celer_lasso(X: Any, y: Floats, alphas: Floats) -> list[Entrant]:
    """Return celer's path, with and without pruning of its working sets."""
    if _missing("celer"):
        return []
    from celer import celer_path

    def fit(tol: float | None, prune: int) -> Weights:
        Z, t, mean, level = centred(X, y)
        chosen: dict[str, Any] = {} if tol is None else {"tol": tol, "max_iter": 1000}
        if sp.issparse(X):
            chosen |= {"X_offset": mean, "X_scale": np.ones(len(mean))}
        _, coefs, _ = celer_path(Z, t, "lasso", alphas=alphas, prune=prune, **chosen)
        return _uncentred(coefs, mean, level)

    return [
        Entrant("celer", lambda tol: fit(tol, 0), LADDER),
        Entrant("celer, pruned", lambda tol: fit(tol, 1), LADDER),
    ]


def skglm_lasso(X: Any, y: Floats, alphas: Floats) -> list[Entrant]:
    """Return skglm's path."""
    if _missing("skglm"):
        return []
    from skglm import Lasso

    def fit(tol: float | None) -> Weights:
        chosen = {} if tol is None else {"tol": tol, "max_iter": 1000}
        # every model starts from the one before: path() does so if told to
        coefs = Lasso(warm_start=True, **chosen).path(X, y, alphas)[1]
        return Weights(coefs[:-1].T, coefs[-1])

    return [Entrant("skglm", fit, LADDER)]


# ---------------------------------------------------------------------- logistic


def celer_logistic(X: Any, sign: Floats, strengths: Floats) -> list[Entrant]:
    """Return celer's path by coordinate descent and by prox-Newton; it has no intercept."""
    if _missing("celer"):
        return []
    from celer import celer_path

    def fit(tol: float | None, newton: bool) -> Weights:
        chosen: dict[str, Any] = {} if tol is None else {"tol": tol, "max_iter": 1000}
        _, coefs, _ = celer_path(X, sign, "logreg", alphas=1 / strengths, use_PN=newton, **chosen)
        return Weights(coefs.T, np.zeros(len(strengths)))

    return [
        Entrant("celer", lambda tol: fit(tol, False), LADDER, "none"),
        Entrant("celer, prox-Newton", lambda tol: fit(tol, True), LADDER, "none"),
    ]


def skglm_logistic(X: Any, sign: Floats, strengths: Floats) -> list[Entrant]:
    """Return skglm's fits, each from the one before."""
    if _missing("skglm"):
        return []
    from skglm import SparseLogisticRegression

    def fit(tol: float | None) -> Weights:
        chosen = {} if tol is None else {"tol": tol, "max_iter": 1000}
        model = SparseLogisticRegression(warm_start=True, **chosen)
        coefs, intercepts = [], []
        for C in strengths:
            model.set_params(alpha=1 / (C * len(sign))).fit(X, sign)
            coefs.append(model.coef_.ravel().copy())
            intercepts.append(float(np.ravel(model.intercept_)[0]))
        return Weights(np.array(coefs), np.array(intercepts))

    return [Entrant("skglm", fit, LADDER)]


def liblinear_logistic(X: Any, sign: Floats, strengths: Floats) -> list[Entrant]:
    """Return LIBLINEAR's fits, each from zero: with l1 it takes no start."""
    train = liblinear_trainer(X, sign)
    if train is None:
        return []

    def fit(tol: float | None) -> Weights:
        models = [train(L1_LOGISTIC, C, tol) for C in strengths]
        parts = [
            np.concatenate([getattr(m, name) for m in models]) for name in ("coef", "intercept")
        ]
        return Weights(*parts)

    return [Entrant("LIBLINEAR", fit, LADDER, "penalised", once=True)]
