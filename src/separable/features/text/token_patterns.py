"""Token patterns with linear running time, the only ones allowed in model files.

Python's regular expressions backtrack: `(?:a|aa)+$` takes exponential time on a text of a's. Model
files are untrusted, so their patterns must have a form with bounded backtracking.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["allowing_patterns", "is_linear", "refuse_slow_pattern"]

#: Longest fixed part of a pattern, and most repetitions that count as bounded.
MAX_FIXED = 256

_CHARACTERS = ("LITERAL", "NOT_LITERAL", "ANY", "IN")

_allowed: ContextVar[bool] = ContextVar("allow_patterns", default=False)


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
