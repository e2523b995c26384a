"""Transformer: what scikit-learn asks of every encoder, without importing it.

Encoded rows as the frames that scikit-learn's ``set_output`` names.
"""

from __future__ import annotations

import sys
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.data.table import list_names
from separable.errors import require_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from separable.data.rows import Rows

__all__ = ["OUTPUTS", "NotFittedError", "Transformer", "as_frame", "default_output"]


#: What ``set_output`` may ask for.
OUTPUTS = ("default", "pandas", "polars")


def default_output() -> str:
    """Return what scikit-learn is set to give out everywhere; it is not imported to ask."""
    sklearn: Any = sys.modules.get("sklearn")  # set only once it is imported
    return "default" if sklearn is None else str(sklearn.get_config()["transform_output"])


def as_frame(rows: Rows, names: Sequence[str], library: str, data: Any, encoder: str) -> Any:
    """Return dense rows as a frame.

    Parameters
    ----------
    rows : Rows
    names : sequence of str
        The names of its columns.
    library : {"pandas", "polars"}
        Imported here, and nowhere else.
    data : object
        What was encoded; a pandas frame or series hands on its index.
    encoder : str
        The name of the encoder's class.

    Returns
    -------
    pandas.DataFrame or polars.DataFrame
    """
    if rows.is_sparse:
        raise ValueError(
            f"{encoder} makes {rows.n_features} numbers out of this data, which are kept sparse, "
            f"and a {library} frame cannot hold them so. Ask for "
            "set_output(transform='default')."
        )
    require_packages(f"set_output(transform={library!r})", **{library: library})
    frames = import_module(library)
    if library == "polars":
        return frames.DataFrame(rows.values, schema=list(names), orient="row")
    index = data.index if isinstance(data, (frames.DataFrame, frames.Series)) else None
    return frames.DataFrame(rows.values, columns=list(names), index=index, copy=False)


class NotFittedError(ValueError, AttributeError):
    """What an encoder raises before `fit` where scikit-learn, whose error it is, is not imported.

    As an ``AttributeError`` it makes ``hasattr`` say no.
    """


class Transformer:
    """The base of encoders that scikit-learn takes for its own.

    A subclass stores the arguments of its constructor under their names, and has ``fit``,
    ``encode``, ``feature_names`` and ``__sklearn_is_fitted__``.
    """

    # What scikit-learn's tags say of the input; see ``sklearn.utils.InputTags``.
    _input_tags: ClassVar[dict[str, bool]] = {
        "two_d_array": False,
        "categorical": True,
        "string": True,
    }

    if TYPE_CHECKING:  # the subclass has these
        n_features_in_: int

        @property
        def feature_names(self) -> Sequence[str]: ...  # noqa: D102
        def fit(self, X: Any, y: Any = None) -> Self: ...  # noqa: D102
        def encode(self, data: Any) -> Rows: ...  # noqa: D102

    # --- encoding ---

    def transform(self, X: Any) -> Any:
        """Turn raw data into a matrix.

        Parameters
        ----------
        X : object
            What `encode` takes.

        Returns
        -------
        ndarray or scipy.sparse.csr_array
            Or the frame that `set_output` asks for.
        """
        return self._given_out(self.encode(X), X)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn from raw data and turn it into a matrix."""
        return self._given_out(self.fit(X, y).encode(X), X)

    def _given_out(self, rows: Rows, data: Any) -> Any:
        """Return encoded rows in the form that `set_output` asks for."""
        config: dict[str, str] = getattr(self, "_sklearn_output_config", {})
        output = config.get("transform", default_output())
        if output != "default":
            return as_frame(rows, self.feature_names, output, data, type(self).__name__)
        return rows.to_matrix()

    def set_output(self, *, transform: str | None = None) -> Self:
        """Set what `transform` gives out.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            As scikit-learn has it: arrays, or frames of one of the two libraries, which hold up to
            64 numbers a row. None leaves it as it is.

        Returns
        -------
        object
            Itself.
        """
        if transform is not None:
            if transform not in OUTPUTS:
                raise ValueError(
                    "The 'transform' parameter of set_output must be one of "
                    f"{list_names(OUTPUTS)} or None. Got {transform!r} instead."
                )
            self._sklearn_output_config = {"transform": transform}  # so called, `clone` copies it
        return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the names of the numbers out, as scikit-learn asks for them."""
        return np.array(self.feature_names, dtype=object)

    def _not_fitted(self) -> Exception:
        """Return the error of an encoder that is used before `fit`."""
        exceptions: Any = sys.modules.get("sklearn.exceptions")
        kind = NotFittedError if exceptions is None else exceptions.NotFittedError
        error: Exception = kind(f"This {type(self).__name__} is not fitted yet. Call fit first.")
        return error

    # --- parameters ---

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the parameters."""
        return {name: getattr(self, name) for name in _defaults(type(self))}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name."""
        known = _defaults(type(self))
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for {type(self).__name__}. Its parameters are "
                    f"{list_names(tuple(known))}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = _defaults(type(self))
        given = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if type(value) is not type(defaults[name]) or repr(value) != repr(defaults[name])
        )
        return f"{type(self).__name__}({', '.join(given)})"

    # --- tags ---

    def __sklearn_tags__(self) -> Any:
        tags = import_module("sklearn.utils")  # only scikit-learn asks, so it is there already
        return tags.Tags(
            estimator_type="transformer",
            target_tags=tags.TargetTags(required=False),
            transformer_tags=tags.TransformerTags(preserves_dtype=[]),
            input_tags=tags.InputTags(**self._input_tags),
        )


def _defaults(cls: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters of the constructor of a class with their defaults."""
    parameters = signature(cls).parameters
    return {name: parameter.default for name, parameter in parameters.items()}
