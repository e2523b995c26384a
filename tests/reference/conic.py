"""Regularised linear models as conic programs, solved by Clarabel.

    minimise  sum_i c_i loss(y_i, Z_i.u + b) + penalty(u)

Clarabel is one interior-point method for quadratic, second-order, exponential and power cones; it
shares nothing with the solvers of the package. Its weights are taken as they are and their
objective is computed again in longer numbers, so an inexact solution is a weaker bound on the
optimum from above, never a false one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

Long = np.longdouble


@dataclass
class Penalty:
    """l1 |u|_1 + l2 |u|^2 / 2 + group sum_g sqrt(p_g) |u_g| + power sum |u|^p + largest max |u|.

    With ``positive`` u >= 0, with signs s_j u_j >= 0.
    """

    l1: float = 0.0
    l2: float = 0.0
    group: float = 0.0
    groups: list[list[int]] = field(default_factory=list)
    power: float = 0.0
    p: float = 2.0
    largest: float = 0.0
    positive: bool = False
    signs: list[int] = field(default_factory=list)

    def value(self, u):
        size = np.abs(u)
        found = self.l1 * size.sum() + self.l2 * (u * u).sum() / 2
        for one in self.groups:
            found += self.group * np.sqrt(Long(len(one))) * np.sqrt((u[one] ** 2).sum())
        if self.power:
            found += self.power * (size ** Long(self.p)).sum()
        return found + self.largest * size.max(initial=0.0)


def row_losses(loss, y, s, epsilon=0.0):
    """Return the loss of each row; scores are (n,), or (n, K) of the softmax."""
    if loss == "softmax":
        most = s.max(axis=1)
        return most + np.log(np.exp(s - most[:, None]).sum(axis=1)) - s[np.arange(len(y)), y]
    if loss == "squared_error":
        return (y - s) ** 2 / 2
    if loss == "insensitive":
        return np.maximum(0, np.abs(y - s) - epsilon)
    if loss == "logistic":
        return np.logaddexp(Long(0), -y * s)
    return np.maximum(0, 1 - y * s) ** (2 if loss == "squared_hinge" else 1)


def objective(loss, Z, y, c, penalty, u, b, epsilon=0.0):
    """Return the objective at weights (d,) or (d, K), in longer numbers."""
    u, s = np.asarray(u, Long), np.asarray(Z, Long) @ np.asarray(u, Long) + np.asarray(b, Long)
    return np.asarray(c, Long) @ row_losses(loss, y, s, epsilon) + penalty.value(u)


class Program:
    """A conic program under construction: min x'Px/2 + q.x, with h - G x in a product of cones."""

    def __init__(self):
        self.size, self.quadratic, self.linear = 0, [], []
        self.G, self.h, self.cones = [], [], []

    def variables(self, shape, *, linear=0.0, quadratic=0.0):
        """Return the indices of new variables with a linear and a quadratic cost."""
        count = int(np.prod(shape))
        self.linear.append(np.broadcast_to(linear, shape).ravel())
        self.quadratic.append(np.broadcast_to(quadratic, shape).ravel())
        self.size += count
        return np.arange(self.size - count, self.size).reshape(shape)

    def require(self, cone, terms, h):
        """Add h - sum of (matrix, variables) in a cone."""
        rows, columns, values = [], [], []
        for matrix, used in terms:
            one = sp.coo_array(matrix)
            rows.append(one.row)
            columns.append(np.asarray(used)[one.col])
            values.append(one.data)
        self.G.append((len(h), *map(np.concatenate, (rows, columns, values))))
        self.h.append(np.asarray(h, np.float64))
        self.cones += cone if isinstance(cone, list) else [cone]

    def solve(self):
        starts = np.cumsum([0] + [one[0] for one in self.G])
        rows = np.concatenate([at + one[1] for at, one in zip(starts, self.G, strict=False)])
        columns, values = (np.concatenate([one[k] for one in self.G]) for k in (2, 3))
        G = sp.csc_array((values, (rows, columns)), shape=(starts[-1], self.size))
        P = sp.csc_array(sp.diags_array(np.concatenate(self.quadratic)))
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_iter = 500
        settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-10
        problem = clarabel.DefaultSolver(
            P, np.concatenate(self.linear), G, np.concatenate(self.h), self.cones, settings
        )
        found = problem.solve()
        return str(found.status), np.array(found.x)


def eye(n):
    return sp.eye_array(n, format="coo")


def add_losses(program, loss, Z, y, c, u, b, epsilon):
    """Add the loss of each row; u are the variables of weights, (d, K), b of intercepts, (K,)."""
    n = len(y)
    if loss == "softmax":
        return add_softmax(program, Z, y, c, u, b)

    def score(sign):
        weights = [(sign[:, None] * Z, u[:, 0])]
        return [*weights, (sign[:, None], b)] if len(b) else weights

    if loss == "squared_error":
        r = program.variables(n, quadratic=c)
        return program.require(clarabel.ZeroConeT(n), [(eye(n), r), *score(np.ones(n))], y)
    if loss == "logistic":
        t = program.variables(n, linear=c)
        p = program.variables((2, n))
        program.require(clarabel.NonnegativeConeT(n), [(eye(n), p[0]), (eye(n), p[1])], np.ones(n))
        exponential(program, [(eye(n), t)], p[0])
        return exponential(program, [(eye(n), t), *score(y)], p[1])
    is_squared = loss == "squared_hinge"
    t = program.variables(n, linear=0.0 if is_squared else c, quadratic=2 * c if is_squared else 0)
    program.require(clarabel.NonnegativeConeT(n), [(-eye(n), t)], np.zeros(n))
    if loss == "insensitive":
        for sign in (1.0, -1.0):  # t >= sign (y - s) - epsilon
            program.require(
                clarabel.NonnegativeConeT(n),
                [(-eye(n), t), *score(np.full(n, -sign))],
                epsilon - sign * y,
            )
        return None
    return program.require(clarabel.NonnegativeConeT(n), [(-eye(n), t), *score(-y)], -np.ones(n))


def exponential(program, minus, p):
    """Add exp(-minus) <= p, row by row: (x, 1, p) in the exponential cone."""
    n = len(p)
    first, third = (
        sp.csr_array((np.ones(n), (3 * np.arange(n) + k, np.arange(n))), shape=(3 * n, n))
        for k in (0, 2)
    )
    h = np.tile([0.0, 1.0, 0.0], n)
    program.require(
        [clarabel.ExponentialConeT()] * n,
        [(first @ sp.csr_array(matrix), used) for matrix, used in minus] + [(-third, p)],
        h,
    )


def add_softmax(program, Z, y, c, u, b):
    (n, _), K = Z.shape, u.shape[1]
    t, p = program.variables(n, linear=c), program.variables((K, n))
    program.require(clarabel.NonnegativeConeT(n), [(eye(n), p[k]) for k in range(K)], np.ones(n))
    for k in range(K):  # exp(s_k - s_y - t) <= p_k
        minus = [(eye(n), t), (-Z, u[:, k])]
        minus += [((y == other)[:, None] * Z, u[:, other]) for other in range(K)]
        if len(b):
            one_hot = (y[:, None] == np.arange(K)).astype(float)
            one_hot[:, k] -= 1.0
            minus.append((one_hot, b))
        exponential(program, minus, p[k])


def add_penalty(program, penalty, u):
    """Add all parts of a penalty but l2."""
    flat = u.ravel()
    d = len(flat)
    if penalty.positive:
        program.require(clarabel.NonnegativeConeT(d), [(-eye(d), flat)], np.zeros(d))
    if penalty.signs:
        program.require(
            clarabel.NonnegativeConeT(d),
            [(-np.diag(1.0 * np.array(penalty.signs)), flat)],
            np.zeros(d),
        )
    if penalty.l1 or penalty.largest:
        count = d if penalty.l1 else 1
        size = program.variables(count, linear=penalty.l1 or penalty.largest)
        above = eye(d) if penalty.l1 else np.ones((d, 1))
        for sign in (1.0, -1.0):
            program.require(
                clarabel.NonnegativeConeT(d), [(-above, size), (sign * eye(d), flat)], np.zeros(d)
            )
    for one in penalty.groups:
        k = len(one)
        size = program.variables(1, linear=penalty.group * np.sqrt(k))
        program.require(
            clarabel.SecondOrderConeT(k + 1),
            [(-np.eye(k + 1, 1), size), (-np.eye(k + 1, k, -1), flat[one])],
            np.zeros(k + 1),
        )
    if penalty.power:
        size = program.variables(d, linear=penalty.power)
        for j in range(d):  # size^(1/p) 1^(1 - 1/p) >= |u_j|
            program.require(
                clarabel.PowerConeT(1 / penalty.p),
                [(-np.eye(3, 1), size[j : j + 1]), (-np.eye(3, 1, -2), flat[j : j + 1])],
                [0.0, 1.0, 0.0],
            )


def solve(loss, Z, y, c, penalty, *, fit_intercept=True, epsilon=0.0):
    """Return Clarabel's status, weights (d,) or (d, K) and intercept."""
    used = np.asarray(c) > 0
    Z, y, c = np.asarray(Z, np.float64)[used], np.asarray(y)[used], np.asarray(c, np.float64)[used]
    K = int(y.max()) + 1 if loss == "softmax" else 1
    program = Program()
    u = program.variables((Z.shape[1], K), quadratic=penalty.l2)
    b = program.variables(K if fit_intercept else 0)
    add_losses(program, loss, Z, y, c, u, b, epsilon)
    add_penalty(program, penalty, u)
    status, x = program.solve()
    weights, intercept = x[u], x[b] if fit_intercept else np.zeros(K)
    if penalty.positive:
        weights = np.maximum(weights, 0.0)
    if penalty.signs:
        signs = np.array(penalty.signs)[:, None]
        weights = np.where(signs * weights < 0, 0.0, weights)
    return status, *((weights, intercept) if loss == "softmax" else (weights[:, 0], intercept[0]))


def optimum(loss, Z, y, c, penalty, **given: Any):
    """Return an objective that Clarabel reaches, and its status."""
    status, u, b = solve(loss, Z, y, c, penalty, **given)
    return float(objective(loss, Z, y, c, penalty, u, b, given.get("epsilon", 0.0))), status
