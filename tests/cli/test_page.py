"""`docs/command_line.md` has a section for each command, and its lines can be typed."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from separable.cli.app import COMMANDS, app

PAGE = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text()
LINES = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_section_with_text(name):
    _, _, section = PAGE.partition(f"\n## {name}\n")
    assert len(section.partition("\n## ")[0].strip()) > 40
    assert f"(#{name})" in PAGE


@pytest.mark.parametrize("line", LINES)
def test_lines_have_known_commands_and_options(line):
    found = re.search(r"separable (\w+)([^|>)]*)", line)
    assert found is not None
    command = app.get_command(click.Context(app), found[1])
    assert command is not None
    known = {option for param in command.params for option in param.opts}
    assert set(re.findall(r"(?<!\S)-[\w-]+", found[2])) <= known
