"""Hypothesis profiles. A failure prints the decorator that brings it back.

The examples are not random, but some are constants of the modules imported so far: a test that
runs alone, or after others, may take other examples.

``HYPOTHESIS_PROFILE`` chooses one; ``make test-all`` asks for ``long``.
"""

from __future__ import annotations

import os

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
