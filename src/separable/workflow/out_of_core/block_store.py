"""Encoded rows on disk: checksummed blocks in a cache folder, memory-mapped for every pass.

A block is a sealed container, as a model file is: a file is whole or absent, whatever happens to
the process, so work goes on where it stopped. The manifest says of which data and options they are.
"""

from __future__ import annotations

import errno
import hashlib
import json
import mmap
import os
import shutil
import tempfile
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separable.data.rows import Rows
from separable.data.table import TableError
from separable.errors import InputError, Option, OptionError
from separable.features.base import encoder_class
from separable.linalg.blas import one_blas_thread
from separable.model.files.atomic import write_atomically
from separable.model.files.container import (
    check_seal,
    container_chunks,
    open_container,
    pack_parts,
    unpack_parts,
)
from separable.model.words import byte_text
from separable.statistics.partitions import ANY_SIZE, Batch, merged_sums

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from separable.statistics.partitions import Task, TaskSums

__all__ = ["BlockPartitions", "BlockStore", "default_folder"]

MANIFEST, END = "manifest.json", ".block"
#: Space that is left free on the disk.
SPARE_BYTES = 1 << 26


def default_folder(fingerprint: Mapping[str, Any]) -> Path:
    """Return the cache folder of data and options, the same whenever the command is repeated."""
    text = json.dumps(fingerprint, sort_keys=True, default=str)
    key = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"separable-{os.getuid()}-{key}"


class BlockStore:
    """A cache folder with blocks of encoded rows.

    Parameters
    ----------
    folder : Path
    fingerprint : mapping
        What the blocks depend on: files and options. A folder of others is refused.
    """

    def __init__(self, folder: Path, fingerprint: Mapping[str, Any]) -> None:
        self.folder = folder
        text = json.dumps(fingerprint, sort_keys=True, indent=1, default=str)
        manifest = folder / MANIFEST
        with _disk_errors(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.stat().st_uid != os.getuid():
                raise OptionError(
                    Option("cache", str(folder)), " belongs to another user. Name another folder."
                )
            if manifest.exists():
                if manifest.read_text() != text:
                    raise OptionError(
                        Option("cache", str(folder)),
                        " holds blocks of other data or options: the files have changed, or the "
                        "options have. Remove the folder, or name another one.",
                    )
            elif any(folder.iterdir()):
                raise OptionError(
                    Option("cache", str(folder)),
                    " is not empty and no cache. Name a new folder.",
                )
            else:
                write_atomically(manifest, text.encode())

    @property
    def n_bytes(self) -> int:
        """The bytes of all files."""
        return sum(path.stat().st_size for path in self.folder.iterdir())

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def check_space(self, n_bytes: int) -> None:
        """Refuse work that needs more space than the disk has."""
        free = shutil.disk_usage(self.folder).free
        if n_bytes + SPARE_BYTES > free + self.n_bytes:
            raise TableError(
                f"The blocks of encoded rows need about {byte_text(n_bytes)}, but the disk of "
                f"{self.folder} has {byte_text(free)} left. Free some, or name a folder on "
                "another disk with ",
                Option("cache", "DIR"),
                ".",
            )

    # ------------------------------------------------------------------ blocks

    def has(self, name: str) -> bool:
        """Return whether a block is there and whole; a damaged one is removed."""
        path = self.folder / f"{name}{END}"
        if not path.exists():
            return False
        try:
            check_seal(*_opened(path))
        except ValueError:
            path.unlink()
            return False
        return True

    def write(self, name: str, batch: Batch) -> None:
        """Write a block."""
        rows = batch.rows
        tensors: dict[str, NDArray[Any]] = {"values": rows.values, "y": batch.y}
        optional = {
            "indices": rows.indices,
            "indptr": rows.indptr,
            "weight": batch.weight,
            "fold": batch.fold,
        }
        tensors |= {key: array for key, array in optional.items() if array is not None}
        self._write(name, {"n_features": rows.n_features}, tensors)

    def _write(
        self, name: str, values: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]
    ) -> None:
        document = json.dumps(values, separators=(",", ":")).encode()
        with _disk_errors(self.folder):
            write_atomically(self.folder / f"{name}{END}", container_chunks(document, tensors))

    def partitions(self, *splits: str, threads: int = 1) -> BlockPartitions:
        """Return the blocks of some splits, in the order of the rows of each."""
        paths = [path for split in splits for path in sorted(self.folder.glob(f"{split}-*{END}"))]
        return BlockPartitions.of(paths, threads)

    # ------------------------------------------------------------------ the encoder

    def keep_encoder(self, encoder: Any, values: Mapping[str, Any]) -> None:
        """Write a fitted encoder, with what else the first pass found."""
        parts, own = encoder.to_parts()
        tensors = pack_parts(dict(parts))
        self._write("encoder", {"kind": encoder.kind, "own": own, "values": values}, tensors)

    def encoder(self) -> tuple[Any, dict[str, Any]] | None:
        """Return the encoder and values that were kept, or None."""
        if not self.has("encoder"):
            return None
        document, tensors = _opened(self.folder / f"encoder{END}")
        kept = json.loads(check_seal(document, tensors))
        kind = encoder_class(kept["kind"])
        return kind.from_parts(unpack_parts(tensors), kept["own"]), kept["values"]


def _opened(path: Path) -> tuple[bytes, dict[str, NDArray[Any]]]:
    """Return the document and the arrays of a block, views of the mapped file."""
    with path.open("rb") as file:
        data: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return open_container(data)


def _batch(path: Path) -> Batch:
    document, tensors = _opened(path)
    rows = Rows(
        tensors["values"],
        json.loads(document)["n_features"],
        tensors.get("indices"),
        tensors.get("indptr"),
    )
    return Batch(rows, tensors["y"], tensors.get("weight"), tensors.get("fold"))


@contextmanager
def _disk_errors(folder: Path) -> Iterator[None]:
    """Say what to do about a full disk or a folder that cannot be written."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise InputError(
                f"The disk of the cache folder {folder} is full. Free some space and repeat the "
                "command, which goes on where it stopped; or name a folder on another disk with ",
                Option("cache", "DIR"),
                ".",
            ) from error
        raise InputError(
            f"The cache folder {folder} cannot be written ({error.strerror or error}). Name "
            "another one with ",
            Option("cache", "DIR"),
            ".",
        ) from error


@dataclass(frozen=True)
class BlockPartitions:
    """Blocks as partitions; every pass maps them one after the other.

    Parameters
    ----------
    paths : tuple of Path
    n_rows, n_features : int
    is_sparse : bool
    threads : int
        Blocks at work at once; their sums are merged in order, whatever is ready first.
    """

    paths: tuple[Path, ...]
    n_rows: int
    n_features: int
    is_sparse: bool
    threads: int = 1
    most_numbers: int = ANY_SIZE

    @classmethod
    def of(cls, paths: Sequence[Path], threads: int) -> BlockPartitions:
        """Return the partitions of some blocks."""
        rows, kept, width, is_sparse = 0, [], 0, False
        for path in paths:
            batch = _batch(path)
            width, is_sparse = batch.rows.n_features, batch.rows.is_sparse
            if len(batch):
                rows += len(batch)
                kept.append(path)
        return cls(tuple(kept), rows, width, is_sparse, threads)

    def sums(self, task: Task) -> TaskSums:
        """Return the arrays of all blocks, merged in order."""
        with one_blas_thread():
            if self.threads == 1:
                return merged_sums(task, map(_batch, self.paths))
            with ThreadPoolExecutor(self.threads) as pool:
                return _merged(task, self.paths, pool, self.threads)


def _sums_of_block(task: Task, path: Path) -> TaskSums:
    return task(_batch(path))


def _merged(task: Task, paths: Sequence[Path], pool: ThreadPoolExecutor, threads: int) -> TaskSums:
    """Merge the sums of blocks in order, with few of them waiting."""
    waiting: deque[Any] = deque()
    total: TaskSums | None = None
    for path in [*paths, *([None] * (threads + 1))]:
        if path is not None:
            waiting.append(pool.submit(_sums_of_block, task, path))
        if waiting and (path is None or len(waiting) > threads):
            part = waiting.popleft().result()
            total = part if total is None else task.merge(total, part)
    assert total is not None
    return total
