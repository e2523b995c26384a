"""The languages there are. A new one is a line here and a module with ``write``."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LANGUAGES", "Language"]


@dataclass(frozen=True)
class Language:
    """One language that models are written in.

    Parameters
    ----------
    home : str
        The module whose ``write(plan, vectors, **options)`` returns the file.
    suffix : str
        How files end.
    then : str
        What to do next with a file, ``{file}``, quoted for the shell.
    options : tuple of str
        The options of ``export`` that it takes.
    is_text : bool
        Whether a file is text.
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
