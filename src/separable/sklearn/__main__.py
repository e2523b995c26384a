"""``python -m separable.sklearn script.py``: run a script of scikit-learn with our classes."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from separable.sklearn.patching import estimators_of, patch

USAGE = """Usage: python -m separable.sklearn SCRIPT [ARGUMENT]...

Runs a Python script with the classes of separable.sklearn in the place of scikit-learn's, and
lists which estimators of the script were replaced.
"""


def main() -> int:
    """Run the script, and say on stderr what was replaced."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        (sys.stdout if arguments else sys.stderr).write(USAGE)
        return 0 if arguments else 2
    script = Path(arguments[0])
    if not script.is_file():
        sys.stderr.write(f"Error: there is no script {str(script)!r}.\n")
        return 2
    sys.argv = arguments
    sys.path[0] = str(script.resolve().parent)
    patch()
    try:
        runpy.run_path(str(script), run_name="__main__")
    finally:
        ours, theirs = estimators_of(script.read_text(encoding="utf-8"))
        sys.stderr.write(f"separable.sklearn: replaced {', '.join(ours) or 'nothing'}\n")
        if theirs:
            sys.stderr.write(f"separable.sklearn: scikit-learn's own: {', '.join(theirs)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
