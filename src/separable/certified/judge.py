"""Judging dual points: made feasible, certified, and turned into weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.certified.certificate import Certificate, certify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.certified.losses import Loss
    from separable.certified.problem import Lane, Problem

    Floats = NDArray[np.float64]

__all__ = ["Judgement", "feasible", "judge"]


@dataclass(frozen=True)
class Judgement:
    """Weights of lanes with their certificates.

    Parameters
    ----------
    weights : ndarray, shape (d, k)
        Of the problem's columns.
    intercept : ndarray, shape (k,)
    scores : ndarray, shape (n, k)
        Of all rows, those held out too, with the intercept.
    certificates : list of Certificate
    dual : ndarray, shape (n, k)
        The feasible dual points that prove it, with the sign of the target.
    """

    weights: Floats
    intercept: Floats
    scores: Floats
    certificates: list[Certificate]
    dual: Floats

    def lane(self, k: int) -> Judgement:
        """Return what is said of one lane."""
        one = slice(k, k + 1)
        return Judgement(
            self.weights[:, one],
            self.intercept[one],
            self.scores[:, one],
            self.certificates[one],
            self.dual[:, one],
        )

    @staticmethod
    def side_by_side(parts: Sequence[Judgement]) -> Judgement:
        """Return what is said of all lanes of several judgements."""
        if len(parts) == 1:
            return parts[0]
        return Judgement(
            np.concatenate([part.weights for part in parts], axis=1),
            np.concatenate([part.intercept for part in parts]),
            np.concatenate([part.scores for part in parts], axis=1),
            [one for part in parts for one in part.certificates],
            np.concatenate([part.dual for part in parts], axis=1),
        )


def feasible(loss: Loss, y: Floats, c: Floats, z: Floats, *, fit_intercept: bool) -> Floats:
    """Return z cut to the range of its loss and, with an intercept, with a sum of 0.

    Where the sum is not 0, the values of the heavier sign are scaled down.
    """
    z = loss.cut(y, c, z)
    if fit_intercept:
        up, down = float(z[z > 0].sum()), -float(z[z < 0].sum())
        least = min(up, down)
        if up > least:
            z = np.where(z > 0, z * (least / up), z)
        elif down > least:
            z = np.where(z < 0, z * (least / down), z)
    return z


def judge(
    problem: Problem,
    lanes: Sequence[Lane],
    z: Floats,
    tol: float,
    weights: Floats | None = None,
) -> Judgement:
    """Certify the weights of dual points, in float64 and from the rows alone.

    Parameters
    ----------
    problem : Problem
    lanes : sequence of Lane
    z : ndarray, shape (n, k)
        A dual point of each lane, with the sign of the target; made feasible here.
    tol : float
        The relative gap asked for.
    weights : ndarray, shape (d, k), or None
        Weights to certify; None: those of the dual points, Z'z.
    """
    loss, intercept = problem.loss, problem.fit_intercept
    held = [(problem.targets(lane), problem.costs(lane)) for lane in lanes]
    dual = np.empty(z.shape)
    for k, (y, c) in enumerate(held):
        dual[:, k] = feasible(loss, y, c, z[:, k], fit_intercept=intercept)
    v = problem.along(dual)
    u = v if weights is None else weights
    scores = problem.scores(u)
    found = [
        certify(
            loss, y, c, dual[:, k], v[:, k], u[:, k], scores[:, k], tol, fit_intercept=intercept
        )
        for k, (y, c) in enumerate(held)
    ]
    b = np.array([b for _, b in found])
    certificates = [certificate.times(problem.value) for certificate, _ in found]
    return Judgement(u, b, scores + b, certificates, dual)
