"""A report as one page of HTML that carries everything with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.report.assets import asset, chart_library, content_security_policy, held, json_text
from separable.report.contents import Absent
from separable.report.sections import gather
from separable.report.what_if import DATA_ID, FORM_ID, what_if
from separable.report.words import LEVEL

if TYPE_CHECKING:
    from separable.report.contents import Contents
    from separable.report.what_if import WhatIf

__all__ = ["LARGEST", "render"]

#: Bytes of a page, at most.
LARGEST = 1_500_000
NO_ROOM = "The form to try values with would make this page too large."


def render(contents: Contents, *, title: str | None = None) -> str:
    """Return a report as a page: one text, in UTF-8 at most 1.5 MB, that asks for nothing else.

    The same contents give the same page.

    Parameters
    ----------
    contents : Contents
    title : str, optional
        The heading. By default what is predicted.

    Returns
    -------
    str
        HTML.
    """
    form = what_if(contents.model)
    for packed, there in ((False, form), (True, form), (True, Absent(NO_ROOM))):
        page = _page(contents, title, there, packed)
        if _size(page) <= LARGEST:
            return page
    raise AssertionError(f"A page of {_size(page)} bytes is too large.")


def _size(page: str) -> int:
    return len(page.encode())


def _page(contents: Contents, title: str | None, form: WhatIf | Absent, packed: bool) -> str:
    """Return the page, the chart library and the data of the form packed or as they are."""
    values, figures = gather(contents, title)
    scripts = [asset("unpack.js"), *[asset("page.js")] * bool(figures)]
    library = chart_library() if figures else ""
    given: dict[str, Any] = {"form": None, "no_form": form}
    if not isinstance(form, Absent):
        scripts.append(form.script)
        data = held(json_text(form.data), packed=packed)
        given["form"] = {"style": _markup(form.style), "data": data}
    page: str = (
        _environment()
        .get_template("page.html")
        .render(
            **values,
            **given,
            form_id=FORM_ID,
            form_data_id=DATA_ID,
            specs=_markup(json_text({each.key: each.spec for each in figures})),
            style=_markup(asset("style.css")),
            library=held(library, packed=packed and bool(figures)),
            scripts=[_markup(script) for script in scripts],
            policy=content_security_policy([*[library] * bool(figures), *scripts]),
            pct=_percent,
            level=LEVEL,
        )
    )
    return page.lstrip() + "\n"


def _environment() -> Any:
    """Return the templates, which escape every value that they show."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(
            "Reports need jinja2. Install it with: pip install 'separable[report]'"
        ) from error
    loader = jinja2.FunctionLoader(asset)
    return jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _markup(text: str) -> Any:
    """Return text of our own that goes into the page as it is."""
    from markupsafe import Markup

    return Markup(text)


def _percent(share: float) -> str:
    return f"{100 * min(1.0, max(0.0, share)):.2f}%"
