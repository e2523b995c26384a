"""Export of a plan to C99."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.ingest.conversions.conversion import conversion_kind
from separable.export.languages.language_registry import runtime
from separable.export.plan.plan import (
    BooleanStep,
    CategoryStep,
    CurveStep,
    DateStep,
    ExportError,
    NumbersStep,
    NumberStep,
    refuse_texts,
)
from separable.export.plan.test_vectors import PRECISION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from separable.data.ingest.conversions.conversion import Conversion
    from separable.export.languages.language_registry import Runtime
    from separable.export.plan.plan import PairStep, Plan, Step
    from separable.export.plan.test_vectors import Vector

__all__ = ["write"]

WIDTH = 100
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.,-")


def write(plan: Plan, vectors: Sequence[Vector]) -> str:
    """Return the C source of a plan.

    Parameters
    ----------
    plan : Plan
    vectors : sequence of Vector
    """
    refuse_texts(plan, "C")
    made = runtime("c", "runtime.c")
    kinds = plan.kinds | {"pair"} if plan.pairs else plan.kinds
    parts = [
        _head(made, plan),
        made["number cells" if plan.takes == "numbers" else "values"],
        _constants(plan),
        *made.for_steps(kinds),
        *_encoding(made, plan),
        made["main"],
        *[made["predicted number"]] * (plan.output_range is not None),
        *[made["predict"]] * (plan.classes is not None),
        *[made["probabilities"]] * (plan.probabilities is not None),
        "#ifdef SELF_TEST\n" + _tests(made, plan, vectors),
        made["self test"] + "#endif\n",
    ]
    return "\n".join(parts)


def _head(made: Runtime, plan: Plan) -> str:
    functions = "model_scores"
    functions += ", model_prediction" * (plan.output_range is not None)
    functions += ", model_predict" * (plan.classes is not None)
    functions += ", model_probabilities" * (plan.probabilities is not None)
    lines = [
        f"/* A {plan.title} model as plain C99, written by separable export.",
        f"   Functions: {functions}. They take a row, an array of MODEL_N_COLUMNS values in the",
        "   order of MODEL_COLUMNS. Compile with -DSELF_TEST -lm for a program that tests it. */",
        made["includes"],
        f"#define MODEL_N_COLUMNS {len(plan.columns)}",
        f"#define MODEL_N_SCORES {plan.n_scores}",
        f"#define MODEL_N_CLASSES {len(plan.classes or ())}",
        "",
        "extern const char *const MODEL_COLUMNS[];",
        f"const char *const MODEL_COLUMNS[] = {_braced(map(_string, plan.columns))};",
    ]
    if plan.classes is not None:
        names = map(_string, map(str, plan.classes))
        lines += [
            "extern const char *const MODEL_CLASSES[];",
            f"const char *const MODEL_CLASSES[] = {_braced(names)};",
        ]
    return "\n".join(lines) + "\n"


def _constants(plan: Plan) -> str:
    k = plan.n_scores
    weights = _braced(_braced(map(repr, row)) for row in plan.weights.tolist())
    lines = [
        f"#define HAS_THRESHOLD {int(plan.threshold is not None)}",
        f"#define THRESHOLD {float(plan.threshold or 0.0)!r}",
        f"#define SCORE_THRESHOLD {plan.score_threshold!r}",
        f"#define N_PLACES {len(plan.weights)}",
        f"static const double BASE[{k}] = {_braced(map(repr, plan.base))};",
        f"static const double WEIGHTS[][{k}] = {weights};",
    ]
    if plan.output_range is not None:
        low, high = plan.output_range
        lines += [f"#define LOWEST {low!r}", f"#define HIGHEST {high!r}"]
    if plan.probabilities is not None:
        pairs = plan.calibration or [(1.0, 0.0)] * k
        lines += [
            f"#define IS_LOGISTIC {int(plan.probabilities == 'logistic')}",
            f"static const double CALIBRATION[{k}][2] = "
            f"{_braced(_braced(map(repr, pair)) for pair in pairs)};",
        ]
    return "\n".join(lines) + "\n"


# --- steps ---


def _encoding(made: Runtime, plan: Plan) -> list[str]:
    """Return the tables of the columns, and the function that encodes a row with them."""
    (first, *_) = plan.steps
    if isinstance(first, NumbersStep):
        return _numbers(made, first)
    calls = [_call(step, at, f"step_{at}", "out") for at, step in enumerate(plan.steps)]
    calls += [_pair(pair, p) for p, pair in enumerate(plan.pairs)]
    head = "static int encode(const model_cell *row, sink *out) {\n"
    tables = [
        _conversion(conversion, at)
        for at, conversion in enumerate(plan.conversions)
        if conversion is not None
    ]
    tables += [_table(step, f"{at}") for at, step in enumerate(plan.steps)]
    tables += [
        _table(axis, f"{p}_{side}")
        for p, pair in enumerate(plan.pairs)
        for side, axis in enumerate(pair.axes)
    ]
    return [*tables, "".join([head, *calls, "    return 0;\n}\n"])]


def _pair(pair: PairStep, p: int) -> str:
    """Return the lines that add the products of two columns."""
    sides = zip(pair.axes, pair.columns, ("first", "second"), strict=True)
    calls = "".join(
        _call(axis, at, f"step_{p}_{side}", f"&{name}")
        for side, (axis, at, name) in enumerate(sides)
    )
    add = f"add_pair(&first, &second, {pair.start}, {pair.width}, out)"
    return (
        "    {\n    sink first = {0, 0, {0, 0}, {0, 0}}, second = {0, 0, {0, 0}, {0, 0}};\n"
        f"{calls}    if (!{add}) return MODEL_N_COLUMNS + 1;\n    }}\n"
    )


def _call(step: Step, at: int, table: str, out: str) -> str:
    """Return the lines that add a column to the scores, or to the features of a side of a pair."""
    conversion = getattr(step, "conversion", None)
    if conversion is None:
        return f"    if (!{step.kind}_cell(&{table}, row + {at}, {out})) return {at + 1};\n"
    kind = conversion_kind(conversion)
    read = f"read_{kind}_text(&conversion_{at}, text, "
    if kind == "date":
        take = f"if (!{read}date)) return {at + 1}; value = model_text(date)"
    else:
        take = f"if (!{read}&value.number)) return {at + 1}; value.kind = MODEL_NUMBER"
    return f"""    {{
        char text[200]{", date[64]" * (kind == "date")};
        model_value value = row[{at}];
        if (value.kind == MODEL_TEXT) {{
            if (!normalized(&value, text, sizeof text)) return {at + 1};
            if (is_missing_word(&conversion_{at}, text)) {{
                value = model_missing();
            }} else {{
                {take.replace("; ", ";" + chr(10) + " " * 16)};
            }}
        }}
        if (!{step.kind}_cell(&{table}, &value, {out})) return {at + 1};
    }}
"""


def _conversion(conversion: Conversion, at: int) -> str:
    """Return the tables of the conversion of a column."""
    units = sorted(getattr(conversion, "units", ()), key=len, reverse=True)
    group = getattr(conversion, "group", "")
    values = [
        f"missing_{at}",
        str(len(conversion.missing)),
        f"units_{at}",
        str(len(units)),
        _character(getattr(conversion, "decimal", ".")),
        _character(group) if group else "0",
        _character(getattr(conversion, "order", "ymd")[0]),
        str(int("%" in units)),
        *(
            str(int(getattr(conversion, name, False)))
            for name in ("month_names", "twelve_hour", "words", "magnitudes")
        ),
    ]
    return (
        f"static const char *const missing_{at}[] = {_braced(map(_string, conversion.missing))};\n"
        f"static const char *const units_{at}[] = {_braced(map(_string, units or ['']))};\n"
        f"static const conversion conversion_{at} = {_braced(values)};\n"
    )


def _character(letter: str) -> str:
    return f"(char){ord(letter)}"


def _numbers(made: Runtime, step: NumbersStep) -> list[str]:
    if step.products is None:
        return ["#define VALUE_AT(place) row[place]\n", made["numbers"]]
    starts = np.cumsum([0, *map(len, step.products)]).tolist()
    factors = [factor for product in step.products for factor in product] or [0]
    tables = (
        f"static const int STARTS[] = {_braced(map(str, starts))};\n"
        f"static const int FACTORS[] = {_braced(map(str, factors))};\n"
    )
    access = "#define VALUE_AT(place) product(row, place)\n"
    return [tables, made["products"], access, made["numbers"]]


def _table(step: Step, at: str) -> str:
    if isinstance(step, NumberStep):
        values = [repr(step.mean), repr(step.scale), _index(step.value), _index(step.missing)]
        return f"static const number_step step_{at} = {_braced(values)};\n"
    if isinstance(step, CurveStep):
        return _curve(step, at)
    if isinstance(step, BooleanStep):
        values = [_index(step.true), _index(step.missing)]
        return f"static const boolean_step step_{at} = {_braced(values)};\n"
    if isinstance(step, CategoryStep):
        return _category(step, at)
    assert isinstance(step, DateStep)
    return _date(step, at)


def _curve(step: CurveStep, at: str) -> str:
    values = [
        f"breaks_{at}",
        f"indices_{at}",
        str(len(step.breaks)),
        str(int(step.linear)),
        repr(step.period),
        _index(step.missing),
    ]
    return (
        f"static const double breaks_{at}[] = {_braced(map(repr, step.breaks or (0.0,)))};\n"
        f"static const int indices_{at}[] = {_braced(map(str, step.indices or (0,)))};\n"
        f"static const curve_step step_{at} = {_braced(values)};\n"
    )


def _category(step: CategoryStep, at: str) -> str:
    texts = sorted(
        (level.encode(), index) for level, index in step.levels if isinstance(level, str)
    )
    numbers = [(level, index) for level, index in step.levels if not isinstance(level, str)]
    text_rows = [_braced([_bytes(text), str(len(text)), str(index)]) for text, index in texts]
    number_rows = [_braced([repr(level), str(index)]) for level, index in numbers]
    values = [
        f"levels_{at}",
        str(len(texts)),
        f"numbers_{at}",
        str(len(numbers)),
        _index(step.missing),
        _index(step.unseen),
        *(str(int(each)) for each in (step.refuses, step.refuses_missing, step.typed)),
    ]
    return (
        f"static const text_level levels_{at}[] = {_braced(text_rows or ['{0, 0, 0}'])};\n"
        f"static const number_level numbers_{at}[] = {_braced(number_rows or ['{0, 0}'])};\n"
        f"static const category_step step_{at} = {_braced(values)};\n"
    )


def _date(step: DateStep, at: str) -> str:
    numbers = [each or (0.0, 1.0, -1) for each in step.numbers]
    cycles = "".join(
        f"static const cycle_place cycle_{at}_{i}[] = "
        f"{_braced([_braced(map(str, pair)) for pair in pairs] or ['{0, 0}'])};\n"
        for i, pairs in enumerate(step.cycles)
    )
    values = [
        _braced(repr(mean) for mean, _, _ in numbers),
        _braced(repr(scale) for _, scale, _ in numbers),
        _braced(str(index) for _, _, index in numbers),
        _braced(f"cycle_{at}_{i}" for i in range(3)),
        _braced(str(len(pairs)) for pairs in step.cycles),
        _index(step.missing),
    ]
    return f"{cycles}static const date_step step_{at} = {_braced(values)};\n"


def _index(index: int | None) -> str:
    return "-1" if index is None else str(index)


# --- tests ---


def _tests(made: Runtime, plan: Plan, vectors: Sequence[Vector]) -> str:
    k, n = plan.n_scores, len(vectors)
    if plan.takes == "numbers":
        rows = _braced(_braced(map(repr, vector.row)) for vector in vectors)
    else:
        rows = _braced(_braced(map(_value, vector.row)) for vector in vectors)
    scores = _braced(_braced(map(repr, vector.scores)) for vector in vectors)
    sizes = _braced(_braced(map(repr, vector.sizes)) for vector in vectors)
    lines = [
        f"#define N_TESTS {n}",
        f"#define PRECISION {PRECISION!r}",
        "#define TEST_ROW(row) TEST_ROWS[row]",
        f"static const model_cell TEST_ROWS[][MODEL_N_COLUMNS] = {rows};",
        f"static const double TEST_SCORES[][{k}] = {scores};",
        f"static const double TEST_SIZES[][{k}] = {sizes};",
    ]
    return "\n".join(lines) + "\n" + _test_classes(made, plan, vectors)


def _test_classes(made: Runtime, plan: Plan, vectors: Sequence[Vector]) -> str:
    if plan.output_range is not None:
        numbers = _braced(repr(vector.prediction) for vector in vectors)
        return f"static const double TEST_NUMBERS[] = {numbers};\n" + made["test numbers"]
    if plan.classes is None:
        return "\n" + made["no test classes"]
    indices = _braced(str(plan.classes.index(vector.prediction)) for vector in vectors)
    parts = [f"static const int TEST_CLASSES[] = {indices};\n", made["test classes"]]
    if plan.probabilities is not None:
        probabilities = _braced(
            _braced(map(repr, vector.probabilities or ())) for vector in vectors
        )
        table = f"static const double TEST_SHARES[][MODEL_N_CLASSES] = {probabilities};\n"
        parts = [table, *parts, made["test probabilities"]]
    return "".join([*parts, made["end of test classes"]])


def _value(value: Any) -> str:
    """Return a raw value as the initializer of a model_value."""
    if value is None:
        return '{MODEL_MISSING, 0, "", 0}'
    if isinstance(value, bool):
        return f'{{MODEL_BOOLEAN, {int(value)}, "", 0}}'
    if isinstance(value, (int, float)):
        return f'{{MODEL_NUMBER, {float(value)!r}, "", 0}}'
    if isinstance(value, str):
        data = value.encode()
        return f"{{MODEL_TEXT, 0, {_bytes(data)}, {len(data)}}}"
    raise ExportError(f"The value {value!r:.80} of a test row has no type of C. Pass a text.")


# --- literals ---


def _string(text: str) -> str:
    return _bytes(text.encode())


def _bytes(data: bytes) -> str:
    r"""Return a literal in which every unusual byte is three octal digits.

    Examples
    --------
    >>> print(_bytes(b'a"\n1'))
    "a\042\0121"
    """
    return '"' + "".join(chr(b) if b in _PLAIN else f"\\{b:03o}" for b in data) + '"'


def _braced(parts: Iterable[str]) -> str:
    """Return an initializer, wrapped at `WIDTH`."""
    lines, line = [], ""
    for part in parts:
        if line and len(line) + len(part) > WIDTH:
            lines.append(line)
            line = ""
        line += f"{' ' * bool(line)}{part},"
    if not lines:
        return f"{{{line.removesuffix(',')}}}"
    return "{\n" + "\n".join(f"    {each}" for each in [*lines, line]) + "\n}"
