"""Base class of all learners: parameters and their documentation, columns, the fitted model.

A class documents the parameters and attributes that it adds or changes. The other parameters of its
constructor are described by the nearest base class that documents them, and defaults are read off
the signature. `help` shows all of them, in the order of the signature. Attributes are inherited in
the same way.
"""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar, dataclass_transform

import numpy as np

from separable.data.rows import Rows, as_rows, column_names, is_scipy_sparse, largest_magnitude
from separable.estimator import available_if, is_classifier
from separable.fitting.model_attributes import ModelAttributes
from separable.fitting.targets import RowWeights
from separable.model.parameters import Requirement, check_parameters
from separable.model.predict.probability import model_log_probabilities

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from separable.features.base import Encoder
    from separable.model.kinds import Model
    from separable.model.linear_model import Link

__all__ = [
    "Ineffective",
    "LinearEstimator",
    "inherit_docs",
    "one_or_list",
    "warn_of_ineffective",
    "with_parameters",
]

Learner = TypeVar("Learner")


class Ineffective(NamedTuple):
    """A parameter, when it has no effect, and what to do instead.

    Parameters
    ----------
    name : str
        The parameter.
    applies : callable
        Takes the learner and returns whether the parameter has no effect.
    mode : str
        The mode in words, to follow "has no effect".
    remedy : str
        A sentence.
    """

    name: str
    applies: Callable[[Any], bool]
    mode: str
    remedy: str


def warn_of_ineffective(learner: object, rules: tuple[Ineffective, ...]) -> None:
    """Warn of parameters that were given a value other than the default and have no effect."""
    if not rules:
        return
    kind: Any = type(learner)
    defaults = _defaults(kind)
    for rule in rules:
        value, default = getattr(learner, rule.name), defaults[rule.name]
        is_default = isinstance(value, str | float | int | None) and value == default
        if is_default or not rule.applies(learner):
            continue
        warnings.warn(
            f"{rule.name}={value!r} of {type(learner).__name__} has no effect {rule.mode}. "
            f"{rule.remedy}",
            UserWarning,
            stacklevel=4,
        )


@cache
def _defaults(kind: Any) -> dict[str, Any]:
    """Return the defaults of the constructor's parameters."""
    return {name: each.default for name, each in inspect.signature(kind).parameters.items()}


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def with_parameters(cls: type[Learner]) -> type[Learner]:
    """Make the constructor of a learner from its annotated parameters; inherit what bases say.

    Bases say what parameters mean, in their docstrings, and what they must be.
    """
    made: Any = dataclass(eq=False, repr=False)(cls)
    names = [each.name for each in fields(made) if each.init]
    known: dict[str, Requirement] = {}
    for base in reversed(made.__mro__):
        known |= vars(base).get("_requirements", {})
    made._requirements = {name: each for name, each in known.items() if name in names}
    inherit_docs(cls)
    return cls


def inherit_docs(cls: type) -> None:
    """Rewrite the Parameters and Attributes of a class docstring: with those of its bases."""
    if cls.__doc__ is None:  # python -OO
        return
    parameters = {
        name: entry
        for base in reversed(cls.__mro__)
        for name, entry in _entries(base, "Parameters")
    }
    section: list[str] = []
    for parameter in inspect.signature(cls).parameters.values():
        if parameter.name in parameters:
            head, *text = parameters[parameter.name]
            section += [head.split(", default ")[0] + _default(parameter), *text]
    before, _, after = _split(cls.__doc__, "Parameters")
    _, _, rest = _split("\n".join(after), "Attributes")
    known = [line for entry in _attributes(cls).values() for line in entry]
    sections = _titled("Parameters", section), _titled("Attributes", known)
    parts = ["\n".join(part) for part in (before, *sections, rest) if part]
    cls.__doc__ = "\n\n".join(parts)


def _attributes(cls: type) -> dict[str, list[str]]:
    """Return the entries of a class, then those of its bases that name none of its attributes."""
    known: dict[str, list[str]] = {}
    for base in reversed(cls.__mro__):
        own = dict(_entries(base, "Attributes"))
        names = {name for each in own for name in each.split(", ")}
        rest = {each: text for each, text in known.items() if not names & set(each.split(", "))}
        known = own | rest
    return known


def _titled(title: str, lines: list[str]) -> list[str]:
    return [title, "-" * len(title), *lines] if lines else []


def _entries(cls: type, title: str) -> list[tuple[str, list[str]]]:
    doc = cls.__dict__.get("__doc__")
    return [] if doc is None else _split(doc, title)[1]


def _split(doc: str, title: str) -> tuple[list[str], list[tuple[str, list[str]]], list[str]]:
    """Return the lines before a section, its entries, and the lines after it."""
    lines = inspect.cleandoc(doc).split("\n")
    heads = [k - 1 for k, line in enumerate(lines) if line and set(line) == {"-"}]
    first = next((k for k in heads if lines[k] == title), None)
    if first is None:
        end = heads[0] if heads else len(lines)
        return _stripped(lines[:end]), [], _stripped(lines[end:])
    end = next((k for k in heads if k > first), len(lines))
    entries: list[tuple[str, list[str]]] = []
    for line in _stripped(lines[first + 2 : end]):
        if line and not line.startswith(" "):
            entries.append((line.split(" : ")[0], [line]))
        else:
            entries[-1][1].append(line)
    return _stripped(lines[:first]), entries, _stripped(lines[end:])


def _stripped(lines: list[str]) -> list[str]:
    """Return lines without empty ones at the end."""
    return "\n".join(lines).rstrip().split("\n") if any(lines) else []


def _default(parameter: inspect.Parameter) -> str:
    """Return the default of a parameter as docstrings write it; nothing without one."""
    value: Any = parameter.default
    if value is inspect.Parameter.empty:
        return ""
    written = f'"{value}"' if isinstance(value, str) else repr(value)
    return f", default {written}"


def _check_probabilities(learner: Any) -> bool:
    return bool(learner._has_probabilities())


class LinearEstimator(ModelAttributes):
    """A learner that ends in a ``LinearModel``.

    Parameters
    ----------
    fit_intercept : bool
        Fit the intercept b.
    class_weight : dict, "balanced" or None
        Weights of the classes, multiplied into ``sample_weight``.
    """

    #: What the parameters that a class adds or changes must be.
    _requirements: ClassVar[dict[str, Requirement]] = {}
    _ineffective: ClassVar[tuple[Ineffective, ...]] = ()

    feature_names_in_: NDArray[Any]
    _column_names: Sequence[str] | None
    _encoder: Encoder | None

    # ------------------------------------------------------------------ what a learner says

    def _link(self) -> Link:
        """Return what a score means."""
        return "score" if is_classifier(self) else "identity"

    def _has_probabilities(self) -> bool:
        """Return whether there are probabilities, or raise an AttributeError that says why not."""
        return is_classifier(self) and self._link() in ("logistic", "softmax")

    # ------------------------------------------------------------------ the model

    @available_if(is_classifier)
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores w.x + b: (n,) for two classes, else (n, K)."""
        return self._weights_only().decision_function(self._check_rows(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row, by the sign or the largest score; or w.x + b."""
        predicted = self._weights_only().predict(self._check_rows(X))
        return predicted[:, None] if self._has_column_shape else predicted

    @available_if(_check_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, (n, K)."""
        return self._weights_only().predict_proba(self._check_rows(X))

    @available_if(_check_probabilities)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities, exact where these are tiny, (n, K)."""
        return model_log_probabilities(self._weights_only(), self.decision_function(X))

    @property
    def evidence_(self) -> dict[str, Any]:
        """What the run did and what it proves; see the class."""
        return dict(self._weights_only().evidence)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.positive_only
        return tags

    # ------------------------------------------------------------------ rows

    def _check_rows(self, X: Any) -> Rows:
        """Turn X into rows with the columns learned from; scores show what is not finite."""
        self._refuse_pending()
        rows = as_rows(X, check_values=False)
        if rows.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {rows.n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        if "feature_names_in_" in self.__dict__ or not _is_nameless(X):
            _check_names(self, X, reset=False)
        return rows

    def _finite_rows(self, X: Any) -> Rows:
        rows = self._check_rows(X)
        largest_magnitude(rows, X)
        return rows

    def _drop_absent(
        self, rows: Rows, y: NDArray[Any], counted: RowWeights
    ) -> tuple[Rows, NDArray[Any], RowWeights]:
        """Return the rows of a chunk that count; absent ones bring no classes either."""
        if counted.rows is None or counted.weight is None:
            return rows, y, counted
        weight = counted.weight[counted.rows]
        return rows.take(counted.rows), y[counted.rows], RowWeights(None, weight)

    def _name(self, column: int) -> str:
        """Return what a message calls a column."""
        names = getattr(self, "_column_names", None)
        return f"column {column}" if names is None else repr(names[column])

    def _remember_columns(self, X: Any) -> None:
        self._forget_changes()
        if _is_nameless(X):
            self.n_features_in_ = int(X.shape[1])
            self.__dict__.pop("feature_names_in_", None)
        else:
            _check_names(self, X, reset=True)
        self._column_names = column_names(X)
        self._encoder = None

    def _refuse_one_class(self, classes: NDArray[Any]) -> None:
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes to learn a boundary, but y "
                f"holds only one class: {classes.tolist()[0]!r}."
            )

    # ------------------------------------------------------------------ parameters

    @property
    def regularization(self) -> str | None:
        """Regularization parameter, "C" or "alpha"; see `separable.fitting.fold_fits`."""
        names = self._get_param_names()
        return next((name for name in ("C", "alpha") if name in names), None)

    def check_parameters(self) -> None:
        """Check the parameters of a fit, which are then those learned with."""
        self._checked: list[Any] | None = None
        check_parameters(self, self._requirements)
        warn_of_ineffective(self, self._ineffective)

    @classmethod
    def _with_parameters_of(cls, model: Model) -> Self:
        """Return a learner with the parameters of a model, which may come from a forged file."""
        parameters: dict[str, Any] = dict(model.parameters)
        try:
            if isinstance(parameters.get("class_weight"), list):
                parameters["class_weight"] = dict(parameters["class_weight"])
            made = cls(**parameters)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"The model says that {cls.__name__} learned it with parameters that it does not "
                f"have: {error}"
            ) from error
        check_parameters(made, made._requirements)
        return made

    def _as_learned(self, name: str) -> Any:
        """Return a parameter as it was at the last learning; it may have been set since."""
        checked = getattr(self, "_checked", None)
        if checked is None:
            return getattr(self, name)
        return checked[list(self._requirements).index(name)]

    def _plain_parameters(self) -> dict[str, Any]:
        """Return the parameters as a model file can keep them."""
        is_set = getattr(self, "_checked", None) is None
        read = self.__getattribute__ if is_set else self._as_learned
        parameters = {name: read(name) for name in self._get_param_names()}
        if not isinstance(parameters.get("random_state"), int | np.integer | None):
            parameters["random_state"] = None
        if not isinstance(parameters.get("cv"), int | None):  # splitters
            parameters["cv"] = None
        for name, value in parameters.items():
            if callable(value):
                parameters[name] = None
            elif isinstance(value, np.generic):
                parameters[name] = value.item()
            elif isinstance(value, np.ndarray):
                parameters[name] = value.tolist()
        if isinstance(parameters.get("class_weight"), dict):
            parameters["class_weight"] = [[c, w] for c, w in parameters["class_weight"].items()]
        return parameters


def _check_names(learner: Any, X: Any, *, reset: bool) -> None:
    """Learn the column names of X, or compare them with those learned, as scikit-learn does."""
    validation = import_module("sklearn.utils.validation")
    validation.validate_data(learner, X, reset=reset, skip_check_array=True)


def _is_nameless(X: Any) -> bool:
    """Return whether X is of a type that has no column names."""
    return type(X) is np.ndarray or type(X) is Rows or is_scipy_sparse(X)


def one_or_list(values: NDArray[np.float64]) -> float | list[float]:
    """Return one number for one model or target, a list for several."""
    numbers: list[float] = values.tolist()
    return numbers[0] if len(numbers) == 1 else numbers
