"""Test vectors: rows from the user or generated, with the scores and predictions of the model."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.ingest.conversions.conversion import DateConversion, NumberConversion
from separable.data.rows import Rows, as_rows
from separable.data.table import TableError, is_missing, list_names
from separable.export.plan.plan import (
    BooleanStep,
    CategoryStep,
    CurveStep,
    DateStep,
    NumbersStep,
    NumberStep,
    RecordStep,
    TextStep,
)
from separable.features.dict_encoder import DictEncoder
from separable.features.one_hot.one_hot_encoder import OneHotEncoder
from separable.features.table.table_encoder import TableEncoder
from separable.model.predict.inputs import model_rows
from separable.model.predict.probability import (
    classes_of,
    model_probabilities,
    predicted_numbers,
)
from separable.model.predict.scores import linear_scores

if TYPE_CHECKING:
    from collections.abc import Iterable

    from separable.data.ingest.conversions.conversion import Conversion
    from separable.export.plan.plan import Plan, Step
    from separable.model.linear_model import LinearModel


__all__ = ["PRECISION", "Vector", "given_rows", "moment_text", "vectors_of"]

#: Tolerance of a score, relative to the sum of absolute contributions.
PRECISION = 1e-9

N_ROWS = 6
#: Values of numeric rows, repeated cyclically.
_PATTERN = (0.0, 1.0, -0.5, 2.0, 0.25, -1.5, 3.0)
#: Words for texts if the vocabulary is hashed.
_WORDS = ["this", "is", "a", "good", "film", "not a", "bad one", "at all,", "or so", "they", "say"]
#: Longer terms of a vocabulary are left out.
_LONGEST = 200

#: Maximum number of test rows in a file.
MOST_ROWS = 20


@dataclass(frozen=True)
class Vector:
    """One row with its expected results.

    Parameters
    ----------
    row : tuple, str or dict
        The values in the order of the columns; the text; the dict.
    scores : tuple of float
    sizes : tuple of float
        The sum of the absolute contributions to each score.
    prediction : object
        The class, the number, or a list of numbers.
    probabilities : tuple of float or None
    """

    row: Any
    scores: tuple[float, ...]
    sizes: tuple[float, ...]
    prediction: Any
    probabilities: tuple[float, ...] | None


def vectors_of(model: LinearModel, plan: Plan, rows: Any = None) -> tuple[Vector, ...]:
    """Return the test vectors of a model.

    Parameters
    ----------
    model : LinearModel
    plan : Plan
        Of the model.
    rows : object, optional
        Raw rows, as ``predict`` takes them; None: rows are generated.
    """
    taken = made_rows(plan) if rows is None else given_rows(plan, rows)
    detached = _detached(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # unseen levels are intended
        return tuple(_vector(detached, plan, row) for row in taken)


def _detached(model: LinearModel) -> LinearModel:
    """Return the model with a copy of its encoder, whose counts of unseen levels stay separate."""
    encoder = model.encoder
    if isinstance(encoder, TableEncoder):
        return replace(model, encoder=encoder.without_state())
    if isinstance(encoder, DictEncoder):
        return replace(model, encoder=DictEncoder.from_parts(*encoder.to_parts()))
    return model


def _vector(model: LinearModel, plan: Plan, row: Any) -> Vector:
    encoded = model_rows(model, _as_predict_takes_it(model, plan, row))
    scores = linear_scores(encoded, model.weights, model.intercept)
    sizes = linear_scores(
        Rows(np.abs(encoded.values), encoded.n_features, encoded.indices, encoded.indptr),
        np.abs(model.weights),
        np.abs(model.intercept),
    )
    class_probabilities = model_probabilities(model, scores)
    values = scores[0].tolist()
    if model.classes is not None:
        prediction = classes_of(scores, model.classes, model.score_threshold)[0].item()
    else:
        numbers = predicted_numbers(model, scores)[0].tolist()
        prediction = numbers[0] if len(numbers) == 1 else numbers
    return Vector(
        row,
        tuple(values),
        tuple(sizes[0].tolist()),
        prediction,
        None if class_probabilities is None else tuple(class_probabilities[0].tolist()),
    )


def _as_predict_takes_it(model: LinearModel, plan: Plan, row: Any) -> Any:
    """Return a row as input of ``predict``; rows go one by one, so that types stay independent."""
    if plan.takes == "numbers":
        return np.array([row], dtype=np.float64)
    if plan.takes in ("text", "record"):
        return [row]
    if isinstance(model.encoder, OneHotEncoder):
        table = np.empty((1, len(row)), dtype=object)
        table[0] = [
            np.nan if value is None and getattr(step, "missing_is_nan", False) else value
            for step, value in zip(plan.steps, row, strict=True)
        ]
        return table
    return [dict(zip(plan.columns, row, strict=True))]


def made_rows(plan: Plan) -> list[Any]:
    """Return a few raw rows for a model with this plan."""
    (step, *_) = plan.steps
    if isinstance(step, NumbersStep):
        n = len(step.names)
        return [
            tuple(_PATTERN[(i + j * i) % len(_PATTERN)] for j in range(n)) for i in range(N_ROWS)
        ]
    if isinstance(step, RecordStep):
        return [_record(step, i) for i in range(N_ROWS)]
    samples = [_samples(each) for each in plan.steps]
    rows = [tuple(values[i % len(values)] for values in samples) for i in range(N_ROWS)]
    return rows if plan.takes == "columns" else [text for (text,) in rows]


def _samples(step: Step) -> list[Any]:
    """Return values of a column, common ones first."""
    if isinstance(step, NumberStep):
        mean, scale = step.mean, step.scale
        numbers = [mean, mean + scale, None, mean - 1.5 * scale, round(mean)]
        return numbers if step.conversion is None else _written(step.conversion, numbers)
    if isinstance(step, CurveStep):
        return _along(step)
    if isinstance(step, BooleanStep):
        return [True, False, None]
    if isinstance(step, DateStep):
        return _dates(step)
    if isinstance(step, CategoryStep):
        return _levels(step)
    assert isinstance(step, TextStep)
    return _texts(step)


def _along(step: CurveStep) -> list[Any]:
    """Return values in the middle of a curve, at a break, between others and beyond both ends."""
    if not step.breaks:
        return [0.0, None, 1.0]
    low, high, middle = step.breaks[0], step.breaks[-1], len(step.breaks) // 2
    between = 0.25 * step.breaks[middle - 1] + 0.75 * step.breaks[middle]
    span = high - low
    return [
        between,
        step.breaks[middle],
        None,
        low - 0.3 * span,
        high + 0.6 * span,
        low + 0.1 * span,
    ]


def _levels(step: CategoryStep) -> list[Any]:
    levels: list[Any] = [level for level, _ in (*step.levels[:3], *step.levels[-2:])]
    if not step.refuses:
        levels.insert(1, _new_level({level for level, _ in step.levels}))
    if not step.refuses_missing:
        levels.insert(2, None)
    return levels


def _new_level(known: set[Any]) -> str:
    level = "(not met in training)"
    while level in known:
        level += "!"
    return level


def _dates(step: DateStep) -> list[Any]:
    days, spread = step.numbers[0][:2] if step.numbers[0] is not None else (19000.5, 40.0)
    texts = [moment_text(days + shift * spread) for shift in (0.0, 1.0, -1.25, 0.4)]
    values = [texts[0], texts[1][:10], None, texts[2], texts[3][:16]]
    if not isinstance(step.conversion, DateConversion):
        return values
    return [_written_date(step.conversion, texts[1]), "n/a", *values[2:], values[0]]


def _written_date(conversion: DateConversion, text: str) -> str:
    """Return a date and time as texts of the column are written."""
    year, month, day = text[:4], text[5:7].lstrip("0"), text[8:10].lstrip("0")
    dates = {
        "dmy": f"{day}.{month}.{year}",
        "mdy": f"{month}/{day}/{year}",
        "ymd": f"{year}/{month}/{day}",
    }
    return f"{dates[conversion.order]} {text[11:16]}"


def _written(conversion: Conversion, numbers: list[Any]) -> list[Any]:
    """Return numbers as texts of the column are written: a column of SQL has one type."""
    if not isinstance(conversion, NumberConversion):
        return ["7:05", "n/a", None, "13:30:15", "0:45"]
    unit = conversion.units[0] if conversion.units else ""
    marks = str.maketrans({",": conversion.group, ".": conversion.decimal})
    texts = [f"{abs(number):,.4f}".translate(marks) for number in numbers if number is not None]
    if conversion.magnitudes:
        texts[1] += "k"
    return [f"{texts[0]} {unit}", f"({unit}{texts[1]})", None, f"- {texts[2]}{unit}", "n/a"]


def moment_text(days: float) -> str:
    """Format days since 1970-01-01 to the second, clipped to the years 1 to 9999."""
    seconds = round(min(max(days, -719_162.0), 2_932_896.0) * 86400)
    return (dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds)).isoformat(" ")


def _texts(step: TextStep) -> list[Any]:
    terms = [term for term in step.terms if len(term) <= _LONGEST] or _WORDS
    picked = terms[:: max(1, len(terms) // 24)]
    parts = [" ".join(picked[i::4]) for i in range(4)]
    texts: list[Any] = [*parts[:2], "", *parts[2:], "A new text: żółw, ΣΟΦΟΣ, naïve 東京 x 42_!"]
    return texts if step.name is None else [*texts[:3], None, *texts[3:]]


def _record(step: RecordStep, i: int) -> dict[str, Any]:
    record: dict[str, Any] = {
        key: _PATTERN[(i + j) % len(_PATTERN)] for j, (key, _) in enumerate(step.numbers[: 3 + i])
    }
    for j, (key, texts) in enumerate(step.levels[: 3 + i]):
        pair = [texts[(i + j) % len(texts)][0], texts[(i * 3 + j) % len(texts)][0]]
        if key not in record:
            record[key] = pair[0] if i % 2 else pair
    return record | {"(not met in training)": None if i else 1.0}


def given_rows(plan: Plan, rows: Any) -> list[Any]:
    """Return the first rows as tuples by column, texts or dicts.

    Parameters
    ----------
    plan : Plan
    rows : object
        As the model's ``predict`` takes them.
    """
    if plan.takes == "text":
        return [str(text) for text in list(rows)[:MOST_ROWS]]
    if plan.takes == "record":
        return [
            {key: _plain_feature(value) for key, value in record.items()}
            for record in list(rows)[:MOST_ROWS]
        ]
    named = _records(rows)
    if named is not None:
        return [_by_name(plan, record) for record in named]
    if plan.takes == "numbers":
        return [tuple(row) for row in _dense(rows)]
    return [tuple(map(_plain, row)) for row in np.asarray(rows, dtype=object)[:MOST_ROWS].tolist()]


def _records(rows: Any) -> list[Mapping[str, Any]] | None:
    """Return the rows of a table with named columns; None without names."""
    if isinstance(rows, Mapping):
        columns = [list(values)[:MOST_ROWS] for values in rows.values()]
        return [dict(zip(map(str, rows), row, strict=True)) for row in zip(*columns, strict=True)]
    if hasattr(rows, "__arrow_c_stream__"):
        import pyarrow as pa

        table = pa.table(rows).slice(0, MOST_ROWS)
        return list(table.to_pylist())
    if isinstance(rows, (list, tuple)) and rows and isinstance(rows[0], Mapping):
        return list(rows[:MOST_ROWS])
    return None


def _by_name(plan: Plan, record: Mapping[str, Any]) -> tuple[Any, ...]:
    absent = [name for name in plan.columns if name not in record]
    if absent and plan.takes == "columns" and len(absent) < len(plan.columns):
        record = {**dict.fromkeys(absent), **record}  # an object of JSON lines may lack a value
    elif absent:
        raise TableError(
            f"The rows lack {list_names(absent, 5)}, which the model takes. They have "
            f"{list_names(map(str, record), 10)}."
        )
    return tuple(_plain(record[name]) for name in plan.columns)


def _plain(value: Any) -> Any:
    """Return a value as None, a bool, a number or a text."""
    if is_missing(value):
        return None
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None).isoformat(" ")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    for plain in (bool, int, float, str):  # a subclass may write itself in another way
        if isinstance(value, plain):
            return plain(value)
    return value


def _plain_feature(value: Any) -> Any:
    """Return the value of a feature in a dict: a plain value, or a list of them."""
    if isinstance(value, (set, frozenset)):
        return sorted(map(_plain, value))
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(each) for each in value]
    return _plain(value)


def _dense(rows: Any) -> Iterable[list[float]]:
    X = as_rows(rows)
    X = X.slice(0, min(MOST_ROWS, X.n_rows))
    if X.indptr is None or X.indices is None:
        return list(X.values.astype(np.float64).tolist())
    out = np.zeros(X.shape)
    row = np.repeat(np.arange(X.n_rows), np.diff(X.indptr))
    np.add.at(out, (row, X.indices), X.values)
    return list(out.tolist())
