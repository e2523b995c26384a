"""Values beside which a standardised column shows nothing of the others."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from separable import TableEncoder
from separable.data import check
from separable.data.checks.dominant_values import DominantValueWarning

pytestmark = pytest.mark.native


def table(n=50, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "age": rng.normal(size=n).tolist(),
        "height": rng.normal(size=n).tolist(),
        "city": ["Rome", "Oslo"] * (n // 2),
    }


def warned(make):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make()
    return [str(each.message) for each in caught if each.category is DominantValueWarning]


@pytest.mark.parametrize("cells", [{7: 1e20}, {7: 1e200, 9: -1e200}, {7: -1e9, 8: 2e8, 9: 1e8}])
@pytest.mark.parametrize("n", [10, 50, 4000])
def test_up_to_three_values_are_named(cells, n):
    rows = table(n)
    assert warned(lambda: TableEncoder().fit(rows)) == []
    for row, value in cells.items():
        rows["height"][row] = value
    rows["height"][3] = rows["age"][5] = None
    largest = next(iter(cells.values()))
    more = f" (and {len(cells) - 1} more of its size)" if len(cells) > 1 else ""
    (told,) = warned(lambda: TableEncoder().fit_transform(rows))
    assert told.startswith(f"'height' holds {largest:.3g} in row 7{more}: so large that")
    assert "leave out the row" in told
    encoder = TableEncoder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DominantValueWarning)
        encoded = encoder.fit(rows).transform(rows)[:, list(encoder.feature_names).index("height")]
    others = np.delete(encoded, [3, *cells])
    assert np.ptp(others) < 1e-6  # it is true
    (found,) = [each for each in check(rows) if each.columns == ("height",)]
    assert found.severity == "warning"
    assert f"is {largest:g} in data row 8{more}" in found.text
    assert warned(lambda: TableEncoder(scale=False).fit(rows)) == []
    assert warned(lambda: TableEncoder(number={"height": {"scale": False}}).fit(rows)) == []


def test_more_rows_are_warned_of_once():
    rows = table()
    rows["height"][7] = 1e20
    first, rest = ({name: each[part] for name, each in rows.items()}
                   for part in (slice(20, None), slice(20)))  # fmt: skip
    encoder = TableEncoder()
    assert warned(lambda: encoder.partial_fit(first)) == []
    (told,) = warned(lambda: encoder.partial_fit(rest))
    assert "'height' holds 1e+20 in row 37" in told  # counted over all rows
    assert warned(lambda: encoder.partial_fit(first)) == []


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 30, 3000])
def test_ordinary_and_heavy_tailed_columns_are_not_named(n):
    for seed in range(20):
        rng = np.random.default_rng([n, seed])
        columns = {
            "income": np.round(rng.lognormal(10, 2, n)),
            "lognormal": rng.lognormal(0, 3, n),
            "pareto": rng.pareto(0.8, n),
            "cauchy": rng.standard_cauchy(n),
            "count": rng.poisson(0.2, n) * 1.0,
            "time": 1.7e9 + rng.integers(0, 10**8, n),
            "identifier": np.arange(n) + 1e12,
            "rare": (np.arange(n) == 1) * 1e12,
            "sentinel": np.where(np.arange(n) % 4 == 0, -9999.0, rng.random(n)),
            "population": 10 ** rng.uniform(2, 9, n),
            "some missing": np.where(rng.random(n) < 0.5, np.nan, rng.normal(size=n)),
        }
        rows = {name: each.tolist() for name, each in columns.items()}
        assert warned(lambda rows=rows: TableEncoder().fit(rows)) == []
        assert not [each for each in check(rows) if "nearly equal" in each.text]


def test_a_target_is_named_by_the_check():
    rows = table()
    rows["age"][3] = 1e20
    (found,) = [each for each in check(rows, "age") if "nearly equal" in each.text]
    assert "'age' is 1e+20 in data row 4" in found.text
