"""Take the picture of a report for the README, as ``separable train`` writes it: ``make pictures``.

It needs a browser, and without one leaves the picture as it is.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path

PICTURE = Path(__file__).with_name("report.png")
#: A part of the page that is seen, in pixels, the space between two, and the colours kept.
WIDTH, HEIGHT, BETWEEN, COLOURS = 1100, 1230, 40, 128
#: What the second part begins with.
SECOND = "#figure-roc"


def write_report(path: Path) -> None:
    """Write the report of a model of the penguins."""
    from separable.cli.app import run
    from separable.datasets import PENGUINS

    shutil.copy(PENGUINS, "penguins.csv")
    learner = ["--model", "logistic-regression"]
    with redirect_stdout(StringIO()):
        run(["train", "penguins.csv", "--target", "sex", *learner, "--report", str(path)])


def picture_of(path: Path, chromium: str) -> bytes:
    """Return two parts of a page, side by side, as a small PNG."""
    from playwright.sync_api import sync_playwright

    options = ["--no-sandbox"] if os.getuid() == 0 else []
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=options)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-drawn]")
        seen = [page.screenshot()]
        page.evaluate(f"document.querySelector('{SECOND}').scrollIntoView({{behavior: 'instant'}})")
        seen.append(page.screenshot())
        browser.close()
    return side_by_side(seen)


def side_by_side(pictures: list[bytes]) -> bytes:
    """Return pictures of the same size as one, with few colours."""
    from PIL import Image

    whole = Image.new("RGB", (len(pictures) * (WIDTH + BETWEEN) - BETWEEN, HEIGHT), "#d8dce1")
    for k, picture in enumerate(pictures):
        whole.paste(Image.open(BytesIO(picture)).convert("RGB"), (k * (WIDTH + BETWEEN), 0))
    small = BytesIO()
    whole.quantize(COLOURS, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return small.getvalue()


def main() -> None:
    """Train, write the report and take its picture, in a folder of its own."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.stdout.write("no chromium, so no new picture of a report (make system installs it)\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_report(Path(folder) / "report.html")
        PICTURE.write_bytes(picture_of(Path(folder) / "report.html", chromium))
        os.chdir(PICTURE.parent)


if __name__ == "__main__":
    main()
