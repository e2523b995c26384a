"""The group: help, versions, exit codes, and what is imported when."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import click
import pytest

import separable as package
from separable.cli import app as module
from separable.cli.app import COMMANDS, app
from separable.cli.options.options import talk_options
from separable.datasets import PENGUINS


def test_help_lists_every_command_and_starts_with_examples(separable):
    result = separable("--help")
    assert result.code == 0
    assert result.out.index("separable demo") < result.out.index("Options:")
    for name in COMMANDS:
        assert f"\n  {name}" in result.out.partition("Commands:")[2]


def test_version(separable):
    assert separable("--version").out == f"separable, version {package.__version__}\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["trian"], "No such command 'trian'"),
        (["train"], "Missing argument 'DATA'"),
        (["train", "x.csv"], "Missing option '--target'"),
        (["train", "x.csv", "--target", "y", "--model", "magic"], "'magic' is not one of"),
        (["train", "x.csv", "--target", "y", "--test-size", "1"], "range"),
        (["explain", "m", "x.csv", "--row", "0"], "range"),
        (["predict", "m"], "Missing argument 'DATA'"),
    ],
)
def test_wrong_usage_is_exit_code_2(separable, args, message):
    result = separable(*args)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ValueError("no\n good"), 1, "Error: no good\n"),
        (PermissionError(13, "Permission denied", "x.csv"), 1, "Error: x.csv: Permission denied\n"),
        (OSError("disk gone"), 1, "Error: disk gone\n"),
        (ImportError("no core"), 1, "Error: no core\n"),
        (MemoryError(), 1, "Error: MemoryError\n"),
        (KeyboardInterrupt(), 130, ""),
        (BrokenPipeError(32, "Broken pipe"), 0, ""),
    ],
)
def test_every_expected_error_is_one_line(separable, monkeypatch, error, code, line):
    def fail() -> None:
        raise error

    monkeypatch.setattr(module, "close_output", lambda: None)
    monkeypatch.setattr(app, "get_command", lambda ctx, name: click.Command("x", callback=fail))
    result = separable("x")
    assert (result.code, result.out, result.err.strip()) == (code, "", line.strip())


@pytest.fixture
def broken_command(monkeypatch):
    """A command `x` with an error that nobody has thought of."""

    @click.command()
    @talk_options
    def x() -> None:
        raise RuntimeError("no\n such thing.")

    monkeypatch.setattr(app, "get_command", lambda ctx, name: x)


def test_a_bug_is_told_as_one(separable, broken_command):
    result = separable("x")
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        "Error: this is a bug in separable (RuntimeError: no such thing). Run the command again "
        "with --debug.\n"
    )


def test_debug_shows_where_an_error_was_raised(separable, broken_command):
    result = separable("x", "--debug")
    assert result.code == 1
    assert result.err.startswith("Traceback (most recent call last):\n")
    assert 'raise RuntimeError("no' in result.err
    assert result.err.endswith("Please report it with the traceback above.\n")


def test_a_closed_pipe_ends_quietly(penguins_model):
    command = [sys.executable, "-m", "separable.cli", "predict", str(penguins_model), str(PENGUINS)]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False, text=True)
    os.close(write)
    assert done.returncode == 0
    assert all(line.startswith("Note: ") for line in done.stderr.splitlines())


def test_ctrl_c_ends_quietly(penguins_model):
    # the signal comes while the command waits for its standard input
    script = (
        "import sys, runpy, threading, signal, os\n"
        "class Slow:\n"
        "    class buffer:\n"
        "        @staticmethod\n"
        "        def read(size=-1):\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "            threading.Event().wait(60)\n"
        "        read1 = read\n"
        "sys.stdin = Slow\n"
        "runpy.run_module('separable.cli', run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "predict", str(penguins_model), "-"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 128 + signal.SIGINT
    assert (done.stdout, done.stderr.strip()) == ("", "")


def test_the_process_ends_whatever_its_threads_do():
    """One that is about to let go of a Python object must not find the interpreter gone."""
    code = """
import threading, time
from separable import cli
from separable.cli import app

def run(args):
    threading.Thread(target=time.sleep, args=(600,)).start()
    print("told")
    return 3

app.run = run
cli.main([])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (3, "told\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_two_screens_and_names_every_option(separable, command):
    text = separable(command, "--help").out
    assert len(text.splitlines()) <= 80
    made = app.get_command(click.Context(app), command)
    for param in made.params:
        if isinstance(param, click.Option) and not param.hidden:
            assert max(param.opts, key=len) in text


def test_help_of_all_options(separable):
    brief, text = separable("train", "--help").out, separable("train", "--help-all").out
    assert "--missing" in brief
    assert "Text that means a missing value" not in brief
    assert "Text that means a missing value" in text
    assert len(text) > len(brief) + 1000
