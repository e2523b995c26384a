"""Export of a plan to an ONNX graph: nodes for each column, outputs and metadata."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.columns import Categories, Numbers, number_text
from separable.data.ingest.conversions.applying import convert
from separable.data.ingest.conversions.conversion import DurationConversion, conversion_to_dict
from separable.data.ingest.dates import Dates, read_boolean, read_date
from separable.errors import require_packages
from separable.export.plan.plan import (
    BooleanStep,
    CategoryStep,
    CurveStep,
    DateStep,
    NumbersStep,
    NumberStep,
    refuse_mixed_levels,
    refuse_nul_texts,
    refuse_texts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from separable.export.plan.plan import PairStep, Plan, Step
    from separable.export.plan.test_vectors import Vector


__all__ = [
    "Nodes",
    "added",
    "given_as",
    "missing_text",
    "numbers_added",
    "onnx_module",
    "takes_text",
    "write",
]


OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,60}")
_NUMBER, _TEXT = np.dtype(np.float64), np.dtype(object)


def onnx_module(name: str) -> Any:
    """Import a module of the package onnx, or raise an error that says how to install it."""
    require_packages("Export to ONNX", onnx="onnx")
    return import_module(name)


class Nodes:
    """Nodes and constants of a graph; values are referred to by name."""

    def __init__(self) -> None:
        self._helper = onnx_module("onnx.helper")
        self._arrays = onnx_module("onnx.numpy_helper")
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def __call__(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(self._helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def named(self, name: str, value: str) -> None:
        """Give a value the name of an output."""
        self.nodes.append(self._helper.make_node("Identity", [value], [name]))

    def numbers(self, values: ArrayLike) -> str:
        """Add a constant of float64."""
        return self._constant(np.asarray(values, dtype=np.float64))

    def integers(self, values: ArrayLike) -> str:
        """Add a constant of int64."""
        return self._constant(np.asarray(values, dtype=np.int64))

    def labels(self, labels: Sequence[Any]) -> str:
        """Add a constant of classes, of any type."""
        array = np.array(labels)
        return self._constant(array.astype(object) if array.dtype.kind == "U" else array)

    def as_number(self, value: str) -> str:
        """Cast booleans to 0 and 1."""
        return self("Cast", value, to=self.type_of(np.dtype(np.float64)))

    def type_of(self, dtype: np.dtype[Any]) -> int:
        """Return the ONNX code of a type."""
        kind = object if dtype.kind in "OU" else dtype
        return int(self._helper.np_dtype_to_tensor_dtype(np.dtype(kind)))

    def _constant(self, array: np.ndarray[Any, Any]) -> str:
        name = f"k{len(self.constants)}"
        self.constants.append(self._arrays.from_array(array, name))
        return name


def takes_text(step: Step) -> bool:
    """Return whether the input of a column is text."""
    typed = isinstance(step, CategoryStep) and step.typed and bool(step.levels)
    return isinstance(step, CategoryStep) and not (typed and not _has_texts(step))


def missing_text(step: Step) -> str | None:
    """Return the text for a missing value: one that is not a level."""
    if not takes_text(step):
        return None
    assert isinstance(step, CategoryStep)
    levels = {level for level, _ in step.levels}
    text = ""
    while text in levels:
        text += "(missing)"
    return text


def given_as(step: Step, value: Any) -> Any:
    """Return a raw value as input of the graph: a number, None for NaN, or a text."""
    if takes_text(step):
        if value is None:
            return missing_text(step)
        if isinstance(value, str):
            return value
        assert isinstance(step, CategoryStep)
        if step.typed:
            return f"({value!r}, not a text)"
        return str(value) if isinstance(value, bool) else number_text(float(value))
    value = _converted(step, value)
    if value is None:
        return None
    if isinstance(step, DateStep):
        moment = read_date(value)
        assert moment is not None
        return moment / 1e6
    if isinstance(step, BooleanStep) and isinstance(value, str):
        return read_boolean(value)
    if isinstance(step, CategoryStep) and isinstance(value, str):
        return math.pi  # a text equals no numeric level
    return float(value)


def _converted(step: Step, value: Any) -> Any:
    """Return a raw value as its column converts it: the graph has no functions of texts."""
    if not isinstance(step, (NumberStep, CurveStep, DateStep)) or not isinstance(value, str):
        return value
    conversion = step.conversion
    if conversion is None:
        return value
    column = convert(step.name, Categories(np.zeros(1, np.int32), (value,)), conversion)
    assert isinstance(column, (Numbers, Dates))
    (number,) = column.values.tolist()
    return None if number is None or number != number else number


def _has_texts(step: CategoryStep) -> bool:
    return any(isinstance(level, str) for level, _ in step.levels)


# --- contributions to the scores, shape (rows, scores) ---


def added(plan: Plan, step: Step, value: str, nodes: Nodes, missing_as: str | None = None) -> str:
    """Return the contributions of a column.

    Parameters
    ----------
    plan : Plan
    step : Step
    value : str
        The input, shape (rows, 1).
    nodes : Nodes
        The graph to add to.
    missing_as : str, optional
        The text for a missing value, if another step of the column decides it.
    """
    if isinstance(step, CategoryStep) and takes_text(step):
        return _text_category(plan, step, value, nodes, missing_as or missing_text(step))
    missing = nodes("IsNaN", value)
    if isinstance(step, NumberStep):
        present = _scaled(plan, nodes, value, (step.mean, step.scale, step.value))
        return nodes("Where", missing, _filled(plan, nodes, step.missing), present)
    if isinstance(step, CurveStep):
        present = _curve(plan, nodes, step, value)
        return nodes("Where", missing, _filled(plan, nodes, step.missing), present)
    if isinstance(step, BooleanStep):
        levels = ((1.0, -1 if step.true is None else step.true), (0.0, -1))
        present = _chosen(plan, nodes, value, levels, np.nan)
        return nodes("Where", missing, _filled(plan, nodes, step.missing), present)
    if isinstance(step, CategoryStep):
        unseen = np.nan if step.refuses else step.unseen
        present = _chosen(plan, nodes, value, step.levels, unseen)
        absent = np.nan if step.refuses_missing else step.missing
        return nodes("Where", missing, _filled(plan, nodes, absent), present)
    assert isinstance(step, DateStep)
    return nodes(
        "Where", missing, _filled(plan, nodes, step.missing), _date(plan, nodes, step, value)
    )


def pair_added(plan: Plan, pair: PairStep, names: Sequence[str], nodes: Nodes) -> str:
    """Return the contributions of a pair: the products of the features of both columns."""
    size, width = pair.size, pair.width
    factors = []
    for at, step, n, shape in zip(
        pair.columns, pair.axes, (size, width), ((-1, size, 1), (-1, 1, width)), strict=True
    ):
        alone = replace(  # its scores are its features
            plan, weights=np.eye(n), intercept=(0.0,) * n, threshold=None, pairs=()
        )
        features = added(alone, step, names[at], nodes, missing_text(plan.steps[at]))
        factors.append(nodes("Reshape", features, nodes.integers(shape)))
    products = nodes("Reshape", nodes("Mul", *factors), nodes.integers((-1, size * width)))
    weights = plan.weights[pair.start : pair.start + size * width]
    return nodes("MatMul", _counted(plan, nodes, products), nodes.numbers(weights))


def numbers_added(plan: Plan, step: NumbersStep, value: str, nodes: Nodes) -> str:
    """Return the contributions of numeric rows, shape (rows, columns)."""
    if step.products is not None:
        ones = nodes("Pad", value, nodes.integers([0, 0, 0, 1]), nodes.numbers(1.0))
        n, longest = len(step.names), max(map(len, step.products))
        indices = np.full((longest or 1, len(step.products)), n)
        for index, factors in enumerate(step.products):
            indices[: len(factors), index] = factors
        value = nodes("Gather", ones, nodes.integers(indices[0]), axis=1)
        for more in indices[1:]:
            value = nodes("Mul", value, nodes("Gather", ones, nodes.integers(more), axis=1))
    return nodes("MatMul", _counted(plan, nodes, value), nodes.numbers(plan.weights))


def _counted(plan: Plan, nodes: Nodes, value: str) -> str:
    """Apply the threshold to values, if there is one."""
    if plan.threshold is None:
        return value
    above = nodes.as_number(nodes("Greater", value, nodes.numbers(plan.threshold)))
    return nodes("Sub", above, nodes.numbers(plan.zero))


def _weights(plan: Plan, index: float | None) -> list[float]:
    """Return the contribution of a 1 at a feature to each score; NaN if it is refused."""
    if index is not None and math.isnan(index):
        return [math.nan] * plan.n_scores
    if index is None or index < 0:
        return [0.0] * plan.n_scores
    return list((plan.weights[int(index)] * (plan.one - plan.zero)).tolist())


def _filled(plan: Plan, nodes: Nodes, index: float | None) -> str:
    return nodes.numbers([_weights(plan, index)])


def _scaled(
    plan: Plan, nodes: Nodes, value: str, number: tuple[float, float, int | None] | None
) -> str:
    if number is None or number[2] is None:
        return nodes.numbers([[0.0] * plan.n_scores])
    mean, scale, index = number
    scaled = nodes("Div", nodes("Sub", value, nodes.numbers(mean)), nodes.numbers(scale))
    return nodes("Mul", _counted(plan, nodes, scaled), nodes.numbers([plan.weights[index]]))


def _curve(plan: Plan, nodes: Nodes, step: CurveStep, value: str) -> str:
    """Return the contributions of a curve, from the fraction of each piece that x has passed.

    A fraction is 1 below x's piece and 0 above it, so that the differences of neighbouring
    fractions are the tents, without rounding errors.
    """
    if not step.breaks:
        return nodes.numbers([[0.0] * plan.n_scores])
    if step.period:
        value = _in_cycle(nodes, step, value)
    breaks = np.array(step.breaks)
    low, gaps = nodes.numbers([breaks[:-1]]), nodes.numbers([np.diff(breaks)])
    passed = nodes("Div", nodes("Sub", value, low), gaps)
    bounds = np.tile([[0.0], [1.0]], len(breaks) - 1)
    if step.linear:
        bounds[0, 0], bounds[1, -1] = -np.inf, np.inf
    passed = nodes(
        "Min", nodes("Max", passed, nodes.numbers(bounds[:1])), nodes.numbers(bounds[1:])
    )
    features, at = np.unique(step.indices, return_inverse=True)
    tents = np.zeros((len(breaks), len(features)))  # from fractions and a constant 1
    np.add.at(tents, (np.arange(len(breaks)), at), 1.0)
    differences = np.eye(len(breaks), k=1)[:-1] - np.eye(len(breaks))[:-1]
    cells = nodes("MatMul", passed, nodes.numbers(differences @ tents))
    cells = nodes("Add", cells, nodes.numbers(tents[:1]))
    return nodes("MatMul", _counted(plan, nodes, cells), nodes.numbers(plan.weights[features]))


def _in_cycle(nodes: Nodes, step: CurveStep, value: str) -> str:
    """Return values modulo the period, from the first break on."""
    period = nodes.numbers(step.period)
    rest = nodes("Mod", value, period, fmod=1)
    for bound in (0.0, step.breaks[0]):
        is_below = nodes("Less", rest, nodes.numbers(bound))
        rest = nodes("Where", is_below, nodes("Add", rest, period), rest)
    return rest


def _chosen(plan: Plan, nodes: Nodes, value: str, levels: Any, unseen: float | None) -> str:
    """Return the contribution of the level that equals a number."""
    keys = nodes.numbers([[level for level, _ in levels]])
    table = nodes.numbers([_weights(plan, index) for _, index in levels])
    hits = nodes.as_number(nodes("Equal", value, keys))
    known = nodes("MatMul", hits, table)
    if _weights(plan, unseen) == [0.0] * plan.n_scores:
        return known
    count = nodes("MatMul", hits, nodes.numbers([[1.0]] * len(levels)))
    is_known = nodes("Greater", count, nodes.numbers(0.5))
    return nodes("Where", is_known, known, _filled(plan, nodes, unseen))


def _text_category(
    plan: Plan, step: CategoryStep, value: str, nodes: Nodes, missing_as: str | None
) -> str:
    missing = np.nan if step.refuses_missing else step.missing
    unseen = np.nan if step.refuses else step.unseen
    pairs = [(level, index) for level, index in step.levels if isinstance(level, str)]
    rows = [_weights(plan, each) for each in (unseen, missing, *(index for _, index in pairs))]
    row = nodes(
        "LabelEncoder",
        value,
        domain="ai.onnx.ml",
        keys_strings=[missing_as, *(level for level, _ in pairs)],
        values_int64s=list(range(1, len(rows))),
        default_int64=0,
    )
    return nodes("Squeeze", nodes("Gather", nodes.numbers(rows), row), nodes.integers([1]))


def _date(plan: Plan, nodes: Nodes, step: DateStep, seconds: str) -> str:
    """Split seconds since 1970-01-01 into date parts (Howard Hinnant's algorithm)."""

    def floor_of(value: str, divisor: float) -> str:
        return nodes("Floor", nodes("Div", value, nodes.numbers(divisor)))

    def plus(value: str, *terms: tuple[float, str]) -> str:
        for factor, term in terms:
            value = nodes("Add", value, nodes("Mul", term, nodes.numbers(factor)))
        return value

    one = nodes.numbers(1.0)
    days = floor_of(seconds, 86400)
    hour = floor_of(plus(seconds, (-86400, days)), 3600)
    shifted = plus(days, (719468, one))
    era = floor_of(shifted, 146097)
    of_era = plus(shifted, (-146097, era))
    leaps = [(-1.0, floor_of(of_era, 1460)), (1.0, floor_of(of_era, 36524))]
    y = floor_of(plus(of_era, *leaps, (-1.0, floor_of(of_era, 146096))), 365)
    of_year = plus(of_era, (-365, y), (-1.0, floor_of(y, 4)), (1.0, floor_of(y, 100)))
    m = floor_of(plus(nodes("Mul", of_year, nodes.numbers(5.0)), (2, one)), 153)
    start = floor_of(plus(nodes("Mul", m, nodes.numbers(153.0)), (2, one)), 5)
    day = plus(of_year, (-1.0, start), (1, one))
    early = nodes.as_number(nodes("Greater", m, nodes.numbers(9.5)))  # January and February
    month = plus(m, (2, one), (-12, early))  # from 0
    year = plus(y, (400, era), (1.0, early))
    monday = plus(days, (3, one))
    weekday = plus(monday, (-7, floor_of(monday, 7)))
    whole = nodes("Div", seconds, nodes.numbers(86400.0))
    parts = [
        _scaled(plan, nodes, value, number)
        for value, number in zip((whole, year, day), step.numbers, strict=True)
        if number is not None
    ]
    parts += [
        _chosen(plan, nodes, value, [(float(v), index) for v, index in pairs], None)
        for value, pairs in zip((month, weekday, hour), step.cycles, strict=True)
        if pairs
    ]
    return nodes("Sum", *parts) if parts else _scaled(plan, nodes, seconds, None)


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
        parts += [pair_added(plan, pair, names, nodes) for pair in plan.pairs]
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
        numbers = scores
        if plan.output_range is not None:
            low, high = (nodes.numbers(each) for each in plan.output_range)
            top = nodes.numbers(math.log(plan.output_range[1]))
            numbers = nodes("Clip", nodes("Exp", nodes("Min", scores, top)), low, high)
        column = nodes("Squeeze", numbers, nodes.integers([1])) if k == 1 else numbers
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
    bound = plan.score_threshold if len(plan.classes) == 2 else np.inf
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
            {
                "column": column,
                "input": name,
                "takes": _takes(step),
                "missing": missing_text(step),
                **_converted_from(step),
            }
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


def _converted_from(step: Step) -> dict[str, Any]:
    """Return the conversion that the caller applies before the graph."""
    conversion = getattr(step, "conversion", None)
    return {} if conversion is None else {"converted_from": conversion_to_dict(conversion)}


def _takes(step: Step) -> str:
    if takes_text(step):
        return "text"
    if isinstance(getattr(step, "conversion", None), DurationConversion):
        return "number of hours"
    if isinstance(step, DateStep):
        return "seconds since 1970-01-01"
    return "1 or 0" if isinstance(step, BooleanStep) else "number"
