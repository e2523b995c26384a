"""What searches share, of C and of alpha: the grid they take, what they tell and what they keep."""

from __future__ import annotations

import math
import warnings
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from separable.model.parameters import COUNT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from separable.certified.certificate import Certificate

    Floats = NDArray[np.float64]

__all__ = [
    "FOLDS",
    "are_paths_kept",
    "evidence_of_search",
    "is_grid",
    "kept_paths",
    "one_score",
    "warn_of_short_fits",
]

#: Folds without ``cv``.
FOLDS = 5
#: Weights of all folds and strengths are kept up to so many numbers.
MOST_PATHS = 10_000_000


class Tabled(Protocol):
    """What each strength reached: ``chosen`` is the place of the one to take."""

    @property
    def scores(self) -> Floats: ...
    @property
    def mean(self) -> Floats: ...
    @property
    def standard_error(self) -> Floats: ...
    @property
    def chosen(self) -> Any: ...
    @property
    def edge(self) -> str | None: ...
    def known_certificates(self) -> list[Certificate]: ...


def is_grid(value: Any) -> bool:
    """Say whether a value is a count of strengths, or strengths above 0."""
    if isinstance(value, Integral | np.bool_):
        return COUNT.holds(value)
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return numbers.ndim == 1 and len(numbers) > 0 and bool((numbers > 0).all())


def one_score(scores: Mapping[str, float]) -> float:
    """Return the score of a scorer, which may give no others."""
    if len(scores) > 1:
        raise ValueError(f"The scorer gives several scores, {list(scores)}. One is needed.")
    return next(iter(scores.values()))


def warn_of_short_fits(owner: Any, certificates: list[Certificate], milder: str) -> None:
    """Warn, for whoever called ``fit``, of models of a search that did not converge."""
    short = [one for one in certificates if not one.converged]
    if not short:
        return
    worst = max(short, key=lambda one: one.relative_gap)
    warnings.warn(
        f"{type(owner).__name__} stopped {len(short)} of {len(certificates)} models of its "
        f"search before they converged, the worst with a relative gap of "
        f"{worst.relative_gap:.1e}; {worst.tol:.1e} was asked for. Their scores may be "
        f"off. More passes (max_iter), scaled columns (standardize=True) or {milder} "
        "bring them closer.",
        ConvergenceWarning,
        stacklevel=4,
    )


def evidence_of_search(table: Tabled, scoring: str) -> dict[str, Any]:
    """Return what a model keeps of the search that chose its strength."""
    error = float(table.standard_error[table.chosen])
    known = table.known_certificates()
    return {
        "best_score": float(table.mean[table.chosen]),
        "standard_error": error if math.isfinite(error) else None,
        "scoring": scoring,
        "validation": f"{len(table.scores)} folds",
        "at_edge": table.edge,
        "search": {
            "models": len(known),
            "converged": sum(one.converged for one in known),
            "worst_relative_gap": max(one.relative_gap for one in known),
            "tol": known[0].tol,
        },
    }


def are_paths_kept(numbers: int) -> bool:
    """Say whether the weights of all folds and strengths are few enough to be kept."""
    return numbers <= MOST_PATHS


def kept_paths(paths: Floats | None, strength: str) -> Floats:
    """Return the weights of all folds and strengths, or say why there are none."""
    if paths is None:
        raise AttributeError(
            f"coefs_paths_ has more than {MOST_PATHS} numbers and is not kept. "
            f"separable.select.path gives the weights of all {strength} from all rows."
        )
    return paths
