"""What each strength reached on rows that it has not seen, and which one to take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.fitting.choice import best_place, edge_of, one_error_place, standard_errors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.certificate import Certificate

    Floats = NDArray[np.float64]
    Place = tuple[int, ...]

__all__ = ["SearchTable"]


@dataclass(frozen=True)
class SearchTable:
    """F folds and S strengths, or R lists of S strengths.

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
        """The mean score of each strength."""
        mean: Floats = self.scores.mean(axis=0)
        return mean

    @property
    def standard_error(self) -> Floats:
        """Of the mean scores."""
        flat = self.scores.reshape(len(self.scores), -1)
        return standard_errors(flat).reshape(self.strengths.shape)

    @property
    def best(self) -> Place:
        """The place of the best mean; of those that tie, that of the largest penalty."""
        place = best_place(self.mean.ravel(), self.penalty.ravel())
        return tuple(int(k) for k in np.unravel_index(place, self.strengths.shape))

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
        for place in (self.best, self.chosen):
            if edge_of(self.strengths[place[:-1]], place[-1]) is not None:
                return place
        return None

    @property
    def edge(self) -> str | None:
        """Whether that is the "smallest" or the "largest" of several."""
        place = self.edge_place
        return None if place is None else edge_of(self.strengths[place[:-1]], place[-1])

    def known_certificates(self) -> list[Certificate]:
        """Return those of all models that were learned."""
        return [one for one in self.certificates.ravel() if one is not None]
