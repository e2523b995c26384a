"""The committed type stub says what the compiled core has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from separable import _core

pytestmark = pytest.mark.native

STUB = Path(_core.__file__).with_name("_native.pyi")


def test_stub_is_that_of_the_built_module(tmp_path):
    made = tmp_path / "made.pyi"
    module = f"separable._core.{_core.LEVEL}"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", module, "-o", str(made)],
        check=True,
        env={**os.environ, "SEPARABLE_CPU": _core.LEVEL},
    )
    assert made.read_text() == STUB.read_text(), "the bindings changed: run `make stub`"


def test_stub_names_no_level():
    text = STUB.read_text()
    assert not [level for level in _core.LEVELS if level in text]
