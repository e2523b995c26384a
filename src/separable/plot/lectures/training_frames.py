"""Boundary of an online learner after each update: replay, panels, animated GIF, HTML page."""

from __future__ import annotations

import html
from base64 import b64encode
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable._core import native
from separable.data.rows import as_rows
from separable.estimator import clone
from separable.model.parameters import COUNT, POSITIVE, ParameterError
from separable.plot.style.panels import describe_panel, legend_of_panels, panels_for
from separable.plot.style.plane import (
    box_around,
    draw_boundary,
    draw_classes,
    names_of,
    plane_points,
    regions,
    two_classes,
)
from separable.plot.style.theme import CLASS_COLOURS, DARK, GREY, Display, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.typing import Floats


__all__ = [
    "MAX_PRESENTATIONS",
    "TrainingFrames",
    "TrainingFramesDisplay",
    "replay",
]


#: Maximum number of presented rows, over all epochs, for a picture.
MAX_PRESENTATIONS = 20_000

#: Duration of the last frame, in multiples of the others.
LAST_FRAME_FACTOR = 4

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
  body {{ font-family: sans-serif; max-width: 48rem; margin: 1rem auto; text-align: center; }}
  img {{ max-width: 100%; display: block; margin: 0 auto 0.5rem; }}
  input {{ width: 60%; vertical-align: middle; }}
  button {{ min-width: 5rem; font-size: 1rem; }}
</style>
</head>
<body>
<img id="picture" alt="{title}, step by step">
<button id="play" type="button">Play</button>
<input id="place" type="range" min="0" max="{last}" value="0" aria-label="frame">
<span id="count"></span>
<script>
const frames = [{frames}];
const picture = document.getElementById("picture"), place = document.getElementById("place");
const play = document.getElementById("play"), count = document.getElementById("count");
let timer = null;
function show() {{
  picture.src = "data:image/png;base64," + frames[place.value];
  count.textContent = (Number(place.value) + 1) + " / " + frames.length;
}}
function stop() {{ clearInterval(timer); timer = null; play.textContent = "Play"; }}
function step() {{
  if (Number(place.value) + 1 >= frames.length) {{ stop(); return; }}
  place.value = Number(place.value) + 1;
  show();
}}
play.onclick = () => {{
  if (timer !== null) {{ stop(); return; }}
  if (Number(place.value) + 1 >= frames.length) {{ place.value = 0; show(); }}
  timer = setInterval(step, {milliseconds});
  play.textContent = "Pause";
}};
place.oninput = () => {{ stop(); show(); }};
show();
</script>
</body>
</html>
"""


@dataclass(frozen=True, eq=False)
class TrainingFrames:
    """The start and every update after it.

    Parameters
    ----------
    coef : ndarray of shape (F, d)
        The weights after each update; the first are those before any.
    intercept : ndarray of shape (F,)
    row : ndarray of int, shape (F,)
        The row that each update learned from; -1 at the start.
    epoch : ndarray of int, shape (F,)
        From 1; 0 at the start.
    """

    coef: Floats
    intercept: Floats
    row: NDArray[np.int64]
    epoch: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.row)

    def chosen(self, most: int) -> list[int]:
        """Return at most this many frames: the first, the last, and more early than late ones.

        Examples
        --------
        >>> import numpy as np
        >>> steps = np.arange(10)
        >>> TrainingFrames(steps[:, None] * 1.0, steps * 1.0, steps, steps).chosen(5)
        [0, 1, 2, 5, 9]
        """
        last = len(self) - 1
        if last < most:
            return list(range(len(self)))
        if most == 1:
            return [last]
        # each at least one after the one before, else in equal ratios
        steps = np.geomspace(1, last + 1, most) - 1
        steps = np.maximum(steps.round().astype(int), np.arange(most))
        return steps.tolist()  # type: ignore[no-any-return]


def replay(estimator: Any, rows: Rows, y: NDArray[Any], classes: NDArray[Any]) -> TrainingFrames:
    """Fit a copy of the learner, then show the same rows to another, one at a time.

    ``fit`` says how many epochs there are. ``partial_fit`` row by row takes the same steps, to the
    bit, and lets the weights be seen after each: slow, and meant for pictures of few rows.
    """
    _check_learner(estimator)
    fitted = clone(estimator).fit(rows.to_matrix(), y)
    shown = fitted.n_iter_ * len(rows)
    if shown > MAX_PRESENTATIONS:
        raise ValueError(
            f"{len(rows)} rows in {fitted.n_iter_} epochs are {shown} steps, more than the "
            f"{MAX_PRESENTATIONS} that a picture of single steps is made of. Take fewer rows, or "
            "a smaller max_iter."
        )
    frames = _steps(clone(estimator), rows, y, classes, fitted.n_iter_)
    if not (
        np.array_equal(frames.coef[-1], fitted.coef_[0])
        and frames.intercept[-1] == fitted.intercept_[0]
    ):
        raise ValueError(
            f"The steps of {estimator!r} do not end where its fit ends, so they are not what fit "
            "does. Use early_stopping=False and no sample weights or held-out rows."
        )
    return frames


def _check_learner(estimator: Any) -> None:
    if not hasattr(estimator, "partial_fit") or not hasattr(estimator, "shuffle"):
        raise TypeError(
            f"{type(estimator).__name__} does not learn row by row. Use Perceptron, "
            "AveragedPerceptron or SGDClassifier."
        )
    if estimator.shuffle:
        raise ValueError(
            "Frames show the rows in the order given, so the learner must not shuffle them. Set "
            "shuffle=False; for another order, give the rows in it."
        )


def _steps(
    learner: Any, rows: Rows, y: NDArray[Any], classes: NDArray[Any], epochs: int
) -> TrainingFrames:
    coef, intercept, learned, when = [np.zeros(rows.n_features)], [0.0], [-1], [0]
    for epoch in range(1, epochs + 1):
        for i in range(len(rows)):
            learner.partial_fit(rows.slice(i, i + 1).to_matrix(), y[i : i + 1], classes=classes)
            w, b = learner.coef_[0], float(learner.intercept_[0])
            if b != intercept[-1] or not np.array_equal(w, coef[-1]):
                coef.append(np.array(w, dtype=np.float64))
                intercept.append(b)
                learned.append(i)
                when.append(epoch)
    return TrainingFrames(np.array(coef), np.array(intercept), np.array(learned), np.array(when))


@dataclass(eq=False, repr=False)
class TrainingFramesDisplay(Display):
    """Weights and boundary of an online learner after each update.

    The frames are the real learner's: rows are shown to it one at a time, as often as its ``fit``
    takes, and the last frame has the weights of ``fit``, to the bit.

    Parameters
    ----------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
    classes : ndarray of shape (2,)
    frames : TrainingFrames
        Weights, intercept, row and epoch of every update.
    learner : str
        What learned, for the title.
    names : tuple of str
    loss : str, optional
        The loss that is descended on; its mean is in the title of each frame.

    Attributes
    ----------
    axes_ : ndarray of Axes
        One a panel.
    ax_ : Axes
        The first of these axes.
    figure_ : Figure

    Examples
    --------
    >>> from separable import Perceptron
    >>> from separable.plot import TrainingFramesDisplay
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> learner = Perceptron(shuffle=False)
    >>> display = TrainingFramesDisplay.from_estimator(learner, X, y)
    >>> display.frames.coef[-1], learner.fit(X, y).coef_[0]
    (array([3., 2.]), array([3., 2.]))
    """

    X: Floats
    y: NDArray[Any]
    classes: NDArray[Any]
    frames: TrainingFrames
    learner: str
    names: tuple[str, ...] = ("x1", "x2")
    loss: str | None = None
    axes_: Any = field(init=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, panels: int = 9, ax: Axes | None = None
    ) -> Self:
        """Let a copy of the learner learn, and draw its steps.

        Parameters
        ----------
        estimator : online classifier, with ``shuffle=False``
            For example ``Perceptron`` or ``SGDClassifier("sigmoid_mse")``.
        X : array-like, sparse matrix or numeric data frame of shape (n, 2)
        y : array-like of shape (n,)
            Two classes.
        panels : int, default 9
            The most panels; of more updates some are shown, the first and the last always.
        ax : Axes, optional

        Returns
        -------
        TrainingFramesDisplay
        """
        points = plane_points(X, cls.__name__)
        labels, classes = two_classes(y, len(points), cls.__name__)
        frames = replay(estimator, as_rows(X), labels, classes)
        words = _words(estimator)
        loss = getattr(estimator, "loss", None)
        made = cls(points, labels, classes, frames, words, names_of(X), loss)
        return made.plot(ax, panels=panels)

    def plot(self, ax: Axes | None = None, *, panels: int = 9) -> Self:
        """Draw panels, in place of ``ax`` or in a new figure; return self."""
        if not COUNT.holds(panels):
            raise ParameterError(f"panels must be {COUNT.words}. Got {panels!r} instead.")
        chosen = self.frames.chosen(panels)
        self.figure_, self.axes_ = panels_for(ax, len(chosen), size=(3.1, 3.2), shared_axes=True)
        self.ax_ = self.axes_[0]
        for axes, frame in zip(self.axes_, chosen, strict=True):
            self.draw_frame(axes, frame)
        legend_of_panels(self.axes_, self.ax_.get_legend_handles_labels()[0], whole=ax is None)
        if ax is None:
            self.figure_.suptitle(f"{self.learner}: {len(self.frames) - 1} updates")
        return self

    def wrong(self, frame: int) -> int:
        """Return how many rows are on the wrong side in a frame."""
        scores = self.X @ self.frames.coef[frame] + self.frames.intercept[frame]
        return int(np.sum((scores > 0) != (self.y == self.classes[1])))

    def mean_loss(self, frame: int) -> float:
        """Return the mean loss of all rows in a frame."""
        scores = self.X @ self.frames.coef[frame] + self.frames.intercept[frame]
        signs = np.where(self.y == self.classes[1], 1.0, -1.0)
        values = np.empty(len(scores))
        native.write_loss(self.loss or "", 0.0, scores, signs, gradient=False, out=values)
        return float(values.mean())

    def draw_frame(self, ax: Axes, frame: int) -> None:
        """Draw the rows, the boundary before and after an update, and the row it learned from."""
        box = box_around(self.X)
        self._shade(ax, frame, box)
        for handle in draw_classes(ax, self.X, self.y, self.classes, zorder=3):
            handle.set_label(f"class {handle.get_label()}")
        for which, line, words in (
            (max(frame - 1, 0), {"color": GREY, "linestyle": "--"}, "before the update"),
            (frame, {"color": DARK, "linestyle": "-", "linewidth": 2}, "boundary"),
        ):
            w, b = self.frames.coef[which], float(self.frames.intercept[which])
            draw_boundary(ax, w, b, box, label=words, **line)
        row = self.frames.row[frame]
        ring = self.X[row] if row >= 0 else [np.nan, np.nan]
        ax.plot(
            *ring, "o", markersize=13, markerfacecolor="none", markeredgecolor=DARK,
            markeredgewidth=1.6, linestyle="", label="row of the update",
        )  # fmt: skip
        describe_panel(ax, self.title(frame), *self.names)

    def title(self, frame: int) -> str:
        """Return what a frame is, in words."""
        (w1, w2), b = self.frames.coef[frame], self.frames.intercept[frame]
        what = f"update {frame} (epoch {self.frames.epoch[frame]})" if frame else "start"
        wrong = f"{self.wrong(frame)} of {len(self.X)} wrong"
        if self.loss is not None:
            wrong += f"\nmean loss {self.mean_loss(frame):.3f}"
        return f"{what}: {wrong}\nw = ({w1:.3g}, {w2:.3g}), b = {b:.3g}"

    # ------------------------------------------------------------------ files

    def save(self, path: str | Path, *, frames: int = 60, seconds: float = 0.5) -> Path:
        """Write an animation: ``.gif``, or ``.html`` with a slider.

        Parameters
        ----------
        path : str or Path
            The suffix selects the format. Neither needs another program, and the page is
            self-contained.
        frames : int, default 60
            Maximum number of frames.
        seconds : float, default 0.5
            Duration of a frame.

        Returns
        -------
        Path
        """
        path = Path(path)
        kind = path.suffix.lower()
        if kind not in (".gif", ".html"):
            raise ValueError(
                f"An animation is saved as .gif or .html. Got {path.name!r}. For one picture use "
                "display.figure_.savefig."
            )
        _check(frames, seconds)
        if kind == ".html":
            path.write_text(self.to_html(frames=frames, seconds=seconds), encoding="utf-8")
        else:
            path.write_bytes(gif_bytes(self._images(frames), seconds))
        return path

    def to_html(self, *, frames: int = 60, seconds: float = 0.5) -> str:
        """Return a page that plays the frames, with everything it needs inside."""
        _check(frames, seconds)
        return page_text(self._images(frames), seconds, self.learner)

    def _images(self, most: int) -> list[bytes]:
        """Return frames as PNG, with the axes at the same place in all."""
        plt = pyplot()
        figure, ax = plt.subplots(figsize=(5.6, 5))
        figure.subplots_adjust(left=0.1, right=0.97, top=0.86, bottom=0.2)
        images = []
        for frame in self.frames.chosen(most):
            ax.clear()
            self.draw_frame(ax, frame)
            ax.set_title(f"{self.learner}\n{self.title(frame)}", fontsize=10, loc="left")
            if not figure.legends:
                handles, words = ax.get_legend_handles_labels()
                figure.legend(
                    handles, words, loc="lower center", ncols=3, frameon=False, fontsize=9
                )
            images.append(png_bytes(figure))
        plt.close(figure)
        return images

    # ------------------------------------------------------------------ parts of a frame

    def _shade(self, ax: Axes, frame: int, box: Floats) -> None:
        """Tint each side in the colour of its class."""
        w, b = self.frames.coef[frame], float(self.frames.intercept[frame])
        if w.any():
            for k, part in enumerate(regions(np.array([-w, w]), np.array([-b, b]), box)):
                if len(part):
                    ax.fill(*part.T, color=CLASS_COLOURS[k], alpha=0.1, linewidth=0, zorder=0)


def _words(estimator: Any) -> str:
    """Return the learner in words: its class, and its loss if it has one."""
    loss = {"sigmoid_mse": "(y - sigma)²", "log_loss": "logistic loss"}
    name = type(estimator).__name__
    if not hasattr(estimator, "loss"):
        return name
    return f"{name} on {loss.get(estimator.loss, estimator.loss)}"


def _check(frames: int, seconds: float) -> None:
    for name, value, wanted in (("frames", frames, COUNT), ("seconds", seconds, POSITIVE)):
        if not wanted.holds(value):
            raise ParameterError(f"{name} must be {wanted.words}. Got {value!r} instead.")


def png_bytes(figure: Any, dpi: int = 80) -> bytes:
    """Return a figure as PNG, the same bytes each time."""
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=dpi, metadata={"Software": None})
    return stream.getvalue()


def gif_bytes(images: list[bytes], seconds: float) -> bytes:
    """Return PNG images as a GIF that starts again at its end."""
    from PIL import Image

    frames = [Image.open(BytesIO(image)).convert("RGB").quantize(128) for image in images]
    times = [round(1000 * seconds)] * len(frames)
    times[-1] *= LAST_FRAME_FACTOR
    stream = BytesIO()
    frames[0].save(
        stream, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0, disposal=1
    )
    return stream.getvalue()


def page_text(images: list[bytes], seconds: float, title: str) -> str:
    """Return a self-contained page with PNG images, a slider and a button."""
    return PAGE.format(
        title=html.escape(title),
        last=len(images) - 1,
        frames=",\n".join(f'"{b64encode(image).decode()}"' for image in images),
        milliseconds=round(1000 * seconds),
    )
