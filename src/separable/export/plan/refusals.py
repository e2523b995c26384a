"""Refusals of plans that a language cannot express."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.export.plan.plan import CategoryStep, ExportError, RecordStep, TextStep

if TYPE_CHECKING:
    from separable.export.plan.plan import Plan

__all__ = ["refuse_mixed_levels", "refuse_nul_texts", "refuse_texts"]


def refuse_texts(plan: Plan, language: str) -> None:
    """Refuse columns of free text, and rows without fixed columns.

    Parameters
    ----------
    plan : Plan
    language : str
        Name of the language in the message.
    """
    for step in plan.steps:
        if isinstance(step, TextStep):
            what = (
                "takes texts" if step.name is None else f"has a column of texts, {step.name!r:.80}"
            )
            raise ExportError(
                f"This {plan.learner} model {what}, and {language} has neither Python's letters "
                "nor its lower case to cut them into the same words. Export it to Python or "
                "JavaScript (js)."
            )
        if isinstance(step, RecordStep):
            raise ExportError(
                f"This {plan.learner} model takes rows through a DictEncoder, which have no fixed "
                f"columns, as rows in {language} have. Export it to Python or JavaScript (js)."
            )


def refuse_mixed_levels(plan: Plan, language: str) -> None:
    """Refuse a column whose levels are partly texts and partly numbers."""
    for step in plan.steps:
        if isinstance(step, CategoryStep) and len({type(level) for level, _ in step.levels}) > 1:
            raise ExportError(
                f"Column {step.name!r:.80} has texts and numbers as levels, and a column of "
                f"{language} has one type. Write all of them as texts before training, or export "
                "to Python, JavaScript or C."
            )


def refuse_nul_texts(plan: Plan, language: str) -> None:
    """Refuse levels and classes with a NUL character, which ends a text in some languages."""
    named = [
        (f"Column {step.name!r:.80} has the level", level)
        for step in plan.steps
        if isinstance(step, CategoryStep)
        for level, _ in step.levels
    ]
    named += [("The model has the class", label) for label in plan.classes or ()]
    for what, text in named:
        if isinstance(text, str) and "\0" in text:
            raise ExportError(
                f"{what} {text!r:.80}, which holds a NUL character, and texts of {language} end at "
                "the first. Replace it before training, or export to Python, JavaScript, C or SQL."
            )
