"""What a page carries with it: scripts, style, data, and the policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = [
    "asset",
    "chart_library",
    "content_security_policy",
    "json_text",
    "packed",
    "packed_library",
]


def asset(name: str) -> str:
    """Return a file that is part of this package."""
    return (files("separable.report") / "templates" / name).read_text(encoding="utf-8")


@cache
def chart_library() -> str:
    """Return the script that draws charts: Vega, Vega-Lite and their embedding, with no names left.

    It is made anew in each process, which takes seconds, and is the same each time.
    """
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return f"(() => {{{bundle}}})();"


@cache
def packed_library() -> str:
    """Return the same, packed."""
    return packed(chart_library())


def packed(text: str) -> str:
    """Return text small, in letters that can stand anywhere: ``page.js`` unpacks it."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def json_text(value: Any) -> str:
    """Return JSON that can stand in a script element: nothing in it can end that."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def content_security_policy(scripts: list[str]) -> str:
    """Return a policy that runs these scripts, styles of the page, and nothing else.

    Parameters
    ----------
    scripts : list of str
        The text of each script, unpacked.
    """
    allowed = " ".join(f"'sha256-{_hash(script)}'" for script in scripts) or "'none'"
    rules = {
        "default-src": "'none'",
        "script-src": allowed,
        "style-src": "'unsafe-inline'",
        "connect-src": "'none'",
        "form-action": "'none'",
        "base-uri": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
