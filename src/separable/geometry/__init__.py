"""Is it separable? The verdict with a proof anyone can check, margins, and what to add."""

from separable.geometry.margins import Margins, margins

__all__ = ["Margins", "margins"]
