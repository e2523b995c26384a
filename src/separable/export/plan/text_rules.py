"""Conversion of a fitted TextEncoder to a `TextStep`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.export.plan.plan import ExportError, TextRules, TextStep

if TYPE_CHECKING:
    from separable.features.text.text_encoder import TextEncoder
    from separable.features.text.text_plan import TextPlan

__all__ = ["text_step"]


def text_step(name: str | None, encoder: TextEncoder, first: int, missing: int | None) -> TextStep:
    """Return the step of a text encoder.

    Parameters
    ----------
    name : str or None
        The text column; None: the row itself is the text.
    encoder : TextEncoder
        Fitted.
    first : int
        Feature index of its first term.
    missing : int or None
        Feature index of a missing text.
    """
    plan, idf = encoder.plan, getattr(encoder, "idf_", None)
    _check(plan)
    if idf is not None and not np.isfinite(idf).all():
        term = encoder.feature_names[int(np.flatnonzero(~np.isfinite(idf))[0])]
        raise ExportError(
            f"The idf of the term {term!r:.80} is infinite: no training text has it. Train with "
            "smooth_idf=True."
        )
    hashed = plan.n_features
    return TextStep(
        name,
        _rules(plan),
        first,
        () if hashed is not None else tuple(encoder.feature_names),
        None if idf is None else tuple(idf.tolist()),
        missing,
    )


def _rules(plan: TextPlan) -> TextRules:
    return TextRules(
        lowercase=plan.lowercase,
        strip_accents=plan.strip_accents or None,
        analyzer=plan.analyzer,
        pattern=plan.token_pattern or "",
        shortest=plan.shortest,
        ngram_range=plan.ngram_range,
        stop_words=plan.stop_words,
        binary=plan.binary,
        sublinear=plan.sublinear_tf and plan.n_features is None,
        norm=plan.norm,
        hashed=plan.n_features,
        alternate_sign=plan.alternate_sign,
    )


def _check(plan: TextPlan) -> None:
    for what in ("strip_accents", "preprocessor", "tokenizer", "analyzer"):
        if callable(getattr(plan, what)):
            raise ExportError(
                f"The TextEncoder's {what!r} is a function, which cannot be written in another "
                "language. Use the options that are words or patterns."
            )
    if plan.input != "content":
        raise ExportError(
            f"The TextEncoder takes input={plan.input!r}, and exported code opens no files. Train "
            "with input='content'."
        )
    if plan.dtype != "float64":
        raise ExportError(
            f"The TextEncoder rounds to {plan.dtype}, which exported code does not. Train with "
            "dtype=float64."
        )
