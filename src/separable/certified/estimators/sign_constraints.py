"""Signs of weights, as the parameter ``monotonic_cst`` of learners with a ridge penalty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from separable.data.table import list_names
from separable.model.parameters import ParameterError
from separable.penalties.elastic_net import ElasticNetPenalty
from separable.penalties.signed_ridge import SignedRidgePenalty


def signs_of(
    owner: Any, n_features: int | None = None, names: Sequence[str] | None = None
) -> tuple[int, ...] | None:
    """Return the sign of each weight that ``monotonic_cst`` says; None: there are none.

    Parameters
    ----------
    owner : estimator
    n_features : int, optional
        Columns of the data; None: they are not known, and a mapping says nothing yet.
    names : sequence of str, optional
        Their names.
    """
    given = getattr(owner, "monotonic_cst", None)
    if given is None:
        return None
    if isinstance(given, Mapping):
        if n_features is None:
            return getattr(owner, "_signs", None)
        given = _by_column(owner, given, n_features, names)
    try:
        signs = np.asarray(given)
        fits = signs.ndim == 1 and bool(np.isin(signs, (-1, 0, 1)).all())
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise ParameterError(
            f"The 'monotonic_cst' parameter of {type(owner).__name__} must be None, a list with 1, "
            f"-1 or 0 for each column, or a dict of columns to these. Got {given!r:.80} instead."
        )
    if n_features is not None and len(signs) != n_features:
        raise ParameterError(
            f"The 'monotonic_cst' parameter of {type(owner).__name__} has {len(signs)} values, but "
            f"X has {n_features} columns. Give one for each, or a dict of columns."
        )
    return tuple(signs.astype(int).tolist()) if signs.any() else None


def _by_column(
    owner: Any, given: Mapping[Any, Any], n_features: int, names: Sequence[str] | None
) -> list[Any]:
    known = {name: place for place, name in enumerate(names or ())}
    signs: list[Any] = [0] * n_features
    for column, sign in given.items():
        place = known.get(column, -1) if isinstance(column, str) else int(column)
        if not 0 <= place < n_features:
            has = f"has {list_names(list(names), 10)}" if names else "has no column names"
            raise ParameterError(
                f"The 'monotonic_cst' parameter of {type(owner).__name__} names the column "
                f"{column!r:.80}, but X {has}."
            )
        signs[place] = sign
    return signs


def ridge_of(owner: Any, plain: ElasticNetPenalty) -> ElasticNetPenalty:
    """Return the penalty of a learner with its signs."""
    signs = signs_of(owner)
    return plain if signs is None else SignedRidgePenalty(signs=signs)


def check_constrained(owner: Any, *, is_ridge: bool, remedy: str) -> None:
    """Refuse signs without the ridge penalty.

    Parameters
    ----------
    owner : estimator
    is_ridge : bool
    remedy : str
        The parameters that make it one.
    """
    if getattr(owner, "monotonic_cst", None) is None:
        return
    if not isinstance(owner.monotonic_cst, Mapping):
        signs_of(owner)
    if not is_ridge:
        raise ParameterError(
            f"{type(owner).__name__} with 'monotonic_cst' needs the l2 penalty alone: {remedy}."
        )


def refuse_classes(owner: Any, n_classes: int) -> None:
    """Refuse signs for three or more classes, whose scores have no common direction."""
    if n_classes > 2 and signs_of(owner) is not None:
        raise ParameterError(
            f"{type(owner).__name__} with 'monotonic_cst' needs two classes, and y has "
            f"{n_classes}: with more, a score that increases says nothing about the probability. "
            "Leave 'monotonic_cst' out, or compare one class with the others."
        )
