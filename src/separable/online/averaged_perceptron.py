"""Averaged perceptron (Freund and Schapire, 1999)."""

from __future__ import annotations

from typing import Any, ClassVar

from separable.online.base_perceptron import PerceptronBase

__all__ = ["AveragedPerceptron"]


class AveragedPerceptron(PerceptronBase):
    """Averaged perceptron classifier.

    The update is that of ``Perceptron``. The model is the mean (1/T) sum of w_t over the T
    presentations, where w_t are the weights after presentation t (w_0 is not included). The mean
    is updated lazily in float64, at the cost of the non-zeros of misclassified rows. The data need
    not be separable: reaching ``max_iter`` with mistakes left is normal.

    Parameters
    ----------
    warm_start : bool
        ``fit`` continues from the previous fit, including its mean.

    Attributes
    ----------
    model_ : LinearModel
        The fitted model; it predicts, explains, saves and merges.
    coef_, intercept_, classes_ : ndarray
        Those of ``model_``.
    n_iter_ : int
        Number of epochs.
    evidence_ : dict
        ``epochs``, ``stopped_by`` ("no mistakes", "max_iter" or "max_work") and ``converged``
        (stopped by "no mistakes"), both for the running weights, ``mistakes`` (per epoch),
        ``updates``, ``updates_per_model``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separable import AveragedPerceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> AveragedPerceptron(multi_class="argmax").fit(X, y).score(X, y) > 0.9
    True
    """

    _averaged: ClassVar[bool] = True

    def __init__(
        self,
        *,
        eta0: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 10,
        max_work: float = 1e10,
        shuffle: bool = True,
        random_state: Any = 0,
        multi_class: str = "ovr",
        ties: str = "mistake",
        class_weight: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.eta0 = eta0
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.max_work = max_work
        self.shuffle = shuffle
        self.random_state = random_state
        self.multi_class = multi_class
        self.ties = ties
        self.class_weight = class_weight
        self.warm_start = warm_start
