"""Draw the pictures of the documentation: ``make pictures``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from separable import LeastSquaresClassifier, SGDClassifier

FOLDER = Path(__file__).parent
BLUE, ORANGE, GREY = "#1f5fa8", "#d9730d", "#444444"
STYLES = {"least squares": (GREY, "-"), "log loss (SGD)": (GREY, "--")}


def save(figure: Any, name: str) -> None:
    """Write a picture as SVG, the same bytes each time."""
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def draw_boundary(axes: Any, learner: Any, name: str, x: tuple[float, float]) -> None:
    """Draw where the score is 0."""
    (w1, w2), b = learner.coef_[0], learner.intercept_[0]
    colour, line = STYLES[name]
    height = [-(b + w1 * place) / w2 for place in x]
    axes.plot(x, height, line, color=colour, label=name, linewidth=1.8)


def least_squares_classifier() -> None:
    """Points far on their right side pull the boundary of least squares, and of no other."""
    rng = np.random.default_rng(3)
    left = rng.normal(size=(60, 2)) * 0.7 + [-1.2, 1.0]
    right = rng.normal(size=(60, 2)) * 0.7 + [1.2, -1.0]
    far = rng.normal(size=(25, 2)) * 0.6 + [6.5, -7.5]
    figure, both = plt.subplots(1, 2, figsize=(9, 4.2), sharex=True, sharey=True)
    for axes, extra in zip(both, ([], far), strict=True):
        X = np.concatenate([left, right, *([extra] if len(extra) else [])])
        y = np.repeat(["left", "right"], [60, len(X) - 60])
        learners = {
            "least squares": LeastSquaresClassifier().fit(X, y),
            "log loss (SGD)": SGDClassifier(max_iter=200).fit(X, y),
        }
        for label, colour, marker in (("left", BLUE, "o"), ("right", ORANGE, "^")):
            axes.plot(*X[y == label].T, marker, color=colour, markersize=4, alpha=0.6)
        for name, learner in learners.items():
            draw_boundary(axes, learner, name, (-4.0, 9.0))
        wrong = [int((learner.predict(X) != y).sum()) for learner in learners.values()]
        what = "with points far away" if len(extra) else "two clouds"
        axes.set_title(f"{what}: {wrong[0]} of {len(X)} wrong, by log loss {wrong[1]}", fontsize=10)
        axes.set(xlim=(-4, 9), ylim=(-10, 4), xlabel="x1")
        axes.legend(loc="lower left", frameon=False)
    both[0].set_ylabel("x2")
    figure.tight_layout()
    save(figure, "least_squares_classifier")


if __name__ == "__main__":
    mpl.use("Agg")
    least_squares_classifier()
