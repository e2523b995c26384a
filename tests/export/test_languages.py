"""Every language agrees with the model, on models of every kind."""

from __future__ import annotations

import warnings

import pytest

from separable.export import LANGUAGES
from tests.export import models
from tests.export.running import agree, answers, self_test

EVERY = pytest.mark.parametrize("language", LANGUAGES)


@EVERY
@pytest.mark.parametrize("name", models.TABLES)
def test_tables(language, name, tmp_path):
    model, rows = models.TABLES[name]()
    agree(model, rows, answers(language, model, rows, tmp_path))


@EVERY
@pytest.mark.parametrize(
    "name", ["census, two classes", "census, calibrated", "polynomial", "numbers", "curves"]
)
def test_a_file_tests_itself(language, name, tmp_path):
    model, _ = models.TABLES[name]()
    self_test(language, model, tmp_path)


@EVERY
def test_rows_given_go_into_the_self_test(language, tmp_path):
    model, rows = models.penguins()
    names = list(dict.fromkeys(model.encoder.sources))
    given = [dict(zip(names, row, strict=True)) for row in rows]
    self_test(language, model, tmp_path, rows=given)


@pytest.mark.parametrize("language", ["python", "js"])
@pytest.mark.parametrize("name", models.TEXT_OPTIONS)
def test_texts(language, name, tmp_path):
    model, rows = models.texts(name)
    agree(model, rows, answers(language, model, rows, tmp_path))


@pytest.mark.parametrize("language", ["python", "js"])
def test_a_column_of_texts(language, tmp_path):
    model, rows = models.text_column()
    agree(model, rows, answers(language, model, rows, tmp_path))
    self_test(language, model, tmp_path)


@EVERY
def test_interactions(language, tmp_path):
    model, rows = models.interactions()
    agree(model, rows, answers(language, model, rows, tmp_path))
    self_test(language, model, tmp_path)


@pytest.mark.parametrize("language", ["python", "js"])
def test_records(language, tmp_path):
    model, rows = models.records()
    agree(model, rows, answers(language, model, rows, tmp_path))
    self_test(language, model, tmp_path)


@pytest.mark.parametrize("language", ["python", "js", "c"])
@pytest.mark.parametrize("unknown", ["error", "ignore"])
def test_levels_of_several_types(language, unknown, tmp_path):
    model, rows = models.typed_levels(unknown)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of levels that are unknown
        agree(model, rows, answers(language, model, rows, tmp_path))
