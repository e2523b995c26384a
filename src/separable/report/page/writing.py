"""A report as a page: what that needs, and the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.errors import require_packages

if TYPE_CHECKING:
    import os

    from separable.report.contents import Contents

__all__ = ["check_extra", "page_of", "write_page"]

#: The optional packages of a page: import name and name on the package index.
NEEDED = {"jinja2": "jinja2", "altair": "altair", "vl_convert": "vl-convert-python"}


def check_extra() -> None:
    """Raise ImportError if a package that a page needs is not installed."""
    require_packages("A report", **NEEDED)


def page_of(contents: Contents) -> str:
    """Return a report as one HTML page."""
    check_extra()
    from separable.report.page.page import render

    return render(contents)


def write_page(contents: Contents, path: str | os.PathLike[str]) -> str:
    """Write a report to a file, wholly or not at all, and return the page.

    Parameters
    ----------
    contents : Contents
    path : str or path

    Returns
    -------
    str
    """
    from separable.model.files.atomic import write_atomically

    page = page_of(contents)
    write_atomically(path, page.encode())
    return page
