from __future__ import annotations

import pytest

from tests.export import models, running


@pytest.fixture(scope="session", autouse=True)
def _forgetting():
    """Let go of models when all is done: the compiled core tells of those that are left over."""
    yield
    running.KNOWN.clear()
    for function in vars(models).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()
