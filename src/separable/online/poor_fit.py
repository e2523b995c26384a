"""Warnings about data on which online learners converge slowly.

The step of an online learner is proportional to the row. So a column far from 0, or one huge value,
dominates all steps, and sample weights far below 1 make the steps vanish.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.online.runs import TrainingBatch
    from separable.typing import Floats


__all__ = ["is_check_due", "poor_fit_message"]

#: Ratios that slow convergence: |mean| to deviation of a column, and largest value to median.
MAX_SHIFT_RATIO, MAX_OUTLIER_RATIO = 30.0, 1e6
#: Ratio of a value to the median of its column, or of the medians of two columns, to report.
DOMINANT_RATIO = 1e8
#: Range of magnitudes whose squares neither underflow nor overflow in float64.
MIN_MAGNITUDE, MAX_MAGNITUDE = 1e-140, 1e140
#: Sample weights below the first make steps short; below the others, steps underflow.
SMALL_WEIGHT, UNDERFLOW_WEIGHT = 1e-2, {"float32": 1e-30, "float64": 1e-290}
#: Relative errors, compared with the best constant, from which to warn: usually, and for extreme
#: data.
POOR_ERROR, POOR_ERROR_EXTREME = 0.6, 0.3
#: Maximum rows and values of the sample, and its minimum rows.
SAMPLE_ROWS, SAMPLE_VALUES, MIN_ROWS = 256, 200_000, 8
#: Rows of a stream before its first check; later checks follow when the rows have doubled.
FIRST_CHECK = 128
REMEDY = (
    "Scale the columns first, for example with sklearn.preprocessing.StandardScaler or "
    "separable.TableEncoder."
)


class Oddity(NamedTuple):
    """A property of the data that slows convergence.

    ``poor`` is the relative error, compared with the best constant, from which to warn.
    """

    words: str
    poor: float


class Columns(NamedTuple):
    """Column statistics of a sample of rows: lower median of the non-zero |values|, and more.

    ``mean`` and ``deviation`` are 0 for sparse columns with zeros.
    """

    column_index: NDArray[Any]
    median: Floats
    mean: Floats
    deviation: Floats


def poor_fit_message(
    model: Any,
    batch: TrainingBatch,
    y: NDArray[Any],
    *,
    name: Callable[[int], str],
    ignores_scale: bool,
    ignores_shift: bool,
) -> str | None:
    """Return what is odd about the data if the model is hardly better than a constant.

    Parameters
    ----------
    model : Model
        The fitted model.
    batch : TrainingBatch
        The rows.
    y : ndarray
        Their targets, as passed by the caller.
    name : callable
        Returns what a message calls a column.
    ignores_scale, ignores_shift : bool
        Whether training is invariant to the scale, and to the means, of the columns.
    """
    n_rows, n_features = batch.rows.shape
    n_present = n_rows if batch.present is None else len(batch.present)
    if n_present < MIN_ROWS or n_features == 0:
        return None
    most = max(MIN_ROWS, min(SAMPLE_VALUES // n_features, SAMPLE_ROWS))
    if batch.present is None and n_rows <= most:
        sample, y_sample = batch.rows, y
    else:
        steps = min(most, n_present)
        chosen = np.arange(steps) * (n_present - 1) // (steps - 1)
        chosen = chosen if batch.present is None else batch.present[chosen]
        sample, y_sample = batch.rows.take(chosen), y[chosen]
    with np.errstate(all="ignore"):
        oddities = [*_light(batch), *_odd_numbers(model, batch, y)]
        oddities += _odd_columns(batch.rows, sample, name, ignores_scale, ignores_shift)
        error = _relative_error(model, sample, y_sample) if oddities else 0.0
    return next((oddity.words for oddity in oddities if error >= oddity.poor), None)


def is_check_due(rows_seen: int, n_new: int) -> bool:
    """Return whether the rows of a stream have doubled with the last ``n_new``."""
    before = rows_seen - n_new
    return rows_seen >= FIRST_CHECK and rows_seen.bit_length() > before.bit_length()


def _light(batch: TrainingBatch) -> Iterator[Oddity]:
    """Yield the oddity of sample weights that are all far below 1."""
    weight = batch.counted.weight
    if weight is None or (largest := float(weight.max())) >= SMALL_WEIGHT:
        return
    yield Oddity(
        f"the largest sample weight is {largest:.3g}, and a row of weight f takes f of a step. "
        "Divide all weights by the largest.",
        0.0 if largest < UNDERFLOW_WEIGHT[batch.rows.values.dtype.name] else POOR_ERROR_EXTREME,
    )


def _odd_numbers(model: Any, batch: TrainingBatch, y: NDArray[Any]) -> Iterator[Oddity]:
    """Yield oddities of regression targets."""
    if model.classes is not None:
        return
    sizes = np.abs(y if batch.present is None else y[batch.present])
    largest = sizes.max()
    if 0 < largest < MIN_MAGNITUDE or largest > MAX_MAGNITUDE:
        yield Oddity(
            f"the numbers to predict go up to {largest:.3g}, whose square is not a number that "
            "float64 holds. Divide y by a constant.",
            0.0 if largest < MIN_MAGNITUDE else POOR_ERROR_EXTREME,
        )
    if 2 * np.count_nonzero(sizes < largest / DOMINANT_RATIO) < len(sizes):
        return
    if largest > DOMINANT_RATIO * (median := np.median(sizes)) > 0:
        yield Oddity(
            f"y has the value {y[np.argmax(np.abs(y))]:.3g}, and half of its values are up to "
            f"{median:.3g} in size. Check that value, or drop its row.",
            POOR_ERROR,
        )


def _odd_columns(
    rows: Rows,
    sample: Rows,
    name: Callable[[int], str],
    ignores_scale: bool,
    ignores_shift: bool,
) -> Iterator[Oddity]:
    """Yield oddities of columns: a huge value, different scales, a mean far from 0."""
    columns = _dense_columns(sample) if sample.indices is None else _sparse_columns(sample)
    if not np.isfinite(columns.median).any():  # all values are 0
        return
    smallest, largest = (name(int(j)) for j in columns.column_index[_extremes(columns)])
    result = _largest(rows, columns)
    if result is not None:
        column, value, median = result
        yield Oddity(
            f"{name(column)} has the value {value:.3g}, and half of its values that are "
            f"not 0 are up to {median:.3g} in size. Check that value, or drop its row. {REMEDY}",
            0.0 if abs(value) > DOMINANT_RATIO * median else POOR_ERROR,
        )
    least, most = columns.median[_extremes(columns)]
    if most > MAX_MAGNITUDE or most < (MIN_MAGNITUDE if ignores_scale else 1 / MAX_OUTLIER_RATIO):
        yield Oddity(
            f"values of {largest}, the largest column, are about {most:.3g}. {REMEDY}", POOR_ERROR
        )
    if most > DOMINANT_RATIO * least and not ignores_scale:
        yield Oddity(
            f"values of {largest} are about {most:.3g}, and those of {smallest} about {least:.3g}, "
            f"so steps along the one hide the other. {REMEDY}",
            POOR_ERROR if most <= DOMINANT_RATIO**2 * least else POOR_ERROR_EXTREME,
        )
    if not ignores_shift:
        yield from _far_columns(columns, name)


def _extremes(columns: Columns) -> list[int]:
    """Return the indices of the columns with the smallest and the largest median."""
    present = np.where(np.isfinite(columns.median), columns.median, -1.0)
    return [int(np.argmin(columns.median)), int(np.argmax(present))]


def _far_columns(columns: Columns, name: Callable[[int], str]) -> Iterator[Oddity]:
    """Yield the column that is farthest from 0; a constant one is measured by the others."""
    size = np.abs(columns.mean)
    constant = columns.deviation <= 1e-12 * size
    spread = np.where(constant, columns.deviation.max(), columns.deviation)
    ratio = np.where(spread > 0, size / spread, 0.0)
    worst = int(np.argmax(ratio))
    if ratio[worst] > MAX_SHIFT_RATIO:
        yield Oddity(
            f"{name(int(columns.column_index[worst]))} lies about "
            f"{columns.mean[worst]:.3g} and "
            f"deviates by {columns.deviation[worst]:.3g} from it, so steps along it hide all "
            f"others. {REMEDY}",
            POOR_ERROR,
        )


def _dense_columns(sample: Rows) -> Columns:
    values = sample.values.astype(np.float64)
    sizes = np.abs(values)
    unit = np.maximum.reduce(sizes, axis=0)
    n_present = np.count_nonzero(sizes, axis=0)
    sizes[sizes == 0] = np.inf
    sizes.sort(axis=0)
    median = sizes[np.maximum(n_present - 1, 0) // 2, np.arange(sample.n_features)]
    unit[unit == 0] = 1.0
    values /= unit
    mean = values.mean(axis=0)
    deviation = np.sqrt(np.square(values - mean).mean(axis=0))
    return Columns(np.arange(sample.n_features), median, mean * unit, deviation * unit)


def _sparse_columns(sample: Rows) -> Columns:
    assert sample.indices is not None
    order = np.lexsort((np.abs(sample.values), sample.indices))
    values, column = sample.values[order].astype(np.float64), sample.indices[order]
    values, column = values[values != 0], column[values != 0]
    index, first, count = np.unique(column, return_index=True, return_counts=True)
    if len(index) == 0:
        return Columns(index, *np.zeros((3, 0)))
    unit = np.abs(values[first + count - 1])
    scaled = values / np.repeat(unit, count)
    mean = np.add.reduceat(scaled, first) / count
    squares = np.add.reduceat(np.square(scaled - np.repeat(mean, count)), first) / count
    full = count == sample.n_rows
    return Columns(
        index,
        np.abs(values[first + (count - 1) // 2]),
        np.where(full, mean * unit, 0.0),
        np.where(full, np.sqrt(squares) * unit, 0.0),
    )


def _largest(rows: Rows, columns: Columns) -> tuple[int, float, float] | None:
    """Return column, value and median of the value that is largest relative to its median."""
    values = rows.values
    if values.size == 0 or np.abs(values).max() <= MAX_OUTLIER_RATIO * columns.median.min():
        return None
    median = np.full(rows.n_features, np.inf)
    median[columns.column_index] = columns.median
    if rows.indices is None:
        sizes = np.maximum(values.max(axis=0), -values.min(axis=0)).astype(np.float64)
        column = int(np.argmax(sizes / median))
        at = int(np.argmax(np.abs(values[:, column])))
        value = float(values[at, column])
    else:
        at = int(np.argmax(np.abs(values) / median[rows.indices]))
        column, value = int(rows.indices[at]), float(values[at])
    return (
        (column, value, float(median[column]))
        if abs(value) > MAX_OUTLIER_RATIO * median[column]
        else None
    )


def _relative_error(model: Any, sample: Rows, y: NDArray[Any]) -> float:
    """Return the training error as a fraction of that of the best constant."""
    try:
        predicted = model.predict(sample)
    except ValueError:  # scores that overflow
        return np.inf
    with np.errstate(all="ignore"):
        if model.classes is None:
            unit = np.abs(y).max() or 1.0
            y, predicted = y / unit, predicted / unit
            error, constant = np.square(predicted - y).mean(), np.square(y - y.mean()).mean()
        else:
            error = (predicted != y).mean()
            constant = 1 - np.unique(y, return_counts=True)[1].max() / len(y)
        return float(error / constant) if constant > 0 else 0.0
