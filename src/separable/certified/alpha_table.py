"""What each alpha, and each mixture of penalties, reached on rows it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.fitting.choice import best_place, edge_of, one_error_place, standard_errors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.certificate import Certificate
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
class AlphaTable:
    """F folds, R mixtures of penalties, S alphas each.

    Parameters
    ----------
    ratios : ndarray, shape (R,)
        The l1_ratio of each mixture.
    alphas : ndarray, shape (R, S)
    scores, errors : ndarray, shape (F, R, S)
        Scores, the larger the better, and mean squared errors.
    steps : ndarray, shape (F, R, S)
        Passes over the columns.
    certificates : ndarray of Certificate, shape (F, R, S)
    paths : ndarray, shape (F, R, S, d) or (F, R, S, d + 1), or None
        Weights, then the intercept.
    select : {"min", "1se"}
    """

    ratios: Floats
    alphas: Floats
    scores: Floats
    errors: Floats
    steps: NDArray[np.int64]
    certificates: NDArray[np.object_]
    paths: Floats | None
    select: str

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
            ratios,
            alphas,
            np.empty(shape),
            np.empty(shape),
            np.zeros(shape, np.int64),
            np.full(shape, None, np.object_),
            None if path_length is None else np.empty((*shape, path_length)),
            select,
        )

    def keep(self, ratio: int, fold: int, models: SquareModels, errors: Floats) -> None:
        """Write the models of all alphas of a mixture and a fold, scored by their errors."""
        at = fold, ratio
        self.errors[at], self.scores[at], self.steps[at] = errors, -errors, models.steps
        self.certificates[at] = models.certificates
        if self.paths is not None:
            d = models.weights.shape[1]
            self.paths[at][:, :d] = models.weights
            self.paths[at][:, d:] = models.intercept[:, None]  # nothing without an intercept

    @property
    def mean(self) -> Floats:
        """The mean score of each mixture and alpha, (R, S)."""
        mean: Floats = self.scores.mean(axis=0)
        return mean

    @property
    def standard_error(self) -> Floats:
        """Of the mean scores, (R, S)."""
        flat = self.scores.reshape(len(self.scores), -1)
        return standard_errors(flat).reshape(self.alphas.shape)

    @property
    def best(self) -> tuple[int, int]:
        """The place of the best mean; of those that tie, that of the largest l1 penalty."""
        penalty = self.alphas * self.ratios[:, None]
        ratio, place = divmod(best_place(self.mean.ravel(), penalty.ravel()), len(self.alphas[0]))
        return ratio, place

    @property
    def chosen(self) -> tuple[int, int]:
        """The place of the alpha to take: of "1se" within the mixture of the best."""
        ratio, place = self.best
        if self.select == "1se":
            place = one_error_place(
                self.mean[ratio], self.standard_error[ratio], self.alphas[ratio]
            )
        return ratio, place

    @property
    def alpha(self) -> float:
        """The alpha that was chosen."""
        return float(self.alphas[self.chosen])

    @property
    def edge(self) -> str | None:
        """Whether the best alpha, or the one chosen, is the "smallest" or the "largest"."""
        for ratio, place in (self.best, self.chosen):
            edge = edge_of(self.alphas[ratio], place)
            if edge is not None:
                return edge
        return None

    def known_certificates(self) -> list[Certificate]:
        """Return those of all models."""
        return list(self.certificates.ravel())
