"""Errors that every part of the package raises in the same words."""

from importlib.util import find_spec

__all__ = ["require_packages"]


def require_packages(purpose: str, **packages: str) -> None:
    """Raise ImportError if an optional package is not installed.

    The message names the packages themselves, not an extra of this distribution: the command in it
    works whether or not the distribution is on an index.

    Parameters
    ----------
    purpose : str
        What needs them, as the subject of the message: "A report".
    **packages : str
        The name on the package index for each module: ``python_calamine="python-calamine"``.

    Examples
    --------
    >>> require_packages("Arithmetic", math="math")
    >>> require_packages("A report", not_there="not-there")
    Traceback (most recent call last):
    ImportError: A report needs not-there, which is not installed. Run: pip install not-there
    """
    missing = [package for module, package in packages.items() if find_spec(module) is None]
    if not missing:
        return
    verb = "is" if len(missing) == 1 else "are"
    raise ImportError(
        f"{purpose} needs {' and '.join(missing)}, which {verb} not installed. "
        f"Run: pip install {' '.join(missing)}"
    )
