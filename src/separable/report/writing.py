"""A report as a page: what that needs, and the file."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from separable.report.contents import Contents

__all__ = ["check_extra", "page_of", "write_page"]

#: What only a page needs, by the names they are imported by and installed by.
NEEDED = {"jinja2": "jinja2", "altair": "altair", "vl_convert": "vl-convert-python"}


def check_extra() -> None:
    """Refuse to begin where a package that a page needs is not there."""
    absent = [package for module, package in NEEDED.items() if find_spec(module) is None]
    if absent:
        raise ImportError(
            f"A report needs {' and '.join(absent)}. Install what is missing with: "
            "pip install 'separable[report]'"
        )


def page_of(contents: Contents) -> str:
    """Return a report as one HTML page."""
    check_extra()
    from separable.report.page import render

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
    from separable.model.atomic import write_atomically

    page = page_of(contents)
    write_atomically(path, page.encode())
    return page
