"""Model files: written atomically, validated completely on loading.

A file is safetensors. Weights, intercept, calibration, classes, names and the arrays and texts of
encoder and training state are tensors; so are the voters of a ``VotedModel`` and their training
rows. The rest is one JSON document in the metadata, sealed with a SHA-256 over everything; NaN and
infinities are preserved. Loading runs no code from a file; a token pattern of a text encoder is
loaded only if it provably takes linear time.
"""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec
import numpy as np

from separable.data.strings import is_texts
from separable.features.base import ENCODERS, encoder_class
from separable.features.text.parameter_checks import allowing_patterns
from separable.model.column_statistics import ColumnStatistics  # noqa: TC001 # read by msgspec
from separable.model.files.atomic import write_atomically
from separable.model.files.container import (
    check_seal,
    container_chunks,
    open_container,
    pack_parts,
    unpack_parts,
)
from separable.model.files.json_values import JSON, pack, plain, unpack
from separable.model.files.training_rows import TrainingRows
from separable.model.linear_model import Family, LinearModel, Link, TrainingState
from separable.model.predict.decision import Costs, Decision
from separable.model.self_test import SelfTest  # noqa: TC001 # read by msgspec
from separable.model.voted.voted_model import VotedModel
from separable.model.voted.voters import VOTED, voted_model_parts, voted_parts

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.features.base import Encoder
    from separable.model.kinds import Model


__all__ = [
    "FORMAT_VERSION",
    "ModelFileError",
    "check_regular",
    "load",
    "model_from_bytes",
    "read_format",
    "save",
]

COMMON = {"classes", "feature_names", "training_row_hashes", "training_row_counts"}
LINEAR = {"weights", "intercept", "calibration"}

FORMAT = "separable"
FORMAT_VERSION = 2


class ModelFileError(ValueError):
    """A file that is not a model, or is damaged. The message says what is wrong."""


def save(model: Model, path: str | os.PathLike[str], *, include_state: bool = False) -> None:
    """Write a model to a safetensors file, atomically.

    The same model gives the same bytes.

    Parameters
    ----------
    model : LinearModel or VotedModel
    path : str or path
        Its folder must exist. An existing file is replaced.
    include_state : bool, default False
        Also write the training state, so that training can be resumed.
    """
    if include_state and model.state is None:
        raise ValueError(
            f"This {model.learner} model has no training state to include. Save it with "
            "include_state=False, or train it again with a learner that can be continued."
        )
    state = model.state if include_state else None
    tensors = pack_parts(_own_parts(model))
    record = None
    if model.encoder is not None:
        encoder_parts, record = _encoder_record(model.encoder)
        tensors |= pack_parts(encoder_parts, "encoder/")
    if state is not None:
        tensors |= pack_parts(state.tensors, "state/")
    document = Document(
        separable_version=str(sys.modules["separable"].__version__),  # avoids an import cycle
        learner=model.learner,
        parameters=dict(model.parameters),
        family=model.family,
        link=model.link,
        evidence=dict(model.evidence),
        encoder=record,
        state=None if state is None else dict(state.values),
        voted=_voted_record(model),
        binarize=model.threshold,
        decision=_decision_record(model),
        output_range=model.output_range,
        column_statistics=getattr(model, "column_statistics", ()) or None,
        test_rows=getattr(model, "self_test", None),
    )
    try:
        chunks = container_chunks(document.to_json(), tensors)
    except ValueError as error:
        raise ValueError(f"Cannot save the {model.learner} model: {error}") from error
    write_atomically(path, chunks)


def load(path: str | os.PathLike[str], *, allow_patterns: bool = False) -> Model:
    """Load a model written by ``model.save``.

    Parameters
    ----------
    path : str or path
    allow_patterns : bool, default False
        Allow any regular expression as the ``token_pattern`` of a text encoder. Use it only for
        files that you trust: some patterns take exponential time on some texts. Patterns of linear
        time, such as the defaults, are always loaded.

    Returns
    -------
    LinearModel or VotedModel
        The saved model.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or was written by a newer version.
    """
    path = Path(path)
    return model_from_bytes(_read(path), str(path), allow_patterns=allow_patterns)


def model_from_bytes(data: bytes, name: str, *, allow_patterns: bool = False) -> Model:
    """Load a model from the bytes of a file; ``name`` is that of the file, for messages."""
    try:
        with allowing_patterns(allow_patterns):
            return _model_from_bytes(data)
    except ValueError as error:
        raise ModelFileError(f"Cannot load {name!r}: {error}") from error


def _read(path: Path) -> bytes:
    try:
        check_regular(path)
    except ValueError as error:
        raise ModelFileError(f"Cannot load {str(path)!r}: {error}") from error
    return path.read_bytes()


def check_regular(path: Path) -> None:
    """Raise if a path is not a regular file."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no model file {str(path)!r}. Check the path.") from None
    if stat.S_ISDIR(mode):
        raise ValueError("it is a folder. Give the path of the file inside it.")
    if not stat.S_ISREG(mode):  # a device or a pipe might never end
        raise ValueError("it is not a regular file. Copy it to one first.")


def _model_from_bytes(data: bytes) -> Model:
    sealed, tensors = open_container(data)
    read_format(sealed)
    document = read_document(check_seal(sealed, tensors))
    groups = _grouped(tensors)
    own = unpack_parts(groups[""])
    known = COMMON | (LINEAR if document.voted is None else VOTED)
    if not known.issuperset(own):
        raise ValueError(f"it holds an unknown tensor, {min(own.keys() - known)!r:.80}.")
    common: dict[str, Any] = {
        "classes": _classes(own),
        "feature_names": _feature_names(own),
        "encoder": _encoder(document.encoder, groups["encoder/"]),
        "learner": document.learner,
        "parameters": document.parameters,
        "family": document.family,
        "evidence": document.evidence,
        "state": _state(document.state, groups["state/"]),
        "training_rows": TrainingRows.from_parts(own),
    }
    if document.voted is not None:
        return _voted_model(document, own, common)
    weights, intercept = _numbers(own, "weights"), _numbers(own, "intercept")
    return LinearModel(
        weights=weights,
        intercept=intercept,
        link=document.link,
        threshold=document.binarize,
        calibration=_numbers(own, "calibration") if "calibration" in own else None,
        decision=_decision(document.decision),
        output_range=document.output_range,
        column_statistics=document.column_statistics or (),
        self_test=document.test_rows,
        **common,
    )


def _voted_model(document: Document, own: dict[str, Any], common: dict[str, Any]) -> VotedModel:
    if document.link != VotedModel.link:
        raise ValueError(f"its link must be {VotedModel.link!r} for votes, not {document.link!r}.")
    if document.decision is not None:
        raise ValueError("it has a decision threshold, and votes are not probabilities.")
    assert document.voted is not None
    mistaken, voters = voted_model_parts(
        own, document.voted.n_features, document.voted.fit_intercept
    )
    return VotedModel(mistaken=mistaken, voters=voters, **common)


def _decision_record(model: Model) -> DecisionRecord | None:
    decision = model.decision
    if decision is None:
        return None
    costs = None if decision.costs is None else CostsRecord(**vars(decision.costs))
    return DecisionRecord(**{**vars(decision), "costs": costs})


def _decision(record: DecisionRecord | None) -> Decision | None:
    if record is None:
        return None
    costs = None if record.costs is None else Costs(**msgspec.structs.asdict(record.costs))
    return Decision(**{**msgspec.structs.asdict(record), "costs": costs})


def _voted_record(model: Model) -> VotedRecord | None:
    if not isinstance(model, VotedModel):
        return None
    return VotedRecord(model.n_features, bool(model.voters.fit_intercept))


def _own_parts(model: Model) -> dict[str, Any]:
    parts: dict[str, Any]
    if isinstance(model, VotedModel):
        parts = {**voted_parts(model.mistaken, model.voters)}
    else:
        parts = {"weights": model.weights, "intercept": model.intercept}
        if model.calibration is not None:
            parts["calibration"] = model.calibration
    if model.classes is not None:
        is_text = model.classes.dtype.kind == "U"
        parts["classes"] = tuple(model.classes.tolist()) if is_text else model.classes
    if model.feature_names is not None and model.encoder is None:  # an encoder provides the names
        parts["feature_names"] = model.feature_names
    if model.training_rows is not None:
        parts |= model.training_rows.to_parts()
    return parts


def _encoder_record(encoder: Encoder) -> tuple[dict[str, Any], EncoderRecord]:
    if encoder.kind not in ENCODERS:
        raise ValueError(
            f"The encoder {type(encoder).__name__} has kind {encoder.kind!r}, which is not in "
            "separable.features.base.ENCODERS, so no file with it could be loaded. Register it."
        )
    parts, values = encoder.to_parts()
    return dict(parts), EncoderRecord(encoder.kind, _plain_dict(values, "encoder.values"))


def _plain_dict(values: Any, where: str) -> dict[str, Any]:
    checked = plain(values, where)
    assert isinstance(checked, dict)
    return checked


def _grouped(tensors: dict[str, NDArray[Any]]) -> dict[str, dict[str, NDArray[Any]]]:
    """Return the tensors of the model itself (""), of its encoder and of its state."""
    groups: dict[str, dict[str, NDArray[Any]]] = {"": {}, "encoder/": {}, "state/": {}}
    for name, tensor in tensors.items():
        prefix = next((each for each in ("encoder/", "state/") if name.startswith(each)), "")
        groups[prefix][name.removeprefix(prefix)] = tensor
    return groups


def _numbers(own: dict[str, Any], name: str) -> NDArray[np.float64]:
    if name not in own:
        raise ValueError(f"it has no tensor {name!r}.")
    tensor = own[name]
    if not isinstance(tensor, np.ndarray) or tensor.dtype != np.float64:
        raise ValueError(
            f"its tensor {name!r} must be float64, not {getattr(tensor, 'dtype', 'text')}."
        )
    return tensor


def _classes(own: dict[str, Any]) -> Any:
    classes = own.get("classes")
    return np.array(classes, dtype=object) if is_texts(classes) else classes


def _feature_names(own: dict[str, Any]) -> Sequence[str] | None:
    names = own.get("feature_names")
    if names is not None and not is_texts(names):
        raise ValueError("its feature names must be text, not numbers.")
    return cast("Sequence[str] | None", names)


def _encoder(record: EncoderRecord | None, tensors: dict[str, NDArray[Any]]) -> Encoder | None:
    if record is None:
        if tensors:
            raise ValueError(f"it has the tensor 'encoder/{min(tensors)!s:.80}' and no encoder.")
        return None
    kind = encoder_class(record.kind)
    try:
        return kind.from_parts(unpack_parts(tensors), record.values)
    except (KeyError, IndexError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(
            f"its {record.kind!r} encoder cannot be rebuilt "
            f"({type(error).__name__}: {error!s:.200})."
        ) from error


def _state(values: dict[str, Any] | None, tensors: dict[str, NDArray[Any]]) -> TrainingState | None:
    if values is None:
        if tensors:
            raise ValueError(f"it has the tensor 'state/{min(tensors)!s:.80}' and no state.")
        return None
    parts = unpack_parts(tensors)
    arrays = {name: part for name, part in parts.items() if isinstance(part, np.ndarray)}
    if len(arrays) < len(parts):
        raise ValueError("its training state must be numbers, not text.")
    return TrainingState(arrays, values)


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


class CostsRecord(msgspec.Struct, forbid_unknown_fields=True):
    """Costs of mistakes; see ``Costs``."""

    false_positive: float
    false_negative: float


class DecisionRecord(msgspec.Struct, forbid_unknown_fields=True):
    """Decision threshold of two classes; see ``Decision``."""

    positive: int
    threshold: float
    chosen_by: str
    costs: CostsRecord | None
    expected: float | None
    standard_error: float | None
    at_half: float | None
    rows: int


class Document(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Everything of a model except tensors; ``voted`` is set for a ``VotedModel``.

    ``column_statistics`` are the ranges, and mean and variance of the contributions; ``test_rows``
    the rows on which the loaded model tests itself. Files without them have null.
    """

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
    binarize: float | None = None
    decision: DecisionRecord | None = None
    output_range: tuple[float, float] | None = None
    column_statistics: tuple[ColumnStatistics, ...] | None = None
    test_rows: SelfTest | None = None

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


class FirstDocument(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The document of format 1, in which ``binarize`` was ``threshold``."""

    format: str
    format_version: int
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

    def to_current(self) -> Document:
        """Return the document in the current format."""
        fields = msgspec.structs.asdict(self)
        binarize = fields.pop("threshold")
        return Document(**{**fields, "format_version": FORMAT_VERSION, "binarize": binarize})


def read_document(text: bytes) -> Document:
    """Return the validated document, with NaN and infinities restored."""
    if _decode(text, Format).format_version == 1:
        document: Document = _decode(text, FirstDocument).to_current()
    else:
        document = _decode(text, Document)
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
