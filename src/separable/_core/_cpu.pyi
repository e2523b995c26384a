def supported_levels() -> tuple[str, ...]:
    """Return the CPU levels this machine can run, slowest first."""
