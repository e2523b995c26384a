"""scikit-learn's checks as parameters of a test, whose ids are made once an estimator."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest
from sklearn.utils import estimator_checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.base import BaseEstimator

__all__ = ["parametrize_with_checks"]


def parametrize_with_checks(
    estimators: Sequence[BaseEstimator], **options: object
) -> pytest.MarkDecorator:
    """Do as scikit-learn's function of this name, which writes each estimator for every check."""
    mark = estimator_checks.parametrize_with_checks(estimators, **options)
    ids = functools.cache(mark.kwargs["ids"])
    return pytest.mark.parametrize(*mark.args, **{**mark.kwargs, "ids": ids})
