"""Patterns of model files: only those that take linear time, unless the file is trusted."""

from __future__ import annotations

import numpy as np
import pytest

import separable
from separable import LinearModel, TextEncoder
from separable.features.text.parameter_checks import is_linear
from separable.model.files.model_file import ModelFileError

LINEAR = [
    r"(?u)\b\w\w+\b",
    r"(?u)\b\w+\b",
    r"\w+",
    r"(\w+)",
    r"[a-z]{3,}",
    r"(?i)[a-z]+",
    r"\S+",
    r"[^\s,]+",
    r"\b\w{2,15}\b",
    r"[a-z]{2,5}\b",
    r"#\w+",
    r".",
    r"\w*",
]
SLOW = [
    r"(?:a|aa)+$",  # exponential
    r"[\w.]+\b",  # quadratic on dots, where no boundary is
    r"[\w'-]{2,}\b",
    r"(a+)+$",
    r"(?:a*)*b",
    r"(?:\w|\d)+!",
    r"\w+\w+\w+\w+!",  # polynomial
    r"\w+@",  # quadratic: each start looks at the rest of the word
    r"\w+$",
    r"[a-z]+\b",
    r"\w+?x",
    r"\w+\B",
    r"(\w)+\1",
    r"(?=\w+!)\w",
    r"(?<=a)\w+",
    r"a{100000}",
    r"",
    r"(",
]


@pytest.mark.parametrize("pattern", LINEAR)
def test_patterns_that_are_linear(pattern):
    assert is_linear(pattern)


@pytest.mark.parametrize("pattern", SLOW)
def test_patterns_that_may_be_slow(pattern):
    assert not is_linear(pattern)


def saved(path, pattern):
    """The file of a model with a pattern of its own."""
    encoder = TextEncoder(token_pattern=pattern).fit(["aa aab b", "ab b! aa"])
    n = len(encoder.feature_names)
    model = LinearModel(np.ones((1, n)), [0.0], ["no", "yes"], "logistic", encoder=encoder)
    model.save(path)
    return model


@pytest.mark.native
@pytest.mark.parametrize("pattern", [r"(?:a|aa)+$", r"(?:b|aa)+", r"\w+@?"])
def test_files_with_patterns_that_may_be_slow(tmp_path, pattern):
    path = tmp_path / "model.safetensors"
    texts = ["aa", "b aa"]
    model = saved(path, pattern)
    with pytest.raises(ModelFileError, match=r"may take very long.*allow_patterns=True"):
        separable.load(path)
    trusted = separable.load(path, allow_patterns=True)
    assert trusted.predict(texts).tolist() == model.predict(texts).tolist()
    with pytest.raises(ModelFileError, match="allow_patterns"):  # it holds for one call
        separable.load(path)


@pytest.mark.native
@pytest.mark.parametrize("pattern", [r"(?u)\b\w\w+\b", r"[a-z]{2,}", r"\S+"])
def test_files_with_patterns_that_are_linear(tmp_path, pattern):
    path = tmp_path / "model.safetensors"
    model, texts = saved(path, pattern), ["aab", "x"]
    assert separable.load(path).predict(texts).tolist() == model.predict(texts).tolist()
