"""Error bounds of means and scatter after a subtraction (cancellation).

Sums over rows are correct to a few units in the last place. A subtraction keeps this error and
makes the sum smaller, so digits are lost, column by column and product by product. With the lengths
L_i (square roots of the largest sums of squares so far) and the noise N_i (the error of a column,
as a norm), every error of a scatter S obeys

    |error of S_ij| <= L_i N_j + N_i L_j,

because S_ij is an inner product of two columns, each with its own error (Higham, Accuracy and
Stability of Numerical Algorithms, sections 1.7 and 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.statistics.sums import Sums
    from separable.typing import Floats


__all__ = [
    "Precision",
    "SignificanceError",
    "check_digits",
    "check_weights",
    "merged",
    "relative_error",
    "subtracted",
]

EPS = float(np.finfo(np.float64).eps)
#: Relative rounding error of a sum over blocks of rows, with a safety factor.
ROUNDING = 4 * EPS
#: Largest relative error of a result: six digits ...
TOLERANCE = 1e-6
#: ... and smallest fraction of a sum of squares that may remain.
MIN_FRACTION_LEFT = 1e-8
#: Largest relative error of weights solved from sums after a subtraction.
WEIGHTS_TOLERANCE = 1e-8
#: Maximum number of columns named in a message.
MAX_NAMED = 5
#: Number of matrix entries checked at once.
BLOCK_ENTRIES = 1 << 20


class SignificanceError(ValueError):
    """A subtraction left too few correct digits.

    Parameters
    ----------
    findings : list of (str, tuple of int, float)
        The quantity, with {} for each of its columns; the columns; its relative error.
    """

    def __init__(self, findings: list[tuple[str, tuple[int, ...], float]]) -> None:
        self.findings = findings
        super().__init__(self.text(lambda column: f"column {column}"))

    def text(self, name: Callable[[int], str]) -> str:
        """Return the message with column names."""
        parts = [
            f"{words.format(*map(name, columns))} has {_digits(error)}"
            for words, columns, error in self.findings[:MAX_NAMED]
        ]
        more = len(self.findings) - MAX_NAMED
        rest = f" and {more} more" if more > 0 else ""
        return (
            f"The subtraction leaves too few correct digits: {'; '.join(parts)}{rest}. "
            "Sum the remaining rows instead of subtracting."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.findings,)


def _digits(error: float) -> str:
    digits = int(np.floor(-np.log10(error))) if 0 < error < 1 else 0
    return "no correct digit" if digits < 1 else f"about {digits} correct digit{'s' * (digits > 1)}"


@dataclass(frozen=True)
class Precision:
    """Error bounds of sums after a subtraction, in units of z.

    Parameters
    ----------
    length, noise : ndarray, shape (p,)
        L and N of the bound on the scatter.
    mean : ndarray, shape (G, p)
        Error of the means of the groups.
    weight : ndarray, shape (G,)
        Error of the weights of the groups.
    """

    length: Floats
    noise: Floats
    mean: Floats
    weight: Floats

    @classmethod
    def of(cls, sums: Sums) -> Precision:
        """Return the bounds of sums: their own, or the rounding error of a sum."""
        if sums.precision is not None:
            return sums.precision
        length = np.sqrt(np.maximum(sums.diagonal, 0.0))
        weight = sums.weight[:, None]
        from_origin = np.sqrt((weight * sums.offset**2).sum(axis=0))
        spread = np.divide(
            length, np.sqrt(weight), out=np.zeros_like(sums.offset), where=weight > 0
        )
        return cls(
            length,
            ROUNDING * (length + from_origin),
            ROUNDING * (np.abs(sums.offset) + spread),
            np.where(sums.weight == np.rint(sums.weight), 0.0, ROUNDING * sums.weight),
        )

    def regrouped(self, index: NDArray[np.integer[Any]], n_groups: int) -> Precision:
        """Return the bounds with group g at ``index[g]``, as ``Sums.regroup`` moves groups."""
        mean, weight = np.zeros((n_groups, self.mean.shape[1])), np.zeros(n_groups)
        mean[index], weight[index] = self.mean, self.weight
        return replace(self, mean=mean, weight=weight)

    def keep_groups(self, groups: NDArray[np.bool_]) -> Precision:
        """Return the bounds of some groups."""
        return replace(self, mean=self.mean[groups], weight=self.weight[groups])

    def rescaled(self, ratio: Floats) -> Precision:
        """Return the bounds in other units, as for ``Sums.rescaled``."""
        return Precision(self.length * ratio, self.noise * ratio, self.mean * ratio, self.weight)

    def columns(self, chosen: slice) -> Precision:
        """Return the bounds of some columns."""
        return replace(
            self,
            length=self.length[chosen],
            noise=self.noise[chosen],
            mean=self.mean[:, chosen],
        )

    def pooled(self, sums: Sums, mean: Floats) -> Precision:
        """Return the bounds of all rows as one group about its mean."""
        weight, total = sums.weight[:, None], float(sums.weight.sum())
        between = np.sqrt((weight * (sums.offset - mean) ** 2).sum(axis=0))
        shift = np.sqrt((weight * self.mean**2).sum(axis=0))
        off = (weight * self.mean).sum(axis=0) / total if total else self.mean[0]
        return Precision(
            np.hypot(self.length, between),
            self.noise + shift,
            off[None, :],
            self.weight.sum(keepdims=True),
        )


def merged(a: Sums, b: Sums) -> Precision | None:
    """Return the bounds of the sums of a and b, which have the same groups and units."""
    if a.precision is None and b.precision is None:
        return None
    first, second = Precision.of(a), Precision.of(b)
    total = a.weight + b.weight
    fraction = np.divide(b.weight, total, out=np.zeros_like(total), where=total > 0)[:, None]
    both = (a.weight * fraction[:, 0])[:, None]  # W_a W_b / W
    mean = (1.0 - fraction) * first.mean + fraction * second.mean
    gap = np.abs(b.seen_from(a) - a.offset)
    return Precision(
        np.sqrt(first.length**2 + second.length**2 + (both * gap**2).sum(axis=0)),
        first.noise + second.noise + np.sqrt((both * (first.mean + second.mean) ** 2).sum(axis=0)),
        mean,
        first.weight + second.weight,
    )


def subtracted(a: Sums, b: Sums, weight: Floats) -> Precision:
    """Return the bounds of the sums of a without b, which have the same groups and units.

    Parameters
    ----------
    a, b : Sums
    weight : ndarray, shape (G,)
        The remaining weight of each group.
    """
    first, second = Precision.of(a), Precision.of(b)
    left = weight > 0
    inverse = np.divide(1.0, weight, out=np.zeros_like(weight), where=left)[:, None]
    of_a, of_b = a.weight[:, None], b.weight[:, None]
    gap = np.abs(a.offset - b.seen_from(a))
    origins = ROUNDING * np.abs(b.origin - a.origin) * a.scale * (of_b > 0)
    off = first.mean + second.mean + origins  # error of the difference of the means
    off_weight = (first.weight + second.weight)[:, None] * inverse  # relative to what is left
    root = np.sqrt(of_a * of_b * inverse)
    noise = root * (off + off_weight * gap)
    return Precision(
        np.maximum(first.length, second.length),
        first.noise + second.noise + np.sqrt((noise**2).sum(axis=0)),
        np.where(left[:, None], of_a * inverse * (off + off_weight * gap), 0.0),
        first.weight + second.weight,
    )


def relative_error(sums: Sums) -> Floats:
    """Return the relative error of the sum of squares of each column, (p,)."""
    precision = Precision.of(sums)
    return _over(2.0 * precision.length * precision.noise, sums.diagonal)


def check_weights(error: float, weights: float) -> None:
    """Raise if weights solved after a subtraction are not accurate enough.

    Parameters
    ----------
    error : float
        Bound on the norm of the error of the standardized weights.
    weights : float
        Their norm.

    Raises
    ------
    ValueError
    """
    if error > WEIGHTS_TOLERANCE * weights:
        raise ValueError(
            "After the subtraction the sums of squares and products determine the weights to "
            f"{_digits(error / weights if weights else np.inf)} only, and 8 are required: columns "
            "depend on each other, or little of them is left. Fit the remaining rows instead."
        )


def _over(error: Floats, size: Floats) -> Floats:
    """Return error / size: 0 without an error, infinite if the size is 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio: Floats = np.where(error > 0, error / np.maximum(size, 0.0), 0.0)
    return ratio


def check_digits(before: Sums, left: Sums, classes: NDArray[Any] | None) -> None:
    """Raise if a subtraction left sums with too few correct digits.

    Parameters
    ----------
    before, left : Sums
        In the same units; ``left`` has error bounds.
    classes : ndarray or None
        Labels of the groups of ``left``.

    Raises
    ------
    SignificanceError
        With the columns, products and means, and the digits left.
    """
    precision = left.precision
    assert precision is not None
    groups = [""] if classes is None else [f" in class {k!r}" for k in classes.tolist()]
    heavy = _over(precision.weight, left.weight)
    findings: list[tuple[str, tuple[int, ...], float]] = [
        (f"the weight of the rows{groups[group]}", (), float(heavy[group]))
        for group in np.flatnonzero(heavy > TOLERANCE)
    ]
    findings += _bad_squares(before, left)
    if not findings and not left.is_diagonal:
        findings += _bad_products(left, precision)
    if not findings:
        findings += _bad_means(left, precision, groups)
    if findings:
        raise SignificanceError(findings)


def _bad_squares(before: Sums, left: Sums) -> list[tuple[str, tuple[int, ...], float]]:
    if left.rows.max() == 1:
        return []  # every row equals the mean of its group: the scatter is 0
    error = relative_error(left)
    fraction = 1.0 / np.maximum(_over(before.diagonal, left.diagonal), 1.0)
    bad = np.flatnonzero(
        (error > TOLERANCE) | ((fraction < MIN_FRACTION_LEFT) & (before.diagonal > 0))
    )
    return [
        (
            f"the sum of squares of {{}}, of which {max(fraction[j], 0.0):.1e} remains,",
            (int(j),),
            float(error[j]),
        )
        for j in bad[np.argsort(-error[bad], kind="stable")]
    ]


def _bad_products(left: Sums, precision: Precision) -> list[tuple[str, tuple[int, ...], float]]:
    """Return the products whose error is large relative to the norms of both columns."""
    size = np.sqrt(np.maximum(left.diagonal, 0.0))
    kept = np.flatnonzero(size > 0)
    length, noise = precision.length[kept] / size[kept], precision.noise[kept] / size[kept]
    if not len(kept) or 2 * length.max() * noise.max() <= TOLERANCE:
        return []
    step, pairs = max(1, BLOCK_ENTRIES // len(kept)), []
    for start in range(0, len(kept), step):
        rows = slice(start, start + step)
        error = np.outer(length[rows], noise) + np.outer(noise[rows], length)
        for i, j in zip(*np.nonzero(error > TOLERANCE), strict=True):
            if start + i < j:
                pairs.append((float(error[i, j]), int(kept[start + i]), int(kept[j])))
    pairs.sort(reverse=True)
    return [("the product of {} and {}", (i, j), error) for error, i, j in pairs]


def _bad_means(
    left: Sums, precision: Precision, groups: list[str]
) -> list[tuple[str, tuple[int, ...], float]]:
    """Return the means whose error is large relative to the mean and the spread of the column."""
    spread = np.sqrt(np.maximum(left.diagonal, 0.0) / left.weight.sum())
    error = _over(precision.mean, np.maximum(np.abs(left.scaled_means), spread))
    group, column = np.nonzero(error > TOLERANCE)
    order = np.argsort(-error[group, column], kind="stable")
    return [
        (f"the mean of {{}}{groups[g]}", (int(j),), float(error[g, j]))
        for g, j in zip(group[order], column[order], strict=True)
    ]
