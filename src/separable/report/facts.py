"""Facts of a report: columns, target, certificate, regularization curve, versions."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.words import feature_name, label_value
from separable.report.contents import Absent, Certificate, Column, RegularizationCurve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from separable.features.table.column_states import ColumnRow
    from separable.model.kinds import Model
    from separable.select.leaderboard import Standing


__all__ = [
    "certificate_of",
    "columns_of",
    "regularization_curve",
    "target_bins",
    "target_counts",
    "versions",
]

#: The most bins of a histogram.
BINS = 30

#: What a model depends on besides separable and Python.
PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow")

#: Why a model has no certificate, by how it was found.
NO_PROOF = {
    "moments": "is computed in closed form from sums over the rows, so there is no duality gap.",
    "online": "learns one row at a time and gives no certificate of optimality.",
}

#: Descriptions of columns that are not features.
ROLES = {
    "target": "target",
    "group": "not a feature: groups of rows",
    "time": "not a feature: time of the row",
    "weight": "not a feature: sample weight",
}

#: Maximum features listed for a model without an encoder.
LISTED = 100


def target_counts(labels: NDArray[Any]) -> tuple[tuple[Any, int], ...]:
    """Return how many rows each class has, the most common first."""
    classes, counts = np.unique(labels, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return tuple((label_value(classes[k]), int(counts[k])) for k in order)


def target_bins(values: NDArray[np.float64]) -> tuple[tuple[float, float, int], ...]:
    """Return a histogram: from, to and how many rows. The last bin has both its ends."""
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


def certificate_of(model: Model) -> Certificate | Absent:
    """Return how far from the optimum a model is at most, as its evidence says."""
    evidence = model.evidence
    if "tol" not in evidence or "relative_gap" not in evidence:
        why = NO_PROOF.get(model.family or "", "gives no certificate of optimality.")
        return Absent(f"{model.learner} {why}")
    gaps: Any = evidence["relative_gap"]
    several = isinstance(gaps, list)
    is_local = gaps is None  # a local optimum has no gap: what is left to win is told instead
    if is_local:
        left, primal = _number(evidence.get("left")), _number(evidence.get("primal"))
        gap = left / primal if left is not None and primal else 0.0
    else:
        gap = float(max(gaps)) if several else float(gaps)
    return Certificate(
        relative_gap=gap,
        tol=float(evidence["tol"]),  # type: ignore[arg-type]
        converged=bool(evidence.get("converged")),
        models=len(gaps) if several else 1,
        primal=None if several else _number(evidence.get("primal")),
        dual=None if several else _number(evidence.get("dual")),
        is_local=is_local,
    )


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def regularization_curve(
    standing: Standing, metric: str, chooser: str | None, greater_is_better: dict[str, bool]
) -> RegularizationCurve | Absent:
    """Return the score of a learner by its regularization parameter.

    Parameters
    ----------
    standing : Standing
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


def versions() -> tuple[tuple[str, str], ...]:
    """Return the versions of separable, Python and what a model depends on besides."""
    from separable import __version__

    result = [("separable", __version__), ("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            result.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return tuple(result)


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
        The columns that are not learned from: "target", "group", "time" or "weight".
    missing : mapping of str to int, optional
        How many values are missing, where some are. None: that is not known.
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
    plain = row.type in ("number", "boolean")  # besides, at most a mark for missing values
    return row.type, "" if plain else _counted(row.numbers_out)


def _features(model: Model) -> list[tuple[str, str, str]]:
    d = model.n_features
    listed = [(feature_name(model.feature_names, j), "number", "") for j in range(min(d, LISTED))]
    return listed + [("...", "number", f"and {d - LISTED} more")] * (d > LISTED)


def _counted(features: int) -> str:
    return f"{features} feature{'s' * (features != 1)}"
