"""Conversion of a model and its encoder to a `Plan`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from separable.data.table import is_missing
from separable.export.plan.plan import (
    BooleanStep,
    CategoryStep,
    CurveStep,
    DateStep,
    ExportError,
    NumbersStep,
    NumberStep,
    PairStep,
    Plan,
    RecordStep,
    Step,
    TextRules,
    TextStep,
)
from separable.features.dict_encoder import DictEncoder
from separable.features.one_hot.one_hot_encoder import OneHotEncoder
from separable.features.polynomial_encoder import PolynomialEncoder
from separable.features.raw_columns import names_of_columns
from separable.features.row_assembly import DENSE_LIMIT
from separable.features.spline.spline_encoder import SplineEncoder
from separable.features.table.category_column import CategoryColumn
from separable.features.table.curve_column import CurveColumn
from separable.features.table.date_column import DateColumn
from separable.features.table.number_column import BooleanColumn, NumberColumn
from separable.features.table.table_encoder import TableEncoder
from separable.features.text.text_encoder import TextEncoder
from separable.model.linear_model import LinearModel
from separable.model.voted.voted_model import VotedModel

if TYPE_CHECKING:
    from separable.data.ingest.conversions.conversion import Conversion
    from separable.features.one_hot.levels import ColumnLevels
    from separable.features.spline.spline_column import SplineColumn
    from separable.features.table.column_states import ColumnEncoder
    from separable.features.text.text_plan import TextPlan


__all__ = ["plan_of"]

#: Integers up to this are exact in every language.
_EXACT = 2**53

_Takes = Literal["columns", "numbers", "text", "record"]


def plan_of(model: Any) -> Plan:
    """Return the plan of a model.

    Parameters
    ----------
    model : LinearModel

    Returns
    -------
    Plan

    Raises
    ------
    ExportError
        No language can express the model.
    """
    if isinstance(model, VotedModel):
        raise ExportError(
            f"This {model.learner} model is {len(model.voters)} models that vote, and a file would "
            "hold all of them. Train an AveragedPerceptron, which is one model of about the same "
            "accuracy, and export that."
        )
    if not isinstance(model, LinearModel):
        raise ExportError(
            f"Expected a model or a fitted learner, got {type(model).__name__}. Fit it first."
        )
    takes, steps = _steps(model)
    _check_threshold(model, takes)
    return Plan(
        learner=re.sub(r"\W", "", model.learner, flags=re.ASCII)[:80] or "LinearModel",
        takes=takes,
        steps=steps,
        weights=np.ascontiguousarray(model.weights.T),
        intercept=tuple(model.intercept.tolist()),
        classes=None if model.classes is None else tuple(model.classes.tolist()),
        probabilities=_probabilities(model),
        calibration=_calibration(model),
        threshold=model.threshold,
        score_threshold=model.score_threshold,
        output_range=model.output_range,
        pairs=_pair_steps(model.encoder) if isinstance(model.encoder, TableEncoder) else (),
    )


def _calibration(model: LinearModel) -> tuple[tuple[float, float], ...] | None:
    if model.calibration is None:
        return None
    return tuple((slope, offset) for slope, offset in model.calibration.tolist())


def _probabilities(model: LinearModel) -> Literal["logistic", "softmax"] | None:
    if model.classes is None:
        return None
    if model.calibration is not None or model.link == "logistic":
        return "logistic"
    return "softmax" if model.link == "softmax" else None


def _check_threshold(model: LinearModel, takes: _Takes) -> None:
    """Refuse a threshold below 0 with sparse rows, as `predict` does."""
    if model.threshold is None or model.threshold >= 0:
        return
    sparse = (
        takes in ("text", "record")
        or getattr(model.encoder, "sparse_output", False)
        or (isinstance(model.encoder, TableEncoder) and model.n_features > DENSE_LIMIT)
    )
    if sparse:
        raise ExportError(
            f"The threshold {model.threshold:g} is below 0, so that every zero of a sparse row "
            "would count as 1, which predicting refuses too. Train with a threshold >= 0."
        )


def _steps(model: LinearModel) -> tuple[_Takes, tuple[Step, ...]]:
    encoder = model.encoder
    if encoder is None:
        names = model.feature_names
        made_up = (f"x{j}" for j in range(model.n_features))
        return "numbers", (NumbersStep(tuple(names or made_up), names is not None, None),)
    if isinstance(encoder, TableEncoder):
        return "columns", _table_steps(encoder)
    if isinstance(encoder, TextEncoder):
        return "text", (text_step(None, encoder, 0, None),)
    if isinstance(encoder, OneHotEncoder):
        return "columns", _one_hot_steps(encoder)
    if isinstance(encoder, PolynomialEncoder):
        return "numbers", (_polynomial_step(encoder),)
    if isinstance(encoder, SplineEncoder):
        return "columns", _curve_steps(encoder)
    if isinstance(encoder, DictEncoder):
        return "record", (_record_step(encoder),)
    raise ExportError(
        f"Models with a {type(encoder).__name__} cannot be exported. Encode the rows before the "
        "model, and export a model of numbers."
    )


# --- tables ---


def _table_steps(encoder: TableEncoder) -> tuple[Step, ...]:
    steps: list[Step] = []
    first = 0
    for column in encoder.column_encoders:
        steps.append(_column_step(column, first))
        first += len(column.feature_names)
    return tuple(steps)


def _pair_steps(encoder: TableEncoder) -> tuple[PairStep, ...]:
    steps: list[PairStep] = []
    at = {column.name: index for index, column in enumerate(encoder.column_encoders)}
    start = sum(column.width for column in encoder.column_encoders)
    for pair in encoder.pair_encoders:
        axes = _column_step(pair.first, 0), _column_step(pair.second, 0)
        first, second = (at[name] for name in pair.columns)
        width = pair.second.width
        steps.append(PairStep((first, second), *axes, start, width, pair.first.width))
        start += pair.width
    return tuple(steps)


def _column_step(column: ColumnEncoder, first: int) -> Step:
    last = first + len(column.feature_names) - 1
    missing = last if column.missing else None
    if isinstance(column, NumberColumn):
        value = first if column.scale else None
        mean, scale, conversion = column.mean, column.scale or 1.0, column.conversion
        return NumberStep(column.name, mean, scale, value, missing, conversion)
    if isinstance(column, CurveColumn):
        return _curve_step(column.spline, first, column.conversion)
    if isinstance(column, BooleanColumn):
        return BooleanStep(column.name, first if column.varies else None, missing)
    if isinstance(column, DateColumn):
        return _date_step(column, first, missing)
    if isinstance(column, CategoryColumn):
        return _category_step(column, first, missing)
    return text_step(column.name, column.encoder, first, missing)


def _category_step(column: CategoryColumn, first: int, missing: int | None) -> CategoryStep:
    shared = first + len(column.levels)
    levels = [(level, first + index) for index, level in enumerate(column.levels)]
    levels += [(level, shared) for level in column.rare]
    unseen = shared if column.unseen == "other" and column.rare else None
    return CategoryStep(column.name, tuple(levels), missing, unseen, column.unseen == "error")


def _date_step(column: DateColumn, first: int, missing: int | None) -> DateStep:
    numbers: list[tuple[float, float, int] | None] = []
    for mean, scale in zip(column.means, column.scales, strict=True):
        numbers.append((mean, scale, first) if scale else None)
        first += bool(scale)
    cycles = []
    for kept in column.cycles:
        cycles.append(tuple((value, first + index) for index, value in enumerate(kept)))
        first += len(kept)
    return DateStep(column.name, tuple(numbers), tuple(cycles), missing, column.conversion)


# --- other encoders ---


def _one_hot_steps(encoder: OneHotEncoder) -> tuple[Step, ...]:
    steps: list[Step] = []
    first = 0
    for name, levels in zip(names_of_columns(encoder), encoder.column_levels, strict=True):
        steps.append(_levels_step(name, levels, first, encoder.handle_unknown))
        first += levels.width
    return tuple(steps)


def _levels_step(name: str, levels: ColumnLevels, first: int, unknown: str) -> CategoryStep:
    indices = levels.indices(levels.levels, unknown_is_rare=False)[1:].tolist()
    known: list[tuple[str | float, int]] = []
    missing: set[int] = set()
    all_levels = levels.levels.tolist()
    for level, index in zip(all_levels, indices, strict=True):
        at = first + index if index >= 0 else -1
        if is_missing(level):
            missing.add(at)
        else:
            known.append((_plain_level(name, level), at))
    if len(missing) > 1:
        raise ExportError(
            f"Column {name!r} has both None and NaN as levels, and other languages have only one "
            "missing value. Make them the same before training."
        )
    refuses = unknown == "error"
    has_rare = len(levels.rare) > 0 and levels.dropped not in levels.rare
    joins_rare = unknown in ("infrequent_if_exist", "warn") and has_rare
    unseen = first + levels.width - 1 if joins_rare else None
    missing_index = missing.pop() if missing else None
    return CategoryStep(
        name,
        tuple(known),
        unseen if missing_index is None else (missing_index if missing_index >= 0 else None),
        unseen,
        refuses,
        refuses_missing=refuses and missing_index is None,
        typed=True,
        missing_is_nan=any(isinstance(level, float) and level != level for level in all_levels),
    )


def _plain_level(name: str, level: Any) -> str | float:
    if isinstance(level, str):
        return level
    if isinstance(level, (bool, int, float)) and abs(level) <= _EXACT:
        return float(level)
    raise ExportError(
        f"Column {name!r} has the level {level!r:.80}, of type {type(level).__name__}, which other "
        "languages do not know. Write levels as text, or as numbers up to 2^53."
    )


def _polynomial_step(encoder: PolynomialEncoder) -> NumbersStep:
    constant: tuple[tuple[int, ...], ...] = ((),) if encoder.include_bias else ()
    names = names_of_columns(encoder)
    named = hasattr(encoder, "feature_names_in_")
    return NumbersStep(tuple(names), named, (*constant, *encoder.products()))


def _curve_steps(encoder: SplineEncoder) -> tuple[Step, ...]:
    steps: list[Step] = []
    first = 0
    for column in encoder.columns_:
        steps.append(_curve_step(column, first))
        first += column.width
    return tuple(steps)


def _curve_step(
    column: SplineColumn, first: int, conversion: Conversion | None = None
) -> CurveStep:
    n = len(column.knots)
    breaks = tuple(column.breaks.tolist())
    indices = tuple(first + at % n for at in range(len(breaks)))
    linear = column.linear and not column.period
    missing = first + n if column.missing else None
    return CurveStep(column.name, breaks, indices, linear, column.period, missing, conversion)


def _record_step(encoder: DictEncoder) -> RecordStep:
    numbers, levels = encoder.lookup_tables()
    return RecordStep(
        tuple((str(key), index) for key, index in numbers.items()),
        tuple((str(key), tuple(texts.items())) for key, texts in levels.items()),
    )


def text_step(name: str | None, encoder: TextEncoder, first: int, missing: int | None) -> TextStep:
    """Return the step of a text encoder.

    Parameters
    ----------
    name : str or None
        The text column; None: the row itself is the text.
    encoder : TextEncoder
        Fitted.
    first : int
        Feature index of its first term.
    missing : int or None
        Feature index of a missing text.
    """
    plan, idf = encoder.plan, getattr(encoder, "idf_", None)
    _check(plan)
    if idf is not None and not np.isfinite(idf).all():
        term = encoder.feature_names[int(np.flatnonzero(~np.isfinite(idf))[0])]
        raise ExportError(
            f"The idf of the term {term!r:.80} is infinite: no training text has it. Train with "
            "smooth_idf=True."
        )
    hashed = plan.n_features
    return TextStep(
        name,
        _rules(plan),
        first,
        () if hashed is not None else tuple(encoder.feature_names),
        None if idf is None else tuple(idf.tolist()),
        missing,
    )


def _rules(plan: TextPlan) -> TextRules:
    return TextRules(
        lowercase=plan.lowercase,
        strip_accents=plan.strip_accents or None,
        analyzer=plan.analyzer,
        pattern=plan.token_pattern or "",
        shortest=plan.shortest,
        ngram_range=plan.ngram_range,
        stop_words=plan.stop_words,
        binary=plan.binary,
        sublinear=plan.sublinear_tf and plan.n_features is None,
        norm=plan.norm,
        hashed=plan.n_features,
        alternate_sign=plan.alternate_sign,
    )


def _check(plan: TextPlan) -> None:
    for what in ("strip_accents", "preprocessor", "tokenizer", "analyzer"):
        if callable(getattr(plan, what)):
            raise ExportError(
                f"The TextEncoder's {what!r} is a function, which cannot be written in another "
                "language. Use the options that are words or patterns."
            )
    if plan.input != "content":
        raise ExportError(
            f"The TextEncoder takes input={plan.input!r}, and exported code opens no files. Train "
            "with input='content'."
        )
    if plan.dtype != "float64":
        raise ExportError(
            f"The TextEncoder rounds to {plan.dtype}, which exported code does not. Train with "
            "dtype=float64."
        )
