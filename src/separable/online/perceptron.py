"""Perceptron (Rosenblatt, 1958)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar

from separable.accepted_parameters import accepts
from separable.fitting.base import with_parameters
from separable.model.parameters import BOOL, COUNT_OR_NONE, Requirement
from separable.online.base_perceptron import PerceptronBase
from separable.online.overlap import run_until_decided

if TYPE_CHECKING:
    from separable.online.runs import Rule, Run, TrainingBatch
    from separable.online.state import OnlineState

__all__ = ["Perceptron"]

#: Maximum epochs if max_iter is None: without and with checks of separability. (With them, max_work
#: usually ends a fit first, but epochs of tiny tables cost more than the numbers they read.)
MAX_EPOCHS, MAX_DECIDED_EPOCHS = 10_000, 1_000_000


@accepts(
    *("verbose", "n_jobs", "penalty", "l1_ratio", "early_stopping", "validation_fraction"),
    "n_iter_no_change",
    alpha="there is no penalty",
    tol="an epoch without a mistake, or a proof that none will come, ends the fit",
)
@with_parameters
class Perceptron(PerceptronBase):
    """Perceptron classifier.

    For each row in turn, if y (w.x + b) <= 0 then w += eta0 y x and b += eta0 y. Training stops
    after an epoch without a mistake. On linearly separable data this happens after at most
    (R / gamma)^2 updates, and the weights strictly separate the training rows. There is no early
    stopping by tolerance: if mistakes are left after 20 epochs, each class is checked for linear
    separability. If a proof shows that no hyperplane separates it from the rest, its model ends
    with the best weights met; the others continue until no mistake is left.

    Parameters
    ----------
    max_iter : int or None
        Maximum number of epochs of the textbook algorithm, which does not check whether the classes
        are separable. None: training ends without a mistake, with a proof that the classes
        overlap, or by ``max_work``; with multi_class="argmax" or ``pocket``, after 10000 epochs.
    pocket : bool
        Pocket algorithm: return the weights with the fewest training mistakes instead of the last
        weights. On large data not all weights are evaluated; see docs/learners/perceptron.md.
    ties : {"mistake", "negative", "positive"}
        How training treats a score of exactly 0: as a mistake for either class, or as a prediction
        of the negative or the positive class (of each one-vs-rest model). It matters for a zero
        start and for integer data. multi_class="argmax" requires "mistake"; with another rule
        ``partial_fit`` needs ``classes``. ``predict`` assigns a score of 0 to the negative class.

    Attributes
    ----------
    evidence_ : dict
        ``epochs``, ``stopped_by`` ("no mistakes", "overlap": proved, "max_iter", "max_work",
        "bound": separable, but the mistake bound is so far beyond ``max_work`` that only a
        fraction of it was used, or "rounding": no mistake in training, but rows within rounding of
        the boundary),
        ``converged`` (stopped by "no mistakes"), ``converged_models``, ``mistakes`` (per epoch, of
        the first 10000), ``separability`` (of each model that was checked: "separable", "overlap"
        or "undecided", with a lower or upper bound on the margin), ``pocket_mistakes`` (of models
        with the best weights met instead of the last), ``updates``,
        ``updates_per_model``, ``training_mistakes`` (misclassified rows, counted in float64),
        ``tied_rows`` (rows with a score of 0). After convergence also ``margin``
        (min y (w.x + b) / |w|), and, for a zero start and unit weights, ``gamma`` (the margin in
        the space (1, x)), ``radius`` R and ``bound`` (R / gamma)^2.

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

    _: KW_ONLY
    max_iter: int | None = None
    shuffle: bool = True
    random_state: Any = 0
    multi_class: str = "ovr"
    pocket: bool = False

    _requirements: ClassVar[dict[str, Requirement]] = {
        "max_iter": COUNT_OR_NONE,
        "pocket": BOOL,
    }

    # ------------------------------------------------------------------ steps

    def _run(self, state: OnlineState, batch: TrainingBatch, rule: Rule) -> Run:
        return (run_until_decided if self._decides() else super()._run)(state, batch, rule)

    def _decides(self) -> bool:
        """Return whether training checks the classes for separability.

        With another tie rule and no intercept, rows on the boundary can be correct.
        """
        return (
            self.max_iter is None
            and not self.pocket
            and self.multi_class == "ovr"
            and (self.ties == "mistake" or bool(self.fit_intercept))
        )

    def _max_epochs(self) -> float:
        if self.max_iter is not None:
            return self.max_iter
        return MAX_DECIDED_EPOCHS if self._decides() else MAX_EPOCHS
