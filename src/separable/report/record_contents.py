"""The training record of a model file, read back for a report."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.errors import Absent
from separable.model.metrics.evaluation import Evaluation
from separable.model.metrics.metric_registry import METRICS, Predictions
from separable.model.words import number
from separable.report.contents import Certificate, Contents, Measured
from separable.workflow.training_record import (
    Data,
    RegularizationCurve,
    Reproduction,
    Standing,
    Tried,
    columns_of,
    trained_on,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from separable.model.kinds import Model


__all__ = ["certificate_of", "recalled", "versions"]


#: Packages whose versions are recorded, besides separable and Python.
PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow")

#: Reasons why a model has no certificate, by family.
NO_PROOF = {
    "moments": "is computed in closed form from sums over the rows, so there is no duality gap.",
    "online": "learns one row at a time and gives no certificate of optimality.",
}

NO_ROWS = "Give labelled rows to see this: separable report MODEL DATA."
NOT_COMPARED = "The model file does not say that learners were compared."
NOT_READABLE = "The model file has this in a form that this version does not read."
NOT_TESTED = "No rows were held out, so the error on new rows is unknown."

#: Errors of reading a record that `memory_of` did not write.
UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, IndexError)


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
    trained = trained_on(model)
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
