"""A report as one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separable.errors import Absent, require_packages
from separable.model.files.atomic import write_atomically
from separable.report.page.sections import gather
from separable.report.page.wording import LEVEL
from separable.report.what_if import DATA_ID, FORM_ID, what_if

if TYPE_CHECKING:
    from separable.report.contents import Contents
    from separable.report.what_if import WhatIf


__all__ = ["LARGEST", "check_extra", "page_of", "render", "write_page"]

#: Maximum bytes of a page.
LARGEST = 1_500_000
#: The id of the script of the form among the compressed parts.
SCRIPT_ID = "what-if-script"
TOO_LARGE = "The what-if form would make this page too large."

#: The optional packages of a page: import name and name on the package index.
NEEDED = {"jinja2": "jinja2", "altair": "altair", "vl_convert": "vl-convert-python"}


def render(contents: Contents, *, title: str | None = None) -> str:
    """Return a report as a self-contained page of at most 1.5 MB in UTF-8.

    The same contents give the same page.

    Parameters
    ----------
    contents : Contents
    title : str, optional
        The heading. By default the target.

    Returns
    -------
    str
        HTML.
    """
    form = what_if(contents.model, contents.data.typical or None, contents.data.spread)
    page = _page(contents, title, form)
    if _size(page) > LARGEST and not isinstance(form, Absent):
        page = _page(contents, title, Absent(TOO_LARGE))
    assert _size(page) <= LARGEST, f"A page of {_size(page)} bytes is too large."
    return page


def _size(page: str) -> int:
    return len(page.encode())


def _page(contents: Contents, title: str | None, form: WhatIf | Absent) -> str:
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):  # tests validate charts against the schema; only data differ here
        values, figures = gather(contents, title)
    scripts = [asset("page.js")]
    parts = {}
    if figures:
        scripts.append(chart_library())
        parts["library"] = packed_library()
    if not isinstance(form, Absent):
        scripts.append(form.script)
        parts |= {DATA_ID: packed(json_text(form.data)), SCRIPT_ID: packed(form.script)}
    page: str = _template().render(
        **values,
        form=None if isinstance(form, Absent) else {"id": FORM_ID, "style": _markup(form.style)},
        no_form=form,
        specs=_markup(json_text({each.key: each.spec for each in figures})),
        style=_markup(asset("style.css")),
        script=_markup(scripts[0]),
        parts=parts,
        policy=content_security_policy(scripts),
        pct=_percent,
        level=LEVEL,
    )
    return page.lstrip() + "\n"


@cache
def _template() -> Any:
    """Return the template, which escapes every value that it shows."""
    import jinja2

    loader = jinja2.FunctionLoader(asset)
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")


def _markup(text: str) -> Any:
    """Return trusted text, which is not escaped."""
    from markupsafe import Markup

    return Markup(text)


def _percent(fraction: float) -> str:
    return f"{100 * min(1.0, max(0.0, fraction)):.2f}%"


def asset(name: str) -> str:
    """Return a file that is part of this package."""
    return (files("separable.report") / "templates" / name).read_text(encoding="utf-8")


@cache
def chart_library() -> str:
    """Return the script that draws charts: Vega, Vega-Lite and Vega-Embed, minified."""
    return zlib.decompress(_compressed_library()).decode()


@cache
def packed_library() -> str:
    """Return the same, compressed as by `packed`."""
    return base64.b64encode(_compressed_library()).decode()


@cache
def _compressed_library() -> bytes:
    """Return the script, compressed; the cache folder of the user keeps it (bundling is slow)."""
    kept = cache_folder() / f"charts-{version('vl-convert-python')}.js.zlib"
    with suppress(OSError, zlib.error):
        library = kept.read_bytes()
        zlib.decompress(library)
        return library
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    library = zlib.compress(f"(() => {{{bundle}}})();".encode(), 9)
    with suppress(OSError):  # a folder that cannot be written costs seconds the next time
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, library)
    return library


def cache_folder() -> Path:
    """Return the folder of files that can be made again, by the XDG base directories."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "separable"


def packed(text: str) -> str:
    """Compress text to base64, which ``page.js`` decompresses."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def json_text(value: Any) -> str:
    """Return JSON that is safe in a script element."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def content_security_policy(scripts: list[str]) -> str:
    """Return a policy that allows these scripts, the styles of the page, and nothing else.

    Parameters
    ----------
    scripts : list of str
        The text of each script, decompressed.
    """
    allowed = " ".join(f"'sha256-{_hash(script)}'" for script in scripts) or "'none'"
    rules = {
        "default-src": "'none'",
        "script-src": allowed,
        "style-src": "'unsafe-inline'",
        "connect-src": "'none'",
        "form-action": "'none'",
        "base-uri": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def check_extra() -> None:
    """Raise ImportError if a package that a page needs is not installed."""
    require_packages("A report", **NEEDED)


def page_of(contents: Contents) -> str:
    """Return a report as one HTML page."""
    check_extra()
    return render(contents)


def write_page(contents: Contents, path: str | os.PathLike[str]) -> str:
    """Write a report to a file, atomically, and return the page.

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
