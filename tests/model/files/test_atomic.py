from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from separable.model.files.atomic import check_writable, write_atomically
from separable.model.linear_model import LinearModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def test_writes_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"one")
    write_atomically(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_parts_come_one_after_the_other_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, (bytes([part]) * 3 for part in b"abc"))
    assert path.read_bytes() == b"aaabbbccc"

    def parts() -> Iterator[bytes]:
        yield b"new"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        write_atomically(path, parts())
    assert path.read_bytes() == b"aaabbbccc"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*args: object) -> None:
        raise error

    monkeypatch.setattr(os, step, fail)
    monkeypatch.setattr(Path, step, fail, raising=False)
    with pytest.raises(type(error)):
        write_atomically(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_bytes_are_synced_before_the_rename_and_the_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    sync, path = os.fsync, tmp_path / "file"

    def watched(handle: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        seen.append(f"{'folder' if is_folder else 'file'}, renamed={path.exists()}")
        if not is_folder:
            assert os.fstat(handle).st_size == 5  # flushed from Python's buffer
        sync(handle)

    monkeypatch.setattr(os, "fsync", watched)
    write_atomically(path, b"bytes")
    assert seen == ["file, renamed=False", "folder, renamed=True"]


def test_permissions_follow_the_umask_or_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    old = os.umask(0o027)
    try:
        write_atomically(path, b"one")
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    write_atomically(path, b"two")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "file")
    write_atomically(tmp_path / "link", b"data")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "deep" / "file").read_bytes() == b"data"


def test_bad_paths_are_told(tmp_path: Path) -> None:
    model = LinearModel([[1]], [0], [0, 1], "score")
    with pytest.raises(FileNotFoundError, match=r"the folder .*missing' does not exist. Create it"):
        model.save(tmp_path / "missing" / "model")
    with pytest.raises(IsADirectoryError, match=r"it is a folder. Add a file name"):
        model.save(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        model.save(tmp_path / "pipe")


@pytest.mark.parametrize("write", [check_writable, lambda path: write_atomically(path, b"data")])
def test_errors_name_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], None]
) -> None:
    def refuse(path: Path, *args: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError, match=r"cannot be written \(Permission denied\)") as caught:
        write(tmp_path / "file")
    assert caught.value.filename == str(tmp_path / "file")
    assert ".tmp" not in str(caught.value)


def test_a_full_disk_names_the_target_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"cannot be written \(No space left on device\): '.*file'"):
        write_atomically(tmp_path / "file", b"data")
    assert list(tmp_path.iterdir()) == []


def test_a_check_leaves_nothing_behind_and_nothing_changed(tmp_path: Path) -> None:
    check_writable(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "old").write_bytes(b"old")
    check_writable(tmp_path / "old")
    assert [each.name for each in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_bytes() == b"old"
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        check_writable(tmp_path)
