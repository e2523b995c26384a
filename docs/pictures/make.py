"""Draw the pictures of ``docs/lectures/gallery.md`` by running its code: ``make pictures``."""

from __future__ import annotations

import os
import re
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
GALLERY = FOLDER.parent / "lectures/gallery.md"
#: Dots an inch of a picture, and its colours.
DPI, COLOURS = 90, 256


class Entry(NamedTuple):
    """A block of the gallery: the heading above it, its code, the pictures it makes."""

    heading: str
    code: str
    pictures: list[str]


def entries(text: str) -> list[Entry]:
    """Return the blocks of the gallery in their order."""
    found, heading = [], ""
    for part in re.split(r"^(?=## |```python\n)", text, flags=re.MULTILINE):
        if part.startswith("## "):
            heading = part.splitlines()[0][3:]
        elif part.startswith("```python\n"):
            code, _, rest = part.removeprefix("```python\n").partition("```\n")
            found.append(Entry(heading, code, re.findall(r"\]\(\.\./pictures/([\w.]+)\)", rest)))
    return found


def run(code: str) -> Any:
    """Run a block and return its display."""
    names: dict[str, Any] = {}
    exec(compile(code, str(GALLERY), "exec"), names)
    return names["display"]


def png(figure: Any) -> bytes:
    """Return a figure as a small PNG, the same bytes each time."""
    from PIL import Image

    drawn, small = BytesIO(), BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI, metadata={"Software": None})
    flat = Image.open(drawn).convert("RGB")
    few = flat.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(small, "PNG", optimize=True)
    return small.getvalue()


def main() -> None:
    """Draw every picture anew, in a folder of its own, and keep it beside this file."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for entry in entries(GALLERY.read_text()):
            display = run(entry.code)
            for name in entry.pictures:
                saved = Path(folder) / name  # by the block itself
                picture = saved.read_bytes() if saved.exists() else png(display.figure_)
                (FOLDER / name).write_bytes(picture)
            plt.close("all")
        os.chdir(FOLDER)


if __name__ == "__main__":
    main()
