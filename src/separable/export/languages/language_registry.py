"""Registry of export languages, and the runtime files of those that have one.

A new language is an entry of `LANGUAGES` and a module with ``write``. ``runtime.c``, ``runtime.js``
and ``runtime.py`` are complete files with a small example model. A comment ``section NAME`` opens a
section; ``section NAME, for KIND, KIND`` names the kinds of steps that need it. A section ends at
the next one, or at a comment ``end of section``. Text outside sections is not exported.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set


__all__ = [
    "DESCRIPTIONS",
    "LANGUAGES",
    "Language",
    "Runtime",
    "runtime",
    "sections_of",
]


_OPENING = re.compile(r" *(?:#|//) section (?P<name>[a-z ]+)(?:, for (?P<kinds>[a-z, ]+))?")
_CLOSING = re.compile(r" *(?:#|//) end of section")


@dataclass(frozen=True)
class Language:
    """A target language of the export.

    Parameters
    ----------
    home : str
        The module whose ``write(plan, vectors, **options)`` returns the file.
    suffix : str
        File name extension.
    then : str
        Advice printed after the export; ``{file}`` is the file, quoted for the shell.
    options : tuple of str
        Options of ``export`` that apply to it.
    is_text : bool
        Whether the file is text.
    """

    home: str
    suffix: str
    then: str
    options: tuple[str, ...] = ()
    is_text: bool = True


LANGUAGES = {
    "onnx": Language(
        "separable.export.languages.onnx.onnx_graph",
        ".onnx",
        "Its metadata name its inputs and hold test rows: docs/guides/export.md",
        is_text=False,
    ),
    "sql": Language(
        "separable.export.languages.sql.sql_query",
        ".sql",
        "Run it: sqlite3 data.db < {file}",
        options=("table", "keep"),
    ),
    "c": Language(
        "separable.export.languages.c.c_source",
        ".c",
        "Test it: gcc {file} -DSELF_TEST -lm -o self_test && ./self_test",
    ),
    "js": Language(
        "separable.export.languages.javascript.js_source", ".js", "Test it: node {file}"
    ),
    "python": Language(
        "separable.export.languages.python.python_source", ".py", "Test it: python {file}"
    ),
}


#: What is no scoring code: `write(model)` of these modules describes the service of a model.
DESCRIPTIONS = {
    "openapi": Language(
        "separable.export.openapi", ".json", "separable serve answers as it describes."
    )
}


@dataclass(frozen=True)
class Runtime:
    """Sections of a runtime file.

    Parameters
    ----------
    sections : dict of str to str
        Text by name, without blank lines at the ends, in the order of the file.
    kinds : dict of str to frozenset of str
        Kinds of steps that need a section, for sections that depend on steps alone.
    """

    sections: dict[str, str]
    kinds: dict[str, frozenset[str]]

    def __getitem__(self, name: str) -> str:
        """Return the text of a section."""
        return self.sections[name]

    def for_steps(self, kinds: Set[str]) -> list[str]:
        """Return the sections that steps of these kinds need, in the order of the file."""
        return [self.sections[name] for name, needed in self.kinds.items() if needed & kinds]


@cache
def runtime(language: str, file: str) -> Runtime:
    """Return the runtime of a language.

    Parameters
    ----------
    language : str
        The folder beside this module.
    file : str
        The file in that folder.
    """
    folder = files("separable.export.languages") / language
    return sections_of((folder / file).read_text(encoding="utf-8"))


def sections_of(text: str) -> Runtime:
    r"""Return the sections of the text of a runtime file.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> made = sections_of("# section a\nx = 1\n# section b, for date, text\n\ny = 2\n")
    >>> made["a"], made.for_steps({"date"})
    ('x = 1\n', ['y = 2\n'])
    """
    lines: dict[str, list[str]] = {}
    kinds: dict[str, frozenset[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        opening = _OPENING.fullmatch(line)
        if opening is not None:
            current = lines[opening["name"]] = []
            if opening["kinds"] is not None:
                kinds[opening["name"]] = frozenset(opening["kinds"].split(", "))
        elif _CLOSING.fullmatch(line):
            current = None
        elif current is not None:
            current.append(line)
    sections = {name: "\n".join(each).strip("\n") + "\n" for name, each in lines.items()}
    return Runtime(sections, kinds)
