"""Registry of export languages: a new one is an entry here and a module with ``write``."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LANGUAGES", "Language"]


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
