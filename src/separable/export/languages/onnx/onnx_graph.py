"""Export of a plan to an ONNX graph."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.export.languages.onnx.onnx_columns import (
    Nodes,
    added,
    given_as,
    missing_text,
    numbers_added,
    onnx_module,
    takes_text,
)
from separable.export.plan.plan import (
    BooleanStep,
    DateStep,
    NumbersStep,
    refuse_mixed_levels,
    refuse_nul_texts,
    refuse_texts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.export.plan.plan import Plan, Step
    from separable.export.plan.test_vectors import Vector

__all__ = ["write"]

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,60}")
_NUMBER, _TEXT = np.dtype(np.float64), np.dtype(object)


def write(plan: Plan, vectors: Sequence[Vector]) -> bytes:
    """Return the serialized graph.

    Parameters
    ----------
    plan : Plan
    vectors : sequence of Vector
    """
    refuse_texts(plan, "ONNX")
    refuse_mixed_levels(plan, "ONNX")
    refuse_nul_texts(plan, "ONNX")
    helper = onnx_module("onnx.helper")
    nodes = Nodes()
    (first, *_) = plan.steps
    if isinstance(first, NumbersStep):
        inputs = [
            helper.make_tensor_value_info("X", nodes.type_of(_NUMBER), [None, len(first.names)])
        ]
        parts = [numbers_added(plan, first, "X", nodes)]
    else:
        names = _input_names(plan)
        inputs = [
            helper.make_tensor_value_info(
                name, nodes.type_of(_TEXT if takes_text(step) else _NUMBER), [None, 1]
            )
            for name, step in zip(names, plan.steps, strict=True)
        ]
        parts = [
            added(plan, step, name, nodes) for name, step in zip(names, plan.steps, strict=True)
        ]
    scores = nodes("Sum", *parts, nodes.numbers([plan.base]))
    outputs = _outputs(plan, scores, nodes, helper)
    graph = helper.make_graph(nodes.nodes, "separable", inputs, outputs, nodes.constants)
    model = helper.make_model(
        graph,
        producer_name="separable",
        ir_version=IR_VERSION,
        opset_imports=[
            helper.make_opsetid("", OPSET),
            helper.make_opsetid("ai.onnx.ml", ML_OPSET),
        ],
    )
    helper.set_model_props(model, _metadata(plan, vectors))
    return bytes(model.SerializeToString(deterministic=True))


def _input_names(plan: Plan) -> list[str]:
    """Return an input name for each column: its own if that is a word and not taken."""
    taken = {"scores", "prediction", "probabilities"}
    names = []
    for at, column in enumerate(plan.columns):
        own = _WORD.fullmatch(column) and not re.fullmatch(r"(column_|[vk])\d+", column)
        name = column if own and column not in taken else f"column_{at}"
        names.append(name)
    return names


def _outputs(plan: Plan, scores: str, nodes: Nodes, helper: Any) -> list[Any]:
    k = plan.n_scores
    nodes.named("scores", scores)
    number = nodes.type_of(_NUMBER)
    outputs = [helper.make_tensor_value_info("scores", number, [None, k])]
    if plan.classes is None:
        column = nodes("Squeeze", scores, nodes.integers([1])) if k == 1 else scores
        nodes.named("prediction", column)
        shape = [None] if k == 1 else [None, k]
        return [*outputs, helper.make_tensor_value_info("prediction", number, shape)]
    nodes.named(
        "prediction", nodes("Gather", nodes.labels(plan.classes), _index(plan, scores, nodes))
    )
    kind = nodes.type_of(np.array(plan.classes).dtype)
    outputs.append(helper.make_tensor_value_info("prediction", kind, [None]))
    if plan.probabilities is not None:
        nodes.named("probabilities", _probabilities(plan, scores, nodes))
        shape = [None, len(plan.classes)]
        outputs.append(helper.make_tensor_value_info("probabilities", number, shape))
    return outputs


def _index(plan: Plan, scores: str, nodes: Nodes) -> str:
    """Return the class index of each row."""
    if plan.n_scores > 1:
        return nodes("ArgMax", scores, axis=1, keepdims=0)
    assert plan.classes is not None
    bound = 0.0 if len(plan.classes) == 2 else np.inf
    above = nodes("Greater", scores, nodes.numbers(bound))
    column = nodes("Squeeze", above, nodes.integers([1]))
    return nodes("Cast", column, to=nodes.type_of(np.dtype(np.int64)))


def _probabilities(plan: Plan, scores: str, nodes: Nodes) -> str:
    assert plan.classes is not None
    if plan.calibration is not None:
        slopes, offsets = zip(*plan.calibration, strict=True)
        scaled = nodes("Mul", scores, nodes.numbers([slopes]))
        scores = nodes("Add", scaled, nodes.numbers([offsets]))
    if len(plan.classes) == 1:
        return nodes("Add", nodes("Mul", scores, nodes.numbers(0.0)), nodes.numbers(1.0))
    if len(plan.classes) == 2:
        return nodes("Sigmoid", nodes("Concat", nodes("Neg", scores), scores, axis=1))
    if plan.probabilities == "logistic":  # the logarithm of the sigmoid
        small = nodes("Exp", nodes("Neg", nodes("Abs", scores)))
        logs = nodes("Log", nodes("Add", small, nodes.numbers(1.0)))
        scores = nodes("Sub", nodes("Min", scores, nodes.numbers(0.0)), logs)
    return nodes("Softmax", scores, axis=1)


# --- metadata ---


def _metadata(plan: Plan, vectors: Sequence[Vector]) -> dict[str, str]:
    """Return the metadata of the file, as JSON."""
    (first, *_) = plan.steps
    if isinstance(first, NumbersStep):
        columns: list[dict[str, Any]] = [
            {"column": name, "input": "X", "takes": "number"} for name in first.names
        ]
        rows: list[list[Any]] = [list(vector.row) for vector in vectors]
    else:
        columns = [
            {"column": column, "input": name, "takes": _takes(step), "missing": missing_text(step)}
            for column, name, step in zip(plan.columns, _input_names(plan), plan.steps, strict=True)
        ]
        rows = [
            [given_as(step, value) for step, value in zip(plan.steps, vector.row, strict=True)]
            for vector in vectors
        ]
    tests = [{**vars(v), "row": row} for v, row in zip(vectors, rows, strict=True)]
    return {
        "separable.learner": plan.learner,
        "separable.columns": json.dumps(columns),
        "separable.classes": json.dumps(plan.classes),
        "separable.test_rows": json.dumps(tests),
    }


def _takes(step: Step) -> str:
    if takes_text(step):
        return "text"
    if isinstance(step, DateStep):
        return "seconds since 1970-01-01"
    return "1 or 0" if isinstance(step, BooleanStep) else "number"
