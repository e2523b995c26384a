"""Parameters documented once: docstrings of estimators inherit entries from their base classes.

A class documents the parameters that it adds or changes. The other parameters of its constructor
are described by the nearest base class that documents them, and defaults are read off the
signature. `help` shows all of them, in the order of the signature.
"""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["inherit_parameter_docs"]

_TITLE = "Parameters"


def inherit_parameter_docs(cls: type) -> None:
    """Rewrite the Parameters section of a class docstring: an entry for each parameter."""
    if cls.__doc__ is None or "__init__" not in cls.__dict__:  # python -OO, or a base class
        return
    before, _, after = _split(cls.__doc__)
    known = {name: entry for base in reversed(cls.__mro__) for name, entry in _entries(base)}
    section: list[str] = []
    for parameter in inspect.signature(cls).parameters.values():
        if parameter.name in known:
            head, *text = known[parameter.name]
            section += [head.split(", default ")[0] + _default(parameter), *text]
    if section:
        section = [_TITLE, "-" * len(_TITLE), *section]
    parts = ["\n".join(part) for part in (before, section, after) if part]
    cls.__doc__ = "\n\n".join(parts)


def _entries(cls: type) -> list[tuple[str, list[str]]]:
    doc = cls.__dict__.get("__doc__")
    return [] if doc is None else _split(doc)[1]


def _split(doc: str) -> tuple[list[str], list[tuple[str, list[str]]], list[str]]:
    """Return the lines before the Parameters section, its entries, and the lines after it."""
    lines = inspect.cleandoc(doc).split("\n")
    heads = [k - 1 for k, line in enumerate(lines) if line and set(line) == {"-"}]
    first = next((k for k in heads if lines[k] == _TITLE), None)
    if first is None:
        end = heads[0] if heads else len(lines)
        return _stripped(lines[:end]), [], _stripped(lines[end:])
    end = next((k for k in heads if k > first), len(lines))
    entries: list[tuple[str, list[str]]] = []
    for line in _stripped(lines[first + 2 : end]):
        if line and not line.startswith(" "):
            entries.append((line.split(" : ")[0], [line]))
        else:
            entries[-1][1].append(line)
    return _stripped(lines[:first]), entries, _stripped(lines[end:])


def _stripped(lines: list[str]) -> list[str]:
    """Return lines without empty ones at the end."""
    return "\n".join(lines).rstrip().split("\n") if any(lines) else []


def _default(parameter: inspect.Parameter) -> str:
    """Return the default of a parameter as docstrings write it; nothing without one."""
    value: Any = parameter.default
    if value is inspect.Parameter.empty:
        return ""
    written = f'"{value}"' if isinstance(value, str) else repr(value)
    return f", default {written}"
