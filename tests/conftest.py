"""Hypothesis profiles, and running a share of the tests.

A failure prints the decorator that brings it back.

The examples are not random, but some are constants of the modules imported so far: a test that
runs alone, or after others, may take other examples.

``HYPOTHESIS_PROFILE`` chooses one; ``make test-all`` asks for ``long``.

``--share 1/2`` runs one half of the tests and ``--share 2/2`` the other, always the same ones.
"""

from __future__ import annotations

import os
import zlib

import pytest
from hypothesis import HealthCheck, settings

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
    parser.addoption("--share", default="1/1", metavar="K/N", help="the K-th of N shares of tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    share, shares = map(int, config.getoption("--share").split("/"))
    if not 1 <= share <= shares:
        raise pytest.UsageError("--share K/N needs 1 <= K <= N")
    parts: list[list[pytest.Item]] = [[] for _ in range(shares)]
    for item in items:
        parts[zlib.crc32(item.nodeid.encode()) % shares].append(item)
    items[:] = parts.pop(share - 1)
    config.hook.pytest_deselected(items=[item for part in parts for item in part])
