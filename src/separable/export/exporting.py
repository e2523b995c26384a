"""`export`: scoring code in another language."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from separable.data.table import did_you_mean
from separable.export.languages.language_registry import DESCRIPTIONS, LANGUAGES
from separable.export.plan.planning import plan_of
from separable.export.plan.test_vectors import vectors_of
from separable.model.files.atomic import write_atomically
from separable.model.linear_model import LinearModel

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from separable.export.languages.language_registry import Language
    from separable.export.plan.plan import Plan
    from separable.export.plan.test_vectors import Vector
    from separable.model.kinds import Model

__all__ = ["Exported", "export", "exported"]


def export(
    model: Any,
    to: str,
    *,
    rows: Any = None,
    path: str | os.PathLike[str] | None = None,
    table: str | None = None,
    keep: Sequence[str] = (),
) -> str | bytes:
    """Write a model as scoring code that needs no separable.

    Scores agree with the model's to 1e-9 of the sum of the absolute contributions. The file holds a
    few rows with their predictions, and tests itself with them. See ``docs/guides/export.md``.

    Parameters
    ----------
    model : LinearModel, or fitted learner
        With its encoder, if it has one.
    to : {"onnx", "sql", "c", "js", "python", "openapi"}
        The language; "openapi" is the description of the service of the model.
    rows : object, optional
        Test rows, as ``model.predict`` takes them; the first 20 go into the file. None: rows are
        generated.
    path : str or path, optional
        Where to write the file, atomically.
    table : str, optional
        SQL only: the table to read, ``rows`` by default.
    keep : sequence of str
        SQL only: columns of the table to copy to the output.

    Returns
    -------
    str, or bytes of ONNX
        The file.

    Raises
    ------
    ExportError
        The language cannot express the model.

    Examples
    --------
    >>> from separable import LinearModel
    >>> from separable.export import export
    >>> model = LinearModel([[2, -1]], [0.5], None, "identity", ["width", "height"])
    >>> code = {"__name__": "model"}
    >>> exec(export(model, to="python"), code)
    >>> code["predict"]({"width": 3, "height": 4})
    2.5
    """
    linear: Model = getattr(model, "model_", model)
    made = exported(linear, to, rows=rows, table=table, keep=keep)
    if path is not None:
        write_atomically(path, made.data)
    return made.data.decode() if _language(to).is_text else made.data


@dataclass(frozen=True)
class Exported:
    """An exported file with its plan and test rows.

    Parameters
    ----------
    data : bytes
        The file.
    plan : Plan or None
        None of a description, which is no scoring code.
    vectors : tuple of Vector
        Its test rows.
    """

    data: bytes
    plan: Plan | None
    vectors: tuple[Vector, ...]


def exported(
    model: Model, to: str, *, rows: Any = None, table: str | None = None, keep: Sequence[str] = ()
) -> Exported:
    """Write a model in a language; the parameters are those of `export`."""
    language = _language(to)
    options = _options(language, to, {"table": table, "keep": tuple(keep) or None})
    if to in DESCRIPTIONS:
        return Exported(import_module(language.home).write(model).encode(), None, ())
    plan = plan_of(model)
    assert isinstance(model, LinearModel)  # only these have plans
    vectors = vectors_of(model, plan, rows)
    data: str | bytes = import_module(language.home).write(plan, vectors, **options)
    return Exported(data.encode() if isinstance(data, str) else data, plan, vectors)


def _language(to: str) -> Language:
    known = LANGUAGES | DESCRIPTIONS
    if to not in known:
        names = ", ".join(map(repr, known))
        raise ValueError(
            f"The 'to' parameter of export must be one of {names}. Got {to!r} instead"
            f"{did_you_mean(str(to), known)}."
        )
    return known[to]


def _options(language: Language, to: str, requested: dict[str, Any]) -> dict[str, Any]:
    options = {name: value for name, value in requested.items() if value is not None}
    for name in options:
        if name not in language.options:
            raise ValueError(f"The {name!r} parameter of export is for SQL, and to={to!r}.")
    return options
