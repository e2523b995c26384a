"""The what-if form of a report: change values, and see prediction and contributions change.

The page has no scoring code of its own. Predictions come from the exported JavaScript
(`export.languages.javascript.js_source.scorer`); ``what_if.js`` is the form around it. Code and
data are separate: names and values of the data are only in the data, which are JSON.

A page embeds ``made``, a `WhatIf`, as follows::

    <style>{made.style}</style>
    <section><div id="what-if"></div></section>
    <script type="application/json" id="what-if-data">{made.data, "<" escaped}</script>
    <script>{made.script}</script>

The script finds the two ids when the page is loaded, and fills the first with the form. It sets
no attribute ``style`` and no HTML, so a content policy needs the hash of script and style alone.
The element stays empty where no script runs. Colours are ``--what-if-up`` and ``--what-if-down``.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from separable.errors import Absent
from separable.export.languages.javascript.js_source import model_data, scorer
from separable.export.plan.plan import (
    BooleanStep,
    CategoryStep,
    CurveStep,
    DateStep,
    ExportError,
    NumbersStep,
    NumberStep,
    RecordStep,
    TextStep,
)
from separable.export.plan.planning import plan_of
from separable.export.plan.test_vectors import given_rows, moment_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from separable.export.plan.plan import Plan, Step
    from separable.typing import Floats


__all__ = ["DATA_ID", "FORM_ID", "MOST_BYTES", "WhatIf", "what_if"]

#: The ids of the elements that the script looks for.
FORM_ID, DATA_ID = "what-if", "what-if-data"

#: Maximum number of weights, of 8 bytes each, in a page.
MOST_BYTES = 300_000

Kind = Literal["number", "category", "boolean", "date", "moment", "text", "levels", "either"]

#: Maximum number of fields, those with the largest weights; the others keep their values.
MOST_FIELDS = 200

#: Words of the initial text.
_WORDS = 6


@dataclass(frozen=True)
class WhatIf:
    """A form with its script and data.

    Parameters
    ----------
    script, style : str
        JavaScript and CSS, for ``<script>`` and ``<style>``.
    data : dict
        JSON values: the model, its names and the initial values of the form.
    fields : tuple of Field
        The fields of the form.
    """

    script: str
    style: str
    data: dict[str, Any]
    fields: tuple[Field, ...]


def what_if(model: Any, start_row: Any = None, spread: Sequence[float] = ()) -> WhatIf | Absent:
    """Return the form of a model, or why there is none.

    Parameters
    ----------
    model : LinearModel or VotedModel
    start_row : object, optional
        The initial raw row: a mapping by column, or the text. None: means, first levels and the
        words with the largest weights.
    spread : sequence of float, optional
        Standard deviation of each feature, to order the fields by their effect. By default 1.
    """
    weights = getattr(model, "weights", None)
    if weights is not None and weights.nbytes > MOST_BYTES:
        return Absent(
            f"The weights of this model take {weights.nbytes / 1000:,.0f} kB; the what-if form "
            f"supports up to {MOST_BYTES // 1000} kB."
        )
    try:
        plan = plan_of(model)
        code = model_data(plan)
    except ExportError as error:
        return Absent(f"There is no what-if form. {error}")
    fields = fields_of(plan, start_row, spread)
    data = {
        "model": code,
        "intercept": plan.intercept,
        "names": _names(plan, model.feature_names),
        "start": start_of(plan, start_row),
        "fields": [field.to_dict() for field in fields],
    }
    return WhatIf(scorer(plan) + _file("what_if.js"), _file("what_if.css"), data, fields)


def _names(plan: Plan, names: Any) -> list[tuple[int, str]]:
    """Return the names of features by index, without those that the page can derive."""
    known: dict[int, str] = {}
    for step in plan.steps:
        if isinstance(step, TextStep):
            start = "" if step.name is None else f"{step.name}:"
            known.update((step.first + i, start + term) for i, term in enumerate(step.terms))
        elif isinstance(step, CategoryStep) and not step.typed:
            known.update((column, f"{step.name}={level}") for level, column in step.levels)
    feature_names = (
        tuple(f"x{j}" for j in range(len(plan.weights))) if names is None else tuple(names)
    )
    if plan.takes == "numbers" and plan.columns == feature_names:
        return []
    return [(j, name) for j, name in enumerate(feature_names) if known.get(j) != name]


def _file(name: str) -> str:
    return resources.files("separable.report").joinpath(name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Field:
    """A field of the form.

    Parameters
    ----------
    name : str
        The raw column, or the key of a dict.
    kind : str
        "number", "category", "boolean", "date", "moment" (with the time of the day), "text";
        of a dict also "levels" (several may hold) and "either" (a number or a text).
    at : int
        Index among the columns, or among the features of a dict.
    start : object
        The initial value: None, a bool, a number, a text, or a list of texts.
    missing : bool
        Whether the model has a weight for missing values.
    blank : str
        What an empty field means; "" where it is an error.
    """

    name: str
    kind: Kind
    at: int
    start: Any
    missing: bool = False
    blank: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def fields_of(plan: Plan, start_row: Any = None, spread: Sequence[float] = ()) -> tuple[Field, ...]:
    """Return the fields, those with the largest effects first; at most `MOST_FIELDS`.

    Parameters
    ----------
    plan : Plan
    start_row : object, optional
        As `start_of` takes it.
    spread : sequence of float, optional
        As `what_if` takes it.
    """
    start = start_of(plan, start_row)
    effects = np.abs(plan.weights)
    if len(spread) == len(effects):
        effects = effects * np.asarray(spread)[:, None]
    (first, *_) = plan.steps
    if plan.takes == "text":
        return (Field("text", "text", 0, start),)
    if isinstance(first, RecordStep):
        fields = _record_fields(first, dict(start))
        columns = _record_columns(first)
        sizes = [_largest(effects, columns[field.name]) for field in fields]
    elif isinstance(first, NumbersStep):
        fields = [Field(name, "number", j, start[j]) for j, name in enumerate(first.names)]
        sizes = _column_sizes(effects, first)
    else:
        fields = [_field(step, at, start[at]) for at, step in enumerate(plan.steps)]
        sizes = [_largest(effects, _columns(step)) for step in plan.steps]
    strongest = np.argsort([-size for size in sizes], kind="stable")[:MOST_FIELDS]
    return tuple(fields[at] for at in strongest.tolist())


def start_of(plan: Plan, start_row: Any = None) -> Any:
    """Return the initial row of the form: values by column, the text, or pairs.

    Parameters
    ----------
    plan : Plan
    start_row : object, optional
        A mapping by column, the text or the dict. Values that do not fit the form are left out.
    """
    given = None if start_row is None else given_rows(plan, [start_row])[0]
    (first, *_) = plan.steps
    if isinstance(first, RecordStep):
        return _record_start(given or {})
    if plan.takes == "text":
        return _text_start(plan, first) if given is None else given
    if isinstance(first, NumbersStep):
        row = [0.0] * len(first.names) if given is None else given
        return [float(value) if _is_number(value) else 0.0 for value in row]
    if given is None:
        return [_usual(plan, step) for step in plan.steps]
    return [
        _usual(plan, step)
        if isinstance(start_row, Mapping) and getattr(step, "name", None) not in start_row
        else _usable(plan, step, value)
        for step, value in zip(plan.steps, given, strict=True)
    ]


# --- columns ---


def _field(step: Step, at: int, start: Any) -> Field:
    assert isinstance(step, (NumberStep, CurveStep, BooleanStep, DateStep, CategoryStep, TextStep))
    known = step.missing is not None
    name = step.name or ""
    if isinstance(step, NumberStep):
        blank = "missing" if known else "replaced by the mean"
        return Field(name, "number", at, start, known, blank)
    if isinstance(step, CurveStep):
        return Field(name, "number", at, start, known, "missing" if known else "no contribution")
    if isinstance(step, DateStep):
        timed = bool(step.cycles[2]) or (isinstance(start, str) and "T" in start)
        blank = "missing" if known else "unknown"
        return Field(name, "moment" if timed else "date", at, start, known, blank)
    if isinstance(step, CategoryStep):
        return Field(name, "category", at, start, known)
    return Field(name, "boolean" if isinstance(step, BooleanStep) else "text", at, start, known)


def _usual(plan: Plan, step: Step) -> Any:
    if isinstance(step, NumberStep):
        return float(f"{step.mean:.6g}")
    if isinstance(step, CurveStep):
        return step.breaks[len(step.breaks) // 2] if step.breaks else 0.0
    if isinstance(step, CategoryStep):
        return next((level for level, column in step.levels if column >= 0), None)
    if isinstance(step, BooleanStep):
        return False
    if isinstance(step, DateStep):
        days = step.numbers[0][0] if step.numbers[0] is not None else 0.0
        text = moment_text(days)
        return text[:16].replace(" ", "T") if step.cycles[2] else text[:10]
    return _text_start(plan, step)


def _usable(plan: Plan, step: Step, value: Any) -> Any:
    """Return a given value if it fits its field, otherwise the default one."""
    if value is None:
        return None
    if isinstance(step, (NumberStep, CurveStep)):
        return float(value) if _is_number(value) else _usual(plan, step)
    if isinstance(step, DateStep):
        return _moment(value) or _usual(plan, step)
    if isinstance(step, BooleanStep):
        return value if isinstance(value, bool) else _usual(plan, step)
    if isinstance(value, (str, bool)) or _is_number(value):
        return value
    return _usual(plan, step)


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _moment(value: Any) -> str | None:
    """Return a date in the format of HTML fields, in UTC; with the time only if there is one."""
    try:
        result = dt.datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    if result.tzinfo is not None:
        result = result.astimezone(dt.UTC).replace(tzinfo=None)
    midnight = result.time() == dt.time()
    return result.date().isoformat() if midnight else result.isoformat(timespec="seconds")


def _text_start(plan: Plan, step: Step) -> str:
    """Return a text of the words with the largest weights."""
    assert isinstance(step, TextStep)
    if step.rules.analyzer != "word" or not step.terms:
        return ""
    sizes = np.abs(plan.weights[step.first : step.first + len(step.terms)]).max(axis=1)
    order = np.argsort(-sizes, kind="stable").tolist()
    words = [step.terms[at] for at in order[: 20 * _WORDS] if " " not in step.terms[at]]
    return " ".join(words[:_WORDS])


# --- dicts ---


def _record_fields(step: RecordStep, start: dict[str, Any]) -> list[Field]:
    numbers = dict(step.numbers)
    columns = {key: at for at, (key, _) in enumerate(step.levels)}
    out = []
    for key in dict.fromkeys([*numbers, *columns]):
        kind: Kind = "levels" if key not in numbers else "either" if key in columns else "number"
        out.append(Field(key, kind, columns.get(key, 0), start.get(key), True, "not there"))
    return out


def _record_start(given: dict[str, Any]) -> list[tuple[str, Any]]:
    kept = []
    for key, value in given.items():
        if isinstance(value, str) or _is_number(value):
            kept.append((str(key), value))
        elif isinstance(value, (list, tuple, set, frozenset)):
            kept.append((str(key), [each for each in value if isinstance(each, str)]))
    return kept


def _record_columns(step: RecordStep) -> dict[str, list[int]]:
    columns = {key: [column] for key, column in step.numbers}
    for key, levels in step.levels:
        columns.setdefault(key, []).extend(column for _, column in levels)
    return columns


# --- which fields matter most ---


def _columns(step: Step) -> Iterable[int]:
    if isinstance(step, NumberStep):
        return [column for column in (step.value, step.missing) if column is not None]
    if isinstance(step, CurveStep):
        return dict.fromkeys(step.indices)
    if isinstance(step, CategoryStep):
        return [column for _, column in step.levels if column >= 0]
    if isinstance(step, BooleanStep):
        return [] if step.true is None else [step.true]
    if isinstance(step, DateStep):
        numbers = [each[2] for each in step.numbers if each is not None]
        return numbers + [column for pairs in step.cycles for _, column in pairs]
    assert isinstance(step, TextStep)
    return range(step.first, step.first + (step.rules.hashed or len(step.terms)))


def _largest(effects: Floats, columns: Iterable[int]) -> float:
    """Return the largest effect of a column on a score: the root of the sum of squares."""
    result = np.sqrt((effects[list(columns)] ** 2).sum(axis=0))
    return float(result.max()) if result.size else 0.0


def _column_sizes(effects: Floats, step: NumbersStep) -> list[float]:
    sizes = effects.max(axis=1)
    if step.products is None:
        return [float(size) for size in sizes]
    out = [0.0] * len(step.names)
    for factors, size in zip(step.products, sizes.tolist(), strict=True):
        for column in factors:
            out[column] = max(out[column], size)
    return out
