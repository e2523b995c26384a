"""Serialization of a fitted TextEncoder to tensors and JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from separable.data.strings import is_texts, unpack_strings
from separable.features.text.parameter_checks import MAX_STOP_WORDS, refuse_slow_pattern
from separable.features.text.terms import TextHashing, TextVocabulary
from separable.features.text.text_plan import TextPlan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.strings import PackedTexts
    from separable.features.base import Tensors, Values

__all__ = ["State", "parts_of", "state_of"]

#: Parameters stored in a file; the others matter only for fitting.
SAVED = (
    "input",
    "encoding",
    "decode_error",
    "strip_accents",
    "lowercase",
    "analyzer",
    "token_pattern",
    "ngram_range",
    "binary",
    "dtype",
    "norm",
    "use_idf",
    "smooth_idf",
    "sublinear_tf",
    "n_features",
    "alternate_sign",
    "max_names",
)

TENSORS = {"terms", "term_offsets", "stop_words"}

State: TypeAlias = TextVocabulary | TextHashing


def parts_of(state: State) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fitted state as tensors and JSON values."""
    plan = state.plan
    for name in ("strip_accents", "preprocessor", "tokenizer", "analyzer"):
        if callable(getattr(plan, name)):
            raise ValueError(
                f"A TextEncoder whose {name!r} is a function cannot be saved: a file contains no "
                "code. Use named options or patterns, or encode before the model."
            )
    terms = state.terms()
    tensors: dict[str, Any] = {
        "terms": terms.utf8,
        "term_offsets": terms.offsets,
        "stop_words": plan.stop_words,
    }
    if state.idf is not None:
        tensors["idf"] = state.idf
    values = {name: getattr(plan, name) for name in SAVED}
    values["ngram_range"] = list(plan.ngram_range)
    values["n_documents"] = state.n_documents
    if isinstance(state, TextHashing):
        values["name_limit"] = f"{state.limit:x}"  # too large for JSON numbers
    return tensors, values


def state_of(tensors: Tensors, values: Values) -> tuple[State, dict[str, Any]]:
    """Return the state and the parameters from untrusted parts."""
    params = _params(tensors, values)
    n_documents = values["n_documents"]
    whole = isinstance(n_documents, int) and not isinstance(n_documents, bool)
    _check(whole and n_documents >= 0, "'n_documents' is wrong")
    plan = TextPlan.restored(params)
    params = params | {"dtype": np.dtype(plan.dtype).type}
    terms = _terms(tensors)
    if plan.n_features is not None:
        _check(set(tensors) == TENSORS, "wrong tensors")
        return TextHashing.restored(plan, terms, _limit(values), n_documents), params
    _check(len(terms) > 0, "it has no terms")
    idf = _idf(tensors, plan, len(terms))
    return TextVocabulary.restored(plan, terms, idf, n_documents), params


def _params(tensors: Tensors, values: Values) -> dict[str, Any]:
    hashed = values.get("n_features") is not None
    extra = {"n_documents", "name_limit"} if hashed else {"n_documents"}
    _check(set(values) == {*SAVED, *extra}, "wrong options")
    params = {name: values[name] for name in SAVED}
    ngram_range = params["ngram_range"]
    _check(isinstance(ngram_range, list) and len(ngram_range) == 2, "'ngram_range' is wrong")
    params["ngram_range"] = tuple(params["ngram_range"])
    stop_words = tensors.get("stop_words")
    _check(is_texts(stop_words), "'stop_words' must be texts")
    assert stop_words is not None
    _check(len(stop_words) <= MAX_STOP_WORDS, "too many stop words")
    params["stop_words"] = [str(word) for word in stop_words] or None
    for name in ("token_pattern", "strip_accents", "analyzer", "dtype"):
        _check(params[name] is None or isinstance(params[name], str), f"{name!r} must be text")
    refuse_slow_pattern(params["token_pattern"])
    return params


def _limit(values: Values) -> int:
    text = values["name_limit"]
    fits = isinstance(text, str) and 1 <= len(text) <= 16 and set(text) <= set("0123456789abcdef")
    _check(fits, "'name_limit' is wrong")
    return int(text, 16)


def _idf(tensors: Tensors, plan: TextPlan, n_terms: int) -> NDArray[Any] | None:
    _check(set(tensors) == TENSORS | ({"idf"} if plan.use_idf else set()), "wrong tensors")
    if not plan.use_idf:
        return None
    idf = tensors["idf"]
    _check(
        isinstance(idf, np.ndarray)
        and idf.dtype == np.dtype(plan.dtype)
        and idf.shape == (n_terms,)
        and bool((idf == idf).all()),
        f"'idf' must be an array of {n_terms} numbers",
    )
    assert isinstance(idf, np.ndarray)
    return idf


def _terms(tensors: Tensors) -> PackedTexts:
    utf8, offsets = tensors.get("terms"), tensors.get("term_offsets")
    arrays = isinstance(utf8, np.ndarray) and isinstance(offsets, np.ndarray)
    _check(arrays, "'terms' must be bytes and places")
    assert isinstance(utf8, np.ndarray)
    assert isinstance(offsets, np.ndarray)
    return unpack_strings(utf8, offsets, "'terms'")


def _check(ok: bool, what: str) -> None:
    if not ok:
        raise ValueError(f"The saved TextEncoder is damaged: {what}.")
