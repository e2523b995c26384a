"""What holds for every picture of the lectures: nothing is cut off, no legend covers data."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.legend import Legend

from separable import LDA, BayesianRegression, LinearModel, Perceptron
from separable import plot as pictures
from tests.plot.clouds import two_clouds

pytestmark = pytest.mark.native

X, Y = two_clouds(20, 3, gap=0.4)
LINE = np.linspace(0, 3, 12)[:, None]
WAVE = np.sin(2 * LINE[:, 0])
DIGITS = LinearModel(np.arange(40.0).reshape(10, 4) - 20, np.zeros(10), np.arange(10), "score")

SPECIMENS = {
    "Lda1dDisplay": lambda ax: pictures.Lda1dDisplay.from_parameters(n=20, ax=ax),
    "LdaDisplay": lambda ax: pictures.LdaDisplay.from_estimator(LDA().fit(X, Y), X, Y, ax=ax),
    "LossesDisplay": lambda ax: pictures.LossesDisplay.from_names(ax=ax),
    "LpBallsDisplay": lambda ax: pictures.LpBallsDisplay.from_parameters(powers=[0, 1, 2], ax=ax),
    "MaskedClassDisplay": lambda ax: pictures.MaskedClassDisplay.from_data(
        LINE, np.repeat(["a", "b", "c"], 4), ax=ax
    ),
    "NormalDisplay": lambda ax: pictures.NormalDisplay.from_parameters(n=50, ax=ax),
    "PolynomialFitsDisplay": lambda ax: pictures.PolynomialFitsDisplay.from_data(
        LINE, WAVE, degrees=(1, 4), ax=ax
    ),
    "PosteriorLinesDisplay": lambda ax: pictures.PosteriorLinesDisplay.from_estimator(
        BayesianRegression(1.0, 1.0).fit(LINE, WAVE), LINE, WAVE, ax=ax
    ),
    "RegressionAsClassifierDisplay": (
        lambda ax: pictures.RegressionAsClassifierDisplay.from_example(ax=ax)
    ),
    "SeparableShareDisplay": lambda ax: pictures.SeparableShareDisplay.from_simulation(
        (6,), ratios=(0.5,), repeats=3, ax=ax
    ),
    "StartAndOrderDisplay": lambda ax: pictures.StartAndOrderDisplay.from_data(X, Y, ax=ax),
    "TrainingFramesDisplay": lambda ax: pictures.TrainingFramesDisplay.from_estimator(
        Perceptron(shuffle=False), X, Y, panels=4, ax=ax
    ),
    "WeightImagesDisplay": lambda ax: pictures.WeightImagesDisplay.from_estimator(
        DIGITS, (2, 2), ax=ax
    ),
}


def check_layout(figure):
    figure.draw_without_rendering()
    around, (wide, high) = figure.get_tightbbox(), figure.get_size_inches()
    assert around.x0 >= -0.02
    assert around.y0 >= -0.02
    assert around.x1 <= wide + 0.02
    assert around.y1 <= high + 0.02
    boxes = [ax.get_window_extent() for ax in figure.axes if ax.axison]
    for legend in figure.findobj(Legend):
        box = legend.get_window_extent()
        assert not any(box.overlaps(each) for each in boxes)


@pytest.mark.parametrize("name", SPECIMENS)
def test_in_a_figure_of_its_own(name):
    display = SPECIMENS[name](None)
    assert type(display).__name__ == name
    check_layout(display.figure_)
    first = display.figure_
    assert display.plot() is display
    assert display.figure_ is not first


@pytest.mark.parametrize("size", [(12, 5), pytest.param((19, 8), marks=pytest.mark.long)])
@pytest.mark.parametrize("name", SPECIMENS)
def test_in_the_place_of_axes(name, size):
    figure, axes = plt.subplots(1, 2, figsize=size, layout="constrained")
    display = SPECIMENS[name](axes[1])
    assert display.figure_ is figure
    assert axes[0].axison
    check_layout(figure)


def test_every_picture_of_the_lectures_is_looked_at():
    from tests.plot.test_gallery import LECTURES

    others = {"BoundaryDisplay", "Planes3dDisplay", "LearningCurveDisplay", "MarginsDisplay"}
    shown = {name for names in LECTURES.values() for name in names}
    assert shown - others <= set(SPECIMENS)
