"""Lanes over partitions: certificates against NumPy, weights against those in memory."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import logsumexp, softmax

from separable import LinearSVM, LinearSVR, LogisticRegression
from separable.certified.partitioned.lane_problem import LaneProblem, column_sums
from separable.certified.partitioned.quasi_newton import PartitionedOptions, solve_lanes
from separable.certified.partitioned.summed_certificate import PublishedLanes, certify_lanes
from separable.certified.partitioned.summed_objective import LanePoint
from separable.certified.problem import TOGETHER, Lane
from separable.data.rows import as_rows
from separable.losses.loss import (
    HINGE,
    LOGISTIC,
    SQUARED_HINGE,
    Loss,
    epsilon_insensitive,
)
from separable.statistics.partitions import Batch, InMemoryPartitions

TOL = 1e-6


def table(n: int = 400, d: int = 5, classes: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d)) * np.arange(1, d + 1) + 7.0
    scores = (X - 7.0) @ rng.standard_normal((d, classes)) + 2.0 * rng.standard_normal((n, classes))
    return X, scores.argmax(axis=1).astype(np.int32)


def partitions(X: Any, y: Any, n: int = 3, **more: Any) -> InMemoryPartitions:
    whole = Batch(as_rows(X), y, **more)
    cuts = np.linspace(0, len(y), n + 1).astype(int)
    return InMemoryPartitions([whole.slice(*pair) for pair in pairwise(cuts)])


def solved(
    data: InMemoryPartitions, loss: Loss, lanes: list[Lane], classes: int = 0, **more: Any
) -> tuple[PublishedLanes, LaneProblem]:
    folds = 1 + max((lane.fold for lane in lanes), default=0)
    sums = column_sums(data, classes, max(1, folds))
    is_sparse = data.batches[0].rows.is_sparse
    problem = LaneProblem.prepare(sums, loss, lanes, is_sparse=is_sparse, n_classes=classes)
    unit = 1.0 if classes else math.sqrt(float(sums["y_squares"][0] / sums["weight"][0]))
    point, _ = solve_lanes(data, problem, PartitionedOptions(tol=TOL, **more), unit=unit)
    return certify_lanes(data, problem, point, TOL), problem


def primal(loss: Loss, X: Any, y: Any, c: Any, w: Any, b: Any) -> float:
    """Return the objective of one lane, written again."""
    s = X @ w + b
    if w.shape[1] > 1:
        terms = logsumexp(s, axis=1) - s[np.arange(len(y)), y]
    elif loss.is_regression:
        terms = np.maximum(np.abs(y - s[:, 0]) - loss.epsilon, 0.0)
    else:
        margin = np.where(y == 1, 1.0, -1.0) * s[:, 0]
        terms = {
            "log_loss": np.logaddexp(0.0, -margin),
            "hinge": np.maximum(0.0, 1.0 - margin),
            "squared_hinge": np.maximum(0.0, 1.0 - margin) ** 2,
        }[loss.name]
    return float(c @ terms + 0.5 * (w * w).sum())


LEARNERS = {
    "log_loss": (LOGISTIC, lambda C: LogisticRegression(C=C, tol=1e-9)),
    "hinge": (HINGE, lambda C: LinearSVM(C=C, loss="hinge", tol=1e-9)),
    "squared_hinge": (SQUARED_HINGE, lambda C: LinearSVM(C=C, loss="squared_hinge", tol=1e-9)),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("max_newton_size", [100, 2], ids=["newton", "lbfgs"])
def test_binary_lanes_are_those_in_memory(name: str, max_newton_size: int) -> None:
    if name == "hinge" and max_newton_size == 2:
        pytest.skip("few rows on the margin: see test_hinge_of_many_rows")
    loss, make = LEARNERS[name]
    X, y = table()
    lanes = [Lane(0.01), Lane(1.0)]
    found, _ = solved(partitions(X, y), loss, lanes, 2, max_newton_size=max_newton_size)
    for k, lane in enumerate(lanes):
        proof, w, b = found.certificates[k], found.weights[:, [k]], found.intercept[k]
        assert proof.converged
        here = primal(loss, X, y, np.full(len(y), lane.C), w, b)
        assert here == pytest.approx(proof.primal, rel=1e-12)
        other = make(lane.C).fit(X, y)
        assert proof.dual <= other.certificate_.primal
        assert other.certificate_.dual <= proof.primal
        away = float(np.linalg.norm(w[:, 0] - other.coef_.ravel()))
        assert away <= proof.distance + other.certificate_.distance


def test_folds_are_lanes() -> None:
    X, y = table()
    fold = (np.arange(len(y)) % 4).astype(np.int32)
    lanes = [Lane(0.5, 1, k) for k in range(4)]
    found, _ = solved(partitions(X, y, fold=fold), LOGISTIC, lanes, 2)
    for k, lane in enumerate(lanes):
        train = fold != lane.fold
        other = LogisticRegression(C=0.5, tol=1e-9).fit(X[train], y[train])
        away = float(np.linalg.norm(found.weights[:, k] - other.coef_[0]))
        assert found.certificates[k].converged
        assert away <= found.certificates[k].distance + other.certificate_.distance


def test_softmax_lanes_are_those_in_memory() -> None:
    X, y = table(classes=3)
    found, _ = solved(partitions(X, y), LOGISTIC, [Lane(1.0, TOGETHER)], 3)
    (proof,) = found.certificates
    assert proof.converged
    here = primal(LOGISTIC, X, y, np.ones(len(y)), found.weights, found.intercept)
    assert here == pytest.approx(proof.primal, rel=1e-12)
    other = LogisticRegression(C=1.0, tol=1e-9).fit(X, y)
    away = float(np.linalg.norm(found.weights.T - other.coef_))
    assert away <= proof.distance + other.certificate_.distance


def test_hinge_of_many_rows() -> None:
    X, y = table(20_000)
    found, _ = solved(partitions(X, y), HINGE, [Lane(1.0)], 2)
    assert found.certificates[0].converged


def test_epsilon_insensitive_lanes_are_those_in_memory() -> None:
    X, _ = table()
    rng = np.random.default_rng(1)
    y = X @ np.arange(5.0) + rng.standard_normal(len(X))
    loss = epsilon_insensitive(0.3)
    found, _ = solved(partitions(X, y), loss, [Lane(0.1)])
    (proof,) = found.certificates
    assert proof.converged
    here = primal(loss, X, y, np.full(len(y), 0.1), found.weights, found.intercept)
    assert here == pytest.approx(proof.primal, rel=1e-12)
    other = LinearSVR(C=0.1, epsilon=0.3, tol=1e-9).fit(X, y)
    assert proof.dual <= other.certificate_.primal
    assert other.certificate_.dual <= proof.primal


def moved(data: InMemoryPartitions, problem: LaneProblem) -> LanePoint:
    """Return a point close to the optimum whose dual point needs a repair."""
    point, _ = solve_lanes(data, problem, PartitionedOptions())
    return LanePoint(1.01 * point.u, point.b + 0.02 * np.arange(1, 1 + len(point.b)))


def dual_of_logistic(X: Any, y: Any, c: float, z: Any) -> float:
    """Return the dual value at a point made feasible by scaling the heavier sign."""
    below, above = -z[z < 0].sum(), z[z > 0].sum()
    z = np.where(z > 0, z * min(1.0, below / above), z * min(1.0, above / below))
    a = np.abs(z) / c
    v = X.T @ z
    entropy = -(a * np.log(a) + (1 - a) * np.log1p(-a)).sum()
    return float(c * entropy - 0.5 * v @ v)


def test_the_gap_far_from_the_optimum_is_that_of_an_oracle() -> None:
    X, y = table()
    data = partitions(X, y, 4)
    sums = column_sums(data, 2, 1)
    problem = LaneProblem.prepare(sums, LOGISTIC, [Lane(0.01)], is_sparse=False)
    found = certify_lanes(data, problem, moved(data, problem), TOL)
    (proof,) = found.certificates
    sign = np.where(y == 1, 1.0, -1.0)
    s = X @ found.weights[:, 0] + found.intercept[0]
    z = sign / (1.0 + np.exp(sign * s))
    dual = dual_of_logistic(X - X.mean(axis=0), y, 0.01, 0.01 * z)
    assert not proof.converged
    assert proof.dual == pytest.approx(dual, rel=1e-9)
    assert proof.gap >= proof.primal - dual - 1e-9 * proof.primal


def test_softmax_gap_far_from_the_optimum_holds() -> None:
    X, y = table(classes=3)
    data = partitions(X, y, 4)
    sums = column_sums(data, 3, 1)
    problem = LaneProblem.prepare(
        sums, LOGISTIC, [Lane(0.01, TOGETHER)], is_sparse=False, n_classes=3
    )
    found = certify_lanes(data, problem, moved(data, problem), TOL)
    (proof,) = found.certificates
    # the repair, written again with dense arrays
    p = softmax(X @ found.weights + found.intercept, axis=1)
    one = np.eye(3)[y]
    keep = np.minimum(1.0, one.sum(axis=0) / p.sum(axis=0))
    lacking = np.maximum(one.sum(axis=0) - p.sum(axis=0) * keep, 0.0)
    left = (p * (1.0 - keep)).sum(axis=1)
    p = p * keep + left[:, None] * lacking / lacking.sum()
    np.testing.assert_allclose(p.sum(axis=0), one.sum(axis=0), rtol=1e-12)
    v = 0.01 * (X - X.mean(axis=0)).T @ (one - p)
    dual = float(-0.01 * (p * np.log(p)).sum() - 0.5 * (v * v).sum())
    assert proof.dual == pytest.approx(dual, rel=1e-9)


def test_sparse_rows_and_weights() -> None:
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((300, 12)) < 0.3, rng.standard_normal((300, 12)), 0.0)
    y = (dense @ rng.standard_normal(12) + rng.standard_normal(300) > 0).astype(np.int32)
    weight = rng.integers(1, 4, 300).astype(np.float64)
    X = csr_array(dense)
    found, _ = solved(partitions(X, y, weight=weight), LOGISTIC, [Lane(1.0)], 2)
    other = LogisticRegression(tol=1e-9).fit(X, y, sample_weight=weight)
    away = float(np.linalg.norm(found.weights[:, 0] - other.coef_[0]))
    assert found.certificates[0].converged
    assert away <= found.certificates[0].distance + other.certificate_.distance


def test_any_partitions_within_the_certificates_and_the_same_ones_to_the_bit() -> None:
    X, y = table()
    results = [solved(partitions(X, y, n), LOGISTIC, [Lane(1.0)], 2)[0] for n in (1, 7, 7)]
    one, seven, again = results
    assert np.array_equal(seven.weights, again.weights)
    away = float(np.linalg.norm(one.weights - seven.weights))
    assert away <= one.certificates[0].distance + seven.certificates[0].distance


def test_columns_far_from_zero() -> None:
    X, y = table()
    near, _ = solved(partitions(X, y), LOGISTIC, [Lane(1.0)], 2)
    far, _ = solved(partitions(X + 1e6, y), LOGISTIC, [Lane(1.0)], 2)
    assert far.certificates[0].relative_gap < 1e-4  # rounding of the intercept counts
    np.testing.assert_allclose(far.weights, near.weights, rtol=1e-3)


@pytest.mark.parametrize("loss", [HINGE, SQUARED_HINGE], ids=["hinge", "squared_hinge"])
def test_the_primal_is_that_of_the_published_numbers_in_fractions(loss: Loss) -> None:
    X, y = table(200, 3)
    X = X * np.array([1.0, 100.0, 0.01]) + np.array([0.0, 1e4, 0.0])
    found, _ = solved(partitions(X, y), loss, [Lane(1.0)], 2)
    w = [Fraction(float(each)) for each in found.weights[:, 0]]
    total = sum((each * each for each in w), Fraction(0)) / 2
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        score = Fraction(float(found.intercept[0]))
        score += sum((Fraction(x) * u for x, u in zip(row, w, strict=True)), Fraction(0))
        rest = max(Fraction(0), 1 - (score if label else -score))
        total += rest if loss is HINGE else rest**2
    (proof,) = found.certificates
    assert abs(total - Fraction(proof.primal)) <= Fraction(1e-12) * total
    assert proof.dual <= total


def test_tasks_can_be_sent_elsewhere() -> None:
    X, y = table()

    class Sent(InMemoryPartitions):
        def sums(self, task: Any) -> Any:
            return super().sums(pickle.loads(pickle.dumps(task)))

    data = partitions(X, y)
    sent = Sent(data.batches)
    for loss in (LOGISTIC, HINGE):
        a, _ = solved(data, loss, [Lane(1.0)], 2, max_passes=30)
        b, _ = solved(sent, loss, [Lane(1.0)], 2, max_passes=30)
        assert np.array_equal(a.weights, b.weights)
