"""Most important features: the largest weights of a model, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.words import feature_name, label_value, shown, signed, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.model.linear_model import LinearModel

__all__ = ["TopWeights", "WeightGroup", "top_weights"]


@dataclass(frozen=True)
class WeightGroup:
    """The largest weights for one direction, in descending order of magnitude.

    Parameters
    ----------
    label : object
        Class, or in regression the index of the target.
    towards : str
        Effect of a larger feature value, as text.
    weights : tuple of (str, float)
        Names and weights.
    """

    label: Any
    towards: str
    weights: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class TopWeights:
    """Groups of largest weights, two per score: those that increase and those that decrease it.

    Print it, iterate over its groups, or use ``to_dict()`` for JSON.
    """

    groups: tuple[WeightGroup, ...]

    def __iter__(self) -> Iterator[WeightGroup]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, index: int) -> WeightGroup:
        return self.groups[index]

    def __str__(self) -> str:
        return "\n".join(
            f"{group.towards}\n"
            + (table([(shown(name), signed(w)) for name, w in group.weights] or [("(none)",)]))
            for group in self.groups
        )

    __repr__ = __str__

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the groups as JSON values."""
        return [
            {
                "label": group.label,
                "towards": group.towards,
                "weights": [{"feature": name, "weight": w} for name, w in group.weights],
            }
            for group in self.groups
        ]


def top_weights(model: LinearModel, n: int = 10) -> TopWeights:
    """Return the n largest positive and negative weights of each score.

    Two classes share one score: positive weights favour ``classes[1]``, negative ones
    ``classes[0]``. Ties are in feature order; zeros are excluded.

    Parameters
    ----------
    model : LinearModel
    n : int, default 10

    Returns
    -------
    TopWeights
    """
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
        raise ValueError(
            f"The 'n' parameter of top_weights must be an int >= 1. Got {n!r} instead."
        )
    groups = []
    for k, w in enumerate(model.weights):
        for sign, (label, towards) in zip((1, -1), _sides(model, k), strict=True):
            groups.append(WeightGroup(label, towards, _strongest(model, sign * w, sign, int(n))))
    return TopWeights(tuple(groups))


def _sides(model: LinearModel, k: int) -> tuple[tuple[Any, str], tuple[Any, str]]:
    """Return label and heading of the positive and the negative weights of score k."""
    if model.classes is None:
        what = "the prediction" if len(model.weights) == 1 else f"target {k}"
        return (k, f"raises {what}"), (k, f"lowers {what}")
    labels = [label_value(label) for label in model.classes]
    if len(labels) == 2:
        return (labels[1], f"towards {shown(labels[1])}"), (
            labels[0],
            f"towards {shown(labels[0])}",
        )
    name = shown(labels[k])
    return (labels[k], f"towards {name}"), (labels[k], f"away from {name}")


def _strongest(
    model: LinearModel, sizes: NDArray[np.float64], sign: int, n: int
) -> tuple[tuple[str, float], ...]:
    least = np.partition(sizes, -n)[-n] if n < len(sizes) else -np.inf
    near = np.flatnonzero(sizes >= least)  # few, except for ties
    order = near[np.argsort(-sizes[near], kind="stable")[:n]]
    return tuple(
        (feature_name(model.feature_names, int(j)), sign * float(sizes[j]))
        for j in order
        if sizes[j] > 0
    )
