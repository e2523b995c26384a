"""The command line: ``separable train``, ``predict``, ``explain``, ``demo``."""

from separable.cli.app import main

__all__ = ["main"]
