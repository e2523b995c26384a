"""Exported files apply the decision threshold, also to rows next to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from separable import LinearModel
from separable.export import LANGUAGES
from separable.model.predict.decision import Decision
from tests.export import models
from tests.export.running import agree, answers, self_test

EVERY = pytest.mark.parametrize("language", LANGUAGES)


@EVERY
@pytest.mark.parametrize("positive", [0, 1])
def test_rows_next_to_the_threshold(language, positive, tmp_path):
    """One feature of weight 1 and no intercept: a score is the value itself."""
    rule = Decision(positive, 0.03)
    model = LinearModel([[1.0]], [0.0], ["no", "yes"], "logistic", ["x"], decision=rule)
    cut = model.score_threshold
    near = [cut]
    for _ in range(3):
        near = [np.nextafter(near[0], -np.inf), *near, np.nextafter(near[-1], np.inf)]
    rows = [(float(each),) for each in [*near, 0.0, 1.0, -1.0, -9.0, 9.0]]
    found = answers(language, model, rows, tmp_path)
    agree(model, rows, found)
    assert [each.prediction for each in found[:7]] == ["no"] * 4 + ["yes"] * 3


@EVERY
def test_a_calibrated_table(language, tmp_path):
    plain, rows = models.census_case(1, "score", calibrated=True)
    names = list(dict.fromkeys(plain.encoder.sources))
    table = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    middle = float(np.median(plain.predict_proba(table)[:, 1]))
    model = replace(plain, decision=Decision(1, min(max(middle, 1e-12), 1 - 1e-12)))
    assert (model.predict(table) != plain.predict(table)).any()
    agree(model, rows, answers(language, model, rows, tmp_path))
    self_test(language, model, tmp_path)
