"""Verdicts agree with a linear program on generated sets; proofs hold in fractions."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from separable.geometry import separability
from tests.geometry.generated import FAMILIES, case
from tests.reference.separability import (
    lp_multipliers,
    lp_verdict,
    proves_overlap,
    proves_quasi,
    proves_separable,
    signed_rows,
)

#: Sets of an ordinary run, and of a long one.
N_SETS, ALL = 130, 2000
#: Every fifth proof is checked in fractions, and each where the linear program disagrees.
EXACT_EVERY = 5


def holds_exactly(verdict, Z):
    """Return whether the proof is one of the verdict's kind, by definition and in fractions."""
    proof = verdict.proof
    if verdict.kind == "separable":
        return proves_separable(Z, direction(proof, Z))
    if verdict.kind == "overlap":
        return proves_overlap(Z, proof.rows, proof.multipliers)
    return proves_quasi(Z, direction(proof, Z), proof.boundary, proof.rows, proof.multipliers)


def direction(proof, Z):
    """Return weights and intercept as one vector; an intercept not asked for is 0, and left out."""
    both = np.r_[np.ravel(proof.weights), np.ravel(proof.intercept)]
    assert both[Z.shape[1] :].sum() == 0
    return both[: Z.shape[1]]


def judge(seed):
    """Return what was asked and how it was answered; fail where an answer is wrong."""
    problem = case(seed)
    verdict = separability(problem.X, problem.y, fit_intercept=problem.fit_intercept)
    Z = signed_rows(problem.X, problem.y, problem.fit_intercept)
    expected, _ = lp_verdict(Z)
    message = f"set {seed} ({problem.name}): {verdict.kind}, linear program: {expected}"
    if verdict.kind == "undecided":
        assert verdict.separable is None
        assert verdict.reason
        assert problem.borderline, message
        return problem.name, "undecided"
    assert verdict.separable is (verdict.kind == "separable")
    assert verdict.verify(problem.X, problem.y), message
    agrees = verdict.kind == expected
    assert agrees or problem.borderline, message
    if not agrees or seed % EXACT_EVERY == 0:
        assert holds_exactly(verdict, Z), message
        assert verdict.verify(problem.X, problem.y, exact=True), message
    return problem.name, "agrees" if agrees else "proved against the linear program"


def judge_all(seeds):
    result = Counter(judge(seed)[1] for seed in seeds)
    assert result["undecided"] <= 0.02 * len(seeds), result
    return result


@pytest.mark.parametrize("family", range(len(FAMILIES)), ids=lambda k: FAMILIES[k].__name__)
def test_verdicts_of_some_sets(family):
    judge_all(range(family, N_SETS, len(FAMILIES)))


@pytest.mark.long
def test_verdicts_of_all_sets():
    judge_all(range(ALL))


# ------------------------------------------------------------------ the judge, judged


@pytest.mark.parametrize("family", range(len(FAMILIES) - 1), ids=lambda k: FAMILIES[k].__name__)
def test_the_linear_program_proves_itself_in_fractions(family):
    for seed in range(family, 60, len(FAMILIES)):
        problem = case(seed)
        Z = signed_rows(problem.X, problem.y, problem.fit_intercept)
        kind, strict = lp_verdict(Z)
        multipliers, value = lp_multipliers(Z)
        assert value == pytest.approx(strict.sum(), abs=1e-6)
        rows = np.flatnonzero(multipliers > 0.5)
        assert (len(rows) == 0) == (kind == "separable")
        if kind == "overlap":
            assert proves_overlap(Z, rows, multipliers[rows])
