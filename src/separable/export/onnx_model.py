"""`to_onnx`: a learner as an ONNX model, called and read like one of skl2onnx."""

from __future__ import annotations

from typing import Any

import numpy as np

from separable.export.exporting import export
from separable.export.languages.onnx.onnx_graph import onnx_module

__all__ = ["to_onnx"]

#: Order of the outputs: as in skl2onnx, predictions come first.
OUTPUTS = ("prediction", "probabilities", "scores")


def to_onnx(model: Any, X: Any = None) -> Any:
    """Return a model as an ONNX model, with what ``skl2onnx.to_onnx`` returns first.

    ``export(model, "onnx")`` is the same graph with the outputs in the order ``scores``,
    ``prediction``, ``probabilities``. Arithmetic is in float64 also for float32 inputs.

    Parameters
    ----------
    model : LinearModel, or fitted learner
        With its encoder, if it has one.
    X : array-like, optional
        Rows. The input ``X`` of a numeric model has their type, float32 or float64; without rows it
        is float64. The first 20 are kept in the file as test rows.

    Returns
    -------
    onnx.ModelProto
        ``SerializeToString`` gives the bytes that onnxruntime loads.

    Examples
    --------
    >>> from separable import Ridge
    >>> from separable.export import to_onnx
    >>> made = to_onnx(Ridge().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 3.0]))
    >>> [one.name for one in made.graph.input], [one.name for one in made.graph.output]
    (['X'], ['prediction', 'scores'])
    """
    onnx = onnx_module("onnx")
    if not hasattr(getattr(model, "model_", model), "weights"):
        raise TypeError(
            f"to_onnx takes a model or a fitted learner of separable, got {type(model).__name__}. "
            "Of a pipeline, export its learner, or fit a TableClassifier or TableRegressor, which "
            "include the encoder."
        )
    made = onnx.load_from_string(export(model, "onnx", rows=X))
    outputs = sorted(made.graph.output, key=lambda one: OUTPUTS.index(one.name))
    del made.graph.output[:]
    made.graph.output.extend(outputs)
    names = [one.name for one in made.graph.input]
    if names == ["X"] and getattr(X, "dtype", None) == np.float32:
        _take_float32(made, onnx)
    onnx.checker.check_model(made)
    return made


def _take_float32(made: Any, onnx: Any) -> None:
    """Make the input float32, converted in the graph."""
    for node in made.graph.node:
        for place, name in enumerate(node.input):
            if name == "X":
                node.input[place] = "X_float64"
    cast = onnx.helper.make_node("Cast", ["X"], ["X_float64"], to=onnx.TensorProto.DOUBLE)
    made.graph.node.insert(0, cast)
    made.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
