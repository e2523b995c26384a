"""Writing a file wholly or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["check_writable", "write_atomically"]


def write_atomically(
    path: str | os.PathLike[str], data: bytes | Iterable[bytes | memoryview]
) -> None:
    """Put ``data`` at ``path``, so that a crash at any moment leaves the old file or the new one.

    The bytes go to a temporary file in the same folder, which is synced and renamed; then the
    folder is synced. On failure, be it to make the next part of the data, the temporary file is
    removed and the old file is untouched. A link is followed, and the permissions of a file that
    is replaced are kept.

    Parameters
    ----------
    path : str or path
    data : bytes or iterable of bytes or memoryview
        All of it, or one part after the other.
    """
    target = Path(os.path.realpath(path))
    mode = _check_target(target)
    with _temporary_beside(target) as (temporary, file):
        file.writelines([data] if isinstance(data, bytes) else data)
        file.flush()
        os.fsync(file.fileno())
        file.close()
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    _sync_folder(target.parent)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise now what `write_atomically` would raise later: a file is made there and removed.

    Parameters
    ----------
    path : str or path
    """
    target = Path(os.path.realpath(path))
    _check_target(target)
    with _temporary_beside(target):
        pass


@contextmanager
def _temporary_beside(target: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """Give a new open file, renamed or removed in the end; errors name the target instead of it."""
    temporary = target.parent / f".{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(temporary, flags, 0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                yield temporary, file
        finally:  # Ctrl-C too: nothing half-written stays behind
            temporary.unlink(missing_ok=True)
    except OSError as error:
        if error.errno is None:
            raise
        what = f"cannot be written ({error.strerror})"
        raise OSError(error.errno, what, str(target)) from error


def _check_target(target: Path) -> int | None:
    """Return the permissions of the file that stands there, None if there is none."""
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
    if os.name != "posix":  # elsewhere folders cannot be opened to be synced
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
