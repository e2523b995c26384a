"""The work budget of learners in a comparison, and what the board says of it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import separable
from separable import LinearSVM, LogisticRegression
from separable.select import compare
from separable.workflow.comparison.candidates import Candidate
from separable.workflow.learners import LEARNERS, MIN_PASSES, MODEL_WORK, Facts


def facts(**changes) -> Facts:
    given = {"rows": 80_000, "features": 50_000, "classes": 2, "nonzeros": 25.0}
    return Facts(**{**given, "nonnegative": True, "text": True, **changes})


def sparse_classes(n=900, d=700):
    rng = np.random.default_rng(0)
    X = sp.random_array((n, d), density=0.02, rng=rng, format="csr")
    return X, X @ rng.normal(size=d) + 0.1 * rng.normal(size=n) > 0


def test_passes_times_nonzeros_stay_within_the_budget():
    for nonzeros in (5.0, 25.0, 50.0):
        seen = facts(nonzeros=nonzeros)
        passes = LEARNERS["logistic-regression"].passes(seen, seen.rows)
        assert passes * nonzeros * seen.rows <= MODEL_WORK
        assert (passes + 1) * nonzeros * seen.rows > MODEL_WORK


def test_the_least_number_of_passes():
    assert LEARNERS["linear-svm"].passes(facts(nonzeros=1e4), 80_000) == MIN_PASSES


@pytest.mark.parametrize("name", ["logistic-regression", "linear-svm"])
def test_small_tables_and_named_learners_have_no_limit(name):
    assert LEARNERS[name].passes(facts(features=40), 80_000) is None
    assert Candidate(name).for_comparing().max_iter == 1000


def test_a_given_max_iter_is_kept():
    budgeted = Candidate("linear-svm", {"max_iter": 777}).with_budget(facts(), 80_000)
    assert budgeted.for_comparing().max_iter == 777
    budgeted = Candidate("linear-svm").with_budget(facts(), 80_000)
    assert budgeted.for_comparing().max_iter == LEARNERS["linear-svm"].passes(facts(), 80_000)
    assert budgeted.learner().max_iter == 1000  # the fit of the chosen learner has no budget


@pytest.mark.parametrize("learner", [LogisticRegression, LinearSVM])
def test_the_board_knows_which_learner_did_not_converge(learner):
    X, y = sparse_classes()
    grid = {"C": [0.1, 10.0]}
    board = compare({"short": (learner(max_iter=2), grid), "whole": (learner(), grid)}, X, y)
    assert not board["short"].converged
    assert board["whole"].converged
    assert [each["converged"] for each in board.to_dict()["learners"]].count(False) == 1


@pytest.mark.parametrize("learner", [LogisticRegression, LinearSVM])
def test_a_comparison_of_held_out_scores_publishes_no_models(learner, monkeypatch):
    def publish(*_, **__):
        raise AssertionError("published")

    X, y = sparse_classes()
    candidates = {"one": (learner(), {"C": [0.1, 10.0]})}
    before = compare(candidates, X, y, scoring="accuracy")
    monkeypatch.setattr("separable.certified.fold_lanes.publish", publish)
    after = compare(candidates, X, y, scoring="accuracy")
    assert after["one"].failed is None
    np.testing.assert_array_equal(after["one"].tried_scores, before["one"].tried_scores)


def test_the_summary_names_learners_that_ended_early():
    rng = np.random.default_rng(0)
    words = np.array([f"word{k}" for k in range(3000)])
    texts = [" ".join(words[rng.zipf(1.3, 30) % 3000]) for _ in range(600)]
    data = {"text": texts, "y": [text.count("word1 ") > 2 for text in texts]}
    given = {"model": "logistic-regression", "text": "text", "test_size": 0}
    whole = separable.train(data, "y", **given).summary(verbose=True)
    assert "limit of passes" not in whole
    ended = separable.train(data, "y", set={"max_iter": 1}, **given).summary(verbose=True)
    assert "Some fits ended at their limit of passes: logistic-regression." in ended
