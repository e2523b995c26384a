"""``separable inspect``: the contents of a model file, without trusting it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from separable.cli.io.output import json_bytes, write_data
from separable.cli.options.command import command
from separable.cli.options.options import json_option, talk_options
from separable.model.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.model.files.inspection import Inspection

__all__ = ["inspect"]

#: Tensors, parameters and columns listed without -v.
SHOWN = 20
WIDEST = 100


@command(
    short_help="Show the contents of a model file, without trusting it.",
    examples=(
        "separable inspect penguins.safetensors",
        "separable inspect penguins.safetensors -v  # all tensors, not the first 20",
        "separable inspect penguins.safetensors --json",
    ),
)
@click.argument("model", metavar="MODEL")
@json_option()
@talk_options
def inspect(model: str, as_json: bool) -> None:
    """Show the learner, parameters, classes, columns, evidence and tensors of MODEL.

    Nothing in the file is executed or trusted: sizes, types and the SHA-256 checksum are verified.
    For a damaged file it shows the readable parts and the problems, and the exit code is 1.
    """
    from separable.model.files.inspection import inspect_file
    from separable.model.files.model_file import ModelFileError

    try:
        inspection = inspect_file(model)
    except ValueError as error:
        raise ModelFileError(f"{model}: {error}") from error
    if as_json:
        write_data(json_bytes(inspection.to_dict()))
    else:
        click.echo(_text(inspection))
    if inspection.problems:
        raise ModelFileError(f"{model}: {' Also, '.join(inspection.problems)}")


def _text(inspection: Inspection) -> str:
    from separable.cli.render.messages import verbosity
    from separable.model.words import shown

    most = 1 << 30 if verbosity() > 0 else SHOWN
    lines = [f"{shown(inspection.file, 500)}: {_title(inspection)}"]
    if not inspection.fields:
        return lines[0]
    lines += [f"  {name:<13}{value}" for name, value in _facts(inspection)]
    for title, values in (
        ("Parameters", inspection.fields.get("parameters")),
        ("Columns", {c["name"]: c["type"] for c in (inspection.encoder or {}).get("columns", [])}),
        ("Evidence", inspection.fields.get("evidence")),
    ):
        if isinstance(values, dict) and values:
            lines += ["", f"{title}:", *_pairs(values, most)]
    return "\n".join([*lines, *_tensor_lines(inspection, most)])


def _title(inspection: Inspection) -> str:
    from separable.model.words import shown

    if not inspection.fields:
        return f"{counted(inspection.bytes, 'byte')}, not readable as a model"
    kind = "a model that votes" if inspection.voted else "a linear model"
    return f"{kind} of {shown(inspection.fields.get('learner', 'an unknown learner'))}"


def _facts(inspection: Inspection) -> Iterator[tuple[str, str]]:
    from separable.model.words import shown

    fields = inspection.fields
    version = f"{fields.get('format')} {fields.get('format_version')}"
    yield "format", shown(f"{version}, written by version {fields.get('separable_version')}")
    for name in ("family", "link", "binarize"):
        if fields.get(name) is not None:
            yield name, shown(fields[name])
    if isinstance(fields.get("decision"), dict):
        known = {name: each for name, each in fields["decision"].items() if each is not None}
        yield "decision", shown(", ".join(f"{n} {_plain(v)}" for n, v in known.items()), 2 * WIDEST)
    if inspection.n_classes is not None:
        yield "classes", _first(inspection.n_classes, inspection.classes)
    if inspection.n_features is not None:
        yield "features", _first(inspection.n_features, inspection.feature_names)
    if inspection.encoder is not None:
        yield "encoder", shown(inspection.encoder["kind"])
    yield "state", "present: separable update can continue" if inspection.state else "none"
    size = sum(tensor["bytes"] for tensor in inspection.tensors)
    yield (
        "tensors",
        f"{len(inspection.tensors)} of {size} bytes together, in a file of {inspection.bytes}",
    )
    checksum = {True: "matches", False: "does not match", None: "cannot be checked"}
    yield "SHA-256", checksum[inspection.sha256]


def _first(count: int, values: list[Any]) -> str:
    from separable.model.words import shown

    names = ", ".join(shown(value, 30) for value in values)
    more = ", ..." if names and count > len(values) else ""
    return f"{count}{': ' * bool(names)}{names}{more}"


def _pairs(values: dict[str, Any], most: int) -> list[str]:
    """Return one line per name and value: long values are cut, nested ones have their own lines."""
    from separable.model.words import shown

    flat: dict[str, Any] = {}
    for name, value in values.items():
        nested = value if isinstance(value, dict) and value else None
        flat |= {f"{name}.{k}": v for k, v in nested.items()} if nested else {name: value}
    width = max(len(shown(name)) for name in flat)
    lines = [f"  {shown(n).ljust(width)}  {shown(_plain(v), WIDEST)}" for n, v in flat.items()]
    return [*lines[:most], *([f"  ... and {len(lines) - most} more"] * (len(lines) > most))]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json_bytes(value).decode().strip()


def _tensor_lines(inspection: Inspection, most: int) -> list[str]:
    from separable.model.words import shown, table

    if not inspection.tensors:
        return []
    cells = [("tensor", "dtype", "shape", "bytes")]
    for tensor in inspection.tensors[:most]:
        shape = " x ".join(map(str, tensor["shape"]))
        cells.append(
            (shown(tensor["name"]), shown(tensor["dtype"]), shown(shape), str(tensor["bytes"]))
        )
    more = len(inspection.tensors) - most
    return ["", "Tensors:", table(cells), *([f"  ... and {more} more"] * (more > 0))]
