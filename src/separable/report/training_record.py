"""Facts about the training: taken from a run, saved in the model file, read back for a report."""

from __future__ import annotations

import platform
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.metrics.evaluation import Evaluation
from separable.model.metrics.metric_registry import METRICS, Predictions
from separable.model.words import feature_name, label_value, number
from separable.report.contents import (
    Absent,
    Certificate,
    Column,
    Contents,
    Data,
    Measured,
    RegularizationCurve,
    Reproduction,
    Standing,
    Tried,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from separable.features.table.column_states import ColumnRow
    from separable.model.kinds import Model
    from separable.select.leaderboard import Standing as LeaderboardStanding


__all__ = [
    "certificate_of",
    "columns_of",
    "memory_of",
    "recalled",
    "regularization_curve",
    "target_bins",
    "target_counts",
    "training_evidence",
    "versions",
]


#: Maximum number of bins of a histogram.
BINS = 30

#: Packages whose versions are recorded, besides separable and Python.
PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow")

#: Reasons why a model has no certificate, by family.
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

NO_ROWS = "Give labelled rows to see this: separable report MODEL DATA."
NOT_COMPARED = "The model file does not say that learners were compared."
NOT_READABLE = "The model file has this in a form that this version does not read."
NOT_TESTED = "No rows were held out, so the error on new rows is unknown."

#: Errors of reading a record that `memory_of` did not write.
UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, IndexError)


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


def certificate_of(model: Model) -> Certificate | Absent:
    """Return the bound on the distance from the optimum, from the evidence of a model."""
    evidence = model.evidence
    if "tol" not in evidence or "relative_gap" not in evidence:
        why = NO_PROOF.get(model.family or "", "gives no certificate of optimality.")
        return Absent(f"{model.learner} {why}")
    gaps: Any = evidence["relative_gap"]
    several = isinstance(gaps, list)
    is_local = gaps is None  # a local optimum has no gap; the possible decrease is shown instead
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


def versions() -> tuple[tuple[str, str], ...]:
    """Return the versions of separable, Python and the other packages."""
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


def training_evidence(model: Model) -> dict[str, Any]:
    """Return the training record of a model; empty if it has none."""
    trained = model.evidence.get("train")
    return dict(trained) if isinstance(trained, dict) else {}


def recalled(model: Model, *, model_file: str | None = None, title: str | None = None) -> Contents:
    """Return the contents of a report without rows.

    Parameters
    ----------
    model : LinearModel or VotedModel
    model_file : str, optional
        Its name.
    title : str, optional

    Returns
    -------
    Contents
    """
    trained = training_evidence(model)
    memory: dict[str, Any] = trained["report"] if isinstance(trained.get("report"), dict) else {}
    absent = Absent(NO_ROWS)
    try:
        data = _data(model, trained, memory)
    except UNREADABLE:
        trained, memory = {}, {}
        data = _data(model, trained, memory)
    measured = _readable(_measured, model, trained, memory)
    return Contents(
        model=model,
        data=data,
        tried=_readable(_tried, trained, memory),
        measured=measured,
        held_out=measured if isinstance(measured, Measured) else None,
        learning_curve=absent,
        regularization=_readable(_regularization, memory),
        separability=absent,
        separability_rows="",
        hard_rows=absent,
        certificate=certificate_of(model),
        reproduction=Reproduction(
            _texts(memory, "commands"), versions(), _count(memory.get("seed")), model_file
        ),
        notes=(*_texts(memory, "notes"), *_updates(trained)),
        warnings=_texts(memory, "warnings"),
        title=title,
    )


def _readable(read: Callable[..., Any], *trained: Any) -> Any:
    """Return the record of a file; a record of unknown origin may be malformed."""
    try:
        return read(*trained)
    except UNREADABLE:
        return Absent(NOT_READABLE)


def _texts(memory: dict[str, Any], name: str) -> tuple[str, ...]:
    kept = memory.get(name)
    return tuple(map(str, kept)) if isinstance(kept, list) else ()


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _data(model: Model, trained: dict[str, Any], memory: dict[str, Any]) -> Data:
    target = str(trained.get("target") or "target")
    roles = {target: "target"}
    roles |= {str(trained[role]): role for role in ("group", "time", "weight") if trained.get(role)}
    return Data(
        name=str(trained.get("data") or ""),
        rows=_count(trained.get("rows")),
        columns=columns_of(model, roles, memory.get("missing")),
        target=target,
        task="regression" if model.classes is None else "classification",
        target_counts=tuple((label, int(count)) for label, count in memory.get("classes", ())),
        target_bins=tuple(
            (float(low), float(high), int(count)) for low, high, count in memory.get("bins", ())
        ),
        typical=dict(memory.get("typical", {})),
        spread=_spread(model, memory),
    )


def _spread(model: Model, memory: dict[str, Any]) -> tuple[float, ...]:
    """Return the spread of the features, if it is that of this model."""
    spread = tuple(map(float, memory.get("spread", ())))
    return spread if len(spread) == model.n_features else ()


def _tried(trained: dict[str, Any], memory: dict[str, Any]) -> Tried | Absent:
    board, chosen = trained.get("leaderboard"), memory.get("tried")
    if not board or not isinstance(chosen, dict):
        return Absent(chosen if isinstance(chosen, str) else NOT_COMPARED)
    names = ("learner", "params", "mean", "standard_error", "difference", "difference_error")
    standings = tuple(
        Standing(
            **{name: each.get(name) for name in (*names, "differs", "failed")},
            seconds=None,
        )
        for each in board
    )
    return Tried(metric=trained["metric"], standings=standings, **chosen)


def _regularization(memory: dict[str, Any]) -> RegularizationCurve | Absent:
    kept = memory.get("strengths")
    if not isinstance(kept, dict):
        return Absent(kept if isinstance(kept, str) else NOT_COMPARED)
    series = ("values", "means", "errors")
    return RegularizationCurve(**{**kept, **{name: tuple(kept[name]) for name in series}})


def _measured(model: Model, trained: dict[str, Any], memory: dict[str, Any]) -> Measured | Absent:
    kept = trained.get("held_out")
    if not kept:
        return Absent(_of_stream(trained) or NOT_TESTED)
    predictions = Predictions(np.empty(0), None, None, model.classes)
    how = memory.get("how") or "Rows held out in training"
    caution = "The model was updated with more rows since." if trained.get("updates") else None
    figures = Evaluation.from_dict(kept)
    is_new = True if memory.get("is_new") is True else None
    return Measured(how, figures, np.empty(0), predictions, caution=caution, is_new=is_new)


def _of_stream(trained: dict[str, Any]) -> str:
    """Return the progressive validation of a model on its stream."""
    stream = trained.get("stream")
    tail = stream.get("tail") if isinstance(stream, dict) else None
    if not tail:
        return ""
    metric = "rmse" if "rmse" in tail else "accuracy"
    if tail.get(metric) is None:
        return ""
    beside = tail.get(f"constant_{metric}")
    constant = "" if beside is None else f" (best constant prediction: {number(beside)})"
    return (
        "No rows were held out: the model was trained on a stream. Progressive validation on rows "
        f"{tail['first']} to {tail['last']}, each predicted before it was learned: "
        f"{METRICS[metric].text} {number(tail[metric])}{constant}."
    )


def _updates(trained: dict[str, Any]) -> tuple[str, ...]:
    updates = trained.get("updates")
    if not isinstance(updates, list) or not updates:
        return ()
    times = f"{len(updates)} time{'s' * (len(updates) != 1)}"
    return (f"The model was updated {times} after its first training.",)
