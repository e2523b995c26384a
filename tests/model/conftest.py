"""A tiny encoder: one number column and one category column, registered for the test only."""

from __future__ import annotations

import sys
import types
from typing import Any, ClassVar

import numpy as np
import pytest

from separable.data.rows import Rows
from separable.features import base as encoders


class ToyEncoder:
    kind: ClassVar[str] = "toy"

    def __init__(self, levels: tuple[str, ...], scale: float) -> None:
        self.levels, self.scale = levels, scale
        self.feature_names = ("size", *(f"island={level}" for level in levels))
        self.sources = ("size", *("island" for _ in levels))

    def encode(self, data: Any) -> Rows:
        sizes = np.array([record["size"] for record in data], dtype=np.float64) / self.scale
        hot = np.array([[record["island"] == level for level in self.levels] for record in data])
        return Rows(np.column_stack([sizes, hot.astype(np.float64)]), len(self.feature_names))

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"levels": self.levels, "scale": np.array([self.scale])}, {"missing": "refuse"}

    @classmethod
    def from_parts(cls, tensors: Any, values: Any) -> ToyEncoder:
        if values["missing"] != "refuse":
            raise ValueError("missing must be 'refuse'")
        return cls(tensors["levels"], float(tensors["scale"][0]))


@pytest.fixture
def toy_encoder(monkeypatch: pytest.MonkeyPatch) -> type[ToyEncoder]:
    module = types.ModuleType("toy_encoder_of_tests")
    module.ToyEncoder = ToyEncoder  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(encoders.ENCODERS, "toy", f"{module.__name__}:ToyEncoder")
    return ToyEncoder
