"""Exact leave-one-out scores of linear Gaussian naive Bayes from one fit.

Without row i of class c and weight w, with u = x - mu_c and f = w n_c / (n_c - w), the sum of
squares of column j is S_j - f u_j^2, and the squared distance from mu_k is the sum of v_kj^2
divided by it. Sparse rows differ from a row of zeros of the same class and weight only in their
non-zeros, so the sums of that row are computed once and corrected there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.predict.scores import row_blocks, segment_sums
from separable.moments.discriminant.covariance import constant_within
from separable.moments.discriminant.discriminants import centres_of
from separable.moments.loo.class_means import (
    MIN_VARIANCE_LEFT,
    LeftOut,
    kinds_of,
    of_two,
    refit_scores,
)
from separable.moments.priors import class_priors
from separable.statistics.centered_rows import blocks_about

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.statistics.moments import Moments
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["left_out_scores"]


@dataclass(frozen=True)
class Columns:
    """Within-class sums of squares, centered class means and origin, in units of z.

    Parameters
    ----------
    squares : ndarray, shape (d,)
    varied : ndarray of bool, shape (d,)
        Columns that are not constant within classes.
    gap : ndarray, shape (K, d)
        mu_k - m.
    zero : ndarray, shape (d,)
        -m.
    scale : ndarray, shape (d,)
    """

    squares: Floats
    varied: NDArray[np.bool_]
    gap: Floats
    zero: Floats
    scale: Floats

    def inverse(self, f: Any, u: Floats, where: Any) -> tuple[Floats, NDArray[np.bool_]]:
        """Return 1 / (S - f u^2) of some columns, and where cancellation leaves too little."""
        squares, varied = self.squares[where], self.varied[where]
        left = squares - f * u * u
        bad = varied & ~(left > MIN_VARIANCE_LEFT * squares)
        good = varied & ~bad
        return np.divide(1.0, left, out=np.zeros_like(u), where=good), bad


def left_out_scores(learner: Any, sums: Moments, data: Data) -> Floats | None:
    """Return the leave-one-out scores, (n, k), or None."""
    data = data.present()
    values = sums.sums
    centres = centres_of(values, class_priors(learner.priors, values.weight))
    result = kinds_of(learner, sums, data, centres)
    if result is None:
        return None
    kinds, kind = result
    columns = Columns(
        values.scatter,
        ~constant_within(values),
        centres.gap,
        -centres.middle * centres.scale,
        centres.scale,
    )
    scores, refit = np.empty((len(kind), values.n_groups)), np.zeros(len(kind), bool)
    if data.rows.is_sparse:
        rows = data.rows.sum_duplicates()
        assert rows.indices is not None
        single = np.bincount(rows.indices[rows.values != 0], minlength=rows.n_features) == 1
        order = np.argsort(kind, kind="stable")
        for chosen in np.split(order, np.flatnonzero(np.diff(kind[order])) + 1):
            of_kind = kinds.take(kind[chosen])
            scores[chosen], refit[chosen] = _sparse_kind(
                rows.take(chosen), columns, of_kind, single
            )
    else:
        for part, block in blocks_about(data.rows, centres.middle, centres.scale):
            scores[part], refit[part] = _dense_block(block, columns, kinds.take(kind[part]))
    refit_scores(learner, data, scores, np.flatnonzero(refit))
    return of_two(scores)


def _dense_block(x: Floats, columns: Columns, row: LeftOut) -> tuple[Floats, NDArray[np.bool_]]:
    u = x - columns.gap[row.label]
    inverse, bad = columns.inverse(row.factor[:, None], u, slice(None))
    vv = np.stack([np.einsum("ij,ij,ij->i", inverse, v, v) for v in (x - g for g in columns.gap)])
    h = np.einsum("ij,ij,ij->i", inverse, u, u)
    p = row.along_x[:, None] * x + row.along_u[:, None] * u
    return _finish(row, h, vv.T, np.einsum("ij,ij,ij->i", inverse, p, p)), np.asarray(
        bad.any(axis=1)
    )


def _finish(row: LeftOut, h: Floats, vv: Floats, pp: Floats) -> Floats:
    # nothing is left to take out of the inverse, which is that of a shrinkage of 1
    scores, _ = row.scores(h, np.zeros_like(vv), vv, np.zeros_like(h), pp, 1.0)
    return scores


def _sparse_kind(
    rows: Rows, columns: Columns, kind: LeftOut, single: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the scores of rows of one class and one weight, and a mask of the rows to refit."""
    f, a, b = (float(part[0]) for part in (kind.factor, kind.along_x, kind.along_u))
    zero_u = columns.zero - columns.gap[kind.label[0]]
    inverse, bad = columns.inverse(f, zero_u, slice(None))
    # a row of zeros: differences from each mean, its own and the center; and the step per value
    points = [*(columns.zero - g for g in columns.gap), zero_u, a * columns.zero + b * zero_u]
    steps = [1.0] * (len(points) - 1) + [a + b]
    whole = [float((inverse * point) @ point) for point in points]
    scores, refit = np.empty((rows.n_rows, len(columns.gap))), np.zeros(rows.n_rows, bool)
    for start, stop in row_blocks(rows):
        block = rows.slice(start, stop)
        assert block.indices is not None
        assert block.indptr is not None
        j = block.indices
        moved = block.values * columns.scale[j]
        own, odd = columns.inverse(f, zero_u[j] + moved, j)
        *vv, h, pp = (
            total
            + segment_sums(own * (p[j] + t * moved) ** 2 - inverse[j] * p[j] ** 2, block.indptr)
            for p, t, total in zip(points, steps, whole, strict=True)
        )
        part = slice(start, stop)
        scores[part] = _finish(kind.take(part), h, np.stack(vv, axis=1), pp)
        # a column with no other non-zero row is constant without this row and has weight 0
        odd &= ~single[j]
        hidden = int(bad.sum()) - segment_sums(bad[j].astype(np.float64), block.indptr)
        refit[part] = (segment_sums(odd.astype(np.float64), block.indptr) > 0) | (hidden > 0)
    return scores, refit
