"""The registry of encoders."""

from __future__ import annotations

import pytest

from separable.features.base import ENCODERS, Encoder, encoder_class


@pytest.mark.parametrize("kind", ENCODERS)
def test_every_registered_encoder_is_one(kind):
    found = encoder_class(kind)
    assert found.kind == kind
    for name in ("feature_names", "sources", "encode", "to_parts", "from_parts"):
        assert hasattr(found, name)


def test_an_unknown_kind_lists_those_known():
    with pytest.raises(ValueError, match="Unknown encoder 'tabel'; this version knows "):
        encoder_class("tabel")


def test_a_fitted_encoder_satisfies_the_protocol():
    assert isinstance(encoder_class("table")().fit({"x": [1, 2]}), Encoder)  # type: ignore[attr-defined]
