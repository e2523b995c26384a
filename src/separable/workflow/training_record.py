"""The record of a training run: what a model file remembers, and a report shows."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from separable.errors import Absent
from separable.model.words import feature_name, label_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from separable.features.table.column_states import ColumnRow
    from separable.model.kinds import Model
    from separable.select.leaderboard import Standing as LeaderboardStanding


__all__ = [
    "Column",
    "Data",
    "RegularizationCurve",
    "Reproduction",
    "Standing",
    "Tried",
    "columns_of",
    "memory_of",
    "regularization_curve",
    "target_bins",
    "target_counts",
    "trained_on",
]

#: Maximum number of bins of a histogram.
BINS = 30

#: Descriptions of columns that are not features.
ROLES = {
    "target": "target",
    "group": "not a feature: groups of rows",
    "time": "not a feature: time of the row",
    "weight": "not a feature: sample weight",
}

#: Maximum number of listed features of a model without an encoder.
LISTED = 100


@dataclass(frozen=True)
class Column:
    """One column of the data.

    Parameters
    ----------
    name : str
    role : str
        "number", "category", "boolean", "date", "text"; "target", "group", "time", "weight"; or
        "dropped".
    missing : int or None
        None where that is not known.
    about : str
        Remarks, such as the number of levels.
    """

    name: str
    role: str
    missing: int | None
    about: str


@dataclass(frozen=True)
class Data:
    """The training data.

    Parameters
    ----------
    name : str
        The file name without folders; empty if unknown.
    rows : int or None
        Number of rows with a target; None if unknown.
    columns : tuple of Column
    target : str
    task : {"classification", "regression"}
    target_counts : tuple of (label, int)
        Rows per class, the most common first; empty in regression.
    target_bins : tuple of (float, float, int)
        Bins of a regression target: from, to, rows; empty for classes.
    sha256 : str or None
        Of the file, if it is a single one.
    typical : mapping of str to object
        A typical row: medians, most common levels; empty if unknown.
    spread : tuple of float
        Standard deviation of each feature of the model; empty if unknown.
    """

    name: str
    rows: int | None
    columns: tuple[Column, ...]
    target: str
    task: Literal["classification", "regression"]
    target_counts: tuple[tuple[Any, int], ...] = ()
    target_bins: tuple[tuple[float, float, int], ...] = ()
    sha256: str | None = None
    typical: Mapping[str, Any] = field(default_factory=dict)
    spread: tuple[float, ...] = ()


@dataclass(frozen=True)
class Standing:
    """The cross-validation result of one learner.

    Parameters
    ----------
    learner : str
    params : mapping of str to object
        The selected parameters.
    mean, standard_error : float or None
        None if it failed.
    difference, difference_error : float or None
        To the best.
    differs : bool or None
        Whether the difference is significant.
    seconds : float or None
    failed : str or None
        The reason if it has no scores.
    """

    learner: str
    params: Mapping[str, Any]
    mean: float | None
    standard_error: float | None
    difference: float | None
    difference_error: float | None
    differs: bool | None
    seconds: float | None
    failed: str | None


@dataclass(frozen=True)
class Tried:
    """Learners compared by cross-validation, from best to worst.

    Parameters
    ----------
    metric : str
    greater_is_better : bool
    folds : int
    rows, of_rows : int
        Rows of the comparison, and all rows.
    standings : tuple of Standing
    taken : str
        The chosen learner.
    why : str
        The reason for the choice, as a sentence.
    """

    metric: str
    greater_is_better: bool
    folds: int
    rows: int
    of_rows: int
    standings: tuple[Standing, ...]
    taken: str
    why: str


@dataclass(frozen=True)
class RegularizationCurve:
    """The score of the chosen learner by its regularization parameter.

    Parameters
    ----------
    learner : str
    parameter : str
        "C", "alpha", ...
    metric : str
        The score that selected the value.
    greater_is_better : bool
    values, means, errors : tuple of float
        Values in ascending order, with mean and standard error over the folds.
    chosen : float
    """

    learner: str
    parameter: str
    metric: str
    greater_is_better: bool
    values: tuple[float, ...]
    means: tuple[float, ...]
    errors: tuple[float, ...]
    chosen: float


@dataclass(frozen=True)
class Reproduction:
    """How to reproduce the model.

    Parameters
    ----------
    commands : tuple of str
        The command line.
    versions : tuple of (str, str)
        Of separable, Python, NumPy, ...
    seed : int or None
    model_file : str or None
        The file name.
    """

    commands: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]
    seed: int | None
    model_file: str | None


def target_counts(labels: NDArray[Any]) -> tuple[tuple[Any, int], ...]:
    """Return the rows per class, the most common first."""
    classes, counts = np.unique(labels, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return tuple((label_value(classes[k]), int(counts[k])) for k in order)


def target_bins(values: NDArray[np.float64]) -> tuple[tuple[float, float, int], ...]:
    """Return a histogram: from, to, rows. The last bin includes both ends."""
    values = np.asarray(values, dtype=np.float64)
    bins = int(min(BINS, max(1, np.ceil(np.sqrt(len(values))))))
    with np.errstate(over="ignore", invalid="ignore"):
        edges = np.linspace(values.min(), values.max(), bins + 1)
        rising = bool((np.diff(edges) > 0).all())
    if not rising or not np.isfinite(edges).all():
        return ((float(values.min()), float(values.max()), len(values)),)
    counts, edges = np.histogram(values, edges)
    return tuple(
        (float(low), float(high), int(count))
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    )


def regularization_curve(
    standing: LeaderboardStanding,
    metric: str,
    chooser: str | None,
    greater_is_better: dict[str, bool],
) -> RegularizationCurve | Absent:
    """Return the score of a learner by its regularization parameter.

    Parameters
    ----------
    standing : LeaderboardStanding
        The result of the learner, with all values tried.
    metric, chooser : str, str or None
        The names of its score, and of the score that selected the value if that is another.
    greater_is_better : dict of str to bool
        By the name of a metric.
    """
    from separable.fitting.best_candidate import standard_errors

    if len(standing.params) != 1 or len(standing.tried) < 2 or standing.tried_scores is None:
        return Absent(
            f"{standing.name} was trained with one regularization value, or has none to choose."
        )
    (name,) = standing.params
    by, scores = metric, standing.tried_scores
    if standing.choice_scores is not None and chooser is not None:
        by, scores = chooser, standing.choice_scores
    values = np.array([each[name] for each in standing.tried], dtype=np.float64)
    means, errors = scores.mean(axis=0), standard_errors(scores)
    order = [k for k in np.argsort(values, kind="stable") if np.isfinite(means[k])]
    if len(order) < 2:
        return Absent(f"Fewer than two regularization values of {standing.name} have a score.")
    return RegularizationCurve(
        learner=standing.name,
        parameter=name,
        metric=by,
        greater_is_better=greater_is_better[by],
        values=tuple(values[order].tolist()),
        means=tuple(means[order].tolist()),
        errors=tuple(np.nan_to_num(errors[order]).tolist()),
        chosen=float(standing.params[name]),
    )


def columns_of(
    model: Model,
    roles: Mapping[str, str],
    missing: Mapping[str, int] | None = None,
    names: Sequence[str] | None = None,
) -> tuple[Column, ...]:
    """Return the columns that a model was trained with.

    Parameters
    ----------
    model : LinearModel or VotedModel
    roles : mapping of str to str
        Roles of columns that are not features: "target", "group", "time" or "weight".
    missing : mapping of str to int, optional
        Missing values per column. None: unknown.
    names : sequence of str, optional
        All columns of the data, in their order. By default those of the encoder, then the others.
    """
    encoder: Any = model.encoder
    kind = getattr(encoder, "kind", None)
    apart = [(name, role, ROLES[role]) for name, role in roles.items()]
    if kind == "table":
        rows = {row.column: row for row in encoder.columns_}
        given = list(dict.fromkeys([*rows, *roles])) if names is None else names
        by_role = {name: (name, role, about) for name, role, about in apart}
        known = [
            by_role[name] if name in by_role else (name, *_of_row(rows.get(name), missing))
            for name in given
        ]
    elif kind is not None:
        what = "text" if kind == "text" else "category"
        known = [("text" if kind == "text" else kind, what, _counted(model.n_features)), *apart]
    else:
        known = [*_features(model), *apart]
    return tuple(
        Column(name, role, None if missing is None else int(missing.get(name, 0)), about)
        for name, role, about in known
    )


def _of_row(row: ColumnRow | None, missing: Mapping[str, int] | None) -> tuple[str, str]:
    """Return the role of a column and remarks about it."""
    if row is None:
        return "dropped", "not learned from"
    if row.type == "dropped":
        return row.type, row.why
    if row.type == "category" and missing is not None:
        levels = row.numbers_out - (missing.get(row.column, 0) > 0)
        return row.type, f"{levels} level{'s' * (levels != 1)}"
    plain = row.type in ("number", "boolean")  # plus at most an indicator of missing values
    return row.type, "" if plain else _counted(row.numbers_out)


def _features(model: Model) -> list[tuple[str, str, str]]:
    d = model.n_features
    listed = [(feature_name(model.feature_names, j), "number", "") for j in range(min(d, LISTED))]
    return listed + [("...", "number", f"and {d - LISTED} more")] * (d > LISTED)


def _counted(features: int) -> str:
    return f"{features} feature{'s' * (features != 1)}"


def memory_of(
    data: Data,
    tried: Tried | Absent,
    regularization: RegularizationCurve | Absent,
    reproduction: Reproduction,
    how: str | None,
    notes: tuple[str, ...],
    warnings: tuple[str, ...],
    *,
    is_new: bool | None = None,
) -> dict[str, Any]:
    """Return the training record of a model file, without leaderboard and metrics.

    Parameters
    ----------
    data : Data
    tried : Tried or Absent
    regularization : RegularizationCurve or Absent
    reproduction : Reproduction
    how : str or None
        How rows were held out, as a sentence.
    notes, warnings : tuple of str
    is_new : bool or None
        Whether no held-out row is identical to a training row.

    Returns
    -------
    dict
        JSON values, the same for the same run: without times.
    """
    missing = {each.name: each.missing for each in data.columns if each.missing}
    chosen = None
    if isinstance(tried, Tried):
        chosen = {
            name: getattr(tried, name)
            for name in ("greater_is_better", "folds", "rows", "of_rows", "taken", "why")
        }
    return {
        "missing": missing,
        "classes": [list(pair) for pair in data.target_counts],
        "bins": [list(each) for each in data.target_bins],
        "typical": dict(data.typical),
        "spread": list(data.spread),
        "tried": chosen if isinstance(tried, Tried) else tried.reason,
        "strengths": regularization.reason
        if isinstance(regularization, Absent)
        else asdict(regularization),
        "commands": list(reproduction.commands),
        "seed": reproduction.seed,
        "how": how,
        "is_new": is_new,
        "notes": list(notes),
        "warnings": list(warnings),
    }


def trained_on(model: Model) -> dict[str, Any]:
    """Return the training record of a model; empty if it has none."""
    trained = model.evidence.get("train")
    return dict(trained) if isinstance(trained, dict) else {}
