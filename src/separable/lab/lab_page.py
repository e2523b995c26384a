"""The page of the lab: its modules joined into one script, with data and a security policy."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separable.lab.data import built_in, from_table, page_values
from separable.model.files.atomic import write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from separable.datasets.examples import Example

__all__ = ["joined_script", "lab", "lab_of_example"]

#: The modules in the order in which they are joined: each after those it imports.
MODULES = (
    *("algebra", "votes", "optimum", "kernels", "exact", "csv", "python", "drawing", "charts"),
    *("validation", "page_state", "projection", "one_column", "plane", "beside", "words"),
    *("seeded", "editing", "own_file", "lessons", "lesson_view", "app"),
)
#: The lessons of the lectures, and the largest number of a student.
LESSONS = tuple(f"L{k}" for k in range(1, 24))
MAX_SEED = 1_000_000


def lab(
    data: Any = None,
    target: str | None = None,
    *,
    columns: Sequence[str] = (),
    path: str | PathLike[str] | None = None,
    lesson: str | None = None,
    seed: int = 1,
    key: bool = False,
) -> str:
    """Return a page on which linear models learn step by step: one self-contained HTML file.

    Rows can be added, moved, flipped and removed, every parameter changed, and every step seen:
    its row, its score, the weights before and after. The built-in data sets are AND, OR, XOR, two
    clouds, two normals, a ring, the penguins and four phrases; a CSV file can be dropped on the
    page.

    Parameters
    ----------
    data : str, path, data frame, pyarrow.Table, dict of columns or list of dicts, optional
        Rows to show first. Default: the built-in data sets only.
    target : str, optional
        The column of classes. Of three or more, the first in sorted order is one class and all
        others are the other.
    columns : sequence of str, optional
        From 1 to 8 columns of numbers; default: the first two.
    path : str or path, optional
        A file to write the page to. An existing file is not overwritten.
    lesson : {"L1", "L2", ..., "L23"}, optional
        The lesson that the page starts with: questions to answer before a step is shown.
    seed : int, default 1
        The student's number, from which the numbers of the questions follow.
    key : bool, default False
        Whether the page has the answers, for a teacher.

    Returns
    -------
    str

    Examples
    --------
    >>> from separable.datasets import PENGUINS
    >>> from separable.lab import lab
    >>> columns = ["bill_length_mm", "flipper_length_mm"]
    >>> page = lab(PENGUINS, "sex", columns=columns)
    >>> len(page) < 300_000
    True
    """
    if path is not None and Path(path).exists():
        raise FileExistsError(f"{path} exists already. Name another file, or remove it.")
    if (data is None) != (target is None):
        raise ValueError("The lab needs both data and target, the column of classes, or neither.")
    if lesson is not None and lesson not in LESSONS:
        raise ValueError(f"There is no lesson {lesson!r}. Choose one from L1 to L23.")
    if not 0 <= seed <= MAX_SEED:
        raise ValueError(f"The seed must be from 0 to {MAX_SEED}. Got {seed}.")
    first = {} if target is None else {"file": from_table(data, target, columns)}
    page = _page(first | built_in(), {"lesson": lesson or "", "seed": seed, "key": key})
    if path is not None:
        write_atomically(Path(path), page.encode())
    return page


def lab_of_example(example: Example, title: str, settings: str) -> str:
    """Return a page that starts with rows and settings, as the address of a page holds them."""
    data = {"file": page_values(example, title)} | built_in()
    return _page(data, {"lesson": "", "seed": 1, "key": False, "settings": settings})


def _page(data: dict[str, Any], lesson: dict[str, Any]) -> str:
    script = joined_script()
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    parts = {
        "policy": _policy(script),
        "style": _asset("style.css"),
        "data": text.replace("<", "\\u003c"),
        "lesson": escape(json.dumps(lesson)),
        "script": script,
    }
    return re.sub("@(policy|style|data|lesson|script)@", lambda m: parts[m[1]], _asset("page.html"))


def joined_script() -> str:
    """Return the modules as one script: each is a function that returns its exports."""
    parts = "\n".join(_as_function(name) for name in MODULES)
    assert "</script" not in parts.lower()
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _as_function(name: str) -> str:
    text = _asset(f"{name}.mjs")
    exports = ", ".join(re.findall(r"^export (?:function\*?|const) ([\w$]+)", text, re.MULTILINE))
    text = re.sub(
        r'^import (\{[^}]*\}) from "\./(\w+)\.mjs";', r"const \1 = \2;", text, flags=re.MULTILINE
    )
    text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
    return f"const {name} = (() => {{\n{text}return {{ {exports} }};\n}})();\n"


def _policy(script: str) -> str:
    """Return a policy that allows this script, the styles of the page, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "connect-src 'none'; form-action 'none'; base-uri 'none'"
    )


def _asset(name: str) -> str:
    return (files("separable.lab") / "web" / name).read_text(encoding="utf-8")
