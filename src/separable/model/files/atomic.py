"""Atomic file writes."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["check_writable", "write_atomically"]

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
#: Linux's list of the open files of a process.
_DESCRIPTORS = Path("/proc/self/fd")
#: Errors of file systems without anonymous files.
_NO_NAMELESS = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOSYS}


def write_atomically(
    path: str | os.PathLike[str], data: bytes | Iterable[bytes | memoryview]
) -> None:
    """Write ``data`` to ``path`` atomically: a crash leaves the old file or the new one.

    The bytes go to a new file in the same folder, which is synced and then replaces the old one;
    then the folder is synced. On failure, even while producing the data, the new file is removed
    and the old one is unchanged. If the system supports it, the new file is anonymous until
    complete, so that a killed process leaves nothing behind; otherwise it may leave a file ``.<16
    digits>.tmp``. Links are followed, and the permissions of a replaced file are kept.

    Parameters
    ----------
    path : str or path
    data : bytes or iterable of bytes or memoryview
        Whole, or in parts.
    """
    target = Path(os.path.realpath(path))
    mode = _check_target(target)
    with _new_file_beside(target) as new:
        new.file.writelines([data] if isinstance(data, bytes) else data)
        new.sync()
        new.give_name()
        if mode is not None:
            new.path.chmod(mode)
        new.path.replace(target)
    _sync_folder(target.parent)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise early what `write_atomically` would raise: a file is created there and removed.

    Parameters
    ----------
    path : str or path
    """
    target = Path(os.path.realpath(path))
    _check_target(target)
    with _new_file_beside(target):
        pass


@dataclass
class _NewFile:
    """A file that is being written; ``path`` is its name, once it has one."""

    path: Path
    file: BinaryIO
    is_named: bool

    def sync(self) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())

    def give_name(self) -> None:
        if self.is_named:
            self.file.close()
            return
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:  # with a folder descriptor, Python follows the link in /proc to the file
            os.link(_DESCRIPTORS / str(self.file.fileno()), self.path, src_dir_fd=folder)
        except OSError:
            self._copy()
        finally:
            os.close(folder)
        self.file.close()

    def _copy(self) -> None:
        """Write a named copy if the system cannot link an anonymous file."""
        with os.fdopen(os.open(self.path, _CREATE, 0o666), "wb") as named:
            self.file.seek(0)
            shutil.copyfileobj(self.file, named)
            named.flush()
            os.fsync(named.fileno())


@contextmanager
def _new_file_beside(target: Path) -> Iterator[_NewFile]:
    """Yield a new file, removed at the end unless renamed; errors name the target."""
    path = target.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        handle, is_named = _open_new(path)
        try:
            with os.fdopen(handle, "wb" if is_named else "w+b") as file:
                yield _NewFile(path, file, is_named)
        finally:  # also on Ctrl-C: no partial file remains
            path.unlink(missing_ok=True)
    except OSError as error:
        if error.errno is None:
            raise
        what = f"cannot be written ({error.strerror})"
        raise OSError(error.errno, what, str(target)) from error


def _open_new(path: Path) -> tuple[int, bool]:
    """Return a new open file in the folder of ``path``, and whether it is named."""
    if hasattr(os, "O_TMPFILE") and _DESCRIPTORS.exists():
        try:
            return os.open(path.parent, os.O_TMPFILE | os.O_RDWR, 0o666), False
        except OSError as error:
            if error.errno not in _NO_NAMELESS:
                raise
    return os.open(path, _CREATE, 0o666), True


def _check_target(target: Path) -> int | None:
    """Return the permissions of an existing file, or None."""
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"Cannot write {str(target)!r}: the folder {str(target.parent)!r} does not exist. "
            "Create it first."
        )
    if not target.exists():
        return None
    mode = target.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"Cannot write {str(target)!r}: it is a folder. Add a file name.")
    if not stat.S_ISREG(mode):
        raise OSError(f"Cannot write {str(target)!r}: it is not a regular file. Use another path.")
    return stat.S_IMODE(mode)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # on other systems folders cannot be synced
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
