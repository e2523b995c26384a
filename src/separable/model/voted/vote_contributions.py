"""Decomposition of votes: mean weights of all voters, and contributions of features to a vote.

With A_m the sum of a_k over k >= m, a weighted sum of all weight vectors is one product with the
mistaken rows: sum of a_k w_k = A_0 w_0 + sum over the steps m of A_m step_m z_m.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from separable.model.predict.scores import linear_scores, row_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.model.voted.voters import ModelVoters, Voters

__all__ = ["mean_weights", "shared_votes"]

#: A score this close to 0, relative to its terms, has no meaningful contributions.
NEAR_ZERO = 1e-9


def mean_weights(mistaken: Rows, voters: Voters) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the means of weight vectors and intercepts, weighted by votes.

    Parameters
    ----------
    mistaken : Rows
    voters : Voters

    Returns
    -------
    weights : ndarray of float64, shape (k, d)
    intercept : ndarray of float64, shape (k,)
    """
    weights, intercept = np.empty((len(voters), mistaken.n_features)), np.empty(len(voters))
    for k in range(len(voters)):
        own = voters[k]
        counts = own.all_counts
        total = counts.sum()
        fractions = counts / total if total > 0 else np.eye(1, len(counts), len(counts) - 1)[0]
        weights[k], intercept[k] = _weighted_sum(mistaken, voters, own, fractions)
    return weights, intercept


def shared_votes(
    mistaken: Rows, voters: Voters, row: Rows, k: int, votes: float
) -> tuple[NDArray[np.float64], float]:
    """Return the weights v and the intercept b with v.x + b = votes of model k at one row x.

    Parameters
    ----------
    mistaken : Rows
    voters : Voters
    row : Rows
        The row x.
    k : int
    votes : float
        Votes of model k at x.

    Returns
    -------
    weights : ndarray of float64
        One per value of the row, (d,) if dense.
    intercept : float
    """
    own, x = voters[k], _as_vector(row)
    scores, scales = _voter_scores(mistaken, voters, own, x)
    shared = np.abs(scores) > NEAR_ZERO * scales
    with np.errstate(over="ignore"):
        ratios = np.where(shared, own.all_counts, 0.0) / np.where(shared, np.abs(scores), 1.0)
    if not np.isfinite(ratios.sum()):
        raise ValueError(
            "The weights behind this vote overflow float64: the scores of its voters are below "
            "1e-300. Scale the features, for example with separable.TableEncoder, and train again."
        )
    v, _ = _weighted_sum(mistaken, voters, own, ratios)
    weights = v if row.indices is None else v[row.indices]
    # Remainder: the contributions of intercepts and of voters too close to 0. As a difference it
    # keeps the sum exact if voters cancel.
    return weights, votes - float((weights * row.values.reshape(-1)).sum())


def _voter_scores(
    mistaken: Rows, voters: Voters, own: ModelVoters, x: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return s_0, s_1, ... at x, and for each the sum of its absolute terms."""
    bias = np.array([float(voters.fit_intercept)])
    products = linear_scores(mistaken, x[None], bias)[own.rows, 0]
    positive = replace(mistaken, values=np.abs(mistaken.values))
    sizes = linear_scores(positive, np.abs(x)[None], bias)[own.rows, 0]
    base, b = own.base_weights, own.base_intercept
    first = (b, abs(b)) if base is None else (b + base @ x, abs(b) + np.abs(base) @ np.abs(x))
    scores = np.cumsum(np.concatenate([[first[0]], own.steps * products]))
    return scores, np.cumsum(np.concatenate([[first[1]], np.abs(own.steps) * sizes]))


def _weighted_sum(
    mistaken: Rows, voters: Voters, own: ModelVoters, fractions: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return the sums of a_k w_k and of a_k b_k, with ``fractions`` as the a_k."""
    later = np.cumsum(fractions[::-1])[::-1]
    coefficients = np.zeros(mistaken.n_rows)
    np.add.at(coefficients, own.rows, own.steps * later[1:])
    w, b = _combine(mistaken, coefficients), later[0] * own.base_intercept
    if own.base_weights is not None:
        w += later[0] * own.base_weights
    return w, float(b + coefficients.sum() if voters.fit_intercept else b)


def _combine(rows: Rows, factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of factor times row, shape (d,)."""
    total = np.zeros(rows.n_features)
    for start, stop in row_blocks(rows):
        block, part = rows.slice(start, stop), factors[start:stop]
        if block.indptr is None or block.indices is None:
            total += part @ block.values.astype(np.float64, copy=False)
        else:
            values = block.values * np.repeat(part, np.diff(block.indptr))
            np.add.at(total, block.indices, values)
    return total


def _as_vector(row: Rows) -> NDArray[np.float64]:
    if row.indices is None:
        return row.values.reshape(-1).astype(np.float64)
    x = np.zeros(row.n_features)
    np.add.at(x, row.indices, row.values)
    return x
