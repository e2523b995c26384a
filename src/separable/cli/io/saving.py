"""Saving of models and reports, and the training record in a model file."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from separable.cli.io.output import check_output
from separable.cli.render.messages import note, step

if TYPE_CHECKING:
    from separable.model.kinds import Model
    from separable.report.contents import Contents


__all__ = [
    "LARGEST_STATE",
    "check_report",
    "model_path",
    "remembered",
    "save_model",
    "state_bytes",
    "write_report",
]

#: A larger training state is left out.
LARGEST_STATE = 256_000_000


def model_path(output: str | None, data: str, **inputs: str) -> str:
    """Return the file to save a model in, refused before the work where it cannot be written.

    Parameters
    ----------
    output : str or None
        As the user named it; None: as the data, beside which nothing is written.
    data : str
        The file that is learned from.
    **inputs : str
        Other files that are read, by what each is.
    """
    path = output or _named_as(data)
    if path == "-":
        raise click.UsageError("-o -: a model cannot be written to standard output. Name a file.")
    check_output(path, data=data, **inputs)
    return path


def _named_as(data: str) -> str:
    path = Path(data)
    name = path.name.partition(".")[0]
    stream = data == "-" or (path.exists() and not path.is_file() and not path.is_dir())
    plain = name and not glob.has_magic(name) and not stream
    return f"{name}.safetensors" if plain else "model.safetensors"


def remembered(model: Model) -> dict[str, Any]:
    """Return what the file of a model remembers of its training; nothing where it says nothing."""
    record = model.evidence.get("train")
    return dict(record) if isinstance(record, dict) else {}


def state_bytes(model: Model) -> int:
    """Return how large the training state of a model is; 0 without one.

    Parameters
    ----------
    model : LinearModel or VotedModel
    """
    tensors = {} if model.state is None else model.state.tensors
    return sum(tensor.nbytes for tensor in tensors.values())


def save_model(model: Model, path: str) -> bool:
    """Save a model, with its training state if it has one of up to 256 MB.

    Parameters
    ----------
    model : LinearModel or VotedModel
    path : str

    Returns
    -------
    bool
        Whether `separable update` can go on from the file.
    """
    size = state_bytes(model)
    keeps = model.state is not None and size <= LARGEST_STATE
    model.save(path, include_state=keeps)
    if model.state is not None and not keeps:
        note(
            f"The training state of this {model.learner} model ({size / 1e6:.0f} MB) is not in "
            f"{path}, to keep the file small: separable update cannot continue from it."
        )
    return keeps


def check_report(path: str, option: str, **others: str) -> None:
    """Refuse before the work a report that could not be written after it.

    Parameters
    ----------
    path : str
        The file.
    option : str
        What named it, for messages.
    **others : str
        Files that are read, or written before it, by what each is.
    """
    from separable.model.files.atomic import check_writable
    from separable.report.page.page import check_extra

    if path == "-":
        raise click.UsageError(
            f"{option} -: a report cannot be written to standard output. Name a file."
        )
    for what, other in others.items():
        if other != "-" and _is_same(Path(path), Path(other)):
            raise click.UsageError(f"{option} {path} would overwrite the {what}. Name another.")
    check_writable(path)
    check_extra()


def _is_same(one: Path, other: Path) -> bool:
    """Whether two names are of one file, which may not be there yet."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


def write_report(contents: Contents, path: str) -> None:
    """Write a report to a file, wholly or not at all."""
    from separable.report.page.page import write_page

    with step("Writing the report"):
        write_page(contents, path)
