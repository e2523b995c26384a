"""Averaged perceptron (Freund and Schapire, 1999)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from separable.fitting.base import with_parameters
from separable.online.base_perceptron import PerceptronBase

__all__ = ["AveragedPerceptron"]


@with_parameters
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

    _: KW_ONLY
    max_iter: int = 10
    shuffle: bool = True
    random_state: Any = 0
    multi_class: str = "ovr"

    _averaged: ClassVar[bool] = True
