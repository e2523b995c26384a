"""The score of a pair of columns as a table of cells, for languages without maps of features.

Each column is in one state: a piece of its curve, a level, true, missing. In state (a, b) with the
fractions t and u of the pieces, 0 where there are none, the pair adds to score k

    cells[a, b, 0, k] + cells[a, b, 1, k] t + cells[a, b, 2, k] u + cells[a, b, 3, k] t u.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from separable.export.plan.plan import BooleanStep, CategoryStep, CurveStep

if TYPE_CHECKING:
    from separable.export.plan.plan import PairStep, Plan, Step
    from separable.typing import Floats

__all__ = ["axis_states", "pair_cells"]


def axis_states(step: Step, size: int) -> Floats:
    """Return what each state of a column adds to its features, shape (states, 2, size).

    The second axis has the constant and the factor of the fraction. The last states are: of a curve
    missing, of a category unseen and missing, of a boolean false, true and missing.

    Examples
    --------
    >>> axis_states(CurveStep("x", (0.0, 1.0), (0, 1), False, 0.0, None), 2)
    array([[[ 1.,  0.],
            [-1.,  1.]],
           [[ 0.,  0.],
            [ 0.,  0.]]])
    """
    features: list[int | None]
    if isinstance(step, CurveStep):
        pieces = list(pairwise(step.indices))
        states = np.zeros((len(pieces) + 1, 2, size))
        for state, (left, right) in enumerate(pieces):
            states[state, 0, left] += 1.0
            states[state, 1, left] -= 1.0
            states[state, 1, right] += 1.0
        if step.missing is not None:
            states[-1, 0, step.missing] = 1.0
        return states
    if isinstance(step, CategoryStep):
        features = [*(index for _, index in step.levels), step.unseen, step.missing]
    else:
        assert isinstance(step, BooleanStep)
        features = [None, step.true, step.missing]
    states = np.zeros((len(features), 2, size))
    for state, feature in enumerate(features):
        if feature is not None and feature >= 0:
            states[state, 0, feature] = 1.0
    return states


def pair_cells(plan: Plan, pair: PairStep) -> Floats:
    """Return the cells of a pair, shape (states, states of the second, 4, scores)."""
    first, second = axis_states(pair.first, pair.size), axis_states(pair.second, pair.width)
    stop = pair.start + pair.size * pair.width
    weights = np.asarray(plan.weights[pair.start : stop], np.float64)
    weights = weights.reshape(pair.size, pair.width, -1)
    cells: Floats = np.einsum("aci,bdj,ijk->abdck", first, second, weights)
    return cells.reshape(len(first), len(second), 4, plan.n_scores)
