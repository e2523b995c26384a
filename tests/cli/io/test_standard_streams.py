"""Standard streams: colour, closed pipes, full disks, Ctrl-C."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from separable.cli.app import run
from separable.cli.io.output import colour, warnings_in_one_line
from separable.datasets import PENGUINS

PROGRAM = [sys.executable, "-m", "separable.cli"]


@pytest.mark.parametrize(
    ("no_color", "force_color", "wanted"),
    [(None, None, None), ("", "", None), ("1", None, False), ("0", "1", False), (None, "1", True)],
)
def test_colour(monkeypatch, no_color, force_color, wanted):
    for name, value in {"NO_COLOR": no_color, "FORCE_COLOR": force_color}.items():
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert colour() is wanted


def test_colour_of_a_command(separable, monkeypatch, penguins_model):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in separable("explain", penguins_model).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in separable("explain", penguins_model).out


def test_warnings_of_python_are_one_line(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with warnings_in_one_line():
            warnings.warn("two\n  lines", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "Warning: two lines\n"


@pytest.fixture(scope="module")
def many_rows(tmp_path_factory) -> Path:
    """More predictions than a pipe holds."""
    header, *rows = PENGUINS.read_text().splitlines(keepends=True)
    path: Path = tmp_path_factory.mktemp("many") / "many.csv"
    path.write_text(header + "".join(rows) * 20)
    return path


@pytest.mark.parametrize("both", [False, True])
def test_a_reader_that_has_seen_enough(penguins_model, many_rows, both):
    command = [*PROGRAM, "predict", penguins_model, many_rows, "-q"]
    errors = subprocess.STDOUT if both else subprocess.PIPE
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
    assert running.stdout is not None
    assert running.stdout.readline().startswith(b"prediction,")
    running.stdout.close()
    if running.stderr is not None:
        assert running.stderr.read() == b""
        running.stderr.close()
    assert running.wait(60) == 0


def test_nobody_reads_help():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*PROGRAM, "--help"], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("command", ["--help", "predict"])
def test_a_full_disk(penguins_model, command):
    args = [command] if command == "--help" else [command, penguins_model, PENGUINS, "-q"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*PROGRAM, *args], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (1, "Error: No space left on device\n")


@pytest.mark.skipif(os.name != "posix", reason="streams are closed in a shell")
@pytest.mark.parametrize(
    ("closing", "code", "told"),
    [(">&-", 1, "Error: Standard output is closed. Open it, or name a file with -o.\n"),
     ("2>&-", 0, "")],
)  # fmt: skip
def test_streams_that_are_closed(penguins_model, closing, code, told):
    line = f'exec "$@" {closing}'
    command = ["sh", "-c", line, "sh", *PROGRAM, "predict", penguins_model, PENGUINS, "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, told)
    assert done.stdout.count("\n") == (345 if code == 0 else 0)


SAYS_WHEN_IT_FITS = """
import sys
from separable import Perceptron
from separable.cli import main

def fit(*args, fit=Perceptron.fit, **kwargs):
    print("fits", file=sys.stderr, flush=True)
    return fit(*args, **kwargs)

Perceptron.fit = fit
main()
"""


def test_ctrl_c_in_native_code(tmp_path):
    """A fit that would take minutes ends at once and leaves no file behind."""
    table = tmp_path / "xor.csv"
    rows = [f"{i % 2},{i // 2 % 2},{'ab'[(i + i // 2) % 2]}\n" for i in range(4000)]
    table.write_text("x,z,y\n" + "".join(rows))
    output = tmp_path / "m.safetensors"
    command = [sys.executable, "-c", SAYS_WHEN_IT_FITS, "train", table, "--target", "y"]
    command += ["--model", "perceptron", "--set", "max_iter=100000000", "-o", output]
    running = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert running.stderr is not None
    assert running.stderr.readline() == b"fits\n"
    with pytest.raises(subprocess.TimeoutExpired):
        running.wait(0.5)  # it is still at it
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["xor.csv"]


HOSTILE = "a\x1b[2J\x1b]0;x\x07\x9b1m\u202e"


@pytest.fixture(scope="module")
def hostile_model(tmp_path_factory) -> Path:
    """A model whose labels are control sequences, and its rows, of JSON lines."""
    folder: Path = tmp_path_factory.mktemp("hostile")
    rows = ({"x": i % 2 + i / 100, "y": HOSTILE if i % 2 else "b"} for i in range(40))
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        assert run(["train", "rows.jsonl", "--target", "y", "--model", "lda", "-o", "m.st"]) == 0
    return folder


@pytest.mark.parametrize("flags", [[], ["--json"], ["--keep", "y"], ["--explain", "1"]])
def test_control_sequences_do_not_reach_a_terminal(separable, hostile_model, flags):
    args = ["predict", hostile_model / "m.st", hostile_model / "rows.jsonl", *flags]
    command = [*PROGRAM, *args]
    exact = separable(*args).out
    assert HOSTILE in exact or "\\u001b" in exact
    ours, theirs = os.openpty()
    with subprocess.Popen(command, cwd=hostile_model, stdout=theirs) as running:
        os.close(theirs)
        seen = b""
        while True:
            try:
                piece = os.read(ours, 1 << 16)
            except OSError:  # the other end was closed
                break
            if not piece:
                break
            seen += piece
    os.close(ours)
    assert running.returncode == 0
    text = seen.decode().replace("\r\n", "\n")
    assert not [char for char in text if not char.isprintable() and char not in "\n\t"]
    assert text.count("\n") == exact.count("\n")
    assert "[2J" in text


def test_control_sequences_in_messages(separable):
    result = separable("check", "\x1b[2J.csv")
    assert result.code == 1
    assert "\x1b" not in result.err
    assert "\\x1b[2J.csv" in result.err
