"""Hypothesis profiles. Every run takes the same examples, so a failure comes back when asked.

``HYPOTHESIS_PROFILE`` chooses one; ``make test-all`` asks for ``long``.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# No deadlines: tests never time anything.
settings.register_profile("default", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("ci", settings.get_profile("default"), print_blob=True)
settings.register_profile(
    "long",
    derandomize=False,
    deadline=None,
    max_examples=1000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default")
)
