"""Export of a plan to Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.export.languages.language_registry import runtime
from separable.export.plan.literals import described, laid_out, python, read_from_json, tests
from separable.export.plan.test_vectors import PRECISION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.export.languages.language_registry import Runtime
    from separable.export.plan.plan import Plan
    from separable.export.plan.test_vectors import Vector

__all__ = ["write"]

_FUNCTIONS = {
    "number": "_number",
    "curve": "_curve",
    "category": "_category",
    "boolean": "_boolean",
    "date": "_date",
    "converted": "_converted",
    "text": "_text_column",
    "numbers": "_numbers",
    "record": "_record",
}

_TAKES = {
    "columns": "a dict of COLUMNS to values, or the values in their order",
    "numbers": "a dict of COLUMNS to numbers, or the numbers in their order",
    "text": "a text",
    "record": "a dict of features: numbers, texts or lists of texts",
}


def write(plan: Plan, vectors: Sequence[Vector]) -> str:
    """Return the Python source of a plan.

    Parameters
    ----------
    plan : Plan
    vectors : sequence of Vector
    """
    kinds = plan.kinds
    has_probabilities = plan.probabilities is not None
    data = {
        "COLUMNS": plan.columns,
        "CLASSES": plan.classes,
        "MODEL": described(plan),
        "TESTS": tests(vectors),
        "PRECISION": PRECISION,
    }
    written = {name: _written(value) for name, value in data.items()}
    reads = any(text.startswith("json.") for text in written.values())
    functions = ["scores", "predict", *["probabilities"] * has_probabilities]
    lines = [
        f'"""A {plan.title} model as plain Python, written by separable export.',
        "",
        f"Its functions take one row, {_TAKES[plan.takes]}:",
        f"{', '.join(functions)}. Run this file to test it.",
        '"""',
        "",
        *[f"import {name}" for name in sorted([*_imports(kinds), *["json"] * reads])],
        "",
        *[f"{name} = {text}" for name, text in written.items()],
        "",
    ]
    made = runtime("python", "runtime.py")
    parts = [*made.for_steps(kinds), _tables(made, kinds), made["main"]]
    parts += [*[made["probabilities"]] * has_probabilities, made["self test"]]
    return "\n".join(lines) + "".join(f"\n\n{part}" for part in parts)


def _written(value: Any) -> str:
    return read_from_json(value, "json.loads", '"".join(%s)') or laid_out(value, python)


def _imports(kinds: set[str]) -> list[str]:
    needed = {"math"}
    if kinds & {"number", "curve", "numbers", "record", "date", "text", "converted"}:
        needed.add("re")
    if "date" in kinds:
        needed.add("datetime")
    if "text" in kinds:
        needed.add("unicodedata")
    return sorted(needed)


def _tables(made: Runtime, kinds: set[str]) -> str:
    """Return the code that makes dicts from lists of the model when the module is loaded."""
    steps = sorted(kinds & set(_FUNCTIONS))
    named = ", ".join(f'"{kind}": {_FUNCTIONS[kind]}' for kind in steps)
    conversions = sorted(k.removesuffix(" conversion") for k in kinds if k.endswith(" conversion"))
    texts = ", ".join(f'"{kind}": _{kind}_text' for kind in conversions)
    listed = [kind for kind in ("category", "text", "record") if kind in kinds]
    parts = [made["tables"]] * bool(listed) + [made[f"{kind} tables"] for kind in listed]
    converted = [f"_CONVERSIONS = {{{texts}}}\n"] * bool(conversions)
    return "".join([*converted, f"_STEPS = {{{named}}}\n", *parts, made["weights"]])
