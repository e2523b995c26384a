"""A stream that is broken off goes on from its checkpoint to the same bytes."""

from __future__ import annotations

import io
import json
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from separable import load
from separable.workflow.stream import stream_learning
from separable.workflow.stream.stream_learning import Checkpoints
from tests.cli.processes import Child
from tests.cli.stream.streams import cut_small, table_text

ARGS = ["train", "a.csv", "--target", "kind", "--stream", "-q", "--json"]
KINDS = {
    "sgd": ["--drop", "amount"],
    "averaged": ["--drop", "amount", "--model", "averaged-perceptron", "--passes", "2"],
    "bits": ["--drop", "amount", "--bits", "8", "--set", "average=true"],
    "counts": ["--drop", "amount", "--drop", "size", "--model", "multinomial-nb"],
    "sums": ["--drop", "amount", "--drop", "note", "--model", "lda"],
    "numbers": ["--target", "amount", "--drop", "kind", "--drop", "note", "--passes", "3"],
    "unseen": ["--drop", "amount", "--drop", "note", "--encode-rows", "40"],
    "weights": ["--drop", "amount", "--weight", "w"],
}


class KilledError(ValueError):
    """Stands for the end of the process."""


def command(kind: str) -> list[str]:
    own = KINDS[kind]
    return [*(ARGS[:2] + ARGS[4:] if "--target" in own else ARGS), *own]


@pytest.mark.filterwarnings("ignore:The covariance within")
@pytest.mark.parametrize("kind", KINDS)
def test_broken_off_anywhere(kind, separable, monkeypatch):
    cut_small(monkeypatch, 1000 if kind == "sums" else 61)
    text = table_text(9000 if kind == "sums" else 120, classes=3, weights=True)
    Path("a.csv").write_bytes(text.replace(b"Lima", b"Rome", 30))
    args = command(kind)
    found = separable(*args, "-o", "whole")
    assert found.code == 0
    written = 0
    write = Checkpoints.at

    def killed_after(self, row):
        nonlocal written
        write(self, row)
        written += 1
        if written % 9 == 0 or kind == "sums":
            raise KilledError("killed")

    runs, resume = 0, []
    while not Path("parts").exists():
        runs += 1
        with monkeypatch.context() as patch:
            patch.setattr(Checkpoints, "at", killed_after)
            last = separable(*args, "-o", "parts", "--checkpoint", "c", "--every", 5, *resume)
            assert last.code == 0 or "killed" in last.err, last.err
            resume = ["--resume", "c"]
    assert runs > 2
    assert Path("parts").read_bytes() == Path("whole").read_bytes()
    assert {**json.loads(last.out), "model": "whole"} == json.loads(found.out)
    assert load("c").predict(load("c").encoder.encode({**_row("c")})).shape == (1,)


def _row(path: str) -> dict[str, list[object]]:
    return {name: [None] for name in load(path).encoder.column_types}


@pytest.fixture(scope="module")
def long_file(tmp_path_factory) -> Path:
    """A file that takes a second or so to learn from."""
    path: Path = tmp_path_factory.mktemp("long") / "a.csv"
    path.write_bytes(table_text(16_000, classes=3))
    return path


def start(folder: Path, data: Path, *args: str) -> Child:
    own = ["--stream", "--json", "--encode-rows", "500", "--passes", "3", *args]
    return Child(folder, "train", data, "--target", "kind", *own)


@pytest.fixture(scope="module")
def whole(long_file) -> bytes:
    """The model of a run that is not interrupted."""
    code, err = start(long_file.parent, long_file, "-o", "whole").wait()
    assert code == 0, err
    return (long_file.parent / "whole").read_bytes()


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 10))]
)
def test_killed_at_random_moments(seed, long_file, whole, tmp_path):
    draw, resume, kills = random.Random(seed), [], 0
    check = tmp_path / "c"
    for _ in range(30):
        child = start(
            tmp_path, long_file, "-o", "m", "--checkpoint", "c", "--every", "500", *resume
        )
        before = check.stat().st_mtime_ns if resume else 0
        while child.poll() is None and (
            not check.exists() or check.stat().st_mtime_ns == before
        ):  # it has got somewhere
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.4))
        if child.poll() is None and kills < (4 if seed else 2):
            child.send_signal(signal.SIGKILL)
            kills += 1
        code, err = child.wait()
        resume = ["--resume", "c"]
        if code == 0 and kills:
            break
        if code == 0:  # it was too quick for the kill: once more from the start
            check.unlink()
            (tmp_path / "m").unlink()
            resume = []
            continue
        assert code == -signal.SIGKILL, err
        if (tmp_path / "m").exists():  # killed between the last step and the end
            assert (tmp_path / "m").read_bytes() == whole
    assert kills
    assert (tmp_path / "m").read_bytes() == whole
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".tmp") == ["c", "m"]


def test_ctrl_c_writes_a_checkpoint(long_file, whole, tmp_path):
    child = start(tmp_path, long_file, "-o", "m", "--checkpoint", "c")
    while b"4096" not in child.stderr.readline():
        pass
    child.send_signal(signal.SIGINT)
    code, err = child.wait()
    assert code == 130
    assert b"--resume c" in err
    assert not (tmp_path / "m").exists()
    code, err = start(tmp_path, long_file, "-o", "m", "--resume", "c").wait()
    assert code == 0, err
    assert b"Continuing from c" in err
    assert (tmp_path / "m").read_bytes() == whole


@pytest.mark.parametrize("how", ["killed", "interrupted"])
def test_between_the_passes_over_a_short_file(how, separable, monkeypatch):
    Path("a.csv").write_bytes(table_text(60))
    args = [*command("sgd"), "--passes", "7"]
    assert separable(*args, "-o", "whole").code == 0
    run_pass = stream_learning.StreamLearner._run_pass

    def broken_off(self):
        if self.record.passes == 5:
            raise KilledError("killed") if how == "killed" else KeyboardInterrupt
        run_pass(self)

    with monkeypatch.context() as patch:
        patch.setattr(stream_learning.StreamLearner, "_run_pass", broken_off)
        every = ["--every", "120"] if how == "killed" else []
        assert separable(*args, "-o", "m", "--checkpoint", "c", *every).code != 0
    found = separable(*[each for each in args if each != "-q"], "-o", "m", "--resume", "c")
    done = 3 if how == "killed" else 5  # 58 rows a pass have a target: 120 are full after three
    assert f"Continuing from c: 0 rows of pass {done + 1} done." in found.err
    assert Path("m").read_bytes() == Path("whole").read_bytes()


def test_a_checkpoint_that_is_not_there(separable):
    Path("a.csv").write_bytes(table_text(30))
    found = separable(*command("sgd"), "--resume", "c")
    assert found.code == 1
    assert "c: checkpoint not found. Check the path of --resume." in found.err


def test_ctrl_c_before_a_row_was_learned_from(separable, monkeypatch):
    Path("a.csv").write_bytes(table_text(300))

    def broken_off(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(stream_learning.StreamLearner, "_run_pass", broken_off)
    args = [each for each in command("sgd") if each != "-q"]
    found = separable(*args, "-o", "m", "--checkpoint", "c")
    assert found.code == 130
    assert "nothing was saved, because too little was learned" in found.err


def test_ctrl_c_without_a_checkpoint(long_file, tmp_path):
    child = start(tmp_path, long_file, "-o", "m")
    while b"64" not in child.stderr.readline():
        pass
    child.send_signal(signal.SIGINT)
    code, err = child.wait()
    assert code == 130
    assert b"nothing was saved" in err
    assert not list(tmp_path.iterdir())


def test_standard_input_that_is_given_again(separable, monkeypatch):
    text = table_text(100)
    Path("a.csv").write_bytes(text)
    assert separable(*ARGS, "-o", "whole").code == 0
    args = ["train", "-", *ARGS[2:], "-o", "m"]
    calls = 0
    write = Checkpoints.at

    def killed(self, row):
        nonlocal calls
        write(self, row)
        calls += 1
        if calls == 40:
            raise KilledError("killed")

    monkeypatch.setattr(Checkpoints, "at", killed)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    found = separable(*args, "--checkpoint", "c", "--every", 1)
    assert "killed" in found.err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert separable(*args, "--resume", "c", "--checkpoint", "d").code == 0
    assert np.array_equal(load("m").weights, load("whole").weights)


def checkpoint(separable, monkeypatch) -> None:
    """Make a checkpoint of half a file."""
    Path("a.csv").write_bytes(table_text(200))

    def killed(self, row):
        self.write()
        raise KilledError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "at", killed)
        assert "killed" in separable(*ARGS, "--checkpoint", "c").err


def test_changed_data_is_refused(separable, monkeypatch):
    checkpoint(separable, monkeypatch)
    text = Path("a.csv").read_bytes()
    Path("a.csv").write_bytes(text + b"1.0,Rome,x,a,1\n")
    found = separable(*ARGS, "--resume", "c")
    told = f"a.csv has {len(text) + 15} bytes, but had {len(text)} when c was made"
    assert (found.code, told in found.err) == (1, True), found.err
    Path("a.csv").write_bytes(text.replace(b"size", b"sise"))
    found = separable(*ARGS, "--resume", "c")
    assert (found.code, "a.csv does not begin as it did" in found.err) == (1, True)
    assert "separable update c a.csv" in found.err
    Path("folder").mkdir()
    Path("folder/1.csv").write_bytes(text)
    Path("folder/2.csv").write_bytes(text)
    found = separable("train", "folder", *ARGS[2:], "--resume", "c")
    assert (found.code, "2 files now, but c was made with 1" in found.err) == (1, True)
    assert not Path("a.safetensors").exists()


def test_other_options_are_refused(separable, monkeypatch):
    checkpoint(separable, monkeypatch)
    found = separable(*ARGS, "--resume", "c", "--drop", "city")
    assert found.code == 2
    assert "--drop is ['city'] now, but was not given when c was made" in found.err
    found = separable(*ARGS, "--resume", "c", "--passes", 2)
    assert (found.code, "--passes is 2 now, but was 1" in found.err) == (2, True)


def test_what_is_no_checkpoint(separable, monkeypatch):
    checkpoint(separable, monkeypatch)
    assert separable(*ARGS).code == 0
    found = separable(*ARGS, "--resume", "a.safetensors", "-o", "b")
    assert (found.code, "this is a model, not a checkpoint" in found.err) == (1, True)


def test_when_checkpoints_are_due(monkeypatch):
    now, written = 0.0, []
    monkeypatch.setattr(stream_learning.time, "monotonic", lambda: now)
    by_rows = Checkpoints(lambda: written.append("rows"), stream_learning_every(rows=10))
    for row in (6, 12, 18, 24, 30, 36):
        by_rows.at(row)
    assert written == ["rows", "rows", "rows"]
    by_time = Checkpoints(lambda: written.append("time"), stream_learning_every(seconds=60.0))
    for seconds in (10.0, 59.0, 60.0, 61.0, 119.0, 121.0):
        now = seconds
        by_time.at(1)
    assert written[3:] == ["time", "time"]


def stream_learning_every(**given):
    from separable.cli.options.training_options import Every

    return Every(**given)


def test_a_full_pass_of_the_oracle_is_not_changed_by_checkpoints(separable):
    Path("a.csv").write_bytes(table_text(100))
    assert separable(*ARGS, "-o", "m1").code == 0
    assert separable(*ARGS, "-o", "m2", "--checkpoint", "c", "--every", 1).code == 0
    assert Path("m1").read_bytes() == Path("m2").read_bytes()
    assert np.array_equal(load("c").classes, load("m1").classes)
