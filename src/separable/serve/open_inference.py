"""The Open Inference Protocol, version 2, over HTTP: metadata and inference with tensors.

A request has one tensor per raw column, of shape [n] or [n, 1], or a single tensor of numbers of
shape [n, d] in the order of the columns. Binary tensors follow the extension of the protocol. The
explanation, which the protocol lacks, is a further output: ``because``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from separable.serve.answers import Answer, Refusal, Request, json_answer
from separable.serve.bodies import decoded_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.serve.served_model import Predicted, ServedModel

__all__ = ["infer", "model_metadata", "server_metadata"]

#: Header with the size of the JSON part, where binary tensors follow it.
JSON_SIZE = "inference-header-content-length"

#: NumPy types of the types of tensors.
TYPES = {
    "BOOL": np.dtype(np.bool_),
    "UINT8": np.dtype("<u1"), "UINT16": np.dtype("<u2"), "UINT32": np.dtype("<u4"),
    "UINT64": np.dtype("<u8"), "INT8": np.dtype("<i1"), "INT16": np.dtype("<i2"),
    "INT32": np.dtype("<i4"), "INT64": np.dtype("<i8"), "FP16": np.dtype("<f2"),
    "FP32": np.dtype("<f4"), "FP64": np.dtype("<f8"),
}  # fmt: skip
COLUMN_TYPES = {"number": "FP64", "boolean": "BOOL"}  # all others are BYTES


def server_metadata(version: str) -> dict[str, Any]:
    """Return the metadata of the server."""
    return {"name": "separable", "version": version, "extensions": ["binary_tensor_data"]}


def model_metadata(served: ServedModel, versions: Sequence[str]) -> dict[str, Any]:
    """Return the metadata of a model: its input columns and outputs as tensors."""
    columns = served.columns or ()
    model = served.model
    outputs = [_tensor("prediction", _datatype(model.classes))]
    if model.classes is not None:
        outputs.append(_tensor("score", "FP64", model.n_scores))
        if model.link != "score" or getattr(model, "calibration", None) is not None:
            outputs.append(_tensor("probability", "FP64", len(model.classes)))
    return {
        "name": served.name,
        "versions": list(versions),
        "platform": "separable",
        "inputs": [_tensor(each.name, COLUMN_TYPES.get(each.kind, "BYTES")) for each in columns],
        "outputs": [*outputs, _tensor("because", "BYTES")],
        "parameters": {"sha256": served.digest},
    }


def _tensor(name: str, datatype: str, width: int = 1) -> dict[str, Any]:
    return {"name": name, "datatype": datatype, "shape": [-1] if width == 1 else [-1, width]}


def _datatype(classes: NDArray[Any] | None) -> str:
    if classes is None or classes.dtype.kind == "f":
        return "FP64"
    return {"b": "BOOL", "i": "INT64", "u": "UINT64"}.get(classes.dtype.kind, "BYTES")


# ---------------------------------------------------------------------- inference


def infer(request: Request, served: ServedModel, most_rows: int) -> tuple[Answer, Predicted]:
    """Answer a request for inference."""
    document, binary = _parts(request)
    parameters = document.get("parameters") or {}
    explain = parameters.get("explain", 0) if isinstance(parameters, dict) else 0
    wanted = _wanted(document.get("outputs"))
    if "because" in wanted and not explain:
        explain = 3
    if not isinstance(explain, int) or not 0 <= explain <= 1000:
        raise Refusal(400, "parameters.explain must be a number of contributions.")
    data, count = _data(document.get("inputs"), binary, served)
    if count > most_rows:
        raise Refusal(413, f"The request has {count} rows; the limit is {most_rows}.")
    predicted = served.predict(data, explain)
    values = _outputs(predicted)
    unknown = [name for name in wanted if name not in values]
    if unknown:
        raise Refusal(400, f"There is no output {unknown[0]!r:.60}. There are {', '.join(values)}.")
    chosen = {name: values[name] for name in (wanted or values)}
    every = isinstance(parameters, dict) and bool(parameters.get("binary_data_output"))
    is_binary = {name: wanted.get(name, every) for name in chosen}
    head = {
        "model_name": served.name,
        "model_version": served.version,
        "id": document.get("id"),
        "parameters": {
            "sha256": served.digest,
            "warnings": msgspec.to_builtins(predicted.warnings),
        },
    }
    return _answer(head, chosen, is_binary), predicted


def _parts(request: Request) -> tuple[dict[str, Any], memoryview]:
    """Return the JSON of a request, and the bytes after it."""
    size = request.headers.get(JSON_SIZE)
    body = request.body
    if size is not None and (not size.isdigit() or int(size) > len(body)):
        raise Refusal(400, f"The header {JSON_SIZE} is not a size within the body.")
    end = len(body) if size is None else int(size)
    document = decoded_json(body[:end])
    if not isinstance(document, dict):
        raise Refusal(400, "The body must be an object with inputs.")
    return document, memoryview(body)[end:]


def _wanted(outputs: Any) -> dict[str, bool]:
    """Return the requested outputs, and whether each is binary."""
    if outputs is None:
        return {}
    if not isinstance(outputs, list) or not all(isinstance(each, dict) for each in outputs):
        raise Refusal(400, "outputs must be a list of objects.")
    return {
        str(each.get("name")): bool((each.get("parameters") or {}).get("binary_data"))
        for each in outputs
    }


def _data(inputs: Any, binary: memoryview, served: ServedModel) -> tuple[dict[str, list[Any]], int]:
    """Return the columns of the tensors, and the number of rows."""
    if not isinstance(inputs, list) or not inputs or not all(isinstance(i, dict) for i in inputs):
        raise Refusal(400, "inputs must be a list of tensors.")
    columns: dict[str, list[Any]] = {}
    for tensor in inputs:
        values, binary = _values(tensor, binary)
        if len(inputs) == 1 and values.ndim == 2 and values.shape[1] > 1:
            columns = _by_position(values, served)
        else:
            columns[str(tensor.get("name"))] = values.reshape(-1).tolist()
    lengths = {len(each) for each in columns.values()}
    if len(lengths) != 1 or lengths == {0}:
        raise Refusal(400, "The tensors must have the same number of rows, at least one.")
    return columns, lengths.pop()


def _by_position(values: NDArray[Any], served: ServedModel) -> dict[str, list[Any]]:
    columns = served.columns or ()
    if values.shape[1] != len(columns):
        raise Refusal(
            400, f"The tensor has {values.shape[1]} columns, and the model reads {len(columns)}."
        )
    return {each.name: values[:, j].tolist() for j, each in enumerate(columns)}


def _values(tensor: dict[str, Any], binary: memoryview) -> tuple[NDArray[Any], memoryview]:
    """Return a tensor as an array, and the bytes after it."""
    name, datatype, shape = tensor.get("name"), tensor.get("datatype"), tensor.get("shape")
    if not isinstance(shape, list) or not _is_shape(shape):
        raise Refusal(400, f"Tensor {name!r:.60}: the shape must be [rows] or [rows, columns].")
    size = (tensor.get("parameters") or {}).get("binary_data_size")
    if size is not None:
        if type(size) is not int or not 0 <= size <= len(binary):
            raise Refusal(400, f"Tensor {name!r:.60}: its binary data end after the body.")
        values, binary = _from_bytes(binary[:size], datatype, name), binary[size:]
    else:
        values = _from_list(tensor.get("data"), datatype, name)
    if values.size != int(np.prod(shape)):
        raise Refusal(
            400, f"Tensor {name!r:.60} has {values.size} values, and its shape is {shape}."
        )
    return values.reshape(shape), binary


def _is_shape(shape: list[Any]) -> bool:
    return 1 <= len(shape) <= 2 and all(
        type(each) is int and 0 <= each <= 1 << 31 for each in shape
    )


def _from_list(data: Any, datatype: Any, name: Any) -> NDArray[Any]:
    if not isinstance(data, list):
        raise Refusal(400, f"Tensor {name!r:.60} has neither data nor binary_data_size.")
    flat = [each for row in data for each in row] if _is_nested(data) else data
    if datatype != "BYTES" and datatype not in TYPES:
        raise Refusal(400, f"Tensor {name!r:.60} has the unknown datatype {datatype!r:.40}.")
    kinds = (str, type(None)) if datatype == "BYTES" else (int, float, bool, type(None))
    if not all(isinstance(each, kinds) for each in flat):
        raise Refusal(400, f"Tensor {name!r:.60} has values that are not of type {datatype}.")
    values = np.empty(len(flat), dtype=object)
    values[:] = flat
    return values


def _is_nested(data: list[Any]) -> bool:
    return bool(data) and all(isinstance(row, list) for row in data)


def _from_bytes(data: memoryview, datatype: Any, name: Any) -> NDArray[Any]:
    if datatype == "BYTES":
        return _texts(bytes(data), name)
    if datatype not in TYPES or len(data) % TYPES[datatype].itemsize:
        raise Refusal(
            400, f"Tensor {name!r:.60}: its binary data are not of type {datatype!r:.40}."
        )
    return np.frombuffer(data, TYPES[datatype])


def _texts(data: bytes, name: Any) -> NDArray[Any]:
    """Return texts, each behind its length in four bytes."""
    texts, at = [], 0
    while at < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "little")
        if at + 4 > len(data) or end > len(data):
            raise Refusal(400, f"Tensor {name!r:.60}: a text ends after its binary data.")
        try:
            texts.append(data[at + 4 : end].decode())
        except UnicodeDecodeError:
            raise Refusal(400, f"Tensor {name!r:.60}: a text is not valid UTF-8.") from None
        at = end
    values = np.empty(len(texts), dtype=object)
    values[:] = texts
    return values


def _outputs(predicted: Predicted) -> dict[str, NDArray[Any]]:
    """Return the outputs as arrays by name."""
    records = predicted.records()
    outputs: dict[str, list[Any]] = {"prediction": [], "score": [], "probability": []}
    for record in records:
        for name in outputs:
            row = [v for k, v in record.items() if k == name or k.startswith(f"{name}_")]
            outputs[name].append(row)
    arrays = {name: np.array(rows) for name, rows in outputs.items() if rows[0]}
    if predicted.explain:
        because = [msgspec.json.encode(record.get("because", [])).decode() for record in records]
        arrays["because"] = np.array(because)
    return {
        name: values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
        for name, values in arrays.items()
    }


def _answer(
    head: dict[str, Any], values: dict[str, NDArray[Any]], is_binary: dict[str, bool]
) -> Answer:
    outputs, tail = [], b""
    for name, array in values.items():
        tensor: dict[str, Any] = {"name": name, "datatype": _datatype(array)}
        tensor["shape"] = list(array.shape)
        if is_binary[name]:
            data = _to_bytes(array)
            tail += data
            tensor["parameters"] = {"binary_data_size": len(data)}
        else:
            tensor["data"] = array.reshape(-1).tolist()
        outputs.append(tensor)
    text = json_answer(
        {name: each for name, each in head.items() if each is not None} | {"outputs": outputs}
    )
    if not tail:
        return text
    return Answer(
        text.body + tail, 200, "application/octet-stream", {JSON_SIZE: str(len(text.body))}
    )


def _to_bytes(array: NDArray[Any]) -> bytes:
    if array.dtype.kind == "U":
        texts = [each.encode() for each in array.reshape(-1).tolist()]
        return b"".join(len(each).to_bytes(4, "little") + each for each in texts)
    return np.ascontiguousarray(array, TYPES[_datatype(array)]).tobytes()
