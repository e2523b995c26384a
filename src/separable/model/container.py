"""The outside of a model file: safetensors bytes that hold one JSON document and named tensors.

The document is the only metadata, under the key ``separable``. Its last field, ``sha256``, is the
hash of the text before it and of the name, dtype, shape and bytes of each tensor by order of name.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["check_seal", "close_container", "open_container"]

KEY = "separable"
DTYPES = {
    np.dtype(name)
    for name in (
        *("bool", "float64", "float32", "float16"),
        *("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"),
    )
}
SEAL = re.compile(rb',"sha256":"([0-9a-f]{64})"\}\Z')
DAMAGED = "The file is damaged: copy or download it again"


class Header(msgspec.Struct):
    """The part of a safetensors header that is read here; the library reads the tensors."""

    metadata: dict[str, str] = msgspec.field(name="__metadata__", default_factory=dict)


def close_container(document: bytes, tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the bytes of a file: ``document`` (a JSON object) sealed with a hash, and tensors."""
    for name, tensor in tensors.items():
        if tensor.dtype not in DTYPES:
            raise ValueError(f"{name} has dtype {tensor.dtype}, which a model file cannot hold.")
    whole = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    sealed = document[:-1] + b',"sha256":"' + _digest(document[:-1], whole).encode() + b'"}'
    return bytes(save(whole, metadata={KEY: sealed.decode()}))


def open_container(data: bytes) -> tuple[bytes, dict[str, NDArray[Any]]]:
    """Return document and tensors of a file's bytes, or refuse what is not such a file.

    Nothing is allocated by what the header claims: every size is compared with the data first.
    """
    document = _document(_header(data))
    try:
        tensors = load(data)
    except (SafetensorError, KeyError, ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"its tensors cannot be read ({error!s:.200}). {DAMAGED}.") from error
    for name, tensor in tensors.items():
        if tensor.dtype not in DTYPES:
            raise ValueError(
                f"the tensor {name!r:.80} has dtype {tensor.dtype}, not one of a model."
            )
        if tensor.dtype == np.bool_ and (tensor.view(np.uint8) > 1).any():
            raise ValueError(f"the tensor {name!r:.80} is bool and holds bytes other than 0 and 1.")
    return document, tensors


def check_seal(document: bytes, tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the document without its hash if that is the hash of the file's content."""
    seal = SEAL.search(document)
    if seal is None:
        raise ValueError(f"its document does not end in a SHA-256. {DAMAGED}.")
    if _digest(document[: seal.start()], tensors) != seal[1].decode():
        raise ValueError(f"its content does not match its SHA-256. {DAMAGED}.")
    return document[: seal.start()] + b"}"


def _digest(text: bytes, tensors: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256(text)
    for name, tensor in sorted(tensors.items()):
        head = [name, tensor.dtype.name, list(tensor.shape)]
        digest.update(b"\n" + msgspec.json.encode(head) + b"\n")
        digest.update(np.ascontiguousarray(tensor).tobytes())
    return digest.hexdigest()


def _header(data: bytes) -> bytes:
    if len(data) < 10:
        what = "it is empty" if not data else f"it has only {len(data)} bytes"
        raise ValueError(f"{what}, too few for a safetensors file. {DAMAGED}.")
    size = int.from_bytes(data[:8], "little")
    if data[8:9] != b"{":
        raise ValueError("it is not a safetensors file. Give a file that model.save wrote.")
    if size > len(data) - 8:
        raise ValueError(
            f"its header claims {size} bytes and {len(data) - 8} are there, so it is cut short or "
            "not a safetensors file. Copy or download it again."
        )
    return data[8 : 8 + size]


def _document(header: bytes) -> bytes:
    if any(byte in header for byte in b"\t\n\r"):  # legal in JSON, never written here
        raise ValueError(f"its header holds line breaks or tabs. {DAMAGED}.")
    try:
        metadata = msgspec.json.decode(header, type=Header).metadata
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"its header cannot be read ({error!s:.200}). {DAMAGED}.") from error
    if set(metadata) != {KEY}:
        raise ValueError(
            "it is a safetensors file, but not one that separable wrote (its metadata should have "
            f"the key {KEY!r} and no other). Give a file that model.save wrote."
        )
    return metadata[KEY].encode()
