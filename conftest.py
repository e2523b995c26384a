"""For tests and doctests alike: quick collection, and figures that need no screen."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector, which need never look at the tests afterwards."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        atexit.register(gc.unfreeze)  # or nanobind reports everything that tests hold as leaks


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Search for doctests, which imports the module, only where there are some."""
    collectors = yield
    if file_path.suffix != ".py" or b">>>" in file_path.read_bytes():
        return collectors
    return [collector for collector in collectors if type(collector) is pytest.Module]


@pytest.fixture(autouse=True)
def close_pictures() -> Iterator[None]:
    """Close all figures if matplotlib was used."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
