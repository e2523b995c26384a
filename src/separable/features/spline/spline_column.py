"""SplineColumn: a numeric column as linear B-splines (tents) on its knots."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.table import CellError, plain_number
from separable.features.spline.knots import choose_knots, knot_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.features.spline.value_counts import ValueCounts

__all__ = ["SplineColumn", "remainders"]


def remainders(values: NDArray[np.float64], period: float) -> NDArray[np.float64]:
    """Return values modulo a period, from 0 to below it; NaN stays NaN."""
    return np.mod(np.mod(values, period), period)  # a negative one may round up to the period


@dataclass(frozen=True)
class SplineColumn:
    """Encoder of a numeric column: linear interpolation between its knots.

    A value between knots i and i + 1 becomes 1 - t at feature i and t at feature i + 1; the weights
    of a model are the values of the curve at the knots.

    Parameters
    ----------
    name : str
        Raw column.
    knots : ndarray of float64
        Ascending; empty if the training values do not vary.
    missing : bool
        Whether training values were missing, which adds an indicator ``name=(missing)``.
    period : float
        Length of a cycle; 0: the column is not periodic.
    linear : bool
        Continuation beyond the outer knots: linear, else constant.
    """

    name: str
    knots: NDArray[np.float64]
    missing: bool
    period: float = 0.0
    linear: bool = False

    @classmethod
    def fit(
        cls, name: str, counts: ValueCounts, n_knots: int, period: float, linear: bool
    ) -> SplineColumn:
        """Choose the knots of a column.

        Parameters
        ----------
        name : str
        counts : ValueCounts
            Of the values, or of their remainders if there is a period.
        n_knots : int
        period : float
        linear : bool
        """
        knots = choose_knots(counts, n_knots)
        if len(knots) and not math.isfinite(float(knots[-1]) - float(knots[0])):
            raise ValueError(
                f"Column {name!r} ranges from {knots[0]:g} to {knots[-1]:g}, a difference that "
                "float64 cannot hold. Correct its values, or divide them by 10."
            )
        return cls(name, knots, counts.missing > 0, period, linear)

    @property
    def width(self) -> int:
        """Number of output features."""
        return len(self.knots) + self.missing

    @cached_property
    def breaks(self) -> NDArray[np.float64]:
        """Ends of the linear pieces: the knots, and for a cycle the first one again."""
        if not self.period or not len(self.knots):
            return self.knots
        return np.append(self.knots, self.knots[0] + self.period)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Output feature names: the range in which each tent is not 0, such as ``age[32-41]``."""
        texts = knot_texts(self.knots)
        last = len(texts) - 1
        names = []
        for at in range(len(texts)):
            low, high = texts[at - 1], texts[(at + 1) % len(texts)]
            if not self.period and at == 0:
                names.append(f"{self.name}[<{high}]")
            elif not self.period and at == last:
                names.append(f"{self.name}[>{low}]")
            else:
                between = " to " if "-" in low + high else "-"
                names.append(f"{self.name}[{low}{between}{high}]")
        if self.period and len(texts) == 2:  # both tents span the whole cycle
            names = [f"{self.name}[around {text}]" for text in texts]
        return (*names, *[f"{self.name}=(missing)"] * self.missing)

    # --- encoding ---

    def encode(
        self, values: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return the two features of each value and the value t of the second.

        Parameters
        ----------
        values : ndarray of float64
            NaN for missing ones.

        Returns
        -------
        left, right : ndarray of int
            Features within the column. A missing value has the indicator as ``left``, or -1.
        t : ndarray of float64
            Value of ``right``; that of ``left`` is 1 - t.
        """
        n = len(values)
        gone = np.isnan(values)
        if not len(self.knots):
            left = np.where(gone & self.missing, 0, -1)
            return left, left, np.zeros(n)
        x = np.where(gone, self.knots[0], values)
        if self.period:
            x = remainders(x, self.period)
            x = np.where(x < self.knots[0], x + self.period, x)
        breaks = self.breaks
        left = np.searchsorted(breaks[1:-1], x, side="right")
        with np.errstate(over="ignore"):
            t = (x - breaks[left]) / np.diff(breaks)[left]
        if not self.linear or self.period:
            t = np.clip(t, 0.0, 1.0)
        elif not np.isfinite(t).all():
            self._refuse_far(values, int(np.flatnonzero(~np.isfinite(t))[0]))
        right = (left + 1) % len(self.knots) if self.period else left + 1
        t[gone] = 0.0
        return np.where(gone, len(self.knots) if self.missing else -1, left), right, t

    def _refuse_far(self, values: NDArray[np.float64], row: int) -> None:
        raise CellError(
            self.name,
            row,
            f"{values[row]:g} is too far from the training values ({self.knots[0]:g} to "
            f"{self.knots[-1]:g}) for a linear continuation. Correct it.",
        )

    @cached_property
    def _pieces(self) -> tuple[list[float], list[float]]:
        """The breaks as Python floats: all, and the inner ones."""
        breaks: list[float] = self.breaks.tolist()
        return breaks, breaks[1:-1]

    @cached_property
    def _inside(self) -> tuple[float, float, list[float], list[float]]:
        """The outer knots, and the breaks; without knots no value is between them."""
        ends = (self._pieces[0][0], self._pieces[0][-1]) if len(self.knots) else (0.0, 0.0)
        return (*ends, *self._pieces)

    def encode_one(self, value: Any) -> list[tuple[int, float]] | None:
        """Return index and value of the non-zeros of one record.

        None: the value is unusual, and `encode` must handle it.
        """
        if type(value) is float and not self.period:
            first, last, breaks, inner = self._inside
            if first <= value < last:
                left = bisect_right(inner, value)
                low = breaks[left]
                t = (value - low) / (breaks[left + 1] - low)
                if 0.0 < t < 1.0:
                    return [(left, 1.0 - t), (left + 1, t)]
                if t == 0.0:
                    return [(left, 1.0)]
        value = plain_number(value)
        if value is None:
            return None
        n_knots = len(self.knots)
        if value != value:
            return [(n_knots, 1.0)] if self.missing else []
        if not n_knots:
            return []
        if math.isinf(value):
            return None
        breaks, inner = self._pieces
        if self.period:
            value = value % self.period % self.period  # a negative one may round up to the period
            value += self.period if value < breaks[0] else 0.0
        left = bisect_right(inner, value)
        low = breaks[left]
        t = (value - low) / (breaks[left + 1] - low)
        if not self.linear or self.period:
            t = min(max(t, 0.0), 1.0)
        elif math.isinf(t):
            return None
        pair = (left, 1.0 - t), ((left + 1) % n_knots, t)
        return [each for each in pair if each[1]]
