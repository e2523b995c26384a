"""Least-squares classification: regression on class indicators."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.moments.base_classifier import MomentClassifier, without_lone_classes
from separable.moments.regression.least_squares import LeastSquares
from separable.statistics.moments import Moments
from separable.statistics.precision import ROUNDING, Precision
from separable.statistics.sums import Sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.model.linear_model import Link
    from separable.moments.base import Solution
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["LeastSquaresClassifier"]


class LeastSquaresClassifier(MomentClassifier[Moments]):
    """Least-squares classifier: linear regression on class indicators.

    Two classes: minimizes sum_i c_i (w.x_i + b - y_i)^2 with y_i = +1 for ``classes_[1]`` and -1
    for ``classes_[0]``; the sign of the score is the class. More classes: one regression per class
    on y_i = 1 for its rows and 0 for the others; the largest score is the class. These scores sum
    to 1 but are not probabilities: they may be negative.

    It is solved exactly, from sums per class, with the numerics and warnings of ``LeastSquares``.

    Squared error is not classification error. Rows far on the correct side have large residuals
    and pull the boundary away from where the classes meet. Of three classes in a line, the middle
    one may never have the largest score (masking). ``LDA`` uses the same sums; see
    docs/learners/least_squares_classifier.md for both failures in numbers.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shapes (k, d) and (k,)
    classes_ : ndarray of shape (K,)
    condition_number_ : float
        Of the centered columns, scaled to norm 1; inf for linearly dependent columns.
    rank_ : int
        Of the centered columns.
    evidence_ : dict
        As for ``LeastSquares``.

    Examples
    --------
    >>> from separable import LeastSquaresClassifier
    >>> sides = LeastSquaresClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    >>> sides.decision_function([[1.0], [2.5]])
    array([-0.4,  0.8])
    >>> sides.predict([[1.4], [1.6]]).tolist()
    ['a', 'b']
    """

    _instead: ClassVar[str] = (
        "use SGDClassifier or LinearGaussianNB, which keep one number a column and class; or fit "
        "fewer rows than columns at once, which needs no products of columns"
    )

    @property
    def condition_number_(self) -> float:
        """Condition number of the centered columns, scaled to norm 1."""
        return float(self._complete().learned["condition_number"])

    @property
    def rank_(self) -> int:
        """Rank of the centered columns."""
        return int(self._learned("rank"))

    # ------------------------------------------------------------------ solving

    def _link(self) -> Link:
        return "score"

    def _new_sums(self) -> Moments:
        return Moments("classes", owner=type(self).__name__, instead=self._instead)

    def _regression(self) -> LeastSquares:
        regression = LeastSquares()
        regression._column_names = getattr(self, "_column_names", None)
        return regression

    def _solve(self, sums: Moments, data: Data | None) -> Solution:
        self._check_classes(sums.classes)
        if data is not None:
            data = data.present()
            data = replace(data, y=_targets(data.y))
        return self._regression()._solve(_with_targets(sums), data)

    def _solve_rows(self, data: Data) -> Solution | None:
        if not data.is_wide:
            return None
        data = data.present()
        self._check_classes(np.unique(data.y))
        return self._regression()._solve_rows(replace(data, y=_targets(data.y)))

    def _left_out_scores(self, sums: Moments, data: Data) -> Floats | None:
        data = data.present()
        if data.rows.n_rows - 1 < data.rows.n_features:
            return None
        _, label, count = np.unique(data.y, return_inverse=True, return_counts=True)
        data = replace(data, y=_targets(data.y))
        scores = self._regression()._left_out_scores(_with_targets(sums), data)
        assert scores is not None
        return without_lone_classes(scores, label, count[label] == 1)


def _targets(y: NDArray[Any]) -> Floats:
    """Return targets: -1 and 1 for two classes, (n,), else class indicators, (n, K)."""
    classes, label = np.unique(y, return_inverse=True)
    if len(classes) == 2:
        return (2 * label - 1).astype(np.float64)
    targets = np.zeros((len(y), len(classes)))
    targets[np.arange(len(y)), label] = 1.0
    return targets


def _with_targets(sums: Moments) -> Moments:
    """Return the sums of a regression on the class indicators.

    The scatter of the columns is within-class plus between-class scatter. The products of columns
    with indicators are W_k (mu_k - m), those of indicators W_k - W_k^2 / W and -W_k W_l / W.
    """
    values, pooled = sums.sums, sums.sums.pooled()
    weight, total = values.weight, float(values.weight.sum())
    cross = weight[:, None] * (values.offset - pooled.offset)
    among = np.diag(weight) - np.multiply.outer(weight, weight) / total
    mean = weight / total
    if len(weight) == 2:  # y = 2 (indicator of the second) - 1
        cross, among, mean = 2.0 * cross[1:], 4.0 * among[1:, 1:], 2.0 * mean[1:] - 1.0
    t = len(mean)
    whole = Sums(
        pooled.rows,
        pooled.weight,
        np.concatenate([pooled.origin, np.zeros(t)]),
        np.concatenate([pooled.scale, np.ones(t)]),
        np.concatenate([pooled.offset[0], mean])[None, :],
        np.block([[pooled.scatter, cross.T], [cross, among]]),
        _bounds(values, pooled, np.sqrt(np.diagonal(among))),
    )
    return Moments.from_sums(whole, None if t == 1 else t)


def _bounds(values: Sums, pooled: Sums, length: Floats) -> Precision | None:
    """Return error bounds of the sums with targets; None: only rounding."""
    if values.precision is None or pooled.precision is None:
        return None
    fraction = values.weight / values.weight.sum()
    factor = np.sqrt(values.weight / np.maximum(1.0 - fraction, fraction.min()))[:, None]
    off = (factor * (values.precision.mean + pooled.precision.mean)).max(axis=0)
    heavy = (values.precision.weight / values.weight).max()
    return Precision(
        np.concatenate([pooled.precision.length, length]),
        np.concatenate([pooled.precision.noise + off, (ROUNDING + heavy) * length]),
        np.concatenate([pooled.precision.mean[0], np.full(len(length), heavy)])[None, :],
        pooled.precision.weight,
    )
