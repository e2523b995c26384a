from __future__ import annotations

import contextlib
import errno
import functools
import io
import os
import sys
import types
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from separable import LinearModel
from separable.cli.app import run
from separable.cli.commands import demo
from separable.data.rows import Rows
from separable.datasets import PENGUINS
from separable.workflow.learners import LEARNERS, regressor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


class Plane(RegressorMixin, BaseEstimator):
    """A regressor without a seed and without evidence."""

    #: What fit warns of, one each.
    told: tuple[str, ...] = ()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Plane:
        X = _dense(X)
        A = np.column_stack([np.ones(len(X)), X])
        b, *w = np.linalg.lstsq(A, y, rcond=None)[0]
        for text in self.told:
            warnings.warn(text, UserWarning, stacklevel=2)
        self.model_ = LinearModel(
            [w], [b], None, "identity", learner="Plane", evidence=self.evidence()
        )
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)

    def evidence(self) -> dict[str, Any]:
        return {}


class Descent(Plane):
    """One with a seed, and with evidence of its own."""

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def evidence(self) -> dict[str, Any]:
        return {"epochs": 7, "converged": False, "seed": self.random_state}


def _dense(X: Any) -> np.ndarray:
    X = X.to_matrix() if isinstance(X, Rows) else X
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


@pytest.fixture
def regressors(monkeypatch) -> None:
    """Two regressors that `--model` knows for the test only."""
    module = types.ModuleType("regressors_of_tests")
    module.Plane, module.Descent = Plane, Descent
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for name, place in {"plane": "Plane", "descent": "Descent"}.items():
        monkeypatch.setitem(LEARNERS, name, regressor(f"{module.__name__}:{place}"))


@pytest.fixture
def separable(capsys, tmp_path, monkeypatch) -> Callable[..., Result]:
    """Run the command line in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def separable(*args: object) -> Result:
        code = run([str(arg) for arg in args])
        return Result(code, *capsys.readouterr())

    return separable


@pytest.fixture
def quick_demo(monkeypatch) -> None:
    """Let `separable demo` train one learner with one strength."""
    (title, line), *others = demo.STEPS
    quick = f"{line} --model logistic-regression --set C=1"
    monkeypatch.setattr(demo, "STEPS", [(title, quick), *others])


@pytest.fixture
def no_new_files(monkeypatch) -> None:
    """No temporary file can be made, as in a folder without write permission."""
    opened = os.open

    nameless = getattr(os, "O_TMPFILE", 0)

    def refuse(path, flags, *args, **kwargs):
        if str(path).endswith(".tmp") or (nameless and flags & nameless == nameless):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return opened(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)


@dataclass(frozen=True)
class Shared(Result):
    #: What the command wrote, for all tests to read and for none to change.
    folder: Path


@pytest.fixture(scope="session")
def once(tmp_path_factory) -> Callable[..., Shared]:
    """Run a command line the first time it is given, and return the same result ever after."""

    @functools.cache
    def once(*args: object) -> Shared:
        folder: Path = tmp_path_factory.mktemp("once")
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.chdir(folder))
            stack.enter_context(contextlib.redirect_stdout(out))
            stack.enter_context(contextlib.redirect_stderr(err))
            code = run([str(arg) for arg in args])
        texts = (stream.buffer.getvalue().decode() for stream in (out, err))
        return Shared(code, *texts, folder)

    return once


@pytest.fixture(scope="session")
def penguins_json(once) -> Shared:
    """What `separable train --json` says of the penguins; the model is m.safetensors."""
    result = once("train", PENGUINS, "--target", "species", "-o", "m.safetensors", "--json")
    assert result.code == 0
    return result


@pytest.fixture(scope="session")
def penguins_text(once) -> Shared:
    """What `separable train` says of the penguins; the model is penguins.safetensors."""
    return once("train", PENGUINS, "--target", "species")


@pytest.fixture(scope="session")
def penguins_model(penguins_json) -> Path:
    """The model that `separable train` makes of the penguins, as penguins.safetensors."""
    path: Path = penguins_json.folder / "model" / "penguins.safetensors"
    path.parent.mkdir()
    path.write_bytes((penguins_json.folder / "m.safetensors").read_bytes())
    return path
