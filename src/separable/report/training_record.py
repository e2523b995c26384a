"""The training record in a model file, from which a report is made without the data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.metrics.evaluation import Evaluation
from separable.model.metrics.metric_registry import METRICS, Answers
from separable.model.words import number
from separable.report.contents import (
    Absent,
    Contents,
    Data,
    Measured,
    RegularizationCurve,
    Reproduction,
    Standing,
    Tried,
)
from separable.report.facts import certificate_of, columns_of, versions

if TYPE_CHECKING:
    from collections.abc import Callable

    from separable.model.kinds import Model

__all__ = ["memory_of", "recalled", "training_evidence"]

NO_ROWS = "Give labelled rows to see this: separable report MODEL DATA."
NOT_COMPARED = "The model file does not say that learners were compared."
NOT_READABLE = "The model file has this in a form that this version does not read."
NOT_TESTED = "No rows were held out, so the error on new rows is unknown."

#: What reading goes wrong with where a file tells something else than `memory_of` gave it.
UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, IndexError)


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
    """Return what a model file is to remember besides its leaderboard and figures.

    Parameters
    ----------
    data : Data
    tried : Tried or Absent
    regularization : RegularizationCurve or Absent
    reproduction : Reproduction
    how : str or None
        How rows were held out, in words.
    notes, warnings : tuple of str
    is_new : bool or None
        Whether no row held out is identical to one that was learned from.

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
    """Return what a model remembers of its training; nothing where it says nothing."""
    trained = model.evidence.get("train")
    return dict(trained) if isinstance(trained, dict) else {}


def recalled(model: Model, *, model_file: str | None = None, title: str | None = None) -> Contents:
    """Return what a report can say without any rows.

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
    """Return what a file tells; one that was made by others may tell anything."""
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
    )


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
    predictions = Answers(np.empty(0), None, None, model.classes)
    how = memory.get("how") or "Rows held out in training"
    caution = "The model was updated with more rows since." if trained.get("updates") else None
    figures = Evaluation.from_dict(kept)
    is_new = True if memory.get("is_new") is True else None
    return Measured(how, figures, np.empty(0), predictions, caution=caution, is_new=is_new)


def _of_stream(trained: dict[str, Any]) -> str:
    """Return how good a model was on its stream, each row predicted before it was learned from."""
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
