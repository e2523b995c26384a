"""Targets that are written as texts: units, marks, missing words."""

import numpy as np
import pytest

import separable
from separable.data import check
from separable.data.table import TableError
from separable.errors import OptionError

RNG = np.random.default_rng(0)
ROOMS = RNG.integers(1, 7, 200)
PRICE = np.round(1000.0 * ROOMS + RNG.normal(0, 100, 200), 2)

WRITTEN = {
    "dollars": lambda v: f"${v:,.2f}",
    "percent": lambda v: f"{v} %",
    "euros": lambda v: f"{v:,.2f} EUR".translate(str.maketrans(",.", ".,")),
}


def ridge(target, **options):
    table = {"rooms": ROOMS.tolist(), "price": target}
    return separable.train(table, "price", model="ridge", **options)


@pytest.mark.parametrize("how", WRITTEN)
def test_a_text_target_gives_the_model_of_its_numbers(how):
    run = ridge([WRITTEN[how](value) for value in PRICE.tolist()])
    plain = ridge(PRICE.tolist())
    np.testing.assert_array_equal(run.problem.target.values, PRICE)
    np.testing.assert_array_equal(run.model.weights, plain.model.weights)
    assert "200 converted" in run.summary()
    assert run.model.evidence["train"]["target_conversion"]["kind"] == "number"
    assert "target_conversion" not in plain.model.evidence["train"]


def test_a_text_target_decides_the_task():
    texts = [f"${value:,.2f}" for value in PRICE.tolist()]
    run = separable.train({"rooms": ROOMS.tolist(), "price": texts}, "price")
    assert run.problem.task == "regression"
    few = ["10 %", "20 %"] * 100
    assert separable.train({"rooms": ROOMS.tolist(), "price": few}, "price").problem.task == (
        "classification"
    )


def test_a_few_bounds_are_classes():
    incomes = ["<=50K", ">50K"] * 100
    run = separable.train({"rooms": ROOMS.tolist(), "income": incomes}, "income")
    assert run.problem.task == "classification"
    many = [f"<{value}" for value in PRICE.tolist()]
    with pytest.raises(TableError, match="numbers with bounds"):
        separable.train({"rooms": ROOMS.tolist(), "price": many}, "price")


def test_missing_words_are_missing_targets():
    texts = [f"${value:,.2f}" for value in PRICE.tolist()]
    texts[5] = texts[7] = "n/a"
    run = ridge(texts)
    assert len(run.problem) == 198
    assert run.problem.target.missing == 2
    classes = ["0", "1"] * 99 + ["n/a", "unknown"]
    run = separable.train({"rooms": ROOMS.tolist(), "price": classes}, "price")
    assert run.problem.target.values.tolist() == [0, 1] * 99
    assert "2 targets among numbers taken as missing: 'n/a', 'unknown'" in str(run.notes[0])


def test_a_text_that_cannot_be_read_is_an_error():
    texts = [f"${value:,.2f}" for value in PRICE.tolist()]
    texts[5] = "much"
    with pytest.raises(TableError, match=r"'much' is not a number such as '\$1,234.5'"):
        ridge(texts)
    units = [f"{value} {'kg' if i % 2 else 'lb'}" for i, value in enumerate(PRICE.tolist())]
    table = {"rooms": ROOMS.tolist(), "price": units}
    with pytest.raises(TableError, match="numbers with different units: "):
        separable.train(table, "price")


@pytest.mark.parametrize("pair", [("<=50K", ">50K"), ("5 kg", "11 lb"), ("0-10", "10-20")])
def test_few_texts_with_numbers_are_classes(pair):
    texts = [pair[int(room > np.median(ROOMS))] for room in ROOMS.tolist()]
    run = separable.train({"rooms": ROOMS.tolist(), "price": texts}, "price", test_size=0)
    assert run.problem.task == "classification"
    assert set(run.problem.target.values) == set(pair)


def test_the_conversion_of_the_target_can_be_given():
    price = np.round(PRICE / 10, 3)  # such as 586.588
    texts = [f"{value:.3f}" for value in price.tolist()]
    run = ridge(texts, convert={"price": "decimal-point"})
    np.testing.assert_allclose(run.problem.target.values, price, atol=1e-9)
    run = ridge(texts, convert={"price": "decimal-comma"})
    np.testing.assert_allclose(run.problem.target.values, np.round(price * 1000))
    with pytest.raises(OptionError, match="numbers, not dates"):
        ridge(["03.05.2024", "04.05.2024"] * 100, convert={"price": "day-first"})


def test_check_converts_the_target_too():
    texts = [f"${value:,.2f}" for value in PRICE.tolist()]
    table = {"rooms": ROOMS.tolist(), "price": texts, "key": (PRICE * 2).tolist()}
    plain = check({**table, "price": PRICE.tolist()}, "price")
    assert str(check(table, "price")) == str(plain)
    assert "'key' " in str(plain)  # a leak, which 200 classes would hide


def test_a_test_table_is_converted_the_same_way():
    texts = [f"{value:,.2f} EUR".translate(str.maketrans(",.", ".,")) for value in PRICE.tolist()]
    few = {"rooms": [1, 2, 3], "price": ["1.010 EUR", "2.010 EUR", "3.000 EUR"]}
    run = ridge(texts, test=few)
    np.testing.assert_array_equal(run.held_out.scored.y_true, [1010.0, 2010.0, 3000.0])
