"""Export of a plan to one SQL query."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from separable.export.languages.sql.sql_columns import (
    date_stages,
    level_joins,
    level_tables,
    read_columns,
    scores_of,
    summed,
)
from separable.export.languages.sql.sql_conversions import conversion_stages, refuse_conversions
from separable.export.languages.sql.sql_curves import column_curves, curve_stages
from separable.export.languages.sql.sql_pairs import (
    pair_curves,
    pair_joins,
    pair_stage,
    pair_tables,
)
from separable.export.languages.sql.sql_text import identifier, literal, number
from separable.export.plan.plan import ExportError, refuse_mixed_levels, refuse_texts
from separable.export.plan.test_vectors import PRECISION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.export.plan.plan import Plan
    from separable.export.plan.test_vectors import Vector


__all__ = ["write"]

#: Maximum number of classes: all pairs are compared.
MOST_CLASSES = 200
#: Maximum number of columns of a table: 1600 in PostgreSQL, 2000 in SQLite by default.
MOST_COLUMNS = 1600
#: Class labels that are allowed in names of columns; others are replaced by numbers.
_WORD = re.compile(r"[\w .+-]{1,40}")


def write(
    plan: Plan, vectors: Sequence[Vector], *, table: str = "rows", keep: Sequence[str] = ()
) -> str:
    """Return the query, after a comment with a query that tests it.

    Parameters
    ----------
    plan : Plan
    vectors : sequence of Vector
    table : str
        The table to read.
    keep : sequence of str
        Columns to copy to the output.
    """
    refuse_texts(plan, "SQL")
    refuse_mixed_levels(plan, "SQL")
    refuse_conversions(plan)
    _refuse_large(plan)
    names = [*keep, *_names_out(plan)]
    if len({name.lower() for name in names}) < len(names):
        raise ExportError(
            f"The names {names} of the output columns are not all different in SQL. Leave the "
            "column out of 'keep', or rename it in the table."
        )
    kept = [f"t.{identifier(name)} AS k{at}" for at, name in enumerate(keep)]
    out = [f"k{at} AS {identifier(name)}" for at, name in enumerate(keep)]
    outputs = [
        f"{text} AS {identifier(name)}"
        for text, name in zip(_outputs(plan), _names_out(plan), strict=True)
    ]
    stages = _stages(plan, table, kept)
    return f"{_head(plan)}{_self_test(plan, vectors)}{_query(stages, [*out, *outputs])};\n"


def _refuse_large(plan: Plan) -> None:
    if len(plan.classes or ()) > MOST_CLASSES:
        raise ExportError(
            f"The model has {len(plan.classes or ())} classes, and a query that compares each with "
            f"each is too large above {MOST_CLASSES}. Export it to Python, JavaScript, C or ONNX."
        )
    if len(plan.columns) > MOST_COLUMNS:
        raise ExportError(
            f"The model takes {len(plan.columns)} columns, and a table of PostgreSQL has at most "
            f"{MOST_COLUMNS}, of SQLite 2000. Export it to Python, JavaScript, C or ONNX."
        )


def _head(plan: Plan) -> str:
    return (
        f"-- A {plan.title} model as one query, written by separable export, for SQLite,\n"
        "-- PostgreSQL and DuckDB. A value that cannot be used gives a score of NULL.\n"
    )


def _query(stages: list[tuple[str, str]], out: list[str]) -> str:
    once = "AS MATERIALIZED"  # otherwise SQLite inlines each expression wherever it is used
    parts = ",\n".join(f"{name} {once} (\n  {text}\n)" for name, text in stages)
    return f"WITH {parts}\nSELECT\n  " + ",\n  ".join(out) + f"\nFROM {stages[-1][0]}"


def _stages(plan: Plan, table: str, kept: list[str]) -> list[tuple[str, str]]:
    """Return a chain of subqueries, each with all columns of the one before."""
    prefix = "model"
    while table.lower().startswith(prefix):
        prefix += "_"
    stages: list[tuple[str, str]] = []

    def add(columns: list[str], joins: str = "") -> None:
        source = stages[-1][0] if stages else f"{identifier(table)} AS t"
        text = ",\n    ".join([*[f"{source}.*"] * bool(stages), *columns])
        stages.append((f"{prefix}_{len(stages)}", f"SELECT\n    {text}\n  FROM {source}{joins}"))

    add([*read_columns(plan), *kept])
    curves = [*column_curves(plan), *pair_curves(plan)]
    for stage in [*conversion_stages(plan), *date_stages(plan), *curve_stages(curves)]:
        add(stage)
    if plan.pairs:
        add(pair_stage(plan))
    tables = level_tables(plan, prefix)
    add(scores_of(plan, tables), level_joins(tables) + pair_joins(plan, prefix))
    if plan.classes is not None and len(plan.classes) > 2:
        names = [f"s{k}" for k in range(plan.n_scores)]
        add([f"{largest(names)} AS best"])
        if plan.probabilities is not None:
            add(log_odds(plan))
            add([f"{largest([f'l{k}' for k in range(plan.n_scores)])} AS top"])
            add(exponentials(plan))
    levels = [(each.head, each.rows) for each in tables.values()]
    return [*levels, *pair_tables(plan, prefix), *stages]


def _outputs(plan: Plan) -> list[str]:
    scores = [f"s{k}" for k in range(plan.n_scores)]
    if plan.output_range is not None:
        return [exponential(plan, score) for score in scores]
    if plan.classes is None:
        return scores
    class_probabilities = probabilities(plan) if plan.probabilities is not None else []
    return [prediction(plan), *scores, *class_probabilities]


def _names_out(plan: Plan) -> list[str]:
    """Return the names of the output, as `predict` has them; numbers replace unsuitable labels."""
    k = plan.n_scores
    if plan.classes is None:
        return ["prediction"] if k == 1 else [f"prediction_{at}" for at in range(k)]
    labels = [str(label) for label in plan.classes]
    plain = all(_WORD.fullmatch(label) for label in labels)
    if not plain or len({label.lower() for label in labels}) < len(labels):
        labels = [str(at) for at in range(len(labels))]
    scores = ["score"] if k == 1 else [f"score_{label}" for label in labels]
    probability_names = [f"probability_{label}" for label in labels] if plan.probabilities else []
    return ["prediction", *scores, *probability_names]


# --- the test ---


def _self_test(plan: Plan, vectors: Sequence[Vector]) -> str:
    """Return a comment with a query that tests the results on rows of its own."""
    reason = _untestable(plan)
    if reason is not None:
        return f"-- It holds no test, for {reason}.\n"
    prefix = "test"
    while any(name.lower().startswith(prefix) for name in plan.columns):
        prefix += "_"
    names = ["row", "said", *(f"{what}{k}" for what in "ez" for k in range(plan.n_scores))]
    stages = _stages(plan, f"{prefix}_rows", [f"t.{prefix}_{name} AS k_{name}" for name in names])
    right = [f"ABS(s{k} - k_e{k}) <= {PRECISION!r} * k_z{k}" for k in range(plan.n_scores)]
    if plan.classes is not None:
        right.append(f"{prediction(plan)} = k_said")
    if plan.output_range is not None:
        made = exponential(plan, "s0")
        right.append(f"ABS({made} - k_said) <= {2 * PRECISION!r} * (1 + k_z0) * k_said")
    out = ["k_row AS test_row", f"CASE WHEN {summed(right, 'AND')} THEN 1 ELSE 0 END AS ok"]
    query = _query([(f"{prefix}_rows", _rows(plan, vectors, prefix)), *stages], out)
    return (
        "-- To test it, run what stands between the marks: ok must be 1 in every line.\n"
        f"/*\n{_inside_comment(query)}\nORDER BY 1;\n*/\n"
    )


def _untestable(plan: Plan) -> str | None:
    if any("*/" in name or "/*" in name for name in plan.columns):
        return "the name of a column would end the comment that the test is in"
    if len({name.lower() for name in plan.columns}) < len(plan.columns):
        return "columns differ only in upper and lower case, which not every database tells apart"
    return None


def _rows(plan: Plan, vectors: Sequence[Vector], prefix: str) -> str:
    selects = []
    for at, vector in enumerate(vectors):
        pairs = [
            *zip(plan.columns, map(literal, vector.row), strict=True),
            (f"{prefix}_row", str(at)),
        ]
        tells = plan.classes is not None or plan.output_range is not None
        pairs.append((f"{prefix}_said", literal(vector.prediction if tells else None)))
        pairs += [(f"{prefix}_e{k}", number(s)) for k, s in enumerate(vector.scores)]
        pairs += [(f"{prefix}_z{k}", number(s)) for k, s in enumerate(vector.sizes)]
        selects.append("SELECT " + ", ".join(f"{v} AS {identifier(name)}" for name, v in pairs))
    return "\n  UNION ALL ".join(selects)


def _inside_comment(query: str) -> str:
    """Return a query in which no literal starts or ends a comment; nothing else can."""
    return query.replace("*/", "*' || '/").replace("/*", "/' || '*")


def exponential(plan: Plan, score: str) -> str:
    """Return the number whose logarithm is the score, within the range of the model."""
    assert plan.output_range is not None
    low, high = plan.output_range
    bottom, top = number(math.log(low)), number(math.log(high))
    return (
        f"CASE WHEN {score} >= {top} THEN {number(high)} WHEN {score} <= {bottom} THEN "
        f"{number(low)} WHEN {score} > {bottom} THEN EXP({score}) END"
    )


def largest(names: list[str]) -> str:
    """Return the index of the largest column, the first one in a tie."""
    cases = []
    for index, name in enumerate(names[:-1]):
        above = [f"{name} >= {other}" for other in names[index + 1 :]]
        cases.append(f"WHEN {summed(above, 'AND')} THEN {index}")
    known = f"CASE {' '.join(cases)} ELSE {len(names) - 1} END"
    return f"CASE WHEN {summed(names)} IS NULL THEN NULL ELSE {known} END"


def prediction(plan: Plan) -> str:
    """Return the label; from `best` if there are three classes or more."""
    assert plan.classes is not None
    if len(plan.classes) == 1:
        return f"CASE WHEN s0 IS NULL THEN NULL ELSE {literal(plan.classes[0])} END"
    if len(plan.classes) == 2:
        no, yes = map(literal, plan.classes)
        above = number(plan.score_threshold) if plan.score_threshold else "0"
        return f"CASE WHEN s0 > {above} THEN {yes} WHEN s0 <= {above} THEN {no} END"
    cases = " ".join(f"WHEN {at} THEN {literal(label)}" for at, label in enumerate(plan.classes))
    return f"CASE best {cases} END"


def calibrated(plan: Plan, at: int) -> str:
    """Return a score as log-odds, or as a term of the softmax."""
    if plan.calibration is None:
        return f"s{at}"
    slope, offset = plan.calibration[at]
    return f"({number(slope)} * s{at} + {number(offset)})"


def log_odds(plan: Plan) -> list[str]:
    """Return l0, l1, ...: the inputs of the softmax; for log-odds the log of the sigmoid."""
    out = []
    for at in range(plan.n_scores):
        s = calibrated(plan, at)
        if plan.probabilities == "logistic":
            s = (
                f"CASE WHEN {s} < 0 THEN {s} ELSE 0.0 END - "
                f"LN(1.0 + EXP(-CASE WHEN ABS({s}) > 700 THEN 700.0 ELSE ABS({s}) END))"
            )
        out.append(f"{s} AS l{at}")
    return out


def exponentials(plan: Plan) -> list[str]:
    """Return e0, e1, ...: exponentials that do not overflow, from l0, l1, ... and `top`."""
    top = " ".join(f"WHEN {at} THEN l{at}" for at in range(plan.n_scores))
    top = f"(CASE top {top} END)"
    return [
        f"CASE WHEN l{at} - {top} < -700 THEN 0.0 ELSE EXP(l{at} - {top}) END AS e{at}"
        for at in range(plan.n_scores)
    ]


def probabilities(plan: Plan) -> list[str]:
    """Return the probability of each class."""
    assert plan.classes is not None
    if len(plan.classes) == 1:
        return ["1.0"]
    if len(plan.classes) == 2:
        s = calibrated(plan, 0)
        small = f"EXP(-CASE WHEN ABS({s}) > 700 THEN 700.0 ELSE ABS({s}) END)"
        less, more = f"{small} / (1.0 + {small})", f"1.0 / (1.0 + {small})"
        return [
            f"CASE WHEN {s} >= 0 THEN {a} WHEN {s} < 0 THEN {b} END"
            for a, b in ((less, more), (more, less))
        ]
    total = summed([f"e{at}" for at in range(plan.n_scores)])
    return [f"e{at} / {total}" for at in range(plan.n_scores)]
