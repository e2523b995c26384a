"""Validation of the parameters of TextEncoder."""

from __future__ import annotations

import codecs
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator


__all__ = [
    "TOKEN_PATTERN",
    "allowing_patterns",
    "check_params",
    "document_limit",
    "is_linear",
    "refuse_slow_pattern",
    "stop_words_of",
    "terms_of",
    "warn_unused",
]

TOKEN_PATTERN = r"(?u)\b\w\w+\b"  # scikit-learn's

_ANALYZERS = ("word", "char", "char_wb")


#: Longest pattern: an untrusted longer one may take minutes to compile.
MAX_PATTERN_LENGTH = 1000
#: Most stop words, for the same reason.
MAX_STOP_WORDS = 1 << 17

#: Longest fixed part of a pattern, and most repetitions that count as bounded.
MAX_FIXED = 256

_CHARACTERS = ("LITERAL", "NOT_LITERAL", "ANY", "IN")

_allowed: ContextVar[bool] = ContextVar("allow_patterns", default=False)


def _wrong(name: str, what: str, value: object) -> ValueError:
    return ValueError(
        f"The {name!r} parameter of TextEncoder must be {what}. Got {value!r:.80} instead."
    )


def check_params(params: Mapping[str, Any]) -> None:
    """Raise for parameters that are invalid for any texts."""
    for name, allowed in (
        ("input", ("content", "file", "filename")),
        ("decode_error", ("strict", "ignore", "replace")),
        ("norm", ("l1", "l2", None)),
    ):
        if params[name] not in allowed:
            raise _wrong(name, f"one of {', '.join(map(repr, allowed))}", params[name])
    for name, words in (("strip_accents", ("ascii", "unicode", None)), ("analyzer", _ANALYZERS)):
        value = params[name]
        if not callable(value) and (value is not None and not isinstance(value, str)):
            raise _wrong(name, f"one of {', '.join(map(repr, words))} or a function", value)
        if not callable(value) and value not in words:
            raise _wrong(name, f"one of {', '.join(map(repr, words))} or a function", value)
    for name in ("preprocessor", "tokenizer"):
        if params[name] is not None and not callable(params[name]):
            raise _wrong(name, "a function or None", params[name])
    for name in ("lowercase", "binary", "use_idf", "smooth_idf", "sublinear_tf", "alternate_sign"):
        if not isinstance(params[name], (bool, np.bool_)):
            raise _wrong(name, "True or False", params[name])
    limit = params["max_features"]
    if limit is not None and (not _is_int(limit) or limit < 1):
        raise _wrong("max_features", "an int >= 1 or None", limit)
    if not _is_int(params["max_names"]) or params["max_names"] < 1:
        raise _wrong("max_names", "an int >= 1", params["max_names"])
    _check_hashing(params)
    _check_range(params["ngram_range"])
    _check_encoding(params["encoding"])
    _check_pattern(params)
    try:
        dtype = np.dtype(params["dtype"])
    except TypeError:
        dtype = np.dtype(object)
    if dtype not in (np.float32, np.float64):
        raise _wrong("dtype", "float32 or float64", params["dtype"])


def _is_int(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))


def document_limit(name: str, value: Any) -> float | int:
    """Return a number of documents as an int, a fraction of them as a float."""
    if _is_int(value) and value >= 1:
        return int(value)
    is_fraction = isinstance(value, (float, np.floating)) and 0 <= value <= 1
    if not is_fraction:
        what = "an int >= 1 (documents) or a float from 0.0 to 1.0 (a fraction)"
        raise _wrong(name, what, value)
    return float(value)


def _check_hashing(params: Mapping[str, Any]) -> None:
    n_features = params["n_features"]
    if n_features is None:
        return
    if not _is_int(n_features) or not 1 <= n_features < 2**31:
        raise _wrong("n_features", "an int from 1 to 2147483647, or None", n_features)
    usual = {"vocabulary": None, "max_features": None, "max_df": 1.0, "min_df": 1}
    for name, value in (usual | {"sublinear_tf": False}).items():
        if params[name] is not value and params[name] != value:
            raise ValueError(
                f"The {name!r} parameter of TextEncoder needs a vocabulary, but "
                f"n_features={n_features} selects hashing, which keeps none. Give one of the two."
            )


def _check_range(value: Any) -> None:
    pair = isinstance(value, (tuple, list)) and len(value) == 2 and all(map(_is_int, value))
    if not pair or not 1 <= value[0] <= value[1] <= 1000:
        raise _wrong("ngram_range", "a pair (min_n, max_n) with 1 <= min_n <= max_n <= 1000", value)


def _check_encoding(value: Any) -> None:
    try:
        codecs.lookup(value)
    except (LookupError, TypeError):
        raise _wrong("encoding", "an encoding that Python knows", value) from None


def _check_pattern(params: Mapping[str, Any]) -> None:
    pattern = params["token_pattern"]
    if params["analyzer"] != "word" or params["tokenizer"] is not None:
        return
    if isinstance(pattern, str) and len(pattern) > MAX_PATTERN_LENGTH:
        raise _wrong("token_pattern", f"up to {MAX_PATTERN_LENGTH} characters long", pattern)
    try:
        groups = re.compile(pattern).groups
    except (re.error, TypeError, OverflowError, RecursionError):
        raise _wrong("token_pattern", "a regular expression", pattern) from None
    if groups > 1:
        raise _wrong("token_pattern", "a regular expression with at most one group", pattern)


def stop_words_of(words: Any) -> tuple[str, ...]:
    """Return the stop words, sorted."""
    if words is None:
        return ()
    if words == "english":
        text = import_module("sklearn.feature_extraction.text")  # scikit-learn's list
        words = text.ENGLISH_STOP_WORDS
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise _wrong("stop_words", "'english', a list of words or None", words)
    words = set(words)
    if len(words) > MAX_STOP_WORDS:
        raise ValueError(
            f"The 'stop_words' parameter of TextEncoder has {len(words)} words, more than "
            f"{MAX_STOP_WORDS}. Leave frequent words out with max_df instead."
        )
    if not all(isinstance(word, str) for word in words):
        raise _wrong("stop_words", "'english', a list of words or None", sorted(words, key=repr))
    return tuple(sorted(words))


def terms_of(vocabulary: Any) -> tuple[str, ...] | None:
    """Return the terms of a vocabulary by column."""
    if vocabulary is None:
        return None
    if isinstance(vocabulary, str) or not isinstance(vocabulary, Iterable):
        raise _wrong(
            "vocabulary", "a list of terms, a dict of terms to columns or None", vocabulary
        )
    if isinstance(vocabulary, Mapping):
        columns = sorted(vocabulary.values())
        if columns != list(range(len(columns))):
            raise _wrong(
                "vocabulary", "terms with the columns 0, 1, ... each once", dict(vocabulary)
            )
        terms = tuple(sorted(vocabulary, key=vocabulary.__getitem__))
    else:
        terms = tuple(
            sorted(vocabulary) if isinstance(vocabulary, (set, frozenset)) else vocabulary
        )
    if not terms:
        raise _wrong("vocabulary", "a vocabulary with at least one term", vocabulary)
    odd = next((term for term in terms if not isinstance(term, str)), None)
    if odd is not None:
        raise _wrong("vocabulary", "a vocabulary of str", odd)
    if len(set(terms)) < len(terms):
        twice = Counter(terms).most_common(1)[0][0]
        raise ValueError(f"Duplicate term in vocabulary: {twice!r:.80}. Keep it once.")
    return terms


def _unused_choices(params: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return non-default options that have no effect, with the reason."""
    differs = {
        "smooth_idf": not params["smooth_idf"],
        "alternate_sign": not params["alternate_sign"],
        "max_df": params["max_df"] != 1.0 or isinstance(params["max_df"], int),
        "min_df": params["min_df"] not in (0, 1),
        "max_features": params["max_features"] is not None,
        "lowercase": not params["lowercase"],
        "strip_accents": params["strip_accents"] is not None,
    }
    useless = [
        (params["use_idf"] is False, "'use_idf' is False", ("smooth_idf",)),
        (params["n_features"] is None, "'n_features' is None", ("alternate_sign",)),
        (
            params["vocabulary"] is not None,
            "'vocabulary' is given",
            ("max_df", "min_df", "max_features"),
        ),
        (
            params["preprocessor"] is not None,
            "'preprocessor' is not None",
            ("lowercase", "strip_accents"),
        ),
    ]
    return [
        (name, why) for holds, why, names in useless if holds for name in names if differs[name]
    ]


def warn_unused(params: Mapping[str, Any]) -> None:
    """Warn about parameters without effect, as scikit-learn does and beyond."""
    word, function = params["analyzer"] == "word", callable(params["analyzer"])
    pattern = params["token_pattern"]
    unused = []
    if params["tokenizer"] is not None and pattern is not None:
        unused.append(("token_pattern", "'tokenizer' is not None"))
    if params["preprocessor"] is not None and function:
        unused.append(("preprocessor", "'analyzer' is callable"))
    if tuple(params["ngram_range"]) != (1, 1) and function:
        unused.append(("ngram_range", "'analyzer' is callable"))
    if not word:
        if params["stop_words"] is not None:
            unused.append(("stop_words", "'analyzer' != 'word'"))
        if pattern is not None and pattern != TOKEN_PATTERN:
            unused.append(("token_pattern", "'analyzer' != 'word'"))
        if params["tokenizer"] is not None:
            unused.append(("tokenizer", "'analyzer' != 'word'"))
    unused += _unused_choices(params)
    for name, reason in unused:
        warnings.warn(
            f"The parameter {name!r} will not be used since {reason}", UserWarning, stacklevel=4
        )


@contextmanager
def allowing_patterns(allow: bool) -> Iterator[None]:
    """Allow any pattern in model files while active, for trusted files."""
    token = _allowed.set(allow)
    try:
        yield
    finally:
        _allowed.reset(token)


def refuse_slow_pattern(pattern: str | None) -> None:
    """Raise if a pattern of a file may take more than linear time, unless allowed."""
    if pattern is not None and not _allowed.get() and not is_linear(pattern):
        raise ValueError(
            f"its token_pattern {pattern!r:.80} is a regular expression that may take very long on "
            "some texts. If you trust the file, give the command --allow-patterns, or in Python "
            "separable.load(path, allow_patterns=True)."
        )


def is_linear(pattern: str) -> bool:
    r"""Return whether finding all matches of a pattern provably takes linear time.

    Such a pattern is a sequence of characters or classes between word boundaries, and only the last
    may repeat. After an unbounded repetition only a boundary after ``\w`` is allowed, where it
    always holds: a match that has begun never fails late.

    Examples
    --------
    >>> [is_linear(each) for each in (r"(?u)\b\w\w+\b", r"[a-z]{3,}", r"(?:a|aa)+$", r"\w+@")]
    [True, True, False, False]
    """
    try:
        items = list(import_module("re._parser").parse(pattern))
    except (re.error, RecursionError, OverflowError):
        return False
    while len(items) == 1 and str(items[0][0]) == "SUBPATTERN":
        items = list(items[0][1][-1])
    while items and str(items[0][0]) == "AT":
        items = items[1:]
    ends: list[str] = []
    while items and str(items[-1][0]) == "AT":
        ends.append(str(items[-1][1]))
        items = items[:-1]
    if not items or len(items) > MAX_FIXED:
        return False
    *fixed, last = items
    if any(str(op) not in _CHARACTERS for op, _ in fixed):
        return False
    return _ends_at_once(last, ends)


def _ends_at_once(item: tuple[Any, Any], boundaries: list[str]) -> bool:
    """Return whether the last item of a pattern and its boundaries never fail late."""
    op, value = item
    if str(op) in _CHARACTERS:
        return True
    if str(op) != "MAX_REPEAT":
        return False
    low, high, repeated = value
    if low > MAX_FIXED or len(repeated) != 1 or str(repeated[0][0]) not in _CHARACTERS:
        return False
    if high <= MAX_FIXED or not boundaries:
        return True
    return boundaries == ["AT_BOUNDARY"] and _is_word(repeated[0])


def _is_word(item: tuple[Any, Any]) -> bool:
    r"""Return whether an item is exactly ``\w``: other classes may end without a boundary."""
    op, value = item
    if str(op) != "IN" or len(value) != 1:
        return False
    return [str(each) for each in value[0]] == ["CATEGORY", "CATEGORY_WORD"]
