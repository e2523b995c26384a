"""What holds for every display: where it draws, what it says, and that nothing is covered."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from matplotlib import pyplot as plt

import separable.plot
from tests.plot.lectures.test_lecture_displays import SPECIMENS as LECTURES
from tests.plot.specimens import SPECIMENS

PROJECTION = {"Planes3dDisplay": "3d"}
#: Displays of several panels, which take the place of the axes.
PANELS = {"CurvesDisplay", "InteractionsDisplay"}
SIZES = {"new": None, "small": (3.4, 2.6), "without a layout": (3.6, 2.8)}


def drawn(name, size):
    """Draw a display on new axes of its own, or on axes of a size."""
    if size is None:
        return SPECIMENS[name](None)
    layout = "constrained" if size == SIZES["small"] else None
    figure = plt.figure(figsize=size, layout=layout)
    return SPECIMENS[name](figure.add_subplot(projection=PROJECTION.get(name)))


def data_points(ax):
    """Return the points of all rows and lines of axes, in pixels."""
    found = [np.empty((0, 2))]
    for collection in ax.collections:
        offsets = np.ma.filled(np.ma.asarray(collection.get_offsets(), dtype=float), np.nan)
        if hasattr(collection, "get_sizes") and len(offsets):
            found.append(collection.get_offset_transform().transform(offsets[:, :2]))
    found += [line.get_transform().transform(line.get_path().vertices) for line in ax.lines]
    return np.concatenate(found)


@pytest.mark.parametrize("name", SPECIMENS)
def test_it_keeps_what_it_drew_on_and_draws_again(name):
    figure = plt.figure()
    ax = figure.add_subplot(projection=PROJECTION.get(name))
    display = SPECIMENS[name](ax)
    assert type(display).__name__ == name
    assert not ax.axison if name in PANELS else display.ax_ is ax
    assert display.figure_ is figure
    assert display.plot() is display
    assert display.ax_ is not ax
    assert display.figure_ is not figure
    assert display.ax_.figure is display.figure_
    words = [display.ax_.get_title(loc="left"), display.ax_.get_xlabel(), display.ax_.get_ylabel()]
    if name != "WeightsDisplay":  # its bars have names
        assert all(words)
    assert all(words[:2])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", SPECIMENS)
def test_no_text_is_cut_off_and_the_legend_covers_no_data(name, size):
    display = drawn(name, SIZES[size])
    figure, ax = display.figure_, display.ax_
    figure.draw_without_rendering()
    around = figure.get_tightbbox()
    wide, high = figure.get_size_inches()
    assert around.x0 >= -0.02
    assert around.y0 >= -0.02
    assert around.x1 <= wide + 0.02
    assert around.y1 <= high + 0.02
    legend = ax.get_legend()
    if legend is not None and ax.name != "3d":
        box = legend.get_window_extent()
        inside = ax.get_window_extent()
        points = data_points(ax)
        shown = [p for p in points if inside.contains(*p) and box.contains(*p)]
        assert shown == []


def test_importing_the_displays_imports_no_matplotlib():
    code = (
        "import sys, separable.plot\n"
        "from separable.plot import BoundaryDisplay, RocDisplay\n"
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", ["RocDisplay", "BoundaryDisplay"])
def test_without_matplotlib_it_says_how_to_install_it(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(
        ImportError, match=r"A picture needs matplotlib.*Run: pip install matplotlib$"
    ):
        SPECIMENS[name](None)


def test_every_display_is_public_and_sorted():
    assert list(separable.plot.__all__) == sorted(separable.plot.__all__)
    assert {*SPECIMENS, *LECTURES} == set(separable.plot.__all__)
