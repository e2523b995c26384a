"""JSON document of a model file: fields and types, validated on reading."""

from typing import Any

import msgspec

from separable.model.files.json_values import JSON, pack, plain, unpack
from separable.model.linear_model import Family, Link

__all__ = [
    "FORMAT",
    "FORMAT_VERSION",
    "Document",
    "EncoderRecord",
    "VotedRecord",
    "read_document",
    "read_format",
]

FORMAT = "separable"
FORMAT_VERSION = 1


class Format(msgspec.Struct):
    """The two fields of every version, read first."""

    format: str
    format_version: int


class EncoderRecord(msgspec.Struct, forbid_unknown_fields=True):
    """Kind and JSON values of the encoder."""

    kind: str
    values: dict[str, Any]


class VotedRecord(msgspec.Struct, forbid_unknown_fields=True):
    """JSON part of a ``VotedModel``."""

    n_features: int
    fit_intercept: bool


class Document(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Everything of a model except tensors; ``voted`` is set for a ``VotedModel``."""

    format: str = FORMAT
    format_version: int = FORMAT_VERSION
    separable_version: str
    learner: str
    parameters: dict[str, Any]
    family: Family | None
    link: Link
    evidence: dict[str, Any]
    encoder: EncoderRecord | None
    state: dict[str, Any] | None
    voted: VotedRecord | None = None
    threshold: float | None = None

    def to_json(self) -> bytes:
        """Return the document as JSON with ordered keys; NaN and infinities are preserved."""
        return msgspec.json.encode(pack(msgspec.to_builtins(self)), order="sorted")


def read_format(text: bytes) -> None:
    """Raise for another format or a newer version."""
    header = _decode(text, Format)
    if header.format != FORMAT:
        raise ValueError(f"its format is {header.format!r:.80}, not {FORMAT!r}.")
    if header.format_version > FORMAT_VERSION:
        raise ValueError(
            f"it has format version {header.format_version} and this separable reads up to "
            f"{FORMAT_VERSION}. Upgrade separable."
        )
    if header.format_version < 1:
        raise ValueError(f"its format version is {header.format_version}; there is none below 1.")


def read_document(text: bytes) -> Document:
    """Return the validated document, with NaN and infinities restored."""
    document: Document = _decode(text, Document)
    for name in ("parameters", "evidence", "state"):
        value = getattr(document, name)
        setattr(document, name, value if value is None else _restored(value, name))
    if document.encoder is not None:
        document.encoder.values = _restored(document.encoder.values, "encoder.values")
    return document


def _restored(value: dict[str, Any], name: str) -> Any:
    restored: JSON = unpack(value)
    if not isinstance(restored, dict):
        raise ValueError(f"{name} must be an object, not a number.")
    return plain(restored, name)


def _decode(text: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"its document cannot be read ({error!s:.200}).") from error
