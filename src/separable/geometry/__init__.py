"""Is it separable? The verdict with a proof anyone can check, margins, and what to add."""
