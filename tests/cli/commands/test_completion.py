"""`separable completion`, and what the shell is told when it asks."""

from __future__ import annotations

import shutil
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from separable.cli.app import COMMANDS
from separable.datasets import PENGUINS
from separable.workflow.learners import LEARNERS


@pytest.fixture
def completions(separable, monkeypatch, capsys):
    """Return what bash is told for a command line whose last word is still to be completed."""

    def completions(*words: object) -> list[str]:
        monkeypatch.setenv("_SEPARABLE_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", " ".join(["separable", *map(str, words)]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        result = separable()
        assert (result.code, result.err) == (0, "")
        return list(filter(None, result.out.splitlines()))

    return completions


def test_commands(completions):
    assert completions("") == [f"plain,{name}" for name in COMMANDS]
    assert completions("insp") == ["plain,inspect"]


def test_options_and_learners(completions):
    assert "plain,--target" in completions("train", "--ta")
    names = [f"plain,{name}" for name in LEARNERS if name.startswith("linear-s")]
    assert completions("train", PENGUINS, "--model", "linear-s") == names


def test_metrics(completions):
    assert completions("train", PENGUINS, "--metric", "ro") == ["plain,roc_auc"]
    assert completions("evaluate", "m", PENGUINS, "--fail-under", "acc") == ["plain,accuracy="]


def test_files_are_left_to_the_shell(completions):
    assert completions("predict", "pen") == ["file,pen"]
    assert completions("train", PENGUINS, "-o", "pen") == ["file,pen"]


def test_columns_of_the_file_before(completions):
    columns = ["plain,bill_length_mm", "plain,bill_depth_mm"]
    assert completions("train", PENGUINS, "--target", "bill") == columns
    line = ("train", PENGUINS, "--target", "species", "--drop", "ye")
    assert completions(*line) == ["plain,year"]


def test_columns_of_other_formats(completions, tmp_path):
    pq.write_table(pa.table({"price": [1.0], "town": ["x"]}), tmp_path / "t.parquet")
    assert completions("train", "t.parquet", "--target", "p") == ["plain,price"]
    (tmp_path / "t.jsonl").write_text('{"price": 1, "town": "x"}\n')
    assert completions("train", "t.jsonl", "--target", "") == ["plain,price", "plain,town"]


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe\xff", b"PAR1"])
def test_a_file_that_cannot_be_read_completes_nothing(completions, tmp_path, content):
    if content is not None:
        (tmp_path / "bad.csv").write_bytes(content)
    assert completions("train", "bad.csv", "--target", "x") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(separable, shell, tmp_path):
    result = separable("completion", shell)
    assert (result.code, result.err) == (0, "")
    assert f"_SEPARABLE_COMPLETE={shell}_complete" in result.out
    program = shutil.which(shell)
    if program is not None:
        (tmp_path / "script").write_text(result.out)
        subprocess.run([program, "-n", "script"], check=True)


def test_another_shell(separable):
    result = separable("completion", "tcsh")
    assert result.code == 2
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in result.err
