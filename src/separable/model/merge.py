"""Merging of models trained on different rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.files.training_rows import TrainingRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.model.linear_model import LinearModel

__all__ = ["merge_models", "same_encoder"]

REFUSALS = {
    "certified": "A certified model is the optimum of its own rows, and no average of optima is "
    "the optimum of the union. Train on all rows together, or keep the models and let them vote.",
    "moments": "Its weights come from sums over rows, and sums are merged exactly by the learner: "
    "load the models with their state (save(..., include_state=True)), then "
    "Learner.from_model(a).merge(Learner.from_model(b)).",
    None: "It has no family, so nothing is known of how its weights were found. Train on all rows "
    "together, or set family='online' if an average of weights makes sense for them.",
}


#: Parameters that define the meaning of a learner's weights.
MEANING = ("multi_class", "loss", "eta0", "fit_intercept")


def merge_models(models: Sequence[LinearModel], weights: Sequence[float] | None) -> LinearModel:
    """Return the weighted average of online models, marked approximate.

    Parameters
    ----------
    models : sequence of LinearModel
        At least two, with the same learner, classes, features, link and encoder, and the same
        parameters as far as they define the weights.
    weights : sequence of float or None
        Weight of each model. None: ``evidence["rows_seen"]``.

    Returns
    -------
    LinearModel
        Without training state. Its evidence has the number of merged models.
    """
    first = models[0]
    if len(models) < 2:
        raise ValueError("merge needs at least one other model. Got none.")
    if first.family != "online":
        raise ValueError(f"This {first.learner} model cannot be merged. {REFUSALS[first.family]}")
    for number, model in enumerate(models[1:], start=2):
        _check_same(first, model, number)
    _refuse_decision(models)
    if any(model.calibration is not None for model in models):
        raise ValueError(
            "Models with a calibration cannot be merged: it was measured for the scores of one "
            "model, not for those of an average. Merge replace(model, calibration=None) and "
            "calibrate the result."
        )
    fractions = _fractions(_rows_seen(models) if weights is None else weights, len(models))
    evidence: dict[str, Any] = {"merged_from": len(models), "approximate": True}
    if all(_is_count(model.evidence.get("rows_seen")) for model in models):
        evidence["rows_seen"] = sum(_rows_seen(models))
    return replace(
        first,
        weights=sum(
            weight_of * model.weights for weight_of, model in zip(fractions, models, strict=True)
        ),
        intercept=sum(
            weight_of * model.intercept for weight_of, model in zip(fractions, models, strict=True)
        ),
        evidence=evidence,
        state=None,
        training_rows=_training_rows(models),
        column_statistics=(),
        self_test=None,
    )


def _refuse_decision(models: Sequence[LinearModel]) -> None:
    if any(model.decision is not None for model in models):
        raise ValueError(
            "Models with a decision threshold cannot be merged: it was chosen for one model, not "
            "for an average. Merge replace(model, decision=None) and choose it for the result."
        )
    if any(model.link == "log" for model in models):
        raise ValueError(
            "Models of the logarithm of the target cannot be merged: each was scaled back to the "
            "mean of its own rows. Train one model on all rows."
        )


def _training_rows(models: Sequence[LinearModel]) -> TrainingRows | None:
    parts = [model.training_rows for model in models if model.training_rows is not None]
    return TrainingRows.joined(parts) if len(parts) == len(models) else None


def _check_same(first: LinearModel, other: LinearModel, number: int) -> None:
    """Raise for a model that differs, naming the first difference."""
    pairs: dict[str, tuple[Any, Any]] = {
        "learner": (first.learner, other.learner),
        "family": (first.family, other.family),
        "link": (first.link, other.link),
        "threshold": (first.threshold, other.threshold),
        "classes": (_listed(first.classes), _listed(other.classes)),
        "number of features": (first.n_features, other.n_features),
        "number of targets": (len(first.weights), len(other.weights)),
    }
    for name in MEANING:
        pairs[f"parameter {name!r}"] = (first.parameters.get(name), other.parameters.get(name))
    for what, (ours, theirs) in pairs.items():
        if ours != theirs:
            raise ValueError(
                f"Model 1 and model {number} cannot be merged: their {what} differs, "
                f"{ours!r:.120} and {theirs!r:.120}. Train both with the same settings."
            )
    _check_same_names(first.feature_names, other.feature_names, number)
    if not same_encoder(first.encoder, other.encoder):
        raise ValueError(
            f"Model 1 and model {number} cannot be merged: their encoders differ, so their weights "
            "are for different numbers. Fit one encoder and train both models with it."
        )


def _check_same_names(
    ours: Sequence[str] | None, theirs: Sequence[str] | None, number: int
) -> None:
    if ours == theirs:
        return
    where = ""
    if ours is not None and theirs is not None:
        index = next(j for j in range(len(ours)) if ours[j] != theirs[j])
        where = f" at feature {index}, {ours[index]!r:.80} and {theirs[index]!r:.80}"
    raise ValueError(
        f"Model 1 and model {number} cannot be merged: their feature names differ{where}. Train "
        "both on the same columns in the same order."
    )


def same_encoder(ours: Any, theirs: Any) -> bool:
    """Return whether two encoders, or None, encode tables equally."""
    if ours is None or theirs is None:
        return ours is theirs
    if ours.kind != theirs.kind:
        return False
    (arrays, values), (other_arrays, other_values) = ours.to_parts(), theirs.to_parts()
    return (
        values == other_values
        and arrays.keys() == other_arrays.keys()
        and all(_same_part(part, other_arrays[name]) for name, part in arrays.items())
    )


def _same_part(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray):
        return ours.dtype == theirs.dtype and np.array_equal(ours, theirs)
    if isinstance(ours, np.ndarray) or isinstance(theirs, np.ndarray):
        return False
    return bool(ours == theirs)


def _listed(classes: NDArray[Any] | None) -> list[Any] | None:
    return None if classes is None else classes.tolist()


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _rows_seen(models: Sequence[LinearModel]) -> list[int]:
    counts: list[int] = []
    for number, model in enumerate(models, start=1):
        seen = model.evidence.get("rows_seen")
        if not isinstance(seen, int) or not _is_count(seen):
            raise ValueError(
                f"evidence['rows_seen'] of model {number} is {seen!r:.80}, so its weight is "
                "unknown. Give the weight of each model, for example merge(other, weights=[1, "
                "1])."
            )
        counts.append(seen)
    return counts


def _fractions(weights: Sequence[float], count: int) -> NDArray[np.float64]:
    fractions = np.asarray(weights, dtype=np.float64)
    if fractions.shape != (count,):
        raise ValueError(
            f"weights must hold one number for each of {count} models. Got {weights!r}."
        )
    if not (np.isfinite(fractions).all() and (fractions >= 0).all() and fractions.max() > 0):
        raise ValueError(f"weights must be finite, >= 0 and not all 0. Got {fractions.tolist()}.")
    fractions = fractions / fractions.max()  # first, so that the sum cannot overflow
    total: NDArray[np.float64] = fractions / fractions.sum()
    return total
