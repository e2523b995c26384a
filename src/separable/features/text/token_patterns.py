"""Token patterns that take linear time on any text, and what model files may hold.

Python's regular expressions backtrack: `(?:a|aa)+$` takes exponential time on a text of a's. A
model file comes from anywhere, so it may hold patterns of a form that cannot backtrack far.
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

#: The longest fixed part of a pattern, and the most repetitions that count as bounded.
MOST_FIXED = 256

_CHARACTERS = ("LITERAL", "NOT_LITERAL", "ANY", "IN")

_allowed: ContextVar[bool] = ContextVar("allow_patterns", default=False)


@contextmanager
def allowing_patterns(allow: bool) -> Iterator[None]:
    """Let encoders of files have any pattern, where the user trusts them."""
    token = _allowed.set(allow)
    try:
        yield
    finally:
        _allowed.reset(token)


def refuse_slow_pattern(pattern: str | None) -> None:
    """Refuse a pattern of a file that may take more than linear time, unless it was allowed."""
    if pattern is not None and not _allowed.get() and not is_linear(pattern):
        raise ValueError(
            f"its token_pattern {pattern!r:.80} is a regular expression that may take very long on "
            "some texts. If you trust the file, give the command --allow-patterns, or in Python "
            "separable.load(path, allow_patterns=True)."
        )


def is_linear(pattern: str) -> bool:
    r"""Whether finding all matches of a pattern is sure to take linear time.

    Such a pattern is a few characters or classes of them, of which the last may repeat, between
    word boundaries. Behind a repetition without end only a boundary after ``\w`` may stand, where
    it always holds: a match that has begun never fails late.

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
    if not items or len(items) > MOST_FIXED:
        return False
    *fixed, last = items
    if any(str(op) not in _CHARACTERS for op, _ in fixed):
        return False
    return _ends_at_once(last, ends)


def _ends_at_once(item: tuple[Any, Any], boundaries: list[str]) -> bool:
    """Whether the last item of a pattern, and the boundaries behind it, never fail late."""
    op, value = item
    if str(op) in _CHARACTERS:
        return True
    if str(op) != "MAX_REPEAT":
        return False
    low, high, repeated = value
    if low > MOST_FIXED or len(repeated) != 1 or str(repeated[0][0]) not in _CHARACTERS:
        return False
    if high <= MOST_FIXED or not boundaries:
        return True
    return boundaries == ["AT_BOUNDARY"] and _is_word(repeated[0])


def _is_word(item: tuple[Any, Any]) -> bool:
    r"""Whether an item is ``\w`` and nothing else: other classes may end where no boundary is."""
    op, value = item
    if str(op) != "IN" or len(value) != 1:
        return False
    return [str(each) for each in value[0]] == ["CATEGORY", "CATEGORY_WORD"]
