"""Every step of an online learner, also of rows that were classified correctly."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separable.data.rows import as_rows, column_names
from separable.estimator import clone, is_classifier
from separable.learn import plain
from separable.learn.epoch_orders import MAX_ROWS, epoch_orders
from separable.learn.trace_table import Trace
from separable.model.parameters import ParameterError
from separable.online.averaged_perceptron import AveragedPerceptron
from separable.online.base_perceptron import TIE_TARGETS
from separable.online.base_sgd import DEFAULT_ALPHA, DEFAULT_ETA
from separable.online.batch_perceptron import BatchPerceptron
from separable.online.perceptron import Perceptron
from separable.online.runs import draw_seed
from separable.online.sgd_classifier import SGDClassifier
from separable.online.sgd_regressor import SGDRegressor
from separable.online.voted_perceptron import VotedPerceptron
from separable.online.widrow_hoff import WidrowHoff

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.typing import Floats, Indices

__all__ = ["MAX_EPOCHS", "MAX_NUMBERS", "trace"]

#: Epochs of ``Perceptron(max_iter=None)``.
MAX_EPOCHS = 100
#: Maximum number of weights in all steps.
MAX_NUMBERS = 20_000_000
LEARNERS = (
    Perceptron,
    AveragedPerceptron,
    VotedPerceptron,
    BatchPerceptron,
    WidrowHoff,
    SGDClassifier,
    SGDRegressor,
)


class Setting(NamedTuple):
    """The learner, its rows, and the order in which they are taken."""

    learner: Any
    fitted: Any
    X: Floats
    y: NDArray[Any]
    start: Floats | None
    orders: list[Indices]

    @property
    def epochs(self) -> int:
        """The number of epochs."""
        return len(self.orders)


def trace(
    learner: Any,
    X: Any,
    y: Any,
    *,
    start: Any = None,
    order: Any = None,
    ties: str | None = None,
) -> Trace:
    """Return every step that the learner takes on these rows.

    The steps are computed in plain NumPy (`separable.learn.plain`). They end in the weights of
    ``learner.fit(X, y)``, up to rounding; ``Trace.difference`` says how near.

    Parameters
    ----------
    learner : estimator
        ``Perceptron``, ``AveragedPerceptron``, ``VotedPerceptron``, ``BatchPerceptron``,
        ``WidrowHoff``, ``SGDClassifier`` or ``SGDRegressor``. It is not changed. SGD needs
        ``learning_rate="constant"`` or ``"invscaling"``. ``Perceptron(max_iter=None)`` makes at
        most 100 epochs here.
    X : array-like, sparse matrix or numeric data frame of shape (n, d)
    y : array-like of shape (n,)
        Classes, any number of them, or numbers.
    start : array-like of shape (d + 1,) or (k, d + 1), optional
        Initial (b, w) of each model; default zeros.
    order : "given" or permutation of the rows, optional
        The order of every epoch. Default: that of the learner, shuffled or not.
    ties : "mistake", "negative" or "positive", optional
        How a perceptron treats a score of exactly 0, in place of the learner's ``ties``.

    Returns
    -------
    Trace

    Examples
    --------
    >>> from separable import Perceptron
    >>> from separable.datasets import load
    >>> from separable.learn import trace
    >>> example = load("and")
    >>> steps = trace(Perceptron(), example.X, example.y, order="given")
    >>> len(steps), steps.updates, steps.weights[-1]
    (36, 18, array([[-4.,  3.,  2.]]))
    """
    learner = _checked(learner, ties)
    matrix, names = _dense(X), column_names(X)
    y = np.asarray(y)
    if order is not None:
        learner.shuffle = False
    setting = _fit(learner, matrix, y, start, _permutation(order, len(matrix)))
    history, classes = _histories(setting)
    rows, epochs = _step_rows(setting)
    initial = np.zeros(history.shape[1:]) if setting.start is None else setting.start
    return Trace(
        learner=learner,
        fitted=setting.fitted,
        X=matrix,
        y=y,
        classes=classes,
        columns=names or [f"x{j + 1}" for j in range(matrix.shape[1])],
        row=rows[: len(history)],
        epoch=epochs[: len(history)],
        weights=np.concatenate([initial[None], np.roll(history, 1, axis=2)]),
    )


# ------------------------------------------------------------------ checks


def _checked(learner: Any, ties: str | None) -> Any:
    """Return a copy of the learner, or refuse what has no plain steps."""
    if type(learner) not in LEARNERS:
        known = ", ".join(each.__name__ for each in LEARNERS)
        raise TypeError(
            f"{type(learner).__name__} does not learn step by step. trace takes one of {known}."
        )
    learner = clone(learner)
    name = type(learner).__name__
    if ties is not None:
        if not hasattr(learner, "ties"):
            raise ParameterError(f"The 'ties' parameter is for perceptrons, and {name} is none.")
        learner.ties = ties
    if isinstance(learner, SGDClassifier | SGDRegressor):
        _check_sgd(learner, name)
    for option, plain_value in (("pocket", False), ("class_weight", None), ("max_voters", None)):
        if getattr(learner, option, plain_value) != plain_value:
            raise ParameterError(
                f"trace shows the plain steps of {name}: leave '{option}' at {plain_value}. Got "
                f"{getattr(learner, option)!r} instead."
            )
    learner.warm_start = False
    if isinstance(learner, Perceptron) and learner.max_iter is None:
        learner.max_iter = MAX_EPOCHS
    return learner


def _check_sgd(learner: Any, name: str) -> None:
    if learner.learning_rate not in ("constant", "invscaling"):
        raise ParameterError(
            f"trace shows steps of {name} with learning_rate='constant' or 'invscaling'. Got "
            f"{learner.learning_rate!r} instead. Set it, and eta0, for example to 0.1."
        )
    if learner.average not in (False, "auto") or learner.early_stopping:
        raise ParameterError(
            f"trace shows the plain steps of {name}: use average=False and early_stopping=False."
        )


def _dense(X: Any) -> Floats:
    rows = as_rows(X)
    if rows.n_rows * (rows.n_features + 1) > MAX_NUMBERS:
        raise ValueError(
            f"A trace of {rows.n_rows} rows of {rows.n_features} columns is longer than anyone "
            f"reads: at most {MAX_NUMBERS:.0e} numbers. Take fewer rows or columns."
        )
    matrix = rows.to_matrix()
    dense = matrix.todense() if rows.is_sparse else matrix  # the weights of each step are dense too
    return np.ascontiguousarray(dense, dtype=np.float64)


def _permutation(order: Any, n_rows: int) -> Indices | None:
    if order is None:
        return None
    if isinstance(order, str):
        if order != "given":
            raise ParameterError(
                f"The 'order' parameter of trace must be 'given' or a permutation of the rows. Got "
                f"{order!r} instead."
            )
        return np.arange(n_rows)
    rows = np.asarray(order)
    if not np.array_equal(np.sort(rows.ravel()), np.arange(n_rows)):
        raise ParameterError(
            f"The 'order' parameter of trace must name each of the {n_rows} rows once, from 0 to "
            f"{n_rows - 1}."
        )
    return rows.astype(np.intp)


# ------------------------------------------------------------------ the run


def _fit(
    learner: Any, X: Floats, y: NDArray[Any], start: Any, permutation: Indices | None
) -> Setting:
    """Fit the learner, which says how many epochs there are, and list their orders."""
    initial = None if start is None else np.atleast_2d(np.asarray(start, dtype=np.float64))
    if initial is not None and initial.shape[1] != X.shape[1] + 1:
        raise ValueError(
            f"start must have {X.shape[1] + 1} numbers a model, the intercept first. Got "
            f"{initial.shape[1]}."
        )
    if initial is not None and not learner.fit_intercept and initial[:, 0].any():
        raise ValueError(
            "start has an intercept, and the learner has fit_intercept=False. Start with b = 0."
        )
    shuffles = bool(getattr(learner, "shuffle", False))
    if shuffles and len(X) > MAX_ROWS:
        raise ValueError(
            f"trace follows shuffled rows up to {MAX_ROWS} of them. Got {len(X)}. Use "
            "order='given'."
        )
    rows = np.arange(len(X)) if permutation is None else permutation
    fitted = clone(learner)
    options = (
        {} if initial is None else {"coef_init": initial[:, 1:], "intercept_init": initial[:, 0]}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of mistakes that are left: the trace shows them
        fitted.fit(X[rows], y[rows], **options)
    steps = fitted.n_iter_ * (1 if isinstance(learner, BatchPerceptron) else len(X))
    if steps * (X.shape[1] + 1) > MAX_NUMBERS:
        raise ValueError(
            f"{fitted.n_iter_} epochs of {len(X)} rows are {steps} steps, too many to keep. "
            "Scale the columns, which makes a perceptron faster, or set a smaller max_iter."
        )
    if shuffles:
        orders = epoch_orders(len(X), draw_seed(learner.random_state), fitted.n_iter_)
    else:
        orders = [rows] * fitted.n_iter_
    return Setting(learner, fitted, X, y, initial, orders)


def _histories(setting: Setting) -> tuple[Floats, NDArray[Any] | None]:
    """Return (w, b) after each step, of shape (steps, models, d + 1), and the classes."""
    learner = setting.learner
    if not is_classifier(learner):
        return _numbers(setting)[:, None], None
    classes = np.unique(setting.y)
    label = np.searchsorted(classes, setting.y)
    if getattr(learner, "multi_class", "ovr") == "argmax":
        return _argmax(setting, label, len(classes)), classes
    models = [1] if len(classes) == 2 else range(len(classes))
    runs = [_model(setting, np.where(label == k, 1.0, -1.0), n) for n, k in enumerate(models)]
    longest = max(len(run) for run in runs)
    padded = [np.concatenate([run, np.repeat(run[-1:], longest - len(run), 0)]) for run in runs]
    return np.stack(padded, axis=1), classes


def _initial(setting: Setting, model: int) -> Floats | None:
    """Return the initial (w, b) of a model: plain algorithms have the intercept last."""
    return None if setting.start is None else np.roll(setting.start[model], -1)


def _argmax(setting: Setting, label: Indices, n_classes: int) -> Floats:
    """Return the steps of the multi-class rule; of two classes, those of the difference."""
    learner = setting.learner
    start = None if setting.start is None else np.roll(setting.start, -1, axis=1)
    if n_classes == 2 and start is not None:
        start = np.concatenate([-start, start]) / 2
    history = plain.argmax_perceptron(
        setting.X, label.tolist(), n_classes, setting.epochs, learner.eta0, None, start,
        setting.orders, bool(learner.fit_intercept),
    )[3]  # fmt: skip
    return history[:, 1:] - history[:, :1] if n_classes == 2 else history


def _model(setting: Setting, y: Floats, model: int) -> Floats:
    """Return (w, b) after each step of one two-class model; y is -1 or +1."""
    learner, start = setting.learner, _initial(setting, model)
    if isinstance(learner, SGDClassifier):
        return _descend(setting, y, start)
    tie = TIE_TARGETS[learner.ties]
    if isinstance(learner, BatchPerceptron):
        return plain.batch_perceptron(
            setting.X, y, setting.epochs, learner.eta0, learner.eps or 0.0, None,
            bool(learner.fit_intercept), start, tie,
        )[4]  # fmt: skip
    return plain.perceptron(
        setting.X, y, setting.epochs, learner.eta0, None, bool(learner.fit_intercept), start,
        setting.orders, tie,
    )[3]  # fmt: skip


def _numbers(setting: Setting) -> Floats:
    learner, start = setting.learner, _initial(setting, 0)
    y = np.asarray(setting.y, dtype=np.float64)
    if isinstance(learner, SGDRegressor):
        return _descend(setting, y, start)
    eta = None if learner.eta0 == "auto" else float(learner.eta0)
    return plain.widrow_hoff(
        setting.X, y, setting.epochs, eta, None, bool(learner.fit_intercept), start, setting.orders
    )[3]


def _descend(setting: Setting, y: Floats, start: Floats | None) -> Floats:
    learner = setting.learner
    power = float(learner.power_t) if learner.learning_rate == "invscaling" else 0.0
    eta0 = DEFAULT_ETA[learner.learning_rate] if learner.eta0 is None else float(learner.eta0)
    l1, l2 = _penalties(learner)
    return plain.sgd(
        setting.X, y, learner.loss, lambda t: float(eta0 / t**power), l1=l1, l2=l2,
        epsilon=float(learner.epsilon), epochs=setting.epochs,
        intercept=bool(learner.fit_intercept), start=start, orders=setting.orders,
    )[4]  # fmt: skip


def _penalties(learner: Any) -> tuple[float, float]:
    """Return the levels of the l1 and the l2 penalty."""
    kind = learner.penalty
    if kind == "auto":
        kind = None if learner.alpha is None else "l2"
    if kind is None:
        return 0.0, 0.0
    alpha = DEFAULT_ALPHA if learner.alpha is None else float(learner.alpha)
    l1_fraction = {"l1": 1.0, "elasticnet": float(learner.l1_ratio)}.get(kind, 0.0)
    return l1_fraction * alpha, (1 - l1_fraction) * alpha


def _step_rows(setting: Setting) -> tuple[Indices, Indices]:
    """Return the row (-1: all of them) and the epoch of each step."""
    if isinstance(setting.learner, BatchPerceptron):
        return np.full(setting.epochs, -1), np.arange(1, setting.epochs + 1)
    rows = np.concatenate(setting.orders)
    return rows, 1 + np.arange(len(rows)) // len(setting.X)
