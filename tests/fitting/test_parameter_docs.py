"""Every parameter of every estimator is documented, with its true default."""

from __future__ import annotations

import inspect
import re

import pytest

import separable
from separable.fitting.base import LinearEstimator, inherit_docs

ESTIMATORS = [
    each
    for each in (getattr(separable, name) for name in separable.__all__)
    if isinstance(each, type)
    and issubclass(each, LinearEstimator)
    and inspect.signature(each).parameters
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: each.__name__)
def test_every_parameter_is_documented_with_its_default(estimator):
    section = re.search(r"Parameters\n-+\n(.*?)(?:\n\n|\Z)", inspect.getdoc(estimator), re.DOTALL)
    heads = re.findall(r"^(\w+) : .*?(?:, default (.*))?$", section[1], re.MULTILINE)
    documented = {name: eval(default) for name, default in heads}
    parameters = inspect.signature(estimator).parameters.values()
    assert documented == {each.name: each.default for each in parameters}
    assert [name for name, _ in heads] == [each.name for each in parameters]
    entries = re.split(r"^\w+ : .*$", section[1], flags=re.MULTILINE)[1:]
    assert all(entry.strip() for entry in entries)


def test_nearest_base_class_describes_a_parameter():
    class Far:
        """Parameters
        ----------
        tol : float
            Far.
        """

    class Near(Far):
        """Parameters
        ----------
        tol : int
            Near.
        """

    class Learner(Near):
        """A learner."""

        def __init__(self, tol=3, other=None):
            del tol, other

    inherit_docs(Learner)
    assert (
        Learner.__doc__ == "A learner.\n\nParameters\n----------\ntol : int, default 3\n    Near."
    )
