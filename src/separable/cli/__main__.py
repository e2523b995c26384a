"""``python -m separable.cli`` is ``separable``."""

from separable.cli import main

if __name__ == "__main__":
    main()
