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
    test : str
        The command that runs the self-test of a file, or what to do about it; ``{file}`` is the
        file, quoted for the shell.
    options : tuple of str
        The options of ``export`` that it takes.
    is_text : bool
        Whether a file is text.
    """

    home: str
    suffix: str
    test: str
    options: tuple[str, ...] = ()
    is_text: bool = True


LANGUAGES = {
    "onnx": Language(
        "separable.export.onnx_graph",
        ".onnx",
        "python -m onnxruntime.tools.check_onnx_model_mobile_usability {file}",
        is_text=False,
    ),
    "sql": Language("separable.export.sql_query", ".sql", "", ("table", "keep")),
    "c": Language(
        "separable.export.c_source", ".c", "gcc {file} -DSELF_TEST -lm -o self_test && ./self_test"
    ),
    "js": Language("separable.export.js_source", ".js", "node {file}"),
    "python": Language("separable.export.python_source", ".py", "python {file}"),
}
