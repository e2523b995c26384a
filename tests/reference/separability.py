"""Is it separable? By a linear program, and each kind of proof checked in fractions.

Rows z_i = y_i (x_i, 1) turn the question into one about the signs of Z u. The linear program

    maximise  sum_i t_i   subject to  0 <= t_i <= 1,  t <= Z u

counts the rows that a weak direction (Z u >= 0) leaves strictly on their side: such directions add
up, and a long one has room for every t = 1. All rows: separable. None: overlap. Some: quasi.
K classes: one row (.., x_i, .., -x_i, ..) for each other class k, so z.u = (w_{y_i} - w_k).x_i.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog, nnls


def signed_rows(X, y, fit_intercept=True):
    """Return Z, in float64: exact, as signs and ones are all that is added."""
    X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    if fit_intercept:
        X = np.column_stack([X, np.ones(len(X))])
    classes, label = np.unique(y, return_inverse=True)
    if len(classes) == 2:
        return X * np.where(label == 1, 1.0, -1.0)[:, None]
    Z = np.zeros((len(X), len(classes), len(classes), X.shape[1]))
    for row, mine in enumerate(label):
        for other in range(len(classes)):
            Z[row, other, mine] += X[row]
            Z[row, other, other] -= X[row]
    kept = np.arange(len(classes)) != label[:, None]
    return Z.reshape(len(X), len(classes), -1)[kept]


def _tame(Z):
    """Return Z with its columns less so much of the last that they begin at 0, and near 1 in size.

    Neither changes a verdict: u is seen in other coordinates. Whole numbers stay exact.
    """
    if (np.abs(Z[:, -1]) == 1).all():
        Z = np.column_stack([Z[:, :-1] - Z[0, :-1] * Z[0, -1] * Z[:, -1:], Z[:, -1]])
    top = np.abs(Z).max(axis=0)
    return Z / 2.0 ** np.round(np.log2(np.where(top > 0, top, 1)))


def lp_verdict(Z):
    """Return the kind, and which rows can be strictly on their side; None if it cannot say."""
    Z = _tame(Z)
    n, d = Z.shape
    found = linprog(
        -np.r_[np.zeros(d), np.ones(n)],
        A_ub=sp.hstack([-sp.csr_array(Z), sp.eye_array(n)]).tocsr(),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * d + [(0, 1)] * n,
        method="highs",
    )
    if found.status != 0:
        return None, None
    strict = found.x[d:] > 0.5
    if np.abs(found.x[d:] - strict).max() > 1e-5 or np.abs(-found.fun - strict.sum()) > 1e-5:
        return None, None
    kind = "separable" if strict.all() else "quasi-separable" if strict.any() else "overlap"
    return kind, strict


def lp_multipliers(Z):
    """Return the dual's a >= 0 with Z'a = 0, at least 1 on each row that has a share in overlap.

    The dual: minimise sum s subject to  a + s >= 1,  Z'a = 0,  a, s >= 0; of the same value.
    """
    Z = _tame(Z)
    n, d = Z.shape
    found = linprog(
        np.r_[np.zeros(n), np.ones(n)],
        A_ub=-sp.hstack([sp.eye_array(n), sp.eye_array(n)]).tocsr(),
        b_ub=-np.ones(n),
        A_eq=sp.hstack([sp.csr_array(Z.T), sp.csr_array((d, n))]).tocsr(),
        b_eq=np.zeros(d),
        method="highs",
    )
    return found.x[:n], found.fun


# ------------------------------------------------------------------ in fractions


def kernel_point(A, v):
    """Return u with A u = 0 exactly, v but for the coordinates the equations decide; and A's rank.

    The equations decide the largest coordinates, where a rounding is the least change.
    """
    rows = [[Fraction(float(x)) for x in row] for row in A]
    pivots = []
    for j in sorted(range(len(v)), key=lambda j: -abs(v[j])):
        at = next((i for i in range(len(pivots), len(rows)) if rows[i][j]), None)
        if at is None:
            continue
        k = len(pivots)
        rows[k], rows[at] = rows[at], rows[k]
        rows[k] = [x / rows[k][j] for x in rows[k]]
        for i, row in enumerate(rows):
            if i != k and row[j]:
                rows[i] = [x - row[j] * p if p else x for x, p in zip(row, rows[k], strict=True)]
        pivots.append(j)
    free = [j for j in range(len(v)) if j not in set(pivots)]
    u = [Fraction(float(x)) for x in v]
    for k, j in enumerate(pivots):
        u[j] = -sum((rows[k][f] * u[f] for f in free), Fraction(0))
    return u, len(pivots)


def exact_scores(Z, u):
    """Return Z u in fractions."""
    u = [x if isinstance(x, Fraction) else Fraction(float(x)) for x in u]
    return [
        sum((Fraction(float(z)) * x for z, x in zip(row, u, strict=True)), Fraction(0)) for row in Z
    ]


def cancels(Z, rows, multipliers):
    """Return whether multipliers > 0 near these cancel the rows exactly: Z'a = 0."""
    if len(rows) == 0 or min(multipliers) <= 0 or len(set(map(int, rows))) < len(rows):
        return False
    exact, _ = kernel_point(Z[rows].T, multipliers)
    return min(exact) > 0


def proves_separable(Z, u):
    """Z u > 0, as it stands."""
    return min(exact_scores(Z, u)) > 0


def proves_quasi(Z, u, boundary, rows, multipliers):
    """Z u = 0 on the boundary and > 0 on the other rows, of which there are some; rows cancel."""
    exact, _ = kernel_point(Z[boundary], u)
    scores = np.array(exact_scores(Z, exact))
    other = np.setdiff1d(np.arange(len(Z)), boundary)
    return len(other) > 0 and all(scores[other] > 0) and cancels(Z, rows, multipliers)


def proves_overlap(Z, rows, multipliers):
    """Rows cancel, and have the rank of all."""
    zeros = np.zeros(Z.shape[1])
    full, own = kernel_point(Z, zeros)[1], kernel_point(Z[rows], zeros)[1]
    return own == full and cancels(Z, rows, multipliers)


# ------------------------------------------------------------------ the largest margin


def margin_bracket(X, y, fit_intercept=True):
    """Return two numbers that the largest geometric margin of two classes lies between.

    The nearest points p, q of the two hulls (of the origin and the hull of all y_i x_i, without an
    intercept) by non-negative least squares. Any weights give an upper bound, any w a lower one.
    """
    X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    upper = y == np.max(y)
    signed = X * np.where(upper, 1.0, -1.0)[:, None]
    groups = np.array([upper, ~upper], dtype=float) if fit_intercept else np.ones((1, len(X)))
    heavy = 1e4 * np.abs(X).max()
    target = np.r_[np.zeros(X.shape[1]), np.full(len(groups), heavy)]
    a = nnls(np.vstack([signed.T, heavy * groups]), target)[0]
    a /= groups.T @ (groups @ a)
    w = a @ signed
    length = np.linalg.norm(w)
    if not fit_intercept:
        return (signed @ w).min() / length, length
    scores = X @ w
    return (scores[upper].min() - scores[~upper].max()) / 2 / length, length / 2
