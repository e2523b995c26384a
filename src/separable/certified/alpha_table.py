"""What each alpha, and each mixture of penalties, reached on rows it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.certified.search_table import SearchTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.square_models import SquareModels

    Floats = NDArray[np.float64]

__all__ = ["AlphaTable", "falling_alphas"]


def falling_alphas(largest: float, smallest_share: float, count: int) -> Floats:
    """Return alphas, evenly on a logarithmic scale, from the largest down to a share of it.

    Where all weights are always 0, and so the largest is 0, any will do: it is 1.

    Examples
    --------
    >>> falling_alphas(2.0, 0.01, 3)
    array([2.  , 0.2 , 0.02])
    """
    return (largest or 1.0) * np.geomspace(1.0, smallest_share, count)


@dataclass(frozen=True)
class AlphaTable(SearchTable):
    """F folds, R mixtures of penalties, S alphas each.

    Parameters
    ----------
    ratios : ndarray, shape (R,)
        The l1_ratio of each mixture.
    errors : ndarray, shape (F, R, S)
        Mean squared errors.
    """

    ratios: Floats
    errors: Floats

    @staticmethod
    def empty(
        ratios: Floats,
        alphas: Floats,
        shape: tuple[int, ...],
        path_length: int | None,
        select: str,
    ) -> AlphaTable:
        """Return a table to be filled; without paths where they have no length."""
        return AlphaTable(
            alphas,
            np.empty(shape),
            np.zeros(shape, np.int64),
            np.full(shape, None, np.object_),
            None if path_length is None else np.empty((*shape, path_length)),
            select,
            ratios,
            np.empty(shape),
        )

    @property
    def penalty(self) -> Floats:
        """The l1 penalty of each mixture and alpha; that of l2 where there is no other."""
        share = self.ratios if self.ratios.any() else 1.0 - self.ratios
        return self.strengths * share[:, None]

    @property
    def ratio(self) -> float:
        """The l1_ratio that was chosen."""
        return float(self.ratios[self.chosen[0]])

    def keep(self, ratio: int, fold: int, models: SquareModels, errors: Floats) -> None:
        """Write the models of all alphas of a mixture and a fold, scored by their errors."""
        at = fold, ratio
        self.errors[at], self.scores[at], self.passes[at] = errors, -errors, models.steps
        self.certificates[at] = models.certificates
        if self.paths is not None:
            d = models.weights.shape[1]
            self.paths[at][:, :d] = models.weights
            self.paths[at][:, d:] = models.intercept[:, None]  # nothing without an intercept
