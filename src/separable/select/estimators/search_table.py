"""Cross-validation scores over a grid of C or alpha, and the selection from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separable.fitting.best_candidate import (
    best_index,
    edge_of,
    one_standard_error_index,
    standard_errors,
)
from separable.fitting.fold_fits import FoldPath
from separable.typing import Floats

#: Weights of all folds and values are kept up to so many numbers.
MOST_PATHS = 10_000_000


@dataclass(frozen=True)
class SearchTable:
    """Scores of F folds, R values of l1_ratio and S values of C or alpha for each.

    Parameters
    ----------
    name : {"C", "alpha"}
    select : {"min", "1se"}
    ratios : ndarray, shape (R,)
        The l1_ratios.
    values : ndarray, shape (R, S)
        C, or alpha.
    scores : ndarray, shape (F, R, S)
        Larger is better.
    errors : ndarray, shape (F, R, S)
        Mean squared errors, of alpha.
    n_iter : ndarray, shape (F, R, S)
        The most passes of any model.
    certificates : ndarray of Certificate or None, shape (F, R, S, m)
        None for a model that was not learned.
    paths : ndarray, shape (F, R, S, k, d), or None
        Weights, then the intercept; NaN for a class that a fold has not learned. None: too many.
    """

    name: str
    select: str
    ratios: Floats
    values: Floats
    scores: Floats
    errors: Floats
    n_iter: NDArray[np.int64]
    certificates: NDArray[np.object_]
    paths: Floats | None

    @staticmethod
    def empty(
        name: str,
        select: str,
        ratios: Floats,
        values: Floats,
        *,
        n_folds: int,
        n_models: int,
        path_shape: tuple[int, int],
    ) -> SearchTable:
        """Return a table to be filled."""
        shape = (n_folds, *values.shape)
        are_kept = math.prod(shape) * math.prod(path_shape) <= MOST_PATHS
        return SearchTable(
            name,
            select,
            ratios,
            values,
            np.empty(shape),
            np.empty(shape),
            np.zeros(shape, np.int64),
            np.full((*shape, n_models), None, np.object_),
            np.full((*shape, *path_shape), np.nan) if are_kept else None,
        )

    def keep(self, ratio: int, models: FoldPath) -> None:
        """Write passes, certificates and weights of some models of a fold."""
        at, positions = (models.fold, ratio), np.array(models.indices)[:, None]
        self.n_iter[at][models.indices] = models.n_iter
        n_models = self.certificates.shape[-1]
        if models.certificates[0]:
            columns = [0] if n_models == 1 else models.columns
            self.certificates[at][positions, columns] = models.certificates
        if self.paths is not None:
            columns = [0] if self.paths.shape[-2] == 1 else models.columns
            d = models.weights.shape[-1]
            self.paths[at][positions, columns, :d] = models.weights
            self.paths[at][positions, columns, d:] = models.intercept[:, :, None]  # if there is one

    # ------------------------------------------------------------------ selection

    @cached_property
    def mean(self) -> Floats:
        """Mean score of each l1_ratio and value, (R, S)."""
        mean: Floats = self.scores.mean(axis=0)
        return mean

    @cached_property
    def standard_error(self) -> Floats:
        """Standard errors of the mean scores, (R, S)."""
        flat = self.scores.reshape(len(self.scores), -1)
        return standard_errors(flat).reshape(self.values.shape)

    @property
    def penalty(self) -> Floats:
        """Penalty level, which decides between ties: 1/C, or the l1 (else the l2) penalty."""
        if self.name == "C":
            return 1.0 / self.values
        fraction = self.ratios if self.ratios.any() else 1.0 - self.ratios
        return self.values * fraction[:, None]

    @cached_property
    def best(self) -> tuple[int, int]:
        """Indices of the best mean; ties take the largest penalty, of C within the first ratio."""
        if self.name == "alpha":
            index = best_index(self.mean.ravel(), self.penalty.ravel())
            row, column = np.unravel_index(index, self.values.shape)
            return int(row), int(column)
        rows = range(len(self.ratios))
        best = [(row, best_index(self.mean[row], self.penalty[row])) for row in rows]
        return best[int(np.argmax([self.mean[self._chosen_of(*at)] for at in best]))]

    def _chosen_of(self, row: int, column: int) -> tuple[int, int]:
        if self.select == "1se":
            column = one_standard_error_index(
                self.mean[row], self.standard_error[row], self.penalty[row]
            )
        return row, column

    @property
    def chosen(self) -> tuple[int, int]:
        """Indices of the selected l1_ratio and value: of "1se" within the ratio of the best."""
        return self._chosen_of(*self.best)

    @property
    def value(self) -> float:
        """The selected C or alpha."""
        return float(self.values[self.chosen])

    @property
    def ratio(self) -> float:
        """The selected l1_ratio."""
        return float(self.ratios[self.chosen[0]])

    @property
    def best_score(self) -> float:
        """Mean score of the selection."""
        return float(self.mean[self.chosen])

    @property
    def edge(self) -> tuple[float, str] | None:
        """The best value, or the selected one, if it is at the edge of several, and which edge."""
        for row, column in (self.best, self.chosen):
            edge = edge_of(self.values[row], column)
            if edge is not None:
                return float(self.values[row, column]), edge
        return None

    @property
    def tried(self) -> NDArray[np.object_]:
        """Certificates of all models; of C those with the selected l1_ratio."""
        return self.certificates if self.name == "alpha" else self.certificates[:, self.chosen[0]]

    def known_certificates(self) -> list[Any]:
        """Return those of models that were learned and certified."""
        return [one for one in self.tried.ravel() if one is not None]

    def evidence(self, scoring: str) -> dict[str, Any]:
        """Return the evidence that a model keeps of its selection."""
        error, known = float(self.standard_error[self.chosen]), self.known_certificates()
        search: dict[str, Any] = {"models": self.tried.size}
        if known:
            search = {
                "models": len(known),
                "converged": sum(one.converged for one in known),
                "worst_relative_gap": max(one.relative_gap for one in known),
                "tol": known[0].tol,
            }
        return {
            "best_score": self.best_score,
            "standard_error": error if math.isfinite(error) else None,
            "scoring": scoring,
            "validation": f"{len(self.scores)} folds",
            "at_edge": None if self.edge is None else self.edge[1],
            "search": search,
        }


def falling_alphas(largest: float, smallest_fraction: float, count: int) -> Floats:
    """Return alphas evenly on a log scale, from the largest down to a fraction of it.

    Where all weights are always 0, and so the largest is 0, any will do: it is 1.

    Examples
    --------
    >>> falling_alphas(2.0, 0.01, 3)
    array([2.  , 0.2 , 0.02])
    """
    return (largest or 1.0) * np.geomspace(1.0, smallest_fraction, count)
