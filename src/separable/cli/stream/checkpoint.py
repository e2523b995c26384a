"""Checkpoints: a model file from which a stream goes on to the same bits.

The model that a stream ends in, or stands at, with its encoder.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separable.cli.io.output import counted, file_name
from separable.cli.render.messages import warn
from separable.cli.stream.progressive_validation import Record  # noqa: TC001 # msgspec looks at the type
from separable.cli.training.training_warnings import fit_warning

if TYPE_CHECKING:
    from separable.cli.stream.stream_learning import StreamLearner
    from separable.cli.stream.stream_rows import Source
    from separable.model.kinds import Model

__all__ = [
    "KEY",
    "Checkpoint",
    "read_checkpoint",
    "refuse_changed_data",
    "stream_model",
    "write_checkpoint",
]


#: Where the evidence of a model has it.
KEY = "checkpoint"


@dataclass
class Checkpoint:
    """What a stream needs to go on, besides the model and its training state.

    Parameters
    ----------
    asked : dict
        What the user asked for.
    files : list of dict
        By what the files are known again; see `Source.prints`.
    task : str
    classes : list or None
        The classes, in order.
    announced : str
        How they are known.
    record : Record
        How far it is, and what was counted.
    """

    asked: dict[str, Any]
    files: list[dict[str, Any]]
    task: str
    classes: list[Any] | None
    announced: str
    record: Record


def write_checkpoint(path: str, model: Model, checkpoint: Checkpoint) -> None:
    """Write a model, its training state and a checkpoint to a file, wholly or not at all."""
    evidence = {**model.evidence, KEY: asdict(checkpoint)}
    replace(model, evidence=evidence).save(path, include_state=True)


def read_checkpoint(path: str) -> tuple[Model, Checkpoint]:
    """Read what `write_checkpoint` wrote."""
    import msgspec

    from separable.model.files.model_file import load

    if not Path(path).exists():
        raise ValueError(f"{path}: checkpoint not found. Check the path of --resume.")
    model = load(path)
    result = dict(model.evidence).get(KEY)
    if result is None or model.state is None:
        raise ValueError(
            f"{path}: this is a model, not a checkpoint of --stream --checkpoint. To learn from "
            f"more rows: separable update {path} DATA"
        )
    try:
        return model, msgspec.convert(result, Checkpoint)
    except msgspec.ValidationError as error:
        raise ValueError(
            f"{path}: the checkpoint cannot be read ({error}). Start again without --resume."
        ) from None


def refuse_changed_data(path: str, checkpoint: Checkpoint, source: Source) -> None:
    """Refuse files that are not those of the checkpoint."""
    now, then = source.prints(), checkpoint.files
    where = file_name(source.data)
    if len(now) != len(then):
        raise ValueError(
            f"{where}: {counted(len(now), 'file')} now, but {path} was made with {len(then)}. "
            "Name the same files, or start again without --resume."
        )
    for new, old in zip(now, then, strict=True):
        if new["bytes"] != old["bytes"]:
            what = f"{new['name']} has {new['bytes']} bytes, but had {old['bytes']}"
        elif new["start"] != old["start"]:
            what = f"{new['name']} does not begin as it did"
        else:
            continue
        raise ValueError(
            f"{where}: {what} when {path} was made. A stream can only be resumed with the same "
            f"data. Give it, or learn the new rows with separable update {path} {source.data}"
        )


def stream_model(learner: StreamLearner, n_rows: int, *, tells: bool = True) -> Model:
    """Return the model of what was learned so far, with its encoder.

    Parameters
    ----------
    learner : StreamLearner
    n_rows : int
        How many were learned from.
    tells : bool
        Whether to tell what solving it warns of.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model: Model = learner.estimator.model_
    encoder = learner.stream.encoder
    for one in caught if tells else ():
        message = fit_warning(one.message, model, n_rows, encoder)
        if message:
            warn(message)
    return replace(model, encoder=encoder, training_rows=learner.training_rows)
