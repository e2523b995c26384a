"""Bounds on what rounding adds to the gaps of rows, against the losses in NumPy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from separable._core import native
from separable.certified.problem import Lane, Problem
from separable.data.rows import as_rows
from separable.losses.loss import HINGE, LOGISTIC, SQUARED_ERROR, SQUARED_HINGE, epsilon_insensitive
from tests.reference import losses

if TYPE_CHECKING:
    from separable.losses.loss import Loss
    from separable.typing import Floats

pytestmark = [pytest.mark.native, pytest.mark.kernel]

LOSSES = [HINGE, SQUARED_HINGE, LOGISTIC, epsilon_insensitive(0.2), SQUARED_ERROR]


@dataclass(frozen=True)
class _Case:
    problem: Problem
    lanes: list[Lane]
    y: Floats
    c: Floats
    z: Floats
    s: Floats


def _case(loss: Loss, seed: int, n: int = 150) -> _Case:
    rng = np.random.default_rng(seed)
    is_regression = loss.is_regression
    code = rng.integers(0, 3, n).astype(np.int32)
    target: Any = rng.normal(size=n) if is_regression else code
    weight = rng.uniform(0.5, 2.0, n)
    problem = Problem(as_rows(np.ones((n, 1))), loss, target, weight)
    lanes = [Lane(0.7, 0), Lane(2.0, 2)]
    y = np.stack([problem.targets(lane) for lane in lanes], axis=1)
    c = np.stack([problem.costs(lane) for lane in lanes], axis=1)
    z = c * rng.uniform(0.05, 0.95, y.shape) * (np.sign(y) if not is_regression else 1.0)
    return _Case(problem, lanes, y, c, z, rng.normal(size=y.shape))


def _errors(case: _Case, error: Floats, imbalance: Floats, values: Floats | None = None) -> Any:
    made = native.gap_errors(
        case.problem.in_lanes(case.lanes),
        case.z,
        case.s if values is None else values,
        values is not None,
        error,
        imbalance,
    )
    return [np.array(each) for each in made]


def _gaps(case: _Case, s: Floats, z: Floats) -> Floats:
    loss = case.problem.loss
    oracle = losses.of_name(loss.name, loss.epsilon)
    return np.maximum(oracle.gap(case.y, s, case.c, z), 0.0)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_an_error_of_scores_adds_what_it_changes_at_the_ends(loss: Loss) -> None:
    case, error = _case(loss, 1), np.array([[0.3, 1e-3]])
    gap, more, _ = _errors(case, error, np.zeros(2))
    here = _gaps(case, case.s, case.z)
    np.testing.assert_allclose(gap, here.sum(axis=0), rtol=1e-12)
    ends = [_gaps(case, case.s + sign * error, case.z) for sign in (1, -1)]
    expected = np.maximum(np.maximum(*ends) - here, 0.0).sum(axis=0)
    if loss.curvature is not None:
        expected = np.zeros(2)
    np.testing.assert_allclose(more, expected, rtol=1e-12)
    by_row = np.broadcast_to(error, case.s.shape).copy()
    assert (_errors(case, by_row, np.zeros(2))[1] == more).all()


@pytest.mark.parametrize("loss", [each for each in LOSSES if each.is_of_residuals])
def test_residuals_stand_for_scores(loss: Loss) -> None:
    case, none = _case(loss, 2), np.zeros((1, 2))
    by_score = _errors(case, none, np.full(2, 1e-3))
    by_residual = _errors(case, none, np.full(2, 1e-3), case.y - case.s)
    for one, other in zip(by_score, by_residual, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_loss_of_scores_takes_no_residuals() -> None:
    case = _case(LOGISTIC, 2)
    with pytest.raises(ValueError, match="residuals"):
        _errors(case, np.zeros((1, 2)), np.zeros(2), case.s)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("imbalance", [1e-9, 1e-3])
def test_the_price_of_balance_covers_a_step_of_one_row(loss: Loss, imbalance: float) -> None:
    """Moving one row of each sign by the imbalance never costs more than the bound."""
    case = _case(loss, 3)
    _, _, price = _errors(case, np.zeros((1, 2)), np.full(2, imbalance))
    before = _gaps(case, case.s, case.z)
    for lane in range(2):
        for sign in (1, -1):
            mine = np.flatnonzero(case.z[:, lane] * sign > 0)
            if len(mine) == 0:
                continue
            moved = case.z.copy()
            moved[mine, lane] -= sign * imbalance
            added = (_gaps(case, case.s, moved) - before)[mine, lane].min()
            assert added <= price[lane] * (1 + 1e-9) + 1e-15


def test_sizes_of_rows_are_exact_to_the_last_bit() -> None:
    rng = np.random.default_rng(4)
    z = rng.normal(size=(1000, 3)) * 10.0 ** rng.integers(-8, 8, (1000, 3))
    s = rng.normal(size=(1000, 3))
    s[:, 1] = -np.inf
    largest, mass, imbalance = native.row_sizes(z, s)
    assert largest == [np.abs(s[:, 0]).max(), 0.0, np.abs(s[:, 2]).max()]
    np.testing.assert_allclose(mass, np.abs(z).sum(axis=0), rtol=1e-13)
    for lane in range(3):
        exact = abs(sum(map(Fraction, z[:, lane].tolist())))
        assert math.isclose(imbalance[lane], float(exact), rel_tol=4e-16)
