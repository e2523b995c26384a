"""The compiled core of separable."""

from typing import Annotated

import numpy
from numpy.typing import NDArray


class Rows:
    """Rows of data, dense or CSR, checked once."""

    def __init__(self, values: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], n_features: int, indices: Annotated[NDArray, dict(order='C', device='cpu', writable=False)] | None = None, indptr: Annotated[NDArray, dict(order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def copy_rows(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)], values: Annotated[NDArray, dict(order='C', device='cpu')], indices: Annotated[NDArray, dict(order='C', device='cpu')] | None = None, indptr: Annotated[NDArray, dict(order='C', device='cpu')] | None = None) -> None:
        """Write the given rows, in that order, into arrays of the right size."""

    def largest_squared_norm(self) -> float:
        """max |x|^2 over the rows."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

def lane_width(double_precision: bool) -> int:
    """How many models one block of lanes holds."""

class OnlinePlan:
    """Labels, weights, order and stopping of an online run."""

    def __init__(self, *, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, eta: float = 1.0, fit_intercept: bool = True, shuffle: bool = False, seed: int = 0, first_epoch: int = 0, max_epochs: int = 1, presented: float = 0.0, pocket: bool = False) -> None: ...

class OnlineWeights:
    """
    Weights [block][feature][lane], intercepts, and sums for their means; views of the caller's arrays, which a run changes in place.
    """

    def __init__(self, w: Annotated[NDArray, dict(order='C', device='cpu')], b: Annotated[NDArray, dict(order='C', device='cpu')], u: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')] | None = None, u_b: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None) -> None: ...

def shuffled(n_rows: int, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, seed: int, out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Write the given rows, or all, in a shuffled order."""

def unpack(weights: OnlineWeights, presented: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write weights, or their mean after so many presentations, as (models, features).
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

class Margins:
    """How weights sort rows."""

    @property
    def smallest(self) -> list[float]:
        """The smallest margin of each model."""

    @property
    def wrong_rows(self) -> int:
        """Rows where some margin is not above 0."""

def margins(rows: Rows, weights: OnlineWeights, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, first_class: int, n_models: int, argmax: bool) -> Margins:
    """Measure the margins of weights on rows."""

def perceptron(rows: Rows, weights: OnlineWeights, plan: OnlinePlan, block: int, first_class: int, n_lanes: int) -> OnlineRun:
    """Run the one-vs-rest perceptron on one block of lanes."""

def argmax_perceptron(rows: Rows, weights: OnlineWeights, plan: OnlinePlan, met: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')]) -> OnlineRun:
    """Run the multi-class perceptron on all classes."""
