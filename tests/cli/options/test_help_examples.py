"""The lines of the documentation and of the help can be typed; each command has its section."""

from __future__ import annotations

import re
import shlex
from itertools import takewhile
from pathlib import Path

import click
import pytest

from separable.cli.app import COMMANDS, app
from separable.cli.options.command import Command

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/reference/command_line.md").read_text()
BLOCK = re.compile(r"^```(?:sh|console)?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: What stands before the name of a command.
CALLED = re.compile(r"(?:^|\| |\$\()separable ")


def command(name: str) -> Command:
    found = app.get_command(click.Context(app), name)
    assert isinstance(found, Command), name
    return found


def typed() -> list[str]:
    """Return the lines with a command, of the pages and of the help."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    blocks = [block for page in pages for block in BLOCK.findall(page.read_text())]
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    lines += [line for name in COMMANDS for line in command(name).examples]
    return sorted({line for line in lines if CALLED.search(line)})


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_section_with_text(name):
    _, _, section = PAGE.partition(f"\n## {name}\n")
    assert len(section.partition("\n## ")[0].strip()) > 40
    assert f"(#{name})" in PAGE


@pytest.mark.parametrize("line", typed())
def test_lines_can_be_typed(line):
    words = shlex.shlex(CALLED.split(line)[1], posix=True, punctuation_chars="|<>()")
    words.whitespace_split = True
    name, *args = takewhile(lambda word: word[0] not in "|<>()", words)
    group = app.make_context("separable", [name], resilient_parsing=True)  # it says what help is
    command(name).make_context(name, args, parent=group)  # refuses unknown options and values
