"""Zip archives: the table inside, read without unpacking to disk."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from separable.data.io.compression import BrokenStreamError, Stream
from separable.data.io.formats import format_by_name
from separable.data.io.sources import Input
from separable.data.table import TableError, did_you_mean, list_names
from separable.errors import Option

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["archive_inputs", "choice_error"]

#: A file that would unpack to more than this, at more than this ratio, is refused.
LARGEST_BYTES, LARGEST_RATIO = 1 << 30, 200

#: Files that identify an archive as a workbook.
_WORKBOOK = {"xl/workbook.xml", "xl/workbook.bin", "content.xml"}

_ENCRYPTED = 0x1


def archive_inputs(source: Input, table: str | None) -> list[Input] | None:
    """Return the tables of a zip archive; None if it is a workbook.

    Parameters
    ----------
    source : Input
        A zip archive.
    table : str, optional
        Name of the file to read, or a pattern such as ``*.csv`` for several. By default the only
        file with a known extension or, if there is none, the only file.
    """
    archive = _opened(source.name, source.seekable())
    if _WORKBOOK & {*archive.namelist()}:
        for member in archive.infolist():
            _refuse_bomb(source.name, member)
        return [replace(source, format="excel", table=table)]
    members = _chosen(source.name, archive.infolist(), table)
    return [_input(source.name, archive, member) for member in members]


def _opened(name: str, place: Any) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(place)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise TableError(
            f"{name}: not readable as a zip archive ({error}). It may be truncated or damaged: "
            "get it again."
        ) from None


def _chosen(name: str, members: list[zipfile.ZipInfo], table: str | None) -> list[zipfile.ZipInfo]:
    """Return the files to read; raise unless the choice is clear."""
    every = [one for one in members if not one.is_dir() and not _is_hidden(one.filename)]
    if not every:
        raise TableError(f"{name}: the zip archive has no files. Get it again.")
    if table is not None:
        given = [one for one in every if one.filename == table]
        given = given or [one for one in every if PurePosixPath(one.filename).name == table]
        given = given or [one for one in every if fnmatchcase(one.filename, table)]
        if not given:
            names = [one.filename for one in every]
            raise TableError(
                f"{name}: the zip archive has no file {table!r}{did_you_mean(table, names)}. It "
                f"has {list_names(names, 10)}."
            )
        return given
    tables = [one for one in every if format_by_name(one.filename) is not None] or every
    if len(tables) > 1:
        raise choice_error(name, "file", [one.filename for one in tables])
    return tables


def choice_error(name: str, kind: str, choices: Sequence[str]) -> TableError:
    """Return the error about a source with several tables.

    Parameters
    ----------
    name : str
        Name of the source.
    kind : str
        What the tables are in it: "file", "sheet" or "table".
    choices : sequence of str
    """
    return TableError(
        f"{name}: has {len(choices)} {kind}s: {list_names(choices, 10)}. Choose one: ",
        Option("table", choices[0]),
        ".",
    )


def _is_hidden(name: str) -> bool:
    """Return whether a file is one that operating systems add."""
    return any(
        part == "__MACOSX" or part.startswith(".") for part in name.split("/") if part != ".."
    )


def _refuse_bomb(name: str, member: zipfile.ZipInfo) -> None:
    if member.file_size > max(LARGEST_BYTES, LARGEST_RATIO * member.compress_size):
        raise TableError(
            f"{name}: {member.filename!r} would unpack to {member.file_size >> 20} MiB, more than "
            f"{LARGEST_RATIO} times its compressed size. Unpack it yourself if you trust it, and "
            "name the file."
        )


def _input(name: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Input:
    """Return a file of an archive."""
    _refuse_bomb(name, member)
    where = f"{name}/{member.filename}"
    if member.flag_bits & _ENCRYPTED:
        raise TableError(
            f"{where}: is encrypted. Unpack the archive with its password, and name the file."
        )

    def again() -> _Member:
        try:
            return _Member(archive.open(member))
        except (zipfile.BadZipFile, NotImplementedError, OSError, RuntimeError) as error:
            raise TableError(
                f"{where}: cannot be unpacked ({error}). Unpack the archive with another program, "
                "and name the file."
            ) from None

    return Input(where, again, member.file_size)


class _Member(Stream):
    """The unpacked bytes of a file in an archive."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        try:
            data: bytes = self._stream.read(size)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise BrokenStreamError(f"the zip data are damaged ({error})") from None
        return data

    def close(self) -> None:
        self._stream.close()
