"""Model files as a hostile or a broken writer would make them, and what loading them must do.

Some mutations break bytes; the hash tells these. Others change what the file says and seal it
again, which anybody can: then the checks behind the hash are all there is.
"""

from __future__ import annotations

import copy
import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.files.container import close_container, open_container
from separable.model.files.model_file import ModelFileError, load
from tests.model.golden.make import go_on, told

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    from tests.model.specimens import Specimen

#: Errors with which a model from a forged file may refuse to work on data.
CLEAN = (ValueError, AttributeError)

SPECIAL = [
    None, True, False, 0, 1, -1, 2, 7, 255, 2**31 - 1, 2**31, 2**53, 2**63 - 1, 2**63, -(2**63),
    2**64, 10**40, 0.5, -0.0, 1e308, -1e308, 5e-324, "", "a", "x" * 300, "\x00", "é", "日本", "NaN",
    "../../etc/passwd", "__class__", [], [[]], [0], ["a"], {}, {"a": 1},
    {"__float__": "nan"}, {"__float__": "inf"}, {"__float__": "x"},
    "score", "logistic", "softmax", "identity", "online", "moments", "certified",
    "word", "char", "char_wb", "zero", "error", "other", "float32", "float64",
    "(a+)+$", "(", "[" * 50,
]  # fmt: skip
DTYPES = [
    *("bool", "float64", "float32", "float16", "int64", "int32", "int16", "int8"),
    *("uint64", "uint32", "uint16", "uint8"),
]

Document = dict[str, Any]
Tensors = dict[str, np.ndarray]


def parts(data: bytes) -> tuple[Document, Tensors]:
    """Return what a file says, to be changed."""
    text, tensors = open_container(data)
    document = json.loads(text)
    del document["sha256"]
    return document, {name: np.array(tensor) for name, tensor in tensors.items()}


# --- bytes ---


def broken_bytes(rng: random.Random, data: bytes) -> bytes:
    """Return the file with some of its bytes changed, cut out, moved or added."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = rng.randrange(len(out) or 1)
        kind = rng.randrange(8)
        if kind == 0 and out:
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and out:
            out[at] = rng.choice((0, 1, 0x20, 0x22, 0x7B, 0x7D, 0x30, 0x39, 0x7F, 0x80, 0xFF))
        elif kind == 2:
            del out[at : at + rng.choice((1, 2, 8, 100))]
        elif kind == 3:
            out[at:at] = rng.randbytes(rng.choice((1, 2, 8, 100)))
        elif kind == 4:
            out = out[: rng.randrange(len(out) + 1)]
        elif kind == 5:
            out[at : at + 8] = struct.pack("<q", rng.choice((0, -1, 2**62, 2**31, len(out))))
        elif kind == 6:
            out += out[at : at + rng.choice((1, 8, 64))]
        else:
            there = rng.randrange(len(out) or 1)
            out[at : at + 8], out[there : there + 8] = out[there : there + 8], out[at : at + 8]
    return bytes(out)


def broken_header(rng: random.Random, data: bytes) -> bytes:
    """Return the file with a header that says something else of its tensors."""
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    name = rng.choice([name for name in header if name != "__metadata__"])
    info = header[name]
    kind = rng.randrange(8)
    if kind == 0:
        info["dtype"] = rng.choice(("F64", "F32", "U8", "BOOL", "BF16", "C64", "I64", ""))
    elif kind == 1:
        info["shape"] = rng.choice(([], [0], [2**62], [-1], [2**40, 2**40], [1] * 40, [1.5], None))
    elif kind == 2:
        info["data_offsets"] = rng.choice(([0, 0], [0, 2**62], [-8, 0], [8, 0], [1], None))
    elif kind == 3:
        info[rng.choice(("dtype", "shape", "data_offsets", "more"))] = rng.choice(SPECIAL)
    elif kind == 4:
        del header[name]
    elif kind == 5:
        header[rng.choice(("weights", "new", "", "state/x", "é"))] = copy.deepcopy(info)
    elif kind == 6:
        header["__metadata__"] = rng.choice(({}, {"separable": ""}, {"a": "b"}, [], None, 3))
    else:
        info["shape"] = [*info["shape"], rng.choice((0, 1, 2, 2**31))]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + body


# --- content, sealed again ---


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if len(path) > 20:
        return found
    if isinstance(value, dict):
        found += [each for key in value for each in _paths(value[key], (*path, key))]
    elif isinstance(value, list):
        found += [each for i in range(len(value)) for each in _paths(value[i], (*path, i))]
    return found


def change_document(rng: random.Random, document: Document, tensors: Tensors) -> None:
    """Replace, remove or add a value somewhere in the document."""
    del tensors
    path = rng.choice(_paths(document))
    holder: Any = document
    for step in path[:-1]:
        holder = holder[step]
    last, kind = path[-1], rng.randrange(6)
    if kind < 3:
        holder[last] = copy.deepcopy(rng.choice(SPECIAL))
    elif kind == 3:
        del holder[last]
    elif kind == 4 and isinstance(holder, dict):
        holder[rng.choice(("more", "", "__float__", "kind", str(last) + "x"))] = rng.choice(SPECIAL)
    else:
        deep: Any = 1
        for _ in range(rng.choice((3, 70, 500))):
            deep = [deep]
        holder[last] = deep


def change_values(rng: random.Random, document: Document, tensors: Tensors) -> None:
    """Put numbers into a tensor that it should not have."""
    del document
    name = rng.choice(list(tensors))
    flat = tensors[name].reshape(-1)
    if not len(flat):
        return
    at = rng.randrange(len(flat))
    if flat.dtype.kind == "f":
        limits = np.finfo(flat.dtype)
        flat[at] = rng.choice((np.nan, np.inf, -np.inf, limits.max, limits.tiny, -1, 0, 1e4))
    elif flat.dtype.kind in "iu":
        whole = np.iinfo(flat.dtype)
        near = min(max(int(flat[at]) + rng.choice((-1, 1)), whole.min), whole.max)
        flat[at] = rng.choice((whole.min, whole.max, 0, 1, near, rng.randrange(128)))
    else:
        flat[at] = not flat[at]
    if rng.random() < 0.2:
        rng.choice((flat.sort, lambda: np.random.default_rng(at).shuffle(flat)))()
    tensors[name] = flat.reshape(tensors[name].shape)


def change_tensor(rng: random.Random, document: Document, tensors: Tensors) -> None:
    """Give a tensor another length, shape, dtype or name, or take it away."""
    del document
    name = rng.choice(list(tensors))
    tensor, kind = tensors[name], rng.randrange(9)
    if kind == 0:
        del tensors[name]
    elif kind == 1:
        tensors[name] = tensor.reshape(-1)[: rng.randrange(tensor.size + 1)]
    elif kind == 2:
        with np.errstate(all="ignore"):
            tensors[name] = tensor.astype(rng.choice(DTYPES))
    elif kind == 3:
        tensors[name] = tensor.reshape(rng.choice(((-1,), (1, -1), (-1, 1), (1, 1, -1))))
    elif kind == 4:
        tensors[name] = np.concatenate([tensor.reshape(-1), tensor.reshape(-1)[:1]])
    elif kind == 5:
        other = rng.choice(list(tensors))
        tensors[name], tensors[other] = tensors[other], tensors[name]
    elif kind == 6:
        tensors[rng.choice(("new", "encoder/new", "state/new", name + ":utf8", name + "x"))] = (
            tensor
        )
    elif kind == 7:
        tensors[name] = np.array(rng.choice((0, 1, -1, 0.5)))
    else:
        tensors[name] = np.zeros((0,) * max(1, tensor.ndim), tensor.dtype)


def forged(rng: random.Random, data: bytes) -> bytes:
    """Return a file with other content and the right hash."""
    document, tensors = parts(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        change = rng.choice((change_document, change_values, change_values, change_tensor))
        if tensors and document:
            change(rng, document, tensors)
    text = json.dumps(document, separators=(",", ":")).encode()
    if rng.random() < 0.05:  # the same key twice
        key = rng.choice(["learner", "link", "format_version", "encoder"])
        again = json.dumps({key: rng.choice(SPECIAL)}).encode()
        text = text[:-1] + b"," + again[1:]
    whole = {name: np.asarray(tensor) for name, tensor in tensors.items()}
    return close_container(text, whole)


MUTATIONS: dict[str, Callable[[random.Random, bytes], bytes]] = {
    "bytes": broken_bytes,
    "header": broken_header,
    "forged": forged,
}


# --- what must hold ---


def use(specimen: Specimen, model: Any) -> None:
    """Do all that can be done with a model of a forged file: it may refuse, with a clean error."""
    learner = type(specimen.estimator)
    uses: list[Callable[[], object]] = [
        lambda: told(model, specimen.data),
        lambda: str(model.explain(specimen.data)[:1]),
        lambda: model.top_weights(2),
        lambda: (
            hasattr(learner, "from_model")
            and model.state is not None
            and go_on(learner, model, specimen.data, specimen.target)
        ),
    ]
    for each in uses:
        try:
            each()
        except CLEAN:
            continue


def judge(specimen: Specimen, good: bytes, data: bytes, kind: str, path: Path) -> str:
    """Load a mutated file: it must be refused, or be equal, or, if forged, be fit for use."""
    path.write_bytes(data)
    try:
        model = load(path)
    except ModelFileError:
        return "refused"
    model.save(path, include_state=model.state is not None)
    if path.read_bytes() == good:
        return "equal"
    assert kind == "forged", f"a broken file of {kind} was loaded as another model"
    use(specimen, model)
    return "forged"
