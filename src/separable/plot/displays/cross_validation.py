"""Cross-validation scores by the value of a parameter, with the selected values."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.plot.displays.validation_scores import (
    Line,
    lines_of_learner,
    lines_of_search,
    units_of,
)
from separable.plot.style.curves import DASHES, penalty_label, penalty_positions
from separable.plot.style.fitted import name_of
from separable.plot.style.theme import (
    BLUE,
    DARK,
    GREY,
    LIGHT,
    LINE_COLOURS,
    Display,
    add_legend,
    describe,
    short_names,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from separable.select import ValidationCurve
    from separable.typing import Floats


__all__ = ["CrossValidationDisplay"]

#: Lines that have a colour and a name; of more, the best ones.
NAMED = 7


@dataclass(eq=False)
class CrossValidationDisplay(Display):
    """Mean scores on rows held out, with standard errors, the best and the 1-SE choice.

    The 1-SE choice is the simplest model whose mean score is within one standard error of the best.

    Parameters
    ----------
    learner : str
    name : str
        The parameter of the axis.
    lines : list of Line
        Scores by value, one line for each combination of the other parameters.
    metric : str
        What is measured.
    sign : float
        -1 where scores are errors, which are drawn positive, less being better.
    train : ndarray, optional
        Mean scores on the training rows, of the first line.

    Attributes
    ----------
    best_line, best, one_se : int, int, int or None
        The line with the best mean, and the places of the choices on it.
    ax_, figure_
        What was drawn on.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LogisticRegressionCV
    >>> from separable.plot import CrossValidationDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = LogisticRegressionCV(Cs=[0.01, 0.1, 1, 10], standardize=True).fit(X, y)
    >>> display = CrossValidationDisplay.from_estimator(search)
    >>> display.metric, display.lines[0].values[display.best]
    ('log loss', np.float64(1.0))
    """

    learner: str
    name: str
    lines: list[Line]
    metric: str
    sign: float
    train: Floats | None = None
    best_line: int = field(init=False)
    best: int = field(init=False)
    one_se: int | None = field(init=False)

    def __post_init__(self) -> None:
        tops = [line.mean.max() for line in self.lines]
        self.best_line = int(np.argmax(tops))
        line = self.lines[self.best_line]
        self.best, self.one_se = line.best(self.name), line.one_error(self.name)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None, **look: Any) -> Self:
        """Draw the search of a fitted learner that chose its own strength.

        Parameters
        ----------
        estimator : LogisticRegressionCV, LinearSVMCV, LassoCV, ElasticNetCV or RidgeCV
        ax : Axes, optional
        **look
            For ``Axes.plot`` of the curve.

        Returns
        -------
        CrossValidationDisplay
        """
        name, lines, scoring = lines_of_learner(estimator)
        metric, sign = units_of(scoring or _default_scoring(estimator))
        return cls(type(estimator).__name__, name, lines, metric, sign).plot(ax, **look)

    @classmethod
    def from_search(
        cls,
        search: Any,
        *,
        name: str | None = None,
        scoring: str | None = None,
        ax: Axes | None = None,
        **look: Any,
    ) -> Self:
        """Draw a search.

        Parameters
        ----------
        search : Search, or fitted GridSearchCV of scikit-learn
        name : str, optional
            The parameter of the axis. By default the one with most different numbers; each
            combination of the others has its line.
        scoring : str, optional
            Of several scores the one to draw. By default the one that decided.
        ax : Axes, optional
        **look
            For ``Axes.plot`` of the curve.

        Returns
        -------
        CrossValidationDisplay
        """
        name, lines, scoring = lines_of_search(search, name, scoring)
        metric, sign = units_of(scoring)
        learner = getattr(search, "_learner", None) or name_of(search.estimator)
        return cls(learner, name, lines, metric, sign).plot(ax, **look)

    @classmethod
    def from_curve(cls, curve: ValidationCurve, *, ax: Axes | None = None, **look: Any) -> Self:
        """Draw a validation curve, with the scores of the training rows where it has them.

        Parameters
        ----------
        curve : ValidationCurve
            Of ``separable.select.validation_curve``.
        ax : Axes, optional
        **look
            For ``Axes.plot`` of the curve.

        Returns
        -------
        CrossValidationDisplay
        """
        try:
            values = np.array(curve.values, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"The values of {curve.name} are not numbers: {list(curve.values)[:5]}. Use "
                "to_text() for a table of them."
            ) from None
        order = np.argsort(values, kind="stable")
        metric, sign = units_of(curve.metric)
        sign = sign if curve.greater_is_better else -1.0
        inner = 1.0 if curve.greater_is_better else -1.0
        line = Line("", values[order], inner * curve.mean[order], curve.standard_error[order])
        own = curve.train_scores
        train = None if own is None else inner * own.mean(axis=1)[order]
        made = cls(curve.learner, curve.name, [line], metric, sign, train)
        rank_of = {int(k): rank for rank, k in enumerate(order)}
        made.best = rank_of[curve.best_index]
        made.one_se = None if curve.one_se_index is None else rank_of[curve.one_se_index]
        return made.plot(ax, **look)

    def plot(self, ax: Axes | None = None, **look: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            By default those of a new figure.
        **look
            For ``Axes.plot`` of the curve.

        Returns
        -------
        self
        """
        axes = self._open(ax, size=(7.6, 4.6))
        values = np.concatenate([line.values for line in self.lines])
        positions = np.split(
            penalty_positions(axes, values),
            np.cumsum([len(line.values) for line in self.lines])[:-1],
        )
        handles = self._draw_lines(axes, positions, look)
        handles += self._draw_train(axes, positions[0]) + self._mark_choices(axes, positions)
        better = "lower is better" if self.sign < 0 else "higher is better"
        best = self.lines[self.best_line]
        folds = f"best {self.sign * best.mean[self.best]:.4g}"
        learner = f"{self.learner}: " if self.learner else ""
        describe(
            axes,
            f"{learner}cross-validated {self.metric} by {shortened(self.name, 30)}; {folds}",
            penalty_label(self.name, values),
            f"{self.metric} ({better})",
        )
        add_legend(axes, handles)
        return self

    def _draw_lines(self, axes: Any, positions: list[Floats], look: dict[str, Any]) -> list[Any]:
        order = np.argsort([-line.mean.max() for line in self.lines], kind="stable").tolist()
        names = [textwrap.fill(name, 34) for name in short_names((x.label for x in self.lines), 96)]
        handles = []
        for rank, k in enumerate(order):
            line, named = self.lines[k], rank < NAMED
            style = {
                "color": LINE_COLOURS[rank] if named else LIGHT,
                "linestyle": DASHES[rank % 4] if named and len(order) > 1 else "-",
                "marker": "o" if len(line.values) <= 30 else None,
                "markersize": 3.5,
                "linewidth": 1.4 if named else 0.7,
                "zorder": 3 - rank / len(order),
                **look,
            }
            (drawn,) = axes.plot(positions[k], self.sign * line.mean, **style)
            if rank == 0:
                self._draw_errors(axes, positions[k], line, drawn.get_color())
            if named:
                drawn.set_label(names[k] or "mean over folds")
                handles.append(drawn)
            elif rank == NAMED:
                more = len(order) - NAMED
                drawn.set_label(f"{more} other line{'s' * (more > 1)}")
                handles.append(drawn)
        return handles + self._error_handle()

    def _draw_errors(self, axes: Any, positions: Floats, line: Line, colour: Any) -> None:
        low, high = (line.mean + side * line.standard_error for side in (-1, 1))
        axes.fill_between(
            positions, self.sign * low, self.sign * high, color=colour, alpha=0.18, linewidth=0
        )

    def _error_handle(self) -> list[Any]:
        from matplotlib.patches import Patch

        if not np.isfinite(self.lines[self.best_line].standard_error).any():
            return []
        return [Patch(color=BLUE, alpha=0.18, label="± one standard error")]

    def _draw_train(self, axes: Any, positions: Floats) -> list[Any]:
        if self.train is None:
            return []
        look = {"color": GREY, "linestyle": "--", "marker": "s", "markersize": 3}
        return list(axes.plot(positions, self.sign * self.train, label="training rows", **look))

    def _mark_choices(self, axes: Any, positions: list[Floats]) -> list[Any]:
        line, where = self.lines[self.best_line], positions[self.best_line]

        def mark(index: int, marker: str, what: str) -> Any:
            label = f"{what}: {self.name.rpartition('__')[2]} = {line.values[index]:.3g}"
            return axes.scatter(
                [where[index]],
                [self.sign * line.mean[index]],
                marker=marker,
                s=90,
                facecolors="white",
                edgecolors=DARK,
                linewidths=1.4,
                zorder=4,
                label=label,
            )

        if self.one_se == self.best:
            return [mark(self.best, "o", "best, also simplest\nwithin one standard error")]
        handles = [mark(self.best, "o", "best")]
        if self.one_se is not None:
            handles.append(mark(self.one_se, "D", "simplest within one\nstandard error"))
            level = self.sign * (line.mean[self.best] - line.standard_error[self.best])
            what = "best and one standard error"
            handles.append(
                axes.axhline(level, color=GREY, linewidth=0.8, linestyle=":", label=what)
            )
        return handles


def _default_scoring(learner: Any) -> str | None:
    """Return what learners without ``scoring`` go by, where their evidence does not say."""
    return "neg_mean_squared_error" if type(learner).__name__ == "RidgeCV" else None
