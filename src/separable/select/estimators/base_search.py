"""Shared parts of the searches for C and for alpha: grids, messages and evidence."""

from __future__ import annotations

import math
import warnings
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from separable.certified.estimators.base import CertifiedEstimator
from separable.certified.estimators.lost_columns import dominated, first_remedy
from separable.model.parameters import COUNT
from separable.select.estimators.search_table import SearchTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.certified.duality.certificate import Certificate
    from separable.certified.estimators.base import TrainingData
    from separable.typing import Floats


__all__ = [
    "Searched",
    "are_paths_kept",
    "evidence_of_search",
    "is_grid",
    "kept_paths",
    "one_score",
    "plain_of",
    "warn_of_short_fits",
]

#: Weights of all folds and strengths are kept up to so many numbers.
MOST_PATHS = 10_000_000


TableT = TypeVar("TableT", bound=SearchTable)
PlainT = TypeVar("PlainT", bound=CertifiedEstimator)


class Searched(Generic[TableT]):
    """Attributes of estimators that selected their own regularization.

    ``_default_scoring`` names the score without ``scoring``.
    """

    scoring: Any
    _default_scoring: ClassVar[str]
    _table: TableT

    def _tabled(self) -> TableT:
        if getattr(self, "_table", None) is None:
            check_is_fitted(self)  # type: ignore[arg-type]
        return self._table

    def _scoring_name(self) -> str:
        if self.scoring is None:
            return self._default_scoring
        return self.scoring if isinstance(self.scoring, str) else "callable"

    @property
    def best_score_(self) -> float:
        """Mean score of the selected C or alpha."""
        return self._tabled().best_score


def plain_of(search: CertifiedEstimator, kind: type[PlainT], **given: Any) -> PlainT:
    """Return the learner of one strength with the parameters of a search, but for those given."""
    mine = search.get_params(deep=False)
    names = kind._get_param_names()
    shared = {name: mine[name] for name in names if name in mine}
    return kind(**{**shared, **given})


def is_grid(value: Any) -> bool:
    """Return whether a value is a number of grid points, or a grid of positive values."""
    if isinstance(value, Integral | np.bool_):
        return COUNT.holds(value)
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return numbers.ndim == 1 and len(numbers) > 0 and bool((numbers > 0).all())


def one_score(scores: Mapping[str, float]) -> float:
    """Return the score of a scorer that gives one score."""
    if len(scores) > 1:
        raise ValueError(f"The scorer gives several scores, {list(scores)}. One is needed.")
    return next(iter(scores.values()))


def warn_of_short_fits(
    owner: Any, certificates: list[Certificate], milder: str, training: TrainingData
) -> None:
    """Warn, for whoever called ``fit``, of models of a search that did not converge."""
    short = [one for one in certificates if not one.converged]
    if not short:
        return
    worst = max(short, key=lambda one: one.relative_gap)
    advice = first_remedy(dominated(training), owner._name) or (
        f"More passes (max_iter), scaled columns (standardize=True) or {milder} bring them closer."
    )
    warnings.warn(
        f"{type(owner).__name__} stopped {len(short)} of {len(certificates)} models of its "
        f"search before they converged, the worst with a relative gap of "
        f"{worst.relative_gap:.1e}; {worst.tol:.1e} was asked for. Their scores may be "
        f"off. {advice}",
        ConvergenceWarning,
        stacklevel=4,
    )


def evidence_of_search(table: SearchTable, scoring: str) -> dict[str, Any]:
    """Return the evidence of the search that selected the regularization of a model."""
    error = float(table.standard_error[table.chosen])
    known = table.known_certificates()
    search: dict[str, Any] = {"models": int(np.prod(table.certificates.shape))}
    if known:
        search = {
            "models": len(known),
            "converged": sum(one.converged for one in known),
            "worst_relative_gap": max(one.relative_gap for one in known),
            "tol": known[0].tol,
        }
    return {
        "best_score": table.best_score,
        "standard_error": error if math.isfinite(error) else None,
        "scoring": scoring,
        "validation": f"{len(table.scores)} folds",
        "at_edge": table.edge,
        "search": search,
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
