"""The README: its Python and shell blocks run as they stand, and it stays short."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from separable.cli.app import run
from separable.datasets import PENGUINS

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def test_it_is_short():
    assert len(TEXT.splitlines()) <= 120


def test_python_example_runs(tmp_path, monkeypatch, capsys):
    (example,) = blocks("python")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, str(README), "exec"), {"__name__": "readme"})
    printed = capsys.readouterr().out
    summary, predicted, explanation = printed.partition("['Adelie' 'Adelie' 'Adelie']\n")
    assert "344 rows, 8 columns" in summary
    assert "Columns that matter most" in summary
    assert predicted
    assert "LogisticRegression predicts Adelie: score +" in explanation
    assert [path.name for path in tmp_path.iterdir()] == ["penguins.safetensors"]


def test_shell_examples_run(tmp_path, monkeypatch, capsys):
    lines = [line for line in blocks("sh")[-1].splitlines() if line.startswith("separable ")]
    assert len(lines) == 13
    monkeypatch.chdir(tmp_path)
    for name in ("penguins.csv", "new.csv", "test.csv"):
        shutil.copy(PENGUINS, name)
    clicks = "".join(f"{k % 7},{k % 5},{'yes' if k % 7 > k % 5 else 'no'}\n" for k in range(400))
    for name in ("clicks.csv", "today.csv"):
        Path(name).write_text("seen,liked,click\n" + clicks)
    for line in lines:
        words = shlex.split(line, comments=True)[1:]
        words += ["--check"] if words[0] == "serve" else []  # which would not end
        assert run(words) == 0, line + capsys.readouterr().err


@pytest.mark.parametrize("target", ["demo", "test"])
def test_it_names_the_make_targets(target):
    assert f"make {target} " in blocks("sh")[1]
