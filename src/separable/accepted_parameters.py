"""Parameters of scikit-learn that choose how to compute, and not what: accepted, with one note.

`accepts` adds them to the constructor and to `set_params` of a class without showing them in its
signature. A given one is kept, so that clones and grid searches work, and noted once at level INFO
of the logger ``separable``. It is not part of a model file.
"""

from __future__ import annotations

import functools
import logging
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["accepts", "note", "set_accepted"]

NOTES = logging.getLogger("separable")

Class = TypeVar("Class", bound=type)


@dataclass(frozen=True, slots=True)
class _Accepted:
    """What happens instead, and which values are accepted."""

    instead: str
    words: str
    holds: Callable[[Any], bool]


def _one_of(instead: str, *values: Any) -> _Accepted:
    words = " or ".join(map(repr, values))
    return _Accepted(instead, words, lambda v: _is_plain(v) and v in values)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | Real)


def _number(instead: str, kind: type, words: str) -> _Accepted:
    return _Accepted(instead, words, lambda v: v is None or isinstance(v, kind))


DIRECT = "the model is solved directly, in one step"
NOT_PENALIZED = "the intercept is not penalized; that of separable.sklearn.LinearSVC is"

#: Solvers of scikit-learn's linear models.
SOLVERS = (
    *("auto", "cholesky", "eigen", "lbfgs", "liblinear", "lsqr", "newton-cg", "newton-cholesky"),
    *("sag", "saga", "sparse_cg", "svd"),
)

NO_EPOCHS = "an epoch without a mistake, or a proof that none will come, ends the fit"


def _flat(prior: str) -> _Accepted:
    instead = f"the prior of the {prior} is flat, as scikit-learn's is at 1e-6 or less"
    return _Accepted(instead, "a number from 0 to 1e-6", lambda v: _is_plain(v) and 0 <= v <= 1e-6)


ACCEPTED: dict[str, _Accepted] = {
    "alpha": _number("there is no penalty", Real, "a number"),
    "alpha_1": _flat("noise precision"),
    "alpha_2": _flat("noise precision"),
    "alpha_per_target": _one_of(
        "one alpha serves all targets; separable.sklearn.RidgeCV has one a target", False
    ),
    "covariance_estimator": _one_of("shrinkage chooses the estimator", None),
    "early_stopping": _one_of(NO_EPOCHS, False),
    "l1_ratio": _number("there is no penalty", Real, "None or a number"),
    "lambda_1": _flat("weight precision"),
    "lambda_2": _flat("weight precision"),
    "loss": _one_of("the loss is epsilon-insensitive", "epsilon_insensitive"),
    "n_iter_no_change": _number(NO_EPOCHS, Integral, "None or an int"),
    "penalty": _one_of("there is no penalty; SGDClassifier(loss='perceptron') has one", None),
    "store_cv_results": _one_of(
        "cv_results_ has the mean scores; separable.sklearn.RidgeCV has those of the rows", False
    ),
    "var_smoothing": _Accepted(
        "the variance of a column is that of all classes together, and a column that is constant "
        "within them has weight 0, so that none is added; separable.sklearn.GaussianNB has it",
        "a number from 0 to 1e-9",
        lambda v: _is_plain(v) and v is not None and 0 <= v <= 1e-9,
    ),
    "validation_fraction": _number(NO_EPOCHS, Real, "a number"),
    "alpha_init": _number(DIRECT, Real, "None or a number"),
    "compute_score": _one_of("log_evidence_ is always there", True, False),
    "copy_X": _one_of("X is never overwritten", True, False),
    "dtype": _Accepted("the values are float64", "a data type", lambda v: v is not None),
    "dual": _one_of("separable chooses the solver", True, False, "auto"),
    "force_alpha": _one_of("an alpha below 1e-10 becomes 1e-10, with a warning", True, False),
    "gcv_mode": _one_of("leave-one-out is exact", None, "auto", "svd", "eigen"),
    "intercept_scaling": _one_of(NOT_PENALIZED, 1),
    "lambda_init": _number(DIRECT, Real, "None or a number"),
    "max_iter": _number(DIRECT, Integral, "None or an int"),
    "multi_class": _one_of("there is one model a class", "ovr"),
    "n_jobs": _number("the fit is not split into jobs", Integral, "None or an int"),
    "order": _one_of("the encoder chooses the memory layout", "C", "F"),
    "precompute": _Accepted(
        "separable chooses whether to use products of columns, and computes them itself",
        "True, False, 'auto' or a matrix",
        lambda v: v in (True, False, "auto") if _is_plain(v) else hasattr(v, "__len__"),
    ),
    "random_state": _Accepted("the fit is deterministic", "a random state", lambda _: True),
    "selection": _one_of("separable chooses the order of columns", "cyclic", "random"),
    "solver": _one_of("separable chooses the solver", *SOLVERS),
    "sort": _one_of("columns are sorted by name", True, False),
    "store_covariance": _one_of("covariance_ is always there", True, False),
    "tol": _number(DIRECT, Real, "None or a number"),
    "use_legacy_attributes": _one_of("scores_, n_iter_ and coefs_paths_ are arrays", False),
    "verbose": _number("progress goes to a callback, where there is one", Integral, "an int"),
    "warm_start": _one_of("the optimum does not depend on the start", True, False),
}

#: Class and name of the notes of this process.
_noted: set[tuple[str, str]] = set()


def note(owner: object, name: str, value: Any) -> None:
    """Note once for each class that a parameter has no effect, and what happens instead."""
    kind = type(owner).__name__
    if (kind, name) in _noted:
        return
    _noted.add((kind, name))
    instead = getattr(owner, "_accepted_notes", {}).get(name) or ACCEPTED[name].instead
    NOTES.info("%s: %s=%r is accepted and has no effect: %s.", kind, name, value, instead)


def accepts(*names: str, **instead: str) -> Callable[[Class], Class]:
    """Decorate a class so that its constructor and ``set_params`` accept more parameters.

    Those given by keyword have notes of their own: what this class does instead.
    A parameter that the class has itself keeps its meaning. A method ``_apply_accepted(name,
    value)`` translates those that mean something, such as an older name of a parameter.
    """
    names = (*names, *instead)

    def decorate(cls: Class) -> Class:
        owner: Any = cls
        construct = owner.__init__

        @functools.wraps(construct)
        def accepting(self: Any, *args: Any, **params: Any) -> None:
            given = {name: params.pop(name) for name in names if name in params}
            construct(self, *args, **params)
            set_accepted(self, given)

        owner.__init__ = accepting
        owner._accepted_parameters, owner._accepted_notes = names, instead
        return cls

    return decorate


def set_accepted(owner: Any, given: Mapping[str, Any]) -> None:
    """Check accepted parameters, keep them, and translate or note each."""
    for name, value in given.items():
        if owner._apply_accepted(name, value):
            setattr(owner, name, value)
            continue
        accepted = ACCEPTED[name]
        if not accepted.holds(value):
            instead = owner._accepted_notes.get(name) or accepted.instead
            raise ValueError(
                f"The {name!r} parameter of {type(owner).__name__} must be {accepted.words}. "
                f"Got {value!r} instead. Here {instead}."
            )
        setattr(owner, name, value)
        note(owner, name, value)
