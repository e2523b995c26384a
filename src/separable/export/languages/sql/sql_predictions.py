"""Predictions and probabilities in SQL, from scores s0, s1, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.export.languages.sql.sql_syntax import literal, number, summed

if TYPE_CHECKING:
    from separable.export.plan.plan import Plan

__all__ = ["calibrated", "exponentials", "largest", "log_odds", "prediction", "probabilities"]


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
        return f"CASE WHEN s0 > 0 THEN {yes} WHEN s0 <= 0 THEN {no} END"
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
