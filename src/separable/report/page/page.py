"""A report as one page of HTML that carries everything with it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from separable.report.contents import Absent
from separable.report.page.assets import (
    asset,
    chart_library,
    content_security_policy,
    json_text,
    packed,
    packed_library,
)
from separable.report.page.formatting import LEVEL
from separable.report.page.sections import gather
from separable.report.what_if.form import DATA_ID, FORM_ID, what_if

if TYPE_CHECKING:
    from separable.report.contents import Contents
    from separable.report.what_if.form import WhatIf

__all__ = ["LARGEST", "render"]

#: Bytes of a page, at most.
LARGEST = 1_500_000
#: The name of the script of the form among the parts that are packed.
SCRIPT_ID = "what-if-script"
TOO_LARGE = "The what-if form would make this page too large."


def render(contents: Contents, *, title: str | None = None) -> str:
    """Return a report as a page: one text, in UTF-8 at most 1.5 MB, that asks for nothing else.

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
    form = what_if(contents.model)
    page = _page(contents, title, form)
    if _size(page) > LARGEST and not isinstance(form, Absent):
        page = _page(contents, title, Absent(TOO_LARGE))
    assert _size(page) <= LARGEST, f"A page of {_size(page)} bytes is too large."
    return page


def _size(page: str) -> int:
    return len(page.encode())


def _page(contents: Contents, title: str | None, form: WhatIf | Absent) -> str:
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
    """Return text of our own that goes into the page as it is."""
    from markupsafe import Markup

    return Markup(text)


def _percent(fraction: float) -> str:
    return f"{100 * min(1.0, max(0.0, fraction)):.2f}%"
