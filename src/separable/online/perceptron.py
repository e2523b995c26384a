"""The perceptron."""

from __future__ import annotations

from typing import Any, ClassVar

from separable.model.parameters import BOOL, Requirement
from separable.online.base_perceptron import PerceptronBase

__all__ = ["Perceptron"]


class Perceptron(PerceptronBase):
    """The perceptron: on every mistake, add the row to the weights.

    For each row in turn, if y (w.x + b) <= 0 then w += eta0 y x and b += eta0 y, until a whole
    epoch makes no mistake. On linearly separable data that happens after at most (R / gamma)^2
    updates, and then every training row is on its side, strictly. There is no early stop by
    tolerance.

    Parameters
    ----------
    eta0 : float, default 1.0
        The learning rate. From a zero start it scales the weights and changes no prediction.
    fit_intercept : bool, default True
        Whether to learn b.
    max_iter : int, default 10000
        The most epochs.
    max_work : float, default 1e10
        The most numbers to read, rows x non-zeros x epochs for each block of models: a limit on
        large data that is not separable.
    shuffle : bool, default True
        Shuffle the rows before each epoch; otherwise take them in the given order.
    random_state : int, RandomState or None, default 0
        The seed of the shuffles.
    multi_class : {"ovr", "argmax"}, default "ovr"
        Three classes and more: one model a class against the rest, or the multi-class rule that
        adds the row to its class and subtracts it from the best rival.
    pocket : bool, default False
        End with the best weights met, by mistakes on the training rows, instead of the last. On
        large data not all weights met are looked at; see docs/learners/perceptron.md.
    ties : {"mistake", "negative", "positive"}, default "mistake"
        Training: a score of exactly 0 is a mistake for either class, or counts as the negative or
        the positive class (of each one-vs-rest model), as in some lectures. It matters from a
        zero start and on whole numbers. "argmax" takes "mistake" only; a stream with another rule
        needs ``classes``. ``predict`` always gives a score of 0 the negative class.
    class_weight : dict, "balanced" or None, default None
        Weights of the classes, multiplied into ``sample_weight``.
    warm_start : bool, default False
        ``fit`` starts from the weights of the previous fit.

    Attributes
    ----------
    model_ : LinearModel
        What was learned, to predict, explain, save and merge.
    coef_, intercept_, classes_ : ndarray
        Views of it.
    n_iter_ : int
        Epochs made.
    evidence_ : dict
        ``epochs``, ``stopped_by`` ("no mistakes", "max_iter", "max_work", or "rounding": no
        mistake in training, but rows within rounding of the boundary), ``converged`` (stopped by
        "no mistakes"), ``converged_models``, ``mistakes`` (of each epoch), ``updates``,
        ``updates_per_model``, ``training_mistakes`` (rows still wrong, counted in float64),
        ``tied_rows`` (rows with a score of 0); and after convergence ``margin``
        (min y (w.x + b) / |w|), ``gamma`` (the same in the space (1, x)), ``radius`` R and
        ``bound`` (R / gamma)^2, the last three for a zero start and unit weights only.

    Examples
    --------
    >>> from separable import Perceptron
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> logical_and = Perceptron().fit(X, [0, 0, 0, 1])
    >>> logical_and.predict(X)
    array([0, 0, 0, 1])
    >>> logical_and.evidence_["converged"]
    True
    >>> logical_and.evidence_["updates"] <= logical_and.evidence_["bound"]
    True
    """

    _requirements: ClassVar[dict[str, Requirement]] = {
        **PerceptronBase._requirements,
        "pocket": BOOL,
    }

    def __init__(
        self,
        *,
        eta0: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 10_000,
        max_work: float = 1e10,
        shuffle: bool = True,
        random_state: Any = 0,
        multi_class: str = "ovr",
        pocket: bool = False,
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
        self.pocket = pocket
        self.ties = ties
        self.class_weight = class_weight
        self.warm_start = warm_start
