"""The picture of a trace: boundaries of two columns, else the measure of each epoch and weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.plot.lectures.training_frames import TrainingFrames, TrainingFramesDisplay
from separable.plot.style.theme import DARK, LINE_COLOURS, pyplot, short_names

if TYPE_CHECKING:
    from separable.learn.trace_table import Trace

__all__ = ["draw_trace", "frames_display"]

#: Maximum number of weights that are drawn, those that end largest.
MAX_LINES = 7


def draw_trace(trace: Trace, panels: int) -> Any:
    """Draw a trace; return the display or the axes."""
    return frames_display(trace).plot(panels=panels) if _is_plane(trace) else _curves(trace)


def _is_plane(trace: Trace) -> bool:
    return trace.classes is not None and len(trace.classes) == 2 and trace.X.shape[1] == 2


def frames_display(trace: Trace) -> TrainingFramesDisplay:
    """Return the boundary after each update."""
    if trace.classes is None or not _is_plane(trace):
        raise ValueError(
            "An animation shows two columns and two classes. plot() draws the weights of others."
        )
    kept = np.flatnonzero(trace.changed)
    weights = trace.weights[np.append(0, kept + 1), 0]
    frames = TrainingFrames(
        weights[:, 1:],
        weights[:, 0],
        np.append(-1, trace.row[kept]),
        np.append(0, trace.epoch[kept]),
    )
    name = type(trace.learner).__name__
    columns = tuple(short_names(trace.columns))
    return TrainingFramesDisplay(trace.X, trace.y, trace.classes, frames, name, columns)


def _curves(trace: Trace) -> Any:
    """Return axes with the measure of each epoch above, the weights after each step below."""
    _, axes = pyplot().subplots(2, 1, figsize=(6.4, 6.4), layout="constrained")
    axes[0].plot(np.arange(1, len(trace.losses) + 1), trace.losses, "o-", color=DARK)
    axes[0].set(title=trace.title(), xlabel="epoch", ylabel=trace.measure)
    flat = trace.weights.reshape(len(trace.weights), -1)
    largest = np.argsort(-np.abs(flat[-1]), kind="stable")[:MAX_LINES]
    names = short_names([trace.weight_names[j] for j in largest])
    for colour, j, name in zip(LINE_COLOURS, largest, names, strict=False):
        axes[1].plot(flat[:, j], color=colour, label=name, drawstyle="steps-post")
    axes[1].set(xlabel="step", ylabel="weight")
    axes[1].legend(frameon=False, fontsize=9)
    return axes
