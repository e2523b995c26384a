"""The common look: names, styles, words that fit, legends beside the data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt

from separable.plot.style.theme import (
    add_legend,
    axes_for,
    called,
    class_style,
    describe,
    short_names,
    shortened,
    text_size,
)


def test_names_are_shortened_in_the_middle():
    assert shortened("short") == "short"
    assert shortened("a" * 24) == "a" * 24
    long = shortened("begin " + "x" * 50 + " end")
    assert len(long) == 24
    assert long.startswith("begin")
    assert long.endswith(" end")
    assert shortened("two\nlines\tof  text") == "two lines of text"


@given(
    st.lists(st.text("ab -$", max_size=40).map(lambda text: " ".join(text.split())), max_size=8),
    st.integers(8, 24),
)
def test_short_names_that_differ_look_different(names, width):
    shown = short_names(names, width)
    assert len(set(shown)) == len(set(names))
    assert [
        name.replace("$", r"\$") == short for name, short in zip(names, shown, strict=True)
    ] == [
        len(short.replace(r"\$", "$")) == len(name)
        for name, short in zip(names, shown, strict=True)
    ]  # those that fit are whole
    assert all(len(short.replace(r"\$", "$")) <= width for short in shown)


def test_what_names_have_in_common_is_left_out():
    names = [f"newsgroup.topic.{k:02d}.something" for k in range(20)]
    shown = short_names(names, 16)
    assert shown[7] == "…group.topic.07…"
    assert len(set(short_names(names, 24))) == 20  # without their middle 00 and 10 look alike
    assert short_names(["x" * 40 + "a" * 40, "x" * 40 + "b" * 40, "c"], 12)[2] == "c"


def test_classes_that_are_numbers_are_called_classes():
    assert [called(label) for label in ("spam", 1, True, 2.5)] == [
        "spam",
        "class 1",
        "class True",
        "class 2.5",
    ]


def test_dollars_are_no_formulas():
    figure, ax = axes_for(None)
    ax.set_title(shortened("$5 and $x_$"))
    figure.canvas.draw()  # an unbalanced formula would raise


def test_sixty_four_classes_differ():
    styles = {tuple(class_style(k).values()) for k in range(64)}
    assert len(styles) == 64


def test_given_axes_are_taken():
    figure, ax = plt.subplots()
    assert axes_for(ax) == (figure, ax)


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize("size", [(3.2, 2.4), (6.4, 4.8)])
def test_long_words_and_legends_stay_inside_the_figure(size, layout):
    figure, ax = plt.subplots(figsize=size, layout=layout)
    x = np.linspace(0, 1, 50)
    for k in range(3):
        ax.plot(x, x**k, label=f"line number {k}")
    describe(ax, "A title of many words " * 4, "the horizontal axis " * 3, "the vertical axis " * 3)
    legend = add_legend(ax)
    figure.canvas.draw()
    around = figure.get_tightbbox()
    assert around.x0 >= -0.02
    assert around.y0 >= -0.02
    assert around.x1 <= size[0] + 0.02
    assert around.y1 <= size[1] + 0.02
    box, inside = legend.get_window_extent(), ax.get_window_extent()
    assert box.x0 >= inside.x1 or box.y1 <= inside.y0


def test_legends_of_neighbours_do_not_touch():
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.5))
    for ax in axes:
        ax.plot([0, 1], [0, 1], label="a line with a name")
        describe(ax, "Title", "x", "y")
        add_legend(ax)
    figure.canvas.draw()
    assert axes[0].get_legend().get_window_extent().x1 <= axes[1].get_window_extent().x0


def test_words_of_neighbours_in_a_grid_do_not_touch():
    """Nothing but the displays makes room here: the figure has no layout."""
    figure, axes = plt.subplots(2, 2, figsize=(8, 6))
    for ax in axes.flat:
        ax.plot([0, 1], [0, 1], label="a line with a name")
        describe(ax, "A title of many words " * 3, "the horizontal axis", "the vertical axis")
        add_legend(ax)
    figure.canvas.draw()
    boxes = [ax.get_tightbbox() for ax in axes.flat]
    for k, box in enumerate(boxes):
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
        for other in boxes[k + 1 :]:
            across = min(box.x1, other.x1) - max(box.x0, other.x0)
            down = min(box.y1, other.y1) - max(box.y0, other.y0)
            assert min(across, down) <= 1  # pixel


def test_text_is_smaller_in_small_axes():
    small, large = (
        plt.subplots(figsize=size, layout="constrained")[1] for size in [(2, 2), (9, 5)]
    )
    assert text_size(small, 10.0) == 7.0
    assert text_size(large, 10.0) == 10.0


def test_nothing_to_explain_is_no_legend():
    assert add_legend(plt.subplots()[1]) is None
