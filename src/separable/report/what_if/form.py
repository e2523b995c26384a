"""The what-if form of a report: values are changed, and the contributions move with them.

The page computes nothing of its own. Its answers are those of the exported JavaScript
(`export.languages.javascript.js_source.scorer`); ``what_if.js`` is the form around it. Code and
data are apart: names and values of the data stand in the data alone, which the page holds as JSON.

How a page takes it in, where ``made`` is a `WhatIf`::

    <style>{made.style}</style>
    <section><div id="what-if"></div></section>
    <script type="application/json" id="what-if-data">{made.data, "<" escaped}</script>
    <script>{made.script}</script>

The script looks for the two ids when the page is there, and fills the first with the form. It sets
no attribute ``style`` and no HTML, so a content policy needs the hash of script and style alone.
The element stays empty where no script runs. Colours are ``--what-if-up`` and ``--what-if-down``.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from separable.export.languages.javascript.js_source import model_data, scorer
from separable.export.plan.plan import CategoryStep, ExportError, TextStep
from separable.export.plan.planning import plan_of
from separable.report.contents import Absent
from separable.report.what_if.fields import fields_of, start_of

if TYPE_CHECKING:
    from separable.export.plan.plan import Plan
    from separable.report.what_if.fields import Field

__all__ = ["DATA_ID", "FORM_ID", "MOST_BYTES", "WhatIf", "what_if"]

#: The ids of the elements that the script looks for.
FORM_ID, DATA_ID = "what-if", "what-if-data"

#: Weights, of 8 bytes each, that a page may hold.
MOST_BYTES = 300_000


@dataclass(frozen=True)
class WhatIf:
    """A form that computes.

    Parameters
    ----------
    script, style : str
        JavaScript and CSS, to stand as they are in ``<script>`` and ``<style>``.
    data : dict
        For JSON: the model, its names and the values that the form starts with.
    fields : tuple of Field
        What can be changed.
    """

    script: str
    style: str
    data: dict[str, Any]
    fields: tuple[Field, ...]


def what_if(model: Any, start_row: Any = None) -> WhatIf | Absent:
    """Return the form of a model, or why there is none.

    Parameters
    ----------
    model : LinearModel or VotedModel
    start_row : object, optional
        A raw row to start with: a mapping by column, or the text. None: means, first levels and
        the strongest words.
    """
    weights = getattr(model, "weights", None)
    if weights is not None and weights.nbytes > MOST_BYTES:
        return Absent(
            f"The weights of this model take {weights.nbytes / 1000:,.0f} kB; the what-if form "
            f"supports up to {MOST_BYTES // 1000} kB."
        )
    try:
        plan = plan_of(model)
        code = model_data(plan)
    except ExportError as error:
        return Absent(f"There is no what-if form. {error}")
    fields = fields_of(plan, start_row)
    data = {
        "model": code,
        "intercept": plan.intercept,
        "names": _names(plan, model.feature_names),
        "start": start_of(plan, start_row),
        "fields": [field.to_dict() for field in fields],
    }
    return WhatIf(scorer(plan) + _file("what_if.js"), _file("what_if.css"), data, fields)


def _names(plan: Plan, names: Any) -> list[tuple[int, str]]:
    """Return places with their names, without those that the page finds by itself."""
    known: dict[int, str] = {}
    for step in plan.steps:
        if isinstance(step, TextStep):
            start = "" if step.name is None else f"{step.name}:"
            known.update((step.first + i, start + term) for i, term in enumerate(step.terms))
        elif isinstance(step, CategoryStep) and not step.typed:
            known.update((column, f"{step.name}={level}") for level, column in step.levels)
    feature_names = (
        tuple(f"x{j}" for j in range(len(plan.weights))) if names is None else tuple(names)
    )
    if plan.takes == "numbers" and plan.columns == feature_names:
        return []
    return [(j, name) for j, name in enumerate(feature_names) if known.get(j) != name]


def _file(name: str) -> str:
    return resources.files("separable.report").joinpath(name).read_text(encoding="utf-8")
