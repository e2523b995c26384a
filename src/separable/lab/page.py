"""The page of the lab: its modules joined into one script, with data and a security policy."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separable.lab.data import built_in, from_table
from separable.model.files.atomic import write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

__all__ = ["joined_script", "lab"]

#: The modules in the order in which they are joined: each after those it imports.
NAMES = ("algebra", "optimum", "kernels", "exact", "csv", "python", "drawing", "charts", "app")
MODULES = tuple(f"{name}.mjs" for name in NAMES)


def lab(
    data: Any = None,
    target: str | None = None,
    *,
    columns: Sequence[str] = (),
    path: str | PathLike[str] | None = None,
) -> str:
    """Return a page on which linear models learn step by step: one self-contained HTML file.

    Rows can be added, moved, flipped and removed, every parameter changed, and every step seen:
    its row, its score, the weights before and after. The built-in data sets are AND, OR, XOR, two
    clouds, a ring, the penguins and four phrases; a CSV file can be dropped on the page.

    Parameters
    ----------
    data : str, path, data frame, pyarrow.Table, dict of columns or list of dicts, optional
        Rows to show first. Default: the built-in data sets only.
    target : str, optional
        The column of classes. Of three or more, the first in sorted order is one class and all
        others are the other.
    columns : sequence of str, optional
        From 2 to 8 columns of numbers; default: the first two.
    path : str or path, optional
        A file to write the page to. An existing file is not overwritten.

    Returns
    -------
    str

    Examples
    --------
    >>> from separable.datasets import PENGUINS
    >>> from separable.lab import lab
    >>> columns = ["bill_length_mm", "flipper_length_mm"]
    >>> page = lab(PENGUINS, "sex", columns=columns)
    >>> len(page) < 200_000
    True
    """
    if path is not None and Path(path).exists():
        raise FileExistsError(f"{path} exists already. Name another file, or remove it.")
    if (data is None) != (target is None):
        raise ValueError("The lab needs both data and target, the column of classes, or neither.")
    first = {} if target is None else {"file": from_table(data, target, columns)}
    page = _page(first | built_in())
    if path is not None:
        write_atomically(Path(path), page.encode())
    return page


def _page(data: dict[str, Any]) -> str:
    script = joined_script()
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    parts = {
        "policy": _policy(script),
        "style": _asset("style.css"),
        "data": text.replace("<", "\\u003c"),
        "script": script,
    }
    return re.sub("@(policy|style|data|script)@", lambda m: parts[m[1]], _asset("page.html"))


def joined_script() -> str:
    """Return the modules as one script, without imports and exports."""
    text = "\n".join(_asset(name) for name in MODULES)
    text = re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
    assert "</script" not in text.lower()
    return f'"use strict";\n(() => {{\n{text}}})();\n'


def _policy(script: str) -> str:
    """Return a policy that allows this script, the styles of the page, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "connect-src 'none'; form-action 'none'; base-uri 'none'"
    )


def _asset(name: str) -> str:
    return (files("separable.lab") / "web" / name).read_text(encoding="utf-8")
