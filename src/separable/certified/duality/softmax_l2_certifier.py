"""Duality gap of l2-penalised multinomial logistic regression.

Over weights u_k and intercepts b_k of K classes, the primal

    P = 1/2 sum_k |u_k|^2 + sum_i c_i [log sum_k e^(u_k.z_i + b_k) - (u_y.z_i + b_y)]

is bounded below, for probabilities p_i with sum_i c_i (1[y_i = k] - p_ik) = 0 for every k, by

    D = -sum_ik c_i p_ik log p_ik - 1/2 sum_k |v_k|^2,    v_k = sum_i c_i (1[y_i = k] - p_ik) z_i
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.certified.duality.certificate import Certificate
from separable.certified.duality.l2_certifier import CertifiedSolution
from separable.linalg.design_matrix import in_lines
from separable.linalg.lstsq import lstsq
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
    "certify_at_own_probabilities",
    "certify_softmax",
    "dual_points",
    "feasible_points",
    "feasible_probabilities",
    "make_feasible",
    "softmax",
]


@dataclass(frozen=True)
class RowClasses:
    """Labels and costs of the rows of one lane, and the mask of classes present."""

    y: Labels
    c: Floats
    present: NDArray[np.bool_]

    @classmethod
    def of(cls, problem: Problem, lane: Lane) -> RowClasses:
        """Return those of the training rows of a lane."""
        y, c = problem.target.astype(np.int32, copy=False), problem.costs(lane)
        return cls(y, c, totals(y, c, problem.n_classes) > 0)


def softmax(scores: Floats) -> Floats:
    """Return the softmax of each row's scores, (n, K)."""
    with np.errstate(under="ignore"):
        return np.exp(log_softmax(scores)[0])


def feasible_probabilities(problem: Problem, lane: Lane, p: NDArray[Any]) -> Floats:
    """Return feasible probabilities: in the simplex, with the class totals of the labels.

    The totals matter only with an intercept. Excess probability of a class is taken from its rows
    proportionally and moved to the classes with a deficit, in proportion to it.

    Parameters
    ----------
    problem : Problem
    lane : Lane
    p : ndarray of float32 or float64, shape (n, K)
        Rows need not sum to 1; negative and non-finite values count as 0.
    """
    rows = RowClasses.of(problem, lane)
    return make_feasible(rows, p, fit_intercept=problem.fit_intercept)


def make_feasible(rows: RowClasses, p: NDArray[Any], *, fit_intercept: bool) -> Floats:
    """Return feasible probabilities; see `feasible_probabilities`."""
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
    """Return dual points z = c (1[y = k] - p_k), (n, K), made feasible for a lane.

    0 for a lane without penalty.
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
    # 1 - p_y as the sum of the other probabilities avoids cancellation
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
    """Compute the duality gap of weights and probabilities, in float64 and from the rows alone.

    Parameters
    ----------
    problem : Problem
        With ``n_classes`` K.
    lanes : sequence of Lane
        Multinomial lanes with finite C.
    p : ndarray of float32 or float64, shape (n, k K)
        Probabilities, K columns a lane; made feasible here.
    tol : float
        The requested relative gap.
    weights : ndarray of float32 or float64, shape (d, k K), or None
        Weights to certify; None: Z'z.
    guess : ndarray, shape (k K,), or None
        Initial intercepts.

    Returns
    -------
    solution : CertifiedSolution
        ``width`` is K. A class absent from a lane has weights 0 and intercept -inf.
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
    v = problem.x.rmatvec(_in_lines(problem, dual))
    u = v
    if weights is not None:
        u = _in_lines(problem, weights if present.all() else np.where(present, weights, 0))
    scores = problem.x.matvec(u)[:, : len(present)]
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


def certify_at_own_probabilities(
    problem: Problem, lane: Lane, weights: Floats, intercept: Floats, scores: Floats, tol: float
) -> CertifiedSolution:
    """Compute the duality gap of weights and intercepts at the softmax of their own scores.

    The dual point is the softmax after a first-order change of the intercepts that makes the class
    totals those of the labels.

    Parameters
    ----------
    problem : Problem
    lane : Lane
    weights : ndarray, shape (d, K)
    intercept : ndarray, shape (K,)
        -inf for a class that is absent from the lane.
    scores : ndarray, shape (n, K)
        Of all rows, with the intercepts.
    tol : float
        The requested relative gap.
    """
    rows, K = RowClasses.of(problem, lane), problem.n_classes
    label = rows.y if rows.present.all() else np.where(rows.c > 0, rows.y, rows.present.argmax())
    label = np.ascontiguousarray(label, dtype=np.int32)
    dual = np.array(scores, dtype=np.float64, order="C")
    got, hessian, change = np.zeros(K), np.zeros((K, K)), np.zeros(K)
    loss = native.expand_softmax(label, rows.c, dual, got, hessian)
    if problem.fit_intercept:
        lacking = totals(rows.y, rows.c, K) - got
        if np.isfinite(hessian).all() and np.isfinite(lacking).all():
            change = lstsq(hessian, lacking)
    gap = native.softmax_dual_points(label, rows.c, dual, change)
    v = problem.x.rmatvec(_in_lines(problem, dual))
    u = np.ascontiguousarray(weights)
    norms = np.array(native.lane_norms(u, np.ascontiguousarray(v[:, :K]))).sum(axis=1)
    primal = loss + 0.5 * float(norms[0])
    gap += 0.5 * float(norms[2])
    certificate = Certificate(primal, primal - gap, gap, tol).times(problem.value)
    return CertifiedSolution(u, intercept, scores, [certificate], dual, K)


def _in_lines(problem: Problem, numbers: NDArray[Any]) -> NDArray[Any]:
    """Return values by lane in the memory layout of products with the rows."""
    return in_lines(numbers) if problem.rows.is_sparse else np.ascontiguousarray(numbers)


def _certificate(
    rows: RowClasses, probabilities: Floats, s: Floats, norms: Floats, tol: float
) -> Certificate:
    """Return the certificate of one lane, given |u|^2, |v|^2 and |u - v|^2."""
    used = rows.c > 0
    c, probabilities, s = rows.c[used], probabilities[used], s[used]
    norm, dual_norm, away = (0.5 * float(one) for one in norms)
    primal = float(c @ losses(rows.y[used], s)) + norm
    dual = float(c @ entropies(probabilities)) - dual_norm
    gap = float(c @ divergences(probabilities, s)) + away
    return Certificate(primal, dual, gap, tol)
