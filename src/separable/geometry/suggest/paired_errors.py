"""Exact paired test of held-out errors with and without features (McNemar).

Only discordant rows matter. With b rows that are correct only with the features and w that are
wrong only with them, b of b + w is binomial with probability 1/2 under the null hypothesis.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING

from scipy.stats import binom

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Wrong = NDArray[np.bool_]

__all__ = ["HELPS", "NO_HELP", "TOO_FEW", "PairedErrors"]

#: Outcomes of a comparison.
HELPS, NO_HELP, TOO_FEW = "helps", "does not help", "too few rows"
#: One-sided significance level.
SIGNIFICANCE = 0.025
#: The corresponding number of standard errors.
STANDARD_ERRORS = 2.0
#: Features help only if they can avoid at least this fraction of the errors.
MIN_REDUCTION = 0.5
#: Minimum number of discordant rows for a significant result.
MIN_DISCORDANT = 6


@dataclass(frozen=True)
class PairedErrors:
    """Held-out errors on the same rows.

    Parameters
    ----------
    before, after : ndarray of bool, shape (n,)
        Whether each row is misclassified without and with features.
    """

    before: Wrong
    after: Wrong

    @property
    def better(self) -> int:
        """Number of rows that are correct only with the features."""
        return int((self.before & ~self.after).sum())

    @property
    def worse(self) -> int:
        """Number of rows that are wrong only with the features."""
        return int((~self.before & self.after).sum())

    def compare(self, guess: float, added: bool) -> str:
        """Return the outcome: the features help, do not help, or there are too few rows.

        Parameters
        ----------
        guess : float
            Error rate of always predicting the most frequent class.
        added : bool
            Whether there are features; without, the comparison is with guessing alone.

        Examples
        --------
        >>> import numpy as np
        >>> before, after = np.zeros((2, 9), bool)
        >>> before[:5] = after[:1] = True
        >>> PairedErrors(before, after).compare(4 / 9, True)
        'too few rows'
        >>> PairedErrors(np.tile(before, 4), np.tile(after, 4)).compare(4 / 9, True)
        'helps'
        >>> PairedErrors(np.tile(before, 9), np.tile(before, 9)).compare(4 / 9, True)
        'does not help'
        """
        against = [self._against_guessing(guess)] + ([self._against_before()] if added else [])
        if NO_HELP in against:
            return NO_HELP
        return TOO_FEW if TOO_FEW in against else HELPS

    def _against_guessing(self, guess: float) -> str:
        n, wrong = len(self.after), int(self.after.sum())
        if binom.cdf(wrong, n, guess) <= SIGNIFICANCE:
            return HELPS
        is_high = binom.sf(wrong - 1, n, MIN_REDUCTION * guess) <= SIGNIFICANCE
        return NO_HELP if is_high else TOO_FEW

    def _against_before(self) -> str:
        decisive = self.better + self.worse
        if decisive and binom.sf(self.better - 1, decisive, 0.5) <= SIGNIFICANCE:
            return HELPS
        if decisive and binom.sf(self.worse - 1, decisive, 0.5) <= SIGNIFICANCE:
            return NO_HELP
        n = len(self.after)
        most = (self.better - self.worse + STANDARD_ERRORS * sqrt(decisive + 1)) / n
        return NO_HELP if most < MIN_REDUCTION * float(self.before.mean()) else TOO_FEW

    def rows_needed(self) -> int:
        """Return the approximate number of rows needed for a significant result."""
        n, decisive = len(self.after), max(1, self.better + self.worse)
        gain = (self.better - self.worse) / n
        fraction = decisive / n
        clear = [ceil(MIN_DISCORDANT / fraction)]
        if gain > 0:
            clear.append(ceil(STANDARD_ERRORS**2 * fraction / gain**2))
        else:
            margin = MIN_REDUCTION * float(self.before.mean()) - gain
            clear.append(ceil(STANDARD_ERRORS**2 * fraction / margin**2) if margin > 0 else 4 * n)
        return max(2 * n, *clear)
