"""A plan as a JavaScript file for Node and browsers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.export import js_runtime as runtime
from separable.export.js_alphabet import (
    combining_ranges,
    lower_ranges,
    space_ranges,
    word_ranges,
)
from separable.export.literals import described, javascript, laid_out, tests
from separable.export.plan import ExportError, TextStep
from separable.export.vectors import PRECISION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.export.plan import Plan
    from separable.export.vectors import Vector

__all__ = ["write"]

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
    _check(plan)
    kinds = {step.kind for step in plan.steps}
    shares = plan.probabilities is not None
    public = ["COLUMNS", "CLASSES", "TESTS", "encode", "scores", "predict"]
    public += ["probabilities"] * shares + ["selfTest"]
    data = {
        "COLUMNS": plan.columns,
        "CLASSES": plan.classes,
        "MODEL": described(plan),
        "TESTS": tests(vectors),
        "PRECISION": PRECISION,
    }
    if "text" in kinds:
        data["ALPHABET"] = _alphabet(plan)
    lines = [
        f"// A {plan.title} model as plain JavaScript, written by separable export.",
        f"// separableModel's functions take one row, {_TAKES[plan.takes]}:",
        f"// {', '.join(name for name in public if name[0].islower())}.",
        "// Run this file with node to test it.",
        '"use strict";',
        "",
        "const separableModel = (() => {",
        *[f"  const {name} = {laid_out(value, javascript, 2)};" for name, value in data.items()],
        "",
    ]
    parts = [text for text, needed in runtime.PARTS.values() if needed & kinds]
    parts += [runtime.MAIN, *[runtime.PROBABILITIES] * shares, runtime.SELF_TEST]
    parts += [_tables(kinds), f"\n  const api = {{ {', '.join(public)} }};\n", runtime.END]
    return "\n".join(lines) + "".join(parts)


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
