"""Container of a model file: safetensors bytes with one JSON document and named tensors.

The document is the only metadata, under the key ``separable``. Its last field, ``sha256``, is the
hash of the text before it and of the name, dtype, shape and bytes of each tensor in name order.
Tensors are written in place and read as views of the file's bytes: neither is copied.

Arrays and lists of text are packed into tensors and back.
"""

from __future__ import annotations

import hashlib
import math
import re
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np

from separable.data.strings import pack_strings, unpack_strings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    Tensors: TypeAlias = Mapping[str, NDArray[Any]]
    from separable.data.strings import PackedTexts

__all__ = [
    "DTYPES",
    "TensorInfo",
    "check_seal",
    "close_container",
    "container_chunks",
    "open_container",
    "pack_parts",
    "read_header",
    "unpack_parts",
]


KEY = "separable"
#: safetensors names of dtypes. Tensors are stored in this order, widest first, so that all are
#: aligned.
DTYPES: dict[str, np.dtype[Any]] = {
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "F16": np.dtype("<f2"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
CODES = {dtype: code for code, dtype in DTYPES.items()}
DTYPE_ORDER = {dtype: position for position, dtype in enumerate(CODES)}
ALIGNED = 8
#: Limits that keep the memory a file can claim near its size: header bytes, tensors, and values in
#: the document, counted by delimiters.
MAX_HEADER = 1 << 24
MAX_TENSORS = 1 << 15
MAX_VALUES = 1 << 19
SEAL = re.compile(rb',"sha256":"([0-9a-f]{64})"\}\Z')
SEAL_SIZE = len(',"sha256":""}') + 64
GIVE = "Give a file that separable train or model.save wrote"
DAMAGED = "The file is damaged: copy or download it again"


class Metadata(msgspec.Struct):
    """Metadata of the header."""

    metadata: dict[str, str] = msgspec.field(name="__metadata__", default_factory=dict)


class TensorInfo(msgspec.Struct, forbid_unknown_fields=True):
    """Header entry of a tensor."""

    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


# --- writing ---


def container_chunks(document: bytes, tensors: Tensors) -> Iterator[bytes | memoryview]:
    """Yield the bytes of a file: ``document`` (a JSON object), sealed with a hash, and tensors.

    Everything is checked before the first part is yielded.
    """
    for name, tensor in tensors.items():
        if tensor.dtype not in CODES:
            raise ValueError(f"{name} has dtype {tensor.dtype}, which a model file cannot hold.")
    _check_values(document)
    whole = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    ordered = sorted(whole, key=lambda name: (DTYPE_ORDER[whole[name].dtype], name))
    sealed = document[:-1] + b',"sha256":"' + _digest(document[:-1], whole).encode() + b'"}'
    header = _header_of(sealed, {name: whole[name] for name in ordered})
    return iter([header, *(_bytes_of(whole[name]).data for name in ordered)])


def close_container(document: bytes, tensors: Tensors) -> bytes:
    """Return the bytes of a file."""
    return b"".join(container_chunks(document, tensors))


def _header_of(document: bytes, tensors: Tensors) -> bytes:
    header: dict[str, Any] = {"__metadata__": {KEY: document.decode()}}
    start = 0
    for name, tensor in tensors.items():
        stop = start + tensor.nbytes
        header[name] = TensorInfo(CODES[tensor.dtype], list(tensor.shape), (start, stop))
        start = stop
    text = msgspec.json.encode(header)
    text += b" " * (-len(text) % ALIGNED)
    _check_header(len(text), len(tensors))
    return len(text).to_bytes(8, "little") + text


# --- reading ---


def open_container(data: bytes) -> tuple[bytes, dict[str, NDArray[Any]]]:
    """Return document and tensors from the bytes of a file; raise if invalid.

    No allocation depends on unchecked sizes of the header. The tensors are read-only views of the
    data.
    """
    document, infos, start = read_header(data)
    try:
        return document, _tensors(data, start, infos)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"its tensors cannot be read ({error!s:.200}). {DAMAGED}.") from error


def read_header(data: bytes) -> tuple[bytes, dict[str, TensorInfo], int]:
    """Return document, tensor entries, and the offset at which tensors begin."""
    header = _header(data)
    document = _document(header)
    _check_values(document)
    return document, _infos(header), 8 + len(header)


def check_seal(document: bytes, tensors: Tensors) -> bytes:
    """Return the document without its hash after verifying it."""
    seal = SEAL.match(document, max(0, len(document) - SEAL_SIZE))
    if seal is None:
        raise ValueError(f"its document does not end in a SHA-256. {DAMAGED}.")
    if _digest(memoryview(document)[: seal.start()], tensors) != seal[1].decode():
        raise ValueError(f"its content does not match its SHA-256. {DAMAGED}.")
    return document[: seal.start()] + b"}"


def _digest(text: bytes | memoryview, tensors: Tensors) -> str:
    digest = hashlib.sha256(text)
    for name, tensor in sorted(tensors.items()):
        head = [name, tensor.dtype.name, list(tensor.shape)]
        digest.update(b"\n" + msgspec.json.encode(head) + b"\n")
        digest.update(_bytes_of(tensor).data)
    return digest.hexdigest()


def _bytes_of(tensor: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the bytes of a tensor in C order, without a copy if it is contiguous."""
    return np.ascontiguousarray(tensor).reshape(-1).view(np.uint8)


def _header(data: bytes) -> memoryview:
    if len(data) < 10:
        what = "it is empty" if not data else f"it has only {len(data)} bytes"
        raise ValueError(f"{what}, too few for a safetensors file. {DAMAGED}.")
    size = int.from_bytes(data[:8], "little")
    if data[8:9] != b"{":
        raise ValueError(
            "it is not a safetensors file. Give a file that separable train or model.save wrote."
        )
    if size > len(data) - 8:
        raise ValueError(
            f"its header claims {size} bytes and {len(data) - 8} are there, so it is cut short or "
            "not a safetensors file. Copy or download it again."
        )
    _check_header(size)
    return memoryview(data)[8 : 8 + size]


def _document(header: memoryview) -> bytes:
    text = bytes(header)
    if any(byte in text for byte in b"\t\n\r"):  # valid JSON, but never written here
        raise ValueError(f"its header holds line breaks or tabs. {DAMAGED}.")
    metadata = _decoded(text, Metadata).metadata
    if set(metadata) != {KEY}:
        raise ValueError(
            "it is a safetensors file, but not one that separable wrote (its metadata should have "
            f"the key {KEY!r} and no other). {GIVE}."
        )
    return str(metadata[KEY]).encode()


def _infos(header: memoryview) -> dict[str, TensorInfo]:
    """Return the header entry of each tensor."""
    raw = _decoded(header, dict[str, msgspec.Raw])
    _check_header(len(header), len(raw) - 1)
    return {name: _decoded(raw[name], TensorInfo) for name in raw if name != "__metadata__"}


def _decoded(text: Any, kind: Any) -> Any:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"its header cannot be read ({error!s:.200}). {DAMAGED}.") from error


def _tensors(data: bytes, start: int, infos: Mapping[str, TensorInfo]) -> dict[str, NDArray[Any]]:
    """Return views of the data; tensors must be contiguous without gaps."""
    tensors, reached = {}, start
    for name, info in sorted(infos.items(), key=lambda item: item[1].data_offsets):
        dtype = _dtype(name, info)
        first, last = (start + offset for offset in info.data_offsets)
        size = math.prod(info.shape)
        if first != reached or last - first != size * dtype.itemsize or last > len(data):
            raise ValueError(
                f"{name!r:.80} of shape {info.shape!s:.80} does not fit bytes {info.data_offsets}"
            )
        if first % dtype.itemsize:
            raise ValueError(f"{name!r:.80} starts at a place that {dtype} cannot")
        flat = np.frombuffer(data, dtype, size, first) if size else np.zeros(0, dtype)
        tensors[name] = _shaped(name, flat, info.shape)
        reached = last
    if reached != len(data):
        raise ValueError(f"{len(data) - reached} bytes at the end belong to none")
    return tensors


def _dtype(name: str, info: TensorInfo) -> np.dtype[Any]:
    dtype = DTYPES.get(info.dtype)
    if dtype is None:
        raise ValueError(f"{name!r:.80} has dtype {info.dtype!r:.20}, not one of a model")
    if len(info.shape) > 8 or any(not 0 <= length < 2**62 for length in info.shape):
        raise ValueError(f"{name!r:.80} has the shape {info.shape!s:.80}")
    return dtype


def _shaped(name: str, flat: NDArray[Any], shape: list[int]) -> NDArray[Any]:
    if flat.dtype == np.bool_ and (flat.view(np.uint8) > 1).any():
        raise ValueError(f"{name!r:.80} is bool and holds bytes other than 0 and 1")
    tensor = flat.reshape(shape)
    tensor.setflags(write=False)
    return tensor


# --- bounds ---


def _check_header(size: int, n_tensors: int = 0) -> None:
    if size > MAX_HEADER:
        raise ValueError(
            f"its header has {size} bytes and a model file has at most {MAX_HEADER}: parameters, "
            "evidence and names of tensors are too long. Shorten them."
        )
    if n_tensors > MAX_TENSORS:
        raise ValueError(f"it has {n_tensors} tensors and a model file at most {MAX_TENSORS}.")


def _check_values(document: bytes) -> None:
    values = sum(document.count(mark) for mark in (b",", b"[", b"{"))
    if values > MAX_VALUES:
        raise ValueError(
            f"its parameters, evidence and state hold about {values} values and a model file at "
            f"most {MAX_VALUES}. Keep long lists elsewhere."
        )


UTF8, OFFSETS = ":utf8", ":offsets"


def pack_parts(parts: Mapping[str, Any], prefix: str = "") -> dict[str, NDArray[Any]]:
    """Return the tensors for arrays (one each) and sequences of text (two each)."""
    tensors: dict[str, NDArray[Any]] = {}
    for name, part in parts.items():
        if ":" in name or not name:
            raise ValueError(
                f"{prefix}{name} cannot be saved: a name may not be empty or hold ':'."
            )
        if isinstance(part, np.ndarray):
            tensors[prefix + name] = part
        else:
            tensors[prefix + name + UTF8], tensors[prefix + name + OFFSETS] = pack_strings(part)
    return tensors


def unpack_parts(
    tensors: Mapping[str, NDArray[Any]], prefix: str = ""
) -> dict[str, NDArray[Any] | PackedTexts]:
    """Return the arrays and sequences of text whose tensor names start with ``prefix``."""
    parts: dict[str, NDArray[Any] | PackedTexts] = {}
    for full in sorted(tensors):
        if not full.startswith(prefix):
            continue
        name, colon, _ = full.removeprefix(prefix).partition(":")
        if not colon:
            parts[name] = tensors[full]
        elif full != prefix + name + UTF8 and full != prefix + name + OFFSETS:
            raise ValueError(f"the tensor {full!r:.80} is not known")
        elif prefix + name in tensors:
            raise ValueError(f"{prefix + name!r:.80} is there both as numbers and as text")
        else:
            pair = [tensors.get(prefix + name + end) for end in (UTF8, OFFSETS)]
            if pair[0] is None or pair[1] is None:
                raise ValueError(f"the text {prefix + name!r:.80} lacks one of its two tensors")
            parts[name] = unpack_strings(pair[0], pair[1], repr(prefix + name)[:80])
    return parts
