"""scikit-learn's checks as parameters of a test, whose ids are made once an estimator."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

import pytest
from sklearn.utils import estimator_checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.base import BaseEstimator

__all__ = ["parametrize_with_checks"]


def parametrize_with_checks(
    estimators: Sequence[BaseEstimator], *, long: Sequence[BaseEstimator] = (), **options: object
) -> pytest.MarkDecorator:
    """Do as scikit-learn's function of this name, which writes each estimator for every check.

    The checks of the estimators in ``long`` are marked so.
    """
    with warnings.catch_warnings():  # ours follow the protocol without importing scikit-learn
        warnings.filterwarnings("ignore", ".*does not inherit from", UserWarning)
        mark = estimator_checks.parametrize_with_checks([*estimators, *long], **options)
    names, cases = mark.args
    ids = functools.cache(mark.kwargs["ids"])
    marked = [_marked(case, long) for case in cases]
    return pytest.mark.parametrize(names, marked, **{**mark.kwargs, "ids": ids})


def _marked(case: Any, long: Sequence[BaseEstimator]) -> Any:
    values, marks = (case, ()) if isinstance(case, tuple) and len(case) == 2 else case[:2]
    marks = [_may_fail(mark) for mark in marks]
    if any(values[0] is estimator for estimator in long):
        marks.append(pytest.mark.long)
    return pytest.param(*values, marks=marks)


def _may_fail(mark: Any) -> Any:
    """Return the mark of an expected failure for a check that passes on some machines."""
    if mark.name != "xfail":
        return mark
    return pytest.mark.xfail(*mark.args, **{**mark.kwargs, "strict": False})
