"""Inspection of model files without trusting them, including damaged ones."""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from separable.model.files.container import DTYPES, check_seal, open_container, read_header
from separable.model.files.json_values import unpack
from separable.model.files.model_file import read_format

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from separable.features.base import Encoder
    from separable.model.files.container import TensorInfo

__all__ = ["MAX_LISTED", "Inspection", "inspect_file"]

#: Classes and feature names listed.
MAX_LISTED = 10

#: Fields of the document that are reported unchanged.
FIELDS = (
    *("format", "format_version", "separable_version", "learner", "family", "link"),
    *("parameters", "binarize", "decision", "evidence"),
)


@dataclass
class Inspection:
    """Contents of a model file.

    Parameters
    ----------
    file : str
    bytes : int
        File size.
    problems : list of str
        Problems, root cause first; a file without problems can be loaded.
    sha256 : bool or None
        Whether it matches the content; None if it cannot be checked.
    fields : dict
        Fields of the document: learner, parameters, evidence and more.
    tensors : list of dict
        Name, dtype, shape and bytes of each tensor, as stated in the header.
    voted : bool
        Whether it is a voted model.
    state : bool
        Whether training can be resumed from it.
    n_features, n_classes : int or None
        None if unknown; ``n_classes`` is None for regression too.
    classes, feature_names : list
        The first ones.
    encoder : dict or None
        Its kind and its columns with their types.
    """

    file: str
    bytes: int
    problems: list[str] = field(default_factory=list)
    sha256: bool | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    tensors: list[dict[str, Any]] = field(default_factory=list)
    voted: bool = False
    state: bool = False
    n_features: int | None = None
    n_classes: int | None = None
    classes: list[Any] = field(default_factory=list)
    feature_names: list[str] = field(default_factory=list)
    encoder: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values."""
        values = {name: value for name, value in vars(self).items() if name != "fields"}
        return {"ok": not self.problems, **values, **self.fields}


def inspect_file(path: str | os.PathLike[str]) -> Inspection:
    """Inspect a model file. No code in it is run, and no claim in it is trusted.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Inspection
    """
    data = _mapped(Path(path))
    inspection = Inspection(str(path), len(data))
    try:
        document, infos, _ = read_header(data)
    except ValueError as error:
        inspection.problems.append(str(error))
        return inspection
    inspection.tensors = [_tensor_entry(name, info) for name, info in infos.items()]
    raw = _raw(document, inspection)
    tensors = _tensors(data, document, inspection)
    _look_inside(inspection, raw, infos, tensors)
    if not inspection.problems:
        _load(inspection)
    return inspection


def _mapped(path: Path) -> Any:
    """Memory-map a file."""
    from separable.model.files.model_file import check_regular

    check_regular(path)
    with path.open("rb") as file:
        size = path.stat().st_size
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""


def _tensor_entry(name: str, info: TensorInfo) -> dict[str, Any]:
    dtype = DTYPES.get(info.dtype)
    first, last = info.data_offsets
    return {
        "name": name,
        "dtype": info.dtype if dtype is None else dtype.name,
        "shape": info.shape,
        "bytes": last - first,
    }


def _raw(document: bytes, inspection: Inspection) -> dict[str, Any]:
    """Return the document unparsed, of any version."""
    try:
        read_format(document)
    except ValueError as error:
        inspection.problems.append(str(error))
    try:
        raw: Any = unpack(msgspec.json.decode(document))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return {}
    if not isinstance(raw, dict):
        return {}
    named = {"binarize": raw.get("threshold"), **raw}  # its name in format 1
    inspection.fields = {name: named[name] for name in FIELDS if name in named}
    inspection.voted = raw.get("voted") is not None
    inspection.state = raw.get("state") is not None
    return raw


def _tensors(data: Any, document: bytes, inspection: Inspection) -> dict[str, NDArray[Any]]:
    try:
        tensors = open_container(data)[1]
    except ValueError as error:
        inspection.problems.append(str(error))
        return {}
    try:
        check_seal(document, tensors)
    except ValueError as error:
        inspection.sha256 = False
        inspection.problems.append(str(error))
    else:
        inspection.sha256 = True
    return tensors


def _look_inside(
    inspection: Inspection,
    raw: dict[str, Any],
    infos: dict[str, TensorInfo],
    tensors: dict[str, NDArray[Any]],
) -> None:
    """Set classes, features and columns if they can be determined."""
    weights, voted = infos.get("weights"), raw.get("voted")
    if weights is not None and len(weights.shape) == 2:
        inspection.n_features = weights.shape[1]
    elif isinstance(voted, dict) and isinstance(voted.get("n_features"), int):
        inspection.n_features = voted["n_features"]
    classes = _values(tensors, "classes")
    if classes is not None:
        inspection.n_classes, inspection.classes = len(classes), list(classes[:MAX_LISTED])
    record = raw.get("encoder")
    if isinstance(record, dict):
        inspection.encoder = {"kind": record.get("kind")}
        _look_at_encoder(inspection, _encoder(record, tensors))
    else:
        inspection.feature_names = list((_values(tensors, "feature_names") or ())[:MAX_LISTED])


def _values(tensors: dict[str, NDArray[Any]], name: str) -> Any:
    """Return a list of texts or numbers; None if absent or damaged."""
    from separable.model.files.container import unpack_parts

    own = {key: value for key, value in tensors.items() if key.partition(":")[0] == name}
    try:
        part = unpack_parts(own).get(name)
    except ValueError:
        return None
    return part.ravel().tolist() if isinstance(part, np.ndarray) else part


def _encoder(record: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> Encoder | None:
    from separable.features.base import encoder_class
    from separable.features.text.parameter_checks import allowing_patterns
    from separable.model.files.container import unpack_parts

    own = {name: tensor for name, tensor in tensors.items() if name.startswith("encoder/")}
    try:
        kind = encoder_class(str(record.get("kind")))
        with allowing_patterns(True):  # patterns are not run
            return kind.from_parts(unpack_parts(own, "encoder/"), record["values"])
    except Exception:  # untrusted file: load reports what is wrong with it
        return None


def _look_at_encoder(inspection: Inspection, encoder: Encoder | None) -> None:
    if encoder is None:
        return
    assert inspection.encoder is not None
    inspection.feature_names = list(encoder.feature_names[:MAX_LISTED])
    columns = getattr(encoder, "columns_", None)
    if columns is not None:
        inspection.encoder["columns"] = [
            {"name": each.column, "type": each.type} for each in columns
        ]


def _load(inspection: Inspection) -> None:
    """Check what only a complete model shows."""
    from separable.model.files.model_file import ModelFileError, load

    try:
        load(inspection.file)
    except ModelFileError as error:
        inspection.problems.append(str(error.__cause__ or error))
