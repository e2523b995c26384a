"""A plan as a JavaScript file for Node and browsers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.export.languages.javascript import js_runtime as runtime
from separable.export.languages.javascript.js_alphabet import (
    combining_ranges,
    lower_ranges,
    space_ranges,
    word_ranges,
)
from separable.export.plan.literals import described, javascript, laid_out, read_from_json, tests
from separable.export.plan.plan import ExportError, TextStep
from separable.export.plan.test_vectors import PRECISION

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """Return the script.

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
    parts = [_code(plan), runtime.SELF_TEST, _returned(public), "})();\n", runtime.FOR_NODE]
    return "\n".join(lines) + "".join(parts)


def scorer(plan: Plan) -> str:
    """Return a script that holds no data: a function from `model_data` to what scores.

    The page of a report runs it. ``separableScorer(data)`` has the functions of an exported file
    and ``contributions``, and for texts ``wordSpans`` and ``wordParts``.

    Parameters
    ----------
    plan : Plan
    """
    texts = plan.has("text")
    names = [*_functions(plan), "contributions", *["wordSpans", "wordParts"] * texts]
    parts = [
        "const separableScorer = (data) => {\n",
        *[f"  const {name} = data.{name};\n" for name in _constants(plan)],
        _code(plan),
        runtime.CONTRIBUTIONS,
        *[runtime.WORDS] * texts,
        _returned(names),
        "};\n",
    ]
    return "".join(parts)


def model_data(plan: Plan) -> dict[str, Any]:
    """Return what the functions know of a model: dicts, lists, texts and numbers, fit for JSON.

    Parameters
    ----------
    plan : Plan

    Raises
    ------
    ExportError
        JavaScript cannot do what the model does.
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


def _code(plan: Plan) -> str:
    """Return the functions that the model needs, which take the constants for granted."""
    kinds = {step.kind for step in plan.steps}
    parts = [text for text, needed in runtime.PARTS.values() if needed & kinds]
    parts += [runtime.MAIN, *[runtime.PROBABILITIES] * (plan.probabilities is not None)]
    return "".join([*parts, _tables(kinds)])


def _returned(names: Sequence[str]) -> str:
    return f"\n  const api = {{ {', '.join(names)} }};\n  return api;\n"


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


def _tables(kinds: set[str]) -> str:
    """Return how lists of the model become Maps when the script is loaded."""
    lines = [f"const STEPS = {{ {', '.join(sorted(kinds))} }};"]
    if kinds & {"category", "text", "record"}:
        lines.append("for (const step of MODEL.steps) {")
    if "category" in kinds:
        lines += [
            '  if (step.kind === "category") {',
            "    step.levels = new Map(step.levels);",
            "    step.numbers = new Map(step.numbers);",
            "  }",
        ]
    if "text" in kinds:
        lines += [
            '  if (step.kind === "text") {',
            "    step.terms = new Map(step.terms.map((term, place) => [term, place]));",
            "    step.stop_words = new Set(step.stop_words);",
            "  }",
        ]
    if "record" in kinds:
        lines += [
            "  step.numbers = new Map(step.numbers);",
            "  step.levels = new Map(step.levels.map(([key, texts]) => [key, new Map(texts)]));",
        ]
    if kinds & {"category", "text", "record"}:
        lines.append("}")
    lines += [
        "const WEIGHTS = new Map(",
        "  MODEL.weights.map((row, i) => [MODEL.places === null ? i : MODEL.places[i], row])",
        ");",
    ]
    return "\n" + "".join(f"  {line}\n" for line in lines)
