"""The averaged perceptron."""

from __future__ import annotations

from typing import Any, ClassVar

from separable.online.base_perceptron import PerceptronBase

__all__ = ["AveragedPerceptron"]


class AveragedPerceptron(PerceptronBase):
    """The perceptron, ending in the mean of all its intermediate weights.

    The rule is that of ``Perceptron``; the model is (1/T) sum of w_t over the T presentations,
    w_t being the weights after presentation t (the start w_0 does not count). The mean is kept
    lazily, at the cost of the non-zeros of mistaken rows, in float64. It needs no separable data:
    a fit that reaches ``max_iter`` with mistakes left is a normal end.

    Parameters
    ----------
    eta0 : float, default 1.0
        The learning rate. From a zero start it scales the weights and changes no prediction.
    fit_intercept : bool, default True
        Whether to learn b.
    max_iter : int, default 10
        The most epochs; an epoch without a mistake ends the fit sooner.
    max_work : float, default 1e10
        The most numbers to read, rows x non-zeros x epochs for each block of models.
    shuffle : bool, default True
        Shuffle the rows before each epoch; otherwise take them in the given order.
    random_state : int, RandomState or None, default 0
        The seed of the shuffles.
    multi_class : {"ovr", "argmax"}, default "ovr"
        Three classes and more: one model a class against the rest, or the multi-class rule that
        adds the row to its class and subtracts it from the best rival.
    ties : {"mistake", "negative", "positive"}, default "mistake"
        Training: a score of exactly 0 is a mistake for either class, or counts as the negative or
        the positive class (of each one-vs-rest model), as in some lectures. See ``Perceptron``.
    class_weight : dict, "balanced" or None, default None
        Weights of the classes, multiplied into ``sample_weight``.
    warm_start : bool, default False
        ``fit`` goes on from the previous fit, its mean included.

    Attributes
    ----------
    model_ : LinearModel
        What was learned, to predict, explain, save and merge.
    coef_, intercept_, classes_ : ndarray
        Views of it.
    n_iter_ : int
        Epochs made.
    evidence_ : dict
        ``epochs``, ``stopped_by`` ("no mistakes", "max_iter" or "max_work") and ``converged``
        (stopped by "no mistakes"), both of the running weights, ``mistakes`` (of each epoch),
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
