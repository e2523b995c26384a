"""Builder of ONNX graphs in float64: one call per node."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.errors import require_packages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

__all__ = ["Nodes", "onnx_module"]


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
