"""Cross-validation scores over a grid of C or alpha, and the selection from them.

What each alpha, and each mixture of penalties, reached on rows it has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.fitting.best_candidate import best_place, edge_of, one_error_place, standard_errors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.duality.certificate import Certificate
    from separable.typing import Floats

    Place = tuple[int, ...]
    from separable.certified.gram.gram_models import SquareModels

__all__ = ["AlphaTable", "SearchTable", "falling_alphas"]


@dataclass(frozen=True)
class SearchTable:
    """Scores of F folds and S grid values, or of R grids of S values.

    Parameters
    ----------
    strengths : ndarray, shape (S,) or (R, S)
        C, or alpha.
    scores : ndarray, shape (F, S) or (F, R, S)
        The larger the better.
    passes : ndarray, shape (F, S) or (F, R, S)
        The most of any model.
    certificates : ndarray of Certificate or None
        Those axes first; None for a model that was not learned.
    paths : ndarray or None
        Those axes first; weights, then the intercept. None: they are too many.
    select : {"min", "1se"}
    """

    strengths: Floats
    scores: Floats
    passes: NDArray[np.int64]
    certificates: NDArray[np.object_]
    paths: Floats | None
    select: str

    @property
    def penalty(self) -> Floats:
        """What decides between strengths that tie: how much weights are penalised."""
        raise NotImplementedError

    @property
    def mean(self) -> Floats:
        """Mean score of each grid value."""
        mean: Floats = self.scores.mean(axis=0)
        return mean

    @property
    def standard_error(self) -> Floats:
        """Standard errors of the mean scores."""
        flat = self.scores.reshape(len(self.scores), -1)
        return standard_errors(flat).reshape(self.strengths.shape)

    @property
    def best(self) -> Place:
        """Index of the best mean; ties take the largest penalty."""
        index = best_place(self.mean.ravel(), self.penalty.ravel())
        return tuple(int(k) for k in np.unravel_index(index, self.strengths.shape))

    @property
    def chosen(self) -> Place:
        """The place of the strength to take: of "1se" within the list of the best."""
        best = self.best
        if self.select != "1se":
            return best
        row = best[:-1]
        return *row, one_error_place(self.mean[row], self.standard_error[row], self.penalty[row])

    @property
    def strength(self) -> float:
        """The one that was chosen."""
        return float(self.strengths[self.chosen])

    @property
    def best_score(self) -> float:
        """Its mean score."""
        return float(self.mean[self.chosen])

    @property
    def edge_place(self) -> Place | None:
        """The place of the best strength, or of the one chosen, if it is at the edge."""
        for index in (self.best, self.chosen):
            if edge_of(self.strengths[index[:-1]], index[-1]) is not None:
                return index
        return None

    @property
    def edge(self) -> str | None:
        """Whether that is the "smallest" or the "largest" of several."""
        index = self.edge_place
        return None if index is None else edge_of(self.strengths[index[:-1]], index[-1])

    def known_certificates(self) -> list[Certificate]:
        """Return those of all models that were learned."""
        return [one for one in self.certificates.ravel() if one is not None]


def falling_alphas(largest: float, smallest_share: float, count: int) -> Floats:
    """Return alphas evenly on a log scale, from the largest down to a fraction of it.

    Where all weights are always 0, and so the largest is 0, any will do: it is 1.

    Examples
    --------
    >>> falling_alphas(2.0, 0.01, 3)
    array([2.  , 0.2 , 0.02])
    """
    return (largest or 1.0) * np.geomspace(1.0, smallest_share, count)


@dataclass(frozen=True)
class AlphaTable(SearchTable):
    """Scores of F folds, R values of l1_ratio, S alphas each.

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
        fraction = self.ratios if self.ratios.any() else 1.0 - self.ratios
        return self.strengths * fraction[:, None]

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
