"""Our perceptron and scikit-learn's at its best, for the same epochs in the same kind of order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.linear_model import Perceptron as PeerPerceptron

from separable import Perceptron

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["perceptrons"]


def perceptrons(epochs: int, *, shuffle: bool) -> tuple[Callable[[int], Any], Callable[[int], Any]]:
    """Return makers of both, given a seed: no penalty, no stopping rule, one thread."""

    def ours(seed: int) -> Any:
        return Perceptron(max_iter=epochs, shuffle=shuffle, random_state=seed)

    def peer(seed: int) -> Any:
        return PeerPerceptron(
            max_iter=epochs, tol=None, penalty=None, shuffle=shuffle, random_state=seed, n_jobs=1
        )

    return ours, peer
