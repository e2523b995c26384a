"""Encoders of columns, texts and dicts as named features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.features.dict_encoder import DictEncoder
    from separable.features.one_hot.one_hot_encoder import OneHotEncoder
    from separable.features.polynomial_encoder import PolynomialEncoder
    from separable.features.spline.spline_encoder import SplineEncoder
    from separable.features.table.table_encoder import TableEncoder
    from separable.features.text.text_encoder import TextEncoder

__all__ = [
    "DictEncoder",
    "OneHotEncoder",
    "PolynomialEncoder",
    "SplineEncoder",
    "TableEncoder",
    "TextEncoder",
]

#: Module of each public name.
_HOMES = {
    "DictEncoder": "separable.features.dict_encoder",
    "OneHotEncoder": "separable.features.one_hot.one_hot_encoder",
    "PolynomialEncoder": "separable.features.polynomial_encoder",
    "SplineEncoder": "separable.features.spline.spline_encoder",
    "TableEncoder": "separable.features.table.table_encoder",
    "TextEncoder": "separable.features.text.text_encoder",
}

if not TYPE_CHECKING:  # type checkers should see only the names above
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
