"""Least squares in exact rational arithmetic: no rounding until the end."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def exact_least_squares(X, y, weight=None, fit_intercept=True):
    """Return weights (the intercept first), their variances over that of errors, and the squares.

    Solves (A'CA) w = A'Cy by Gauss-Jordan elimination, A being X with a column of ones in front.
    """
    rows = [[Fraction(float(v)) for v in row] for row in np.asarray(X)]
    if fit_intercept:
        rows = [[Fraction(1), *row] for row in rows]
    y = [Fraction(float(v)) for v in y]
    c = [Fraction(1)] * len(y) if weight is None else [Fraction(float(v)) for v in weight]
    p = len(rows[0])
    table = [
        [sum(ci * r[j] * r[k] for ci, r in zip(c, rows, strict=True)) for k in range(p)]
        + [Fraction(j == k) for k in range(p)]
        + [sum(ci * r[j] * yi for ci, r, yi in zip(c, rows, y, strict=True))]
        for j in range(p)
    ]
    for j in range(p):
        pivot = next(i for i in range(j, p) if table[i][j] != 0)
        table[j], table[pivot] = table[pivot], table[j]
        table[j] = [v / table[j][j] for v in table[j]]
        for i in range(p):
            if i != j and table[i][j] != 0:
                table[i] = [a - table[i][j] * b for a, b in zip(table[i], table[j], strict=True)]
    w = [row[-1] for row in table]
    squares = sum(
        ci * (yi - sum(a * b for a, b in zip(w, r, strict=True))) ** 2
        for ci, r, yi in zip(c, rows, y, strict=True)
    )
    variances = [table[j][p + j] for j in range(p)]
    return np.array(w, float), np.array(variances, float), float(squares)
