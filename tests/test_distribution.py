"""The distribution is separable-ml: on package indexes ``separable`` is another project."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import separable

ROOT = Path(__file__).parents[1]
#: pip install, uv add, conda install, ... followed by the rest of the line and the next.
INSTALLS = re.compile(
    r"\b(?:pip[x3]?|uv(?: pip| tool)?|conda|mamba|poetry|pdm)\s+(?:install|add|inject)\b(.*\n?.*)"
)
#: A requirement of the name ``separable``, with or without extras or a version.
REQUIREMENT = re.compile(r"(?<![\w.\-/])separable(?![\w\-/]|\.\w)")


def bad_installs(text: str) -> list[str]:
    """Return the lines that install ``separable`` from an index."""
    return [found for found in INSTALLS.findall(text) if REQUIREMENT.search(found.split("#")[0])]


def texts() -> list[Path]:
    kinds = {".py", ".md", ".toml", ".html", ".js", ".yaml", ".yml", ".hpp", ".cpp", ".txt", ""}
    places = [ROOT / name for name in ("src", "docs", "examples", "benchmarks", "cpp", ".ci")]
    files = [path for place in places for path in place.rglob("*") if path.suffix in kinds]
    files += [path for path in ROOT.glob("*") if path.suffix in kinds]
    return [path for path in files if path.is_file()]


@pytest.mark.parametrize(
    "text",
    [
        "pip install separable",
        "pip install 'separable[report]'",
        'Run "pip install -U separable>=0.1"',
        "uv add separable",
        "`pip install\n  'separable[report]'`",
    ],
)
def test_a_line_that_installs_the_other_project_is_found(text):
    assert bad_installs(text)


@pytest.mark.parametrize(
    "text",
    [
        "pip install separable-ml",
        "pip install 'separable-ml[report]'",
        "pip install jinja2 altair",
        "pip install --no-build-isolation -e .",
        "pip install matplotlib; from separable.plot import RocDisplay",
    ],
)
def test_other_lines_are_not(text):
    assert not bad_installs(text)


def test_no_text_tells_anybody_to_install_the_other_project():
    found = {
        str(path.relative_to(ROOT)): lines
        for path in texts()
        if (lines := bad_installs(path.read_text(encoding="utf-8", errors="replace")))
    }
    assert len(texts()) > 500
    assert not found


def test_the_distribution_has_the_name_that_is_ours():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "separable-ml"
    assert set(project["scripts"]) == {"separable"}


def test_the_citation_has_the_version_of_the_package():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {separable.__version__}\n" in citation
