from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from separable.cli.app import run
from separable.datasets import PENGUINS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def separable(capsys, tmp_path, monkeypatch) -> Callable[..., Result]:
    """Run the command line in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def separable(*args: object) -> Result:
        code = run([str(arg) for arg in args])
        return Result(code, *capsys.readouterr())

    return separable


@pytest.fixture
def no_new_files(monkeypatch) -> None:
    """No temporary file can be made, as in a folder without write permission."""
    opened = os.open

    def refuse(path, *args, **kwargs):
        if str(path).endswith(".tmp"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return opened(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)


@pytest.fixture(scope="session")
def penguins_model(tmp_path_factory) -> Path:
    """The model that `separable train` makes of the penguins."""
    path: Path = tmp_path_factory.mktemp("model") / "penguins.safetensors"
    assert run(["train", str(PENGUINS), "--target", "species", "-o", str(path), "--json"]) == 0
    return path
