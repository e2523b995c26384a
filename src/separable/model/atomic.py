"""Writing a file wholly or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Put ``data`` at ``path``, so that a crash at any moment leaves the old file or the new one.

    The bytes go to a temporary file in the same folder, which is synced and renamed; then the
    folder is synced. On failure the temporary file is removed and the old file is untouched. A
    link is followed, and the permissions of a file that is replaced are kept.

    Parameters
    ----------
    path : str or path
    data : bytes
    """
    target = Path(os.path.realpath(path))
    mode = _check_target(target)
    temporary = target.parent / f".{secrets.token_hex(8)}.tmp"
    handle = os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:  # Ctrl-C too: nothing half-written stays behind
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


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
