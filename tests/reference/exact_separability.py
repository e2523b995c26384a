"""Is it separable? Decided in fractions, by which rows a weak direction can be strict on.

Row i is on the boundary of every weak direction if -z_i is a sum of vectors z_j with weights >= 0
(Farkas): a phase-one simplex in fractions with Bland's rule says whether. No such row: separable.
All of them: overlap. Some: quasi-separable.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def exact_vectors(X, y, fit_intercept=True):
    """Return one vector of fractions for each row and each class that is not its own."""
    classes = sorted(set(y))
    rows = [[Fraction(float(x)) for x in row] + [Fraction(1)] * fit_intercept for row in X]
    if len(classes) == 2:
        return [[x if k == classes[1] else -x for x in row] for row, k in zip(rows, y, strict=True)]
    found = []
    for row, k in zip(rows, y, strict=True):
        for other in classes:
            if other != k:
                signs = [int(c == k) - int(c == other) for c in classes]
                found.append([sign * x for sign in signs for x in row])
    return found


def cone_weights(Z, target):
    """Return the places of vectors whose sum with weights > 0 is the target; None: there are none.

    Phase one: one artificial variable an equation, their sum to be 0; Bland's rule for both.
    """
    D, m = len(target), len(Z)
    table = []
    for j in range(D):
        sign = -1 if target[j] < 0 else 1
        table.append(
            [sign * z[j] for z in Z]
            + [Fraction(int(k == j)) for k in range(D)]
            + [sign * target[j]]
        )
    basis = list(range(m, m + D))
    cost = [-sum((row[k] for row in table), Fraction(0)) for k in range(m)]
    cost += [Fraction(0)] * D + [-sum((row[-1] for row in table), Fraction(0))]
    while True:
        enters = next((k for k in range(m) if cost[k] < 0), None)
        if enters is None:
            break
        ratios = [
            (row[-1] / row[enters], basis[j], j) for j, row in enumerate(table) if row[enters] > 0
        ]
        leaves = min(ratios)[2]
        pivot = table[leaves][enters]
        table[leaves] = [x / pivot for x in table[leaves]]
        for j in range(D):
            factor = table[j][enters]
            if j != leaves and factor:
                table[j] = [x - factor * p for x, p in zip(table[j], table[leaves], strict=True)]
        factor = cost[enters]
        cost = [x - factor * p for x, p in zip(cost, table[leaves], strict=True)]
        basis[leaves] = enters
    if cost[-1] != 0:
        return None
    return [k for k, row in zip(basis, table, strict=True) if k < m and row[-1] > 0]


def strict_vectors(Z):
    """Return which vectors some weak direction is strict on."""
    strict = [any(z) for z in Z]
    known = [not is_open for is_open in strict]
    for i, z in enumerate(Z):
        if known[i]:
            continue
        known[i] = True
        used = cone_weights(Z, [-x for x in z])
        if used is not None:
            for k in [i, *used]:
                strict[k], known[k] = False, True
    return np.array(strict)


def exact_kind(Z):
    """Return the kind, in fractions."""
    strict = strict_vectors(Z)
    return "separable" if strict.all() else "quasi-separable" if strict.any() else "overlap"
