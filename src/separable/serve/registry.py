"""The models of a server by name and version, replaced while it runs when their files change."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from separable.model.files.model_file import ModelFileError
from separable.serve.answers import Refusal
from separable.serve.served_model import ServedModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Change", "Registry"]

#: Names and versions that a path of a request can have.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
SUFFIX = ".safetensors"

#: What tells a file from its successor: modification time, size and inode.
Signature = tuple[int, int, int]


@dataclass(frozen=True)
class Change:
    """What became of a file.

    Parameters
    ----------
    name, version : str
    problem : str or None
        Why the file was refused, and the model before it kept.
    """

    name: str
    version: str
    problem: str | None = None


@dataclass
class Registry:
    """The models of a server.

    A replaced file is read aside, tested, and compared with the model that it replaces; requests
    hold the model with which they began.

    Parameters
    ----------
    files : sequence of path
        Each is a model whose name is that of the file, version "1".
    folder : path, optional
        All ``NAME/VERSION.safetensors`` below it are models, too.
    allow_patterns : bool
    """

    files: Sequence[str | Path] = ()
    folder: str | Path | None = None
    allow_patterns: bool = False
    _models: dict[tuple[str, str], ServedModel] = field(default_factory=dict)
    _seen: dict[Path, Signature | None] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        names = [_name_of(Path(path)) for path in self.files]
        double = next((name for name in names if names.count(name) > 1), None)
        if double is not None:
            raise ValueError(f"Two files give a model the name {double!r}. Rename one of them.")
        for name, path in zip(names, self.files, strict=True):
            self._seen[Path(path)] = _signature(Path(path))
            model = ServedModel.load(path, name, allow_patterns=self.allow_patterns)
            self._models[name, "1"] = model
        for change in self.refresh():
            if change.problem is not None:
                raise ModelFileError(change.problem)
        if not self._models:
            raise ValueError(f"There is no model {SUFFIX} file in {str(self.folder)!r}.")

    # ------------------------------------------------------------------ asking

    def __iter__(self) -> Iterator[ServedModel]:
        return iter(list(self._models.values()))

    def versions(self, name: str) -> list[str]:
        """Return the versions of a model, the lowest first."""
        return sorted((v for n, v in list(self._models) if n == name), key=_version_order)

    def get(self, name: str | None = None, version: str | None = None) -> ServedModel:
        """Return a model: the only one by default, and its highest version."""
        if name is None:
            names = list(dict.fromkeys(n for n, _ in list(self._models)))
            if len(names) > 1:
                raise Refusal(404, f"There are {len(names)} models: use /models/NAME/predict.")
            name = names[0]
        versions = self.versions(name)
        if not versions:
            raise Refusal(404, f"There is no model {name!r:.60}. GET /v2/models lists them.")
        found = self._models.get((name, versions[-1] if version is None else version))
        if found is None:
            known = ", ".join(versions[-5:])
            raise Refusal(404, f"Model {name} has no version {version!r:.40}; it has {known}.")
        return found

    # ------------------------------------------------------------------ replacing

    def refresh(self) -> list[Change]:
        """Load files that are new or have changed; return what became of each."""
        with self._lock:
            changes = []
            for path, name, version in self._paths():
                signature = _signature(path)
                if signature == self._seen.get(path):
                    continue
                self._seen[path] = signature
                if signature is not None:
                    changes.append(self._replace(path, name, version))
            return changes + self._removed()

    def _paths(self) -> Iterator[tuple[Path, str, str]]:
        for path in self.files:
            yield Path(path), _name_of(Path(path)), "1"
        if self.folder is not None:
            for path in sorted(Path(self.folder).glob(f"*/*{SUFFIX}")):
                if NAME.fullmatch(path.parent.name) and NAME.fullmatch(path.stem):
                    yield path, path.parent.name, path.stem

    def _replace(self, path: Path, name: str, version: str) -> Change:
        old = self._models.get((name, version))
        try:
            new = ServedModel.load(path, name, version, allow_patterns=self.allow_patterns)
            if old is not None:
                _check_compatible(old, new)
        except (OSError, ValueError) as error:
            return Change(name, version, f"{path.name}: {error}")
        self._models[name, version] = new
        return Change(name, version)

    def _removed(self) -> list[Change]:
        """Forget models of the folder whose files are gone, but never the last one."""
        if self.folder is None:
            return []
        present = {(name, version) for _, name, version in self._paths()}
        gone = [key for key in self._models if key not in present]
        if len(gone) == len(self._models):
            gone = gone[1:]
        for key in gone:
            del self._models[key]
        return [Change(name, version, "its file was removed") for name, version in gone]


def _name_of(path: Path) -> str:
    name = path.name.removesuffix(SUFFIX)
    if not NAME.fullmatch(name):
        raise ValueError(
            f"{path.name!r} cannot be the name of a model in an address. Use letters, digits, "
            "'.', '_' and '-'."
        )
    return name


def _signature(path: Path) -> Signature | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _version_order(version: str) -> list[tuple[int, int, str]]:
    """Return a key that orders 9 before 10, and v1.9 before v1.10."""
    parts = re.findall(r"\d+|\D+", version)
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]


def _check_compatible(old: ServedModel, new: ServedModel) -> None:
    """Refuse a model that needs other columns, or predicts other classes, than the one before."""
    before = {column.name: column.kind for column in old.columns or ()}
    for column in new.columns or ():
        if before.get(column.name) != column.kind and old.columns is not None:
            raise ValueError(
                f"it reads {column.name!r:.80} as a {column.kind}, and the model that it replaces "
                "does not. Serve it under another name."
            )
    classes = [None if m.model.classes is None else m.model.classes.tolist() for m in (old, new)]
    if classes[0] != classes[1]:
        raise ValueError(
            "it predicts other classes than the model that it replaces. Serve it under another "
            "name."
        )
