"""Draw the pictures of the learners' pages and of the lectures without one: ``make pictures``."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.patches import Ellipse
from scipy.spatial import ConvexHull

from separable import (
    LDA,
    AveragedPerceptron,
    BatchPerceptron,
    LeastSquares,
    LinearGaussianNB,
    LinearSVM,
    LogisticRegression,
    Perceptron,
    VotedPerceptron,
    WidrowHoff,
)
from separable.datasets import load
from separable.geometry import separability
from separable.learn import trace
from separable.plot.style.theme import CLASS_COLOURS, DARK, GREY, LIGHT, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FOLDER = Path(__file__).parent
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "separable",
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def points(ax: Axes, X: Any, y: Any) -> None:
    """Draw rows by their class."""
    for k, label in enumerate(np.unique(y)):
        rows = np.asarray(X)[np.asarray(y) == label]
        ax.plot(*rows.T, MARKERS[k], color=CLASS_COLOURS[k], ms=7, label=str(label))


def line(ax: Axes, model: Any, **style: Any) -> None:
    """Draw the boundary of a fitted model within the limits of the axes."""
    (w1, w2), b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    draw_line(ax, b, w1, w2, **style)


def draw_line(ax: Axes, b: float, w1: float, w2: float, **style: Any) -> None:
    """Draw b + w1 x + w2 y = 0 within the limits of the axes."""
    x, y = np.array(ax.get_xlim()), np.array(ax.get_ylim())
    steep = abs(w1) * np.ptp(x) > abs(w2) * np.ptp(y)
    ends = (-(b + w2 * y) / w1, y) if steep else (x, -(b + w1 * x) / w2)
    ax.plot(*ends, **({"color": DARK, "lw": 2} | style))
    ax.set(xlim=x, ylim=y)


def arrow(ax: Axes, start: Any, end: Any, text: str, colour: str = DARK, dash: str = "-") -> None:
    """Draw a vector with its name at the middle."""
    ax.annotate(
        "", end, start, arrowprops={"arrowstyle": "->", "color": colour, "lw": 2, "ls": dash}
    )
    middle = (np.add(start, end)) / 2
    ax.annotate(text, middle, (6, 6), textcoords="offset points", color=colour)


def verdicts(axes: Any) -> None:
    """Draw the hulls of AND, OR and XOR, with the widest slab or the rows that cancel."""
    for ax, name in zip(axes, ("and", "or", "xor"), strict=True):
        X, y, _ = load(name)
        verdict = separability(X, y)
        ax.set(title=f"{name.upper()}: {verdict.kind}", xlim=(-0.4, 1.4), ylim=(-0.4, 1.4))
        ax.set(aspect="equal", xlabel="x1", ylabel="x2", xticks=[0, 1], yticks=[0, 1])
        for k in (0, 1):
            hull = X[y == k]
            if len(hull) > 2:
                hull = hull[ConvexHull(hull).vertices]
            ax.fill(
                *hull.T, facecolor=CLASS_COLOURS[k], edgecolor=CLASS_COLOURS[k], alpha=0.35, lw=3
            )
        if verdict.separable:
            model = LinearSVM(C=1e6).fit(X, y)
            (w1, w2), b = model.coef_[0], float(model.intercept_[0])
            for shift, dash in ((0, "-"), (1, "--"), (-1, "--")):
                draw_line(ax, b + shift, w1, w2, ls=dash, lw=2 if shift == 0 else 1)
        else:
            ax.plot(0.5, 0.5, "x", color=DARK, ms=12, mew=3)
            ax.annotate("in both hulls", (0.5, 0.5), (0.62, 0.42))
        points(ax, X, y)


def update_vectors(axes: Any) -> None:
    """Draw y x added to w, head to tail, and w as the normal to the boundary."""
    (left, right) = axes
    w, x = np.array([1.0, -1.0]), np.array([0.5, 2.0])
    for ax in axes:
        ax.set(xlim=(-2, 3), ylim=(-2, 3), aspect="equal", xlabel="w1", ylabel="w2")
        ax.axhline(0, color=LIGHT, lw=1)
        ax.axvline(0, color=LIGHT, lw=1)
    left.set_title("A mistake with y = +1: w + y x")
    arrow(left, (0, 0), w, "w", GREY, "--")
    arrow(left, w, w + x, "y x", CLASS_COLOURS[1])
    arrow(left, (0, 0), w + x, "new w")
    right.set(title="w is the normal of the boundary", xlabel="x1", ylabel="x2")
    draw_line(right, 0, *w, color=GREY, ls="--", lw=1.5)
    draw_line(right, 0, *(w + x))
    arrow(right, (0, 0), w, "w", GREY, "--")
    arrow(right, (0, 0), w + x, "new w")
    right.plot(*x, MARKERS[1], color=CLASS_COLOURS[1], ms=9)


def sigmoid(axes: Any) -> None:
    """Draw the step of the perceptron, and the sigmoid of logistic regression on one column."""
    rng = np.random.default_rng(3)
    x = np.sort(rng.normal(size=40))
    y = (x + rng.normal(0, 0.6, 40) > 0).astype(int)
    model = LogisticRegression(C=10).fit(x[:, None], y)
    grid = np.linspace(-3, 3, 300)
    step, curve = axes
    step.set(title="T(s): the class by the sign of the score", xlabel="score s", ylabel="class")
    step.plot([-3, 0, np.nan, 0, 3], [-1, -1, np.nan, 1, 1], color=DARK, lw=2)
    curve.set(title="P(y = 1 | x) = sigma(w x + b)", xlabel="x", ylabel="probability")
    curve.plot(grid, model.predict_proba(grid[:, None])[:, 1], color=DARK, lw=2)
    curve.axhline(0.5, color=LIGHT, lw=1)
    for k in (0, 1):
        curve.plot(x[y == k], y[y == k], MARKERS[k], color=CLASS_COLOURS[k])


def folds(axes: Any) -> None:
    """Draw hold-out, five folds and leave-one-out: the rows that are held out in each turn."""
    for ax, (title, count) in zip(
        axes, [("hold-out", 1), ("5 folds", 5), ("leave-one-out", 20)], strict=True
    ):
        held = np.zeros((count, 20))
        if count == 1:
            held[0, -6:] = 1
        else:
            for k, rows in enumerate(np.array_split(np.arange(20), count)):
                held[k, rows] = 1
        ax.pcolormesh(
            held, cmap=mpl.colors.ListedColormap([LIGHT, CLASS_COLOURS[1]]), edgecolors="white"
        )
        ax.set(title=title, xlabel="row", ylabel="turn", xticks=[0, 10, 20], yticks=[0, count])
        ax.invert_yaxis()


def ruined(axes: Any) -> None:
    """Draw how one late mistake ruins the last weights, not the mean and the votes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    X = rng.normal(size=(1000, 2)) * 0.8 + np.where(y, 1, -1)[:, None] * [1.6, 1.2]
    late = np.vstack([X, [[2.5, 2.5]]]), np.append(y, 0)
    one = {"max_iter": 1, "shuffle": False}
    for ax, learner in zip(axes, (Perceptron, AveragedPerceptron, VotedPerceptron), strict=True):
        options = one | ({"pocket": False} if learner is Perceptron else {})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = learner(**options).fit(*late)
        error = 100 * np.mean(fitted.predict(X) != y)
        ax.set(xlim=(-5, 5), ylim=(-5, 5), title=f"{learner.__name__}: {error:.1f} % wrong")
        for k in (0, 1):
            ax.plot(*X[y == k].T, MARKERS[k], color=CLASS_COLOURS[k], ms=2)
        ax.plot(2.5, 2.5, MARKERS[0], color=CLASS_COLOURS[0], ms=12, mec=DARK)
        grid = np.stack(np.meshgrid(np.linspace(-5, 5, 200), np.linspace(-5, 5, 200)), axis=-1)
        scores = fitted.decision_function(grid.reshape(-1, 2)).reshape(200, 200)
        ax.contour(grid[..., 0], grid[..., 1], scores, levels=[0], colors=DARK, linewidths=2)


def widrow_hoff(axes: Any) -> None:
    """Draw the error of each epoch for three step sizes, and the line after some steps."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, 30)
    y = 0.5 + 1.5 * x + rng.normal(0, 0.3, 30)
    errors, lines = axes
    for eta, colour in zip((0.01, 0.05, 0.3), CLASS_COLOURS, strict=False):
        steps = trace(WidrowHoff(eta0=eta, max_iter=12, tol=None), x[:, None], y, order="given")
        errors.plot(np.arange(1, 13), steps.losses, "o-", color=colour, ms=4, label=f"eta = {eta}")
    errors.set(title="Error of each epoch", xlabel="epoch", ylabel="mean squared error", ylim=0)
    errors.legend(frameon=False)
    steps = trace(WidrowHoff(eta0=0.05, max_iter=12, tol=None), x[:, None], y, order="given")
    lines.plot(x, y, "o", color=GREY)
    for t, shade in ((0, 0.25), (10, 0.45), (30, 0.65), (360, 1.0)):
        b, w = steps.weights[t, 0]
        lines.plot([-1, 1], [b - w, b + w], color=DARK, alpha=shade, label=f"after {t} steps")
    lines.set(title="The line while it learns, eta = 0.05", xlabel="x", ylabel="y")
    lines.legend(frameon=False, fontsize=9)


def true_borders(axes: Any) -> None:
    """Draw the borders of the true Gaussians, and those of LDA from 20 rows a class."""
    means = np.array([[0, 0], [4, 1], [0, 5]])
    covariance = np.array([[1, 0.6], [0.6, 2]])
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.multivariate_normal(mean, covariance, 20) for mean in means])
    y = np.repeat([0, 1, 2], 20)
    lda = LDA().fit(X, y)
    grid = np.stack(np.meshgrid(np.linspace(-4, 8, 300), np.linspace(-4, 10, 300)), axis=-1)
    inverse = np.linalg.inv(covariance)
    true = grid @ inverse @ means.T - np.einsum("kj,ji,ki->k", means, inverse, means) / 2
    found = lda.discriminants(grid.reshape(-1, 2)).reshape(300, 300, 3)
    values, vectors = np.linalg.eigh(covariance)
    for ax, deltas, title in zip(
        axes, (true, found), ("the truth", "estimated by LDA"), strict=True
    ):
        ax.set(title=title, xlim=(-4, 8), ylim=(-4, 10), aspect="equal", xlabel="x1", ylabel="x2")
        ax.contour(
            grid[..., 0], grid[..., 1], np.argmax(deltas, axis=2), levels=[0.5, 1.5], colors=DARK
        )
        for k, mean in enumerate(means):
            angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
            ax.add_patch(
                Ellipse(
                    mean,
                    6 * values[1] ** 0.5,
                    6 * values[0] ** 0.5,
                    angle=angle,
                    fill=False,
                    ec=CLASS_COLOURS[k],
                )
            )
    points(axes[1], X, y)


def posterior(axes: Any) -> None:
    """Draw prior and posterior of (b, w) in weight space, after 0, 1, 3 and 20 rows."""
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 1, 20)
    y = 0.7 * x - 0.3 + rng.normal(0, 0.3, 20)
    grid = np.stack(np.meshgrid(np.linspace(-1.6, 1.6, 200), np.linspace(-1.6, 1.6, 200)), axis=-1)
    for ax, n in zip(axes, (0, 1, 3, 20), strict=True):
        design = np.column_stack([np.ones(n), x[:n]])
        precision = np.eye(2) / 0.5 + design.T @ design / 0.09
        mean = np.linalg.solve(precision, design.T @ y[:n] / 0.09)
        away = grid - mean
        density = np.exp(-np.einsum("ijk,kl,ijl->ij", away, precision, away) / 2)
        ax.contourf(grid[..., 0], grid[..., 1], density, levels=6, cmap="Blues")
        ax.plot(-0.3, 0.7, "x", color=CLASS_COLOURS[1], ms=9, mew=3)
        ax.set(title=f"{n} rows" if n != 1 else "1 row", xlabel="b", ylabel="w", aspect="equal")
    axes[0].set_title("prior")


def intervals(axes: Any) -> None:
    """Draw one column that no threshold separates: with x squared two thresholds do."""
    x = np.array([-3, -2.4, -2, -1, -0.6, 0.1, 0.7, 1.1, 1.9, 2.5, 3.1])
    y = (np.abs(x) > 1.5).astype(int)
    flat, lifted = axes
    model = LinearSVM(C=1e6).fit(np.column_stack([x, x**2]), y)
    (w1, w2), b = model.coef_[0], float(model.intercept_[0])
    roots = np.sort(np.roots([w2, w1, b]).real)
    flat.axvspan(*roots, color=CLASS_COLOURS[0], alpha=0.15)
    flat.set(title="on the line: an interval", xlabel="x", yticks=[], ylim=(-1, 1))
    lifted.set(title="in the plane of x and x squared: a line", xlabel="x", ylabel="x squared")
    lifted.plot(np.linspace(-3.2, 3.2, 99), np.linspace(-3.2, 3.2, 99) ** 2, color=LIGHT)
    for ax, height in ((flat, np.zeros(11)), (lifted, x**2)):
        points(ax, np.column_stack([x, height]), y)
    line(lifted, model)


def weird_loss(axes: Any) -> None:
    """Draw the loss behind the perceptron, (y - sign s)(y - s), beside others."""
    s = np.linspace(-3, 3, 601)
    (ax,) = axes
    ax.plot(
        s,
        (1 - np.sign(s)) * (1 - s),
        color=CLASS_COLOURS[0],
        lw=2,
        label="(y - sign s)(y - s), lecture B",
    )
    ax.plot(s, np.maximum(0, -s), color=CLASS_COLOURS[1], lw=2, label="perceptron: max(0, -s)")
    ax.plot(s, (s <= 0).astype(float), color=GREY, ls="--", label="error: 0 or 1")
    ax.set(title="Losses of a row with y = +1", xlabel="score s", ylabel="loss", ylim=(-0.2, 6))
    ax.legend(frameon=False)


def learners(axes: Any) -> None:
    """Draw one set of rows, six learners, six boundaries."""
    X, y, columns = load("penguins")
    kind = {"Adelie": 0, "Gentoo": 1}
    fits: list[Any] = [
        Perceptron(), LinearSVM(), LogisticRegression(),
        LDA(), LinearGaussianNB(), BatchPerceptron(),
    ]  # fmt: skip
    label = np.array([kind[name] for name in y])
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    for ax, learner in zip(axes, fits, strict=True):
        points(ax, scaled, y)
        fitted = learner.fit(scaled, label)
        wrong = int((fitted.predict(scaled) != label).sum())
        line(ax, fitted)
        ax.set(title=f"{type(learner).__name__}: {wrong} wrong", xticks=[], yticks=[])
        ax.set(xlabel=columns[0], ylabel=columns[1])


def projection(axes: Any) -> None:
    """Draw the residuals of least squares, and the flatter line of ridge."""
    from separable import Ridge

    rng = np.random.default_rng(2)
    x = np.sort(rng.uniform(-2, 2, 14))
    y = 0.4 + 0.9 * x + rng.normal(0, 0.5, 14)
    (ax,) = axes
    for learner, colour, name in (
        (LeastSquares(), DARK, "least squares"),
        (Ridge(alpha=10), CLASS_COLOURS[0], "ridge, alpha = 10"),
    ):
        fitted = learner.fit(x[:, None], y)
        ax.plot(x, fitted.predict(x[:, None]), color=colour, lw=2, label=name)
        if name == "least squares":
            ax.vlines(x, fitted.predict(x[:, None]), y, color=GREY, lw=1)
    ax.plot(x, y, "o", color=CLASS_COLOURS[1])
    ax.set(title="The sum of the squared residuals is smallest", xlabel="x", ylabel="y")
    ax.legend(frameon=False)


def margin(axes: Any) -> None:
    """Draw the widest slab between two clouds, its support rows, and a perceptron's boundary."""
    X, y, _ = load("clouds")
    svm, other = LinearSVM(C=1e6).fit(X, y), Perceptron(random_state=4).fit(X, y)
    (ax,) = axes
    points(ax, X, y)
    (w1, w2), b = svm.coef_[0], float(svm.intercept_[0])
    for shift in (-1, 1):
        draw_line(ax, b + shift, w1, w2, ls="--", lw=1)
    line(ax, svm, label="LinearSVM")
    line(ax, other, color=GREY, ls=":", label="Perceptron")
    near = np.abs(np.abs(X @ [w1, w2] + b) - 1) < 1e-6
    ax.plot(*X[near].T, "o", ms=15, mfc="none", mec=DARK)
    ax.set(title="The widest margin, and its support rows", xlabel="x1", ylabel="x2")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def categories(axes: Any) -> None:
    """Draw a category as a code, which orders its levels, and as columns; dicts as columns."""
    codes, one_hot, dicts = axes
    levels = ["fibrous", "grooves", "scaly", "smooth"]
    codes.plot([1, 2, 3, 4], [0] * 4, "o-", color=CLASS_COLOURS[1])
    for k, level in enumerate(levels):
        codes.annotate(level, (k + 1, 0), (0, 10), textcoords="offset points", ha="center")
    codes.set(title="codes claim an order", xlim=(0.3, 4.7), yticks=[], xticks=[1, 2, 3, 4])
    table(one_hot, np.eye(4), levels, levels, "one column a level")
    names = ["free", "money", "from=bank", "from=friend"]
    values = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [3, 0, 0, 0]])
    table(dicts, values, ["mail 1", "mail 2", "mail 3"], names, "dicts")


def table(ax: Axes, values: Any, rows: list[str], columns: list[str], title: str) -> None:
    """Draw a small table of numbers, shaded where they are not 0."""
    ax.imshow(values > 0, cmap="Blues", vmin=0, vmax=3)
    for i, j in np.ndindex(values.shape):
        ax.text(j, i, f"{values[i, j]:.0f}", ha="center", va="center")
    ax.set(title=title, yticks=range(len(rows)), xticks=range(len(columns)))
    ax.set_yticklabels(rows)
    ax.set_xticklabels(columns, rotation=30, ha="right")


#: Each picture: its function, rows and columns of panels, and its size in inches.
PICTURES = {
    "verdicts": (verdicts, (1, 3), (9, 3.2)),
    "update_vectors": (update_vectors, (1, 2), (8, 4)),
    "sigmoid": (sigmoid, (1, 2), (9, 3.2)),
    "folds": (folds, (1, 3), (9, 3)),
    "last_mean_votes": (ruined, (1, 3), (10, 3.6)),
    "widrow_hoff": (widrow_hoff, (1, 2), (9, 3.6)),
    "true_borders": (true_borders, (1, 2), (8, 4.6)),
    "prior_to_posterior": (posterior, (1, 4), (11, 3)),
    "intervals": (intervals, (1, 2), (9, 3.2)),
    "weird_loss": (weird_loss, (1, 1), (6, 3.6)),
    "one_family": (learners, (2, 3), (9, 5.6)),
    "residuals": (projection, (1, 1), (6, 3.8)),
    "categories": (categories, (1, 3), (11, 3)),
    "widest_margin": (margin, (1, 1), (6, 4.2)),
}
#: Pictures that are smaller as pixels.
MANY_POINTS = {"folds", "last_mean_votes", "prior_to_posterior", "one_family"}


def draw(name: str) -> Any:
    """Return the figure of a picture."""
    function, shape, size = PICTURES[name]
    figure, axes = plt.subplots(*shape, figsize=size, layout="constrained")
    figure.get_layout_engine().set(h_pad=0.12, w_pad=0.08)
    function(np.ravel(axes))
    return figure


def main() -> None:
    """Write every picture beside this file, as SVG or, of many points, as PNG."""
    mpl.use("Agg")
    with mpl.rc_context(STYLE):
        for name in PICTURES:
            figure, dates = draw(name), {"Date": None, "Creator": None}
            if name in MANY_POINTS:
                figure.savefig(FOLDER / f"{name}.png", dpi=150, metadata={"Software": None})
            else:
                figure.savefig(FOLDER / f"{name}.svg", metadata=dates)
            plt.close("all")


if __name__ == "__main__":
    main()
