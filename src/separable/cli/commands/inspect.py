"""``separable inspect``: show the contents of a model file file, without trusting it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from separable.cli.io.output import counted, json_bytes, write_data
from separable.cli.options.help import command
from separable.cli.options.options import json_option, talk_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.model.files.inspection import Inspection

__all__ = ["inspect"]

#: So many tensors, parameters and columns are listed without -v.
SHOWN = 20
WIDEST = 100


@command(
    short_help="Show show the contents of a model file file, without trusting it.",
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
        found = inspect_file(model)
    except ValueError as error:
        raise ModelFileError(f"{model}: {error}") from error
    if as_json:
        write_data(json_bytes(found.to_dict()))
    else:
        click.echo(_text(found))
    if found.problems:
        raise ModelFileError(f"{model}: {' Also, '.join(found.problems)}")


def _text(found: Inspection) -> str:
    from separable.cli.render.messages import verbosity
    from separable.model.words import shown

    most = 1 << 30 if verbosity() > 0 else SHOWN
    lines = [f"{shown(found.file, 500)}: {_title(found)}"]
    if not found.fields:
        return lines[0]
    lines += [f"  {name:<13}{value}" for name, value in _facts(found)]
    for title, values in (
        ("Parameters", found.fields.get("parameters")),
        ("Columns", {c["name"]: c["type"] for c in (found.encoder or {}).get("columns", [])}),
        ("Evidence", found.fields.get("evidence")),
    ):
        if isinstance(values, dict) and values:
            lines += ["", f"{title}:", *_pairs(values, most)]
    return "\n".join([*lines, *_tensor_lines(found, most)])


def _title(found: Inspection) -> str:
    from separable.model.words import shown

    if not found.fields:
        return f"{counted(found.bytes, 'byte')}, not readable as a model"
    kind = "a model that votes" if found.voted else "a linear model"
    return f"{kind} of {shown(found.fields.get('learner', 'an unknown learner'))}"


def _facts(found: Inspection) -> Iterator[tuple[str, str]]:
    from separable.model.words import shown

    fields = found.fields
    version = f"{fields.get('format')} {fields.get('format_version')}"
    yield "format", shown(f"{version}, written by version {fields.get('separable_version')}")
    for name in ("family", "link", "threshold"):
        if fields.get(name) is not None:
            yield name, shown(fields[name])
    if found.n_classes is not None:
        yield "classes", _first(found.n_classes, found.classes)
    if found.n_features is not None:
        yield "features", _first(found.n_features, found.feature_names)
    if found.encoder is not None:
        yield "encoder", shown(found.encoder["kind"])
    yield "state", "present: separable update can continue" if found.state else "none"
    size = sum(tensor["bytes"] for tensor in found.tensors)
    yield "tensors", f"{len(found.tensors)} of {size} bytes together, in a file of {found.bytes}"
    told = {True: "matches", False: "does not match", None: "cannot be checked"}
    yield "SHA-256", told[found.sha256]


def _first(count: int, values: list[Any]) -> str:
    from separable.model.words import shown

    names = ", ".join(shown(value, 30) for value in values)
    more = ", ..." if names and count > len(values) else ""
    return f"{count}{': ' * bool(names)}{names}{more}"


def _pairs(values: dict[str, Any], most: int) -> list[str]:
    """Return names and values below each other, long values cut and nested ones on their own."""
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


def _tensor_lines(found: Inspection, most: int) -> list[str]:
    from separable.model.words import shown, table

    if not found.tensors:
        return []
    cells = [("tensor", "dtype", "shape", "bytes")]
    for tensor in found.tensors[:most]:
        shape = " x ".join(map(str, tensor["shape"]))
        cells.append(
            (shown(tensor["name"]), shown(tensor["dtype"]), shown(shape), str(tensor["bytes"]))
        )
    more = len(found.tensors) - most
    return ["", "Tensors:", table(cells), *([f"  ... and {more} more"] * (more > 0))]
