"""Judging weights of least squares with an elastic net, from the rows and in float64."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from separable._core import native
from separable.certified.certificate import Certificate
from separable.certified.judge import Judgement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.problem import Problem

    Floats = NDArray[np.float64]

__all__ = ["judge_squares"]


def judge_squares(problem: Problem, alphas: Floats, weights: Floats, tol: float) -> Judgement:
    """Certify weights of the columns as they came, each with the best intercept.

    Parameters
    ----------
    problem : Problem
        With the rows to learn from, and no folds.
    alphas : ndarray, shape (k,)
    weights : ndarray, shape (k, d)
    tol : float
        The relative gap asked for.

    Returns
    -------
    Judgement
        Its dual points are s weight (y - w.x - b) / W, times ``problem.value``.
    """
    penalty, scale = problem.penalty, problem.columns.scale
    d = problem.rows.n_features
    scale = np.ones(d) if scale is None else scale
    y = np.asarray(problem.target, dtype=np.float64)
    share = np.full(len(y), 1.0) if problem.weight is None else problem.weight
    share = (share / share.sum())[:, None]
    u = np.divide(weights, scale, out=np.zeros_like(weights), where=scale > 0)
    scores = problem.scores(u.T)
    rest = y[:, None] - scores
    b = (share * rest).sum(axis=0) if problem.fit_intercept else np.zeros(len(alphas))
    rest -= b
    unit = math.ldexp(1.0, math.frexp(float(np.abs(rest).max(initial=0.0)) or 1.0)[1])
    dual = share * (rest / unit)
    products = np.ascontiguousarray(problem.along(dual).T)
    found = np.empty((len(alphas), 3))
    with np.errstate(over="ignore"):
        native.elastic_net_gaps(
            np.ascontiguousarray(u / unit), products, (dual * (rest / unit)).sum(axis=0),
            np.full(d, math.sqrt(problem.value)), np.full(d, problem.value),
            penalty.positive, alphas * penalty.l1_ratio / unit, alphas * (1 - penalty.l1_ratio),
            found,
        )  # fmt: skip
    certificates = [
        Certificate(primal, primal - gap, gap, tol).times(unit).times(unit)
        for primal, gap, _ in found.tolist()
    ]
    point = dual * (found[:, 2] * unit / problem.value)
    return Judgement(np.ascontiguousarray(u.T), b, scores + b, certificates, point)
