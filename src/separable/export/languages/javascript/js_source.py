"""Export of a plan to JavaScript, for Node and browsers."""

from __future__ import annotations

import sys
import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.export.languages.language_registry import runtime
from separable.export.plan.literals import described, javascript, laid_out, read_from_json, tests
from separable.export.plan.plan import ExportError, TextStep
from separable.export.plan.test_vectors import PRECISION
from separable.features.text.analyzer import SPACE, SPECIAL, WORD, alphabet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.export.languages.language_registry import Runtime
    from separable.export.plan.plan import Plan
    from separable.export.plan.test_vectors import Vector


__all__ = ["model_data", "scorer", "write"]

_TAKES = {
    "columns": "an object (or a Map) by COLUMNS, or an array in their order",
    "numbers": "an object (or a Map) of numbers by COLUMNS, or an array in their order",
    "text": "a text",
    "record": "an object (or a Map) of features: numbers, texts or arrays of texts",
}


def write(plan: Plan, vectors: Sequence[Vector]) -> str:
    """Return the JavaScript source of a plan.

    Parameters
    ----------
    plan : Plan
    vectors : sequence of Vector
    """
    data = {**model_data(plan), "TESTS": tests(vectors), "PRECISION": PRECISION}
    public = ["COLUMNS", "CLASSES", "TESTS", *_functions(plan), "selfTest"]
    lines = [
        f"// A {plan.title} model as plain JavaScript, written by separable export.",
        f"// separableModel's functions take one row, {_TAKES[plan.takes]}:",
        f"// {', '.join(name for name in public if name[0].islower())}.",
        "// Run this file with node to test it.",
        '"use strict";',
        "",
        "const separableModel = (() => {",
        *[f"  const {name} = {_written(value)};" for name, value in data.items()],
        "",
    ]
    made = _runtime()
    tail = [made["self test"], _returned(public) + "})();\n", made["node"]]
    return "\n".join([*lines, *_code(plan), *tail])


def scorer(plan: Plan) -> str:
    """Return a script without data: a function that takes `model_data` and returns the scorer.

    Reports run it. ``separableScorer(data)`` has the functions of an exported file,
    ``contributions``, and for texts ``wordSpans`` and ``wordParts``.

    Parameters
    ----------
    plan : Plan
    """
    texts = plan.has("text")
    names = [*_functions(plan), "contributions", *["wordSpans", "wordParts"] * texts]
    made = _runtime()
    constants = [f"  const {name} = data.{name};\n" for name in _constants(plan)]
    parts = [*_code(plan), made["contributions"], *[made["words"]] * texts, _returned(names)]
    head = ["const separableScorer = (data) => {\n", *constants]
    return "".join([*head, *[f"\n{part}" for part in parts], "};\n"])


def model_data(plan: Plan) -> dict[str, Any]:
    """Return the data of a model for the functions: JSON-serializable dicts, lists and scalars.

    Parameters
    ----------
    plan : Plan

    Raises
    ------
    ExportError
        JavaScript cannot express the model.
    """
    _check(plan)
    made: dict[str, Any] = {
        "COLUMNS": plan.columns,
        "CLASSES": plan.classes,
        "MODEL": described(plan),
    }
    if plan.has("text"):
        made["ALPHABET"] = _alphabet(plan)
    return made


def _written(value: Any) -> str:
    large = read_from_json(value, "JSON.parse", '%s.join("")')
    return large or laid_out(value, javascript, 2)


def _constants(plan: Plan) -> list[str]:
    return ["COLUMNS", "CLASSES", "MODEL", *["ALPHABET"] * plan.has("text")]


def _functions(plan: Plan) -> list[str]:
    return ["encode", "scores", "predict", *["probabilities"] * (plan.probabilities is not None)]


def _runtime() -> Runtime:
    return runtime("javascript", "runtime.js")


def _code(plan: Plan) -> list[str]:
    """Return the functions that the model needs; they use the constants of `model_data`."""
    kinds = plan.kinds
    made = _runtime()
    has_probabilities = plan.probabilities is not None
    parts = [*made.for_steps(kinds), made["main"], *[made["probabilities"]] * has_probabilities]
    return [*parts, _tables(made, kinds)]


def _returned(names: Sequence[str]) -> str:
    return f"  const api = {{ {', '.join(names)} }};\n  return api;\n"


def _check(plan: Plan) -> None:
    for step in plan.steps:
        if isinstance(step, TextStep) and step.rules.analyzer == "word" and not step.rules.shortest:
            raise ExportError(
                f"The token_pattern {step.rules.pattern!r:.80} is a regular expression of Python, "
                "which may mean something else in JavaScript. Train with the usual one, or export "
                "to Python."
            )
    for label in plan.classes or ():
        if isinstance(label, int) and abs(label) > 2**53:
            raise ExportError(
                f"The class {label} is beyond 2^53, which JavaScript cannot tell from its "
                "neighbours. Train with classes that are texts, or export to Python."
            )


def _alphabet(plan: Plan) -> dict[str, list[int]]:
    rules = [step.rules for step in plan.steps if isinstance(step, TextStep)]
    strips = any(rule.strip_accents == "unicode" for rule in rules)
    lowers = any(rule.lowercase for rule in rules)
    return {
        "word": word_ranges(),
        "space": space_ranges(),
        "lower": lower_ranges() if lowers else [],
        "combining": combining_ranges() if strips else [],
    }


def _tables(made: Runtime, kinds: set[str]) -> str:
    """Return the code that makes Maps from lists of the model when the script is loaded."""
    listed = [kind for kind in ("category", "text", "record") if kind in kinds]
    parts = [made[f"{kind} tables"] for kind in listed]
    if parts:
        parts = [made["tables"], *parts, made["end of tables"]]
    conversions = sorted(k.removesuffix(" conversion") for k in kinds if k.endswith(" conversion"))
    readers = ", ".join(f"{kind}: read{kind.capitalize()}" for kind in conversions)
    steps = ", ".join(sorted(kind for kind in kinds if not kind.endswith(" conversion")))
    heads = [f"  const CONVERSIONS = {{ {readers} }};\n"] * bool(conversions)
    heads.append(f"  const STEPS = {{ {steps} }};\n")
    return "".join([*heads, *parts, made["weights"]])


def word_ranges() -> list[int]:
    """Return the starts and stops of the runs of word characters, in turn."""
    return _ranges((alphabet()[0] & WORD) > 0)


def space_ranges() -> list[int]:
    """Return the starts and stops of the runs of white space, in turn."""
    return _ranges((alphabet()[0] & SPACE) > 0)


def combining_ranges() -> list[int]:
    """Return the starts and stops of the runs of combining characters, in turn."""
    combining = [unicodedata.combining(chr(point)) > 0 for point in range(sys.maxunicode + 1)]
    return _ranges(np.array(combining))


def lower_ranges() -> list[int]:
    """Return runs of characters with a lower case: first, last, step, difference.

    Characters whose lower case depends on the context or has several characters are left out.
    """
    flags, lower = alphabet()
    points = np.flatnonzero(lower != np.arange(len(lower)))
    points = points[(flags[points] & SPECIAL) == 0]
    shifts = lower[points].astype(np.int64) - points
    out: list[int] = []
    for point, shift in zip(points.tolist(), shifts.tolist(), strict=True):
        if out and shift == out[-1] and _extends(out, point):
            out[-3] = point
        else:
            out += [point, point, 0, shift]
    for at in range(2, len(out), 4):
        out[at] = out[at] or 1
    return out


def _extends(runs: list[int], point: int) -> bool:
    """Extend the last run by a character if its step allows; its second character sets the step."""
    step = point - runs[-3]
    if step > 2 or runs[-2] not in (0, step):
        return False
    runs[-2] = step
    return True


def _ranges(flags: NDArray[np.bool_]) -> list[int]:
    changes = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [int(change) for change in changes]
