"""`separable demo`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest


@pytest.mark.parametrize("steps", ["quick", pytest.param("its own", marks=pytest.mark.long)])
def test_shows_each_command_and_leaves_nothing_behind(separable, tmp_path, request, steps):
    if steps == "quick":
        request.getfixturevalue("quick_demo")
    result = separable("demo")
    assert result.code == 0
    commands = [line for line in result.out.splitlines() if line.startswith("$ separable ")]
    named = [command.split()[2] for command in commands]
    assert named == ["train", "explain", "predict", "explain"]
    assert "held out" in result.out.lower()
    assert result.out.index("prediction,score_Adelie") > result.out.index("$ separable predict")
    assert re.search(r"five\.csv, data row 3: \w+ predicts Gentoo", result.out)
    assert list(tmp_path.iterdir()) == []
    assert Path.cwd() == tmp_path


@pytest.mark.usefixtures("quick_demo")
def test_json_is_one_object_a_line(separable):
    result = separable("demo", "--json", "-q")
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert (result.code, result.err) == (0, "")
    assert lines[0]["target"] == "species"
    assert [line["prediction"] for line in lines[2:7]].count("Adelie") == 2
    assert lines[-1]["rows"][0]["predicted"] == "Gentoo"
