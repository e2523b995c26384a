"""The page at / and the OpenAPI document of a served model."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from separable.export.openapi import document
from separable.report.what_if import DATA_ID, FORM_ID, WhatIf, what_if

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.model.input_schema import InputColumn
    from separable.serve.served_model import ServedModel

__all__ = ["LANDING_HEADERS", "landing_page", "openapi_document"]

LANDING_HEADERS = {"cache-control": "no-cache"}

STYLE = """
:root { color-scheme: light dark; --what-if-up: #2166ac; --what-if-down: #b2182b; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
.wide table { border-collapse: collapse; } code { font-size: .9em; } .wide { overflow-x: auto; }
.wide th, .wide td { padding: .2rem .8rem .2rem 0; text-align: left; white-space: nowrap; }
.wide table { margin-bottom: 1rem; }
.wide th { border-bottom: 1px solid; }
"""


def openapi_document(served: ServedModel) -> dict[str, Any]:
    """Return the OpenAPI document of a served model."""
    return document(served.model, served.name, served.version)


@lru_cache(maxsize=16)
def landing_page(served: ServedModel) -> tuple[str, str]:
    """Return the page of a model, with the form to try values, and its content policy."""
    form = _form(served)
    script, style = (form.script, form.style) if isinstance(form, WhatIf) else ("", "")
    name = html.escape(served.name)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{name}</title><style>{STYLE}{style}</style></head><body><main>",
        f"<h1>{name}</h1>",
        f"<p>{html.escape(_facts(served))}</p>",
        '<p><a href="openapi.json">OpenAPI document</a>, <a href="metrics">metrics</a>, '
        '<a href="v2/models">models</a></p>',
    ]
    if isinstance(form, WhatIf):
        data = json.dumps(form.data, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
        parts += [
            f'<section aria-label="Try values"><h2>Try values</h2><div id="{FORM_ID}">'
            "<noscript>The form needs JavaScript; the tables below do not.</noscript></div>",
            f'</section><script type="application/json" id="{DATA_ID}">{data}</script>',
        ]
    else:
        parts.append(f"<p>{html.escape(form.reason)}</p>")
    parts += ["<h2>Columns</h2>", _columns_table(served.columns), _example(served)]
    if script:
        parts.append(f"<script>{script}</script>")
    return "\n".join([*parts, "</main></body></html>"]), _policy(script)


def _form(served: ServedModel) -> Any:
    """Return the form, starting at the typical row of training."""
    row = {column.name: column.example for column in served.columns or ()}
    return what_if(served.model, row or None)


def _facts(served: ServedModel) -> str:
    model = served.model
    classes = "" if model.classes is None else f", {len(model.classes)} classes"
    return (
        f"{model.learner}, {model.n_features} features{classes}; version {served.version}, "
        f"SHA-256 {served.digest[:16]}..."
    )


def _columns_table(columns: tuple[InputColumn, ...] | None) -> str:
    if columns is None:
        return "<p>Records may have any keys, with numbers or texts as values.</p>"
    heads = ("column", "type", "training data", "a missing value is")
    return _table(heads, [_cells(column) for column in columns[:1000]])


def _cells(column: InputColumn) -> tuple[str, ...]:
    values = ", ".join(column.levels[:8]) + (" ..." if len(column.levels) > 8 else "")
    if column.low is not None:
        values = f"{column.low:g} to {column.high:g}"
    return column.name, column.kind, values, column.policy


def _example(served: ServedModel) -> str:
    """Return a request for the typical row, and its answer."""
    found = served.example()
    if found is None:
        return ""
    row, answer = found
    body = json.dumps([row], ensure_ascii=False)
    command = f"curl -H 'Content-Type: application/json' --data '{body}' ADDRESS/predict?explain=10"
    reasons = answer.pop("because", [])
    facts = [(name, f"{x:.6g}" if isinstance(x, float) else str(x)) for name, x in answer.items()]
    terms = [(x["feature"], x["value"], f"{x['contribution']:+.4g}") for x in reasons]
    return (
        f'<h2>Example</h2><div class="wide"><code>{html.escape(command)}</code></div>'
        f"<p>Its answer, and the largest contributions to the score:</p>"
        f"{_table(('answer', ''), facts)}{_table(('feature', 'value', 'contribution'), terms)}"
    )


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    ]
    head = "".join(f"<th>{html.escape(each)}</th>" for each in heads)
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def _policy(script: str) -> str:
    """Return a policy that allows this script and the styles of the page, and no requests."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "connect-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
