"""Plans and test rows as literals of Python or JavaScript."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.ingest.conversions.conversion import (
    MAGNITUDES,
    DateConversion,
    NumberConversion,
    conversion_kind,
)
from separable.data.ingest.conversions.date_texts import date_forms
from separable.data.ingest.conversions.duration_texts import CLOCK, WORDS
from separable.data.ingest.conversions.number_texts import number_pattern
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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from separable.data.ingest.conversions.conversion import Conversion
    from separable.export.plan.plan import Plan, Step
    from separable.export.plan.test_vectors import Vector

__all__ = ["described", "javascript", "laid_out", "python", "read_from_json", "tests"]

WIDTH = 110

#: Longer literals are written as JSON text: compiling a literal takes 20 times the time and memory
#: of parsing JSON.
LONGEST = 1_000_000
_LINE = 4000


def described(plan: Plan) -> dict[str, Any]:
    """Return a plan as dicts, lists, texts and numbers; names from the data are never keys."""
    return {
        "takes": plan.takes,
        "steps": [_step(step) for step in plan.steps],
        "pairs": [
            {
                "columns": pair.columns,
                "axes": [_step(axis) for axis in pair.axes],
                "start": pair.start,
                "width": pair.width,
            }
            for pair in plan.pairs
        ],
        "threshold": plan.threshold,
        "score_threshold": plan.score_threshold,
        "output_range": plan.output_range,
        "probabilities": plan.probabilities,
        "calibration": plan.calibration,
        "base": plan.base,
        **_weights(plan),
    }


def _weights(plan: Plan) -> dict[str, Any]:
    """Return the rows of weights; only the non-zero rows if at most half are."""
    used = np.flatnonzero((plan.weights != 0).any(axis=1))
    if len(used) * 2 > len(plan.weights):
        return {"places": None, "weights": plan.weights.tolist()}
    return {"places": used.tolist(), "weights": plan.weights[used].tolist()}


def _step(step: Step) -> dict[str, Any]:
    if isinstance(step, CategoryStep):
        return {
            "kind": step.kind,
            "name": step.name,
            "typed": step.typed,
            "levels": [pair for pair in step.levels if isinstance(pair[0], str)],
            "numbers": [pair for pair in step.levels if not isinstance(pair[0], str)],
            "missing": step.missing,
            "unseen": step.unseen,
            "refuses": step.refuses,
            "refuses_missing": step.refuses_missing,
        }
    if isinstance(step, TextStep):
        return {
            "kind": step.kind,
            "name": step.name,
            **vars(step.rules),
            "first": step.first,
            "terms": step.terms,
            "idf": step.idf,
            "missing": step.missing,
        }
    if isinstance(step, NumbersStep):
        return {"kind": step.kind, "products": step.products}
    assert isinstance(step, (NumberStep, CurveStep, BooleanStep, DateStep, RecordStep))
    fields = dict(vars(step))
    conversion = fields.pop("conversion", None)
    if conversion is None:
        return {"kind": step.kind, **fields}
    return {
        "kind": "converted",
        "column": step.kind,
        **fields,
        "conversion": _conversion(conversion),
    }


def _conversion(conversion: Conversion) -> dict[str, Any]:
    """Return a conversion as patterns, in the syntax that Python and JavaScript share."""
    common = {"kind": conversion_kind(conversion), "missing": conversion.missing}
    if isinstance(conversion, NumberConversion):
        return {
            **common,
            **_pattern(number_pattern(conversion)),
            "decimal": conversion.decimal,
            "group": conversion.group,
            "needs_unit": "%" in conversion.units,
            "magnitudes": MAGNITUDES if conversion.magnitudes else {},
        }
    if isinstance(conversion, DateConversion):
        forms = [{**_pattern(text), "order": order} for text, order in date_forms(conversion)]
        return {**common, "forms": forms, "twelve_hour": conversion.twelve_hour}
    return {
        **common,
        "clock": _pattern(CLOCK),
        "words": _pattern(WORDS) if conversion.words else None,
        "twelve_hour": conversion.twelve_hour,
    }


def _pattern(named: str) -> dict[str, Any]:
    """Return a pattern without names of groups, and the names."""
    names = re.findall(r"\(\?P<(\w+)>", named)
    return {"pattern": re.sub(r"\(\?P<\w+>", "(", named), "parts": names}


def tests(vectors: Iterable[Vector]) -> list[dict[str, Any]]:
    """Return test vectors as plain values; dicts become lists of pairs."""
    return [
        {
            **vars(each),
            "row": list(each.row.items()) if isinstance(each.row, dict) else each.row,
        }
        for each in vectors
    ]


def python(value: Any) -> str:
    """Return a scalar as a Python literal, in ASCII."""
    return ascii(value)


def javascript(value: Any) -> str:
    """Return a scalar as a JavaScript literal, in ASCII and without ``<``."""
    return json.dumps(value).replace("<", "\\u003c")


def laid_out(value: Any, leaf: Callable[[Any], str], indent: int = 0) -> str:
    """Return dicts and lists as a literal, wrapped at `WIDTH`.

    Parameters
    ----------
    value : object
    leaf : function
        `python` or `javascript`.
    indent : int
        Spaces before each line.

    Examples
    --------
    >>> laid_out({"a": [1, None], "b": "x"}, javascript)
    '{"a": [1, null], "b": "x"}'
    """
    if isinstance(value, dict):
        parts = [f'"{key}": {laid_out(each, leaf, indent + 2)}' for key, each in value.items()]
        return _bracketed("{", parts, "}", indent)
    if isinstance(value, (list, tuple)):
        return _bracketed("[", [laid_out(each, leaf, indent + 2) for each in value], "]", indent)
    return leaf(value)


def read_from_json(value: Any, reader: str, joined: str) -> str | None:
    """Return an expression that parses a large value from JSON; None if the value is small.

    Parameters
    ----------
    value : object
        Dicts, lists, texts and numbers.
    reader : str
        The function that parses JSON.
    joined : str
        An expression that joins texts, with ``%s`` for their list.
    """
    text = json.dumps(value)
    if len(text) <= LONGEST:
        return None
    lines = [f"  {javascript(text[at : at + _LINE])},\n" for at in range(0, len(text), _LINE)]
    return f"{reader}({joined})" % "".join(["[\n", *lines, "]"])


def _bracketed(opening: str, parts: list[str], closing: str, indent: int) -> str:
    if sum(map(len, parts)) + 2 * len(parts) <= WIDTH - indent and not any(
        "\n" in p for p in parts
    ):
        return f"{opening}{', '.join(parts)}{closing}"
    lines, line = [], ""
    for part in parts:
        if line and (len(line) + len(part) > WIDTH - indent - 4 or "\n" in part or opening == "{"):
            lines.append(line)
            line = ""
        line += f"{' ' * bool(line)}{part},"
    lines.append(line)
    inside = "".join(f"\n{' ' * (indent + 2)}{each}" for each in lines)
    return f"{opening}{inside}\n{' ' * indent}{closing}"
