"""The committed type stubs say what the compiled core has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from separable import _core

pytestmark = pytest.mark.native

FOLDER = Path(_core.__file__).parent


@pytest.mark.parametrize(
    ("module", "stub"),
    [
        (f"separable._core.{_core.LEVEL}", "_native.pyi"),
        ("separable._core.portable", "portable.pyi"),
    ],
)
def test_stub_is_that_of_the_built_module(module, stub, tmp_path):
    pytest.importorskip("nanobind", reason="only builds need it")
    made = tmp_path / "made.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", module, "-o", str(made)],
        check=True,
        env={**os.environ, "SEPARABLE_CPU": _core.LEVEL},
    )
    written = (FOLDER / stub).read_text()
    assert made.read_text() == written, "the bindings changed: run `make stub`"


def test_stub_names_no_level():
    text = (FOLDER / "_native.pyi").read_text()
    assert not [level for level in _core.LEVELS if level in text]
