"""Progressive validation: each row is predicted before it is learned.

The stream is cut into pieces. The rows of a piece are first predicted, then learned, so the
weights lag by at most 1 / 16 of the examples and at most `PIECE` rows. Online learners sum up their
own loss, with the weights right before each row. Cuts depend only on the number of examples, so
results do not depend on the chunks of the reader.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.features.encoding_report import EncodingReport
    from separable.model.kinds import Model
    from separable.workflow.stream.stream_rows import Batch
    from separable.workflow.stream.stream_target import StreamTarget

__all__ = ["PIECE", "PIECE_DIVISOR", "Gauge", "Line", "Record", "is_mark", "next_cut"]

#: Maximum rows predicted with the same weights: PIECE, and a fraction 1 / PIECE_DIVISOR of the
#: rows before.
PIECE = 1 << 14
PIECE_DIVISOR = 16
#: Maximum unseen levels listed per column.
EXAMPLES = 3


def next_cut(examples: int) -> int:
    """Return the number of examples at the next cut.

    Cuts are at 1, 2, 4, 8, ... examples, one before each of these, and in between.

    >>> [next_cut(n) for n in (0, 1, 2, 3, 4, 31, 32, 62, 63, 64, 100, 500, 511, 10**6)]
    [1, 2, 3, 4, 5, 32, 34, 63, 64, 68, 106, 511, 512, 1016384]
    """
    power = 1 << examples.bit_length()
    mark = power if examples == power - 1 else power - 1
    return min(mark, examples + max(1, min(examples // PIECE_DIVISOR, PIECE)))


def is_mark(examples: int) -> bool:
    """Return whether a line is printed after this many examples."""
    return examples.bit_count() == 1


@dataclass(frozen=True)
class Line:
    """The state of the progress after a number of examples.

    Parameters
    ----------
    examples : int
    weight : float
        The sum of their weights.
    loss : float or None
        The progressive sum of weight x loss; None if the learner has no such loss.
    trials : float
        The divisor of ``loss``.
    tested : float
        The weight of the examples that were predicted before they were learned.
    score : float
        The weight of the correctly predicted ones; in regression the sum of weighted squared
        errors.
    constant : list of float
        The weight of each class; in regression the mean and the sum of squares about it.
    label, predicted : object
        Of the last example.
    features : int
        Its number of non-zero features, or of all features if rows are dense.
    """

    examples: int
    weight: float
    loss: float | None
    trials: float
    tested: float
    score: float
    constant: list[float]
    label: Any
    predicted: Any
    features: int


@dataclass
class Record:
    """Counters and position of a run; a checkpoint stores all of it."""

    #: Complete passes, and rows of the files read in the current one.
    passes: int = 0
    row: int = 0
    #: Rows learned in this pass, and the sum of their weights.
    examples: int = 0
    weight: float = 0.0
    presented: float = 0.0
    #: Rows are cut at its multiples; see `block_of`.
    block: int = 1
    #: Sums of loss and weight before this pass.
    before: tuple[float, float] = (0.0, 0.0)
    tested: float = 0.0
    score: float = 0.0
    constant: list[float] = field(default_factory=list)
    last: tuple[Any, Any, int] = (None, None, 0)
    lines: list[Line] = field(default_factory=list)
    pass_losses: list[float | None] = field(default_factory=list)
    missing: int = 0
    unseen: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def is_first_pass(self) -> bool:
        """Whether this pass sees new rows."""
        return self.passes == 0

    def count(self, batches: Sequence[Batch], target: StreamTarget) -> None:
        """Count learned rows, up to a cut."""
        self.row = batches[-1].end
        y = np.concatenate([batch.y for batch in batches])
        weight = batch_weights(batches)
        self.examples += len(y)
        self.weight += float(weight.sum())
        self.presented += float(np.ceil(weight).sum())
        if not self.is_first_pass:
            return
        self.missing += sum(batch.missing for batch in batches)
        if len(y):
            self._count_targets(y, weight, target)
        for batch in batches:
            if batch.report is not None:
                self._count_unseen(batch.report)

    def _count_targets(
        self, y: NDArray[Any], weight: NDArray[np.float64], target: StreamTarget
    ) -> None:
        if target.classes is not None:
            codes = np.searchsorted(target.classes, y)
            counts = np.bincount(codes, weight, minlength=len(target.classes))
            known = np.array(self.constant or [0.0] * len(counts))
            self.constant = (known + counts).tolist()
            return
        before = self.weight - float(weight.sum())
        mean, squares = self.constant or (0.0, 0.0)
        own = float(np.average(y, weights=weight))
        fraction = float(weight.sum()) / self.weight
        squares += float((weight * (y - own) ** 2).sum()) + before * fraction * (own - mean) ** 2
        self.constant = [mean + fraction * (own - mean), squares]

    def _count_unseen(self, report: EncodingReport) -> None:
        for column in report.columns:
            if column.unseen:
                known = self.unseen.setdefault(column.column, {"count": 0, "first": []})
                known["count"] += column.unseen
                new = (level for _, level in column.unseen_examples if level not in known["first"])
                known["first"] = [*known["first"], *new][:EXAMPLES]

    def test(self, estimator: Any, batches: Sequence[Batch], target: StreamTarget) -> None:
        """Predict new rows with the current weights."""
        parts = [batch for batch in batches if batch.rows is not None]
        if not parts:
            return
        last = parts[-1]
        assert last.rows is not None
        features = int(_row_sizes(last)[-1])
        predicted = _predicted(estimator, parts)
        if predicted is None:
            self.last = (last.y[-1].item(), None, features)
            return
        y, weight = np.concatenate([batch.y for batch in parts]), batch_weights(parts)
        if target.classes is None:
            self.score += float((weight * (predicted - y) ** 2).sum())
        else:
            self.score += float((weight * (predicted == y)).sum())
        self.tested += float(weight.sum())
        self.last = (y[-1].item(), predicted[-1].item(), features)

    def add_line(self, gauge: Gauge, estimator: Any) -> Line:
        """Append a line with the current state."""
        label, predicted, features = self.last
        line = Line(
            examples=self.examples,
            weight=self.weight,
            loss=gauge.loss(estimator, self),
            trials=gauge.trials(self),
            tested=self.tested,
            score=self.score,
            constant=list(self.constant),
            label=label,
            predicted=predicted,
            features=features,
        )
        self.lines.append(line)
        return line

    def end_pass(self, gauge: Gauge, estimator: Any) -> None:
        """Close a pass and open the next."""
        loss, trials = gauge.loss(estimator, self), gauge.trials(self)
        self.pass_losses.append(None if loss is None or not trials else loss / trials)
        self.before = gauge.sums(estimator, self)
        self.passes, self.row = self.passes + 1, 0
        self.examples, self.weight, self.presented = 0, 0.0, 0.0


class Gauge:
    """Reader of the progressive loss that an online learner sums up.

    Parameters
    ----------
    estimator : object
        The learner.
    n_classes : int
        The number of classes; 0 in regression.
    """

    def __init__(self, estimator: Any, n_classes: int) -> None:
        self._kind = _kind_of(estimator)
        self._n_models = n_classes if n_classes > 2 else 1
        self._loss = getattr(estimator, "loss", "")

    @property
    def name(self) -> str | None:
        """The name of the loss; None: the learner has none."""
        if self._kind == "progressive":
            halves = {"squared_error": "error^2 / 2", "sigmoid_mse": "squared error"}
            return halves.get(self._loss, self._loss.replace("_", " "))
        return {"mean_squared_error": "error^2", "updates": "mistakes"}.get(self._kind or "")

    def trials(self, record: Record) -> float:
        """Return the divisor of the sum of losses: weights, or presentations."""
        return record.presented if self._kind == "updates" else record.weight

    def sums(self, estimator: Any, record: Record) -> tuple[float, float]:
        """Return the sums of loss and weight since the start of the learner."""
        loss, weight = record.before
        weight += self.trials(record)
        if self._kind is None or not record.examples:
            return loss, weight
        evidence = estimator.evidence_
        if self._kind == "progressive":
            return evidence["progressive"]["mean_loss"][-1] * weight, weight
        if self._kind == "mean_squared_error":
            return evidence["mean_squared_error"][-1] * weight, weight
        return evidence["updates"] / self._n_models, weight

    def loss(self, estimator: Any, record: Record) -> float | None:
        """Return the sum of losses in this pass."""
        if self._kind is None:
            return None
        return self.sums(estimator, record)[0] - record.before[0]

    def before(self, model: Model) -> tuple[float, float]:
        """Return the sums of a model that continues from a file."""
        assert model.state is not None
        values: Any = model.state.values
        if self._kind == "progressive":
            losses = model.state.tensors["loss"][: self._n_models]
            return float(losses.mean()), float(values["clock"]["weight"])
        if self._kind == "mean_squared_error":
            return float(values["clock"]["squared_error"]), float(values["presented"])
        if self._kind == "updates":
            return int(values["updates"]) / self._n_models, float(values["presented"])
        return 0.0, 0.0


def batch_weights(batches: Sequence[Batch]) -> NDArray[np.float64]:
    """Return the weights of all rows."""
    return np.concatenate(
        [np.ones(len(part.y)) if part.weight is None else part.weight for part in batches]
    )


def _kind_of(estimator: Any) -> str | None:
    """Return the attribute in which a learner keeps its progressive loss."""
    from separable.online.base_perceptron import PerceptronBase
    from separable.online.base_sgd import SGDBase
    from separable.online.widrow_hoff import WidrowHoff

    kinds = {SGDBase: "progressive", WidrowHoff: "mean_squared_error", PerceptronBase: "updates"}
    return next((kind for each, kind in kinds.items() if isinstance(estimator, each)), None)


def _predicted(estimator: Any, batches: Sequence[Batch]) -> NDArray[Any] | None:
    """Predict rows; None if that is impossible yet, for example with a single class."""
    import warnings

    if not estimator.__sklearn_is_fitted__():
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about a few rows
            parts = [estimator.predict(batch.rows) for batch in batches]
            predicted: NDArray[Any] = np.concatenate(parts)
            return predicted
    except ValueError:  # training reports what is wrong with the rows
        return None


def _row_sizes(batch: Batch) -> NDArray[Any]:
    assert batch.rows is not None
    if batch.rows.indptr is None:
        return np.asarray(np.count_nonzero(batch.rows.values, axis=1))
    return np.diff(batch.rows.indptr)
