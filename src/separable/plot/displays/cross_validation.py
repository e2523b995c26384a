"""Cross-validation scores by the value of a parameter, with the selected values."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separable.estimator import check_is_fitted
from separable.fitting.best_candidate import best_index, one_standard_error_index, standard_errors
from separable.plot.displays.path import penalty_label, penalty_positions, simplicity
from separable.plot.style.fitted import name_of
from separable.plot.style.theme import (
    BLUE,
    DARK,
    DASHES,
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


__all__ = [
    "CrossValidationDisplay",
    "Line",
    "lines_of_learner",
    "lines_of_search",
    "units_of",
]


#: Maximum number of lines with colour and name; of more, the best.
NAMED = 7


@dataclass(frozen=True, eq=False)
class Line:
    """Scores by the value of one parameter, the larger the better.

    Parameters
    ----------
    label : str
        The label among several lines; empty for a single one.
    values : ndarray, shape (V,)
        Ascending.
    mean, standard_error : ndarray, shape (V,)
    """

    label: str
    values: Floats
    mean: Floats
    standard_error: Floats

    def best(self, name: str) -> int:
        """Return the index of the best mean; in a tie, of the simplest model."""
        simple = simplicity(name, self.values)
        return best_index(self.mean, -self.values if simple is None else simple)

    def one_error(self, name: str) -> int | None:
        """Return the index of the simplest model within a standard error of the best.

        None if the order of simplicity or the standard error is unknown.
        """
        simple, best = simplicity(name, self.values), self.best(name)
        if simple is None or not np.isfinite(self.standard_error[best]):
            return None
        return one_standard_error_index(self.mean, self.standard_error, simple)


def units_of(scoring: str | None) -> tuple[str, float]:
    """Return the name of a score and its sign: errors are shown positive."""
    if scoring is None:
        return "score", 1.0
    if scoring.startswith("neg_"):
        return scoring[4:].replace("_", " "), -1.0
    return scoring.replace("_", " "), 1.0


def sorted_line(label: str, values: Any, mean: Floats, error: Floats) -> Line:
    """Return a line in ascending order of its values."""
    numbers = np.asarray(values, dtype=np.float64)
    order = np.argsort(numbers, kind="stable")
    return Line(label, numbers[order], mean[order], error[order])


def lines_of_learner(learner: Any) -> tuple[str, list[Line], str | None]:
    """Return the parameter, the lines and the score of a learner that tuned itself."""
    table = getattr(learner, "cv_results_", None)
    name = None
    if isinstance(table, dict) and "mean_score" in table:
        name = next((each for each in ("C", "alpha") if each in table), None)
    if name is None or table is None:
        if hasattr(learner, "fit"):
            check_is_fitted(learner)
        raise TypeError(
            f"This {type(learner).__name__} has no cross-validated scores. Pass a fitted learner "
            "that searches its regularization, such as separable.LogisticRegressionCV or "
            "separable.LassoCV, or a search to from_search."
        )
    error = np.asarray(table["standard_error"], dtype=np.float64)
    ratios = np.asarray(table.get("l1_ratio", np.zeros(len(error))))
    lines = []
    for ratio in np.unique(ratios):
        one = ratios == ratio
        label = "" if len(np.unique(ratios)) == 1 else f"l1_ratio = {ratio:g}"
        lines.append(sorted_line(label, table[name][one], table["mean_score"][one], error[one]))
    return name, lines, dict(learner.evidence_).get("scoring")


def lines_of_search(
    search: Any, name: str | None, scoring: str | None = None
) -> tuple[str, list[Line], str | None]:
    """Return the same for a search over any parameters, and one of its scores."""
    if hasattr(search, "fit"):
        check_is_fitted(search)
    table = search.cv_results_
    metric = _metric_of(search, scoring)
    mean = table[f"mean_test_{metric}"]
    columns = {key[6:]: table[key] for key in table if key.startswith("param_")}
    name = _axis_of(columns, name)
    scores = np.array([table[f"split{k}_test_{metric}"] for k in range(search.n_splits_)])
    error = standard_errors(scores)
    others = [key for key in columns if key != name and len(set(map(str, columns[key]))) > 1]
    labels = np.array([_label(columns, others, k) for k in range(len(error))])
    values = np.ma.filled(columns[name].astype(np.float64), np.nan)
    lines = []
    for label in dict.fromkeys(labels.tolist()):
        one = (labels == label) & np.isfinite(mean) & ~np.isnan(values)
        if one.any():
            lines.append(sorted_line(label, values[one], mean[one], error[one]))
    return name, lines, _scoring_of(search, metric)


def _metric_of(search: Any, scoring: str | None) -> str:
    """Return the score to draw: the requested one, or the one that decided."""
    metrics: list[str] = [key[10:] for key in search.cv_results_ if key.startswith("mean_test_")]
    if scoring is not None:
        if scoring not in metrics:
            raise ValueError(
                f"scoring={scoring!r} is not a score of the search. Scores: {metrics}."
            )
        return scoring
    decided = getattr(search, "refit", None) or getattr(search, "_scored", metrics)[0]
    return next((each for each in metrics if each == decided), metrics[0])


def _label(columns: dict[str, Any], names: list[str], k: int) -> str:
    """Return the label of candidate k: the parameters in which lines differ."""
    last = [name.rpartition("__")[2] for name in names]
    words = dict(zip(names, last if len(set(last)) == len(last) else names, strict=True))
    mask = [name for name in names if columns[name][k] is not np.ma.masked]
    parts = [f"{words[name]} = {columns[name][k]}" for name in mask]
    return ", ".join(parts) or "nothing else set" * bool(names)


def _axis_of(columns: dict[str, Any], name: str | None) -> str:
    """Return the parameter of the axis: the requested one, or the one with most values."""
    numbers = {key: _count_of_numbers(column) for key, column in columns.items()}
    able = [key for key, count in numbers.items() if count]
    if name is not None and name not in able:
        raise ValueError(
            f"The search has no numeric values of {name!r}. Numeric parameters: {able}."
        )
    if not able:
        raise ValueError(
            f"The search varies no numeric parameter, only {list(columns)}, so there is no curve. "
            "cv_results_ has the scores as a table."
        )
    return name if name is not None else max(able, key=lambda key: numbers[key])


def _count_of_numbers(column: Any) -> int:
    values = np.ma.asarray(column).compressed().tolist()
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return 0
    return len(set(values))


def _kind_of(learner: Any) -> str:
    from separable.estimator import is_classifier, is_regressor

    return "classifier" if is_classifier(learner) else "regressor" if is_regressor(learner) else ""


def _scoring_of(search: Any, metric: str) -> str | None:
    if metric != "score":
        return metric
    scoring = getattr(search, "scoring", None)
    if isinstance(scoring, str):
        return scoring
    learner = getattr(search, "best_estimator_", getattr(search, "estimator", None))
    scorer = search.scorer_
    named = getattr(getattr(scorer, "_score_func", None), "__name__", None)
    if named is None:  # the estimator's own
        return {"classifier": "accuracy", "regressor": "r2"}.get(_kind_of(learner))
    sign = getattr(scorer, "_sign", 1)
    return f"neg_{named}" if sign < 0 else named.removesuffix("_score")


@dataclass(eq=False)
class CrossValidationDisplay(Display):
    """Mean scores on held-out rows, with standard errors, the best and the 1-SE choice.

    The 1-SE choice is the simplest model whose mean score is within one standard error of the best.

    Parameters
    ----------
    learner : str
    name : str
        The parameter of the axis.
    lines : list of Line
        Scores by value, one line for each combination of the other parameters.
    metric : str
        The name of the score.
    sign : float
        -1 if scores are negated errors, which are drawn positive; smaller is better.
    train : ndarray, optional
        Mean scores on the training rows, for the first line.

    Attributes
    ----------
    best_line, best, one_se : int, int, int or None
        The line with the best mean, and the indices of the choices on it.
    ax_, figure_
        Axes and figure of the last plot.

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
        """Draw the search of a fitted learner that tuned its own penalty.

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
            The parameter of the axis. By default the one with most distinct values; each
            combination of the others is a line.
        scoring : str, optional
            The score to draw if there are several. By default the one that decided.
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
        """Draw a validation curve, with training scores if it has them.

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
            By default a new figure.
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
    """Return the default score of learners without ``scoring``."""
    return "neg_mean_squared_error" if type(learner).__name__ == "RidgeCV" else None
