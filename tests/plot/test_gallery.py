"""The gallery: every block runs as it stands and makes its picture; every picture is there."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot as plt

import separable.plot

pytestmark = pytest.mark.native

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/lectures/gallery.md").read_text()


def script(name):
    """Return a script of the folder of pictures as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/pictures/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make, walk = script("make"), script("walk")
ENTRIES = make.entries(TEXT)

#: The pictures that the lectures have, by their rows.
LECTURES = {
    "L3": ["BoundaryDisplay", "Planes3dDisplay"],
    "L4": ["TrainingFramesDisplay", "StartAndOrderDisplay"],
    "L11": ["PolynomialFitsDisplay", "PosteriorLinesDisplay"],
    "L12": ["LpBallsDisplay"],
    "L14": ["LearningCurveDisplay"],
    "L15": ["RegressionAsClassifierDisplay"],
    "L16": ["SeparableShareDisplay"],
    "L17": ["BoundaryDisplay"],
    "L20": ["LossesDisplay", "TrainingFramesDisplay", "MarginsDisplay"],
    "L22": ["NormalDisplay", "Lda1dDisplay", "LdaDisplay"],
    "L23": ["WeightImagesDisplay"],
}


#: Blocks that take seconds.
LONG = {"perceptron_frames.png"}


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(
            entry,
            id=entry.pictures[0],
            marks=[pytest.mark.long] if entry.pictures[0] in LONG else [],
        )
        for entry in ENTRIES
    ],
)
def test_block_runs_and_makes_its_picture(entry, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(entry.code.splitlines()) <= 10
    display = make.run(entry.code)
    assert display.ax_ in display.figure_.axes
    assert any(ax.has_data() for ax in display.figure_.axes)
    for name in entry.pictures:
        assert (ROOT / "docs/pictures" / name).exists(), "run `make pictures`"
    assert {path.name for path in tmp_path.iterdir()} <= set(entry.pictures)


@pytest.mark.parametrize("row", LECTURES)
def test_the_pictures_of_a_lecture_row_are_there(row):
    shown = [entry.code for entry in ENTRIES if entry.heading.startswith(f"{row}:")]
    missing = [name for name in LECTURES[row] if not any(name in code for code in shown)]
    assert missing == []


def test_every_display_is_shown():
    shown = set(re.findall(r"(\w+Display)\.from_", TEXT))
    assert shown == set(separable.plot.__all__)


def test_pictures_are_those_of_the_gallery_and_small():
    pictures = [p for p in (ROOT / "docs/pictures").iterdir() if p.suffix in (".png", ".gif")]
    others = {"report.png"} | {f"{name}.png" for name in walk.MANY_POINTS}  # by their own scripts
    assert {p.name for p in pictures} == others | {
        name for entry in ENTRIES for name in entry.pictures
    }
    assert sum(p.stat().st_size for p in pictures) < 1_500_000


@pytest.mark.slow
@pytest.mark.parametrize("name", walk.PICTURES)
def test_pictures_of_the_walk_are_drawn_and_shown_on_a_page(name):
    figure = walk.draw(name)
    assert all(ax.has_data() or ax.get_title() for ax in figure.axes)
    assert len(figure.axes) == np.prod(walk.PICTURES[name][1])
    file = f"{name}.png" if name in walk.MANY_POINTS else f"{name}.svg"
    assert (ROOT / "docs/pictures" / file).exists(), "run `make pictures`"
    assert any(f"pictures/{file})" in page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    plt.close(figure)


def test_lectures_name_the_displays():
    rows = dict(
        re.findall(r"^\| (L\d+) \|(.*)$", (ROOT / "docs/lectures/lectures.md").read_text(), re.M)
    )
    for row, names in LECTURES.items():
        for name in names:
            assert f"`{name}`" in rows[row]
