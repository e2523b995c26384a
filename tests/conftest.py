"""Hypothesis profiles, and running one case of each test.

A failure prints the decorator that brings it back.

The examples are not random, but some are constants of the modules imported so far: a test that
runs alone, or after others, may take other examples.

``HYPOTHESIS_PROFILE`` chooses one; ``make test-all`` asks for ``long``.

``--first-case`` runs each test function once, with the first of its parameters.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    import pytest

# No deadlines: tests never time anything.
settings.register_profile(
    "default", derandomize=True, deadline=None, max_examples=50, print_blob=True
)
settings.register_profile(
    "long",
    derandomize=False,
    deadline=None,
    max_examples=1000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--first-case", action="store_true", help="one case of each test function")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--first-case"):
        return
    first: dict[str, pytest.Item] = {}
    others = [
        item for item in items if first.setdefault(item.nodeid.partition("[")[0], item) is not item
    ]
    items[:] = first.values()
    config.hook.pytest_deselected(items=others)
