"""Format detection by file name, else by content."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from separable.data.table import TableError
from separable.errors import Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.data.io.sources import Input


__all__ = ["Format", "check_choice", "checked_format", "format_by_name", "format_of", "formats_of"]

Format: TypeAlias = Literal[
    "csv", "jsonl", "parquet", "svmlight", "vw", "excel", "sqlite", "duckdb", "postgres"
]

_SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".vw": "vw",
    ".json": "jsonl",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".duckdb": "duckdb",
}

#: Formats that only their first bytes can confirm; the name alone says nothing.
_BY_BYTES = ("parquet", "excel", "sqlite", "duckdb")

_PACKED = {".gz", ".bz2", ".xz", ".lzma", ".zst", ".zstd", ".gzip"}

#: Magic bytes of other file types, with a description and a remedy.
_OTHERS = (
    (b"PK\x03\x04", "is a zip archive", "unpack it, or read it from a file of its own"),
    (b"PK\x05\x06", "is an empty zip archive", "get it again"),
    (b"ARROW1\0\0", "is an Arrow file", "write it as Parquet, or open it with pyarrow first"),
    (b"\x89HDF", "is an HDF5 file", "write its table as Parquet"),
    (b"%PDF-", "is a PDF", "export the table as CSV"),
    (b"\x1f\x9d", "is compressed with compress", "decompress it first (uncompress)"),
    (b"\x04\x22\x4d\x18", "is compressed with lz4", "decompress it first (unlz4)"),
)

_SVMLIGHT = re.compile(rb"[^\s#:]+(?: qid:-?\d+)?(?:[ \t]+\d+:[^\s:]+)+[ \t]*(?:#.*)?")
_LABEL = re.compile(rb"[-+.\deE]+[ \t]*")  # a row of zeros
_VW = re.compile(  # a word that touches the first bar is a tag, not a label
    rb"(?:[-+.\deE]+(?: [-+.\deE]+){0,2} '?[^\s|]*|'[^\s|]*)?"
    rb"\|\S* [^|]*(?:(?<= )\|\S+ [^|]*)*"
)


def checked_format(name: str | None) -> Format | None:
    """Return a format named by the user; raise if it is unknown."""
    if name is None:
        return None
    known: dict[str, Format] = {kind: kind for kind in get_args(Format)}
    known |= {"tsv": "csv", "json": "jsonl", "libsvm": "svmlight", "xlsx": "excel"}
    if name not in known:
        raise ValueError(
            f"The 'format' parameter must be one of {', '.join(map(repr, get_args(Format)))}. Got "
            f"{name!r} instead."
        )
    return known[name]


def formats_of(inputs: Sequence[Input]) -> Format:
    """Return the common format of several files; raise if they differ."""
    formats: dict[Format, str] = {}
    for one in inputs:
        formats.setdefault(format_of(one), one.name)
    if len(formats) > 1:
        listing = ", ".join(f"{name} is {kind}" for kind, name in formats.items())
        raise TableError(
            f"The files have {len(formats)} formats ({listing}). Read those of one format "
            "together, for example with a glob such as 'folder/*.csv', or pass ",
            Option("format", ...),
        )
    return next(iter(formats))


def format_of(source: Input) -> Format:
    """Return the format of a file."""
    return source.format or format_of_text(source.name, source.head())


def format_of_text(name: str, head: bytes) -> Format:
    """Return the format of a file from its first bytes."""
    if head.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") or _is_workbook(head):
        return "excel"
    for signature, what, remedy in _OTHERS:
        if head.startswith(signature):
            raise TableError(f"{name} {what}, not a table that can be read here: {remedy}.")
    if head[257:262] == b"ustar":
        raise TableError(f"{name} is a tar archive: unpack it, and read the files in it.")
    if head.startswith(b"PAR1") and (len(head) < 5 or head[4] < 32 or head[4] > 126):
        return "parquet"
    named = format_by_name(name)
    if named in _BY_BYTES and _is_binary(head):
        kinds = {"excel": "a workbook", "sqlite": "an SQLite database", "duckdb": "a DuckDB file"}
        what = kinds.get(str(named), "a Parquet file")
        raise TableError(
            f"{name} is named like {what}, but its content is something else. It may be damaged "
            "or not fully downloaded: get it again."
        )
    return named if named is not None and named not in _BY_BYTES else _by_text(head)


def _is_workbook(head: bytes) -> bool:
    """Return whether a zip archive begins like a workbook of Excel or OpenDocument."""
    parts = (b"[Content_Types].xml", b"_rels/.rels", b"xl/", b"docProps/")
    return head.startswith(b"PK\x03\x04") and (
        head[30:].startswith(parts) or head[30:84].endswith(b"opendocument.spreadsheet")
    )


def _is_binary(head: bytes) -> bool:
    return b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff"))


def format_by_name(name: str) -> Format | None:
    """Return the format for a file extension, if known."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None


def _by_text(head: bytes) -> Format:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{") or re.match(rb'\[\s*(?:\{|\[|"|-?\d|\])', text):
        return "jsonl"
    lines = [line.rstrip(b"\r") for line in head.split(b"\n")]
    lines = [line for line in (lines[:-1] or lines) if line.strip()][:20]
    like = [bool(_SVMLIGHT.fullmatch(line)) for line in lines]
    if any(like) and all(a or _LABEL.fullmatch(b) for a, b in zip(like, lines, strict=True)):
        return "svmlight"
    if lines and all(_VW.fullmatch(line) for line in lines):
        return "vw"
    return "csv"


def check_choice(name: str, value: object, choices: Sequence[object], owner: str = "") -> None:
    """Raise if a value is not one of the choices.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
    choices : sequence
        Compared by type too: True is not 1.
    owner : str, optional
        Class that has the parameter.
    """
    if not any(value == choice and type(value) is type(choice) for choice in choices):
        listed = ", ".join(map(repr, choices))
        of = f" of {owner}" if owner else ""
        raise ValueError(
            f"The {name!r} parameter{of} must be one of {listed}. Got {value!r} instead."
        )
