"""The kernels of separable for one CPU level."""

from collections.abc import Callable
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

import separable._core.portable


def linear_scores(rows: separable._core.portable.Rows, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    Write X W' + b in a fixed order of sums; return a row that overflows, or -1.
    """

def sigmoid(values: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> None:
    """1 / (1 + e^-s), in place."""

def binary_probabilities(scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Write the probabilities of two classes, sigma(-s) and sigma(s)."""

def exponential(values: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> None:
    """e^s for s <= 0, in place."""

def softplus(values: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> None:
    """log(1 + e^s), in place."""

def softmax(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """The softmax of each row, in place."""

def log_softmax(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """The logarithm of the softmax of each row, in place."""

def lane_width(double_precision: bool) -> int:
    """How many models one block of lanes holds."""

class OnlinePlan:
    """Labels, weights, order and stopping of an online run."""

    def __init__(self, *, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, eta: float = 1.0, fit_intercept: bool = True, shuffle: bool = False, seed: int = 0, first_epoch: int = 0, max_epochs: int = 1, presented: float = 0.0, pocket_values: int = -1, record: bool = False, tie_target: int = 0, learning: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

class OnlineWeights:
    """
    Weights [block][feature][lane], intercepts, and sums for their means; views of the caller's arrays, which a run changes in place.
    """

    def __init__(self, w: Annotated[NDArray, dict(order='C', device='cpu')], b: Annotated[NDArray, dict(order='C', device='cpu')], u: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')] | None = None, u_b: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None) -> None: ...

def shuffled(n_rows: int, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, seed: int, out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Write the given rows, or all, in a shuffled order."""

def unpack(weights: OnlineWeights, scale: float, presented: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write scale w, or the mean scale w - u / presented, as (models, features).
    """

class OnlineRun:
    """What a run of epochs did."""

    @property
    def mistakes(self) -> list[list[int]]:
        """Mistakes by epoch and model."""

    @property
    def presented(self) -> float:
        """Presentations so far, earlier runs included."""

    @property
    def converged(self) -> bool:
        """Whether the last epoch made no mistake."""

    @property
    def overflow_row(self) -> int:
        """The row whose score was not finite, or -1."""

    @property
    def pocket_mistakes(self) -> list[float]:
        """Weight of the rows that the pocket's weights get wrong, by model."""

    def recorded(self, model: int) -> tuple:
        """Rows, steps and times of a model's mistakes, if they were recorded."""

    @property
    def delta_norm(self) -> list[float]:
        """|Delta| in the last epoch of each batch model."""

    @property
    def stop(self) -> list[str]:
        """
        Why each batch model stopped: no mistakes, eps, stalled, or nothing if it did not.
        """

class SquaredErrors:
    """Sums over the presentations of an epoch."""

    def __init__(self, sum: float = 0.0, zero_sum: float = 0.0, weight: float = 0.0) -> None: ...

    @property
    def sum(self) -> float:
        """Of squared errors before each step."""

    @property
    def zero_sum(self) -> float:
        """The same for the answer 0."""

    @property
    def weight(self) -> float:
        """Of weights."""

class WidrowHoffRun:
    """What a run of Widrow-Hoff did."""

    @property
    def mean_squared_error(self) -> list[float]:
        """By epoch."""

    @property
    def last(self) -> SquaredErrors:
        """The sums of the last epoch."""

    @property
    def converged(self) -> bool:
        """Whether tol ended it."""

    @property
    def overflow_row(self) -> int:
        """The row whose error or step was not finite, or -1."""

    @property
    def largest_norm(self) -> float:
        """The largest |x|^2 so far, kept with a safety factor."""

def widrow_hoff(rows: separable._core.portable.Rows, weights: OnlineWeights, target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, *, eta: float, fit_intercept: bool, shuffle: bool, seed: int, max_epochs: int, tol: float, most_error: float, before: SquaredErrors, safety: float = 0.0, largest_norm: float = 0.0) -> WidrowHoffRun:
    """Run the Widrow-Hoff rule."""

class Margins:
    """How weights sort rows."""

    @property
    def smallest(self) -> list[float]:
        """The smallest margin of each model."""

    @property
    def wrong_rows(self) -> int:
        """Rows with a mistake in some model."""

    @property
    def tied_rows(self) -> int:
        """Rows where some margin is 0."""

def margins(rows: separable._core.portable.Rows, weights: OnlineWeights, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, first_class: int, n_models: int, argmax: bool, tie_target: int = 0) -> Margins:
    """Measure the margins of weights on rows."""

def perceptron(rows: separable._core.portable.Rows, weights: OnlineWeights, plan: OnlinePlan, block: int, first_class: int, n_lanes: int) -> OnlineRun:
    """Run the one-vs-rest perceptron on one block of lanes."""

def batch_perceptron(rows: separable._core.portable.Rows, weights: OnlineWeights, plan: OnlinePlan, block: int, first_class: int, n_lanes: int, eps: float) -> OnlineRun:
    """Run the batch perceptron on one block of lanes."""

def argmax_perceptron(rows: separable._core.portable.Rows, weights: OnlineWeights, plan: OnlinePlan, met: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')]) -> OnlineRun:
    """Run the multi-class perceptron on all classes."""

def losses() -> list[tuple[str, bool, bool]]:
    """Every loss: its name, whether it is for classes only, convex."""

def write_loss(name: str, epsilon: float, s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: bool, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write the value, or the gradient in s, of a loss for each score and target.
    """

def write_implicit_gradients(name: str, epsilon: float, s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write the gradient of a loss at the score that a step along it leads to.
    """

class DescentPlan:
    """Targets, loss, penalty, steps and order of a descent."""

    def __init__(self, *, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, number: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, loss: str, epsilon: float, l1: float, l2: float, schedule: str, eta0: float, power: float, alpha: float, t0: float, mean_from: float, fit_intercept: bool, shuffle: bool, seed: int, first_epoch: int, max_epochs: int, patience: int, least: float, best: float, total: float, measure: bool, given_start: bool, one_step: bool, intercept_rate: float, largest_gradient: float) -> None: ...

class DescentProgress:
    """The losses of rows before they were learned from, and their counts."""

    def __init__(self, loss: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], marks: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], mark_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], examples: float, weight: float) -> None: ...

    @property
    def examples(self) -> float: ...

    @property
    def weight(self) -> float: ...

PROGRESS_MARKS: int = 63

class SgdClock:
    """The numbers that move with the steps."""

    def __init__(self, steps: float, scale: float, due: float, mean_scale: float, mean_count: float) -> None: ...

    @property
    def steps(self) -> float: ...

    @property
    def scale(self) -> float: ...

    @property
    def due(self) -> float: ...

    @property
    def mean_scale(self) -> float: ...

    @property
    def mean_count(self) -> float: ...

class AdaptiveClock:
    """The numbers that move with adaptive steps."""

    def __init__(self, rows: float, total: float, centred: float, y_mean: float, y_spread: float, mean_count: float) -> None: ...

    @property
    def rows(self) -> float: ...

    @property
    def total(self) -> float: ...

    @property
    def centred(self) -> float: ...

    @property
    def y_mean(self) -> float: ...

    @property
    def y_spread(self) -> float: ...

    @property
    def mean_count(self) -> float: ...

class AdaptiveArrays:
    """Views of the caller's arrays."""

    def __init__(self, *, wa: Annotated[NDArray, dict(order='C', device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], a0: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], u: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')] | None = None, u_b: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None, due: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')] | None = None, q: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')] | None = None, columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], centred_index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], centred: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], last: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None) -> None: ...

class DescentRun:
    """What a run of epochs did."""

    @property
    def losses(self) -> list[list[float]]:
        """Sums of weight x loss by epoch and model."""

    @property
    def overflow_row(self) -> int:
        """The row whose score was not finite, or -1."""

    @property
    def converged(self) -> bool:
        """Whether the stopping rule ended it."""

def sgd(rows: separable._core.portable.Rows, weights: OnlineWeights, q: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')] | None, plan: DescentPlan, progress: DescentProgress | None, clock: SgdClock, block: int, first_class: int, n_lanes: int) -> DescentRun:
    """Descend with one step size for all weights, on one block of lanes."""

def adaptive_sgd(rows: separable._core.portable.Rows, arrays: AdaptiveArrays, plan: DescentPlan, progress: DescentProgress | None, clock: AdaptiveClock, block: int, first_class: int, n_lanes: int) -> DescentRun:
    """Descend with a step for each weight, on one block of lanes."""

class Voters:
    """Mistaken rows and, model after model, the steps along them."""

    def __init__(self, mistaken: separable._core.portable.Rows, *, row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], step: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], count: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], base_count: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], fit_intercept: bool) -> None: ...

    def vote(self, rows: separable._core.portable.Rows, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
        """
        Replace the scores of base weights by votes; return a row that overflows, or -1.
        """

def fold_steps(mistaken: separable._core.portable.Rows, row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], step: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Add steps along rows to weights, one after the other."""

def centre_rows(rows: separable._core.portable.Rows, first: int, n_rows: int, group: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, total: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], origin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], largest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], column: int) -> None:
    """Centre a block of dense rows by group; see moments/centre.hpp."""

def column_ranges(rows: separable._core.portable.Rows, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write the mean, the least and the largest value of each column of dense rows; see moments/column_ranges.hpp.
    """

def close_pairs(rows: separable._core.portable.Rows, step: int, limit: float, size: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, most: int) -> list[int]:
    """
    The columns in which all but a few pairs of values are close; see moments/close_pairs.hpp.
    """

def add_dense_blocks(rows: separable._core.portable.Rows, targets: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, first: int, n_rows: int, step: int, origin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], total: float, offset: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], scatter: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> tuple[int, float]:
    """
    Add blocks of dense rows to sums about their mean; see moments/dense_sums.hpp. Returns the rows that were added and the weight after them.
    """

def fuses_products() -> bool:
    """
    Whether the CPU level adds products in one instruction, so that sums of them are fast.
    """

def group_sums(rows: separable._core.portable.Rows, first: int, n_rows: int, group: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threshold: float | None, sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> tuple[bool, bool, bool]:
    """
    Add a block's sums by group; above a threshold, counts. Returns whether all values are finite, whether one has a minus sign, and whether all are whole numbers below 2^50 (2^21 in float32).
    """

def column_squares(rows: separable._core.portable.Rows, first: int, n_rows: int, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], filled: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], largest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Add a block's squares and the weight of the rows that have each column, and raise the largest |x|.
    """

def squares_about(rows: separable._core.portable.Rows, first: int, n_rows: int, group: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, total: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], gaps: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Add a block's squares about means of the groups; write sums of what is left of them.
    """

def spread_columns(rows: separable._core.portable.Rows, first: int, n_rows: int, place: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Add chosen columns of a block to dense rows."""

def add_products(rows: separable._core.portable.Rows, first: int, n_rows: int, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, place: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cross: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Add a block's products of sparse columns; see sparse_sums.hpp."""

def residual_sums(rows: separable._core.portable.Rows, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, w_low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, b: float, b_low: float, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, residuals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None) -> tuple[float, float]:
    """
    Residuals of least squares in twice the digits; see moments/residual.hpp. Returns their sum and the sum of their squares.
    """

class LaneTargets:
    """Targets and costs of rows in each lane."""

    def __init__(self, loss: str, eps: float, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, number: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, fold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, class_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], held_out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], C: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class RowLoss:
    """A loss of the rows of one model; see certified/row_terms.hpp."""

    def __init__(self, name: str, eps: float) -> None: ...

    def total(self, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float: ...

    def dual_total(self, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float: ...

    def gap(self, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def clip_dual(self, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def derivatives(self, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

    def best_intercept(self, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float: ...

def dual_pass(targets: LaneTargets, rows: separable._core.portable.Rows, squared_norm: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rho: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray, dict(order='C', device='cpu')], a: Annotated[NDArray, dict(order='C', device='cpu')], t: Annotated[NDArray, dict(order='C', device='cpu')] | None, by_row: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu')], by_lane: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], done: int, number: int, seed: int) -> tuple[list[float], list[float]]:
    """
    One pass of dual coordinate descent; see certified/dual_descent.hpp. by_row has a bit per lane for shrunk rows and one for rows with a large gap; by_lane are multipliers, sums, shrinking thresholds, losses of shrunk rows and large gaps. Returns the loss and the gap at the weights of the moment, by lane.
    """

def semismooth_newton(targets: LaneTargets, rows: separable._core.portable.Rows, w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], fit_intercept: bool, width: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], tol: float, max_steps: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_idle: float, on_step: Callable[[int, float], bool] | None) -> tuple[list[int], list[bool], bool]:
    """
    Solve lanes of a piecewise linear loss; see certified/semismooth_newton.hpp. Weights, intercepts, dual points and widths of the zones are updated. Returns the steps of each lane, whether it stalled, and whether on_step stopped them.
    """

def add_rows(rows: separable._core.portable.Rows, r: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Add X'r of many models; see certified/row_products.hpp."""

@overload
def score_rows(rows: separable._core.portable.Rows, w: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Write Xw of many models; see certified/row_products.hpp."""

@overload
def score_rows(rows: separable._core.portable.Rows, w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

def largest_scores(rows: separable._core.portable.Rows, w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], factor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, is_signed: bool) -> list[float]:
    """
    The largest |score| or score of any row, by model; see certified/row_products.hpp.
    """

@overload
def lane_norms(w: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[list[float], list[float], list[float]]:
    """|w|^2, |v|^2 and |w - v|^2 of each lane."""

@overload
def lane_norms(w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[list[float], list[float], list[float]]: ...

@overload
def lane_gaps(targets: LaneTargets, z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], u: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], finds_intercept: bool) -> tuple[list[float], list[float], list[float], list[float]]:
    """
    Intercepts, added to the scores, and primal, dual and gap of each lane; see certified/lane_gaps.hpp.
    """

@overload
def lane_gaps(targets: LaneTargets, z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], u: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], finds_intercept: bool) -> tuple[list[float], list[float], list[float], list[float]]: ...

def make_feasible(targets: LaneTargets, z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], balance: bool) -> None:
    """Make dual points feasible; see certified/row_terms.hpp."""

def row_terms(targets: LaneTargets, z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], fit_intercept: bool) -> tuple[list[float], list[float], list[float], list[float]]:
    """
    The best intercepts and the sums of losses, dual values and gaps, by lane; see certified/row_terms.hpp.
    """

class GapModel:
    """Penalty, loss and the sizes of rows; see certified/gap_bounds.hpp."""

    def __init__(self, is_joint: bool, is_penalised: bool, has_logarithms: bool, curvature: float, l1: float, l2: float, length: float, largest: float) -> None: ...

def add_errors(model: GapModel, targets: LaneTargets, plain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], primal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], more: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], unbalanced: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], errors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> list[float]:
    """Gaps with what errors may add, by lane; see certified/gap_bounds.hpp."""

def bound_gaps(model: GapModel, targets: LaneTargets, z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, level: float, extent: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], terms: int, fit_intercept: bool, gap: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], primal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[list[float], list[float]]:
    """
    Gaps with bounds on rounding, and changes of the primal, by lane; see certified/gap_bounds.hpp.
    """

def centred_intercepts(shift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], level: float) -> list[float]:
    """b + shift.w - level of each model, rounded once."""

def row_sizes(z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[list[float], list[float], list[float]]:
    """
    The largest finite score, sum |z| and |sum z|, by lane; see certified/row_terms.hpp.
    """

def gap_errors(targets: LaneTargets, z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], are_residuals: bool, error: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], imbalance: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[list[float], list[float], list[float]]:
    """
    The sum of gaps, and what errors of scores and an imbalance of z may add to it, by lane; see certified/row_terms.hpp.
    """

def elastic_net_gap(rows: separable._core.portable.Rows, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: float, fit_intercept: bool, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], length: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], far: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], unit: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, l1: float, l2: float, positive: bool, residuals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], dual: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[float, float, float, float]:
    """
    Intercept, primal, gap and its rounding of squared errors with an elastic net; see certified/elastic_net_gap.hpp.
    """

def add_outer(rows: separable._core.portable.Rows, c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], products: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Add the outer products of rows, each pair of columns once, in either triangle; see certified/row_products.hpp.
    """

def add_curved(rows: separable._core.portable.Rows, c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: float, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    A Hessian-vector product: write Xw + b and add X'(c * scores); see certified/row_products.hpp.
    """

def add_squares(rows: separable._core.portable.Rows, c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Add weighted squares by column; see certified/row_products.hpp."""

def descend_path(columns: separable._core.portable.Rows, loss: str, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l1: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], positive: bool, fit_intercept: bool, Cs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], intercept: float, tol: float, max_sweeps: int, callback: Callable | None) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    The path of an elastic-net penalty; see certified/coordinate_path.hpp. Returns the start of the weights of each C, their columns and values, intercepts, relative gaps, and sweeps.
    """

def spread_weights(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    A table of weights, one row per model, from the non-zero weights of descend_path.
    """

def minimise_softmax_model(columns: separable._core.portable.Rows, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], l1: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], p: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], fit_intercept: bool, may_change: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], intercepts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], tol: float, max_sweeps: int, work: float, callback: Callable | None) -> tuple[int, float]:
    """
    Minimise the quadratic model of softmax losses with an elastic-net penalty; see certified/softmax_model.hpp. Changes the weights, and writes the changes of intercepts and scores. Returns sweeps, and work since equations were last solved.
    """

def gram_path(gram: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cross: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], squares: float, l1: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], positive: bool, l1_level: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l2_level: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], tol: float, max_iter: int, callback: object | None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], certificates: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], steps: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    The elastic net from the Gram matrix, for many penalty levels, each warm-started from the level before and the first from weights; see certified/gram_descent.hpp. Writes weights, (primal, gap) and steps of each level.
    """

class LogisticExpansion:
    """What products with the Hessian of an expanded lane need."""

    def __init__(self) -> None: ...

class Preconditioner:
    """
    Coordinates w = basis u, b = intercept_scale v - centre.w in which objectives are well conditioned. The basis is of some columns, diagonal of the others; None: of all columns. A basis with a row for each weight and intercept of all classes is of them together.
    """

    def __init__(self, basis: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercept_scale: float, columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

class LogisticLanes:
    """
    Rows in tiles, with labels, sample weights and folds, for l2-penalised logistic regression of many lanes.
    """

    @overload
    def __init__(self, n_columns: int, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, fold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, is_float32: bool) -> None: ...

    @overload
    def __init__(self, rows: separable._core.portable.Rows, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, fold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, is_float32: bool) -> None: ...

    def set_rows(self, first: int, x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """Write dense rows, from row `first` on."""

    def solve(self, C: float, held_out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], preconditioner: Preconditioner, decrement_tol: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], decrement_ratio: float, gap_tol: float, max_evaluations: int, memory: int, sample_step: int, callback: object | None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], results: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
        """
        Minimise the objectives of lanes by L-BFGS in the coordinates of the preconditioner; see certified/lbfgs.hpp. code has the weight vector of each class, -1 if it is absent, and no column for binary lanes. A sample_step above 1 begins with one of so many tiles. weights, (lanes, vectors, columns + 1) with the intercept last, are the start and the end; results are value, estimated gap, half the squared Newton decrement, evaluations and whether the lane converged.
        """

    def expand(self, C: float, held_out: int, target: int, code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], curvature: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], expansion: LogisticExpansion) -> float:
        """
        Write the gradient and the mean curvature of each row at the weights of one lane, keep in the expansion what its Hessian needs, and return its value.
        """

    def newton_step(self, expansion: LogisticExpansion, C: float, preconditioner: Preconditioner, gradient: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], value: float, residual_tol: float, max_products: int, step: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> list[float]:
        """
        Write a truncated Newton step from the weights that were expanded; see certified/logistic_newton.hpp. Returns gradient.step, the squared norm of the residual and the number of Hessian products.
        """

def expand_softmax(label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], hessian: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> float:
    """
    Replace scores by their softmax, add class totals and the Hessian in the intercepts, and return the loss; see certified/softmax_certificate.hpp.
    """

def softmax_dual_points(label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], q: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], change: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """
    Replace probabilities by dual points, after a first-order change of the intercepts, and return the gap of the rows.
    """

def lp_descent(power: str, h: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], penalty: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], tol: float, max_passes: int, u: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[int, float]:
    """
    Coordinate descent with an lp penalty; see certified/block_descent.hpp and certified/lp_step.hpp. Returns the passes, and how much the last one moved.
    """

def group_descent(h: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], penalty: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], axes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], tol: float, max_passes: int, u: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[int, float]:
    """
    Block coordinate descent with a group penalty; see certified/block_descent.hpp and certified/group_step.hpp. Returns the passes, and how much the last one moved.
    """

class MultinomialTargets:
    """Classes of the rows and their costs in each model."""

    def __init__(self, n_classes: int, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, fold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, held_out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], C: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

def class_stride(n_classes: int, itemsize: int) -> int:
    """
    The lanes that the classes of one model take: a power of two, or whole lines.
    """

@overload
def multinomial_pass(targets: MultinomialTargets, rows: separable._core.portable.Rows, squared_norm: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], u: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], hot: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu')], by_lane: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], by_model: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], done: int, number: int, seed: int) -> tuple[list[float], list[float]]: ...

@overload
def multinomial_pass(targets: MultinomialTargets, rows: separable._core.portable.Rows, squared_norm: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], u: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], hot: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu')], by_lane: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], by_model: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], done: int, number: int, seed: int) -> tuple[list[float], list[float]]:
    """
    One pass of multinomial dual coordinate descent; see certified/multinomial_descent.hpp. hot has a bit for each model in which the gap of a row was large; by_lane are multipliers and sums, by_model rho, small and large gaps. Returns the loss and the gap at the weights of the moment, by model.
    """
