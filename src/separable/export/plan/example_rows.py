"""Example rows generated from a plan: means, levels, words, missing values and unseen levels."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from separable.export.plan.plan import (
    BooleanStep,
    CategoryStep,
    DateStep,
    NumbersStep,
    NumberStep,
    RecordStep,
    TextStep,
)

if TYPE_CHECKING:
    from separable.export.plan.plan import Plan, Step

__all__ = ["made_rows", "moment_text"]

N_ROWS = 6
#: Values of numeric rows, repeated cyclically.
_PATTERN = (0.0, 1.0, -0.5, 2.0, 0.25, -1.5, 3.0)
#: Words for texts if the vocabulary is hashed.
_WORDS = ["this", "is", "a", "good", "film", "not a", "bad one", "at all,", "or so", "they", "say"]
#: Longer terms of a vocabulary are left out.
_LONGEST = 200


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
        return [mean, mean + scale, None, mean - 1.5 * scale, round(mean)]
    if isinstance(step, BooleanStep):
        return [True, False, None]
    if isinstance(step, DateStep):
        return _dates(step)
    if isinstance(step, CategoryStep):
        return _levels(step)
    assert isinstance(step, TextStep)
    return _texts(step)


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
    return [texts[0], texts[1][:10], None, texts[2], texts[3][:16]]


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
