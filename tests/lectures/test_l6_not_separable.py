"""L6: what if the data is not separable? A warning, the pocket, the average."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from separable import AveragedPerceptron, Perceptron, VotedPerceptron

pytestmark = pytest.mark.native

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 6))
y = (X @ rng.normal(size=6) + 1.5 * rng.normal(size=400) > 0).astype(int)


def test_warning_names_the_ways_out():
    with pytest.warns(ConvergenceWarning, match=r"may not be linearly separable.*Averaged.*pocket"):
        Perceptron(max_iter=20).fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_pocket_mean_and_vote_are_better_than_the_last_weights():
    last = Perceptron(max_iter=20).fit(X, y).score(X, y)
    assert Perceptron(max_iter=20, pocket=True).fit(X, y).score(X, y) > last
    assert AveragedPerceptron(max_iter=20).fit(X, y).score(X, y) > last
    assert VotedPerceptron(max_iter=20).fit(X, y).score(X, y) > last
