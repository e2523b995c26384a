"""The steps of an online learner as a table: text, HTML, frame, picture."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._notebook import html_table
from separable.errors import require_packages
from separable.learn.plain import LOSSES
from separable.online.averaged_perceptron import AveragedPerceptron
from separable.online.batch_perceptron import BatchPerceptron
from separable.online.voted_perceptron import VotedPerceptron

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.typing import Floats, Indices

__all__ = ["Trace"]

#: Steps that a printed table shows: the first and the last of more.
MAX_SHOWN = 40
#: Columns whose weights a printed table shows.
MAX_COLUMNS = 6


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """Every step of a learner.

    Printing it shows a table of the steps; ``to_frame()`` has all of them.

    Parameters
    ----------
    learner, fitted : estimator
        The learner, and a copy that was fitted to the same rows by the compiled core.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    classes : ndarray or None
        None: y are numbers.
    columns : list of str
        The names of the columns.
    row : ndarray of int, shape (T,)
        The row of each step; -1: all rows (batch).
    epoch : ndarray of int, shape (T,)
        From 1.
    weights : ndarray of shape (T + 1, k, d + 1)
        (b, w) of each model: initially, and after each step. The steps of ``AveragedPerceptron``
        and ``VotedPerceptron`` are those of the running weights; see ``means``.
    """

    learner: Any
    fitted: Any
    X: Floats
    y: NDArray[Any]
    classes: NDArray[Any] | None
    columns: Sequence[str]
    row: Indices
    epoch: Indices
    weights: Floats

    def __len__(self) -> int:
        return len(self.row)

    # ------------------------------------------------------------------ numbers

    @property
    def n_models(self) -> int:
        """One for two classes and for numbers, else one a class."""
        return int(self.weights.shape[1])

    @cached_property
    def targets(self) -> Floats:
        """The target of each row in each model: -1 or +1, or the number."""
        if self.classes is None:
            return np.asarray(self.y, dtype=np.float64)[:, None]
        label = np.searchsorted(self.classes, self.y)
        positive = [1] if self.n_models == 1 else range(self.n_models)
        return np.stack([np.where(label == k, 1.0, -1.0) for k in positive], axis=1)

    @cached_property
    def scores(self) -> Floats:
        """The scores of the row before its step, (T, k); of a batch NaN."""
        if self.is_batch:
            return np.full((len(self), self.n_models), np.nan)
        before = self.weights[:-1]
        scores: Floats = np.einsum("tkj,tj->tk", before[:, :, 1:], self.X[self.row])
        return scores + before[:, :, 0]

    @property
    def is_batch(self) -> bool:
        """Whether a step uses all rows."""
        return isinstance(self.learner, BatchPerceptron)

    @cached_property
    def changed(self) -> NDArray[np.bool_]:
        """The steps that changed some weight."""
        changed: NDArray[np.bool_] = (np.diff(self.weights, axis=0) != 0).any(axis=(1, 2))
        return changed

    @property
    def updates(self) -> int:
        """The number of steps that changed some weight."""
        return int(self.changed.sum())

    @cached_property
    def means(self) -> Floats | None:
        """The mean of the weights after steps 1 to t, of averaged and voted perceptrons."""
        if not isinstance(self.learner, AveragedPerceptron | VotedPerceptron):
            return None
        count = np.arange(1, len(self) + 1)[:, None, None]
        return np.asarray(np.cumsum(self.weights[1:], axis=0) / count)

    @cached_property
    def votes(self) -> list[tuple[Floats, int]]:
        """The distinct weights in order, each with the number of steps after which it was current.

        They are the voters of ``VotedPerceptron``, of the first model.
        """
        after = self.weights[1:, 0]
        starts = np.append(0, 1 + np.flatnonzero((np.diff(after, axis=0) != 0).any(axis=1)))
        counts = np.diff(np.append(starts, len(after)))
        return [(after[s], int(c)) for s, c in zip(starts, counts, strict=True)]

    @cached_property
    def losses(self) -> Floats:
        """The measure of each epoch: mistakes of classifiers, else the mean loss before each step.

        Of SGD it is the mean loss, of ``WidrowHoff`` the mean squared error.
        """
        sums = np.bincount(self.epoch - 1, weights=self._step_loss)
        return sums.astype(np.float64)

    @property
    def measure(self) -> str:
        """What ``losses`` are."""
        if hasattr(self.learner, "loss"):
            return f"mean {self.learner.loss}"
        return "mistakes" if self.classes is not None else "mean squared error"

    @cached_property
    def _step_loss(self) -> Floats:
        n = len(self.X)
        if self.is_batch:
            weights = self.weights[:-1]
            margins = self.targets * (np.einsum("tkj,nj->tnk", weights[:, :, 1:], self.X))
            margins += self.targets * weights[:, None, :, 0]
            return np.asarray((margins <= 0).sum(axis=(1, 2)), dtype=np.float64)
        targets = self.targets[self.row]
        if hasattr(self.learner, "loss"):
            loss = LOSSES[self.learner.loss](self.scores, targets, float(self.learner.epsilon))
            return np.asarray(loss.mean(axis=1) / n)
        if self.classes is None:
            return np.asarray((self.scores - targets)[:, 0] ** 2 / n)
        wrong = (np.diff(self.weights, axis=0) != 0).any(axis=2)
        multiple = getattr(self.learner, "multi_class", "ovr") != "argmax"
        return np.asarray(wrong.sum(axis=1) if multiple else wrong.any(axis=1), dtype=np.float64)

    @cached_property
    def bound(self) -> float | None:
        """Upper bound (R / gamma)^2 on the updates of a perceptron, None if it does not apply.

        gamma is the margin of the final weights in the space (1, x).
        """
        bound = self.fitted.model_.evidence.get("bound")
        return None if not isinstance(bound, int | float) else float(bound)

    @cached_property
    def difference(self) -> float:
        """The largest difference of a final weight from that of ``fit``, relative to the largest.

        It is a few roundings, 1e-15, unless a score was so near 0 that rounding decided its sign.
        """
        ours = self.weights[-1] if self.means is None else self.means[-1]
        model = self.fitted.model_
        if isinstance(self.learner, VotedPerceptron):
            model = model.mean_model()
        theirs = np.hstack([model.intercept[:, None], model.weights])
        return float(np.abs(ours - theirs).max() / max(1e-300, np.abs(theirs).max()))

    # ------------------------------------------------------------------ tables

    def records(self) -> list[dict[str, Any]]:
        """Return one dict a step, in plain numbers; a column named b or w.x of several models."""
        names = self.weight_names
        flat = self.weights.reshape(len(self.weights), -1).tolist()
        labels = [None if i < 0 else self.y[i] for i in self.row.tolist()]
        records = []
        for t, label in enumerate(labels):
            record: dict[str, Any] = {
                "step": t + 1,
                "epoch": int(self.epoch[t]),
                "row": None if label is None else int(self.row[t]),
                "y": label.item() if isinstance(label, np.generic) else label,
                "score": self.scores[t].tolist() if self.n_models > 1 else float(self.scores[t, 0]),
                "result": self._result(t),
            }
            record |= {f"{name} before": v for name, v in zip(names, flat[t], strict=True)}
            record |= {f"{name} after": v for name, v in zip(names, flat[t + 1], strict=True)}
            records.append(record)
        return records

    def to_frame(self) -> Any:
        """Return all steps as a pandas frame."""
        require_packages("A frame of steps", pandas="pandas")
        from importlib import import_module

        return import_module("pandas").DataFrame.from_records(self.records())

    def to_text(self) -> str:
        """Return the table as text."""
        cells = [self._head(), *self._cells()]
        widths = [max(len(line[j]) for line in cells) for j in range(len(cells[0]))]
        lines = [
            "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True))
            for line in cells
        ]
        return "\n".join([self.title(), "", *lines])

    def title(self) -> str:
        """Return one line: the learner, epochs, steps, updates, bound."""
        name, epochs = type(self.learner).__name__, int(self.epoch[-1])
        words = f"{name}: {_count(len(self), 'step')} in {_count(epochs, 'epoch')}"
        words += f", {_count(self.updates, 'update')}"
        return words if self.bound is None else f"{words}, at most {self.bound:.0f} by the bound"

    def _head(self) -> list[str]:
        return ["step", "epoch", "row", "y", "score", "result", "(b, w) before", "(b, w) after"]

    def _cells(self) -> list[list[str]]:
        shown = list(range(len(self)))
        if len(shown) > MAX_SHOWN:
            half = MAX_SHOWN // 2
            shown = [*shown[:half], -1, *shown[-half:]]
        return [self._line(t) if t >= 0 else ["..."] * len(self._head()) for t in shown]

    def _line(self, t: int) -> list[str]:
        row = int(self.row[t])
        return [
            str(t + 1),
            str(self.epoch[t]),
            "all" if row < 0 else str(row),
            "" if row < 0 else str(self.y[row]),
            "" if row < 0 else _numbers(self.scores[t]),
            self._result(t),
            self._vector(t),
            self._vector(t + 1) if self.changed[t] else "same",
        ]

    def _result(self, t: int) -> str:
        if self.is_batch:
            return _count(int(self._step_loss[t]), "mistake")
        if self.classes is None or hasattr(self.learner, "loss"):
            return "update" if self.changed[t] else "no update"
        return "mistake" if self.changed[t] else "correct"

    def _vector(self, t: int) -> str:
        return "; ".join(
            _numbers(w[: MAX_COLUMNS + 1]) + (" ..." if len(w) > MAX_COLUMNS + 1 else "")
            for w in self.weights[t]
        )

    @property
    def weight_names(self) -> list[str]:
        """The names of the weights of all models, the intercept of each first."""
        one = ["b", *(f"w.{name}" for name in self.columns)]
        if self.n_models == 1 or self.classes is None:
            return one
        return [f"{name} [{label}]" for label in self.classes for name in one]

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return html_table(self.title(), [self._head(), *self._cells()])

    # ------------------------------------------------------------------ pictures

    def plot(self, *, panels: int = 9) -> Any:
        """Draw the steps: the boundary after updates, or the weights of more than two columns.

        Parameters
        ----------
        panels : int, default 9
            Maximum number of panels, of two columns and two classes.

        Returns
        -------
        TrainingFramesDisplay or Axes
        """
        from separable.learn.trace_picture import draw_trace

        return draw_trace(self, panels)

    def animate(self, path: str | Path, *, frames: int = 60, seconds: float = 0.5) -> Path:
        """Write the boundary after each update as an animation, for two columns and two classes.

        Parameters
        ----------
        path : str or path
            Ends in ".gif" or ".html".
        frames : int, default 60
            Maximum number of frames.
        seconds : float, default 0.5
            Duration of a frame.

        Returns
        -------
        Path
        """
        from separable.learn.trace_picture import frames_display

        return frames_display(self).save(path, frames=frames, seconds=seconds)

    def save(self, path: str | Path) -> Path:
        """Write the trace as a page of the lab, which steps through it in a browser.

        The trace has two classes, up to 8 columns, and a fixed order: ``order="given"`` or a
        permutation. The rows are stored in this order. An existing file is not overwritten.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        Path
        """
        from separable.learn.trace_page import lab_page
        from separable.model.files.atomic import write_atomically

        if Path(path).exists():
            raise FileExistsError(f"{path} exists already. Name another file, or remove it.")
        write_atomically(Path(path), lab_page(self).encode())
        return Path(path)


def _numbers(values: Floats) -> str:
    text = ", ".join(f"{v + 0.0:.4g}" for v in values)
    return f"({text})" if len(values) > 1 else text


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
