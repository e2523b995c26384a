"""Held-out errors with and without features, on the same rows: an exact paired comparison.

Rows that only one of both gets wrong decide. With b rows that only the features get right and w
that only they get wrong, b of b + w is binomial with probability 1/2 if features change nothing
(the sign test, or McNemar's exact one).
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

#: What a comparison can end with.
HELPS, NO_HELP, TOO_FEW = "helps", "does not help", "too few rows"
#: One-sided: what is called clear is due to chance with at most this probability.
SIGNIFICANCE = 0.025
#: Standard errors that go with it.
STANDARD_ERRORS = 2.0
#: Features that do not spare this share of errors, clearly, do not help.
MIN_REDUCTION = 0.5
#: So few rows that only one of both gets wrong are never clear, even if all are better.
MIN_DISCORDANT = 6


@dataclass(frozen=True)
class PairedErrors:
    """Which rows held out are wrong.

    Parameters
    ----------
    before, after : ndarray of bool, shape (n,)
        Without and with features.
    """

    before: Wrong
    after: Wrong

    @property
    def better(self) -> int:
        """How many rows only the features get right."""
        return int((self.before & ~self.after).sum())

    @property
    def worse(self) -> int:
        """How many rows only the features get wrong."""
        return int((~self.before & self.after).sum())

    def compare(self, guess: float, added: bool) -> str:
        """Return whether features help, do not, or whether rows are too few to tell.

        Parameters
        ----------
        guess : float
            The error of always answering the most frequent class.
        added : bool
            Whether there are features: without, guessing alone is what they are compared with.

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
        """Return about how many rows would tell, if shares stayed as they are."""
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
