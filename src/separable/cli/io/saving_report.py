"""How the commands write a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from separable.cli.render.messages import step

if TYPE_CHECKING:
    from separable.report.contents import Contents

__all__ = ["check_report", "write_report"]


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
    from separable.report.page.writing import check_extra

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
    from separable.report.page.writing import write_page

    with step("Writing the report"):
        write_page(contents, path)
