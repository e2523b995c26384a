"""Judging models of all classes together: probabilities made feasible, certified, as weights.

Over weights u_k and intercepts b_k of K classes,

    P = 1/2 sum_k |u_k|^2 + sum_i c_i [log sum_k e^(u_k.z_i + b_k) - (u_y.z_i + b_y)]

is at least, for probabilities p_i of each row with sum_i c_i (1[y_i = k] - p_ik) = 0 for every k,

    D = -sum_ik c_i p_ik log p_ik - 1/2 sum_k |v_k|^2,    v_k = sum_i c_i (1[y_i = k] - p_ik) z_i
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.certified.duality.certificate import Certificate
from separable.certified.duality.l2_certifier import CertifiedSolution
from separable.certified.problem import in_lines
from separable.losses.softmax import (
    best_intercepts,
    divergences,
    entropies,
    log_softmax,
    losses,
    totals,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.certified.problem import Lane, Problem
    from separable.typing import Floats

    Labels = NDArray[np.int32]

__all__ = [
    "RowClasses",
    "certify_softmax",
    "dual_points",
    "feasible_points",
    "feasible_probabilities",
    "make_feasible",
    "softmax",
]


@dataclass(frozen=True)
class RowClasses:
    """The rows of one lane: their classes and costs, and which classes they have."""

    y: Labels
    c: Floats
    present: NDArray[np.bool_]

    @classmethod
    def of(cls, problem: Problem, lane: Lane) -> RowClasses:
        """Take them from the rows that are not held out."""
        y, c = problem.target.astype(np.int32, copy=False), problem.costs(lane)
        return cls(y, c, totals(y, c, problem.n_classes) > 0)


def softmax(scores: Floats) -> Floats:
    """Return the softmax of each row's scores, (n, K)."""
    with np.errstate(under="ignore"):
        return np.exp(log_softmax(scores)[0])


def feasible_probabilities(problem: Problem, lane: Lane, p: NDArray[Any]) -> Floats:
    """Return probabilities in the simplex that, with an intercept, give each class its cost.

    What classes are given too much is taken from their rows in proportion, and goes to those that
    are given too little, in proportion to what they lack.

    Parameters
    ----------
    problem : Problem
    lane : Lane
    p : ndarray of float32 or float64, shape (n, K)
        Rows need no sum of 1; what is negative or not finite counts as 0.
    """
    rows = RowClasses.of(problem, lane)
    return make_feasible(rows, p, fit_intercept=problem.fit_intercept)


def make_feasible(rows: RowClasses, p: NDArray[Any], *, fit_intercept: bool) -> Floats:
    """Return probabilities made feasible, as `feasible_probabilities` says."""
    probabilities = np.where(rows.present & np.isfinite(p), np.maximum(p, 0.0), 0.0).astype(
        np.float64
    )
    total = probabilities @ np.ones(probabilities.shape[1])
    empty = np.flatnonzero(total <= 0)
    probabilities[empty, rows.y[empty]] = 1.0
    total[empty] = 1.0
    probabilities /= total[:, None]
    if not fit_intercept:
        return probabilities
    wanted = totals(rows.y, rows.c, len(rows.present))
    got = rows.c @ probabilities
    kept = np.minimum(1.0, np.divide(wanted, got, out=np.ones_like(got), where=got > 0))
    lacking = np.maximum(wanted - got * kept, 0.0)
    if lacking.sum() > 0:
        left = probabilities @ (1.0 - kept)
        probabilities *= kept
        probabilities += left[:, None] * (lacking / lacking.sum())
    return probabilities


def feasible_points(problem: Problem, lane: Lane, z: Floats) -> Floats:
    """Return dual points z = c (1[y = k] - p_k), (n, K), whose p are made feasible for a lane.

    Without a penalty, 0.
    """
    rows = RowClasses.of(problem, lane)
    if not np.isfinite(lane.C):
        return np.zeros_like(z)
    p = -np.divide(z, rows.c[:, None], out=np.zeros_like(z), where=rows.c[:, None] > 0)
    p[np.arange(len(p)), rows.y] += 1.0
    return dual_points(rows, make_feasible(rows, p, fit_intercept=problem.fit_intercept))


def dual_points(rows: RowClasses, probabilities: Floats) -> Floats:
    """Return the dual points z = c (1[y = k] - p_k) of probabilities, (n, K)."""
    z = -probabilities
    index = np.arange(len(z))
    # 1 - p_y as the sum of the others keeps the digits of rows that are almost sure
    z[index, rows.y] = 0.0
    z[index, rows.y] = -(z @ np.ones(z.shape[1]))
    z *= rows.c[:, None]
    return z


def certify_softmax(
    problem: Problem,
    lanes: Sequence[Lane],
    p: NDArray[Any],
    tol: float,
    weights: NDArray[Any] | None = None,
    guess: Floats | None = None,
) -> CertifiedSolution:
    """Certify the weights of probabilities, in float64 and from the rows alone.

    Parameters
    ----------
    problem : Problem
        With ``n_classes`` K.
    lanes : sequence of Lane
        Of all classes together, with finite strengths.
    p : ndarray of float32 or float64, shape (n, k K)
        The probabilities of each row, K columns a lane; made feasible here.
    tol : float
        The relative gap asked for.
    weights : ndarray of float32 or float64, shape (d, k K), or None
        Weights to certify; None: those of the dual points, Z'z.
    guess : ndarray, shape (k K,), or None
        Intercepts that may be near the best ones.

    Returns
    -------
    solution : Judgement
        ``width`` is K. A class without rows in a lane has weights of 0 and the intercept -inf.
    """
    K = problem.n_classes
    rows = [RowClasses.of(problem, lane) for lane in lanes]
    probabilities = [
        make_feasible(one, p[:, k * K : (k + 1) * K], fit_intercept=problem.fit_intercept)
        for k, one in enumerate(rows)
    ]
    dual = np.concatenate(
        [dual_points(*pair) for pair in zip(rows, probabilities, strict=True)], axis=1
    )
    present = np.concatenate([one.present for one in rows])
    v = problem.rmatvec(_in_lines(problem, dual))
    u = v
    if weights is not None:
        u = _in_lines(problem, weights if present.all() else np.where(present, weights, 0))
    scores = problem.matvec(u)[:, : len(present)]
    scores[:, ~present] = -np.inf
    norms = np.array(native.lane_norms(u, v))[:, : len(present)]
    intercept, certificates = np.zeros(len(present)), []
    for k, one in enumerate(rows):
        columns = slice(k * K, (k + 1) * K)
        b = np.where(one.present, 0.0, -np.inf)
        if problem.fit_intercept:
            near = None if guess is None else guess[columns]
            b = best_intercepts(one.y, scores[:, columns], one.c, near)
            scores[:, columns] += np.where(one.present, b, 0.0)
        intercept[columns] = b
        certificate = _certificate(
            one, probabilities[k], scores[:, columns], norms[:, columns].sum(axis=1), tol
        )
        certificates.append(certificate.times(problem.value))
    return CertifiedSolution(u[:, : len(present)], intercept, scores, certificates, dual, K)


def _in_lines(problem: Problem, numbers: NDArray[Any]) -> NDArray[Any]:
    """Return numbers by lane as products with the problem's rows like them."""
    return in_lines(numbers) if problem.rows.is_sparse else np.ascontiguousarray(numbers)


def _certificate(
    rows: RowClasses, probabilities: Floats, s: Floats, norms: Floats, tol: float
) -> Certificate:
    """Return the certificate of one lane, of which |u|^2, |v|^2 and |u - v|^2 are known."""
    used = rows.c > 0
    c, probabilities, s = rows.c[used], probabilities[used], s[used]
    norm, dual_norm, away = (0.5 * float(one) for one in norms)
    primal = float(c @ losses(rows.y[used], s)) + norm
    dual = float(c @ entropies(probabilities)) - dual_norm
    gap = float(c @ divergences(probabilities, s)) + away
    return Certificate(primal, dual, gap, tol)
