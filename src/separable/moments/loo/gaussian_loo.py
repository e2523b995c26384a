"""Exact leave-one-out scores of Gaussian classifiers from one fit: LDA and linear Gaussian NB.

Without row i of class c and weight w, with u = x - mu_c, v_k = x - mu_k and r = n_c / (n_c - w),
x - mu_c becomes r u and the scatter S - f u u' with f = w r.

LDA: by the Sherman-Morrison formula

    a'(S - f u u')^-1 b = a'S^-1 b + f (a'S^-1 u)(u'S^-1 b) / (1 - f u'S^-1 u).

With shrinkage g the same holds in the eigenbasis of S, for the inverse of
diag((1 - g) l_j + g t_i) - (1 - g) f u u' with t_i = (tr S - f |u|^2) / d.

Naive Bayes: the sum of squares of column j is S_j - f u_j^2, and the squared distance from mu_k is
the sum of v_kj^2 divided by it. Sparse rows differ from a row of zeros of the same class and weight
only in their non-zeros, so the sums of that row are computed once and corrected there.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh

from separable.fitting.targets import find_classes
from separable.model.predict.scores import row_blocks, segment_sums
from separable.moments.base_classifier import class_priors
from separable.moments.discriminant.covariance import (
    centres_of,
    constant_within,
    degrees_of_freedom,
    oas,
)
from separable.statistics.weighted_rows import blocks_about

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.moments.discriminant.covariance import Centres, Within
    from separable.statistics.moments import Moments
    from separable.statistics.sums import Sums
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats

__all__ = ["lda_left_out", "naive_bayes_left_out"]

#: Rows whose removal leaves a smaller fraction of the variance in their direction are refitted.
MIN_VARIANCE_LEFT = 1e-6
#: Relative weight below which a class counts as empty.
WEIGHT_TOLERANCE = 1e-12
#: Largest relative difference of the class means in directions without within-class variance.
NULL_SPACE_TOLERANCE = 1e-8


@dataclass(frozen=True)
class LeftOut:
    """Changes of class statistics without a row; one entry per row.

    Parameters
    ----------
    label : ndarray of int, shape (n,)
        The class c of the row.
    ratio : ndarray, shape (n,)
        r; 1 for the only row of a class, for which u is 0.
    factor : ndarray, shape (n,)
        f; 0 for such a row.
    freedom : ndarray, shape (n,)
        Divisor of the scatter without the row.
    x_factor, u_factor : ndarray, shape (n,)
        a and b in x - m' = a (x - m) + b u, m' the mean of the means without the row.
    log_priors : ndarray, shape (n, K)
        log pi_k without the row; -inf for a class that becomes empty.
    weight : ndarray, shape (n,)
        The weight w of the row.
    """

    label: NDArray[np.intp]
    ratio: Floats
    factor: Floats
    freedom: Floats
    x_factor: Floats
    u_factor: Floats
    log_priors: Floats
    weight: Floats

    @classmethod
    def of(
        cls,
        label: NDArray[Any],
        weight: Floats,
        classes: Floats,
        priors: Floats | None,
        unbiased: bool,
    ) -> LeftOut:
        """Return the changes for rows of the given classes and weights.

        Parameters
        ----------
        label, weight : ndarray, shape (n,)
        classes : ndarray, shape (K,)
            The weights n_k of the classes, with all rows.
        priors : ndarray, shape (K,), or None
            None: class frequencies.
        unbiased : bool
            Whether the divisor is N - K.
        """
        own, total, n_classes = classes[label], classes.sum(), len(classes)
        rest = own - weight
        alone = rest <= WEIGHT_TOLERANCE * own
        ratio = np.divide(own, rest, out=np.ones(len(own)), where=~alone)
        left = np.repeat((classes if priors is None else priors)[None], len(own), axis=0)
        every = np.arange(len(own))
        left[every, label] -= weight if priors is None else 0.0
        left[every[alone], label[alone]] = 0.0
        with np.errstate(divide="ignore"):
            log_priors = np.log(left / left.sum(axis=1, keepdims=True))
        x_factor, u_factor = total / (total - weight), np.zeros(len(own))
        if priors is not None:
            prior = priors[label]
            x_factor = 1.0 / np.where(alone, 1.0 - prior, 1.0)
            u_factor = np.where(alone, 0.0, prior * (ratio - 1.0))
        return cls(
            label,
            ratio,
            np.where(alone, 0.0, weight * ratio),
            total - weight - ((n_classes - alone) if unbiased else 0),
            x_factor,
            u_factor,
            log_priors,
            weight,
        )

    def take(self, rows: Any) -> LeftOut:
        """Return the changes for some rows."""
        parts = (getattr(self, each.name) for each in fields(self))
        if isinstance(rows, slice):
            return LeftOut(*(part[rows] for part in parts))
        return LeftOut(*(part.take(rows, axis=0) for part in parts))  # faster than indexing

    def about_middle(self, xx: Floats, xu: Floats, h: Floats) -> tuple[Floats, Floats]:
        """Return u'Ap and p'Ap with p = x - m', from x'Ax, x'Au and u'Au."""
        a, b = self.x_factor, self.u_factor
        return a * xu + b * h, a * (a * xx + 2.0 * b * xu) + b * b * h

    def scores(
        self, h: Floats, uv: Floats, vv: Floats, up: Floats, pp: Floats, g: Floats | float = 0.0
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the scores (n, K), and a mask of the rows to refit.

        Parameters
        ----------
        h, up, pp : ndarray, shape (n,)
            u'Au, u'Ap and p'Ap with p = x - m', where A is the inverse before the downdate.
        uv, vv : ndarray, shape (n, K)
            u'Av_k and v_k'Av_k; they are overwritten.
        g : float or ndarray
            Shrinkage.
        """
        factor = (1.0 - g) * self.factor
        left = 1.0 - factor * h
        refit = left < MIN_VARIANCE_LEFT
        gain = factor / np.where(refit, 1.0, left)
        uv *= uv  # in place, because this dominates the run time
        uv *= gain[:, None]
        uv += vv
        uv[np.arange(len(h)), self.label] = self.ratio**2 * h * (1.0 + gain * h)
        np.subtract((pp + gain * up**2)[:, None], uv, out=uv)
        uv *= 0.5 * self.freedom[:, None]
        uv += self.log_priors
        return uv, refit


def _kinds_of(
    learner: Any, sums: Moments, data: Data, centres: Centres
) -> tuple[LeftOut, NDArray[np.intp]] | None:
    """Return the changes for each distinct class and weight, and the index of each row's kind.

    None if without some row the variance cannot be estimated.

    Parameters
    ----------
    learner : LDA or LinearGaussianNB
        For its priors and its divisor.
    sums, data
        All rows, of positive weight.
    centres : Centres
        Priors and means of the classes.
    """
    assert sums.classes is not None
    label, n_classes = find_classes(data.y, sums.classes), len(sums.classes)
    weight = data.counted.weight
    if weight is None:
        of_class, of_weight, kind = np.arange(n_classes), np.ones(n_classes), label.astype(np.intp)
    else:
        pairs, kind = np.unique(np.stack([label, weight]), axis=1, return_inverse=True)
        of_class, of_weight, kind = pairs[0].astype(np.intp), pairs[1], kind.ravel()
    priors = None if learner.priors is None else centres.priors
    unbiased = learner.covariance == "unbiased"
    kinds = LeftOut.of(of_class, of_weight, sums.class_weight, priors, unbiased)
    if len(label) - 1 <= n_classes or (kinds.freedom <= 0).any():
        return None
    return kinds, kind


def _left_out(
    learner: Any,
    sums: Moments,
    data: Data,
    centres: Centres,
    score_block: Callable[[Floats, LeftOut], tuple[Floats, NDArray[np.bool_]]],
    score_sparse: Callable[[Rows, LeftOut], tuple[Floats, NDArray[np.bool_]]] | None = None,
) -> Floats | None:
    """Return the leave-one-out scores, (n, k), or None.

    Parameters
    ----------
    learner : LDA or LinearGaussianNB
    sums, data
        All rows, of positive weight.
    centres : Centres
        Priors and means of the classes.
    score_block : callable
        Scores a dense block of centered rows; returns a mask of the rows to refit, too.
    score_sparse : callable, optional
        Scores sparse rows of one class and weight.
    """
    result = _kinds_of(learner, sums, data, centres)
    if result is None:
        return None
    kinds, kind = result
    scores, refit = np.empty((len(kind), len(centres.gap))), np.zeros(len(kind), bool)
    if score_sparse is not None and data.rows.is_sparse:
        order = np.argsort(kind, kind="stable")
        for chosen in np.split(order, np.flatnonzero(np.diff(kind[order])) + 1):
            of_kind = kinds.take(kind[chosen])
            scores[chosen], refit[chosen] = score_sparse(data.rows.take(chosen), of_kind)
    else:
        for part, block in blocks_about(data.rows, centres.middle, centres.scale):
            scores[part], refit[part] = score_block(block, kinds.take(kind[part]))
    assert sums.classes is not None
    learner._refit_scores(data, sums.classes, scores, np.flatnonzero(refit))
    return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores


def lda_left_out(learner: Any, sums: Moments, data: Data) -> Floats | None:
    """Return the leave-one-out scores of LDA, (n, k), or None."""
    data = data.present()
    if data.rows.n_rows - 1 < data.rows.n_features:  # a fit would solve the dual
        return None
    within, values, _ = learner._within(sums, None)
    centres = centres_of(values, class_priors(learner.priors, values.weight))
    plain = learner.shrinkage is None or learner.shrinkage == 0
    if plain and _differ_in_null_space(centres, within):
        return None
    scorer = _plain if plain else _eigenbasis
    return _left_out(learner, sums, data, centres, scorer(learner, values, centres, within))


def _differ_in_null_space(centres: Centres, within: Within) -> bool:
    """Return whether class means differ in directions without within-class variance.

    Then the dropped part depends on the standard deviations, which change with every row.
    """
    if not within.dependent:
        return False
    gap = centres.gap[:, within.kept] / within.length
    orthogonal, _ = np.linalg.qr(within.root)
    outside = gap - (gap @ orthogonal) @ orthogonal.T
    return bool(np.abs(outside).max() > NULL_SPACE_TOLERANCE * np.abs(gap).max(initial=0.0))


def _plain(learner: Any, values: Sums, centres: Centres, within: Within) -> Any:
    """Return the scorer of blocks without shrinkage.

    Only x'Ax and x'A mu_k are computed for each row; the other products follow from them.
    """
    freedom = degrees_of_freedom(values, learner.covariance)
    whitener = within.whitener() / np.sqrt(freedom)
    white = centres.gap @ whitener
    means, gram = whitener @ white.T, white @ white.T
    square = np.diagonal(gram).copy()

    def scores(block: Floats, row: LeftOut) -> tuple[Floats, NDArray[np.bool_]]:
        pushed = block @ whitener
        xx = np.einsum("ij,ij->i", pushed, pushed)
        xm = block @ means
        own = xm[np.arange(len(xx)), row.label]
        xu = xx - own
        h = np.maximum(xu - own + square[row.label], 0.0)
        uv = gram.take(row.label, axis=0)
        uv -= xm
        uv += xu[:, None]
        xm *= -2.0
        xm += square
        xm += xx[:, None]
        return row.scores(h, uv, xm, *row.about_middle(xx, xu, h))

    return scores


def _eigenbasis(learner: Any, values: Sums, centres: Centres, within: Within) -> Any:
    """Return the scorer of blocks with shrinkage, in the eigenbasis of the scatter."""
    del within
    sizes, vectors = eigh(values.scatter)
    sizes = np.maximum(sizes, 0.0)
    unit = float(sizes.sum()) or 1.0
    sizes, vectors = sizes / unit, vectors / np.sqrt(unit)  # tr S = 1
    means = centres.gap @ vectors
    squares, d, total = float(sizes @ sizes), len(sizes), values.weight.sum()

    def scores(block: Floats, row: LeftOut) -> tuple[Floats, NDArray[np.bool_]]:
        x = block @ vectors
        u = x - means[row.label]
        uu = np.einsum("ij,ij->i", u, u)
        trace = 1.0 - row.factor * uu
        flat = trace < MIN_VARIANCE_LEFT
        trace[flat] = 1.0
        if isinstance(learner.shrinkage, str):
            left = squares - 2.0 * row.factor * ((u * u) @ sizes) + (row.factor * uu) ** 2
            g = oas(trace, left, total - row.weight, d)
        else:
            g = np.full(len(uu), float(learner.shrinkage))
        inverse = (1.0 - g)[:, None] * sizes
        inverse += (g * trace / d)[:, None]
        np.divide(1.0, inverse, out=inverse)
        xi, ui = x * inverse, u * inverse
        xx, xu, h = (np.einsum("ij,ij->i", *pair) for pair in ((x, xi), (x, ui), (u, ui)))
        uv = xu[:, None] - ui @ means.T
        vv = xx[:, None] - 2.0 * (xi @ means.T) + inverse @ (means**2).T
        result, refit = row.scores(h, uv, vv, *row.about_middle(xx, xu, h), g)
        return result, refit | flat

    return scores


@dataclass(frozen=True)
class _Columns:
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


def naive_bayes_left_out(learner: Any, sums: Moments, data: Data) -> Floats | None:
    """Return the leave-one-out scores of linear Gaussian naive Bayes, (n, k), or None."""
    data, values = data.present(), sums.sums
    centres = centres_of(values, class_priors(learner.priors, values.weight))
    columns = _Columns(
        values.scatter,
        ~constant_within(values),
        centres.gap,
        -centres.middle * centres.scale,
        centres.scale,
    )
    single = np.zeros(0, bool)
    if data.rows.is_sparse:
        rows = data.rows.sum_duplicates()
        assert rows.indices is not None
        single = np.bincount(rows.indices[rows.values != 0], minlength=rows.n_features) == 1
        data = replace(data, rows=rows)
    return _left_out(
        learner,
        sums,
        data,
        centres,
        lambda block, row: _dense_block(block, columns, row),
        lambda rows, kind: _sparse_kind(rows, columns, kind, single),
    )


def _dense_block(x: Floats, columns: _Columns, row: LeftOut) -> tuple[Floats, NDArray[np.bool_]]:
    u = x - columns.gap[row.label]
    inverse, bad = columns.inverse(row.factor[:, None], u, slice(None))
    vv = np.stack([np.einsum("ij,ij,ij->i", inverse, v, v) for v in (x - g for g in columns.gap)])
    h = np.einsum("ij,ij,ij->i", inverse, u, u)
    p = row.x_factor[:, None] * x + row.u_factor[:, None] * u
    return _finish(row, h, vv.T, np.einsum("ij,ij,ij->i", inverse, p, p)), np.asarray(
        bad.any(axis=1)
    )


def _finish(row: LeftOut, h: Floats, vv: Floats, pp: Floats) -> Floats:
    # nothing is left to take out of the inverse, which is that of a shrinkage of 1
    scores, _ = row.scores(h, np.zeros_like(vv), vv, np.zeros_like(h), pp, 1.0)
    return scores


def _sparse_kind(
    rows: Rows, columns: _Columns, kind: LeftOut, single: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the scores of rows of one class and one weight, and a mask of the rows to refit."""
    f, a, b = (float(part[0]) for part in (kind.factor, kind.x_factor, kind.u_factor))
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
