"""Saving under bad luck: killed, on a full disk, into a folder that may not be written to."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from separable import LinearModel, load
from separable.model.files.atomic import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Kills processes that save models over each other; each model has weights that are all equal.
KILLER = """
import os, random, signal, sys, time
from pathlib import Path
import numpy as np
from separable import LinearModel, load

def save(number):
    weights = np.full((1, 20_000), float(number))
    LinearModel(weights, [number], [0, 1], "score").save(path)

def number_of(path):
    model = load(path)
    assert model.n_features == 20_000 and (model.weights == model.intercept[0]).all()
    return int(model.intercept[0])

path, times, rng = Path(sys.argv[1]), int(sys.argv[2]), random.Random(0)
save(0)
before, found, left = 0, set(), 0
for _ in range(times):
    child = os.fork()
    if child == 0:
        for number in range(before + 1, 1_000_000):
            save(number)
    time.sleep(rng.expovariate(1 / 0.015))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    now = number_of(path)
    assert now >= before
    found.add(now - before)
    before = now
    for other in set(path.parent.iterdir()) - {path}:  # between its name and its place: whole
        assert number_of(other) >= before
        other.unlink()
        left += 1
print(times, max(found) > 0, left)
"""


def kill_often(folder: Path, times: int) -> None:
    """Kill at random moments: the path holds the old model or the new one."""
    command = [sys.executable, "-c", KILLER, str(folder / "model"), str(times)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    killed, something_was_saved, left = done.stdout.split()
    assert int(killed) == times
    assert something_was_saved == "True"
    assert int(left) <= times / 10  # as good as none


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files have names from the start here")
def test_killed_at_random_moments(tmp_path: Path) -> None:
    kill_often(tmp_path, 40)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files have names from the start here")
def test_killed_at_a_thousand_moments(tmp_path: Path) -> None:
    kill_often(tmp_path, 1000)


LIMITED = """
import resource, sys
import numpy as np
from separable import LinearModel
model = LinearModel(np.ones((1, 20_000)), [0], [0, 1], "score")
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    model.save(sys.argv[1])
except OSError as error:
    print(error)
"""


def failed_save(code: str, path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("old", [b"", b"old"])
def test_a_file_that_may_not_grow(tmp_path: Path, old: bytes) -> None:
    if old:
        (tmp_path / "model").write_bytes(old)
    told = failed_save(LIMITED, tmp_path / "model")
    assert "cannot be written (File too large)" in told
    assert str(tmp_path / "model") in told
    assert [each.read_bytes() for each in tmp_path.iterdir()] == ([old] if old else [])


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Mount a disk of 64 kB, or skip where that is not allowed."""
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if mount is None or subprocess.run([mount, *options], capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk(tmp_path: Path) -> None:
    small, large = (LinearModel([[1.0] * n], [0], [0, 1], "score") for n in (10, 100_000))
    with small_disk(tmp_path):
        small.save(tmp_path / "model")
        with pytest.raises(OSError, match=r"cannot be written \(No space left on device\)") as full:
            large.save(tmp_path / "model")
        assert full.value.errno == errno.ENOSPC
        assert [each.name for each in tmp_path.iterdir()] == ["model"]
        assert load(tmp_path / "model").n_features == 10


READ_ONLY = """
import os, sys
from separable import LinearModel, load
import separable.model.files.model_file
model = LinearModel([[1.0]], [0], [0, 1], "score")
if os.geteuid() == 0:  # nothing is read-only to root
    os.setgid(65534)
    os.setuid(65534)
try:
    model.save(sys.argv[1])
except OSError as error:
    print(error)
"""


def test_a_read_only_folder() -> None:
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # that others can look into
    try:
        (folder / "model").write_bytes(b"old")
        folder.chmod(0o555)
        told = failed_save(READ_ONLY, folder / "model")
        assert "cannot be written (Permission denied)" in told
        assert str(folder / "model") in told
        assert [each.read_bytes() for each in folder.iterdir()] == [b"old"]
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def refuse(number: int) -> object:
    def refused(*args: object, **kwargs: object) -> None:
        raise OSError(number, os.strerror(number))

    return refused


def test_where_a_file_gets_no_name_afterwards_it_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", refuse(errno.EPERM))
    write_atomically(tmp_path / "file", [b"a" * 100_000, b"b"])
    assert (tmp_path / "file").read_bytes() == b"a" * 100_000 + b"b"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_where_there_are_no_files_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, tmpfile = os.open, getattr(os, "O_TMPFILE", 0)

    def without(path: Path, flags: int, *args: int) -> int:
        if tmpfile and flags & tmpfile == tmpfile:
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")
        return opened(path, flags, *args)

    monkeypatch.setattr(os, "open", without)
    write_atomically(tmp_path / "file", b"one")
    write_atomically(tmp_path / "file", [b"two", b"!"])
    assert (tmp_path / "file").read_bytes() == b"two!"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
