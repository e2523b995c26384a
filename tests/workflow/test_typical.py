"""The typical row of the what-if form, and the order of features by their effects."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from separable import LogisticRegression, Ridge, TableClassifier
from separable.data import read
from separable.data.rows import as_rows
from separable.datasets import PENGUINS
from separable.report.charts.training_charts import weights
from separable.report.reporting import contents_of
from separable.report.what_if import what_if
from separable.workflow.typical import feature_spread, of_table, typical_row


@pytest.fixture(scope="module")
def rare():
    """Rows in which a rare level has the largest weight, and a common one decides more rows."""
    rng = np.random.default_rng(0)
    n = 2000
    level = np.where(np.arange(n) < 6, "rare", np.where(np.arange(n) % 3 == 0, "b", "a"))
    x = rng.normal(3.0, 2.0, n)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n) % 101, "D")
    table = pd.DataFrame({"level": level, "noise": rng.normal(size=n), "x": x, "day": day})
    score = x + 2.0 * (level == "b") + rng.normal(0.0, 3.0, n)
    return table, np.where((level == "rare") | (score > 4), "yes", "no")


def test_medians_and_most_common_levels(rare):
    table, _ = rare
    data = read(table)
    kinds = {"level": "category", "x": "number", "day": "date", "noise": "text"}
    row = typical_row(data.table, kinds)
    assert row["level"] == "a"
    assert row["x"] == np.sort(table["x"])[999]  # the smaller of the two in the middle
    assert row["day"].startswith(str(np.sort(table["day"].to_numpy())[999])[:10])
    assert "noise" not in row


@given(st.lists(st.none() | st.integers(-5, 5), min_size=1, max_size=30))
def test_the_median_is_a_value_that_half_of_the_rows_do_not_exceed(values):
    row = typical_row(pa.table({"x": pa.array(values, pa.int64())}), {"x": "number"})
    present = [value for value in values if value is not None]
    if not present:
        assert row == {}
        return
    assert row["x"] in present
    assert 2 * sum(value <= row["x"] for value in present) >= len(present)
    assert 2 * sum(value >= row["x"] for value in present) >= len(present)


def test_numbers_that_are_levels_are_texts():
    table = read({"code": [3.0, 3.0, 7.0], "member": [True, True, False]}).table
    kinds = {"code": "category", "member": "boolean"}
    assert typical_row(table, kinds) == {"code": "3", "member": True}


@pytest.mark.parametrize("density", [0.2, 1.0])
def test_spread_is_the_standard_deviation(density):
    X = sp.random(50, 7, density=density, random_state=0, format="csr") * 3.0
    rows = as_rows(X if density < 1 else X.toarray())
    np.testing.assert_allclose(feature_spread(rows), X.toarray().std(axis=0), atol=1e-12)


def test_the_form_starts_at_the_typical_row_with_the_columns_that_matter_first(rare):
    table, y = rare
    model = TableClassifier(LogisticRegression(C=10.0)).fit(table, y)
    contents = contents_of(model, table, y)
    data = contents.data
    form = what_if(contents.model, data.typical, data.spread)
    names = [field.name for field in form.fields]
    assert names[0] == "x"
    assert set(names[-2:]) == {"noise", "day"}
    starts = {field.name: field.start for field in form.fields}
    assert starts["level"] == "a"
    assert starts["x"] == pytest.approx(np.median(table["x"]), abs=0.01)


def test_pictures_draw_effects_so_that_a_rare_level_does_not_lead(rare):
    table, y = rare
    model = TableClassifier(LogisticRegression(C=10.0)).fit(table, y)
    contents = contents_of(model, table, y)
    (figure,), _ = weights(contents.model, [], contents.data.spread)
    drawn = {name: float(value.replace("\u2212", "-")) for name, value in figure.table.rows}
    by_weight = dict(zip(contents.model.feature_names, contents.model.weights[0], strict=True))
    assert max(by_weight, key=lambda name: abs(by_weight[name])) == "level=rare"
    assert max(drawn, key=lambda name: abs(drawn[name])) == "x"
    assert figure.table.head == ("feature", "effect")


def test_rows_of_numbers_have_medians():
    rng = np.random.default_rng(0)
    X = rng.normal([1.0, 2.0, 3.0], size=(101, 3))
    model = Ridge().fit(X, X @ [0.0, 5.0, 1.0])
    contents = contents_of(model, X, X @ [0.0, 5.0, 1.0])
    form = what_if(contents.model, contents.data.typical, contents.data.spread)
    assert [field.name for field in form.fields] == ["x1", "x2", "x0"]
    np.testing.assert_allclose(form.data["start"], np.median(X, axis=0))


def test_a_model_file_keeps_both(tmp_path, monkeypatch):
    from separable import load
    from separable.cli.app import run
    from separable.report.record_contents import recalled

    monkeypatch.chdir(tmp_path)
    train = ["train", str(PENGUINS), "--target", "species", "--model", "lda", "-o", "m", "-q"]
    assert run(train) == 0
    model = load("m")
    data = recalled(model).data
    expected = of_table(model, read(PENGUINS).table)
    assert dict(data.typical) == expected["typical"]
    assert data.spread == expected["spread"]
    assert data.typical["island"] == "Biscoe"
    assert len(data.spread) == model.n_features
