"""Encoder protocol: raw columns to named features, and back to the raw column by name.

A model includes its encoder, so that it predicts and explains raw records. A file names the
encoder's kind; ``ENCODERS`` maps kinds to classes, which are imported on demand.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, cast, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from separable.data.rows import Rows

    Tensors: TypeAlias = Mapping[str, NDArray[Any] | Sequence[str]]
    Values: TypeAlias = Mapping[str, Any]

__all__ = ["ENCODERS", "Encoder", "encoder_class"]

#: Class of each kind of encoder. A new encoder is one line here.
ENCODERS: dict[str, str] = {
    "dict": "separable.features.dict_encoder:DictEncoder",
    "one-hot": "separable.features.one_hot.one_hot_encoder:OneHotEncoder",
    "polynomial": "separable.features.polynomial_encoder:PolynomialEncoder",
    "table": "separable.features.table.table_encoder:TableEncoder",
    "text": "separable.features.text.text_encoder:TextEncoder",
}


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
        """Return the fitted state as named tensors (texts too) and JSON values."""

    @classmethod
    def from_parts(cls, tensors: Tensors, values: Values) -> Self:
        """Rebuild the encoder from untrusted parts."""


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
