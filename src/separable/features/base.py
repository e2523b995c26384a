"""Encoder protocol: raw columns to named features, and back to the raw column by name.

A model includes its encoder, so that it predicts and explains raw records. A file names the
encoder's kind; ``ENCODERS`` maps kinds to classes, which are imported on demand.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np

from separable.data.rows import as_rows
from separable.data.table import list_names
from separable.errors import require_packages
from separable.estimator import Estimator, sparse_result
from separable.features.raw_columns import names_of_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from separable.data.rows import Rows

    Tensors: TypeAlias = Mapping[str, NDArray[Any] | Sequence[str]]
    Values: TypeAlias = Mapping[str, Any]

    from collections.abc import Sequence

    from numpy.typing import NDArray


__all__ = [
    "ENCODERS",
    "ColumnTransformer",
    "Encoder",
    "OutputMixin",
    "Transformer",
    "encoder_class",
]

#: Class of each kind of encoder. A new encoder is one line here.
ENCODERS: dict[str, str] = {
    "dict": "separable.features.dict_encoder:DictEncoder",
    "one-hot": "separable.features.one_hot.one_hot_encoder:OneHotEncoder",
    "polynomial": "separable.features.polynomial_encoder:PolynomialEncoder",
    "spline": "separable.features.spline.spline_encoder:SplineEncoder",
    "table": "separable.features.table.table_encoder:TableEncoder",
    "text": "separable.features.text.text_encoder:TextEncoder",
}

#: Values of ``set_output``.
OUTPUTS = ("default", "pandas", "polars")


@runtime_checkable
class Encoder(Protocol):
    """A fitted encoder, as a model needs it to predict, to explain and to be saved."""

    kind: ClassVar[str]

    @property
    def feature_names(self) -> Sequence[str]:
        """Output feature names, for example ``island=Dream``; equal to their tuple."""

    @property
    def sources(self) -> Sequence[str]:
        """Raw column of each output feature; the length is known without computing it."""

    def encode(self, data: Any) -> Rows:
        """Encode raw records as rows of float64."""

    def to_parts(self) -> tuple[dict[str, NDArray[Any] | Sequence[str]], dict[str, Any]]:
        """Return the fitted state as tensors and JSON values.

        Returns
        -------
        tensors : dict of str to ndarray or tuple of str
        values : dict of str to JSON
        """

    @classmethod
    def from_parts(cls, tensors: Tensors, values: Values) -> Self:
        """Rebuild a fitted encoder from untrusted parts; the inverse of `to_parts`.

        Raises
        ------
        ValueError
            Inconsistent parts, as in a damaged or forged file.
        """


def encoder_class(kind: str) -> type[Encoder]:
    """Return the class of a kind of encoder.

    Parameters
    ----------
    kind : str
        Key of `ENCODERS`.

    Returns
    -------
    type
    """
    path = ENCODERS.get(kind)
    if path is None:
        raise ValueError(
            f"Unknown encoder {kind!r}; this version knows {', '.join(map(repr, ENCODERS))}. "
            "A newer version of separable may have written it."
        )
    module, _, name = path.partition(":")
    return cast("type[Encoder]", getattr(import_module(module), name))


def default_output() -> str:
    """Return scikit-learn's global output setting without importing it."""
    sklearn: Any = sys.modules.get("sklearn")  # can be set only after the import
    return "default" if sklearn is None else str(sklearn.get_config()["transform_output"])


def as_frame(rows: Rows, names: Sequence[str], library: str, data: Any, encoder: str) -> Any:
    """Return dense rows as a data frame.

    Parameters
    ----------
    rows : Rows
    names : sequence of str
        Column names.
    library : {"pandas", "polars"}
        Imported here only.
    data : object
        The encoded data; a pandas data frame or series passes on its index.
    encoder : str
        Class name of the encoder.

    Returns
    -------
    pandas.DataFrame or polars.DataFrame
    """
    if rows.is_sparse:
        raise ValueError(
            f"{encoder} makes {rows.n_features} features, which are kept sparse, and a {library} "
            "data frame cannot hold them. Use set_output(transform='default')."
        )
    require_packages(f"set_output(transform={library!r})", **{library: library})
    frames = import_module(library)
    if library == "polars":
        return frames.DataFrame(rows.values, schema=list(names), orient="row")
    index = data.index if isinstance(data, (frames.DataFrame, frames.Series)) else None
    return frames.DataFrame(rows.values, columns=list(names), index=index, copy=False)


class OutputMixin:
    """Choice of the output type of ``transform``, as in scikit-learn's ``set_output``."""

    if TYPE_CHECKING:  # implemented by subclasses

        @property
        def feature_names(self) -> Sequence[str]: ...  # noqa: D102

    def _given_out(self, rows: Rows | NDArray[np.float64], data: Any) -> Any:
        """Return transformed rows in the form chosen with `set_output`."""
        config: dict[str, str] = getattr(self, "_sklearn_output_config", {})
        output = config.get("transform", default_output())
        if output != "default":
            return as_frame(as_rows(rows), self.feature_names, output, data, type(self).__name__)
        if isinstance(rows, np.ndarray):
            return rows
        return sparse_result(rows.to_matrix()) if rows.is_sparse else rows.to_matrix()

    def set_output(self, *, transform: str | None = None) -> Self:
        """Set the output of `transform`.

        Parameters
        ----------
        transform : "default", "pandas" or "polars", optional
            As in scikit-learn: arrays, or data frames of one of the two libraries, with up to 64
            columns. None changes nothing.

        Returns
        -------
        object
            The encoder.
        """
        if transform is not None:
            if transform not in OUTPUTS:
                raise ValueError(
                    "The 'transform' parameter of set_output must be one of "
                    f"{list_names(OUTPUTS)} or None. Got {transform!r} instead."
                )
            self._sklearn_output_config = {
                "transform": transform
            }  # with this name `clone` copies it
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # a mixin stands before Estimator
        tags.transformer_tags = import_module("sklearn.utils").TransformerTags(preserves_dtype=[])
        return tags


class Transformer(OutputMixin, Estimator):
    """Base class of encoders that are compatible with scikit-learn.

    A subclass stores its constructor arguments under their names, and implements ``fit``,
    ``encode``, ``feature_names`` and ``__sklearn_is_fitted__``.
    """

    # Input tags of scikit-learn; see ``sklearn.utils.InputTags``.
    _input_tags: ClassVar[dict[str, bool]] = {
        "two_d_array": False,
        "categorical": True,
        "string": True,
    }

    if TYPE_CHECKING:  # implemented by subclasses
        n_features_in_: int

        def fit(self, X: Any, y: Any = None) -> Self: ...  # noqa: D102
        def encode(self, data: Any) -> Rows: ...  # noqa: D102

    # --- encoding ---

    def transform(self, X: Any) -> Any:
        """Encode raw data as a matrix.

        Parameters
        ----------
        X : object
            Data that `encode` accepts.

        Returns
        -------
        ndarray or scipy.sparse.csr_array
            Or the data frame type chosen with `set_output`.
        """
        return self._given_out(self.encode(X), X)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit and encode the same data."""
        return self._given_out(self.fit(X, y).encode(X), X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the output feature names."""
        return np.array(self.feature_names, dtype=object)

    # --- tags ---

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "transformer"
        tags.input_tags = import_module("sklearn.utils").InputTags(**self._input_tags)
        return tags


class ColumnTransformer(Transformer):
    """Base class of encoders of an array or a table, column by column.

    A subclass implements ``_fitted``, which raises before `fit`, and ``_names_out``.
    """

    if TYPE_CHECKING:  # implemented by subclasses

        def _fitted(self) -> Sequence[Any]: ...
        def _names_out(self, names: Sequence[str]) -> list[str]: ...

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the output feature names.

        Parameters
        ----------
        input_features : sequence of str, optional
            Column names; by default those of the training data, else ``x0``, ``x1``, ...

        Returns
        -------
        ndarray of str
        """
        self._fitted()
        return np.array(self._names_out(names_of_columns(self, input_features)), dtype=object)
