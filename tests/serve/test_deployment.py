"""The deployment files of the guide, as far as they can be tried here."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from separable.cli.app import run

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "serve.md"


def block(language):
    (text,) = re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    return text


@pytest.mark.slow
def test_systemd_accepts_the_unit(tmp_path):
    verifier = shutil.which("systemd-analyze")
    if verifier is None:
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / "separable.service"
    unit.write_text(block("ini").replace("/opt/separable/bin/separable", sys.executable))
    done = subprocess.run([verifier, "verify", str(unit)], capture_output=True, text=True)
    found = [line for line in done.stderr.splitlines() if "separable.service" in line]
    assert (done.returncode, found) == (0, [])


def test_the_commands_of_unit_and_container_exist(tmp_path, model_file, capsys):
    """Their options are accepted by the command, which loads a model of the folder and ends."""
    (tmp_path / "penguins").mkdir()
    shutil.copy(model_file, tmp_path / "penguins" / "1.safetensors")
    (tmp_path / "tokens").write_text("a-token-of-many-letters\n")
    (line,) = re.findall("ExecStart=(.*)", block("ini"))
    unit = line.replace("%d/", f"{tmp_path}/").replace("/srv/models", str(tmp_path)).split()
    (line,) = re.findall(r"^CMD \[(.*)\]", block("dockerfile"), re.MULTILINE)
    container = [word.strip(' "') for word in line.split(",")]
    places = {"/models": str(tmp_path), "/run/secrets/tokens": str(tmp_path / "tokens")}
    for command in (unit, [places.get(word, word) for word in container]):
        assert run([*command[1:], "--check"]) == 0
        assert "Can serve penguins 1" in capsys.readouterr().err
